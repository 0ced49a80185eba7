// The peers, called as their users call them: bytes in, bytes out. Every function returns 0, or -1 if it failed, and peer_error()
// then returns the reason. Returned buffers are freed with free().
#ifndef ANDON_BENCH_PEERS_H
#define ANDON_BENCH_PEERS_H

#include <stddef.h>
#include <stdint.h>

struct peer_bytes {
    uint8_t *data;
    size_t size;
};

// Must be called once, before anything else. Sets one libvips worker and no libvips operation cache.
int peer_init(void);
const char *peer_error(void);

// Returns "libvips 8.14.1" and so on, a static text. The index is 0 to 2.
const char *peer_version(int index);

// Shrinks an image so that its longest side becomes `side`. Writes JPEG or WebP at q 80, without metadata.
int peer_vips(const uint8_t *data, size_t size, int side, int webp, struct peer_bytes *out);

// Converts every frame of a GIF to a WebP at q 80. The longest side becomes `side`, unless that is 0.
int peer_vips_animation(const uint8_t *data, size_t size, int side, struct peer_bytes *out);

// Encodes interleaved 8-bit RGB in the format of a suffix (".jpg", with options in brackets) at a quality.
int peer_vips_encode(const uint8_t *rgb, int width, int height, const char *suffix, int quality,
                     struct peer_bytes *out);

// Resizes an image with jpeg:size of twice the target. With 0 threads, ImageMagick uses its default number. Writes JPEG or WebP at
// q 80, 4:2:0, without metadata.
int peer_magick(const uint8_t *data, size_t size, int width, int height, int threads, int webp,
                struct peer_bytes *out);

// Decodes an image at full size and resizes it with gdImageCopyResampled. Writes JPEG or WebP at q 80.
int peer_gd(const uint8_t *data, size_t size, int width, int height, int webp,
            struct peer_bytes *out);

// Decodes any image at full size to interleaved 8-bit RGB with libvips, to judge results. The frames of an animation are placed one
// below the other.
int peer_decode(const uint8_t *data, size_t size, int moving, int *width, int *height,
                struct peer_bytes *out);

#endif
