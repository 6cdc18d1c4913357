#include "j2k_tile.h"

#include "j2k_form.h"
#include "jp2_boxes.h"
#include "tegula/num.h"

/* Finds the codestream and reads its header. */
static bool read_headers(const uint8_t *data, size_t n_bytes, tg_j2k_source *codestream,
                         tg_j2k_header *h, tg_err *err)
{
    tg_j2k_source all = {.memory = data, .fd = -1, .n_bytes = n_bytes};

    return tg_jp2_find_codestream(&all, codestream, err) && tg_j2k_header_read(codestream, h, err);
}

static tg_j2k_tile describe(const tg_j2k_header *h, unsigned k)
{
    const tg_j2k_component *c = h->component;
    tg_j2k_tile t = {
        .width_px = tg_j2k_coordinate(h->x1, c->dx, k) - tg_j2k_coordinate(h->x0, c->dx, k),
        .height_px = tg_j2k_coordinate(h->y1, c->dy, k) - tg_j2k_coordinate(h->y0, c->dy, k),
        .channels = (uint8_t)TG_MIN(h->n_components, TG_J2K_MAX_CHANNELS),
        .bits = 8};

    for (unsigned i = 0; i < t.channels; i++)
        if (c[i].bits > 8)
            t.bits = 16;
    return t;
}

static bool check(const tg_j2k_header *h, const tg_j2k_tile *t, unsigned k, tg_err *err)
{
    if (k > h->levels_min || t->width_px == 0 || t->height_px == 0)
        return tg_fail(err, TG_ERR_NOT_IMPLEMENTED, "the tile has no such resolution");
    return true;
}

bool tg_j2k_tile_info(const uint8_t *data, size_t n_bytes, unsigned k, tg_j2k_tile *out,
                      tg_err *err)
{
    tg_j2k_source codestream;
    tg_j2k_header h;

    if (!read_headers(data, n_bytes, &codestream, &h, err))
        return false;
    *out = describe(&h, k);
    return check(&h, out, k, err);
}

static tg_j2k_form plain_form(const tg_j2k_header *h, const tg_j2k_tile *t, bool ycc)
{
    tg_j2k_form form = {.n_channels = t->channels,
                        .bits = t->bits,
                        .model = ycc && t->channels >= 3 ? TG_J2K_YCC_601 : TG_J2K_AS_IT_IS};

    for (unsigned i = 0; i < t->channels; i++) {
        form.channel[i].component = tg_j2k_want(&form, i);
        tg_j2k_full_range(&form.channel[i], &h->component[i], t->bits);
    }
    return form;
}

static opj_image_t *decode(const tg_j2k_source *codestream, const tg_j2k_header *h,
                           const tg_j2k_form *form, unsigned k, bool lenient, tg_err *err)
{
    tg_j2k_area all = {h->x0, h->y0, h->x1, h->y1};
    bool some = form->n_components < h->n_components && !h->mct;
    tg_j2k_request r = {.piece = codestream, .n_pieces = 1, .k = k, .lenient = lenient};

    if (some) {
        r.component = form->component;
        r.n_components = form->n_components;
    }
    r.memory_bytes = tg_j2k_decode_bytes(h, &all, &all, k, h->n_components) + codestream->n_bytes;
    return tg_j2k_decode(&r, err);
}

bool tg_j2k_tile_decode(const uint8_t *data, size_t n_bytes, unsigned k, bool ycc, bool lenient,
                        void *dst, size_t stride, tg_err *err)
{
    tg_j2k_source codestream;
    tg_j2k_header h;
    tg_j2k_form form;
    tg_j2k_tile t;
    tg_rect rect;
    opj_image_t *image;
    bool ok;

    if (!read_headers(data, n_bytes, &codestream, &h, err))
        return false;
    t = describe(&h, k);
    if (!check(&h, &t, k, err))
        return false;
    form = plain_form(&h, &t, ycc);
    image = decode(&codestream, &h, &form, k, lenient, err);
    if (!image)
        return false;
    rect = (tg_rect){tg_j2k_coordinate(h.x0, h.component[0].dx, k),
                     tg_j2k_coordinate(h.y0, h.component[0].dy, k), t.width_px, t.height_px};
    ok = tg_j2k_place(&form, &h, image, k, rect, dst, stride, err);
    opj_image_destroy(image);
    return ok;
}
