/* Commands from left to right: modifiers and images set the state, OBJ and output commands take it
 * as it is then. The first output command decides the answer. */
#include "tegula/iip.h"

#include "iip_args.h"
#include "tegula/http.h"

#define DEFAULT_VERTICAL 90

typedef enum kind {
    MODIFIER,
    IMAGE, /* FIF */
    OBJECT,
    OUTPUT,
    ADDRESS, /* an output command whose argument is another protocol's */
} kind;

/* Whose arguments are percent-decoded; those of addresses are when their protocol splits them. */
typedef struct command {
    const char *name;
    kind kind;
    bool encoded;
    bool bare; /* may stand without an argument */
    tg_iip_parser *parse;
    tg_iip_output output; /* of ADDRESS */
} command;

static bool accept_any(tg_str argument, tg_iip *iip)
{
    (void)argument;
    (void)iip;
    return true;
}

static const command commands[] = {
    {.name = "FIF", .kind = IMAGE, .encoded = true},
    {.name = "OBJ", .kind = OBJECT},
    {.name = "SDS", .parse = tg_iip_sds},
    {.name = "WID", .parse = tg_iip_wid},
    {.name = "HEI", .parse = tg_iip_hei},
    {.name = "RGN", .parse = tg_iip_rgn},
    {.name = "QLT", .parse = tg_iip_qlt},
    {.name = "ROT", .parse = tg_iip_rot},
    {.name = "LYR", .parse = tg_iip_lyr},
    {.name = "ICC", .parse = accept_any, .bare = true},
    {.name = "CNT", .parse = tg_iip_cnt},
    {.name = "GAM", .parse = tg_iip_gam},
    {.name = "INV", .parse = tg_iip_inv, .bare = true},
    {.name = "MINMAX", .parse = tg_iip_minmax},
    {.name = "COL", .parse = tg_iip_col},
    {.name = "CMP", .parse = tg_iip_cmp},
    {.name = "CTW", .parse = tg_iip_ctw, .encoded = true},
    {.name = "CNV", .parse = tg_iip_cnv, .encoded = true},
    {.name = "SHD", .parse = tg_iip_shd},
    {.name = "CVT", .kind = OUTPUT, .parse = tg_iip_cvt},
    {.name = "JTL", .kind = OUTPUT, .parse = tg_iip_jtl},
    {.name = "PTL", .kind = OUTPUT, .parse = tg_iip_ptl},
    {.name = "WTL", .kind = OUTPUT, .parse = tg_iip_wtl},
    {.name = "ATL", .kind = OUTPUT, .parse = tg_iip_atl},
    {.name = "TTL", .kind = OUTPUT, .parse = tg_iip_ttl},
    {.name = "JTLS", .kind = OUTPUT, .parse = tg_iip_jtls},
    {.name = "TIL", .kind = OUTPUT, .parse = tg_iip_til},
    {.name = "PFL", .kind = OUTPUT, .parse = tg_iip_pfl},
    {.name = "SPECTRA", .kind = OUTPUT, .parse = tg_iip_spectra},
    {.name = "DeepZoom", .kind = ADDRESS, .output = TG_IIP_DEEPZOOM},
    {.name = "Zoomify", .kind = ADDRESS, .output = TG_IIP_ZOOMIFY},
    {.name = "XYZ", .kind = ADDRESS, .output = TG_IIP_XYZ},
    {.name = "IIIF", .kind = ADDRESS, .output = TG_IIP_IIIF},
};

static const command *find(tg_str name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (tg_str_eq_nocase(name, tg_str_of(commands[i].name)))
            return &commands[i];
    return NULL;
}

typedef struct token {
    tg_str name, argument;
    bool bare; /* without '=' */
} token;

/* The next token that is neither empty nor an empty argument. */
static bool next_token(tg_str *query, token *t)
{
    while (query->n) {
        tg_str text;
        tg_str_cut(*query, '&', &text, query);
        t->bare = !tg_str_cut(text, '=', &t->name, &t->argument);
        if (t->name.n && (t->bare || t->argument.n))
            return true;
    }
    return false;
}

bool tg_iip_asks(tg_str query)
{
    token t;
    while (next_token(&query, &t))
        if (find(t.name))
            return true;
    return false;
}

