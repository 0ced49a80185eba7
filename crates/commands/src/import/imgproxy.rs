//! Imports the environment variables of an imgproxy.

mod chart;
mod images;
mod origins;
mod table;

use andon_dialects::signature::unhex;
use toml::{Table, Value};

use super::assignments::{Absent, At, Elsewhere, Environment, environment};
use super::document::Document;
use super::variables::{Parts, translate};
use super::{Format, Input, values};

pub(super) use table::ALL as TABLE;

pub(super) const FORMAT: Format = Format {
    name: "the environment of an imgproxy (IMGPROXY_KEY=…)",
    is: |text| {
        let variables = variables_of(text);
        !variables.is_empty() || variables.starts("imgproxy", text)
    },
    read: text,
};

const PREFIX: &str = "IMGPROXY_";

/// imgproxy's flags for key files, as variables, with the variables that contain the keys themselves.
const KEY_FILES: &[(&str, &str)] = &[("KEYPATH", "IMGPROXY_KEY"), ("SALTPATH", "IMGPROXY_SALT")];

const AMAZON_KEY: &str = "AWS_ACCESS_KEY_ID";

/// Returns the line that sets or names AWS's access key, a variable that imgproxy and AWS's own programs read. `None`
/// if there is none.
fn amazon_key(variables: &Environment) -> Option<At> {
    let set = variables.set.iter().map(|it| (&it.name, it.at));
    let mut all = set.chain(variables.absent.iter().map(|it| (&it.name, it.at)));
    all.find(|(name, _)| *name == AMAZON_KEY).map(|(_, at)| at)
}

fn variables_of(text: &str) -> Environment {
    own_variables(all(text))
}

/// Returns the variables of a text, including those that an old version of imgproxy's Helm chart generates if the text
/// contains the values for the chart.
fn all(text: &str) -> Environment {
    let mut all = environment(text);
    all.set.splice(0..0, chart::variables(text));
    all
}

/// Keeps the variables of imgproxy, and reports other places from which imgproxy reads values or further variables.
fn own_variables(mut all: Environment) -> Environment {
    for it in all.set.iter().filter(|it| !values::is_none(&it.value)) {
        let key = KEY_FILES.iter().find(|(flag, _)| *flag == it.name);
        all.absent.extend(key.map(|(_, name)| Absent {
            name: (*name).to_owned(),
            at: it.at,
            place: format!("in the file {}", it.value),
        }));
        // These variables name sources from which imgproxy loads further variables.
        if it.name.starts_with("IMGPROXY_ENV_") {
            all.elsewhere.push(Elsewhere {
                at: it.at,
                key: it.name.clone(),
                place: format!("{}", it.value),
                path: None,
            });
        }
    }
    all.retain(|name| name.starts_with(PREFIX));
    all
}

fn text(input: &Input<'_>) -> anyhow::Result<String> {
    let mut out = Document::new(input);
    out.set("imgproxy.prefix", "/");
    let mut variables = all(input.text);
    variables.read_files(input.path);
    let of_amazon = amazon_key(&variables);
    let parts = translate(&own_variables(variables), TABLE, "imgproxy", &mut out);
    if let Some(at) = of_amazon.filter(|_| parts.is_on("IMGPROXY_USE_S3")) {
        out.note(at, AMAZON_KEY, "give it and AWS_SECRET_ACCESS_KEY to this server, too, which reads them from its environment");
    }
    listen(&parts, &mut out);
    keys(&parts, &mut out)?;
    formats(&parts, &mut out);
    presets(&parts, &mut out);
    let size = source_size(&parts, &mut out);
    origins::add(&parts, size, &mut out);
    images::add(&parts, &mut out);
    chart::volume(input.text, &mut out);
    out.text()
}

fn listen(parts: &Parts, out: &mut Document) {
    let bind = match (parts.text("IMGPROXY_BIND"), parts.text("IMGPROXY_NETWORK")) {
        (Some(path), Some("unix")) => Some(Value::from(vec![format!("unix:{path}")])),
        _ => parts.put("IMGPROXY_BIND", values::addresses, out),
    };
    out.set(
        "listen",
        bind.unwrap_or_else(|| vec!["0.0.0.0:8080"].into()),
    );
}

/// Imports keys and salts, which imgproxy uses only in pairs. If their values are not in the imported files, random
/// ones take their place, so that the server refuses all URLs until the values are filled in.
fn keys(parts: &Parts, out: &mut Document) -> anyhow::Result<()> {
    source_key(parts, out)?;
    let (keys, salts) = (parts.list("IMGPROXY_KEY"), parts.list("IMGPROXY_SALT"));
    let is_unread = parts.is_unread("IMGPROXY_KEY") || parts.is_unread("IMGPROXY_SALT");
    match (keys.is_empty(), salts.is_empty()) {
        (true, true) if !is_unread => {
            parts.note(
                "IMGPROXY_KEY",
                "it is not set, so URLs need no signature, as with imgproxy",
                out,
            );
            return Ok(());
        }
        (no_keys, no_salts) if no_keys != no_salts && !is_unread => {
            let name = if no_keys {
                "IMGPROXY_SALT"
            } else {
                "IMGPROXY_KEY"
            };
            let why = "imgproxy checks signatures only with a key and a salt, and only one of them is set";
            parts.note(name, why, out);
            return Ok(());
        }
        _ => {}
    }
    let is_weak = |key: &String| unhex(key).is_some_and(|key| values::is_weak(&key));
    if keys.iter().any(is_weak) {
        out.set("imgproxy.weak_keys", true);
        parts.note(
            "IMGPROXY_KEY",
            "it can be guessed, which `weak_keys` allows; `openssl rand -hex 32` makes a good one",
            out,
        );
    }
    let count = keys.len().max(salts.len()).max(1);
    for (key, values, name) in [
        ("imgproxy.keys", keys, "IMGPROXY_KEY"),
        ("imgproxy.salts", salts, "IMGPROXY_SALT"),
    ] {
        match values.is_empty() {
            true => out.set_all_unknown(key, count, name)?,
            false => out.set(key, values),
        }
    }
    Ok(())
}

