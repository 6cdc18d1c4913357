#include "jpeg_read.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tegula/abandon.h"
#include "tegula/log.h"
#include "tegula/num.h"

/* Decoding time grows with the scans times the blocks, not with the bytes; real files have about
 * ten scans. */
#define FEW_SCANS        20
#define MAX_SCANS        100
#define MAX_BLOCK_VISITS ((uint64_t)1 << 26) /* by more than a few scans; about a second */
/* Rows less than this wider than twice what is wanted of them are not worth cropping. */
#define CROP_PX          128

static void stop(tg_jpeg_reader *r, tg_err_kind kind, const char *msg)
{
    tg_fail(r->errors.err, kind, "%s", msg);
    longjmp(r->errors.jump, 1);
}

/* The stream ended without an end marker. A picture of one scan may be whole all the same: the
 * Huffman decoder warns (and so fails) when it really lacks bits. The arithmetic decoder does not,
 * and among several scans the missing ones would go unnoticed. */
static void pretend_end(tg_jpeg_reader *r)
{
    static const JOCTET eoi[2] = {0xff, JPEG_EOI};

    if (!r->errors.lenient && (r->many_scans || r->cinfo.arith_code))
        stop(r, TG_ERR_CORRUPT, "the image file is cut short");
    if (r->many_scans && !r->told)
        tg_log_file("a JPEG file of several scans is cut short and shown as far as they go");
    r->told = true;
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

static uint64_t blocks(const struct jpeg_decompress_struct *cinfo)
{
    uint64_t n = 0;

    for (int i = 0; i < cinfo->num_components; i++)
        n += (uint64_t)cinfo->comp_info[i].width_in_blocks * cinfo->comp_info[i].height_in_blocks;
    return n;
}

static void on_progress(j_common_ptr common)
{
    j_decompress_ptr cinfo = (j_decompress_ptr)common;

    tg_jpeg_reader *r = cinfo->client_data;
    uint64_t scans = (uint64_t)cinfo->input_scan_number;

    if (scans > MAX_SCANS || (scans > FEW_SCANS && scans * blocks(cinfo) > MAX_BLOCK_VISITS))
        stop(r, TG_ERR_CORRUPT, "the JPEG data has too many scans");
    if (!tg_still_wanted(r->errors.err))
        longjmp(r->errors.jump, 1);
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
    r->many_scans = r->ended = r->told = false;
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

/* libjpeg-turbo 2.1 crops wrongly where chroma is four times coarser and the picture reduced. */
static bool worth_cropping(const struct jpeg_decompress_struct *cinfo, uint32_t w)
{
    return cinfo->max_h_samp_factor <= 2 && cinfo->output_width / 2 >= w + CROP_PX;
}

uint32_t tg_jpeg_reader_crop(tg_jpeg_reader *r, uint32_t x, uint32_t w, tg_err *err)
{
    j_decompress_ptr cinfo = &r->cinfo;
    /* Smooth upsampling looks at the neighbour pixel, which a crop would lack at its ends. */
    uint32_t margin = (uint32_t)(cinfo->max_h_samp_factor * cinfo->min_DCT_scaled_size);
    uint32_t from = x > margin ? x - margin : 0;
    JDIMENSION at = from, n = TG_MIN(x + w + margin, cinfo->output_width) - from;

    if (!worth_cropping(cinfo, w))
        return 0;
    r->errors.err = err;
    if (setjmp(r->errors.jump))
        return UINT32_MAX;
    jpeg_crop_scanline(cinfo, &at, &n);
    return at;
}

static uint32_t mcu_rows(const struct jpeg_decompress_struct *cinfo)
{
    return (uint32_t)(cinfo->max_v_samp_factor * cinfo->min_DCT_scaled_size);
}

/* Where data that were cut short are overlooked: libjpeg goes on in gray. The row of blocks that
 * had been begun is the last one to show; many scans leave something everywhere. */
static bool still_there(tg_jpeg_reader *r)
{
    const struct jpeg_decompress_struct *cinfo = &r->cinfo;

    if (!r->errors.lenient || r->many_scans)
        return true;
    if (!r->ended && r->errors.doubtful && cinfo->unread_marker == JPEG_EOI) {
        r->ended = true;
        r->last_row = cinfo->input_iMCU_row * mcu_rows(cinfo);
    }
    return !r->ended || cinfo->output_scanline < r->last_row;
}

static void skip_rows(tg_jpeg_reader *r, uint32_t n)
{
    uint32_t step = r->errors.lenient ? mcu_rows(&r->cinfo) : n;

    for (uint32_t done = 0, now; done < n; done += now) {
        if (!still_there(r))
            stop(r, TG_ERR_CORRUPT, "the image file is cut short");
        now = jpeg_skip_scanlines(&r->cinfo, TG_MIN(step, n - done));
    }
}

static void read_rows(tg_jpeg_reader *r, uint8_t *dst, size_t stride, uint32_t n)
{
    enum { BATCH = 4 }; /* libjpeg gives no more at a time */

    for (uint32_t done = 0; done < n;) {
        uint32_t batch = TG_MIN(n - done, (uint32_t)BATCH);
        JSAMPROW rows[BATCH];

        if (!still_there(r))
            stop(r, TG_ERR_CORRUPT, "the image file is cut short");
        for (uint32_t i = 0; i < batch; i++)
            rows[i] = dst + (size_t)(done + i) * stride;
        done += jpeg_read_scanlines(&r->cinfo, rows, batch);
    }
}

bool tg_jpeg_reader_rows(tg_jpeg_reader *r, uint8_t *dst, size_t stride, uint32_t n, tg_err *err)
{
    r->errors.err = err;
    if (n > r->cinfo.output_height - r->cinfo.output_scanline)
        return tg_fail(err, TG_ERR_CORRUPT, "the JPEG data has too few rows");
    if (setjmp(r->errors.jump))
        return false;
    if (dst)
        read_rows(r, dst, stride, n);
    else
        skip_rows(r, n);
    return true;
}

void tg_jpeg_reader_end(tg_jpeg_reader *r)
{
    jpeg_destroy_decompress(&r->cinfo);
}
