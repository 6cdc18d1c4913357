#include "tegula/job.h"

#include <limits.h>

#include "tegula/num.h"

tg_str tg_job_modifiers(const tg_job *job, tg_arena *arena)
{
    char angle[32];
    tg_format_decimal(job->rotation, angle);
    return tg_arena_printf(arena, "%s%s|%d|%d|%d|%d|%.*s", job->mirror ? "!" : "", angle,
                           (int)job->quality, job->equalise,
                           job->has_encode_quality ? job->encode_quality : INT_MIN,
                           job->has_compression ? (int)job->compression : -1,
                           TG_STR_ARG(tg_process_text(&job->process, arena)));
}
