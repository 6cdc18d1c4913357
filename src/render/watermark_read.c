#include <string.h>

#include "tegula/colour.h"
#include "tegula/samples.h"
#include "tegula/source.h"
#include "tegula/watermark.h"

/* The configuration that finds exactly the one file, whole and in sRGB, whatever outputs are
 * limited to. */
static tg_config config_of(const tg_config *config, tg_str folder, tg_arena *arena)
{
    tg_config own;
    tg_config_defaults(&own);
    own.filesystem_prefix = folder.n ? tg_arena_strdup(arena, folder) : "./";
    own.filename_pattern = "";
    own.metadata_cache_entries = 0;
    own.max_cvt = 0;
    own.strict = config->strict;
    return own;
}

static bool is_small(const tg_image *image, tg_err *err)
{
    uint64_t px = (uint64_t)tg_image_width_px(image) * tg_image_height_px(image);
    return px <= TG_WATERMARK_MAX_PX ||
           tg_fail(err, TG_ERR_TOO_LARGE, "a watermark has at most %llu pixels",
                   (unsigned long long)TG_WATERMARK_MAX_PX);
}

static tg_watermark *read_image(const tg_config *config, const tg_config *own, tg_image *image,
                                tg_err *err)
{
    const tg_job whole = {.region = TG_REGION_FULL, .size = TG_SIZE_MAX};
    tg_samples s;
    tg_watermark *m = NULL;
    image->keep_tiles = false;
    if (!is_small(image, err) || !tg_samples_read(own, image, &whole, &s, err))
        return NULL;
    if (!tg_colour_is_identity(image->colour))
        tg_colour_row(image->colour, s.data, s.data, (size_t)s.width_px * s.height_px);
    m = tg_watermark_new(s.data, s.width_px, s.height_px, s.fmt, config->watermark_opacity,
                         config->watermark_probability, err);
    tg_samples_free(&s);
    return m;
}

tg_watermark *tg_watermark_read(const tg_config *config, tg_err *err)
{
    const char *path = config->watermark, *slash = strrchr(path, '/');
    if (!path[0])
        return NULL;
    tg_arena *arena = tg_arena_new();
    tg_str folder = {path, slash ? (size_t)(slash - path) + 1 : 0};
    tg_config own = config_of(config, folder, arena);
    tg_sources *sources = tg_sources_new(&own);
    tg_source *source = tg_source_get(sources, tg_str_of(path + folder.n), err);
    tg_watermark *m = source ? read_image(config, &own, source->image, err) : NULL;
    tg_source_release(sources, source);
    tg_sources_free(sources);
    tg_arena_free(arena);
    return m;
}
