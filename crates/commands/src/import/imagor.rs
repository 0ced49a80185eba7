//! Imports the environment variables or flags of an imagor.

use toml::Value;

use super::assignments::{Environment, environment};
use super::document::Document;
use super::sources::{Common, add_unnamed, add_urls};
use super::values::{self, address, flag, limit, number, prefix, span, text, whole_seconds};
use super::variables::{Parts, Variable, key, nothing, part, translate};
use super::{Format, Input};

pub(super) const FORMAT: Format = Format {
    name: "the environment or the flags of an imagor (IMAGOR_SECRET=…, imagor -imagor-secret …)",
    is: |text| {
        let variables = variables_of(text);
        let set = variables.set.iter().map(|it| &it.name);
        let mut names = set.chain(variables.absent.iter().map(|it| &it.name));
        names.any(|name| name.starts_with("IMAGOR_") || name.starts_with("VIPS_"))
            || (text.contains("imagor") && !variables.set.is_empty())
            || variables.starts("imagor", text)
    },
    read: text_of,
};

const ALWAYS: &str = "it is always so";
const STORAGE: &str =
    "`[cache]` keeps results in memory and on disk, `[store]` shares them between nodes";
const VIPS: &str = "it is about libvips";
const BLOCKED: &str =
    "addresses that are not public are refused unless `allow` of the `[[origin]]` lists them";
const RESPONSES: &str = "it has no equivalent";

