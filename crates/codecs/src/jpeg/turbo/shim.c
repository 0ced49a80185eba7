/* Wraps the classic libjpeg API in four calls: decode an image, encode an image, convert a file to a progressive
 * one, and read the coefficients of an image, for comparisons.
 *
 * libjpeg reports errors with longjmp. Each call here sets its own target before it enters the library and
 * cleans up before it returns, so that only stack frames of this file and of libjpeg are skipped. The only
 * callback into Rust, `ask`, has always returned before a jump. The structs below must match those in ffi.rs. */

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#define MOST_COMPONENTS 4
/* Four blocks of eight rows: the tallest band that a component can have. */
#define MOST_BAND_ROWS (MAX_SAMP_FACTOR * DCTSIZE)

enum status { DONE, BROKEN, UNSUPPORTED, INTERRUPTED, TOO_MANY_SCANS, OUT_OF_MEMORY };
enum colour { GRAY, YCBCR, RGB, CMYK, YCCK };

struct plane {
  uint8_t *samples;
  uint32_t width, height;
  int h, v; /* sampling factors */
};

struct watch {
  int (*ask)(const void *asker); /* not zero: the result is no longer needed */
  const void *asker;
};

struct outcome {
  int status;
  char message[JMSG_LENGTH_MAX];
};

struct decode_job {
  const uint8_t *bytes;
  size_t size;
  uint32_t width, height; /* from our own header reader */
  int components;
  int colour;
  int lenient; /* missing or damaged parts are gray or approximated, as in browsers */
  int raw;     /* planes as stored; otherwise with libjpeg's upsampling and colour conversion */
  int eighths; /* 1, 2, 4 or 8 */
  int scans;
  size_t memory; /* maximum bytes of libjpeg's own buffers */
  struct plane planes[MOST_COMPONENTS];
  struct watch watch;
};

struct encode_job { /* for CMYK; samples are stored inverted (255 - sample), as in Adobe's files */
  uint32_t width, height;
  int components;
  int quality;
  int progressive;
  const uint8_t *exif;
  size_t exif_size;
  const uint8_t *icc;
  size_t icc_size;
  struct plane planes[MOST_COMPONENTS];
  struct watch watch;
};

struct rewrite_job {
  const uint8_t *bytes; /* a complete file of one scan */
  size_t size;
  const uint8_t *exif;
  size_t exif_size;
  const uint8_t *icc;
  size_t icc_size;
  struct watch watch;
};

struct encoded {
  uint8_t *bytes; /* to be freed with andon_jpeg_free */
  size_t size;
};

/* The state of a call, to which client_data points. */
struct call {
  struct jpeg_error_mgr errors;
  struct jpeg_progress_mgr progress;
  jmp_buf escape;
  struct outcome *outcome;
  const struct watch *watch;
  int lenient;
};

static struct call *call_of(j_common_ptr common) { return (struct call *)common->client_data; }

static void give_up(j_common_ptr common, enum status status) {
  struct call *call = call_of(common);
  call->outcome->status = status;
  if (status == BROKEN || status == UNSUPPORTED)
    (*common->err->format_message)(common, call->outcome->message);
  longjmp(call->escape, 1);
}

static void on_error(j_common_ptr common) {
  switch (common->err->msg_code) {
  case JERR_OUT_OF_MEMORY:
  case JERR_NO_BACKING_STORE:
    give_up(common, OUT_OF_MEMORY);
    break;
  case JERR_ARITH_NOTIMPL:
  case JERR_BAD_PRECISION:
  case JERR_CCIR601_NOTIMPL:
  case JERR_CONVERSION_NOTIMPL:
  case JERR_FRACT_SAMPLE_NOTIMPL:
  case JERR_NOT_COMPILED:
  case JERR_NOTIMPL:
  case JERR_SOF_UNSUPPORTED:
    give_up(common, UNSUPPORTED);
    break;
  default:
    give_up(common, BROKEN);
  }
}

/* libjpeg continues after a warning with gray or approximated blocks. An image with such blocks must not be
 * served or cached, so a warning ends the call, unless the pixels are certain to be complete or the call is
 * lenient. */
