#include "jp2_boxes.h"

#include <string.h>

#define MAX_BOXES 4096 /* a file of many more says nothing */

/* Section I.4. A length of 0: to the end of the file. */
bool tg_jp2_next_box(const tg_j2k_source *boxes, uint64_t *at, tg_jp2_box *out)
{
    uint8_t head[16];
    size_t n = tg_j2k_read_some(boxes, *at, head, sizeof head);
    uint64_t length, left = boxes->n_bytes - *at;
    unsigned head_bytes = 8;

    if (n < 8)
        return false;
    length = tg_be32(head);
    out->type = tg_be32(head + 4);
    if (length == 1 && n == 16) {
        head_bytes = 16;
        length = tg_j2k_u64(head + 8);
    }
    if (length == 0)
        length = left;
    if (length < head_bytes)
        return false;
    out->cut = length > left;
    out->contents = tg_j2k_part(boxes, *at + head_bytes, length - head_bytes);
    *at = out->cut ? boxes->n_bytes : *at + length;
    return true;
}

bool tg_jp2_is_codestream(const uint8_t *head, size_t n)
{
    return n >= 4 && memcmp(head, "\xff\x4f\xff\x51", 4) == 0;
}

bool tg_jp2_is_family(const uint8_t *head, size_t n)
{
    return n >= 12 && memcmp(head, "\0\0\0\x0cjP  \r\n\x87\n", 12) == 0;
}

bool tg_jp2_find_codestream(const tg_j2k_source *file, tg_j2k_source *out, tg_err *err)
{
    uint8_t head[12];
    size_t n = tg_j2k_read_some(file, 0, head, sizeof head);
    uint64_t at = 0;
    tg_jp2_box box;

    if (tg_jp2_is_codestream(head, n)) {
        *out = *file;
        return true;
    }
    for (unsigned i = 0; i < MAX_BOXES && tg_jp2_next_box(file, &at, &box); i++)
        if (box.type == TG_JP2_TYPE('j', 'p', '2', 'c')) {
            *out = box.contents;
            return true;
        }
    return tg_fail(err, TG_ERR_CORRUPT, "the file holds no JPEG 2000 codestream");
}
