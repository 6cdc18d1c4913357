#include "process.h"

#define NAME(x) process_##x
#include "process_tmpl.h"

void tg_process_init_c(tg_process_dsp *dsp)
{
    *dsp = (tg_process_dsp){process_load, process_steps, process_convolve, process_store};
}