/* Viewers that ask a second time hang a '?' and the time behind the whole address. */
static tg_str without_time_stamp(tg_str query)
{
    tg_str before, last, kept, stamp;
    tg_str_rcut(query, '&', &before, &last);
    if (!tg_str_cut(last, '?', &kept, &stamp))
        return query;
    return (tg_str){query.p, query.n - stamp.n - 1};
}

static bool fail(tg_iip_error *error, const char *code, tg_str name)
{
    *error = (tg_iip_error){code, name};
    return false;
}

static bool add_object(tg_str name, tg_iip *out)
{
    if (out->n_objects == TG_IIP_OBJECTS_MAX)
        return false;
    out->object[out->n_objects++] = (tg_iip_object){
        .name = name,
        .image = out->image,
        .on_side = out->job.rotation == 90 || out->job.rotation == 270,
    };
    return true;
}

static bool apply(const command *c, tg_str argument, tg_str query, tg_iip *out)
{
    switch (c->kind) {
    case IMAGE:
        out->image.set = true;
        out->image.identifier = argument;
        return true;
    case OBJECT:
        return add_object(argument, out);
    case ADDRESS:
        out->output = c->output;
        out->argument = argument;
        out->before = (size_t)(argument.p - query.p);
        return true;
    case MODIFIER:
    case OUTPUT:
        break;
    }
    return c->parse(argument, out);
}

/* MINMAX speaks of the channels of an image, the output commands show one. */
static bool wants_image(const command *c)
{
    return c->kind == OUTPUT || tg_str_is(tg_str_of(c->name), "MINMAX");
}

static bool run(const command *c, const token *t, tg_str query, tg_arena *arena, tg_iip *out,
                tg_iip_error *error)
{
    tg_str argument = t->argument;
    tg_err ignored = {0};
    if (wants_image(c) && !out->image.set)
        return fail(error, TG_IIP_NO_IMAGE, t->name);
    if ((t->bare && !c->bare) ||
        (c->encoded && !tg_percent_decode(argument, arena, c->name, &argument, &ignored)))
        return fail(error, TG_IIP_MALFORMED, t->name);
    return apply(c, argument, query, out) || fail(error, TG_IIP_MALFORMED, t->name);
}

/* WID, HEI: one given or both, the view keeps its shape. */
static void finish_view(const tg_config *config, tg_job *job)
{
    if (job->w == 0 && job->h == 0) {
        job->size = TG_SIZE_MAX;
        job->upscale = TG_UPSCALE_IMPLICIT;
        return;
    }
    job->size = TG_SIZE_CONFINE;
    job->w = job->w ? job->w : UINT64_MAX;
    job->h = job->h ? job->h : UINT64_MAX;
    job->upscale = config->allow_upscaling ? TG_UPSCALE_CARET : TG_UPSCALE_IMPLICIT;
}

bool tg_iip_parse(const tg_config *config, tg_str query, tg_arena *arena, tg_iip *out,
                  tg_iip_error *error)
{
    tg_str rest = without_time_stamp(query), unknown = TG_STR("");
    token t;
    memset(out, 0, sizeof *out);
    out->image.vertical = DEFAULT_VERTICAL;
    while (out->output == TG_IIP_NONE && next_token(&rest, &t)) {
        const command *c = find(t.name);
        if (!c)
            unknown = t.name;
        else if (!run(c, &t, query, arena, out, error))
            return false;
    }
    if (out->output == TG_IIP_NONE && out->n_objects)
        out->output = TG_IIP_OBJECTS;
    if (out->output == TG_IIP_NONE)
        return fail(error, unknown.n ? TG_IIP_UNKNOWN : TG_IIP_MALFORMED,
                    unknown.n ? unknown : query);
    if (out->output == TG_IIP_VIEW)
        finish_view(config, &out->job);
    return true;
}

#define ERROR_NAME_MAX 64

void tg_iip_error_text(const tg_iip_error *error, tg_buf *out)
{
    char text[ERROR_NAME_MAX + 8];
    size_t n = 0;
    for (const char *c = error->code; *c; c++)
        text[n++] = *c;
    text[n++] = ' ';
    for (size_t i = 0; i < error->name.n && i < ERROR_NAME_MAX; i++) {
        char c = error->name.p[i];
        text[n++] = c > 0x20 && c < 0x7f ? c : '_';
    }
    tg_buf_printf(out, "Error/%zu:%.*s\r\n", n, (int)n, text);
}
