/* The resolutions of an image as IIP counts them: 0 is the smallest. Of tiled
 * formats they are the stored levels. Of others, and where there is only one, the image is halved,
 * rounded up, until one tile holds it; of these some may be stored. */
#ifndef TEGULA_RESOLUTIONS_H
#define TEGULA_RESOLUTIONS_H

#include "tegula/codec.h"
#include "tegula/job.h"

typedef struct tg_resolutions {
    unsigned n;
    /* Of all, as shown: those that can be sent as they are stored, else 256, which is what IIP's
     * clients are used to. info.json and Deep Zoom tell what is cheap to cut instead, 512 for JPEG
     * 2000 in one tile without precincts: 1024 x 1024 px took 465 ms so, 800 ms by 256. */
    uint32_t tile_w_px, tile_h_px;
    struct tg_resolution {
        uint32_t width_px, height_px; /* as shown */
        int level;                    /* of the image; -1: not stored */
        unsigned halvings;            /* -1: of level 0 */
    } of[TG_MAX_LEVELS];
} tg_resolutions;

void tg_resolutions_of(const tg_image *image, tg_resolutions *out);

/* Region and size of a job that shows rect of resolution r, pixel by pixel; rect lies inside. */
void tg_resolution_job(const tg_image *image, const struct tg_resolution *r, tg_rect rect,
                       tg_job *job);

#endif