/// Every variable of imagor 1.9, in the order of its documentation of August 2026. Flags have the same names in lower
/// case: `-imagor-secret`.
#[rustfmt::skip]
pub(super) const TABLE: &[Variable] = &[
    part(&["PORT", "BIND", "SERVER_ADDRESS"], "`listen`"),
    nothing(&["DEBUG"], "`log.level` may be \"debug\""),
    nothing(&["VERSION", "CONFIG", "GOMAXPROCS"], "it is not needed"),
    part(&["SERVER_CORS"], "`cors.origins`"),
    nothing(&["SERVER_STRIP_QUERY_STRING"], RESPONSES),
    key(&["SERVER_PATH_PREFIX"], "imagor.prefix", prefix),
    nothing(&["SERVER_ACCESS_LOG"], "requests are logged unless `log.format` is \"off\""),
    part(&["IMAGOR_SECRET"], "`imagor.keys`"),
    key(&["IMAGOR_UNSAFE"], "imagor.allow_unsafe", flag),
    part(&["IMAGOR_AUTO_WEBP", "IMAGOR_AUTO_AVIF"], "`negotiation.default` and `negotiation.formats`"),
    nothing(&["IMAGOR_AUTO_JPEG"], "images without transparency stay in their format, or that of Accept"),
    nothing(&["IMAGOR_BASE_PARAMS"], "a `[[rewrite]]` may add filters to every URL"),
    key(&["IMAGOR_SIGNER_TYPE"], "imagor.digest", text),
    part(&["IMAGOR_SIGNER_TRUNCATE"], "`imagor.truncate`, from 16 characters on"),
    nothing(&["IMAGOR_RESULT_STORAGE_PATH_STYLE", "IMAGOR_STORAGE_PATH_STYLE"], STORAGE),
    key(&["IMAGOR_CACHE_HEADER_TTL"], "imagor.max_age", whole_seconds),
    nothing(&["IMAGOR_CACHE_HEADER_SWR", "IMAGOR_CACHE_HEADER_NO_CACHE"], "`cache_control` of a `[[cache.rule]]` is what clients get"),
    key(&["IMAGOR_REQUEST_TIMEOUT"], "timeouts.request", span),
    part(&["IMAGOR_LOAD_TIMEOUT"], "`timeouts.total` of each remote `[[origin]]`"),
    nothing(&["IMAGOR_SAVE_TIMEOUT"], STORAGE),
    nothing(&["IMAGOR_PROCESS_TIMEOUT"], "`limits.cpu` is the work that one request may ask for"),
    nothing(&["IMAGOR_PROCESS_CONCURRENCY"], "`workers` is one thread per core by default, which is best"),
    key(&["IMAGOR_PROCESS_QUEUE_SIZE"], "queue", limit),
    nothing(&["IMAGOR_BASE_PATH_REDIRECT"], RESPONSES),
    nothing(&["IMAGOR_MODIFIED_TIME_CHECK"], ALWAYS),
    nothing(&["IMAGOR_DISABLE_PARAMS_ENDPOINT", "IMAGOR_DISABLE_ERROR_BODY", "IMAGOR_RESPONSE_RAW_ON_ERROR"], RESPONSES),
    part(&["HTTP_LOADER_ALLOWED_SOURCES"], "`http.urls` of an `[[origin]]`"),
    nothing(&["HTTP_LOADER_ALLOWED_SOURCE_REGEXP"], "`http.urls` of an `[[origin]]` lists hosts, with `*.` in front for all below one"),
    part(&["HTTP_LOADER_BASE_URL"], "`http.base` of an `[[origin]]`"),
    part(&["HTTP_LOADER_DEFAULT_SCHEME"], "`imagor.loader`"),
    nothing(&["HTTP_LOADER_FORWARD_HEADERS", "HTTP_LOADER_FORWARD_CLIENT_HEADERS", "HTTP_LOADER_OVERRIDE_RESPONSE_HEADERS"], "headers are not passed through, because results are shared"),
    nothing(&["HTTP_LOADER_ACCEPT"], "the content tells what an image is"),
    part(&["HTTP_LOADER_MAX_ALLOWED_SIZE"], "`max_bytes` of the `[[origin]]`"),
    nothing(&["HTTP_LOADER_INSECURE_SKIP_VERIFY_TRANSPORT"], "`http.ca` of an `[[origin]]` names a certificate to trust"),
    nothing(&["HTTP_LOADER_PROXY_*"], "origins are asked without a proxy"),
    nothing(&["HTTP_LOADER_BLOCK_*"], BLOCKED),
    part(&["HTTP_LOADER_DISABLE"], "no `[[origin]]` of absolute URLs"),
    nothing(&["FILE_SAFE_CHARS", "S3_SAFE_CHARS", "GCLOUD_SAFE_CHARS"], "names of files are taken as they are"),
    part(&["FILE_LOADER_BASE_DIR", "FILE_LOADER_PATH_PREFIX"], "`fs.root` and `prefix` of an `[[origin]]`"),
    nothing(&["FILE_STORAGE_*", "FILE_RESULT_STORAGE_*"], STORAGE),
    nothing(&["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"], "keep it in the environment, where the credentials of the platform are looked for"),
    part(&["AWS_REGION", "S3_REGION"], "`s3.region` of the `[[origin]]`"),
    part(&["S3_ENDPOINT", "S3_LOADER_ENDPOINT"], "`s3.endpoint` of the `[[origin]]`"),
    nothing(&["S3_FORCE_PATH_STYLE", "S3_HTTP_MAX_IDLE_CONNS_PER_HOST"], "it is not needed"),
    part(&["S3_LOADER_BUCKET", "S3_LOADER_BASE_DIR", "S3_LOADER_PATH_PREFIX"], "`s3.bucket`, `s3.folder` and `prefix` of an `[[origin]]`, with the credentials of the platform"),
    nothing(&["S3_LOADER_BUCKET_ROUTER_CONFIG"], "each bucket is an `[[origin]]` with a prefix"),
    nothing(&["AWS_LOADER_*"], "`s3.access_key_env`, `s3.secret_key_env` and `s3.session_token_env` of the `[[origin]]` name variables"),
    nothing(&["S3_STORAGE_*", "AWS_STORAGE_*", "S3_RESULT_STORAGE_*", "AWS_RESULT_STORAGE_*"], STORAGE),
    part(&["GCLOUD_LOADER_BUCKET", "GCLOUD_LOADER_BASE_DIR", "GCLOUD_LOADER_PATH_PREFIX"], "`gcs.bucket`, `gcs.folder` and `prefix` of an `[[origin]]`, with the credentials of the platform"),
    nothing(&["GCLOUD_STORAGE_*", "GCLOUD_RESULT_STORAGE_*"], STORAGE),
    nothing(&["UPLOAD_LOADER_*"], "`upload.allow` opens POST /_andon/render"),
    nothing(&["VIPS_CONCURRENCY"], "`workers` is one thread per core by default, which is best"),
    nothing(&["VIPS_MAX_WIDTH", "VIPS_MAX_HEIGHT"], "`limits.side` is the longest side of a source"),
    key(&["VIPS_MAX_RESOLUTION"], "limits.pixels", limit),
    nothing(&["VIPS_UNLIMITED"], "`[limits]` may be raised"),
    nothing(&["VIPS_MAX_ANIMATION_FRAMES"], "`limits.frames` refuses longer animations"),
    part(&["VIPS_MAX_FILTER_OPS"], "`imagor.max_filters`"),
    nothing(&["VIPS_DISABLE_BLUR", "VIPS_DISABLE_FILTERS"], "`limits.cpu` refuses what takes too long"),
    nothing(&["VIPS_MOZJPEG", "VIPS_AVIF_SPEED"], "encoders run at the effort that Andon has measured to be best"),
    nothing(&["VIPS_STRIP_COLOR_PROFILE", "VIPS_STRIP_METADATA"], "the filters `strip_icc()` and `strip_exif()` do it, which a `[[rewrite]]` may add"),
    nothing(&["VIPS_CACHE_*"], "`cache.frames` keeps decoded frames for further sizes"),
    nothing(&["VIPS_*"], VIPS),
    key(&["PROMETHEUS_BIND"], "metrics.listen", address),
    nothing(&["PROMETHEUS_PATH", "PROMETHEUS_NAMESPACE"], "metrics are at /metrics and begin with `andon_`"),
    nothing(&["SENTRY_DSN"], "errors are in the log, and counted in /metrics"),
    nothing(&["LOG_ECS"], "`log.format` may be \"json\""),
];

