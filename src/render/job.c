#include "tegula/job.h"

#include <limits.h>

#include "tegula/num.h"

static bool is_plain(const tg_job *job)
{
    return !job->mirror && job->rotation == 0 && job->quality == TG_QUALITY_DEFAULT &&
           !job->equalise && !job->has_encode_quality && !job->has_compression &&
           !tg_process_any(&job->process);
}

tg_str tg_job_modifiers(const tg_job *job, tg_arena *arena)
{
    char angle[32];
    if (is_plain(job))
        return TG_STR("");
    tg_format_decimal(job->rotation, angle);
    return tg_arena_printf(arena, "%s%s|%d|%d|%d|%d|%.*s", job->mirror ? "!" : "", angle,
                           (int)job->quality, job->equalise,
                           job->has_encode_quality ? job->encode_quality : INT_MIN,
                           job->has_compression ? (int)job->compression : -1,
                           TG_STR_ARG(tg_process_text(&job->process, arena)));
}

void tg_job_modify(tg_job *job, const tg_job *m)
{
    if (!m)
        return;
    job->process = m->process;
    job->equalise = m->equalise;
    job->has_encode_quality = m->has_encode_quality;
    job->encode_quality = m->encode_quality;
    job->has_compression = m->has_compression;
    job->compression = m->compression;
    if (job->quality == TG_QUALITY_DEFAULT)
        job->quality = m->quality;
    if (job->rotation == 0 && !job->mirror) {
        job->rotation = m->rotation;
        job->mirror = m->mirror;
    }
}

tg_job tg_job_without_extension(const tg_job *job)
{
    tg_job out = *job;
    if (!tg_quality_is_extension(job->quality))
        return out;
    out.quality = TG_QUALITY_DEFAULT;
    out.equalise |= job->quality == TG_QUALITY_EQUALIZATION;
    out.process.invert |= job->quality == TG_QUALITY_NEGATIVE;
    out.process.stretch |= job->quality == TG_QUALITY_STRETCH;
    if (job->quality == TG_QUALITY_LOG)
        out.process.gamma = TG_GAMMA_LOG;
    return out;
}
