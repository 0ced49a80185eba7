// A common interface to libvips, ImageMagick and GD. See peers.h.

#include "peers.h"

#include <gd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vips/vips.h>
#include <wand/MagickWand.h>

enum { QUALITY = 80 };

static char error_text[512];
static MagickSizeType magick_default_threads;

const char *peer_error(void) { return error_text; }

static int fail(const char *who, const char *what) {
    snprintf(error_text, sizeof error_text, "%s: %s", who, what);
    return -1;
}

int peer_init(void) {
    if (vips_init("andon-bench")) return fail("libvips", vips_error_buffer());
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    MagickWandGenesis();
    magick_default_threads = MagickGetResourceLimit(ThreadResource);
    return 0;
}

const char *peer_version(int index) {
    static char text[3][64];
    size_t ignored;
    snprintf(text[0], sizeof text[0], "libvips %s", vips_version_string());
    snprintf(text[1], sizeof text[1], "%.40s", MagickGetVersion(&ignored));
    snprintf(text[2], sizeof text[2], "GD %s", gdVersionString());
    return index >= 0 && index < 3 ? text[index] : "";
}

// Copies a library's buffer into one that can be freed with free().
static int give(const char *who, const void *data, size_t size, struct peer_bytes *out) {
    out->data = malloc(size ? size : 1);
    if (!out->data) return fail(who, "out of memory");
    memcpy(out->data, data, size);
    out->size = size;
    return 0;
}

static int vips_failed(void) {
    fail("libvips", vips_error_buffer());
    vips_error_clear();
    return -1;
}

int peer_vips(const uint8_t *data, size_t size, int side, int webp, struct peer_bytes *out) {
    VipsImage *small = NULL;
    if (vips_thumbnail_buffer((void *)data, size, &small, side, "height", side, "size",
                              VIPS_SIZE_DOWN, "no_rotate", TRUE, NULL))
        return vips_failed();
    // webpsave of 8.14 keeps ICC, and writes EXIF anew from single fields, even when told to strip. A stub
    // of 200 bytes remains whatever one does.
    char **fields = vips_image_get_fields(small);
    for (char **field = fields; field && *field; field++)
        if (g_str_has_prefix(*field, "exif-") || g_str_has_suffix(*field, "-data"))
            vips_image_remove(small, *field);
    g_strfreev(fields);
    void *buffer = NULL;
    size_t length = 0;
    int failed =
        webp ? vips_webpsave_buffer(small, &buffer, &length, "Q", QUALITY, "strip", TRUE, NULL)
             : vips_jpegsave_buffer(small, &buffer, &length, "Q", QUALITY, "strip", TRUE, NULL);
    g_object_unref(small);
    if (failed) return vips_failed();
    failed = give("libvips", buffer, length, out);
    g_free(buffer);
    return failed;
}

int peer_vips_animation(const uint8_t *data, size_t size, int side, struct peer_bytes *out) {
    VipsImage *pages = NULL;
    if (side) {
        if (vips_thumbnail_buffer((void *)data, size, &pages, side, "height", side, "size",
                                  VIPS_SIZE_DOWN, "option_string", "n=-1", NULL))
            return vips_failed();
    } else {
        pages = vips_image_new_from_buffer(data, size, "n=-1", NULL);
        if (!pages) return vips_failed();
    }
    void *buffer = NULL;
    size_t length = 0;
    int failed = vips_webpsave_buffer(pages, &buffer, &length, "Q", QUALITY, "strip", TRUE, NULL);
    g_object_unref(pages);
    if (failed) return vips_failed();
    failed = give("libvips", buffer, length, out);
    g_free(buffer);
    return failed;
}

static int magick_failed(MagickWand *wand) {
    ExceptionType severity;
    char *text = MagickGetException(wand, &severity);
    fail("ImageMagick", text);
    MagickRelinquishMemory(text);
    DestroyMagickWand(wand);
    return -1;
}

