#include "tiff_options.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tegula/mem.h"
#include "tegula/num.h"

static void note(tg_tiff_complaint *said, const char *module, const char *fmt, va_list ap)
{
    int n = snprintf(said->text, sizeof said->text, "%s: ", module ? module : "libtiff");

    if (n >= 0 && n < (int)sizeof said->text)
        vsnprintf(said->text + n, sizeof said->text - (size_t)n, fmt, ap);
}

static int on_error(TIFF *tif, void *user, const char *module, const char *fmt, va_list ap)
{
    (void)tif;
    note(user, module, fmt, ap);
    return 1;
}

/* The decoders of facsimile, JBIG and libjpeg (in old-style JPEG) warn and invent what is missing;
 * other warnings concern tags, or bytes beside the picture. */
static bool leaves_pixels_in_doubt(const char *module)
{
    static const char *const decoders[] = {"Fax", "JBIG", "LibJpeg"};

    for (unsigned i = 0; module && i < sizeof decoders / sizeof *decoders; i++)
        if (strncmp(module, decoders[i], strlen(decoders[i])) == 0)
            return true;
    return false;
}

static int on_warning(TIFF *tif, void *user, const char *module, const char *fmt, va_list ap)
{
    tg_tiff_complaint *said = user;

    (void)tif;
    if (!leaves_pixels_in_doubt(module))
        return 1;
    said->doubtful = true;
    note(said, module, fmt, ap);
    return 1;
}

TIFFOpenOptions *tg_tiff_options(tg_tiff_complaint *said)
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();

    if (!options)
        return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options,
                                        (tmsize_t)TG_MIN(tg_image_ceiling(), (size_t)INT32_MAX));
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, said);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, said);
    return options;
}
