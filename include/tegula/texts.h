/* What a file says in words of its picture: in tags of TIFF and Exif, text chunks of PNG, comments
 * of JPEG and GIF. */
#ifndef TEGULA_TEXTS_H
#define TEGULA_TEXTS_H

typedef enum tg_text {
    TG_TEXT_RIGHTS,
    TG_TEXT_TITLE,
    TG_TEXT_DESCRIPTION,
    TG_TEXT_CREATOR,
    TG_TEXT_DATE,
    TG_TEXT_SOFTWARE,
    TG_TEXT_MAKE,  /* of the camera or scanner */
    TG_TEXT_MODEL, /* of the same */
    TG_TEXT_COMMENT,
    TG_TEXT_PAGE, /* what the page is called among those of its file */
    TG_TEXTS
} tg_text;

#define TG_MAX_RIGHTS_BYTES 4096 /* what goes into outputs and documents */

#endif
