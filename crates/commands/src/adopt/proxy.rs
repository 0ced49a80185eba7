//! Writes the nginx configuration that passes the recognised URLs to the new server.

use std::collections::BTreeSet;
use std::fmt::Write;

use andon_dialects::Rewrite;
use andon_dialects::forms::Room;

use super::recognise::Found;

/// The address that a new server listens on unless its configuration has another one.
pub(super) const LISTEN: &str = "127.0.0.1:8080";

/// Returns nginx locations that pass the recognised URLs, and those that rewrite rules match, to the server at
/// `address`. The old server keeps all other URLs.
pub(super) fn nginx(entries: &[Found], rules: &[Rewrite], address: &str) -> String {
    let pass = |location: &str| pass(location, address);
    let mut text = String::from(
        "# In the server block that answers these URLs today, above its other locations, and in place of those for the same URLs:\n",
    );
    let mut by_query = false;
    let mut locations = BTreeSet::new();
    for Found { kind, prefix, .. } in entries {
        let location = match kind.room {
            Room::OnePath => pass(&format!("= {prefix}")),
            Room::OneArgument(name) => {
                by_query = true;
                let place = if prefix.is_empty() { "/" } else { prefix };
                query(&format!("= {place}"), &format!("(?:^|&){name}="))
            }
            Room::Files(names) => {
                by_query = true;
                query(
                    "~* \"\\.(?:jpe?g|png|gif|webp|avif|svg|tiff?|heic|bmp)$\"",
                    &format!("(?:^|&)(?:{names})="),
                )
            }
            _ if prefix.is_empty() => pass(&format!("~ \"^(?:{})$\"", kind.pattern)),
            Room::Everything | Room::OwnForm => pass(&format!("^~ {prefix}/")),
        };
        if locations.insert(location.clone()) {
            let _ = write!(text, "# {kind}\n{location}");
        }
    }
    for (from, arguments) in by_path(rules) {
        text += &match arguments {
            None => pass(&by_rule(from)),
            Some(arguments) => {
                by_query = true;
                query(&by_rule(from), &quoted(&arguments))
            }
        };
    }
    if by_query {
        text += &pass("@andon");
    }
    text
}

/// Returns each distinct path expression of the rules, with a regular expression for the queries to which at least one
/// rule with this path applies. `None` in its place means that such a rule applies whatever the query is.
fn by_path(rules: &[Rewrite]) -> Vec<(&str, Option<String>)> {
    let mut paths: Vec<(&str, Option<String>)> = Vec::new();
    for rule in rules {
        let all = rule.query.iter().map(|it| format!("(?=.*(?:{it}))"));
        let condition = (!rule.query.is_empty()).then(|| format!("^{}", all.collect::<String>()));
        match paths.iter_mut().find(|(from, _)| *from == rule.from) {
            None => paths.push((&rule.from, condition)),
            Some((_, conditions)) => {
                *conditions = conditions
                    .take()
                    .zip(condition)
                    .map(|(a, b)| format!("{a}|{b}"))
            }
        }
    }
    paths
}

/// Escapes an expression for quotes in nginx's configuration, where a backslash is literal unless it precedes a quote,
/// another backslash or the letter of a control character.
fn quoted(expression: &str) -> String {
    let mut out = String::new();
    let mut chars = expression.chars().peekable();
    while let Some(char) = chars.next() {
        match (char, chars.peek()) {
            ('\\', Some('\\')) => {
                chars.next();
                out += r"\\\\";
            }
            ('\\', Some('"' | '\'' | 't' | 'r' | 'n')) => out += r"\\",
            ('"', _) => out += "\\\"",
            (char, _) => out.push(char),
        }
    }
    out
}

/// Returns the text after `location` in nginx's configuration for the path expression `from` of a rule: `= PATH` if the
/// expression matches only one path, otherwise `~ "EXPRESSION"`.
fn by_rule(from: &str) -> String {
    let path = from.strip_prefix('^').and_then(|it| it.strip_suffix('$'));
    let path = path.map(|path| path.replace("\\.", "."));
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "/_-.~".contains(char);
    match path {
        Some(path) if path.chars().all(is_plain) && !from.replace("\\.", "").contains('.') => {
            format!("= {path}")
        }
        _ => format!("~ \"{}\"", quoted(from)),
    }
}

fn pass(location: &str, address: &str) -> String {
    format!(
        "location {location} {{\n    proxy_pass {address};\n    proxy_http_version 1.1;\n    proxy_set_header Connection \"\";\n    proxy_set_header Host $http_host;\n    proxy_set_header X-Forwarded-For $remote_addr;\n    proxy_read_timeout 35s;\n}}\n"
    )
}

/// Returns an nginx location that passes requests whose query matches the regular expression `arguments` to the new
/// server. The old server keeps all others.
fn query(location: &str, arguments: &str) -> String {
    format!(
        "location {location} {{\n    error_page 418 = @andon;\n    if ($args ~ \"{arguments}\") {{ return 418; }}\n    # … what answers the others today\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_location() {
        let of = |name: &str, prefix: &str| Found {
            kind: andon_dialects::forms()
                .find(|form| form.name == name)
                .expect(name),
            prefix: prefix.to_owned(),
            readings: Vec::new(),
        };
        let found = [
            of("Next.js", "/_next/image"),
            of("thumbor", ""),
            of("imgproxy", "/img"),
            of("imgix", ""),
        ];
        let rule = |(from, query): (&str, &[&str])| Rewrite {
            from: from.to_owned(),
            query: query.iter().map(|it| (*it).to_owned()).collect(),
            to: String::new(),
            opens: false,
        };
        let rules: [(&str, &[&str]); 7] = [
            (r"^/resize\.php$", &["zc=1"]),
            (r"^/resize\.php$", &[]),
            (r"^/thumb/([0-9]{2,4})/(.+)$", &[]),
            ("^/a.jpg$", &[]),
            (r"^/index\.php$", &["(^|&)img=", "(^|&)w="]),
            (r"^/index\.php$", &["(^|&)thumb="]),
            (r#"^/\\"\d$"#, &[]),
        ];
        let text = nginx(&found, &rules.map(rule), "http://127.0.0.1:8090");
        for line in [
            "location = /_next/image {",
            "location ~ \"^(?:/(?:unsafe|",
            "location ^~ /img/ {",
            "if ($args ~ ",
            "location @andon {",
            "location = /resize.php {",
            r#"location ~ "^/thumb/([0-9]{2,4})/(.+)$" {"#,
            r#"location ~ "^/a.jpg$" {"#,
            "proxy_pass http://127.0.0.1:8090;",
            // Other pages of the same script stay on the old server.
            "location = /index.php {\n    error_page 418 = @andon;\n    if ($args ~ \"^(?=.*(?:(^|&)img=))(?=.*(?:(^|&)w=))|^(?=.*(?:(^|&)thumb=))\") { return 418; }",
            r#"location ~ "^/\\\\\"\d$" {"#,
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }
}
