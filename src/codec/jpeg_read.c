#include "jpeg_read.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tegula/num.h"

/* Decoding time grows with the scans, not with the bytes; real files have about ten. */
#define MAX_SCANS 100

static void stop(tg_jpeg_reader *r, tg_err_kind kind, const char *msg)
{
    tg_fail(r->errors.err, kind, "%s", msg);
    longjmp(r->errors.jump, 1);
}

/* The stream ended without an end marker. A picture of one scan may be whole all the same: the
 * entropy decoder warns (and so fails) when it really lacks bits. Among several scans the missing
 * ones would go unnoticed. */
static void pretend_end(tg_jpeg_reader *r)
{
    static const JOCTET eoi[2] = {0xff, JPEG_EOI};

    if (r->many_scans)
        stop(r, TG_ERR_CORRUPT, "the image file is cut short");
    r->source.next_input_byte = eoi;
    r->source.bytes_in_buffer = sizeof eoi;
}

static boolean on_empty(j_decompress_ptr cinfo)
{
    tg_jpeg_reader *r = cinfo->client_data;
    size_t want = (size_t)TG_MIN(r->end_bytes - r->at_bytes, sizeof r->buffer);
    ssize_t got;

    if (want == 0) {
        pretend_end(r);
        return TRUE;
    }
    do
        got = pread(r->fd, r->buffer, want, (off_t)r->at_bytes);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        stop(r, TG_ERR_IO, "the image file cannot be read");
    if (got == 0)
        stop(r, TG_ERR_CORRUPT, "the image file is cut short");
    r->at_bytes += (uint64_t)got;
    r->source.next_input_byte = r->buffer;
    r->source.bytes_in_buffer = (size_t)got;
    return TRUE;
}

static void on_skip(j_decompress_ptr cinfo, long n)
{
    tg_jpeg_reader *r = cinfo->client_data;
    uint64_t skip = n > 0 ? (uint64_t)n : 0;

    if (skip <= r->source.bytes_in_buffer) {
        r->source.next_input_byte += skip;
        r->source.bytes_in_buffer -= (size_t)skip;
        return;
    }
    skip -= r->source.bytes_in_buffer;
    r->at_bytes += TG_MIN(skip, r->end_bytes - r->at_bytes);
    r->source.bytes_in_buffer = 0;
}

static void on_nothing(j_decompress_ptr cinfo)
{
    (void)cinfo;
}

static void on_progress(j_common_ptr common)
{
    j_decompress_ptr cinfo = (j_decompress_ptr)common;

    if (cinfo->input_scan_number > MAX_SCANS)
        stop(cinfo->client_data, TG_ERR_CORRUPT, "the JPEG data has too many scans");
}

static void init(tg_jpeg_reader *r)
{
    jpeg_create_decompress(&r->cinfo);
    r->cinfo.client_data = r;
    r->source.init_source = on_nothing;
    r->source.fill_input_buffer = on_empty;
    r->source.skip_input_data = on_skip;
    r->source.resync_to_restart = jpeg_resync_to_restart;
    r->source.term_source = on_nothing;
    r->cinfo.src = &r->source;
    r->progress.progress_monitor = on_progress;
    r->cinfo.progress = &r->progress;
    tg_jpeg_limit_memory((j_common_ptr)&r->cinfo);
}

static void read_tables(tg_jpeg_reader *r, const uint8_t *tables, size_t n)
{
    r->source.next_input_byte = tables;
    r->source.bytes_in_buffer = n;
    r->at_bytes = r->end_bytes = 0;
    if (jpeg_read_header(&r->cinfo, FALSE) != JPEG_HEADER_TABLES_ONLY)
        stop(r, TG_ERR_CORRUPT, "the JPEG tables of the image file are no tables");
}

bool tg_jpeg_reader_begin(tg_jpeg_reader *r, int fd, uint64_t offset_bytes, uint64_t n_bytes,
                          const uint8_t *tables, size_t n_tables, tg_err *err)
{
    memset(&r->cinfo, 0, sizeof r->cinfo);
    r->cinfo.err = tg_jpeg_errors_init(&r->errors);
    r->errors.err = err;
    r->many_scans = false;
    if (setjmp(r->errors.jump))
        return false;
    init(r);
    if (n_tables > 0)
        read_tables(r, tables, n_tables);
    r->fd = fd;
    r->at_bytes = offset_bytes;
    r->end_bytes = offset_bytes + n_bytes;
    r->source.bytes_in_buffer = 0;
    jpeg_read_header(&r->cinfo, TRUE);
    r->many_scans = jpeg_has_multiple_scans(&r->cinfo);
    return true;
}

bool tg_jpeg_reader_start(tg_jpeg_reader *r, unsigned k, tg_err *err)
{
    r->errors.err = err;
    if (setjmp(r->errors.jump))
        return false;
    r->cinfo.scale_num = 1;
    r->cinfo.scale_denom = 1u << k;
    r->cinfo.dct_method = JDCT_ISLOW;
    r->cinfo.do_fancy_upsampling = TRUE;
    jpeg_start_decompress(&r->cinfo);
    return true;
}

uint32_t tg_jpeg_reader_crop(tg_jpeg_reader *r, uint32_t x, uint32_t w, tg_err *err)
{
    j_decompress_ptr cinfo = &r->cinfo;
    /* Smooth upsampling looks at the neighbour pixel, which a crop would lack at its ends. */
    uint32_t margin = (uint32_t)(cinfo->max_h_samp_factor * cinfo->min_DCT_scaled_size);
    uint32_t from = x > margin ? x - margin : 0;
    JDIMENSION at = from, n = TG_MIN(x + w + margin, cinfo->output_width) - from;

    r->errors.err = err;
    if (setjmp(r->errors.jump))
        return UINT32_MAX;
    jpeg_crop_scanline(cinfo, &at, &n);
    return at;
}

bool tg_jpeg_reader_rows(tg_jpeg_reader *r, uint8_t *dst, size_t stride, uint32_t n, tg_err *err)
{
    enum { BATCH = 4 }; /* libjpeg gives no more at a time */
    j_decompress_ptr cinfo = &r->cinfo;
    uint32_t first = cinfo->output_scanline;

    r->errors.err = err;
    if (n > cinfo->output_height - first)
        return tg_fail(err, TG_ERR_CORRUPT, "the JPEG data has too few rows");
    if (setjmp(r->errors.jump))
        return false;
    if (!dst) {
        while (cinfo->output_scanline - first < n)
            jpeg_skip_scanlines(cinfo, n - (cinfo->output_scanline - first));
        return true;
    }
    for (uint32_t done; (done = cinfo->output_scanline - first) < n;) {
        uint32_t batch = TG_MIN(n - done, (uint32_t)BATCH);
        JSAMPROW rows[BATCH];

        for (uint32_t i = 0; i < batch; i++)
            rows[i] = dst + (size_t)(done + i) * stride;
        jpeg_read_scanlines(cinfo, rows, batch);
    }
    return true;
}

void tg_jpeg_reader_end(tg_jpeg_reader *r)
{
    jpeg_destroy_decompress(&r->cinfo);
}
