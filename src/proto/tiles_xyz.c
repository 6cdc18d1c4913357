/* XYZ tiles as map viewers ask for them, and TileJSON 3.0.0. */
#include <math.h>

#include "tegula/json.h"
#include "tegula/num.h"
#include "tegula/tiles.h"

#define TILE_PX 256 /* what viewers of maps take for granted */
#define PI      3.14159265358979323846

unsigned tg_xyz_top(const tg_tiles_image *image)
{
    uint32_t side = TG_MAX(image->width_px, image->height_px);
    unsigned z = 0;
    while ((uint64_t)TILE_PX << z < side)
        z++;
    return z;
}

bool tg_xyz_job(const tg_tiles *t, const tg_tiles_image *image, tg_job *out, tg_err *err)
{
    unsigned top = tg_xyz_top(image);
    if (t->level > top)
        return tg_fail(err, TG_ERR_NOT_FOUND, "level: there are 0 to %u", top);
    uint64_t side = (uint64_t)TILE_PX << (top - t->level),
             out_px = t->twice ? 2 * TILE_PX : TILE_PX;
    if (t->x > (image->width_px - 1) / side || t->y > (image->height_px - 1) / side)
        return tg_fail(err, TG_ERR_NOT_FOUND, "tile: outside the image");
    *out = (tg_job){.region = TG_REGION_FREE,
                    .rx = (double)(t->x * side),
                    .ry = (double)(t->y * side),
                    .rw = (double)side,
                    .rh = (double)side,
                    .size = TG_SIZE_EXACT,
                    .w = out_px,
                    .h = out_px,
                    .upscale = TG_UPSCALE_IMPLICIT,
                    .format = t->format};
    return true;
}

/* Degrees of latitude of a place in the square world, 0 = top, 1 = bottom. */
static double latitude(double down)
{
    return atan(sinh(PI * (1 - 2 * down))) * 180 / PI;
}

static void put_escaped(tg_buf *out, tg_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '&' || c == '<' || c == '>' || c == '"')
            tg_buf_z(out, c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&quot;");
        else
            tg_buf_printf(out, "%c", c);
    }
}

static void put_text(tg_buf *out, const char *member, tg_str text)
{
    tg_buf_printf(out, ",\"%s\":", member);
    tg_json_string(out, text);
}

/* Viewers show it as HTML. */
static void put_attribution(tg_buf *out, tg_str text)
{
    tg_buf html = {0};
    put_escaped(&html, text);
    put_text(out, "attribution", tg_buf_view(&html));
    tg_buf_free(&html);
}

void tg_tilejson_document(const tg_tiles_image *image, const tg_tilejson *about, tg_buf *out)
{
    unsigned top = tg_xyz_top(image);
    double world_px = (double)((uint64_t)TILE_PX << top);
    double across = image->width_px / world_px, down = image->height_px / world_px;
    tg_buf address = {0};
    tg_buf_printf(&address, "%.*s{z}/{x}/{y}.%s", TG_STR_ARG(about->base),
                  about->alpha ? "webp" : "jpg");
    tg_buf_z(out, "{\"tilejson\":\"3.0.0\",\"scheme\":\"xyz\",\"tiles\":[");
    tg_json_string(out, tg_buf_view(&address));
    tg_buf_free(&address);
    tg_buf_printf(out, "],\"minzoom\":0,\"maxzoom\":%u", top);
    tg_buf_printf(out, ",\"bounds\":[-180,%.9f,%.9f,%.9f]", latitude(down), 360 * across - 180,
                  latitude(0));
    tg_buf_printf(out, ",\"center\":[%.9f,%.9f,0]", 180 * across - 180, latitude(down / 2));
    put_text(out, "name", about->name);
    if (about->attribution.n)
        put_attribution(out, about->attribution);
    tg_buf_z(out, "}\n");
}
