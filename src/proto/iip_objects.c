/* The texts of OBJ: one line each, ended by CR LF, words parted by single blanks. */
#include "tegula/iip.h"

#include "tegula/json.h"

typedef void put(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out);

static void put_version(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    (void)o;
    (void)f;
    tg_buf_z(out, "IIP:1.0\r\n");
}

static void put_server(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    (void)o;
    (void)f;
    tg_buf_z(out, "IIP-server:3.65\r\n");
}

static void put_commands(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    (void)o;
    (void)f;
    tg_buf_z(out, "IIP-opt-comm:CVT CNT QLT JTL JTLS WID HEI RGN MINMAX SHD CMP INV CTW\r\n");
}

static void put_objects(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    (void)o;
    (void)f;
    tg_buf_z(out,
             "IIP-opt-obj:Horizontal-views Vertical-views Tile-size Bits-per-channel "
             "Min-Max-sample-values Resolutions\r\n");
}

static void put_max_size(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    uint32_t w = f->level[f->n_levels - 1].width_px, h = f->level[f->n_levels - 1].height_px;
    tg_buf_printf(out, "Max-size:%u %u\r\n", o->on_side ? h : w, o->on_side ? w : h);
}

static void put_resolution_number(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    (void)o;
    tg_buf_printf(out, "Resolution-number:%u\r\n", f->n_levels);
}

static void put_tile_size(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    (void)o;
    tg_buf_printf(out, "Tile-size:%u %u\r\n", f->tile_w_px, f->tile_h_px);
}

static void put_bits(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    (void)o;
    tg_buf_printf(out, "Bits-per-channel:%u\r\n", f->bits);
}

static void put_resolutions(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    (void)o;
    tg_buf_z(out, "Resolutions:");
    for (unsigned i = 0; i < f->n_levels; i++)
        tg_buf_printf(out, "%s%u %u", i ? "," : "", f->level[i].width_px, f->level[i].height_px);
    tg_buf_z(out, "\r\n");
}

static void put_numbers(const char *label, const unsigned *view, unsigned n, unsigned only,
                        tg_buf *out)
{
    tg_buf_printf(out, "%s%u", label, n ? view[0] : only);
    for (unsigned i = 1; i < n; i++)
        tg_buf_printf(out, " %u", view[i]);
    tg_buf_z(out, "\r\n");
}

static void put_horizontal(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    (void)o;
    put_numbers("Horizontal-views:", f->horizontal, f->n_horizontal, 0, out);
}

static void put_vertical(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    (void)o;
    put_numbers("Vertical-views:", f->vertical, f->n_vertical, 90, out);
}

static void put_sample_values(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    (void)o;
    tg_buf_z(out, "Min-Max-sample-values:");
    for (unsigned c = 0; c < f->channels; c++)
        tg_buf_printf(out, "%s %.9g  %.9g", c ? " " : "", f->min[c], f->max[c]);
    tg_buf_z(out, "\r\n");
}

/* Pixels per metre, as one viewer of artworks needs it. What TIFF files say has single precision:
 * more digits would be noise. */
static void put_dpi(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    (void)o;
    if (f->dpi_x > 0 && f->dpi_y > 0)
        tg_buf_printf(out, "DPI:%.6f %.6f\r\n", (double)(float)(f->dpi_x / 0.0254),
                      (double)(float)(f->dpi_y / 0.0254));
}

static void put_colorspace(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    (void)o;
    tg_buf_printf(out, "Colorspace,0-%u,0:%s\r\n", f->n_levels - 1,
                  f->lab      ? "1 0 4 3 0 1 2"
                  : f->colour ? "0 0 3 3 0 1 2"
                              : "0 0 1 1 0");
}

static void put_basic(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    put_server(o, f, out);
    put_max_size(o, f, out);
    put_resolution_number(o, f, out);
    put_colorspace(o, f, out);
}

