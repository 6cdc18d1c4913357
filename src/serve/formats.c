#include "tegula/codec.h"
#include "tegula/encoder.h"
#include "tegula/serve.h"

static const char not_built_in[] = "not built in: its library was missing";

void tg_formats_print(FILE *out)
{
    fputs("Read, whatever the file is called:\n", out);
    for (const tg_codec *const *codec = tg_codecs; *codec; codec++)
        fprintf(out, "  %-10s %s\n", (*codec)->name, (*codec)->help);
    for (const char *const *name = tg_codecs_missing; *name; name++)
        fprintf(out, "  %-10s %s\n", *name, not_built_in);
    fputs("Sent:\n", out);
    for (unsigned i = 0; i < TG_FORMATS; i++)
        fprintf(out, "  %-10s %s\n", tg_formats[i].extension,
                tg_formats[i].available ? tg_formats[i].media_type : not_built_in);
}