static void on_message(j_common_ptr common, int level) {
  if (level >= 0 || call_of(common)->lenient)
    return;
  switch (common->err->msg_code) {
  case JWRN_ADOBE_XFORM:
  case JWRN_BOGUS_ICC:
  case JWRN_EXTRANEOUS_DATA:
  case JWRN_JFIF_MAJOR:
  case JWRN_NOT_SEQUENTIAL: /* a spectral band that is invalid in a sequential scan: libjpeg ignores it */
    return;
  default:
    give_up(common, BROKEN);
  }
}

static void on_output(j_common_ptr common) { (void)common; }

static void check_wanted(j_common_ptr common) {
  const struct watch *watch = call_of(common)->watch;
  if (watch->ask(watch->asker))
    give_up(common, INTERRUPTED);
}

static struct jpeg_error_mgr *prepare(struct call *call, struct outcome *outcome,
                                      const struct watch *watch) {
  jpeg_std_error(&call->errors);
  call->errors.error_exit = on_error;
  call->errors.emit_message = on_message;
  call->errors.output_message = on_output;
  memset(&call->progress, 0, sizeof call->progress);
  call->outcome = outcome;
  call->watch = watch;
  outcome->status = DONE;
  outcome->message[0] = 0;
  return &call->errors;
}

static J_COLOR_SPACE stored_space(int colour) {
  switch (colour) {
  case GRAY: return JCS_GRAYSCALE;
  case YCBCR: return JCS_YCbCr;
  case RGB: return JCS_RGB;
  case CMYK: return JCS_CMYK;
  default: return JCS_YCCK;
  }
}

/* ---- reading ---- */

struct decoder {
  struct call call; /* must be first: client_data is cast to it */
  struct jpeg_decompress_struct jpeg;
  struct jpeg_source_mgr source;
  const struct decode_job *job;
  void (*realize)(j_common_ptr common);
  int ended; /* the file has ended before its end marker */
};

static struct decoder *decoder_of(j_common_ptr common) { return (struct decoder *)common->client_data; }

static void source_nothing(j_decompress_ptr jpeg) { (void)jpeg; }

static boolean source_ended(j_decompress_ptr jpeg) {
  static const uint8_t end[2] = { 0xFF, JPEG_EOI };

  if (!call_of((j_common_ptr)jpeg)->lenient)
    ERREXIT(jpeg, JWRN_JPEG_EOF);
  decoder_of((j_common_ptr)jpeg)->ended = 1;
  jpeg->src->next_input_byte = end;
  jpeg->src->bytes_in_buffer = sizeof end;
  return TRUE;
}

/* Whether the current rows are missing, because an image of one scan is cut off. They become white; libjpeg would
 * make them gray. Like browsers, this treats the whole incomplete row of MCUs as missing. */
static int is_missing(const struct decoder *decoder, j_decompress_ptr jpeg) {
  return decoder->ended && !jpeg_has_multiple_scans(jpeg);
}

static void source_skip(j_decompress_ptr jpeg, long count) {
  if (count <= 0)
    return;
  if ((size_t)count > jpeg->src->bytes_in_buffer) {
    source_ended(jpeg);
    return;
  }
  jpeg->src->next_input_byte += count;
  jpeg->src->bytes_in_buffer -= (size_t)count;
}

static void while_decoding(j_common_ptr common) {
  const struct decode_job *job = decoder_of(common)->job;
  if (((j_decompress_ptr)common)->input_scan_number > job->scans)
    give_up(common, TOO_MANY_SCANS);
  check_wanted(common);
}

/* If chroma is subsampled and the image is decoded at a smaller scale, libjpeg decodes chroma at a larger scale
 * instead of upsampling it. We need the subsampled planes, all at the same scale. libjpeg decides this in
 * jpeg_start_decompress. After the decision, and before anything that depends on it (MCU widths, the choice of
 * IDCT), it calls realize_virt_arrays, which is part of the public memory manager and is replaced here. */
static void realize_at_one_scale(j_common_ptr common) {
  j_decompress_ptr jpeg = (j_decompress_ptr)common;
  for (int i = 0; i < jpeg->num_components; i++)
    jpeg->comp_info[i].DCT_scaled_size = jpeg->min_DCT_scaled_size;
  decoder_of(common)->realize(common);
}