/* NULL: no object tells it. */
static const char *const text_names[TG_TEXTS] = {
    [TG_TEXT_RIGHTS] = "rights",   [TG_TEXT_TITLE] = "title", [TG_TEXT_DESCRIPTION] = "description",
    [TG_TEXT_CREATOR] = "creator", [TG_TEXT_DATE] = "date",   [TG_TEXT_SOFTWARE] = "software",
    [TG_TEXT_MAKE] = "make",       [TG_TEXT_MODEL] = "model", [TG_TEXT_COMMENT] = "comment",
};

static bool is_text(tg_str object, tg_text text)
{
    return text_names[text] && tg_str_eq_nocase(object, tg_str_of(text_names[text]));
}

static void put_text(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    for (unsigned i = 0; i < TG_TEXTS; i++) {
        if (!f->text[i].n || !is_text(o->name, i))
            continue;
        tg_buf_str(out, f->text[i]);
        tg_buf_z(out, "\r\n");
    }
}

/* A text that no format holds. */
static void put_absent(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    (void)o;
    (void)f;
    (void)out;
}

/* The names of IIP 1.0.5 for some of them, as older clients know them; the lines say how many bytes
 * follow the colon. */
static const struct old_text {
    const char *name;
    tg_text text;
} old_texts[] = {{"copyright", TG_TEXT_RIGHTS},
                 {"subject", TG_TEXT_DESCRIPTION},
                 {"author", TG_TEXT_CREATOR},
                 {"create-dtm", TG_TEXT_DATE},
                 {"app-name", TG_TEXT_SOFTWARE}};

static bool tells(tg_str object, const struct old_text *old)
{
    return tg_str_eq_nocase(object, TG_STR("Summary-info")) ||
           tg_str_eq_nocase(object, tg_str_of(old->name));
}

static void put_old_text(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    for (size_t i = 0; i < sizeof old_texts / sizeof old_texts[0]; i++) {
        tg_str text = f->text[old_texts[i].text];
        if (text.n && tells(o->name, &old_texts[i]))
            tg_buf_printf(out, "%s/%zu:%.*s\r\n", old_texts[i].name, text.n, TG_STR_ARG(text));
    }
}

static void put_xmp(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    (void)o;
    tg_buf_str(out, f->xmp);
}

static void put_metadata(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    const char *separator = "";
    (void)o;
    tg_buf_z(out, "{");
    for (unsigned i = 0; i < TG_TEXTS; i++) {
        if (!f->text[i].n || !text_names[i])
            continue;
        tg_buf_printf(out, "%s\"%s\": ", separator, text_names[i]);
        tg_json_string(out, f->text[i]);
        separator = ", ";
    }
    tg_buf_z(out, "}");
}

static void put_stack(const tg_iip_object *o, const tg_iip_facts *f, tg_buf *out)
{
    (void)o;
    tg_buf_z(out, "[");
    for (unsigned i = 0; i < f->n_horizontal && f->stack; i++) {
        tg_buf_printf(out, "%s{\"id\": %u, \"name\": ", i ? ", " : "", f->horizontal[i]);
        tg_json_string(out, f->name[i]);
        tg_buf_z(out, ", \"scale\": 1}");
    }
    tg_buf_z(out, "]");
}

