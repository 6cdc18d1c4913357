/* Arguments of IIP's commands. */
#ifndef TEGULA_PROTO_IIP_ARGS_H
#define TEGULA_PROTO_IIP_ARGS_H

#include "tegula/iip.h"

/* Any finite number that fits a float. */
bool tg_iip_real(tg_str s, double *out);
/* The same cut to a whole number, of 32 bits. */
bool tg_iip_whole(tg_str s, int64_t *out);
/* Exactly n numbers between the separators. */
bool tg_iip_reals(tg_str s, char separator, size_t n, double *out);
bool tg_iip_wholes(tg_str s, char separator, size_t n, int64_t *out);
/* One of names, in any letter case; false when it is none. */
bool tg_iip_word(tg_str s, const char *const names[], unsigned n, unsigned *out);

/* Commands by their argument, which is not empty but for those that take none. False: malformed. */
typedef bool tg_iip_parser(tg_str argument, tg_iip *iip);

/* iip_process.c */
tg_iip_parser tg_iip_cnt, tg_iip_gam, tg_iip_inv, tg_iip_minmax, tg_iip_col, tg_iip_cmp, tg_iip_ctw,
    tg_iip_cnv, tg_iip_shd;
/* iip_view.c */
tg_iip_parser tg_iip_sds, tg_iip_wid, tg_iip_hei, tg_iip_rgn, tg_iip_qlt, tg_iip_rot, tg_iip_lyr;
tg_iip_parser tg_iip_cvt, tg_iip_jtl, tg_iip_ptl, tg_iip_wtl, tg_iip_ttl, tg_iip_atl, tg_iip_jtls,
    tg_iip_til, tg_iip_pfl, tg_iip_spectra;

#endif
