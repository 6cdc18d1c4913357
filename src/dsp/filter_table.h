/* Building and freeing of coefficient tables, for the cache of them. */
#ifndef TG_DSP_FILTER_TABLE_H
#define TG_DSP_FILTER_TABLE_H

#include "tegula/filter.h"

/* NULL with err set on failure. Free with tg_filter_table_free. */
tg_filter_table *tg_filter_table_build(const tg_axis *axis, tg_filter filter,
                                       tg_precision precision, tg_err *err);
void tg_filter_table_free(tg_filter_table *table);
size_t tg_filter_table_bytes(const tg_filter_table *table);

#endif
