/* Pictures stored in one piece, from top to bottom (JPEG, PNG, WebP, GIF, HEIF): reading any
 * rectangle of them by a decoder that only goes downwards, or that only knows the whole. Private to
 * src/codec.
 *
 * A codec gives the three operations below; its image begins with a tg_flat. */
#ifndef TEGULA_FLAT_H
#define TEGULA_FLAT_H

#include "tegula/codec.h"

typedef struct tg_flat tg_flat;

typedef struct tg_flat_ops {
    /* Starts at row 0 of reduction f->k; only columns [f->x, f->x + f->w) are wanted: it may make
     * them more. */
    bool (*start)(tg_flat *f, tg_err *err);
    /* The next n rows of those columns; a NULL dst drops them. */
    bool (*rows)(tg_flat *f, uint8_t *dst, size_t stride, uint32_t n, tg_err *err);
    /* Frees what start and rows hold, also after a failure of either. */
    void (*stop)(tg_flat *f);
} tg_flat_ops;

struct tg_flat {
    tg_image base;
    const tg_flat_ops *ops;
    uint64_t size_bytes; /* of the file */
    uint64_t cache_id;
    bool costly; /* a few rows cost as much as all, or the decoder holds much memory */

    /* The decoder under way. */
    bool live, broken; /* broken: only white follows (options.lenient) */
    unsigned k;
    uint32_t x, w;     /* columns of the reduced picture that rows() gives */
    uint32_t next_row; /* of the reduced picture */
};

/* Fills in what is the same for all: one level of bands. native, orientation, resolution and
 * max_reduction are the codec's to set. */
void tg_flat_init(tg_flat *f, const tg_codec *codec, const tg_flat_ops *ops, int fd,
                  uint64_t size_bytes, uint32_t width_px, uint32_t height_px);
/* Largest k up to max that leaves a pixel. */
uint8_t tg_flat_reduction(const tg_flat *f, unsigned max);

/* tg_codec.read, .rest; stop the decoder and close the descriptor. */
bool tg_flat_read(tg_image *img, unsigned level, unsigned k, tg_rect rect, void *dst,
                  size_t dst_stride, tg_err *err);
void tg_flat_rest(tg_image *img);
void tg_flat_close(tg_flat *f);

/* True for damage that options.lenient overlooks: logged and no error any more. */
bool tg_flat_overlook(const tg_flat *f, tg_err *err);

/* The next n rows out of a raster of the whole height, whose rows have f->w pixels. */
void tg_flat_copy(const tg_flat *f, const uint8_t *raster, uint8_t *dst, size_t stride, uint32_t n);

/* False with TG_ERR_TOO_LARGE when so many bytes, which a library is about to allocate by itself,
 * would pass the ceiling of tg_image_alloc. */
bool tg_flat_admit(uint64_t bytes, tg_err *err);

#endif
