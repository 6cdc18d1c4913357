/* Colour of open images: the table of ways to sRGB, and pixels on their way. */
#include "tegula/colour.h"

#include <stdlib.h>
#include <string.h>

#include "colour_profile.h"
#include "colour_srgb.h"
#include "tegula/buf.h"
#include "tegula/log.h"
#include "tegula/mem.h"
#include "tegula/num.h"

/* What a profile is told from others by: 128 bits of its bytes, and what it is for. */
typedef struct colour_key {
    uint64_t hash[2];
    size_t icc_bytes;
    tg_native native;
    bool kept;
} colour_key;

struct tg_colour {
    colour_key key;
    unsigned users;
    uint64_t last_use;
    bool listed;  /* in the table; else freed by its last user */
    bool is_srgb; /* within a step of 8 bits; then there is no way */
    tg_str icc;   /* owned; empty unless it is kept */
    tg_profile_way way;
};

/* ---- the table ---- */

#define TABLE_ENTRIES 8 /* collections come from a few scanners; an entry takes up to 1 MiB */

static tg_colour *table[TABLE_ENTRIES];
static uint64_t uses;

static void colour_free(tg_colour *c)
{
    tg_profile_way_free(&c->way);
    free((char *)c->icc.p);
    free(c);
}

static bool same_key(const colour_key *a, const colour_key *b)
{
    return a->hash[0] == b->hash[0] && a->hash[1] == b->hash[1] && a->icc_bytes == b->icc_bytes &&
           a->native.space == b->native.space && a->native.alpha == b->native.alpha &&
           a->native.bits == b->native.bits && a->kept == b->kept;
}

static tg_colour *find(const colour_key *key)
{
    for (size_t i = 0; i < TABLE_ENTRIES; i++)
        if (table[i] && same_key(&table[i]->key, key))
            return table[i];
    return NULL;
}

/* In the place of the one that has been idle longest. */
static void list(tg_colour *c)
{
    tg_colour **place = NULL;

    for (tg_colour **t = table; t < table + TABLE_ENTRIES; t++) {
        if (*t && (*t)->users)
            continue;
        if (!place || !*t || (*place && (*t)->last_use < (*place)->last_use))
            place = t;
    }
    if (!place)
        return;
    if (*place)
        colour_free(*place);
    *place = c;
    c->listed = true;
}

void tg_colour_release(const tg_colour *colour)
{
    tg_colour *c = (tg_colour *)colour;

    if (c && --c->users == 0 && !c->listed)
        colour_free(c);
}

/* ---- from the file ---- */

/* Two runs of FNV-1a, the second over what the first has become on the way. */
static colour_key key_of(tg_str icc, tg_native native, bool kept)
{
    uint64_t a = 0xcbf29ce484222325, b = 0x84222325cbf29ce4;

    for (size_t i = 0; i < icc.n; i++) {
        a = (a ^ (uint8_t)icc.p[i]) * 0x100000001b3;
        b = (b ^ (a >> 29)) * 0x100000001b3;
    }
    return (colour_key){{a, b}, icc.n, native, kept};
}

static bool may_stay(tg_str icc, tg_space space, const tg_colour_policy *policy)
{
    return policy->retain && (space == TG_SPACE_GRAY || space == TG_SPACE_RGB) &&
           (policy->max_icc_bytes < 0 || icc.n <= (uint64_t)policy->max_icc_bytes) &&
           tg_profile_embeddable(icc);
}

static tg_pixfmt fmt_of(tg_native native)
{
    return (tg_pixfmt){(uint8_t)((native.space == TG_SPACE_GRAY ? 1 : 3) + native.alpha),
                       native.bits};
}

/* One gray or RGB colour; alpha does not matter. */
static void convert_one(const tg_colour *c, const uint8_t in[3], uint8_t out[3])
{
    uint8_t px8[4] = {in[0], in[1], in[2], 255};
    uint16_t px16[4] = {in[0] * 257, in[1] * 257, in[2] * 257, 65535};
    bool wide = c->key.native.bits == 16;

    tg_colour_row(c, wide ? (void *)px16 : px8, wide ? (void *)px16 : px8, 1);
    for (int i = 0; i < 3; i++)
        out[i] = wide ? (uint8_t)((px16[i] + 128) / 257) : px8[i];
}

