#include "table.h"

/* Where the value comes from: "corrected" is a clamp, or the default in place of a bad value. */
static const char *origin(const tg_variable *v, char *const envp[])
{
    const char *text = tg_variable_in(envp, v->doc.name);
    tg_config scratch;
    if (!text && v->kind == TG_KIND_MAPS && tg_variable_in(envp, "IIIF_PREFIX"))
        return "environment";
    if (!text)
        return "default";
    tg_config_defaults(&scratch);
    scratch.n_uri_maps = 0;
    return tg_variable_parse(v, text, &scratch) ? "environment" : "corrected";
}

/* A row is shown when it decides a value; IIIF_PREFIX is a part of URI_MAP's. */
static bool is_shown(const tg_variable *v, char *const envp[])
{
    if (v->kind == TG_KIND_NONE || v->kind == TG_KIND_PREFIX || tg_variable_in_force(v, envp) != v)
        return false;
    return v->doc.default_text || tg_variable_in(envp, v->doc.name);
}

void tg_config_print(const tg_config *config, char *const envp[], FILE *out)
{
    for (unsigned i = 0; i < tg_n_variables; i++) {
        const tg_variable *v = &tg_variables[i];
        if (!is_shown(v, envp))
            continue;
        fprintf(out, "%s = ", v->doc.name);
        tg_variable_write(v, config, out);
        fprintf(out, "   (%s)  %s\n", origin(v, envp), v->doc.help);
    }
}
