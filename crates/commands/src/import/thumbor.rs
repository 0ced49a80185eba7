//! Imports a `thumbor.conf`, a Python file, of which only literals are read. Alternatively imports the environment of a
//! container whose variables have the same names.

mod table;

use toml::{Table, Value};

use super::assignments::{At, Environment, environment};
use super::document::Document;
use super::python::{self, Python};
use super::sources::{Common, add_unnamed, add_urls};
use super::variables::{Parts, translate};
use super::{Format, Input, values};

pub(super) use table::ALL as TABLE;

pub(super) const FORMAT: Format = Format {
    name: "a thumbor.conf (SECURITY_KEY = '…'), or the environment of a container with its names",
    is: |text| {
        let Python {
            assignments,
            expressions,
            ..
        } = python::read(text);
        let mut names =
            (assignments.iter().map(|it| &it.name)).chain(expressions.iter().map(|(name, _)| name));
        names.any(|name| is_known(name)) || is_of_container(&environment(text), text)
    },
    read: text,
};

fn is_known(name: &str) -> bool {
    TABLE.iter().any(|row| row.is(name))
}

/// Whether the file `text` configures a thumbor container by its environment, `all`: one of the variables is known to
/// be thumbor's, or the file starts thumbor and refers to variables that are stored elsewhere, such as in another file.
fn is_of_container(all: &Environment, text: &str) -> bool {
    let is_alone = |name: &String| ["SECURITY_KEY", "ALLOW_UNSAFE_URL"].contains(&&**name);
    all.starts("thumbor", text)
        || all.absent.iter().any(|it| is_alone(&it.name))
        || all.set.iter().any(|it| {
            let value = it.value.as_str().unwrap_or_default();
            is_alone(&it.name) || (value.starts_with("thumbor.") && is_known(&it.name))
        })
}

/// Keeps the variables that have names of `thumbor.conf`, which container images read from the environment, and parses
/// their values.
fn own_variables(mut all: Environment) -> Environment {
    all.retain(is_known);
    for it in &mut all.set {
        // A list is written as in Python, but a string without quotes.
        let text = it.value.as_str().unwrap_or_default();
        let literal = python::read(&format!("VALUE = {text}")).assignments.pop();
        it.value = literal.map_or_else(|| it.value.clone(), |literal| literal.value);
    }
    all
}

/// Whether a file is a `thumbor.conf`: it sets a known name to a literal, or to another expression with spaces around
/// the `=`.
fn is_conf(conf: &Python, text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let is_spaced = |(name, line): &(String, usize)| {
        let line = lines.get(line.saturating_sub(1)).copied();
        is_known(name) && line.is_some_and(|line| line.starts_with(&format!("{name} = ")))
    };
    conf.assignments.iter().any(|it| is_known(&it.name)) || conf.expressions.iter().any(is_spaced)
}

fn text(input: &Input<'_>) -> anyhow::Result<String> {
    let mut out = Document::new(input);
    out.set("thumbor.prefix", "/");
    let conf = python::read(input.text);
    let mut variables = environment(input.text);
    let parts = if !is_conf(&conf, input.text) && is_of_container(&variables, input.text) {
        variables.read_files(input.path);
        translate(&own_variables(variables), TABLE, "thumbor", &mut out)
    } else {
        of_python(conf, input.text, &mut out)
    };
    out.set("listen", vec!["0.0.0.0:8888"]);
    differing_defaults(&parts, &mut out);
    signing(&parts, &mut out)?;
    formats(&parts, &mut out);
    origins(&parts, &mut out);
    out.text()
}

/// Imports a `thumbor.conf`.
fn of_python(conf: Python, text: &str, out: &mut Document) -> Parts {
    let variables = Environment {
        set: conf.assignments,
        ..Environment::default()
    };
    let mut parts = translate(&variables, TABLE, "thumbor", out);
    for (name, line) in conf.expressions {
        out.note(
            At::line(line),
            &name,
            "it is an expression, which is not evaluated",
        );
        parts.miss(&name);
    }
    let lines: Vec<&str> = text.lines().collect();
    for line in conf.others {
        let what = "it is no assignment, and not read";
        out.note(At::line(line), "this line", what);
        // An assignment inside a block, such as an `if`.
        let code = lines
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or_default();
        for name in ["SECURITY_KEY", "ALLOW_UNSAFE_URL"] {
            if code.contains(name) {
                parts.miss(name);
            }
        }
    }
    parts
}

/// Sets the keys for which thumbor's default differs from Andon's.
fn differing_defaults(parts: &Parts, out: &mut Document) {
    out.set("thumbor.progressive", !parts.is_off("PROGRESSIVE_JPEG"));
    out.set(
        "thumbor.respect_orientation",
        parts.is_on("RESPECT_ORIENTATION"),
    );
}

/// Imports thumbor's signing key, and whether unsigned URLs are answered. A key that could not be read becomes a random
/// one. If the setting for unsigned URLs was not read, and it or the key may be set elsewhere, unsigned URLs are
/// refused.
fn signing(parts: &Parts, out: &mut Document) -> anyhow::Result<()> {
    // thumbor's default key, which is public knowledge.
    const KNOWN: &str = "MY_SECURE_KEY";
    let is_key_unread = parts.is_unread("SECURITY_KEY");
    let is_unread = is_key_unread || parts.is_unread("ALLOW_UNSAFE_URL");
    let is_open = match parts.has("ALLOW_UNSAFE_URL") {
        true => !parts.is_off("ALLOW_UNSAFE_URL"),
        false => !is_unread,
    };
    out.set("thumbor.allow_unsafe", is_open);
    if is_unread && !parts.has("ALLOW_UNSAFE_URL") {
        let what = "thumbor's default is true; here it is false, because not all settings were read: `allow_unsafe` in [thumbor]";
        parts.note("ALLOW_UNSAFE_URL", what, out);
    }
    if is_key_unread {
        return out.set_all_unknown("thumbor.keys", 1, "SECURITY_KEY");
    }
    let key = parts.text("SECURITY_KEY").unwrap_or(KNOWN);
    out.set("thumbor.keys", vec![key]);
    if values::is_weak(key.as_bytes()) {
        out.set("thumbor.weak_keys", true);
        let what =
            "it can be guessed, which `weak_keys` allows; `openssl rand -hex 32` makes a good one";
        parts.note("SECURITY_KEY", what, out);
    }
    Ok(())
}

