//! Hints about dialects that a target looks like although they do not read it, because they are off or mounted
//! elsewhere.

use andon_recipe::{Recipe, Step, words};

use crate::config::{BELOW, Row, is_below};
use crate::dialect::Target;
use crate::percent;
use crate::{Dialects, ROWS};

impl Dialects {
    /// Returns a sentence about the dialects that a target looks like but does not reach: how to switch them on, or
    /// where they are mounted. `None` if there are none, or if one of them has parsed the target. A target that begins
    /// with a recipe looks like a URL of Andon's own dialect. Rewrite rules are applied first.
    #[must_use]
    pub fn hint(&self, raw_target: &str) -> Option<String> {
        let rewritten = self.rewritten(raw_target);
        self.hint_of(rewritten.as_deref().unwrap_or(raw_target))
    }

    /// Returns a sentence about the dialects that a target looks like but does not reach, as [`Self::hint`] does, but
    /// does not apply rewrite rules to the target first.
    pub(crate) fn hint_of(&self, raw_target: &str) -> Option<String> {
        if let Some((prefix, url)) = self.with_prefix(raw_target) {
            return Some(format!(
                "this begins with a recipe, and URLs with a recipe begin with {prefix}: here it is {url}"
            ));
        }
        if let Some(hint) = self.hint_of_preset(raw_target) {
            return Some(hint);
        }
        if let Some(url) = self.with_escaped_slashes(raw_target) {
            return Some(format!(
                "a slash in the name of an overlay is written %2F in a URL: here it is {url}"
            ));
        }
        let target = Target::new(raw_target);
        let mut off = Vec::new();
        let mut mounted_elsewhere = Vec::new();
        for likeness in ROWS.iter().filter_map(|row| Likeness::of(row, &target)) {
            let at = |places: &[String]| likeness.places.iter().any(|it| places.contains(it));
            // A dialect that is mounted at that place has parsed the target, or another one has before it.
            if self.places.iter().any(|(name, places)| {
                at(places) && (*name == likeness.row.name || likeness.is_apart)
            }) {
                return None;
            }
            let mount = self
                .places
                .iter()
                .find(|(name, _)| *name == likeness.row.name);
            match mount {
                None => off.push(likeness),
                // The target is below the dialect's own prefix already.
                Some((_, places)) if is_below(&target, places) => return None,
                Some((_, places)) => mounted_elsewhere.push((likeness, places)),
            }
        }
        if mounted_elsewhere.is_empty() {
            return sentence_of_off(&off);
        }
        let (names, urls): (Vec<_>, Vec<_>) = mounted_elsewhere
            .iter()
            .map(|(like, places)| (like.row.name, at_prefix(raw_target, &like.places, places)))
            .unzip();
        let urls: Vec<String> = urls.into_iter().flatten().collect();
        let refusal = urls.iter().find_map(|url| self.parse(url).err());
        let reason =
            refusal.map_or_else(String::new, |why| format!(", where it is refused: {why}"));
        Some(format!(
            "this looks like a URL of {}: here it is {}{reason}",
            names.join(" or "),
            urls.join(" or ")
        ))
    }

    /// Returns the prefix of Andon's own URLs with recipes, and that of presets if there are any.
    fn native_prefixes(&self) -> impl Iterator<Item = &str> {
        let native = self.places.iter().filter(|(name, _)| *name == "native");
        native.flat_map(|(_, places)| places.iter().map(|place| place.trim_end_matches(BELOW)))
    }

    /// Returns a sentence about a target that has the name of a preset in place of a recipe.
    fn hint_of_preset(&self, target: &str) -> Option<String> {
        let mut prefixes = self.native_prefixes();
        let rest = target.strip_prefix(prefixes.next()?)?;
        let url = format!("{}{rest}", prefixes.next()?);
        let name = percent::decode(rest.strip_prefix('/')?.split('/').next()?).ok()?;
        let is_read = self.parse(&url).is_ok_and(|request| !request.is_file());
        is_read.then(|| format!("`{name}` is a preset: here it is {url}"))
    }