/* Are colours all over the device's space what they were, but for a step of 8 bits? */
static bool keeps_colours(const tg_colour *c)
{
    enum { STEPS = 9 }; /* an axis: 0, 32 .. 224, 255 */

    for (unsigned i = 0; i < STEPS * STEPS * STEPS; i++) {
        const unsigned digit[3] = {i % STEPS, i / STEPS % STEPS, i / (STEPS * STEPS)};
        uint8_t in[3], out[3] = {0};

        for (int k = 0; k < 3; k++)
            in[k] = (uint8_t)TG_MIN(digit[k] * 32, 255u);
        convert_one(c, in, out);
        for (int k = 0; k < (c->key.native.space == TG_SPACE_GRAY ? 1 : 3); k++)
            if (abs(out[k] - in[k]) > 1)
                return false;
    }
    return true;
}

static tg_colour *make(const colour_key *key, tg_str icc)
{
    tg_colour *c = tg_new(sizeof *c);
    char *copy;

    c->key = *key;
    if (!tg_profile_way_make(&c->way, icc, key->native)) {
        colour_free(c);
        return NULL;
    }
    if (key->native.space != TG_SPACE_CMYK && keeps_colours(c)) {
        c->is_srgb = true;
        tg_profile_way_free(&c->way);
    }
    if (key->kept) {
        copy = tg_new(icc.n); /* at most TG_PROFILE_MAX_BYTES, and read into memory already */
        memcpy(copy, icc.p, icc.n);
        c->icc = (tg_str){copy, icc.n};
    }
    list(c);
    return c;
}

/* NULL with the reason when the profile is of no use. */
static const tg_colour *colour_of(tg_str icc, tg_native native, const tg_colour_policy *policy,
                                  const char **refusal)
{
    colour_key key;
    tg_colour *c;

    *refusal = tg_profile_refusal(&icc, native.space);
    if (*refusal || native.space == TG_SPACE_LAB) /* which is what it is without a profile */
        return NULL;
    key = key_of(icc, native, may_stay(icc, native.space, policy));
    c = find(&key);
    if (!c)
        c = make(&key, icc);
    if (!c) {
        *refusal = "it is damaged or needs too much memory";
        return NULL;
    }
    c->users++;
    c->last_use = ++uses;
    return c;
}

void tg_colour_resolve(tg_image *image, const tg_colour_policy *policy)
{
    tg_buf icc = {.max = TG_PROFILE_MAX_BYTES};
    const char *refusal = NULL;

    if (image->colour_resolved || !image->codec->block)
        return;
    image->colour_resolved = true;
    image->codec->block(image, TG_BLOCK_ICC, TG_PROFILE_MAX_BYTES, &icc);
    if (icc.len)
        image->colour = colour_of(tg_buf_view(&icc), image->native, policy, &refusal);
    if (refusal)
        tg_log_file("the colour profile of a %s file is ignored: %s", image->codec->name, refusal);
    tg_buf_free(&icc);
}

bool tg_colour_is_identity(const tg_colour *colour)
{
    return !colour || colour->is_srgb || colour->icc.n || colour->key.native.space >= TG_SPACE_CMYK;
}

tg_str tg_colour_profile(const tg_colour *colour)
{
    return colour ? colour->icc : TG_STR("");
}

/* ---- pixels ---- */

#define CHUNK_PX 256

/* The colours of n pixels in a row of their own: without alpha, and with Lab in 16 bit. */
static void gather(tg_native native, void *dst, const void *src, size_t n)
{
    unsigned channels = tg_native_channels(native), colours = channels - native.alpha;
    bool widen = native.space == TG_SPACE_LAB && native.bits == 8;
    const uint8_t *p8 = src;
    const uint16_t *p16 = src;
    uint8_t *to8 = dst;
    uint16_t *to16 = dst;

    for (size_t i = 0; i < n; i++, p8 += channels, p16 += channels)
        for (unsigned c = 0; c < colours; c++)
            if (widen)
                *to16++ = (uint16_t)(p8[c] * 257);
            else if (native.bits == 8)
                *to8++ = p8[c];
            else
                *to16++ = p16[c];
}