static void read_planes(struct decoder *decoder) {
  j_decompress_ptr jpeg = &decoder->jpeg;
  const struct plane *planes = decoder->job->planes;
  const int size = jpeg->min_DCT_scaled_size;
  const JDIMENSION band = (JDIMENSION)(jpeg->max_v_samp_factor * size);
  JSAMPROW rows[MOST_COMPONENTS][MOST_BAND_ROWS];
  JSAMPARRAY strips[MOST_COMPONENTS], image[MOST_COMPONENTS];
  int direct[MOST_COMPONENTS];

  for (int i = 0; i < jpeg->num_components; i++) {
    const jpeg_component_info *component = &jpeg->comp_info[i];
    JDIMENSION width = component->width_in_blocks * (JDIMENSION)size;
    if (planes[i].width > width)
      ERREXIT(jpeg, JERR_BAD_LENGTH);
    /* If the width is a multiple of whole blocks, libjpeg writes directly into the plane, except for rows
     * below its last one. */
    direct[i] = width == planes[i].width;
    strips[i] = (*jpeg->mem->alloc_sarray)((j_common_ptr)jpeg, JPOOL_IMAGE, width,
                                           (JDIMENSION)(component->v_samp_factor * size));
    image[i] = rows[i];
  }
  while (jpeg->output_scanline < jpeg->output_height) {
    const JDIMENSION index = jpeg->output_scanline / band;
    for (int i = 0; i < jpeg->num_components; i++) {
      const JDIMENSION count = (JDIMENSION)(jpeg->comp_info[i].v_samp_factor * size);
      for (JDIMENSION r = 0; r < count; r++) {
        const size_t y = (size_t)index * count + r;
        rows[i][r] = direct[i] && y < planes[i].height ? planes[i].samples + y * planes[i].width
                                                       : strips[i][r];
      }
    }
    if (jpeg_read_raw_data(jpeg, image, band) == 0)
      ERREXIT(jpeg, JWRN_JPEG_EOF);
    for (int i = 0; i < jpeg->num_components; i++) {
      const JDIMENSION count = (JDIMENSION)(jpeg->comp_info[i].v_samp_factor * size);
      const int missing = is_missing(decoder, jpeg);
      const int white = decoder->job->colour == YCBCR && i > 0 ? 128 : 255;
      for (JDIMENSION r = 0; r < count && (missing || !direct[i]); r++) {
        const size_t y = (size_t)index * count + r;
        if (y >= planes[i].height)
          break;
        uint8_t *samples = planes[i].samples + y * planes[i].width;
        if (missing)
          memset(samples, white, planes[i].width);
        else
          memcpy(samples, rows[i][r], planes[i].width);
      }
    }
  }
}

static void read_pixels(struct decoder *decoder) {
  j_decompress_ptr jpeg = &decoder->jpeg;
  const struct plane *planes = decoder->job->planes;
  const size_t step = (size_t)jpeg->output_components;
  for (size_t i = 0; i < step; i++)
    if ((int)i >= decoder->job->components || planes[i].width != jpeg->output_width ||
        planes[i].height != jpeg->output_height)
      ERREXIT(jpeg, JERR_BAD_LENGTH);
  JSAMPARRAY row = (*jpeg->mem->alloc_sarray)((j_common_ptr)jpeg, JPOOL_IMAGE,
                                              jpeg->output_width * (JDIMENSION)step, 1);
  while (jpeg->output_scanline < jpeg->output_height) {
    const size_t y = jpeg->output_scanline;
    if (jpeg_read_scanlines(jpeg, row, 1) == 0)
      ERREXIT(jpeg, JWRN_JPEG_EOF);
    for (size_t i = 0; i < step; i++) {
      uint8_t *samples = planes[i].samples + y * planes[i].width;
      for (size_t x = 0; x < planes[i].width; x++)
        samples[x] = is_missing(decoder, jpeg) ? 255 : row[0][x * step + i];
    }
  }
}

/* Whether libjpeg has read the same header as our own reader, from which the planes were allocated. Otherwise,
 * nothing may be written to them. */
static int fits(const struct decode_job *job, j_decompress_ptr jpeg) {
  if (jpeg->image_width != job->width || jpeg->image_height != job->height ||
      jpeg->num_components != job->components || jpeg->data_precision != 8)
    return 0;
  for (int i = 0; i < job->components; i++)
    if (jpeg->comp_info[i].h_samp_factor != job->planes[i].h ||
        jpeg->comp_info[i].v_samp_factor != job->planes[i].v)
      return 0;
  return 1;
}