fn variables_of(text: &str) -> Environment {
    own_variables(environment(text))
}

fn own_variables(mut all: Environment) -> Environment {
    let is_known = |name: &str| TABLE.iter().any(|row| row.is(name));
    all.retain(|name| name.starts_with("IMAGOR_") || is_known(name));
    all
}

fn text_of(input: &Input<'_>) -> anyhow::Result<String> {
    let mut out = Document::new(input);
    out.set("imagor.prefix", "/");
    let mut variables = environment(input.text);
    variables.read_files(input.path);
    let parts = translate(&own_variables(variables), TABLE, "imagor", &mut out);
    listen(&parts, &mut out);
    signing(&parts, &mut out)?;
    let on = |(format, name)| parts.is_on(name).then_some(format);
    let formats = [("avif", "IMAGOR_AUTO_AVIF"), ("webp", "IMAGOR_AUTO_WEBP")];
    let formats: Vec<&str> = formats.into_iter().filter_map(on).collect();
    if !formats.is_empty() {
        out.set("negotiation.default", "auto");
        out.set("negotiation.formats", formats);
    }
    if parts.is_on("SERVER_CORS") {
        out.set("cors.origins", vec!["*"]);
    }
    let filters = match parts.text("VIPS_MAX_FILTER_OPS") {
        Some("-1") => Some(Value::Integer(0)),
        _ => parts.put("VIPS_MAX_FILTER_OPS", number, &mut out),
    };
    out.set_if("imagor.max_filters", filters);
    origins(&parts, &mut out);
    out.text()
}

fn listen(parts: &Parts, out: &mut Document) {
    let bind = parts.put("BIND", values::addresses, out);
    let host = parts.text("SERVER_ADDRESS").unwrap_or("0.0.0.0");
    let port = parts.text("PORT").unwrap_or("8000");
    out.set(
        "listen",
        bind.unwrap_or_else(|| vec![format!("{host}:{port}")].into()),
    );
}

fn signing(parts: &Parts, out: &mut Document) -> anyhow::Result<()> {
    match parts.text("IMAGOR_SECRET") {
        Some(secret) => {
            out.set("imagor.keys", vec![secret]);
            if values::is_weak(secret.as_bytes()) {
                out.set("imagor.weak_keys", true);
                let what = "it can be guessed, which `weak_keys` allows; `openssl rand -hex 32` makes a good one";
                parts.note("IMAGOR_SECRET", what, out);
            }
        }
        None if out.is_true("imagor.allow_unsafe") && !parts.is_unread("IMAGOR_SECRET") => {}
        None => {
            out.set_all_unknown("imagor.keys", 1, "IMAGOR_SECRET")?;
            let what = "it was not read here, so a random key is in `keys`: put the secret there, or set `allow_unsafe` to answer unsigned URLs";
            parts.note("IMAGOR_SECRET", what, out);
        }
    }
    match parts
        .put("IMAGOR_SIGNER_TRUNCATE", number, out)
        .and_then(|it| it.as_integer())
    {
        Some(length @ 16..) => out.set("imagor.truncate", length),
        Some(1..) => parts.note(
            "IMAGOR_SIGNER_TRUNCATE",
            "signatures of fewer than 16 characters can be guessed, and are not read",
            out,
        ),
        _ => {}
    }
    Ok(())
}