int peer_vips_encode(const uint8_t *rgb, int width, int height, const char *suffix, int quality,
                     struct peer_bytes *out) {
    VipsImage *image = vips_image_new_from_memory(rgb, (size_t)width * height * 3, width, height, 3,
                                                  VIPS_FORMAT_UCHAR);
    VipsImage *tagged = NULL;
    if (!image || vips_copy(image, &tagged, "interpretation", VIPS_INTERPRETATION_sRGB, NULL)) {
        if (image) g_object_unref(image);
        return vips_failed();
    }
    void *buffer = NULL;
    size_t length = 0;
    int failed =
        vips_image_write_to_buffer(tagged, suffix, &buffer, &length, "Q", quality, NULL);
    g_object_unref(tagged);
    g_object_unref(image);
    if (failed) return vips_failed();
    failed = give("libvips", buffer, length, out);
    g_free(buffer);
    return failed;
}

int peer_magick(const uint8_t *data, size_t size, int width, int height, int threads, int webp,
                struct peer_bytes *out) {
    MagickSetResourceLimit(ThreadResource, threads ? (MagickSizeType)threads : magick_default_threads);
    char hint[32];
    snprintf(hint, sizeof hint, "%dx%d", 2 * width, 2 * height);
    MagickWand *wand = NewMagickWand();
    MagickSetOption(wand, "jpeg:size", hint);
    MagickSetOption(wand, "jpeg:sampling-factor", "2x2");
    if (!MagickReadImageBlob(wand, data, size)) return magick_failed(wand);
    if (!MagickResizeImage(wand, (size_t)width, (size_t)height, LanczosFilter, 1.0) ||
        !MagickStripImage(wand) || !MagickSetImageCompressionQuality(wand, QUALITY) ||
        !MagickSetImageFormat(wand, webp ? "WEBP" : "JPEG"))
        return magick_failed(wand);
    size_t length = 0;
    unsigned char *blob = MagickGetImageBlob(wand, &length);
    if (!blob) return magick_failed(wand);
    int failed = give("ImageMagick", blob, length, out);
    MagickRelinquishMemory(blob);
    DestroyMagickWand(wand);
    return failed;
}

int peer_gd(const uint8_t *data, size_t size, int width, int height, int webp,
            struct peer_bytes *out) {
    gdImagePtr large = gdImageCreateFromJpegPtr((int)size, (void *)data);
    if (!large) return fail("GD", "cannot decode");
    gdImagePtr small = gdImageCreateTrueColor(width, height);
    if (!small) {
        gdImageDestroy(large);
        return fail("GD", "cannot create");
    }
    gdImageCopyResampled(small, large, 0, 0, 0, 0, width, height, gdImageSX(large),
                         gdImageSY(large));
    gdImageDestroy(large);
    int length = 0;
    void *buffer = webp ? gdImageWebpPtrEx(small, &length, QUALITY)
                        : gdImageJpegPtr(small, &length, QUALITY);
    gdImageDestroy(small);
    if (!buffer) return fail("GD", "cannot encode");
    int failed = give("GD", buffer, (size_t)length, out);
    gdFree(buffer);
    return failed;
}

int peer_decode(const uint8_t *data, size_t size, int moving, int *width, int *height,
                struct peer_bytes *out) {
    VipsImage *image = vips_image_new_from_buffer(data, size, moving ? "n=-1" : "", NULL);
    if (!image) return vips_failed();
    VipsImage *rgb = NULL;
    int failed = vips_colourspace(image, &rgb, VIPS_INTERPRETATION_sRGB, NULL);
    g_object_unref(image);
    if (failed) return vips_failed();
    if (rgb->Bands > 3) {
        VipsImage *opaque = NULL;
        failed = vips_extract_band(rgb, &opaque, 0, "n", 3, NULL);
        g_object_unref(rgb);
        if (failed) return vips_failed();
        rgb = opaque;
    }
    *width = rgb->Xsize;
    *height = rgb->Ysize;
    size_t length = 0;
    void *pixels = rgb->Bands == 3 ? vips_image_write_to_memory(rgb, &length) : NULL;
    g_object_unref(rgb);
    if (!pixels) return vips_failed();
    failed = give("libvips", pixels, length, out);
    g_free(pixels);
    return failed;
}