/* From pixels of from channels to pixels of `to` channels. */
static void copy_alpha(unsigned bits, void *dst, unsigned to, const void *src, unsigned from,
                       size_t n)
{
    const uint8_t *p8 = src;
    const uint16_t *p16 = src;

    for (size_t i = 1; i <= n; i++)
        if (bits == 8)
            ((uint8_t *)dst)[i * to - 1] = p8[i * from - 1];
        else
            ((uint16_t *)dst)[i * to - 1] = p16[i * from - 1];
}

static void device_to_lab(const tg_profile_way *way, float *lab, const void *device, size_t n)
{
    uint16_t coded[3 * CHUNK_PX];

    cmsDoTransform(way->to_lab, device, way->lab_float ? (void *)lab : coded, (cmsUInt32Number)n);
    if (!way->lab_float)
        tg_lab_of_coded(lab, coded, n);
}

/* At most CHUNK_PX pixels. */
static void chunk_to_rgb(const tg_colour *colour, tg_native native, void *dst, const void *src,
                         size_t n)
{
    tg_pixfmt fmt = {(uint8_t)(3 + native.alpha), native.bits};
    uint16_t device[4 * CHUNK_PX];
    float lab[3 * CHUNK_PX];

    gather(native, device, src, n);
    if (colour && colour->way.to_lab) {
        device_to_lab(&colour->way, lab, device, n);
        tg_srgb_of_lab(fmt, dst, lab, &colour->way.to, n);
    } else if (native.space == TG_SPACE_LAB) {
        tg_lab_of_coded(lab, device, n);
        tg_srgb_of_lab(fmt, dst, lab, &tg_srgb_of_xyz, n);
    } else {
        tg_srgb_of_cmyk(fmt, dst, device, n);
    }
    if (native.alpha)
        copy_alpha(native.bits, dst, fmt.channels, src, tg_native_channels(native), n);
}

void tg_colour_to_rgb(const tg_colour *colour, tg_native native, void *dst, const void *src,
                      size_t n_px)
{
    size_t from = tg_native_bytes(native), to = (3u + native.alpha) * (native.bits / 8u);

    tg_srgb_init();
    for (size_t i = 0, n; i < n_px; i += n) {
        n = TG_MIN(n_px - i, (size_t)CHUNK_PX);
        chunk_to_rgb(colour, native, (uint8_t *)dst + i * to, (const uint8_t *)src + i * from, n);
    }
}

static void gray_row(const uint16_t *value, tg_pixfmt fmt, void *row, size_t n)
{
    uint8_t *p8 = row;
    uint16_t *p16 = row;

    for (size_t i = 0; i < n; i++)
        if (fmt.bits == 8)
            p8[i * fmt.channels] = (uint8_t)value[p8[i * fmt.channels]];
        else
            p16[i * fmt.channels] = value[p16[i * fmt.channels]];
}

void tg_colour_row(const tg_colour *colour, void *dst, const void *src, size_t n_px)
{
    tg_native native = colour->key.native;
    tg_pixfmt fmt = fmt_of(native);

    if (colour->is_srgb || colour->way.gray) {
        if (dst != src)
            memcpy(dst, src, n_px * tg_pixfmt_bytes(fmt));
        if (colour->way.gray)
            gray_row(colour->way.gray, fmt, dst, n_px);
    } else if (colour->way.linear[0]) {
        tg_srgb_of_matrix(fmt, dst, src, colour->way.linear, &colour->way.to, n_px);
        if (native.alpha && dst != src)
            copy_alpha(fmt.bits, dst, fmt.channels, src, fmt.channels, n_px);
    } else {
        tg_colour_to_rgb(colour, native, dst, src, n_px);
    }
}
