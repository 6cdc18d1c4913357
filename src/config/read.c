#include "table.h"
#include "tegula/dsp.h"

/* Where the problems of one reading go. */
typedef struct reading {
    tg_config *config;
    char *const *envp;
    FILE *report; /* may be NULL */
    unsigned problems;
} reading;

#define REPORT(r, ...) ((r)->report ? (void)fprintf((r)->report, __VA_ARGS__) : (void)0)

void tg_config_defaults(tg_config *config)
{
    *config = (tg_config){0};
    for (unsigned i = 0; i < tg_n_variables; i++)
        if (tg_variables[i].doc.default_text)
            tg_variable_parse(&tg_variables[i], tg_variables[i].doc.default_text, config);
}

/* One line whatever the value holds. */
static void write_visible(const char *text, FILE *out)
{
    for (; *text; text++)
        fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, out);
}

static void report_bad(reading *r, const tg_variable *v, const char *text)
{
    r->problems++;
    if (!r->report)
        return;
    fprintf(r->report, "%s=", v->doc.name);
    write_visible(text, r->report);
    fprintf(r->report, ": allowed is %s; in force is \"", v->doc.range);
    tg_variable_write(v, r->config, r->report);
    fputs("\"\n", r->report);
}

static bool is_map(const tg_variable *v)
{
    return v->kind == TG_KIND_MAPS || v->kind == TG_KIND_PREFIX;
}

static void read_variable(reading *r, const tg_variable *v)
{
    const char *text = tg_variable_in(r->envp, v->doc.name);
    if (!text || (is_map(v) && !text[0]))
        return;
    const tg_variable *winner = tg_variable_in_force(v, r->envp);
    bool ok = winner != v || tg_variable_parse(v, text, r->config);
    if (is_map(v) && r->config->n_uri_maps == 0)
        tg_maps_parse(TG_STR(TG_DEFAULT_URI_MAP), r->config);
    if (winner != v)
        REPORT(r, "%s is not used, since %s is set\n", v->doc.name, winner->doc.name);
    else if (!ok)
        report_bad(r, v, text);
    else if (v->kind == TG_KIND_NONE)
        REPORT(r, "%s is known, but has no effect in this version\n", v->doc.name);
}

static bool maps_are_set(char *const envp[])
{
    for (unsigned i = 0; i < tg_n_variables; i++) {
        const char *text =
            is_map(&tg_variables[i]) ? tg_variable_in(envp, tg_variables[i].doc.name) : NULL;
        if (text && text[0])
            return true;
    }
    return false;
}

/* Read by src/dsp itself, which takes an unknown word for "c". */
static void report_cpu(reading *r)
{
    const char *list = tg_variable_in(r->envp, "TEGULA_CPU");
    tg_str word = list ? tg_cpu_unknown(list) : TG_STR("");
    if (!word.n)
        return;
    r->problems++;
    REPORT(r, "TEGULA_CPU: %.*s is none of sse41, avx2, avx512, neon, c and all\n",
           TG_STR_ARG(word));
}

static bool is_known(tg_str name)
{
    for (unsigned i = 0; i < tg_n_variables; i++)
        if (tg_str_is(name, tg_variables[i].doc.name))
            return true;
    return false;
}

/* Prefixes that several of tegula's names share and hardly anything else has; empty if none. Not
 * MEMCACHED_: clusters name the address of a service so. */
static tg_str our_prefix(tg_str name)
{
    static const char *const prefixes[] = {"FILESYSTEM_", "IIIF_", "JPEG_", "PNG_",
                                           "TIFF_",       "WEBP_", "AVIF_", "WATERMARK_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (tg_str_starts(name, tg_str_of(prefixes[i])))
            return tg_str_of(prefixes[i]);
    return TG_STR("");
}

/* Only names that nearly are known ones are problems: the environment is full of others. */
static void report_unknown(reading *r)
{
    for (char *const *e = r->envp; *e; e++) {
        tg_str name, value;
        tg_str_cut(tg_str_of(*e), '=', &name, &value);
        if (is_known(name))
            continue;
        const char *meant = tg_variable_meant(name);
        tg_str prefix = our_prefix(name);
        if (meant) {
            r->problems++;
            REPORT(r, "%.*s is no variable of tegula; is %s meant?\n", TG_STR_ARG(name), meant);
        } else if (prefix.n) {
            REPORT(r, "%.*s is no variable of tegula; the nearest is %s\n", TG_STR_ARG(name),
                   tg_variable_nearest(name, prefix));
        }
    }
}

unsigned tg_config_read(tg_config *config, char *const envp[], FILE *report)
{
    reading r = {config, envp, report, 0};
    tg_config_defaults(config);
    if (maps_are_set(envp))
        config->n_uri_maps = 0;
    for (unsigned i = 0; i < tg_n_variables; i++)
        read_variable(&r, &tg_variables[i]);
    report_cpu(&r);
    report_unknown(&r);
    if (!config->filesystem_prefix[0]) {
        r.problems++;
        REPORT(&r,
               "FILESYSTEM_PREFIX is empty: no image can be served; set it to the directory of "
               "the images with a slash at its end, or to / for the whole file system\n");
    }
    return r.problems;
}
