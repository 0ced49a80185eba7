//! Dialects that a target looks like although they do not read it, because they are off or mounted elsewhere.

use crate::config::{BELOW, Row};
use crate::dialect::Target;
use crate::{Dialects, ROWS};

impl Dialects {
    /// Returns a sentence about dialects that the target looks like and that are not asked for it: how they are switched
    /// on, or where they are mounted. `None` if there are none, or if one of them has read the target.
    #[must_use]
    pub fn hint(&self, raw_target: &str) -> Option<String> {
        let target = Target::new(raw_target);
        let mut off = Vec::new();
        let mut elsewhere = Vec::new();
        for row in ROWS.iter().filter(|row| (row.resembles)(&target)) {
            let usual = (row.usual_places)();
            let found = self.places.iter().find(|(name, _)| *name == row.name);
            match found {
                None => off.push(row),
                Some((_, places)) if usual.iter().any(|place| places.contains(place)) => {
                    return None;
                }
                Some((_, places)) => elsewhere.push((row, usual, places)),
            }
        }
        if elsewhere.is_empty() {
            return sentence_of_off(&off);
        }
        let (names, urls): (Vec<_>, Vec<_>) = elsewhere
            .iter()
            .map(|(row, usual, places)| (row.name, moved(raw_target, usual, places)))
            .unzip();
        let urls: Vec<String> = urls.into_iter().flatten().collect();
        Some(format!(
            "this looks like a URL of {}: here it is {}",
            names.join(" or "),
            urls.join(" or ")
        ))
    }
}

/// Says how dialects are switched on that are off.
fn sentence_of_off(off: &[&Row]) -> Option<String> {
    let first = off.first()?;
    let names: Vec<&str> = off.iter().map(|row| row.name).collect();
    let (names, are) = match names.len() {
        1 => (names.concat(), "is"),
        _ => (names.join(" or "), "are"),
    };
    let name = first.name;
    let usual = (first.usual_places)();
    let key = match usual.first().map(|place| place.trim_end_matches(BELOW)) {
        _ if ["native", "small_light"].contains(&name) => "enabled = true".to_owned(),
        Some("") | None => "prefix = \"/\"".to_owned(),
        Some(prefix) => format!("prefix = \"{prefix}\""),
    };
    Some(format!(
        "this looks like a URL of {names}, which {are} not enabled: add [{name}] with `{key}` to andon.toml, or start \
         with `--dialect {name}`"
    ))
}

/// Returns the target at the prefix that the dialect has here, in place of its usual one.
fn moved(raw_target: &str, usual: &[String], places: &[String]) -> Option<String> {
    let place = places.first()?.trim_end_matches(BELOW);
    let usual = usual.iter().map(|place| place.trim_end_matches(BELOW));
    let rest = usual
        .filter_map(|prefix| raw_target.strip_prefix(prefix))
        .min_by_key(|rest| rest.len())?;
    Some(format!("{place}{rest}"))
}

#[cfg(test)]
mod tests {
    use crate::{Config, Dialects};

    fn hint(config: &Config, target: &str) -> Option<String> {
        Dialects::new(config).unwrap().hint(target)
    }

    #[test]
    fn a_url_of_a_dialect_that_is_off_says_how_it_is_switched_on() {
        let config = Config::default();
        for (target, names) in [
            ("/unsafe/300x200/a.jpg", "thumbor or imagor"),
            ("/unsafe/filters:quality(80)/a.jpg", "thumbor or imagor"),
            (
                "/oUF6aYWdXu8bSaGZ8GGh5EzLbEo=/300x200/a.jpg",
                "thumbor or imagor",
            ),
            ("/insecure/rs:fit:300:200/plain/local:///a.jpg", "imgproxy"),
            ("/unsafe/rs:fiit:300:200/plain/local:///a.jpg", "imgproxy"),
            (
                "/AfrOrF3gWeDA6VOlDG4TzxMv39O7MXnF4CXpKUwGqRM/w:300/aHR0cDov.png",
                "imgproxy",
            ),
            ("/iiif/3/a.jpg/full/max/0/default.jpg", "iiif"),
            ("/cdn-cgi/image/width=80/a.jpg", "cloudflare"),
            ("/_next/image?url=%2Fa.jpg&w=640&q=75", "next"),
            ("/_vercel/image?url=%2Fa.jpg&w=640&q=75", "next"),
            ("/_ipx/w_80/a.jpg", "ipx"),
            ("/_image?href=/a.jpg&w=80", "astro"),
            ("/x/image_filter(resize,80,-)/a.jpg", "image_filter"),
        ] {
            let hint = hint(&config, target).expect(target);
            let expected = format!("this looks like a URL of {names}, which ");
            assert!(hint.starts_with(&expected), "{target}: {hint}");
            assert!(hint.contains("--dialect "), "{target}: {hint}");
        }
    }

    #[test]
    fn what_the_hint_says_switches_the_dialect_on() {
        let mut config = Config::default();
        let target = "/unsafe/300x200/a.jpg";
        assert!(
            hint(&config, target)
                .unwrap()
                .ends_with("`--dialect thumbor`")
        );
        config.switch_on("thumbor").unwrap();
        assert_eq!(hint(&config, target), None);
        assert!(
            !Dialects::new(&config)
                .unwrap()
                .parse(target)
                .unwrap()
                .is_file()
        );
    }

    #[test]
    fn a_dialect_at_another_prefix_is_named_with_the_url_that_it_reads() {
        let mut config = Config::default();
        config.switch_on_all();
        let hint = hint(&config, "/insecure/w:300/plain/local:///a.jpg").unwrap();
        let url = "/imgproxy/insecure/w:300/plain/local:///a.jpg";
        assert_eq!(
            hint,
            format!("this looks like a URL of imgproxy: here it is {url}")
        );
        assert!(
            !Dialects::new(&config)
                .unwrap()
                .parse(url)
                .unwrap()
                .is_file()
        );
    }

    #[test]
    fn paths_of_files_look_like_no_dialect() {
        for target in [
            "/",
            "/a.jpg",
            "/trip/a.jpg",
            "/trip/2024/a.jpg",
            "/a.jpg?w=200",
            "/robots.txt",
            "/unsafe",
            "/a:b/c.jpg",
            "/trip/plain",
            "/.well-known/acme-challenge/x",
            "/%2e%2e/a",
            "/wiki/talk:main/a",
        ] {
            assert_eq!(hint(&Config::default(), target), None, "{target}");
        }
    }
}
