#include "tegula/codec.h"
#include "tegula/encoder.h"
#include "tegula/serve.h"

void tg_formats_print(FILE *out)
{
    fputs("Read, whatever the file is called:\n", out);
    for (const tg_codec *const *codec = tg_codecs; *codec; codec++)
        fprintf(out, "  %-10s %s\n", (*codec)->name, (*codec)->help);
    fputs("Sent:\n", out);
    for (unsigned i = 0; i < TG_FORMATS; i++)
        if (tg_formats[i].available)
            fprintf(out, "  %-10s %s\n", tg_formats[i].extension, tg_formats[i].media_type);
}