static const struct object {
    const char *name;
    put *put;
    tg_iip_type type;
    bool general;
} objects[] = {
    {"IIP", put_version, TG_IIP_NETFPX, true},
    {"IIP-server", put_server, TG_IIP_NETFPX, true},
    {"IIP-opt-comm", put_commands, TG_IIP_NETFPX, true},
    {"IIP-opt-obj", put_objects, TG_IIP_NETFPX, true},
    {"Max-size", put_max_size, TG_IIP_NETFPX, false},
    {"Resolution-number", put_resolution_number, TG_IIP_NETFPX, false},
    {"Tile-size", put_tile_size, TG_IIP_NETFPX, false},
    {"Bits-per-channel", put_bits, TG_IIP_NETFPX, false},
    {"Resolutions", put_resolutions, TG_IIP_NETFPX, false},
    {"Horizontal-views", put_horizontal, TG_IIP_NETFPX, false},
    {"Vertical-views", put_vertical, TG_IIP_NETFPX, false},
    {"Min-Max-sample-values", put_sample_values, TG_IIP_NETFPX, false},
    {"DPI", put_dpi, TG_IIP_NETFPX, false},
    {"Basic-info", put_basic, TG_IIP_NETFPX, false},
    {"Summary-info", put_old_text, TG_IIP_NETFPX, false},
    {"copyright", put_old_text, TG_IIP_NETFPX, false},
    {"subject", put_old_text, TG_IIP_NETFPX, false},
    {"author", put_old_text, TG_IIP_NETFPX, false},
    {"create-dtm", put_old_text, TG_IIP_NETFPX, false},
    {"app-name", put_old_text, TG_IIP_NETFPX, false},
    {"rights", put_text, TG_IIP_PLAIN, false},
    {"title", put_text, TG_IIP_PLAIN, false},
    {"description", put_text, TG_IIP_PLAIN, false},
    {"creator", put_text, TG_IIP_PLAIN, false},
    {"keywords", put_absent, TG_IIP_PLAIN, false},
    {"comment", put_text, TG_IIP_PLAIN, false},
    {"last-author", put_absent, TG_IIP_PLAIN, false},
    {"rev-number", put_absent, TG_IIP_PLAIN, false},
    {"edit-time", put_absent, TG_IIP_PLAIN, false},
    {"last-printed", put_absent, TG_IIP_PLAIN, false},
    {"date", put_text, TG_IIP_PLAIN, false},
    {"last-save-dtm", put_absent, TG_IIP_PLAIN, false},
    {"software", put_text, TG_IIP_PLAIN, false},
    {"make", put_text, TG_IIP_PLAIN, false},
    {"model", put_text, TG_IIP_PLAIN, false},
    {"scale", put_absent, TG_IIP_PLAIN, false},
    {"xmp", put_xmp, TG_IIP_XML, false},
    {"metadata", put_metadata, TG_IIP_JSON, false},
    {"stack", put_stack, TG_IIP_JSON, false},
};

static const struct object colorspace = {"colorspace", put_colorspace, TG_IIP_NETFPX, false};

static bool contains_nocase(tg_str s, tg_str part)
{
    for (size_t i = 0; i + part.n <= s.n; i++)
        if (tg_str_eq_nocase((tg_str){s.p + i, part.n}, part))
            return true;
    return false;
}

/* The version behind "IIP," is any; "Colorspace" has parameters of several forms around it. */
static const struct object *find(tg_str name)
{
    tg_str word, parameters;
    if (contains_nocase(name, tg_str_of(colorspace.name)))
        return &colorspace;
    tg_str_cut(name, ',', &word, &parameters);
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++)
        if (tg_str_eq_nocase(word, tg_str_of(objects[i].name)) && (parameters.n == 0 || i == 0))
            return &objects[i];
    return NULL;
}

bool tg_iip_object_is_general(tg_str name)
{
    const struct object *o = find(name);
    return o && o->general;
}

bool tg_iip_object_is_known(tg_str name)
{
    return find(name) != NULL;
}

unsigned tg_iip_object_texts(tg_str name)
{
    unsigned texts = 0;
    bool all = tg_str_eq_nocase(name, TG_STR("metadata"));
    for (unsigned i = 0; i < TG_TEXTS; i++)
        texts |= (unsigned)((all && text_names[i]) || is_text(name, i)) << i;
    for (size_t i = 0; i < sizeof old_texts / sizeof old_texts[0]; i++)
        texts |= (unsigned)tells(name, &old_texts[i]) << old_texts[i].text;
    return texts;
}

void tg_iip_object_text(const tg_iip_object *object, const tg_iip_facts *facts, tg_buf *out,
                        tg_iip_type *type)
{
    const struct object *o = find(object->name);
    if (!o || (!facts && !o->general))
        return;
    o->put(object, facts, out);
    *type = o->type;
}

const char *tg_iip_media_type(tg_iip_type type)
{
    static const char *const names[] = {
        [TG_IIP_NETFPX] = "application/vnd.netfpx",
        [TG_IIP_PLAIN] = "text/plain; charset=utf-8",
        [TG_IIP_XML] = "application/xml",
        [TG_IIP_JSON] = "application/json",
    };
    return names[type];
}
