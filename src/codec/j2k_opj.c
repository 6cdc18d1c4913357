#include "j2k_opj.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tegula/log.h"
#include "tegula/mem.h"
#include "tegula/num.h"

#define STREAM_BYTES ((size_t)16 << 10) /* larger reads go straight where they belong */

typedef struct decoding {
    const tg_j2k_request *request;
    size_t piece; /* where the stream is: byte `at` of this piece */
    uint64_t at;
    char text[256]; /* OpenJPEG's first complaint that matters */
    bool failed;    /* it was an error, not a warning */
    opj_codec_t *codec;
    opj_stream_t *stream;
    opj_image_t *image;
} decoding;

/* ---- the pieces as OpenJPEG's file ---- */

static void step_pieces(decoding *d)
{
    const tg_j2k_request *r = d->request;

    while (d->piece < r->n_pieces && d->at >= r->piece[d->piece].n_bytes)
        d->at -= r->piece[d->piece++].n_bytes;
}

static OPJ_SIZE_T on_read(void *to, OPJ_SIZE_T n, void *user)
{
    decoding *d = user;
    size_t done = 0;

    for (step_pieces(d); done < n && d->piece < d->request->n_pieces; step_pieces(d)) {
        size_t got =
            tg_j2k_read_some(&d->request->piece[d->piece], d->at, (uint8_t *)to + done, n - done);
        if (got == 0)
            break;
        done += got;
        d->at += got;
    }
    return done ? done : (OPJ_SIZE_T)-1;
}

static uint64_t total_bytes(const tg_j2k_request *r, size_t n_pieces)
{
    uint64_t n = 0;

    for (size_t i = 0; i < n_pieces; i++)
        n += r->piece[i].n_bytes;
    return n;
}

static OPJ_BOOL on_seek(OPJ_OFF_T to, void *user)
{
    decoding *d = user;

    if (to < 0 || (uint64_t)to > total_bytes(d->request, d->request->n_pieces))
        return OPJ_FALSE;
    d->piece = 0;
    d->at = (uint64_t)to;
    return OPJ_TRUE;
}

static OPJ_OFF_T on_skip(OPJ_OFF_T n, void *user)
{
    decoding *d = user;
    uint64_t here = total_bytes(d->request, d->piece) + d->at;
    uint64_t left = total_bytes(d->request, d->request->n_pieces) - here;

    if (n < 0 && (uint64_t)-n > here)
        return -1;
    if (n > 0 && (uint64_t)n > left)
        n = (OPJ_OFF_T)left;
    on_seek((OPJ_OFF_T)here + n, d);
    return n;
}

/* ---- what it says ---- */

/* Warnings about a stream whose pixels are right all the same: SOP markers may be left out (section
 * A.8.1), markers of extensions may be there; code blocks that are to end predictably do not where
 * layers are left out or rate control cut them. */
static const char *const harmless[] = {
    "SOP marker",          "Unknown marker",   "TPsot==TNsot",     "Cannot take in charge",
    "Despite JP2 BPC",     "not end with EOC", "OPJ_J2K_MAXBANDS", "Disabling MCT",
    "PTERM check failure",
};

static void keep(decoding *d, const char *text)
{
    if (d->text[0])
        return;
    snprintf(d->text, sizeof d->text, "%s", text);
    d->text[strcspn(d->text, "\n")] = '\0';
}

static void on_warning(const char *text, void *user)
{
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        if (strstr(text, harmless[i]))
            return;
    keep(user, text);
}

static void on_error(const char *text, void *user)
{
    decoding *d = user;

    if (!d->failed)
        d->text[0] = '\0'; /* says more than a warning before */
    d->failed = true;
    keep(d, text);
}

static void on_info(const char *text, void *user)
{
    (void)text;
    (void)user;
}

static bool fail(decoding *d, tg_err *err)
{
    if (strstr(d->text, "not support"))
        tg_fail(err, TG_ERR_NOT_IMPLEMENTED, "this kind of JPEG 2000 codestream is not supported");
    else
        tg_fail(err, TG_ERR_CORRUPT, "the JPEG 2000 codestream is damaged");
    return tg_fail_detail(err, "OpenJPEG: %s", d->text[0] ? d->text : "no reason given");
}

/* ---- decoding ---- */

static opj_codec_t *new_codec(decoding *d)
{
    opj_codec_t *codec = opj_create_decompress(OPJ_CODEC_J2K);
    opj_dparameters_t p;

    if (!codec)
        return NULL;
    opj_set_error_handler(codec, on_error, d);
    opj_set_warning_handler(codec, on_warning, d);
    opj_set_info_handler(codec, on_info, NULL);
    opj_set_default_decoder_parameters(&p);
    p.cp_reduce = d->request->k;
    p.cp_layer = d->request->max_layers > 0 ? (OPJ_UINT32)d->request->max_layers : 0;
    if (opj_setup_decoder(codec, &p))
        return codec;
    opj_destroy_codec(codec);
    return NULL;
}

