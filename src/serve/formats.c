#include "tegula/codec.h"
#include "tegula/encoder.h"
#include "tegula/serve.h"

static bool lacks_something(void)
{
    bool lacks = tg_codecs_missing[0].name;
    for (tg_format format = 0; format < TG_FORMATS; format++)
        lacks |= !tg_format_available(format);
    return lacks;
}

static void print_missing(FILE *out)
{
    fputs("Not built in:\n", out);
    for (const tg_codec_missing *missing = tg_codecs_missing; missing->name; missing++)
        fprintf(out, "  %-10s read with %s\n", missing->name, missing->library);
    for (tg_format format = 0; format < TG_FORMATS; format++)
        if (!tg_format_available(format))
            fprintf(out, "  %-10s sent with %s\n", tg_formats[format].extension,
                    tg_format_lacks(format));
}

void tg_formats_print(FILE *out)
{
    fputs("Read, whatever the file is called:\n", out);
    for (const tg_codec *const *codec = tg_codecs; *codec; codec++)
        fprintf(out, "  %-10s %s\n", (*codec)->name, (*codec)->help);
    fputs("Sent:\n", out);
    for (tg_format format = 0; format < TG_FORMATS; format++)
        if (tg_format_available(format))
            fprintf(out, "  %-10s %s\n", tg_formats[format].extension,
                    tg_formats[format].media_type);
    if (lacks_something())
        print_missing(out);
}
