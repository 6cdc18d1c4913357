#include "table.h"
#include "tegula/num.h"

static int filter_number(tg_filter filter)
{
    int i = 0;
    while (i < TG_FILTER_NUMBERS - 1 && tg_filter_numbers[i] != filter)
        i++;
    return i;
}

/* A mask without a name is told as the number it is. */
static void write_png_filter(int mask, FILE *out)
{
    for (int i = 0; i < TG_PNG_FILTERS; i++)
        if (tg_png_filters[i].mask == mask) {
            fputs(tg_png_filters[i].name, out);
            return;
        }
    fprintf(out, "%d", mask);
}

static void write_maps(const tg_config *config, FILE *out)
{
    for (unsigned i = 0; i < config->n_uri_maps; i++)
        fprintf(out, "%s%.*s=>%s", i ? ", " : "", TG_STR_ARG(config->uri_map[i].prefix),
                tg_protocol_name(config->uri_map[i].protocol));
}

static void write_decimal(double value, FILE *out)
{
    char text[32];
    tg_format_decimal(value, text);
    fputs(text, out);
}

void tg_variable_write(const tg_variable *v, const tg_config *config, FILE *out)
{
    const char *at = (const char *)config + (v->kind == TG_KIND_NONE ? 0 : v->offset);
    switch (v->kind) {
    case TG_KIND_NONE:
        break;
    case TG_KIND_INT:
    case TG_KIND_VERSION:
    case TG_KIND_ZLIB:
        fprintf(out, "%d", *(const int *)at);
        break;
    case TG_KIND_PNG_FILTER:
        write_png_filter(*(const int *)at, out);
        break;
    case TG_KIND_INT64:
        fprintf(out, "%lld", (long long)*(const int64_t *)at);
        break;
    case TG_KIND_DECIMAL:
        write_decimal(*(const double *)at, out);
        break;
    case TG_KIND_MIB:
        fprintf(out, "%llu", (unsigned long long)(*(const uint64_t *)at >> 20));
        break;
    case TG_KIND_BOOL:
        fputc(*(const bool *)at ? '1' : '0', out);
        break;
    case TG_KIND_TEXT:
    case TG_KIND_LINE:
    case TG_KIND_URL:
    case TG_KIND_MEMBERS:
    case TG_KIND_SERVERS:
        fputs(*(const char *const *)at, out);
        break;
    case TG_KIND_SIDE:
        fprintf(out, "%lld", *(const uint32_t *)at ? (long long)*(const uint32_t *)at : -1LL);
        break;
    case TG_KIND_FILTER:
        fprintf(out, "%d", filter_number(*(const tg_filter *)at));
        break;
    case TG_KIND_LAYOUT:
        fputs(*(const tg_layout *)at == TG_LAYOUT_NGINX ? "nginx" : "", out);
        break;
    case TG_KIND_COLOUR: {
        const uint8_t *rgb = (const uint8_t *)at;
        fprintf(out, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
        break;
    }
    case TG_KIND_MAPS:
    case TG_KIND_PREFIX:
        write_maps(config, out);
        break;
    }
}
