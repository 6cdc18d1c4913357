/* PDF output: one page that shows one JPEG stream (ISO 32000-1, sections 7.5 and 8.9). */
#include <stdio.h>

#include "encoder_ops.h"
#include "tegula/num.h"

/* Objects in the order they are written: LENGTH is known only behind the stream. */
enum { CATALOG = 1, PAGES, PAGE, CONTENT, IMAGE, LENGTH, OBJECTS };

typedef struct pdf_encoder {
    tg_encoder base;
    tg_encoder *jpeg; /* writes into the same buffer */
    size_t start, stream;
    size_t offset[OBJECTS]; /* from start */
} pdf_encoder;

#define PAGE_MAX_UNITS 14400.0 /* what PDF 1.x viewers take (annex C); 1 unit = 1/72 inch */

/* The page: the picture's own size where that is known, else a pixel is a unit. */
static void page_units(const tg_encode_spec *spec, double *w, double *h)
{
    bool known = spec->dpi_x > 0 && spec->dpi_y > 0;
    double longest;

    *w = known ? spec->width_px * 72.0 / spec->dpi_x : spec->width_px;
    *h = known ? spec->height_px * 72.0 / spec->dpi_y : spec->height_px;
    longest = TG_MAX(*w, *h);
    if (longest > PAGE_MAX_UNITS) {
        *w *= PAGE_MAX_UNITS / longest;
        *h *= PAGE_MAX_UNITS / longest;
    }
}

static void begin_object(pdf_encoder *p, int number)
{
    p->offset[number] = p->base.out->len - p->start;
    tg_buf_printf(p->base.out, "%d 0 obj\n", number);
}

static void write_page(pdf_encoder *p)
{
    tg_buf *out = p->base.out;
    char content[96];
    double w, h;
    int n;

    page_units(&p->base.spec, &w, &h);
    begin_object(p, PAGE);
    tg_buf_printf(out,
                  "<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %.4f %.4f]\n"
                  "/Resources << /XObject << /Im %d 0 R >> >> /Contents %d 0 R >>\nendobj\n",
                  PAGES, w, h, IMAGE, CONTENT);
    n = snprintf(content, sizeof content, "q %.4f 0 0 %.4f 0 0 cm /Im Do Q", w, h);
    begin_object(p, CONTENT);
    tg_buf_printf(out, "<< /Length %d >>\nstream\n%s\nendstream\nendobj\n", n, content);
}

/* Everything up to the JPEG stream. */
static void write_head(pdf_encoder *p)
{
    const tg_encode_spec *spec = &p->base.spec;
    tg_buf *out = p->base.out;

    tg_buf_z(out, "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"); /* the bytes say that the file is binary */
    begin_object(p, CATALOG);
    tg_buf_printf(out, "<< /Type /Catalog /Pages %d 0 R >>\nendobj\n", PAGES);
    begin_object(p, PAGES);
    tg_buf_printf(out, "<< /Type /Pages /Kids [%d 0 R] /Count 1 >>\nendobj\n", PAGE);
    write_page(p);
    begin_object(p, IMAGE);
    tg_buf_printf(out,
                  "<< /Type /XObject /Subtype /Image /Width %u /Height %u /BitsPerComponent 8\n"
                  "/ColorSpace %s /Filter /DCTDecode /Length %d 0 R >>\nstream\n",
                  spec->width_px, spec->height_px,
                  spec->fmt.channels == 1 ? "/DeviceGray" : "/DeviceRGB", LENGTH);
    p->stream = out->len;
}

static void write_tail(pdf_encoder *p)
{
    tg_buf *out = p->base.out;
    size_t length = out->len - p->stream, table;

    tg_buf_z(out, "\nendstream\nendobj\n");
    begin_object(p, LENGTH);
    tg_buf_printf(out, "%zu\nendobj\n", length);
    table = out->len - p->start;
    /* Entries of exactly 20 bytes: the blank in front of the line's end is part of them. */
    tg_buf_printf(out, "xref\n0 %d\n0000000000 65535 f \n", OBJECTS);
    for (int i = 1; i < OBJECTS; i++)
        tg_buf_printf(out, "%010zu 00000 n \n", p->offset[i]);
    tg_buf_printf(out, "trailer\n<< /Size %d /Root %d 0 R >>\nstartxref\n%zu\n%%%%EOF\n", OBJECTS,
                  CATALOG, table);
}

static bool pdf_begin(tg_encoder *e, tg_err *err)
{
    pdf_encoder *p = (pdf_encoder *)e;
    tg_encode_spec spec = e->spec;

    p->start = e->out->len;
    write_head(p);
    spec.format = TG_FORMAT_JPEG;
    p->jpeg = tg_encoder_new(&spec, e->out, err);
    return p->jpeg != NULL;
}

static bool pdf_rows(tg_encoder *e, const uint8_t *rows, size_t stride, uint32_t n, tg_err *err)
{
    return tg_encoder_rows(((pdf_encoder *)e)->jpeg, rows, stride, n, err);
}

static bool pdf_finish(tg_encoder *e, tg_err *err)
{
    pdf_encoder *p = (pdf_encoder *)e;

    if (!tg_encoder_finish(p->jpeg, err))
        return false;
    write_tail(p); /* a failure sticks; tg_encoder_finish asks */
    return true;
}

static void pdf_end(tg_encoder *e)
{
    tg_encoder_free(((pdf_encoder *)e)->jpeg);
}

const tg_encoder_ops tg_pdf_encoder_ops = {
    sizeof(pdf_encoder), pdf_begin, pdf_rows, pdf_finish, pdf_end, NULL,
};
