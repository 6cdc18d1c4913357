/* What each encoder gives encoder.c. Private to src/codec. */
#ifndef TEGULA_ENCODER_OPS_H
#define TEGULA_ENCODER_OPS_H

#include "tegula/encoder.h"

typedef struct tg_encoder_ops {
    size_t size_bytes; /* of the encoder's own struct, whose first member is a tg_encoder */
    /* Called once each in this order; end() also after a failure of any of them, begin included. */
    bool (*begin)(tg_encoder *e, tg_err *err);
    bool (*rows)(tg_encoder *e, const uint8_t *rows, size_t stride, uint32_t n, tg_err *err);
    bool (*finish)(tg_encoder *e, tg_err *err);
    void (*end)(tg_encoder *e);
    uint64_t (*cost_bytes)(const tg_encode_spec *spec); /* NULL: some rows, not worth counting */
    const char *(*lacks)(void); /* as tg_format_lacks(); NULL: never anything */
} tg_encoder_ops;

struct tg_encoder {
    const tg_encoder_ops *ops;
    tg_encode_spec spec;
    tg_buf *out;
    uint32_t rows_done;
};

extern const tg_encoder_ops tg_avif_encoder_ops; /* HAVE_AVIF */
extern const tg_encoder_ops tg_jpeg_encoder_ops;
extern const tg_encoder_ops tg_png_encoder_ops;
extern const tg_encoder_ops tg_gif_encoder_ops; /* HAVE_GIF */
extern const tg_encoder_ops tg_jp2_encoder_ops;
extern const tg_encoder_ops tg_pdf_encoder_ops;
extern const tg_encoder_ops tg_tiff_encoder_ops;
extern const tg_encoder_ops tg_webp_encoder_ops;

#endif
