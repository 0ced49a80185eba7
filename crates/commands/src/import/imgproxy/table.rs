//! The variables of imgproxy 3 and 4, including the commercial version, from its documentation of August 2026.

use toml::Value;

use super::super::values::{
    flag, limit, list, megapixels, number, numbers_by_name, one, prefix, span, text,
};
use super::super::variables::{Variable, key, nothing, part};

const ALWAYS: &str = "it is always so";
const NOT_NEEDED: &str = "it is not needed";
const PRO: &str = "it belongs to imgproxy Pro and has no equivalent";
const REPORTS: &str = "errors are in the log, and counted in /metrics";
const PUSHED: &str = "metrics are read from /metrics";

/// Every variable, in the order of imgproxy's documentation.
#[rustfmt::skip]
pub(in super::super) const ALL: &[Variable] = &[
    part(&["IMGPROXY_KEY"], "`imgproxy.keys`"),
    part(&["IMGPROXY_SALT"], "`imgproxy.salts`"),
    key(&["IMGPROXY_SIGNATURE_SIZE"], "imgproxy.signature_size", number),
    key(&["IMGPROXY_TRUSTED_SIGNATURES"], "imgproxy.trusted_signatures", list),
    part(&["IMGPROXY_BIND", "IMGPROXY_NETWORK"], "`listen`"),
    key(&["IMGPROXY_TIMEOUT"], "timeouts.request", span),
    key(&["IMGPROXY_GRACEFUL_STOP_TIMEOUT"], "timeouts.shutdown", span),
    key(&["IMGPROXY_READ_REQUEST_TIMEOUT"], "timeouts.header", span),
    key(&["IMGPROXY_WRITE_RESPONSE_TIMEOUT"], "timeouts.write", span),
    key(&["IMGPROXY_KEEP_ALIVE_TIMEOUT"], "timeouts.keep_alive", span),
    nothing(&["IMGPROXY_CLIENT_KEEP_ALIVE_TIMEOUT"], "connections to origins are kept as long as they are of use"),
    part(&["IMGPROXY_DOWNLOAD_TIMEOUT"], "`timeouts.total` of each remote `[[origin]]`"),
    nothing(&["IMGPROXY_WORKERS", "IMGPROXY_CONCURRENCY"], "`workers` is one thread per core by default, which is best"),
    key(&["IMGPROXY_REQUESTS_QUEUE_SIZE"], "queue", limit),
    key(&["IMGPROXY_MAX_CLIENTS"], "limits.connections", limit),
    key(&["IMGPROXY_TTL"], "imgproxy.ttl", number),
    nothing(&["IMGPROXY_CACHE_CONTROL_PASSTHROUGH"], "what an origin says of caching counts; `[[cache.rule]]` overrides it"),
    nothing(&["IMGPROXY_SET_CANONICAL_HEADER"], "it has no equivalent"),
    nothing(&["IMGPROXY_SO_REUSEPORT"], ALWAYS),
    key(&["IMGPROXY_PATH_PREFIX"], "imgproxy.prefix", prefix),
    part(&["IMGPROXY_USER_AGENT"], "`http.headers` of the `[[origin]]` of absolute URLs"),
    nothing(&["IMGPROXY_USE_ETAG", "IMGPROXY_USE_LAST_MODIFIED"], ALWAYS),
    nothing(&["IMGPROXY_ETAG_BUSTER", "IMGPROXY_LAST_MODIFIED_BUSTER"], "tags change with the configuration"),
    nothing(&["IMGPROXY_CUSTOM_REQUEST_HEADERS"], "`http.headers` of an `[[origin]]` are sent to it"),
    nothing(&["IMGPROXY_CUSTOM_RESPONSE_HEADERS"], "`[headers]` are sent with responses"),
    nothing(&["IMGPROXY_CUSTOM_HEADERS_SEPARATOR"], NOT_NEEDED),
    nothing(&["IMGPROXY_REQUEST_HEADERS_PASSTHROUGH", "IMGPROXY_RESPONSE_HEADERS_PASSTHROUGH"], PRO),
    nothing(&["IMGPROXY_ENABLE_DEBUG_HEADERS"], "`debug.plan_header` says how a result was made"),
    nothing(&["IMGPROXY_SERVER_NAME"], "responses do not name the server"),
    key(&["IMGPROXY_MAX_SRC_RESOLUTION"], "limits.pixels", megapixels),
    part(&["IMGPROXY_MAX_SRC_FILE_SIZE"], "`limits.source_bytes`, and `max_bytes` of each remote `[[origin]]`"),
    key(&["IMGPROXY_MAX_ANIMATION_FRAMES"], "imgproxy.max_animation_frames", number),
    nothing(&["IMGPROXY_MAX_ANIMATION_FRAME_RESOLUTION"], "`limits.animation_pixels` is of all frames together"),
    key(&["IMGPROXY_MAX_RESULT_DIMENSION"], "imgproxy.max_result_dimension", number),
    key(&["IMGPROXY_ALLOWED_PROCESSING_OPTIONS"], "imgproxy.allowed_processing_options", list),
    nothing(&["IMGPROXY_ALLOWED_INFO_OPTIONS"], "it has no equivalent"),
    nothing(&["IMGPROXY_MAX_CHAINED_PIPELINES"], "`limits.cpu` is the work that one request may ask for"),
    part(&["IMGPROXY_MAX_REDIRECTS"], "`http.redirects` of the `[[origin]]` of absolute URLs"),
    nothing(&["IMGPROXY_SECRET"], "requests need no Authorization header here: keep a proxy in front that asks for it"),
    part(&["IMGPROXY_SOURCE_URL_ENCRYPTION_KEY"], "`imgproxy.source_key`"),
    key(&["IMGPROXY_ALLOW_ORIGIN"], "cors.origins", one),
    part(&["IMGPROXY_ALLOWED_SOURCES"], "`imgproxy.allowed_sources`, and `http.urls` of an `[[origin]]`"),
    part(&["IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES", "IMGPROXY_ALLOW_PRIVATE_SOURCE_ADDRESSES"], "`allow` of each remote `[[origin]]`, if it is true"),
    nothing(&["IMGPROXY_ALLOW_LINK_LOCAL_SOURCE_ADDRESSES"], "`allow` of an `[[origin]]` may list such addresses, metadata services excepted"),
    nothing(&["IMGPROXY_PNG_UNLIMITED", "IMGPROXY_SVG_UNLIMITED", "IMGPROXY_TIFF_UNLIMITED"], "`[limits]` applies to all formats"),
    nothing(&["IMGPROXY_SANITIZE_SVG"], "SVG is drawn, and its scripts are not run"),
    nothing(&["IMGPROXY_IGNORE_SSL_VERIFICATION"], "`http.ca` of an `[[origin]]` names a certificate to trust"),
    key(&["IMGPROXY_ALLOW_SECURITY_OPTIONS"], "imgproxy.allow_security_options", flag),
    nothing(&["IMGPROXY_ALLOW_BYPASS_CACHE"], PRO),
    nothing(&["IMGPROXY_COOKIE_PASSTHROUGH", "IMGPROXY_COOKIE_BASE_URL", "IMGPROXY_COOKIE_PASSTHROUGH_ALL"], "origins get no cookies, because results are shared"),
    key(&["IMGPROXY_QUALITY"], "imgproxy.quality", number),
    key(&["IMGPROXY_FORMAT_QUALITY"], "imgproxy.format_quality", numbers_by_name),
    part(&["IMGPROXY_JPEG_PROGRESSIVE"], "`default` of `[imgproxy.presets]`: `jpgo:1`"),
    part(&["IMGPROXY_PNG_INTERLACED"], "`default` of `[imgproxy.presets]`: `pngo:1`"),
    nothing(&["IMGPROXY_PNG_QUANTIZE", "IMGPROXY_PNG_QUANTIZATION_COLORS"], "`pngo::QUANTIZE:COLORS` in `default` of `[imgproxy.presets]` does it"),
    nothing(&["IMGPROXY_JPEG_*"], "`jpgo:…` in `default` of `[imgproxy.presets]` does what there is of it"),
    nothing(&["IMGPROXY_WEBP_EFFORT", "IMGPROXY_AVIF_SPEED", "IMGPROXY_JXL_EFFORT"], "encoders run at the effort that Andon has measured to be best"),
    nothing(&["IMGPROXY_WEBP_*"], "`webpo:…` in `default` of `[imgproxy.presets]` does what there is of it"),
    nothing(&["IMGPROXY_AVIF_SUBSAMPLE"], "`avifo:…` in `default` of `[imgproxy.presets]` does it"),
    nothing(&["IMGPROXY_AUTOQUALITY_*"], "`aq:size:…` in `default` of `[imgproxy.presets]` does what there is of it"),
    nothing(&["IMGPROXY_ALWAYS_RASTERIZE_SVG"], ALWAYS),
    part(&["IMGPROXY_AUTO_WEBP", "IMGPROXY_ENABLE_WEBP_DETECTION", "IMGPROXY_AUTO_AVIF", "IMGPROXY_ENABLE_AVIF_DETECTION", "IMGPROXY_AUTO_JXL"], "`imgproxy.negotiate` and `negotiation.formats`"),
    part(&["IMGPROXY_ENFORCE_WEBP", "IMGPROXY_ENFORCE_AVIF", "IMGPROXY_ENFORCE_JXL"], "`imgproxy.enforce` and `negotiation.formats`"),
    key(&["IMGPROXY_PREFERRED_FORMATS"], "imgproxy.preferred_formats", list),
    nothing(&["IMGPROXY_SKIP_PROCESSING_FORMATS"], "`skp:…` in `default` of `[imgproxy.presets]` does it"),
    nothing(&["IMGPROXY_BEST_FORMAT_*"], "`f:best` chooses by `Accept`, the one whose file is shortest"),
    nothing(&["IMGPROXY_PRESERVE_HDR"], "it has no equivalent"),
    key(&["IMGPROXY_ENABLE_CLIENT_HINTS"], "imgproxy.client_hints", flag),
    nothing(&["IMGPROXY_ENABLE_VIDEO_THUMBNAILS", "IMGPROXY_VIDEO_*"], "videos are not read"),
    nothing(&["IMGPROXY_ENABLE_RAW_FORMATS"], ALWAYS),
    part(&["IMGPROXY_WATERMARK_DATA", "IMGPROXY_WATERMARK_PATH", "IMGPROXY_WATERMARK_URL", "IMGPROXY_WATERMARK_OPACITY"], "`imgproxy.watermark` if an origin has the image, or else a comment with the lines to add"),
    nothing(&["IMGPROXY_WATERMARK_PREPROCESS_URL", "IMGPROXY_WATERMARKS_CACHE_SIZE"], PRO),
    nothing(&["IMGPROXY_UNSHARP_*"], PRO),
    nothing(&["IMGPROXY_SMART_CROP_*"], "`g:sm` looks at faces where the server is built for them"),
    nothing(&["IMGPROXY_OBJECT_DETECTION_*", "IMGPROXY_CLASSIFICATION_*", "IMGPROXY_ML_*"], PRO),
    nothing(&["IMGPROXY_CACHE_*"], "`[cache]` keeps results in memory and on disk, `[store]` shares them"),
    part(&["IMGPROXY_FALLBACK_IMAGE_DATA", "IMGPROXY_FALLBACK_IMAGE_PATH", "IMGPROXY_FALLBACK_IMAGE_URL", "IMGPROXY_FALLBACK_IMAGE_HTTP_CODE", "IMGPROXY_FALLBACK_IMAGE_TTL"], "a `[[fallback]]` if an origin has the image, or else a comment with the lines to add"),
    nothing(&["IMGPROXY_FALLBACK_*"], PRO),
    part(&["IMGPROXY_PRESETS", "IMGPROXY_PRESETS_SEPARATOR"], "`[imgproxy.presets]`"),
    nothing(&["IMGPROXY_PRESETS_PATH"], "add the lines of that file to `[imgproxy.presets]`"),
    nothing(&["IMGPROXY_INFO_PRESETS", "IMGPROXY_INFO_PRESETS_PATH", "IMGPROXY_INFO_ONLY_PRESETS"], "presets are the same for `/info`"),
    key(&["IMGPROXY_ONLY_PRESETS"], "imgproxy.only_presets", flag),
    nothing(&["IMGPROXY_SOURCE_URL_QUERY_SEPARATOR"], "it has no equivalent"),
    part(&["IMGPROXY_LOCAL_FILESYSTEM_ROOT"], "`fs.root` of an `[[origin]]`"),
    part(&["IMGPROXY_USE_S3", "IMGPROXY_S3_ALLOWED_BUCKETS", "IMGPROXY_S3_REGION", "IMGPROXY_S3_ENDPOINT"], "`s3.buckets`, `s3.region` and `s3.endpoint` of an `[[origin]]`, with the credentials of the platform"),
    nothing(&["IMGPROXY_S3_ENDPOINT_USE_PATH_STYLE"], "buckets of an endpoint are in its path, those of Amazon in the host"),
    nothing(&["IMGPROXY_S3_DENIED_BUCKETS", "IMGPROXY_GCS_DENIED_BUCKETS", "IMGPROXY_ABS_DENIED_BUCKETS"], "only the buckets that an `[[origin]]` lists are read"),
    nothing(&["IMGPROXY_S3_ASSUME_ROLE_ARN", "IMGPROXY_S3_ASSUME_ROLE_EXTERNAL_ID"], "a profile of AWS may name a role (docs/buckets.md)"),
    nothing(&["IMGPROXY_S3_USE_DECRYPTION_CLIENT", "IMGPROXY_S3_ACCESS_POINTS"], "it has no equivalent"),
    part(&["IMGPROXY_USE_GCS", "IMGPROXY_GCS_ALLOWED_BUCKETS", "IMGPROXY_GCS_ENDPOINT", "IMGPROXY_GCS_KEY"], "`gcs.buckets` and `gcs.endpoint` of an `[[origin]]`, with the credentials of the platform"),
    part(&["IMGPROXY_USE_ABS", "IMGPROXY_ABS_ALLOWED_BUCKETS", "IMGPROXY_ABS_NAME", "IMGPROXY_ABS_ENDPOINT", "IMGPROXY_ABS_KEY"], "`azure.buckets`, `azure.account` and `azure.endpoint` of an `[[origin]]`, with the credentials of the platform"),
    nothing(&["IMGPROXY_USE_SWIFT", "IMGPROXY_SWIFT_*"], "OpenStack Swift has an API of S3, which `s3.endpoint` of an `[[origin]]` may name"),
    part(&["IMGPROXY_BASE_URL"], "`imgproxy.base_url`; its host or bucket is permitted by an `[[origin]]`"),
    key(&["IMGPROXY_URL_REPLACEMENTS"], "imgproxy.url_replacements", replacements),
    key(&["IMGPROXY_BASE64_URL_INCLUDES_FILENAME"], "imgproxy.base64_url_includes_filename", flag),
    part(&["IMGPROXY_ARGUMENTS_SEPARATOR"], "`imgproxy.separator`"),
    nothing(&["IMGPROXY_NEW_RELIC_*", "IMGPROXY_DATADOG_*", "IMGPROXY_CLOUD_WATCH_*"], PUSHED),
    key(&["IMGPROXY_PROMETHEUS_BIND"], "metrics.listen", super::super::values::address),
    nothing(&["IMGPROXY_PROMETHEUS_NAMESPACE"], "metrics begin with `andon_`"),
    nothing(&["IMGPROXY_OPEN_TELEMETRY_*"], "OTEL_EXPORTER_OTLP_ENDPOINT and the like are read, or `[otlp]`"),
    nothing(&["IMGPROXY_BUGSNAG_*", "IMGPROXY_HONEYBADGER_*", "IMGPROXY_SENTRY_*", "IMGPROXY_AIRBRAKE_*", "IMGPROXY_REPORT_*"], REPORTS),
    key(&["IMGPROXY_LOG_FORMAT"], "log.format", log_format),
    key(&["IMGPROXY_LOG_LEVEL"], "log.level", text),
    nothing(&["IMGPROXY_SYSLOG_*"], "lines go to standard error"),
    nothing(&["IMGPROXY_LOG_MEM_STATS", "IMGPROXY_FREE_MEMORY_INTERVAL", "IMGPROXY_DOWNLOAD_BUFFER_SIZE", "IMGPROXY_BUFFER_POOL_CALIBRATION_THRESHOLD", "IMGPROXY_MALLOC", "IMGPROXY_VIPS_*", "IMGPROXY_PPROF_BIND"], "it is about imgproxy's memory; `memory_budget` is a limit of Andon's"),
    nothing(&["IMGPROXY_DISABLE_SHRINK_ON_LOAD", "IMGPROXY_USE_LINEAR_COLORSPACE"], "it has no equivalent"),
    key(&["IMGPROXY_STRIP_METADATA"], "imgproxy.strip_metadata", flag),
    nothing(&["IMGPROXY_STRIP_METADATA_DPI"], PRO),
    key(&["IMGPROXY_KEEP_COPYRIGHT"], "imgproxy.keep_copyright", flag),
    key(&["IMGPROXY_STRIP_COLOR_PROFILE"], "imgproxy.strip_color_profile", flag),
    nothing(&["IMGPROXY_COLOR_PROFILES_DIR", "IMGPROXY_PDF_NO_BACKGROUND"], PRO),
    key(&["IMGPROXY_AUTO_ROTATE"], "imgproxy.auto_rotate", flag),
    nothing(&["IMGPROXY_ENFORCE_THUMBNAIL"], "it has no equivalent"),
    key(&["IMGPROXY_RETURN_ATTACHMENT"], "imgproxy.return_attachment", flag),
    nothing(&["IMGPROXY_HEALTH_CHECK_PATH", "IMGPROXY_HEALTH_CHECK_MESSAGE"], "`/health` and `/healthz` answer"),
    nothing(&["IMGPROXY_DEVELOPMENT_ERRORS_MODE"], "every error says what is wrong"),
    nothing(&["IMGPROXY_FAIL_ON_DEPRECATION", "IMGPROXY_LICENSE_*"], NOT_NEEDED),
    nothing(&["IMGPROXY_ENV_*"], "secrets are read from the environment; mount or export them there"),
];

/// Translates `pattern=replacement;…` to pairs of a regular expression and a replacement.
fn replacements(value: &Value) -> Result<Value, String> {
    let all = value.as_str().unwrap_or_default().split(';');
    let pair = |pair: &str| {
        let (pattern, to) = pair
            .split_once('=')
            .ok_or_else(|| format!("`{pair}` has no `=`"))?;
        let literal: Vec<String> = pattern.split('*').map(regex::escape).collect();
        Ok(Value::from(vec![
            format!("^{}", literal.join("([^/]*)")),
            to.to_owned(),
        ]))
    };
    let pairs: Result<Vec<Value>, String> = all.filter(|it| !it.is_empty()).map(pair).collect();
    Ok(Value::Array(pairs?))
}

/// Translates imgproxy's name for a log format, such as `pretty`, to Andon's.
fn log_format(value: &Value) -> Result<Value, String> {
    match value.as_str() {
        Some("pretty" | "structured") => Ok("text".into()),
        Some("json" | "gcp") => Ok("json".into()),
        _ => Err(format!("{value} is no format of imgproxy's log")),
    }
}