    /// Returns the prefix of Andon's own URLs, and the target with that prefix, if the target begins with a recipe.
    fn with_prefix(&self, raw_target: &str) -> Option<(&str, String)> {
        let target = Target::new(raw_target);
        let (first, _) = target.path.strip_prefix('/')?.split_once('/')?;
        let first = percent::decode(first).ok()?;
        // A step without a value, such as `trim`, may be the name of a folder, and an unknown step an effect of the
        // engine.
        let (name, _) = first.split(',').next()?.split_once(':')?;
        let is_recipe = words().any(|word| word.name == name) && first.parse::<Recipe>().is_ok();
        let prefix = self.native_prefixes().next()?;
        let url = format!("{prefix}{raw_target}");
        let is_read = is_recipe && self.parse(&url).is_ok_and(|request| !request.is_file());
        is_read.then_some((prefix, url))
    }

    /// Returns the target of a URL of Andon's own dialect with the slashes in the name of an overlay image escaped;
    /// `None` unless the unescaped slashes ended the recipe in the middle of that name.
    fn with_escaped_slashes(&self, raw_target: &str) -> Option<String> {
        let rules_text = |target: &str| self.parse(target).ok().map(|request| request.rules.text());
        let recipe: Recipe = rules_text(raw_target)?.parse().ok()?;
        let ends_in_a_name = recipe.steps.last().is_some_and(|step| match step {
            Step::Effect(effect) => effect.overlay_name().is_some() && effect.args.len() == 1,
            _ => false,
        });
        let prefix = self.native_prefixes().next()?;
        let rest = raw_target.strip_prefix(prefix)?.strip_prefix('/')?;
        // The name ends in the segment that has the first argument after it.
        let arguments = rest
            .split('/')
            .skip(1)
            .position(|part| part.contains(':'))?
            + 1;
        let url = format!("{prefix}/{}", rest.replacen('/', "%2F", arguments));
        let is_read = ends_in_a_name && rules_text(&url).is_some();
        is_read.then_some(url)
    }
}

/// A dialect that a target looks like.
struct Likeness {
    row: &'static Row,
    /// How the dialect's URLs begin at the prefix that the target has (its usual one, or that of
    /// [`Mount::Apart`](crate::config::Mount)), in the form of [`Gate::places`](crate::Gate).
    places: Vec<String>,
    /// Whether the target has the prefix of the dialect on a server with all dialects
    /// ([`Mount::Apart`](crate::config::Mount)) instead of the dialect's usual prefix.
    is_apart: bool,
}

impl Likeness {
    /// Returns whether and how a target looks like a URL of this dialect: at its usual prefix, or at its prefix on a
    /// server with all dialects.
    fn of(row: &'static Row, target: &Target<'_>) -> Option<Self> {
        let usual_places = (row.usual_places)();
        if (row.resembles)(target) {
            return Some(Self {
                row,
                places: usual_places,
                is_apart: false,
            });
        }
        let places_apart = (row.places_apart)();
        (places_apart != usual_places && is_below(target, &places_apart)).then_some(Self {
            row,
            places: places_apart,
            is_apart: true,
        })
    }

    /// Returns the keys that switch the dialect on at the prefix that the target has.
    fn keys(&self) -> String {
        let first = self
            .places
            .first()
            .map(|place| place.trim_end_matches(BELOW));
        let mut keys = match first {
            _ if ["native", "small_light"].contains(&self.row.name) => {
                "`enabled = true`".to_owned()
            }
            Some("") | None => "`prefix = \"/\"`".to_owned(),
            Some(prefix) => format!("`prefix = \"{prefix}\"`"),
        };
        if let Some((_, more)) = FURTHER_KEYS.iter().find(|(name, _)| *name == self.row.name) {
            keys.push_str(&format!(" and `{more}`"));
        }
        keys
    }
}

