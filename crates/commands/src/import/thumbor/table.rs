//! The variables of thumbor 7, from its `config.py` of August 2026.

use super::super::values::{limit, number, one, span};
use super::super::variables::{Variable, key, nothing, part};

const NONE: &str = "it has no equivalent";
const STORAGE: &str =
    "`[cache]` keeps results in memory and on disk, `[store]` shares them between nodes";
const LOG: &str = "lines go to standard error in the format of `[log]`";
const DETECTORS: &str = "`smart` looks at faces where the server is built for them";
const QUEUES: &str = "faces are found in the server itself";
const METRICS: &str = "metrics are read from /metrics";
const ENCODERS: &str = "encoders run at the effort that Andon has measured to be best";
const METADATA: &str = "results of thumbor's URLs have no metadata";
const PLUGINS: &str =
    "what plug-ins do is built in, or named in docs/dialects/thumbor.md as missing";

/// Every variable of thumbor 7, in the order of its `config.py`.
#[rustfmt::skip]
pub(in super::super) const ALL: &[Variable] = &[
    nothing(&["THUMBOR_LOG_CONFIG", "THUMBOR_LOG_FORMAT", "THUMBOR_LOG_DATE_FORMAT"], LOG),
    key(&["MAX_WIDTH"], "thumbor.max_width", number),
    key(&["MAX_HEIGHT"], "thumbor.max_height", number),
    key(&["MAX_PIXELS"], "limits.pixels", limit),
    nothing(&["MIN_WIDTH", "MIN_HEIGHT"], NONE),
    part(&["ALLOWED_SOURCES"], "`http.urls` of an `[[origin]]`"),
    key(&["QUALITY"], "thumbor.quality", number),
    part(&["PROGRESSIVE_JPEG"], "`thumbor.progressive`; thumbor's default is true"),
    nothing(&["PILLOW_JPEG_SUBSAMPLING", "PILLOW_JPEG_QTABLES", "PILLOW_RESAMPLING_FILTER", "PILLOW_PRESERVE_INDEXED_MODE"], "it is about Pillow"),
    nothing(&["WEBP_QUALITY", "AVIF_QUALITY", "HEIF_QUALITY"], "the quality is the same for all formats; filters may set it"),
    nothing(&["AVIF_SPEED", "AVIF_CODEC", "AVIF_CODEC_FALLBACK", "PNG_COMPRESSION_LEVEL"], ENCODERS),
    nothing(&["SRGB_PROFILE"], "sRGB is built in"),
    part(&["AUTO_WEBP", "AUTO_AVIF", "AUTO_IMAGE_FORMAT_PREFERENCE"], "`negotiation.default` and `negotiation.formats`"),
    nothing(&["AUTO_JPG", "AUTO_HEIF", "AUTO_PNG", "AUTO_PNG_TO_JPG"], "images without a format in the URL stay in theirs, or that of Accept"),
    nothing(&["SVG_DPI"], NONE),
    key(&["MAX_AGE"], "thumbor.max_age", number),
    nothing(&["MAX_AGE_TEMP_IMAGE", "IGNORE_SMART_ERRORS"], "smart crops have no errors of their own"),
    part(&["RESPECT_ORIENTATION"], "`thumbor.respect_orientation`; thumbor's default is false"),
    nothing(&["SEND_IF_MODIFIED_LAST_MODIFIED_HEADERS", "ENABLE_ETAGS"], "it is always so"),
    nothing(&["PRESERVE_EXIF_INFO", "PRESERVE_EXIF_COPYRIGHT_INFO", "PRESERVE_IPTC_INFO"], METADATA),
    nothing(&["ALLOW_ANIMATED_GIFS", "USE_GIFSICLE_ENGINE", "GIF_ENGINE"], "animations stay animations"),
    nothing(&["USE_BLACKLIST"], NONE),
    nothing(&["ENGINE_THREADPOOL_SIZE"], "`workers` is one thread per core by default, which is best"),
    nothing(&["METRICS", "STATSD_HOST", "STATSD_PORT", "STATSD_PREFIX"], METRICS),
    part(&["LOADER"], "`thumbor.loader`, and an `[[origin]]`"),
    nothing(&["STORAGE", "RESULT_STORAGE", "STORAGE_EXPIRATION_SECONDS", "STORES_CRYPTO_KEY_FOR_EACH_IMAGE", "FILE_STORAGE_ROOT_PATH", "MIXED_STORAGE_*", "RESULT_STORAGE_*", "MAX_ID_LENGTH"], STORAGE),
    nothing(&["ENGINE", "FILTERS", "OPTIMIZERS", "HANDLER_LISTS", "URL_SIGNER", "APP_CLASS", "COMPATIBILITY_LEGACY_*"], PLUGINS),
    part(&["SECURITY_KEY"], "`thumbor.keys`"),
    part(&["ALLOW_UNSAFE_URL"], "`thumbor.allow_unsafe`; thumbor's default is true"),
    nothing(&["GC_INTERVAL", "NON_BLOCKING_SOCKETS", "MAX_WAIT_SECONDS_BEFORE_IO_SHUTDOWN"], "it is not needed"),
    key(&["MAX_WAIT_SECONDS_BEFORE_SERVER_SHUTDOWN"], "timeouts.shutdown", span),
    key(&["ACCESS_CONTROL_ALLOW_ORIGIN_HEADER"], "cors.origins", one),
    nothing(&["HEALTHCHECK_ROUTE"], "`/healthz` answers"),
    part(&["FILE_LOADER_ROOT_PATH"], "`fs.root` of an `[[origin]]`"),
    part(&["HTTP_LOADER_CONNECT_TIMEOUT"], "`timeouts.connect` of the `[[origin]]`"),
    part(&["HTTP_LOADER_REQUEST_TIMEOUT"], "`timeouts.total` of the `[[origin]]`"),
    part(&["HTTP_LOADER_FOLLOW_REDIRECTS", "HTTP_LOADER_MAX_REDIRECTS"], "`http.redirects` of the `[[origin]]`"),
    part(&["HTTP_LOADER_MAX_CLIENTS"], "`fetches` of the `[[origin]]`"),
    nothing(&["HTTP_LOADER_FORWARD_USER_AGENT", "HTTP_LOADER_FORWARD_ALL_HEADERS", "HTTP_LOADER_FORWARD_HEADERS_WHITELIST"], "headers are not passed through, because results are shared"),
    part(&["HTTP_LOADER_DEFAULT_USER_AGENT"], "`http.headers` of the `[[origin]]`"),
    nothing(&["HTTP_LOADER_PROXY_*"], "origins are asked without a proxy"),
    part(&["HTTP_LOADER_CA_CERTS"], "`http.ca` of the `[[origin]]`"),
    nothing(&["HTTP_LOADER_VALIDATE_CERTS"], "certificates are always checked; `http.ca` of the `[[origin]]` names one to trust"),
    nothing(&["HTTP_LOADER_CLIENT_KEY", "HTTP_LOADER_CLIENT_CERT"], "origins are asked without a certificate"),
    nothing(&["HTTP_LOADER_CURL_*"], "`timeouts.idle` of the `[[origin]]` ends slow downloads"),
    nothing(&["UPLOAD_*"], "`upload.allow` opens POST /_andon/render, which stores nothing"),
    nothing(&["META_CALLBACK_NAME"], "`?callback=` names the function"),
    nothing(&["DETECTORS", "FACE_DETECTOR_*", "GLASSES_DETECTOR_*", "PROFILE_DETECTOR_*"], DETECTORS),
    nothing(&["JPEGTRAN_PATH", "JPEGTRAN_SCANS_FILE", "FFMPEG_PATH"], "no programs are run"),
    nothing(&["REDIS_QUEUE_*", "SQS_QUEUE_*"], QUEUES),
    nothing(&["USE_CUSTOM_ERROR_HANDLING", "ERROR_HANDLER_MODULE", "ERROR_FILE_*", "SENTRY_*"], "errors are in the log, and counted in /metrics"),
];
