/* Where a picture lies on a map. */
#ifndef TEGULA_GEOREF_H
#define TEGULA_GEOREF_H

typedef enum tg_projection {
    TG_PROJECTION_NONE, /* the file says of no place */
    TG_PROJECTION_WEB_MERCATOR,
    TG_PROJECTION_OTHER /* of which the rest of tg_georef says nothing; or turned, or damaged */
} tg_projection;

typedef struct tg_georef {
    tg_projection projection;
    double west_m, north_m; /* outer corner of the top left pixel, EPSG:3857 */
    double px_w_m, px_h_m;  /* of a pixel of the full image, > 0 */
} tg_georef;

#endif
