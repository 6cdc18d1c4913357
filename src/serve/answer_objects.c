#include "serve/iip.h"

#include "tegula/num.h"

#define MAX_TEXT_BYTES ((size_t)64 << 10) /* slide scanners describe much */
#define MAX_XMP_BYTES  ((size_t)1 << 20)

/* ---- facts ---- */

static tg_str keep(tg_service *s, tg_buf *text)
{
    tg_str view = tg_buf_view(text);
    tg_str kept = {tg_arena_strdup(s->arena, view), view.n};
    tg_buf_free(text);
    return kept;
}

static void put_xmp(tg_service *s, tg_image *image, tg_iip_facts *f)
{
    tg_buf packet = {0};
    tg_image_block(image, TG_BLOCK_XMP, MAX_XMP_BYTES, &packet);
    f->xmp = keep(s, &packet);
}

static void put_texts(tg_service *s, unsigned wanted, tg_image *image, tg_iip_facts *f)
{
    for (unsigned i = 0; i < TG_TEXTS; i++) {
        tg_buf text = {0};
        if (wanted & 1u << i)
            tg_image_text(image, i, MAX_TEXT_BYTES, &text);
        f->text[i] = keep(s, &text);
    }
    if (!f->text[TG_TEXT_RIGHTS].n && wanted & 1u << TG_TEXT_RIGHTS)
        f->text[TG_TEXT_RIGHTS] = tg_str_of(s->config->copyright);
}

static void put_levels(const tg_image *image, tg_iip_facts *f)
{
    tg_resolutions all;
    tg_resolutions_of(image, &all);
    f->n_levels = TG_MIN(all.n, TG_IIP_LEVELS_MAX);
    for (unsigned i = 0; i < f->n_levels; i++) {
        f->level[i].width_px = all.of[i].width_px;
        f->level[i].height_px = all.of[i].height_px;
    }
    f->tile_w_px = all.tile_w_px;
    f->tile_h_px = all.tile_h_px;
}

/* A range that cannot be found is that of the sample type. */
static void put_samples(tg_image *image, bool range_wanted, tg_iip_facts *f)
{
    tg_err ignored = {0};
    if (range_wanted)
        tg_image_find_range(image, &ignored);
    f->bits = image->stored_bits ? image->stored_bits : image->native.bits;
    f->channels = TG_MIN(tg_native_channels(image->native), TG_IIP_CHANNELS_MAX);
    for (unsigned c = 0; c < f->channels; c++)
        tg_image_range(image, c, &f->min[c], &f->max[c]);
    f->colour = image->native.space != TG_SPACE_GRAY;
    f->lab = image->native.space == TG_SPACE_LAB;
}

/* Of a sequence its files, of others the pages, if there are several. */
static void put_views(tg_service *s, const tg_iip_object *o, tg_iip_facts *f)
{
    tg_err ignored = {0};
    tg_views *files = tg_arena_alloc(s->arena, sizeof *files);
    const tg_iip_views *pages;
    tg_source_views(s->sources, o->image.identifier, files);
    f->horizontal = files->horizontal;
    f->n_horizontal = files->n_horizontal;
    f->vertical = files->vertical;
    f->n_vertical = files->n_vertical;
    pages = files->n_horizontal ? NULL : tg_iip_views_of(s, &o->image, &ignored);
    if (!pages)
        return;
    f->horizontal = pages->number;
    f->n_horizontal = pages->n;
    f->name = pages->name;
    f->stack = pages->n > 1;
}

/* What takes reading more than the header is gathered for those objects that tell it. */
static void put_costly(tg_service *s, const tg_iip_object *o, tg_image *image, tg_iip_facts *f)
{
    if (tg_str_eq_nocase(o->name, TG_STR("Horizontal-views")) ||
        tg_str_eq_nocase(o->name, TG_STR("Vertical-views")) ||
        tg_str_eq_nocase(o->name, TG_STR("stack")))
        put_views(s, o, f);
    if (tg_str_eq_nocase(o->name, TG_STR("xmp")))
        put_xmp(s, image, f);
    put_texts(s, tg_iip_object_texts(o->name), image, f);
}

static void gather_facts(tg_service *s, const tg_iip_object *o, tg_image *image, tg_iip_facts *f)
{
    bool on_side = tg_image_on_side(image);
    *f = (tg_iip_facts){.dpi_x = on_side ? image->dpi_y : image->dpi_x,
                        .dpi_y = on_side ? image->dpi_x : image->dpi_y};
    put_levels(image, f);
    put_samples(image, tg_str_eq_nocase(o->name, TG_STR("Min-Max-sample-values")), f);
    put_costly(s, o, image, f);
}

/* ---- answer ---- */

static bool is_version(const tg_iip_object *o)
{
    tg_str name, version;
    tg_str_cut(o->name, ',', &name, &version);
    return tg_str_eq_nocase(name, TG_STR("IIP"));
}

/* What makes the whole request wrong. */
static bool check(const tg_iip *iip, tg_iip_error *wrong)
{
    for (unsigned i = 0; i < iip->n_objects; i++) {
        const tg_iip_object *o = &iip->object[i];
        if (!tg_iip_object_is_known(o->name) && iip->n_objects > 1)
            continue;
        if (!tg_iip_object_is_known(o->name))
            *wrong = (tg_iip_error){TG_IIP_UNKNOWN_OBJECT, o->name};
        else if (!o->image.set && !tg_iip_object_is_general(o->name))
            *wrong = (tg_iip_error){TG_IIP_NO_IMAGE, o->name};
        if (wrong->code)
            return false;
    }
    return true;
}

static bool put_object(tg_service *s, const tg_iip_object *o, tg_source **last, tg_iip_type *type,
                       tg_buf *out, tg_err *err)
{
    tg_iip_facts facts;
    bool known = tg_iip_object_is_known(o->name);
    if (!known) {
        tg_iip_error_text(&(tg_iip_error){TG_IIP_UNKNOWN_OBJECT, o->name}, out);
        return true;
    }
    if (!o->image.set) {
        tg_iip_object_text(o, NULL, out, type);
        return true;
    }
    tg_source *source = tg_iip_source(s, &o->image, err);
    if (!source)
        return false;
    gather_facts(s, o, source->image, &facts);
    tg_iip_object_text(o, &facts, out, type);
    tg_source_release(s->sources, *last);
    *last = source;
    return true;
}

/* The version leads, wherever it was asked for. */
static bool put_all(tg_service *s, const tg_iip *iip, tg_source **last, tg_iip_type *type,
                    tg_buf *out, tg_err *err)
{
    for (int version = 1; version >= 0; version--)
        for (unsigned i = 0; i < iip->n_objects; i++)
            if (is_version(&iip->object[i]) == version &&
                !put_object(s, &iip->object[i], last, type, out, err))
                return false;
    return true;
}

bool tg_answer_objects(tg_service *s, const tg_request *request, const tg_iip *iip,
                       tg_iip_error *wrong, tg_response *r, tg_err *err)
{
    tg_source *source = NULL;
    tg_iip_type type = TG_IIP_NETFPX;
    if (!check(iip, wrong))
        return false;
    bool ok = put_all(s, iip, &source, &type, &r->body, err);
    if (ok && source) {
        tg_answer_text(s, request, source, TG_STR(""), tg_iip_media_type(type), r);
    } else if (ok) {
        r->status = 200;
        tg_header(r, "Content-Type", tg_str_of(tg_iip_media_type(type)));
    }
    tg_source_release(s->sources, source);
    return ok;
}