/// Dialects that have to be switched on with a further configuration key: the name of the dialect, and the key that
/// [`Settings::switch_on`](crate::Settings) sets besides the prefix, with its value.
const FURTHER_KEYS: [(&str, &str); 2] = [
    ("imagor", "allow_unsafe = true"),
    ("photon", "source = \"path\""),
];

/// Returns a sentence that says how to switch on the dialects in `off`.
fn sentence_of_off(off: &[Likeness]) -> Option<String> {
    let first = off.first()?;
    let names: Vec<&str> = off.iter().map(|likeness| likeness.row.name).collect();
    let (names, are) = match names.len() {
        1 => (names.concat(), "is"),
        _ => (names.join(" or "), "are"),
    };
    let name = first.row.name;
    let keys = first.keys();
    let suffix = match (first.is_apart, first.places.first()) {
        (true, Some(place)) => format!(", for URLs without {}", place.trim_end_matches(BELOW)),
        _ => String::new(),
    };
    Some(format!(
        "this looks like a URL of {names}, which {are} not enabled: add [{name}] with {keys} to andon.toml, or start \
         with `--dialect {name}`{suffix}"
    ))
}

/// Returns a target of a dialect with the prefix of `places`, where the dialect is mounted, in place of the longest
/// prefix of `usual_places` that the target begins with; `None` if it begins with none of them.
fn at_prefix(raw_target: &str, usual_places: &[String], places: &[String]) -> Option<String> {
    let place = places.first()?.trim_end_matches(BELOW);
    let usual_places = usual_places
        .iter()
        .map(|place| place.trim_end_matches(BELOW));
    let rest = usual_places
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

    /// Returns the name of each dialect with an example URL, from a configuration in which all dialects are on.
    fn examples() -> Vec<(&'static str, String)> {
        let mut config = Config::default();
        config.switch_on_all();
        let all = Dialects::new(&config).unwrap();
        all.open_examples("/trip/a.jpg").collect()
    }

    /// Returns a configuration in which only the dialects with a table in `keys`, a text in TOML, are switched on.
    fn with(keys: &str) -> Config {
        let off = ["native", "small_light"]
            .into_iter()
            .filter(|name| !keys.contains(&format!("[{name}]")))
            .map(|name| format!("[{name}]\nenabled = false\n"));
        let text: String = off.chain([keys.to_owned()]).collect();
        let known = andon_settings::Known::default();
        crate::ConfigError::reading(&text, &known, |all| all.read::<Config>()).expect(&text)
    }

    /// Returns the decoded path or URL of the source of the image that a target requests; `None` if the target is
    /// invalid or is the path of a plain file.
    fn read(config: &Config, target: &str) -> Option<String> {
        let request = Dialects::new(config).unwrap().parse(target).ok()?;
        (!request.is_file()).then(|| request.source.place().into_owned())
    }

    #[test]
    fn a_url_at_the_place_of_its_dialect_is_not_sent_elsewhere() {
        let filter = with("[image_filter]\nprefix = \"/_nginx\"\n");
        for target in [
            "/_nginx/image_filter(resize,80,-)/a.jpg",
            "/_nginx/image_filter(resize,80,-)/_nginx/1/a.jpg",
        ] {
            assert_eq!(hint(&filter, target), None, "{target}");
        }
        assert!(hint(&filter, "/image_filter(resize,80,-)/a.jpg").is_some());
    }

    #[test]
    fn a_url_that_would_be_refused_at_its_place_here_is_not_offered_without_the_reason() {
        let presets = "[native]\nprefix = \"/img\"\nonly_presets = true\n[native.presets]\nsmall = \"fit:80x80\"\n";
        let said = hint(&with(presets), "/r/fit:401x/a.jpg").unwrap();
        assert!(
            said.contains("here it is /p/fit:401x/a.jpg, where it is refused: ")
                && said.ends_with("known here: small"),
            "{said}"
        );
    }

    #[test]
    fn every_url_of_a_server_without_configuration_says_on_others_how_its_dialect_is_switched_on() {
        let examples = examples();
        assert_eq!(examples.len(), crate::ALL.len());
        for (name, target) in examples {
            let off = with("");
            assert_eq!(read(&off, &target), None, "{target}");
            let said = hint(&off, &target).expect(&target);
            let begin = format!(
                "this looks like a URL of {name}, which is not enabled: add [{name}] with `"
            );
            let keys = said.strip_prefix(&begin).expect(&said);
            let (keys, or) = keys
                .split_once("` to andon.toml, or start with ")
                .expect(&said);
            assert!(or.starts_with(&format!("`--dialect {name}`")), "{said}");
            let keys = format!("[{name}]\n{}\n", keys.replace("` and `", "\n"));
            let on = with(&keys);
            assert_eq!(read(&on, &target).as_deref(), Some("trip/a.jpg"), "{said}");
            assert_eq!(hint(&on, &target), None, "{said}");
            // What the other way says of the URL.
            let mut usual = off;
            usual.switch_on(name).unwrap();
            let url = match or.split_once(", for URLs without ") {
                Some((_, prefix)) => target.strip_prefix(prefix).expect(&said),
                None => &*target,
            };
            assert_eq!(read(&usual, url).as_deref(), Some("trip/a.jpg"), "{said}");
            if url != target {
                let here = format!("this looks like a URL of {name}: here it is {url}");
                assert_eq!(hint(&usual, &target), Some(here));
            }
        }
    }

    #[test]
    fn a_prefix_that_another_dialect_has_says_nothing_of_the_one_that_usually_has_it() {
        let config = with("[imagor]\nprefix = \"/thumbor\"\nallow_unsafe = true\n");
        assert_eq!(hint(&config, "/thumbor/unsafe/300x200/gone.jpg"), None);
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
    fn a_recipe_without_its_prefix_is_named_with_the_url_that_has_it() {
        let named = |target: &str| hint(&Config::default(), target).unwrap_or_default();
        for target in [
            "/fit:300x/photo.jpg",
            "/fit:300x,as:webp/trip/a%20b.jpg",
            "/fit%3A300x/photo.jpg",
            "/crop:10x10/a.jpg?v=2",
        ] {
            let said = named(target);
            assert!(said.ends_with(&format!("here it is /r{target}")), "{said}");
        }
        let mut config = Config::default();
        config.native.prefix = "/made".to_owned();
        let said = hint(&config, "/fit:300x/photo.jpg").unwrap();
        assert!(
            said.ends_with("begin with /made: here it is /made/fit:300x/photo.jpg"),
            "{said}"
        );
        config.native.enabled = false;
        assert_eq!(hint(&config, "/fit:300x/photo.jpg"), None);
    }

    #[test]
    fn slashes_in_the_name_of_an_overlay_are_named_with_the_url_that_escapes_them() {
        for (target, url) in [
            (
                "/r/fit:800x800,overlay:/logo.png:100p-8:100p-8/trip/a.jpg",
                "/r/fit:800x800,overlay:%2Flogo.png:100p-8:100p-8/trip/a.jpg",
            ),
            (
                "/r/over:/brand/2026/logo.png:8:8,as:webp/trip/a.jpg?v=2",
                "/r/over:%2Fbrand%2F2026%2Flogo.png:8:8,as:webp/trip/a.jpg?v=2",
            ),
            (
                "/r/over:icons/new.png:8:8/a.jpg",
                "/r/over:icons%2Fnew.png:8:8/a.jpg",
            ),
        ] {
            let said = hint(&Config::default(), target).expect(target);
            assert!(said.ends_with(&format!("here it is {url}")), "{said}");
        }
        for target in [
            "/r/over:logo.png/trip/a.jpg",
            "/r/over:logo.png:8:8/12:30/a.jpg",
        ] {
            assert_eq!(hint(&Config::default(), target), None, "{target}");
        }
    }

    #[test]
    fn paths_of_files_look_like_no_dialect() {
        for target in [
            "/trim/a.jpg",
            "/fit:300x",
            "/fit:wide/a.jpg",
            "/r/fit:300x/a.jpg",
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
