#include "jpeg_dest.h"

#define MIN_ROOM_BYTES 16384 /* a 256 px tile needs one or two of these */

/* Points libjpeg at the free end of the buffer; a full tile mostly fits what is there already. */
static void take_room(j_compress_ptr cinfo)
{
    tg_jpeg_dest *dest = (tg_jpeg_dest *)cinfo->dest;
    tg_buf *out = dest->out;

    if (!tg_buf_reserve(out, MIN_ROOM_BYTES)) {
        tg_jpeg_errors *errors = (tg_jpeg_errors *)cinfo->err;
        tg_fail(errors->err, TG_ERR_TOO_LARGE, "the encoded image is too large");
        longjmp(errors->jump, 1);
    }
    dest->mgr.next_output_byte = out->data + out->len;
    dest->mgr.free_in_buffer = out->cap - out->len;
}

static boolean on_full(j_compress_ptr cinfo)
{
    tg_buf *out = ((tg_jpeg_dest *)cinfo->dest)->out;

    out->len = out->cap;
    take_room(cinfo);
    return TRUE;
}

static void on_end(j_compress_ptr cinfo)
{
    tg_buf *out = ((tg_jpeg_dest *)cinfo->dest)->out;

    out->len = out->cap - cinfo->dest->free_in_buffer;
}

void tg_jpeg_dest_init(tg_jpeg_dest *dest, j_compress_ptr cinfo, tg_buf *out)
{
    dest->mgr.init_destination = take_room;
    dest->mgr.empty_output_buffer = on_full;
    dest->mgr.term_destination = on_end;
    dest->out = out;
    cinfo->dest = &dest->mgr;
}