/* Sets the source, after jpeg_create_decompress. */
static void set_source(struct decoder *decoder, const uint8_t *bytes, size_t size) {
  j_decompress_ptr jpeg = &decoder->jpeg;

  decoder->source.next_input_byte = bytes;
  decoder->source.bytes_in_buffer = size;
  decoder->source.init_source = source_nothing;
  decoder->source.fill_input_buffer = source_ended;
  decoder->source.skip_input_data = source_skip;
  decoder->source.resync_to_restart = jpeg_resync_to_restart;
  decoder->source.term_source = source_nothing;
  jpeg->src = &decoder->source;
}

/* Reads the header. The caller has prepared the call and set its escape. */
static void open_file(struct decoder *decoder) {
  j_decompress_ptr jpeg = &decoder->jpeg;
  const struct decode_job *job = decoder->job;

  jpeg_create_decompress(jpeg);
  jpeg->mem->max_memory_to_use = (long)job->memory;
  decoder->call.progress.progress_monitor = while_decoding;
  jpeg->progress = &decoder->call.progress;
  set_source(decoder, job->bytes, job->size);
  jpeg_read_header(jpeg, TRUE);
  if (!fits(job, jpeg))
    ERREXIT(jpeg, JERR_BAD_LENGTH);
  jpeg->jpeg_color_space = stored_space(job->colour);
  jpeg->out_color_space = job->colour == YCCK ? JCS_CMYK : jpeg->jpeg_color_space;
}

void andon_jpeg_decode(const struct decode_job *job, struct outcome *outcome) {
  struct decoder decoder;
  j_decompress_ptr jpeg = &decoder.jpeg;

  memset(&decoder, 0, sizeof decoder);
  decoder.job = job;
  jpeg->err = prepare(&decoder.call, outcome, &job->watch);
  decoder.call.lenient = job->lenient;
  jpeg->client_data = &decoder;
  if (setjmp(decoder.call.escape)) {
    jpeg_destroy_decompress(jpeg);
    return;
  }
  open_file(&decoder);
  jpeg->scale_num = (unsigned int)job->eighths;
  jpeg->scale_denom = 8;
  jpeg->dct_method = JDCT_ISLOW;
  jpeg->raw_data_out = job->raw != 0;
  if (job->raw) {
    decoder.realize = jpeg->mem->realize_virt_arrays;
    jpeg->mem->realize_virt_arrays = realize_at_one_scale;
  }
  jpeg_start_decompress(jpeg);
  if (job->raw)
    read_planes(&decoder);
  else
    read_pixels(&decoder);
  jpeg_finish_decompress(jpeg);
  jpeg_destroy_decompress(jpeg);
}

/* ---- reading coefficients ---- */

struct blocks {
  int16_t *coefficients; /* 64 per block, quantised; rows by vertical, in each by horizontal frequency */
  uint32_t wide, high;   /* in blocks */
  uint16_t factors[DCTSIZE2]; /* in the same order; zeros if no scan has this component */
};

static void read_blocks(j_decompress_ptr jpeg, struct blocks *all) {
  jvirt_barray_ptr *arrays = jpeg_read_coefficients(jpeg);
  for (int i = 0; i < jpeg->num_components; i++) {
    const jpeg_component_info *component = &jpeg->comp_info[i];
    struct blocks *blocks = &all[i];
    if (blocks->wide != component->width_in_blocks || blocks->high != component->height_in_blocks)
      ERREXIT(jpeg, JERR_BAD_LENGTH);
    if (component->quant_table != NULL)
      memcpy(blocks->factors, component->quant_table->quantval, sizeof blocks->factors);
    const size_t row = (size_t)blocks->wide * DCTSIZE2;
    for (JDIMENSION y = 0; y < blocks->high; y++) {
      JBLOCKARRAY stored =
          (*jpeg->mem->access_virt_barray)((j_common_ptr)jpeg, arrays[i], y, 1, FALSE);
      memcpy(blocks->coefficients + y * row, stored[0], row * sizeof(JCOEF));
    }
  }
}

/* `all` has one element for each of the job's components. */
void andon_jpeg_coefficients(const struct decode_job *job, struct blocks *all,
                             struct outcome *outcome) {
  struct decoder decoder;

  memset(&decoder, 0, sizeof decoder);
  decoder.job = job;
  decoder.jpeg.err = prepare(&decoder.call, outcome, &job->watch);
  decoder.jpeg.client_data = &decoder;
  if (setjmp(decoder.call.escape)) {
    jpeg_destroy_decompress(&decoder.jpeg);
    return;
  }
  open_file(&decoder);
  read_blocks(&decoder.jpeg, all);
  jpeg_finish_decompress(&decoder.jpeg);
  jpeg_destroy_decompress(&decoder.jpeg);
}

