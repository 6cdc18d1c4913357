#include "tegula/serve.h"

static const int status_of[TG_ERR_KINDS] = {
    [TG_ERR_NONE] = 200,      [TG_ERR_BAD_REQUEST] = 400, [TG_ERR_NOT_FOUND] = 404,
    [TG_ERR_METHOD] = 405,    [TG_ERR_TOO_LARGE] = 413,   [TG_ERR_URI_TOO_LONG] = 414,
    [TG_ERR_ABANDONED] = 499, [TG_ERR_NOT_IMAGE] = 415,   [TG_ERR_CORRUPT] = 500,
    [TG_ERR_IO] = 500,        [TG_ERR_INTERNAL] = 500,    [TG_ERR_NOT_IMPLEMENTED] = 501,
    [TG_ERR_BUSY] = 503,
};

int tg_status_of(tg_err_kind kind)
{
    return (unsigned)kind < TG_ERR_KINDS ? status_of[kind] : 500;
}
