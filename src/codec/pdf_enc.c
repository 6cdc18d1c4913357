/* PDF output: one page that shows one JPEG stream (ISO 32000-1, sections 7.5 and 8.9). */
#include <stdio.h>

#include "encoder_ops.h"
#include "tegula/num.h"
#include "tegula/utf8.h"

/* LENGTH is known only behind the stream. There are up to three more: what does not exist has no
 * number. */
enum { CATALOG = 1, PAGES, PAGE, CONTENT, IMAGE, LENGTH, OBJECTS, MAX_OBJECTS = OBJECTS + 3 };

typedef struct pdf_encoder {
    tg_encoder base;
    tg_encoder *jpeg; /* writes into the same buffer */
    size_t start, stream;
    size_t offset[MAX_OBJECTS];  /* from start */
    int profile, metadata, info; /* numbers of these objects, 0 = there is none */
    int objects;
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

/* entries: of its dictionary besides the length. */
static void write_stream(pdf_encoder *p, int number, const char *entries, tg_str data)
{
    tg_buf *out = p->base.out;

    begin_object(p, number);
    tg_buf_printf(out, "<< %s /Length %zu >>\nstream\n", entries, data.n);
    tg_buf_str(out, data);
    tg_buf_z(out, "\nendstream\nendobj\n");
}

/* A text string (7.9.2.2): UTF-16, with its mark, as hexadecimal digits. */
static void write_text(tg_buf *out, tg_str text)
{
    tg_buf_z(out, "<FEFF");
    while (text.n) {
        uint32_t code = tg_utf8_next(&text);

        if (code > 0xffff)
            tg_buf_printf(out, "%04X", 0xd7c0 + (code >> 10));
        tg_buf_printf(out, "%04X", code > 0xffff ? 0xdc00 + (code & 0x3ff) : code);
    }
    tg_buf_z(out, ">");
}

/* What is embedded: the profile, the XMP packet, and the rights as an entry of the information
 * dictionary (14.3.3). */
static void write_embed(pdf_encoder *p)
{
    const tg_embed *embed = &p->base.spec.embed;

    if (p->profile)
        write_stream(p, p->profile, p->base.spec.fmt.channels == 1 ? "/N 1" : "/N 3", embed->icc);
    if (p->metadata)
        write_stream(p, p->metadata, "/Type /Metadata /Subtype /XML", embed->xmp);
    if (p->info) {
        begin_object(p, p->info);
        tg_buf_z(p->base.out, "<< /Copyright ");
        write_text(p->base.out, embed->copyright);
        tg_buf_z(p->base.out, " >>\nendobj\n");
    }
}

static void write_catalog(pdf_encoder *p)
{
    begin_object(p, CATALOG);
    tg_buf_printf(p->base.out, "<< /Type /Catalog /Pages %d 0 R", PAGES);
    if (p->metadata)
        tg_buf_printf(p->base.out, " /Metadata %d 0 R", p->metadata);
    tg_buf_z(p->base.out, " >>\nendobj\n");
}

/* The entry's value (8.6.5.5). */
static void write_colour_space(pdf_encoder *p)
{
    tg_buf_z(p->base.out, "/ColorSpace ");
    if (p->profile)
        tg_buf_printf(p->base.out, "[ /ICCBased %d 0 R ]", p->profile);
    else
        tg_buf_z(p->base.out, p->base.spec.fmt.channels == 1 ? "/DeviceGray" : "/DeviceRGB");
}

/* Everything up to the JPEG stream. */
static void write_head(pdf_encoder *p)
{
    const tg_encode_spec *spec = &p->base.spec;
    tg_buf *out = p->base.out;

    /* Version 1.7 allows profiles of version 4; the bytes say that the file is binary. */
    tg_buf_printf(out, "%%PDF-1.%c\n%%\xe2\xe3\xcf\xd3\n", p->profile ? '7' : '4');
    write_catalog(p);
    begin_object(p, PAGES);
    tg_buf_printf(out, "<< /Type /Pages /Kids [%d 0 R] /Count 1 >>\nendobj\n", PAGE);
    write_page(p);
    write_embed(p);
    begin_object(p, IMAGE);
    tg_buf_printf(out,
                  "<< /Type /XObject /Subtype /Image /Width %u /Height %u /BitsPerComponent 8\n",
                  spec->width_px, spec->height_px);
    write_colour_space(p);
    tg_buf_printf(out, " /Filter /DCTDecode /Length %d 0 R >>\nstream\n", LENGTH);
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
    tg_buf_printf(out, "xref\n0 %d\n0000000000 65535 f \n", p->objects);
    for (int i = 1; i < p->objects; i++)
        tg_buf_printf(out, "%010zu 00000 n \n", p->offset[i]);
    tg_buf_printf(out, "trailer\n<< /Size %d /Root %d 0 R", p->objects, CATALOG);
    if (p->info)
        tg_buf_printf(out, " /Info %d 0 R", p->info);
    tg_buf_printf(out, " >>\nstartxref\n%zu\n%%%%EOF\n", table);
}

static bool pdf_begin(tg_encoder *e, tg_err *err)
{
    pdf_encoder *p = (pdf_encoder *)e;
    tg_encode_spec spec = e->spec;

    p->start = e->out->len;
    p->objects = OBJECTS;
    p->profile = spec.embed.icc.n ? p->objects++ : 0;
    p->metadata = spec.embed.xmp.n ? p->objects++ : 0;
    p->info = spec.embed.copyright.n ? p->objects++ : 0;
    write_head(p);
    spec.format = TG_FORMAT_JPEG;
    spec.embed = (tg_embed){0};
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
    sizeof(pdf_encoder), pdf_begin, pdf_rows, pdf_finish, pdf_end, NULL, NULL,
};