/* ---- writing ---- */

struct encoder {
  struct call call; /* must be first: client_data is cast to it */
  struct jpeg_compress_struct jpeg;
  struct jpeg_destination_mgr target;
  uint8_t *bytes;
  size_t size;
  size_t expected; /* expected size of the file, or 0 if it is unknown */
};

static void target_room(struct encoder *encoder, size_t used, size_t size) {
  uint8_t *bytes = realloc(encoder->bytes, size);
  if (bytes == NULL)
    ERREXIT1(&encoder->jpeg, JERR_OUT_OF_MEMORY, 0);
  encoder->bytes = bytes;
  encoder->size = size;
  encoder->target.next_output_byte = bytes + used;
  encoder->target.free_in_buffer = size - used;
}

static void target_begin(j_compress_ptr jpeg) {
  struct encoder *encoder = (struct encoder *)jpeg->client_data;
  const size_t samples = (size_t)jpeg->image_width * jpeg->image_height;
  /* An estimate: most images take less than two bits per pixel. */
  const size_t guess = encoder->expected > 0 ? encoder->expected : samples / 4;
  target_room(encoder, 0, 65536 + guess);
}

static boolean target_full(j_compress_ptr jpeg) {
  struct encoder *encoder = (struct encoder *)jpeg->client_data;
  target_room(encoder, encoder->size, encoder->size * 2);
  return TRUE;
}

static void target_end(j_compress_ptr jpeg) { (void)jpeg; }

/* Sets the destination, after jpeg_create_compress. */
static void set_target(struct encoder *encoder) {
  j_compress_ptr jpeg = &encoder->jpeg;

  encoder->call.progress.progress_monitor = check_wanted;
  jpeg->progress = &encoder->call.progress;
  encoder->target.init_destination = target_begin;
  encoder->target.empty_output_buffer = target_full;
  encoder->target.term_destination = target_end;
  jpeg->dest = &encoder->target;
}

static void write_metadata(j_compress_ptr jpeg, const uint8_t *exif, size_t exif_size,
                           const uint8_t *icc, size_t icc_size) {
  static const char label[6] = "Exif\0";
  if (exif_size > 0) {
    jpeg_write_m_header(jpeg, JPEG_APP0 + 1, (unsigned int)(sizeof label + exif_size));
    for (size_t i = 0; i < sizeof label; i++)
      jpeg_write_m_byte(jpeg, label[i]);
    for (size_t i = 0; i < exif_size; i++)
      jpeg_write_m_byte(jpeg, exif[i]);
  }
  if (icc_size > 0)
    jpeg_write_icc_profile(jpeg, icc, (unsigned int)icc_size);
}

static void end_file(struct encoder *encoder, struct encoded *encoded) {
  jpeg_finish_compress(&encoder->jpeg);
  encoded->bytes = encoder->bytes;
  encoded->size = encoder->size - encoder->target.free_in_buffer;
  jpeg_destroy_compress(&encoder->jpeg);
}

/* Blocks that extend beyond the right edge are filled with the last sample of each row, which takes the fewest
 * bits. Rows below the image repeat its last row. */
static void write_planes(struct encoder *encoder, const struct encode_job *job) {
  j_compress_ptr jpeg = &encoder->jpeg;
  JSAMPARRAY image[MOST_COMPONENTS];

  for (int i = 0; i < jpeg->num_components; i++) {
    JDIMENSION width = jpeg->comp_info[i].width_in_blocks * DCTSIZE;
    if (job->planes[i].width > width || job->planes[i].width == 0 || job->planes[i].height == 0)
      ERREXIT(jpeg, JERR_BAD_LENGTH);
    image[i] = (*jpeg->mem->alloc_sarray)((j_common_ptr)jpeg, JPOOL_IMAGE, width, DCTSIZE);
  }
  while (jpeg->next_scanline < jpeg->image_height) {
    for (int i = 0; i < jpeg->num_components; i++) {
      const struct plane *plane = &job->planes[i];
      const size_t width = jpeg->comp_info[i].width_in_blocks * DCTSIZE;
      for (JDIMENSION r = 0; r < DCTSIZE; r++) {
        size_t y = (size_t)jpeg->next_scanline + r;
        if (y >= plane->height)
          y = plane->height - 1;
        const uint8_t *samples = plane->samples + y * plane->width;
        JSAMPROW row = image[i][r];
        for (size_t x = 0; x < plane->width; x++)
          row[x] = (JSAMPLE)(255 - samples[x]);
        memset(row + plane->width, row[plane->width - 1], width - plane->width);
      }
    }
    jpeg_write_raw_data(jpeg, image, DCTSIZE);
  }
}

