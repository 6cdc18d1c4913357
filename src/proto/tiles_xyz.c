/* XYZ tiles as map viewers ask for them, and TileJSON 3.0.0. */
#include <math.h>

#include "tegula/json.h"
#include "tegula/num.h"
#include "tegula/tiles.h"
#include "tegula/xml.h"

#define TILE_PX 256 /* what viewers of maps take for granted */
#define PI      3.14159265358979323846
#define WORLD_M 40075016.685578488 /* side of the square world of EPSG:3857 */

#define MAX_LEVEL 30

bool tg_xyz_can(const tg_tiles_image *image, tg_err *err)
{
    return image->map.projection != TG_PROJECTION_OTHER ||
           tg_fail(err, TG_ERR_NOT_IMPLEMENTED,
                   "map tiles are made of images in web mercator (EPSG:3857) only");
}

/* Where level 0 has its tile, in pixels of the image. */
typedef struct world {
    double x, y, w, h;
} world;

static world world_of(const tg_tiles_image *image)
{
    const tg_georef *map = &image->map;
    if (map->projection == TG_PROJECTION_WEB_MERCATOR)
        return (world){(-WORLD_M / 2 - map->west_m) / map->px_w_m,
                       (map->north_m - WORLD_M / 2) / map->px_h_m, WORLD_M / map->px_w_m,
                       WORLD_M / map->px_h_m};
    double side = ldexp(TILE_PX, (int)tg_xyz_top(image));
    return (world){0, 0, side, side};
}

unsigned tg_xyz_top(const tg_tiles_image *image)
{
    bool on_map = image->map.projection == TG_PROJECTION_WEB_MERCATOR;
    double side = on_map ? WORLD_M / TG_MIN(image->map.px_w_m, image->map.px_h_m) * (1 - 1e-6)
                         : TG_MAX(image->width_px, image->height_px);
    unsigned z = 0;
    while (z < MAX_LEVEL && ldexp(TILE_PX, (int)z) < side)
        z++;
    return z;
}

/* More than a rounding error of it. */
static bool touches(double at, double part, uint32_t side_px)
{
    return at + part > 1e-6 && at < side_px - 1e-6;
}

bool tg_xyz_job(const tg_tiles *t, const tg_tiles_image *image, tg_job *out, tg_err *err)
{
    if (!tg_xyz_can(image, err))
        return false;
    unsigned top = tg_xyz_top(image);
    if (t->level > top)
        return tg_fail(err, TG_ERR_NOT_FOUND, "level: there are 0 to %u", top);
    uint64_t across = (uint64_t)1 << t->level, out_px = t->twice ? 2 * TILE_PX : TILE_PX;
    world w = world_of(image);
    double side_x = w.w / (double)across, side_y = w.h / (double)across;
    double x = w.x + (double)t->x * side_x, y = w.y + (double)t->y * side_y;
    if (t->x >= across || t->y >= across || !touches(x, side_x, image->width_px) ||
        !touches(y, side_y, image->height_px))
        return tg_fail(err, TG_ERR_NOT_FOUND, "tile: outside the image");
    *out = (tg_job){.region = TG_REGION_FREE,
                    .rx = x,
                    .ry = y,
                    .rw = side_x,
                    .rh = side_y,
                    .size = TG_SIZE_EXACT,
                    .w = out_px,
                    .h = out_px,
                    .upscale = TG_UPSCALE_IMPLICIT,
                    .format = t->format};
    return true;
}

/* Degrees of a place in the square world, 0 = top or left, 1 = bottom or right. */
static double latitude(double down)
{
    return atan(sinh(PI * (1 - 2 * down))) * 180 / PI;
}

static double longitude(double across)
{
    return 360 * across - 180;
}

/* With the nine decimals that are printed, never outside the picture: viewers would ask for the
 * tile there. */
static double decimals_up(double degrees)
{
    return ceil(degrees * 1e9) / 1e9;
}

static double decimals_down(double degrees)
{
    return floor(degrees * 1e9) / 1e9;
}

/* Of the image in the square world, and the last level where it is no larger than a tile. */
typedef struct bounds {
    double west, north, east, south;
    unsigned zoom;
} bounds;

static double in_world(double v)
{
    return TG_MIN(TG_MAX(v, 0.0), 1.0);
}

static bounds bounds_of(const tg_tiles_image *image)
{
    world w = world_of(image);
    double across = image->width_px / w.w, down = image->height_px / w.h;
    bounds b = {.west = in_world(-w.x / w.w),
                .north = in_world(-w.y / w.h),
                .east = in_world(-w.x / w.w + across),
                .south = in_world(-w.y / w.h + down)};
    while (b.zoom < tg_xyz_top(image) && ldexp(TG_MAX(across, down), (int)b.zoom + 1) <= 1)
        b.zoom++;
    return b;
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
    tg_xml_text(&html, text);
    put_text(out, "attribution", tg_buf_view(&html));
    tg_buf_free(&html);
}

void tg_tilejson_document(const tg_tiles_image *image, const tg_tilejson *about, tg_buf *out)
{
    bounds b = bounds_of(image);
    tg_buf address = {0};
    tg_buf_printf(&address, "%.*s{z}/{x}/{y}.%s", TG_STR_ARG(about->base),
                  about->alpha ? "webp" : "jpg");
    tg_buf_z(out, "{\"tilejson\":\"3.0.0\",\"scheme\":\"xyz\",\"tiles\":[");
    tg_json_string(out, tg_buf_view(&address));
    tg_buf_free(&address);
    tg_buf_printf(out, "],\"minzoom\":%u,\"maxzoom\":%u", b.zoom, tg_xyz_top(image));
    tg_buf_printf(out, ",\"bounds\":[%.9f,%.9f,%.9f,%.9f]", decimals_up(longitude(b.west)),
                  decimals_up(latitude(b.south)), decimals_down(longitude(b.east)),
                  decimals_down(latitude(b.north)));
    tg_buf_printf(out, ",\"center\":[%.9f,%.9f,%u]", longitude((b.west + b.east) / 2),
                  latitude((b.north + b.south) / 2), b.zoom);
    put_text(out, "name", about->name);
    if (about->attribution.n)
        put_attribution(out, about->attribution);
    tg_buf_z(out, "}\n");
}