/// Adds an origin for each loader of imagor. Paths are read from the folder or bucket if there is one, or else from web
/// servers.
fn origins(parts: &Parts, out: &mut Document) {
    let mut common = Common::new();
    let total = parts.put("IMAGOR_LOAD_TIMEOUT", span, out);
    common.extend(total.map(|total| ("timeouts.total".to_owned(), total)));
    let mut of_hosts = common.clone();
    let size = parts.put("HTTP_LOADER_MAX_ALLOWED_SIZE", limit, out);
    of_hosts.extend(size.map(|size| ("max_bytes".to_owned(), size)));
    let mut prefixes: Vec<String> = Vec::new();
    if let Some(root) = parts.text("FILE_LOADER_BASE_DIR") {
        let place = place(parts, "FILE_LOADER_PATH_PREFIX");
        prefixes.push(place.clone());
        out.add_origin([
            ("prefix".to_owned(), place.into()),
            ("fs.root".to_owned(), root.into()),
        ]);
    }
    for (name, key) in [("S3_LOADER", "s3"), ("GCLOUD_LOADER", "gcs")] {
        let Some(bucket) = parts.text(&format!("{name}_BUCKET")) else {
            continue;
        };
        let place = place(parts, &format!("{name}_PATH_PREFIX"));
        let mut keys = common.clone();
        keys.push(("prefix".to_owned(), place.clone().into()));
        keys.push((format!("{key}.bucket"), bucket.into()));
        keys.extend(of_bucket(parts, name, key));
        add_below(
            place,
            keys,
            &mut prefixes,
            &format!("{name}_BUCKET"),
            parts,
            out,
        );
    }
    if let Some(base) = parts.text("HTTP_LOADER_BASE_URL") {
        let mut keys = of_hosts.clone();
        keys.push(("prefix".to_owned(), "/".into()));
        keys.push(("http.base".to_owned(), base.into()));
        add_below(
            "/".to_owned(),
            keys,
            &mut prefixes,
            "HTTP_LOADER_BASE_URL",
            parts,
            out,
        );
    }
    if !parts.is_on("HTTP_LOADER_DISABLE") {
        hosts(parts, &of_hosts, prefixes.is_empty(), out);
    }
}

/// Returns the keys of a bucket's origin other than the bucket's name. `name` is the prefix of the loader's variables,
/// and `key` the prefix of the origin's keys.
fn of_bucket(parts: &Parts, name: &str, key: &str) -> Common {
    let mut keys = vec![(format!("{key}.credentials"), "platform".into())];
    let folder = parts
        .text(&format!("{name}_BASE_DIR"))
        .map(|it| it.trim_matches('/'));
    keys.extend(folder.map(|folder| (format!("{key}.folder"), folder.into())));
    if key == "s3" {
        let of = |names: [&str; 2]| names.into_iter().find_map(|name| parts.text(name));
        let region = of(["AWS_REGION", "S3_REGION"]);
        keys.extend(region.map(|region| ("s3.region".to_owned(), region.into())));
        let endpoint = of(["S3_LOADER_ENDPOINT", "S3_ENDPOINT"]);
        keys.extend(endpoint.map(|it| ("s3.endpoint".to_owned(), it.into())));
    }
    keys
}

/// Adds the origin for absolute URLs. `is_alone` says that there is no other origin; then URLs without a scheme are
/// read with imagor's default scheme.
fn hosts(parts: &Parts, common: &Common, is_alone: bool, out: &mut Document) {
    let scheme = parts.text("HTTP_LOADER_DEFAULT_SCHEME").unwrap_or("https");
    if is_alone && ["http", "https"].contains(&scheme) {
        out.set("imagor.loader", scheme);
    }
    let hosts = parts.list("HTTP_LOADER_ALLOWED_SOURCES");
    let urls: Vec<String> = hosts
        .iter()
        .flat_map(|host| [format!("https://{host}/"), format!("http://{host}/")])
        .collect();
    add_urls(&urls, "HTTP_LOADER_ALLOWED_SOURCES", common, out);
    if is_alone {
        add_unnamed("HTTP_LOADER_ALLOWED_SOURCES", common, out);
    }
}

/// Returns the path prefix below which a loader of imagor finds images, from the variable `name`.
fn place(parts: &Parts, name: &str) -> String {
    let prefix = parts.text(name).unwrap_or_default().trim_matches('/');
    format!("/{prefix}")
}

/// Adds an origin for the images below the path prefix `place`. If another origin has this prefix, adds a note instead:
/// imagor tries one loader after another, but in Andon only one origin can serve a prefix.
fn add_below(
    place: String,
    keys: Vec<(String, Value)>,
    prefixes: &mut Vec<String>,
    name: &str,
    parts: &Parts,
    out: &mut Document,
) {
    if prefixes.contains(&place) {
        let what =
            format!("another loader has the prefix {place}, and only one origin can have it");
        parts.note(name, &what, out);
    } else {
        prefixes.push(place);
        out.add_origin(keys);
    }
}
