#include "tiff_options.h"

#include <stdint.h>
#include <stdio.h>

#include "tegula/mem.h"
#include "tegula/num.h"

static int on_error(TIFF *tif, void *user, const char *module, const char *fmt, va_list ap)
{
    char *text = user;
    int n = snprintf(text, TG_TIFF_TEXT_BYTES, "%s: ", module ? module : "libtiff");

    (void)tif;
    if (n >= 0 && n < TG_TIFF_TEXT_BYTES)
        vsnprintf(text + n, TG_TIFF_TEXT_BYTES - (size_t)n, fmt, ap);
    return 1;
}

static int on_warning(TIFF *tif, void *user, const char *module, const char *fmt, va_list ap)
{
    (void)tif;
    (void)user;
    (void)module;
    (void)fmt;
    (void)ap;
    return 1;
}

TIFFOpenOptions *tg_tiff_options(char text[TG_TIFF_TEXT_BYTES])
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();

    if (!options)
        return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options,
                                        (tmsize_t)TG_MIN(tg_image_ceiling(), (size_t)INT32_MAX));
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, text);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, text);
    return options;
}