/// Imports the formats that are negotiated by `Accept`.
fn formats(parts: &Parts, out: &mut Document) {
    let on = |(format, name)| parts.is_on(name).then_some(format);
    let formats = [("avif", "AUTO_AVIF"), ("webp", "AUTO_WEBP")];
    let mut formats: Vec<&str> = formats.into_iter().filter_map(on).collect();
    let preferred = parts.list("AUTO_IMAGE_FORMAT_PREFERENCE");
    for format in preferred
        .iter()
        .filter_map(|it| ["avif", "webp"].into_iter().find(|known| known == it))
    {
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    if !formats.is_empty() {
        out.set("negotiation.default", "auto");
        out.set("negotiation.formats", formats);
    }
}

fn origins(parts: &Parts, out: &mut Document) {
    let loader = parts
        .text("LOADER")
        .unwrap_or("thumbor.loaders.http_loader");
    let loader = loader.rsplit('.').next().unwrap_or_default();
    let (scheme, is_file) = match loader {
        "file_loader" | "file_loader_http_fallback" => ("path", true),
        "https_loader" | "strict_https_loader" => ("https", false),
        "http_loader" => ("http", false),
        other => {
            let what = format!(
                "`{other}` has no equivalent: add an [[origin]]; docs/buckets.md has those of buckets"
            );
            parts.note("LOADER", &what, out);
            ("path", false)
        }
    };
    out.set("thumbor.loader", scheme);
    if is_file {
        let root = parts.text("FILE_LOADER_ROOT_PATH").unwrap_or("/");
        out.add_origin([("fs.root".to_owned(), Value::from(root))]);
    }
    if loader == "file_loader_http_fallback" {
        parts.note(
            "LOADER",
            "a file that is missing is a 404: an [[origin]] has no fallback",
            out,
        );
    }
    if loader != "file_loader" {
        let common = common(parts, out);
        let schemes: &[&str] = match loader {
            "strict_https_loader" => &["https"],
            _ => &["https", "http"],
        };
        let mut urls = Vec::new();
        for source in parts.list("ALLOWED_SOURCES") {
            match host(&source) {
                Some(host) => {
                    urls.extend(schemes.iter().map(|scheme| format!("{scheme}://{host}/")))
                }
                None => parts.note(
                    "ALLOWED_SOURCES",
                    &format!("`{source}` is no host: list those it stands for in http.urls"),
                    out,
                ),
            }
        }
        add_urls(&urls, "ALLOWED_SOURCES", &common, out);
        add_unnamed("ALLOWED_SOURCES", &common, out);
    }
}

/// Returns the keys of `[[origin]]` that every origin on a web server gets, with the values of thumbor's variables.
fn common(parts: &Parts, out: &mut Document) -> Common {
    let redirects = match parts.is_off("HTTP_LOADER_FOLLOW_REDIRECTS") {
        true => Some(Value::Integer(0)),
        false => parts.put("HTTP_LOADER_MAX_REDIRECTS", values::number, out),
    };
    let agent = parts.text("HTTP_LOADER_DEFAULT_USER_AGENT");
    let headers =
        |agent: &str| Value::Table(Table::from_iter([("User-Agent".to_owned(), agent.into())]));
    let keys = [
        (
            "timeouts.connect",
            parts.put("HTTP_LOADER_CONNECT_TIMEOUT", values::span, out),
        ),
        (
            "timeouts.total",
            parts.put("HTTP_LOADER_REQUEST_TIMEOUT", values::span, out),
        ),
        (
            "fetches",
            parts.put("HTTP_LOADER_MAX_CLIENTS", values::limit, out),
        ),
        ("http.redirects", redirects),
        (
            "http.ca",
            parts.put("HTTP_LOADER_CA_CERTS", values::text, out),
        ),
        ("http.headers", agent.map(headers)),
    ];
    keys.into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect()
}

/// Returns the host for an allowed source, which is a host name, or a regular expression for all hosts below a domain.
fn host(source: &str) -> Option<String> {
    let source = source.trim_start_matches('^').trim_end_matches('$');
    let below = [r".+\.", r".*\.", r".+?\.", r".*?\.", r"[^.]+\.", r"\w+\."];
    let below = below.iter().find_map(|start| source.strip_prefix(start));
    let host = below
        .unwrap_or(source)
        .replace(r"\.", ".")
        .replace(r"\-", "-");
    let is_plain = host
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || ".-:".contains(c))
        && !host.is_empty();
    is_plain.then(|| match below {
        Some(_) => format!("*.{host}"),
        None => host,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowed_sources_are_hosts_or_expressions_for_hosts() {
        for (source, is) in [
            ("s.example.com", Some("s.example.com")),
            (r"s\.example\.com", Some("s.example.com")),
            (r"^.+\.example\.com$", Some("*.example.com")),
            (r".*\.example.com", Some("*.example.com")),
            (r"(a|b)\.example\.com", None),
            (r".+", None),
            ("", None),
        ] {
            assert_eq!(host(source).as_deref(), is, "{source}");
        }
    }
}
