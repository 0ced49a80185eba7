// The peers, each as its users call it: bytes in, bytes out. Every function returns 0, or -1 with
// peer_error() saying why. Buffers that come back are freed with free().
#ifndef ANDON_BENCH_PEERS_H
#define ANDON_BENCH_PEERS_H

#include <stddef.h>
#include <stdint.h>

struct peer_bytes {
    uint8_t *data;
    size_t size;
};

// Once, before anything else. One libvips worker, no libvips operation cache.
int peer_init(void);
const char *peer_error(void);

// "libvips 8.14.1" and so on; index 0 to 2, static text.
const char *peer_version(int index);

// The longest side becomes `side`; JPEG or WebP at q 80, metadata stripped.
int peer_vips(const uint8_t *data, size_t size, int side, int webp, struct peer_bytes *out);

// Every frame of a GIF into a WebP at q 80; the longest side becomes `side`, if that is not 0.
int peer_vips_animation(const uint8_t *data, size_t size, int side, struct peer_bytes *out);

// Interleaved 8-bit RGB into the format of a suffix (".jpg", with options in brackets) at a quality.
int peer_vips_encode(const uint8_t *rgb, int width, int height, const char *suffix, int quality,
                     struct peer_bytes *out);

// jpeg:size is twice the target; threads 0: as many as it likes. JPEG or WebP at q 80, 4:2:0, stripped.
int peer_magick(const uint8_t *data, size_t size, int width, int height, int threads, int webp,
                struct peer_bytes *out);

// Decoded in full, gdImageCopyResampled; JPEG or WebP at q 80.
int peer_gd(const uint8_t *data, size_t size, int width, int height, int webp,
            struct peer_bytes *out);

// The judge: any picture to interleaved 8-bit RGB, decoded in full by libvips; of one that moves all frames, one
// below the other.
int peer_decode(const uint8_t *data, size_t size, int moving, int *width, int *height,
                struct peer_bytes *out);

#endif
