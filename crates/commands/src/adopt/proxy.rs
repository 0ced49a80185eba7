//! The lines of nginx that let a new server answer what was recognised.

use std::collections::BTreeSet;
use std::fmt::Write;

use andon_dialects::forms::Room;

use super::recognise::Found;

/// Where the new server will listen, as the lines name it.
pub(super) const ADDRESS: &str = "http://127.0.0.1:8080";

/// Returns that address as `listen` has it.
pub(super) fn listen() -> &'static str {
    ADDRESS.trim_start_matches("http://")
}

/// Returns the locations for the recognised URLs. What else the old server sends stays with it.
pub(super) fn nginx(found: &[Found]) -> String {
    let mut text = String::from(
        "# In the server block that answers these URLs today, above its other locations:\n",
    );
    let mut by_query = false;
    let mut written = BTreeSet::new();
    for Found { kind, prefix, .. } in found {
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
        if written.insert(location.clone()) {
            let _ = write!(text, "# {kind}\n{location}");
        }
    }
    if by_query {
        text += &pass("@andon");
    }
    text
}

fn pass(location: &str) -> String {
    format!(
        "location {location} {{\n    proxy_pass {ADDRESS};\n    proxy_http_version 1.1;\n    proxy_set_header Host $http_host;\n}}\n"
    )
}

/// Returns a location that passes on requests with certain arguments, and leaves the others as they are.
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
        let text = nginx(&[
            of("Next.js", "/_next/image"),
            of("thumbor", ""),
            of("imgproxy", "/img"),
            of("imgix", ""),
        ]);
        for line in [
            "location = /_next/image {",
            "location ~ \"^(?:/(?:unsafe|",
            "location ^~ /img/ {",
            "if ($args ~ ",
            "location @andon {",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }
}