static opj_stream_t *new_stream(decoding *d)
{
    opj_stream_t *s = opj_stream_create(STREAM_BYTES, OPJ_STREAM_READ);

    if (!s)
        return NULL;
    opj_stream_set_user_data(s, d, NULL);
    opj_stream_set_user_data_length(s, total_bytes(d->request, d->request->n_pieces));
    opj_stream_set_read_function(s, on_read);
    opj_stream_set_skip_function(s, on_skip);
    opj_stream_set_seek_function(s, on_seek);
    return s;
}

/* Of everything, too, an area is to be set: only that makes OpenJPEG reckon with reduced offsets.
 */
static bool set_area(const tg_j2k_request *r, opj_codec_t *codec, opj_image_t *image)
{
    tg_j2k_area a = r->area ? *r->area : (tg_j2k_area){0, 0, 0, 0};

    return opj_set_decode_area(codec, image, (OPJ_INT32)a.x0, (OPJ_INT32)a.y0, (OPJ_INT32)a.x1,
                               (OPJ_INT32)a.y1);
}

static bool decode_area(decoding *d)
{
    const tg_j2k_request *r = d->request;

    if (!opj_read_header(d->stream, d->codec, &d->image))
        return false;
    if (r->component &&
        !opj_set_decoded_components(d->codec, r->n_components, r->component, OPJ_FALSE))
        return false;
    if (!set_area(r, d->codec, d->image))
        return false;
    d->text[0] = '\0'; /* warnings so far were about the main header */
    return opj_decode(d->codec, d->stream, d->image) && opj_end_decompress(d->codec, d->stream);
}

/* ---- assertions ---- */

/* OpenJPEG asserts what a damaged file can make untrue (2.5.0: the first byte of the MEL segment of
 * a high-throughput code-block), also in builds that are distributed. That would end the worker, so
 * its abort() comes back here. What was at work is taken down as after an error. */
static sigjmp_buf *on_abort_go;

static void on_abort(int signal_number)
{
    (void)signal_number;
    siglongjmp(*on_abort_go, 1);
}

static bool decode_guarded(decoding *d)
{
    struct sigaction guard = {.sa_handler = on_abort}, before;
    sigjmp_buf here;
    bool ok = false;

    sigemptyset(&guard.sa_mask);
    on_abort_go = &here;
    sigaction(SIGABRT, &guard, &before);
    if (sigsetjmp(here, 1) == 0)
        ok = decode_area(d);
    else
        on_error("an assertion failed", d);
    sigaction(SIGABRT, &before, NULL);
    return ok;
}

/* ---- all of it ---- */

static bool has_samples(const opj_image_t *image)
{
    for (OPJ_UINT32 i = 0; i < image->numcomps; i++)
        if (!image->comps[i].data || image->comps[i].w == 0 || image->comps[i].h == 0)
            return false;
    return image->numcomps > 0;
}

/* Not doubted, or forgiven. */
static bool is_acceptable(const decoding *d)
{
    if (!d->text[0])
        return true;
    if (d->request->lenient)
        tg_log_file("a JPEG 2000 codestream is damaged and shown as it is: %s", d->text);
    return d->request->lenient;
}

static opj_image_t *decode(decoding *d, tg_err *err)
{
    bool ok;

    d->codec = new_codec(d);
    d->stream = d->codec ? new_stream(d) : NULL;
    ok = d->stream && decode_guarded(d) && has_samples(d->image) && is_acceptable(d);
    if (!d->stream)
        tg_fail(err, TG_ERR_BUSY, "out of memory");
    else if (!ok)
        fail(d, err);
    if (!ok) {
        opj_image_destroy(d->image);
        d->image = NULL;
    }
    if (d->stream)
        opj_stream_destroy(d->stream);
    if (d->codec)
        opj_destroy_codec(d->codec);
    return d->image;
}

/* OpenJPEG allocates by itself. As much is booked meanwhile, and not touched, so that the ceiling
 * holds for it too. */
opj_image_t *tg_j2k_decode(const tg_j2k_request *r, tg_err *err)
{
    decoding d = {.request = r};
    void *booked = tg_image_alloc(r->memory_bytes, 1, err);
    opj_image_t *image = booked ? decode(&d, err) : NULL;

    tg_image_free(booked);
    return image;
}
