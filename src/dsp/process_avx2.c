/* The same loops as process_c.c, eight floats at a time. */
#include "process.h"

#define NAME(x) process_##x
#include "process_tmpl.h"

void tg_process_init_avx2(tg_process_dsp *dsp)
{
    *dsp = (tg_process_dsp){process_load, process_steps, process_convolve, process_store};
}
