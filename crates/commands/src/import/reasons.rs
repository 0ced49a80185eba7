//! Reasons why nginx directives have no equivalent key in Andon's configuration.

const TLS: &str = "is not needed: TLS 1.2 and 1.3 with the ciphers of today";
pub(super) const QUIC: &str = "Andon speaks no HTTP/3: put a proxy in front of it";

const ACCESS: &str = "has no equivalent: keep a proxy in front of Andon that does it";
pub(super) const SCRIPT: &str = "has no equivalent: Andon runs no programs; docs/behind-nginx.md has rules for a script that resizes (\"In place of a script that resizes\")";
const SENDING: &str = "is not needed: Andon decides by itself how it reads and sends files";
const CACHE: &str = "is not needed: equal requests share one transform and one entry of the cache";

/// Prefixes of the names of nginx directives that are not imported, each with the reason. The first prefix that matches
/// a name applies.
const REASONS: &[(&str, &str)] = &[
    ("ssl", TLS),
    ("http3", QUIC),
    ("gzip", "has no equivalent: images are compressed already"),
    ("brotli", "has no equivalent: images are compressed already"),
    ("fastcgi_pass", SCRIPT),
    ("fastcgi_param", SCRIPT),
    ("uwsgi_pass", SCRIPT),
    ("scgi_pass", SCRIPT),
    ("types", "is not needed: the content tells the media type"),
    (
        "default_type",
        "is not needed: the content tells the media type",
    ),
    ("charset", "is not needed: images have none"),
    (
        "user",
        "belongs into the unit of systemd: contrib/systemd/andon.service",
    ),
    (
        "pid",
        "belongs into the unit of systemd: contrib/systemd/andon.service",
    ),
    (
        "daemon",
        "belongs into the unit of systemd: contrib/systemd/andon.service",
    ),
    ("worker_", "is not needed: Andon has one thread per core"),
    ("load_module", "is not needed: everything is in one binary"),
    ("multi_accept", SENDING),
    ("use", SENDING),
    ("sendfile", SENDING),
    ("tcp_no", SENDING),
    ("aio", SENDING),
    ("directio", SENDING),
    ("output_buffers", SENDING),
    ("open_file_cache", SENDING),
    ("proxy_buffer", SENDING),
    ("proxy_cache", CACHE),
    ("proxy_store", "is not needed: [cache] keeps results"),
    ("proxy_temp", "is not needed: nothing is buffered on disk"),
    (
        "proxy_http_version",
        "is not needed: origins are asked by HTTP/1.1",
    ),
    (
        "proxy_set_header",
        "may be a line of http.headers of the [[origin]]",
    ),
    ("proxy_connect_timeout", "is connect in [origin.timeouts]"),
    (
        "proxy_read_timeout",
        "is idle and total in [origin.timeouts]",
    ),
    ("proxy_ssl", "is http.ca of the [[origin]]"),
    ("resolver", "is not needed: the system's resolver is asked"),
    ("client_header_timeout", "is header in [timeouts]"),
    ("client_body_timeout", "is body in [timeouts]"),
    (
        "client_max_body_size",
        "is source_bytes in [limits], for uploads",
    ),
    ("send_timeout", "is write in [timeouts]"),
    ("access_log", "is [log]: lines go to standard error"),
    ("error_log", "is [log]: lines go to standard error"),
    ("log_format", "is format in [log]"),
    (
        "error_page",
        "has no equivalent: `[[fallback]]` has images for those that are missing, and other faults a line of text",
    ),
    ("return", "has no equivalent: Andon redirects nobody"),
    (
        "server_tokens",
        "is not needed: replies do not name the server",
    ),
    ("etag", "is not needed: results have strong tags"),
    (
        "if_modified_since",
        "is not needed: conditions are answered",
    ),
    (
        "small_light_imlib2_temp_dir",
        "is not needed: nothing is written to files",
    ),
    (
        "image_filter_transparency",
        "has no equivalent: transparency is always kept",
    ),
    ("try_files", "has no equivalent: a missing file is 404"),
    (
        "secure_link_secret",
        "is the key of that name in [[secure_link]]; add a [[rewrite]] that takes PREFIX and MD5 off",
    ),
    ("limit_except", ACCESS),
    ("limit_", ACCESS),
    ("allow", ACCESS),
    ("deny", ACCESS),
    ("auth_", ACCESS),
    ("satisfy", ACCESS),
    ("valid_referers", ACCESS),
    ("if", "has no equivalent: what is in it was not looked at"),
    ("map", "has no equivalent: what is in it was not looked at"),
];

pub(super) fn why(name: &str) -> &'static str {
    let entry = REASONS.iter().find(|(start, _)| name.starts_with(start));
    entry.map_or("has no equivalent", |(_, why)| why)
}

/// Whether a directive passes requests to a program, as `fastcgi_pass` does.
pub(super) fn is_program(name: &str) -> bool {
    name.ends_with("_pass") || name.contains("_by_lua") || ["perl", "js_content"].contains(&name)
}