/// Imports the key that encrypts sources in URLs.
fn source_key(parts: &Parts, out: &mut Document) -> anyhow::Result<()> {
    const NAME: &str = "IMGPROXY_SOURCE_URL_ENCRYPTION_KEY";
    let (key, secrets) = ("imgproxy.source_key", parts.list(NAME));
    match secrets.first() {
        Some(secret) => out.set(key, secret.as_str()),
        None if parts.is_absent(NAME) => out.set_unknown(key, NAME)?,
        None => {}
    }
    Ok(())
}

/// Imports the formats that are negotiated by `Accept`.
fn formats(parts: &Parts, out: &mut Document) {
    let name = |start: &str, format: &str, end: &str| {
        format!("{PREFIX}{start}{}{end}", format.to_ascii_uppercase())
    };
    let is_enforced = |format: &&str| parts.is_on(&name("ENFORCE_", format, ""));
    let chosen_by = |format: &str| {
        let names = [
            name("AUTO_", format, ""),
            name("ENABLE_", format, "_DETECTION"),
        ];
        names.into_iter().find(|name| parts.is_on(name))
    };
    let all = ["jxl", "avif", "webp"].into_iter();
    let formats: Vec<&str> = all
        .filter(|format| is_enforced(format) || chosen_by(format).is_some())
        .collect();
    if formats.is_empty() {
        return;
    }
    out.set("imgproxy.negotiate", true);
    out.set("negotiation.formats", formats.clone());
    if formats.iter().any(is_enforced) {
        out.set("imgproxy.enforce", true);
        for format in formats.iter().filter(|format| !is_enforced(format)) {
            let why = "`imgproxy.enforce` is of all `negotiation.formats`, so that URLs that name a format get this one, too";
            parts.note(&chosen_by(format).unwrap_or_default(), why, out);
        }
    }
}

/// The name of the preset that applies to all URLs.
const DEFAULT: &str = "default";

/// imgproxy's variables that enable an option for all URLs, each with the option's name in URLs.
const SWITCHES: [(&str, &str); 2] = [
    ("IMGPROXY_JPEG_PROGRESSIVE", "jpgo"),
    ("IMGPROXY_PNG_INTERLACED", "pngo"),
];

fn presets(parts: &Parts, out: &mut Document) {
    let separator = parts.text("IMGPROXY_PRESETS_SEPARATOR").unwrap_or(",");
    let mut presets = Table::new();
    let all = parts.text("IMGPROXY_PRESETS").unwrap_or_default();
    for preset in all
        .split(separator)
        .map(str::trim)
        .filter(|it| !it.is_empty())
    {
        match preset.split_once('=') {
            Some((name, options)) => {
                presets.insert(name.trim().to_owned(), options.trim().into());
            }
            None => parts.note("IMGPROXY_PRESETS", &format!("`{preset}` has no `=`"), out),
        }
    }
    let between = parts.text("IMGPROXY_ARGUMENTS_SEPARATOR");
    if let Some(between) = between {
        out.set("imgproxy.separator", between);
    }
    let between = between.unwrap_or(":");
    let mut usual: Vec<String> = Vec::new();
    for (name, option) in SWITCHES {
        if parts.put(name, values::flag, out) == Some(Value::Boolean(true)) {
            usual.push(format!("{option}{between}1"));
        }
    }
    if !usual.is_empty() {
        // Options in the default preset override those of the variables, so they come last.
        let default_options = presets.get(DEFAULT).and_then(Value::as_str);
        usual.extend(default_options.map(str::to_owned));
        presets.insert(DEFAULT.to_owned(), usual.join("/").into());
    }
    if !presets.is_empty() {
        out.set("imgproxy.presets", Value::Table(presets));
    }
}

/// Imports the maximum size of a source, and returns it in bytes, or `None` if it is not set. Raises
/// `limits.held_bytes`, the memory for all sources, if it would not fit a single source of that size.
fn source_size(parts: &Parts, out: &mut Document) -> Option<i64> {
    let size = parts
        .put("IMGPROXY_MAX_SRC_FILE_SIZE", values::limit, out)?
        .as_integer()?;
    out.set("limits.source_bytes", size);
    if size > 256 << 20 {
        out.set("limits.held_bytes", size);
    }
    Some(size)
}
