/* What the instruction sets' files share. */
#ifndef TG_DSP_PROCESS_H
#define TG_DSP_PROCESS_H

#include "tegula/process.h"

void tg_process_init_c(tg_process_dsp *dsp);
void tg_process_init_avx2(tg_process_dsp *dsp);

#endif