void andon_jpeg_encode(const struct encode_job *job, struct encoded *encoded,
                       struct outcome *outcome) {
  struct encoder encoder;
  j_compress_ptr jpeg = &encoder.jpeg;

  memset(&encoder, 0, sizeof encoder);
  encoded->bytes = NULL;
  encoded->size = 0;
  jpeg->err = prepare(&encoder.call, outcome, &job->watch);
  jpeg->client_data = &encoder;
  if (setjmp(encoder.call.escape)) {
    jpeg_destroy_compress(jpeg);
    free(encoder.bytes);
    return;
  }
  jpeg_create_compress(jpeg);
  set_target(&encoder);
  jpeg->image_width = job->width;
  jpeg->image_height = job->height;
  jpeg->input_components = job->components;
  jpeg->in_color_space = JCS_CMYK;
  jpeg_set_defaults(jpeg);
  jpeg_set_colorspace(jpeg, JCS_CMYK);
  jpeg_set_quality(jpeg, job->quality, TRUE);
  if (job->progressive)
    jpeg_simple_progression(jpeg);
  jpeg->optimize_coding = TRUE;
  jpeg->dct_method = JDCT_ISLOW;
  jpeg->raw_data_in = TRUE;

  jpeg_start_compress(jpeg, TRUE);
  write_metadata(jpeg, job->exif, job->exif_size, job->icc, job->icc_size);
  write_planes(&encoder, job);
  end_file(&encoder, encoded);
}

/* ---- rewriting ---- */

/* Writes a file with the same coefficients in several scans. */
void andon_jpeg_progressive(const struct rewrite_job *job, struct encoded *encoded,
                            struct outcome *outcome) {
  struct decoder decoder;
  struct encoder encoder;

  memset(&decoder, 0, sizeof decoder);
  memset(&encoder, 0, sizeof encoder);
  encoded->bytes = NULL;
  encoded->size = 0;
  decoder.jpeg.err = prepare(&decoder.call, outcome, &job->watch);
  decoder.jpeg.client_data = &decoder;
  encoder.jpeg.err = prepare(&encoder.call, outcome, &job->watch);
  encoder.jpeg.client_data = &encoder;
  /* Reader and writer have separate jump targets, both of which lead to `failed`. */
  if (setjmp(decoder.call.escape))
    goto failed;
  if (setjmp(encoder.call.escape))
    goto failed;
  jpeg_create_decompress(&decoder.jpeg);
  decoder.call.progress.progress_monitor = check_wanted;
  decoder.jpeg.progress = &decoder.call.progress;
  set_source(&decoder, job->bytes, job->size);
  jpeg_read_header(&decoder.jpeg, TRUE);
  jvirt_barray_ptr *coefficients = jpeg_read_coefficients(&decoder.jpeg);

  jpeg_create_compress(&encoder.jpeg);
  set_target(&encoder);
  encoder.expected = job->size + job->exif_size + job->icc_size;
  jpeg_copy_critical_parameters(&decoder.jpeg, &encoder.jpeg);
  jpeg_simple_progression(&encoder.jpeg);
  encoder.jpeg.optimize_coding = TRUE;
  jpeg_write_coefficients(&encoder.jpeg, coefficients);
  write_metadata(&encoder.jpeg, job->exif, job->exif_size, job->icc, job->icc_size);
  end_file(&encoder, encoded);
  jpeg_finish_decompress(&decoder.jpeg);
  jpeg_destroy_decompress(&decoder.jpeg);
  return;

failed:
  jpeg_destroy_compress(&encoder.jpeg);
  jpeg_destroy_decompress(&decoder.jpeg);
  free(encoder.bytes);
  encoded->bytes = NULL;
  encoded->size = 0;
}

void andon_jpeg_free(struct encoded *encoded) {
  free(encoded->bytes);
  encoded->bytes = NULL;
}
