//! Keys of results. A key covers everything that the bytes of the result depend on, and nothing that is specific to one
//! machine.
//!
//! Results on disk outlive the process and the version of the program, and machines may share them. So the text of
//! every part of a key is composed explicitly here, and a test guards it: there is no derived `Debug`, no package
//! version and no folder in it.

use std::cmp::Reverse;
use std::fmt::{Display, Write};
use std::sync::Arc;

use andon_cache::Key;
use andon_dialects::{Ask, ImageRequest};
use andon_pixels::{Codec, Drawings};
use andon_recipe::{Effect, Facts, Output, Recipe, ResolveError, Rules, Step};

use crate::config::{BucketConfig, Config, HttpConfig, OriginConfig, OriginKind, Place, Store};
use crate::request::negotiation::SettledRequest;
use crate::sources::revision::Revision;

/// A request resolved to whole pixels. Requests for the same result resolve to equal values, in whichever dialect and
/// spelling they are written.
#[derive(Debug)]
pub(crate) struct Resolved {
    /// The key of the result in the cache.
    pub(crate) key: Key,
    /// The name of the result's format.
    pub(crate) format: String,
    /// The part of the entity tag that does not come from the files: the recipe and the revision of the code that
    /// applies it.
    pub(crate) text: String,
    /// Tag that all results of the request's URL share, in all formats and for all headers, so that a purge by URL
    /// removes each of them. Results with the same key have the same tag.
    pub(crate) tag: String,
    /// The request's canonical target, if the target depends on the source.
    pub(crate) canonical: Option<String>,
}

/// The fonts for drawing text, if results depend on which fonts are installed.
#[derive(Debug)]
struct TextFonts {
    /// Name of the set of fonts; empty for the fonts that every build has.
    name: String,
    /// The names of formats whose files may contain text to draw.
    formats: Vec<&'static str>,
}

impl TextFonts {
    fn of(codecs: &[&dyn Codec]) -> Self {
        let writers = codecs.iter().filter(|codec| codec.drawings().is_some());
        let formats = writers.map(|codec| codec.format().name);
        let mut drawings = codecs.iter().filter_map(|codec| codec.drawings());
        Self {
            name: drawings.next().map(Drawings::fonts).unwrap_or_default(),
            formats: formats.collect(),
        }
    }

    /// Whether the result may contain text to draw: text that the recipe writes, text in a source of this format, or
    /// text in an overlay image. Every overlay image counts, because its name does not indicate its format.
    fn matter(&self, request: &ImageRequest, format: &str, text: &str) -> bool {
        !self.name.is_empty()
            && (self.formats.contains(&format)
                || WORDS.iter().any(|word| text.contains(word))
                || !request.rules.overlays().is_empty())
    }
}

/// Words by which recipes and unresolved [`Rules`] that draw text into an image are recognized: the text of each
/// contains at least one of them. If rules contain such a word with another meaning, their results needlessly get other
/// keys when the fonts change, which is harmless.
const WORDS: [&str; 3] = [Effect::TEXT, "label", "txt"];

/// What the purge tag of a URL is computed from, with the format left open: the text of a recipe in whole pixels or, if
/// pixels have to be measured before the size is known, of the unresolved [`Rules`].
struct TagInputs {
    /// The request's recipe in whole pixels or its unresolved [`Rules`] as text, with the format left open.
    any_format: String,
    /// The recipe or unresolved [`Rules`] that the URL states by itself, as text, if the request's headers changed
    /// them. The result then has a key of its own: another URL may lead to the same recipe, and a purge of one URL must
    /// not purge the other.
    stated: Option<String>,
}

/// The parts of the keys of results that do not come from the request.
#[derive(Debug)]
pub(crate) struct Names {
    revision: Revision,
    fonts: TextFonts,
    /// For each origin, which sources belong to it, and the name of the store that it reads. Both are part of the keys
    /// of results, because the same path may be another image after either changes.
    origins: Vec<(Place, String)>,
}

impl Names {
    pub(crate) fn new(config: &Config, codecs: &[&dyn Codec]) -> Self {
        let origin = |origin: &OriginConfig| (origin.place(), origin_name(&origin.keeper));
        let mut origins: Vec<_> = config.origin.iter().map(origin).collect();
        origins.sort_by_key(|(place, _)| Reverse(place.rank()));
        Self {
            revision: Revision::of(codecs),
            fonts: TextFonts::of(codecs),
            origins,
        }
    }

    /// Returns the revision of the code that makes results. Results of another revision are never used.
    pub(crate) fn revision(&self) -> &str {
        self.revision.text()
    }

    /// Resolves a request to whole pixels, for a source with these facts.
    pub(crate) fn resolve(
        &self,
        asked: &SettledRequest,
        facts: &Facts,
    ) -> Result<Resolved, ResolveError> {
        let rules = &asked.request.rules;
        let any_format = without_format(rules);
        let stated = asked.request.stated.as_ref().map(without_format);
        let Some(recipe) = Revision::recipe(&**rules, facts)? else {
            let exact = asked.request.style.sends_what_is_made();
            return Ok(self.build(
                asked,
                exact,
                (&facts.format, &facts.format),
                &unresolved(&asked.request),
                TagInputs {
                    any_format: any_format.text(),
                    stated: stated.map(|stated| stated.text()),
                },
            ));
        };
        // Only a result that is a mere re-encoding may be replaced by the source.
        let is_effect = |step: &Step| matches!(step, Step::Effect(_));
        let exact = asked.request.style.sends_what_is_made() && recipe.steps.iter().all(is_effect);
        let format = recipe.output.format_or(&facts.format);
        let formats = (&*facts.format, format);
        let tag_inputs = TagInputs {
            any_format: any_format.resolve(facts)?.to_string(),
            // If the URL makes no image without the headers, a purge by this URL becomes a purge of its source.
            stated: stated.and_then(|stated| Some(stated.resolve(facts).ok()?.to_string())),
        };
        let resolved = self.build(asked, exact, formats, &recipe, tag_inputs);
        Ok(Resolved {
            canonical: rules.canonical(facts),
            ..resolved
        })
    }

    /// Resolves a request for an unchanged file, whose key does not depend on the facts of the source.
    pub(crate) fn file(&self, asked: &SettledRequest) -> Resolved {
        let original = Recipe::original();
        let tag_inputs = TagInputs {
            any_format: original.to_string(),
            stated: None,
        };
        self.build(asked, false, ("", ""), &original, tag_inputs)
    }

    /// Returns the key by which requests share the computation of a result until the recipe is resolved to whole
    /// pixels.
    pub(crate) fn unresolved(&self, asked: &SettledRequest) -> Key {
        let ask = match &asked.request.ask {
            Ask::Describe(document) => document.name(),
            _ => String::new(),
        };
        let text = format!("unresolved {ask} {}", unresolved(&asked.request));
        Key::of(&self.parts(asked, asked.request.style.sends_what_is_made(), text))
    }

    /// Returns the key under which the facts of a request's source are stored.
    pub(crate) fn facts(&self, request: &ImageRequest) -> Key {
        let source = &request.source;
        let origin = self.origin(&source.place());
        Key::of(&["facts", self.revision.text(), origin, source.as_str()])
    }

    fn build(
        &self,
        asked: &SettledRequest,
        exact: bool,
        (facts_format, format): (&str, &str),
        recipe: &dyn Display,
        tag_inputs: TagInputs,
    ) -> Resolved {
        let request = &asked.request;
        let mut text = self.revision.result(&request.ask, recipe);
        if !text.is_empty() && self.fonts.matter(request, facts_format, &text) {
            let _ = write!(text, " fonts:{}", self.fonts.name);
        }
        let tag = |recipe: &str| {
            let result_text = self.revision.result(&request.ask, &recipe);
            format!("url:{}", Key::of(&[request.source.as_str(), &result_text]))
        };
        let request_tag = tag(&tag_inputs.any_format);
        let url_tag = tag_inputs
            .stated
            .map_or_else(|| request_tag.clone(), |it| tag(&it));
        let mut parts = self.parts(asked, exact, text.clone());
        if url_tag != request_tag {
            let [.., rules] = &mut parts;
            let _ = write!(rules, "{url_tag} ");
        }
        Resolved {
            key: Key::of(&parts),
            tag: url_tag,
            text,
            format: format.to_owned(),
            canonical: None,
        }
    }

    /// Returns the parts of a key: origin, source, `text`, and further properties of the request on which the result
    /// depends, such as `exact`, which says whether the result is sent even if it is larger than the source. The format
    /// is settled and part of the text.
    fn parts(&self, asked: &SettledRequest, exact: bool, text: String) -> [String; 4] {
        let request = &asked.request;
        let source = &request.source;
        let mut rules = String::new();
        for (rule, applies) in [
            ("negotiated", asked.negotiated),
            ("exact", exact),
            ("type-by-name", request.style.type_by_name),
        ] {
            if applies {
                let _ = write!(rules, "{rule} ");
            }
        }
        if let Some(most) = request.style.most_bytes {
            let _ = write!(rules, "most:{most} ");
        }
        if let Some(checksum) = &request.style.checksum {
            let _ = write!(rules, "checksum:{checksum} ");
        }
        [
            self.origin(&source.place()).to_owned(),
            source.as_str().to_owned(),
            text,
            rules,
        ]
    }

    /// Returns the name of the origin with the longest prefix of `source`; empty if there is none.
    pub(super) fn origin(&self, source: &str) -> &str {
        let mut origins = self.origins.iter();
        origins
            .find(|(place, _)| place.rest(source).is_some())
            .map_or("", |(_, origin)| origin)
    }
}

/// Returns `rules` without their output format.
fn without_format(rules: &Arc<dyn Rules>) -> Arc<dyn Rules> {
    let output = Output {
        format: None,
        ..rules.output().clone()
    };
    rules.with_output(output)
}

/// Returns the text of a request's [`Rules`] before they are resolved to whole pixels. Rules that the configuration's
/// table `[permitted]` limits may be refused later, so they share neither a computation nor a result with the same
/// rules without limits.
fn unresolved(request: &ImageRequest) -> String {
    let text = request.rules.text();
    match request.is_limited {
        true => format!("{text} as permitted"),
        false => text,
    }
}

/// Returns the path of a request's source that purges by source are compared with.
pub(crate) fn source_path(request: &ImageRequest) -> String {
    format!("/{}", request.source.place())
}

/// Returns a text that identifies the store of an origin, because the same path in another store is another image. All
/// folders have the same text: a folder may be mounted anywhere, and its files are checked before a result is used
/// again.
fn origin_name(keeper: &OriginKind) -> String {
    match keeper {
        OriginKind::Fs(_) => "fs".to_owned(),
        OriginKind::Http(HttpConfig { base, headers, .. }, _) => {
            // Without a base, the URLs of the sources name their hosts.
            let mut name = match base {
                Some(base) => format!("http {}", base.0),
                None => "urls".to_owned(),
            };
            for (header, value) in headers {
                let _ = write!(name, "\n{header}: {value}");
            }
            name
        }
        OriginKind::Bucket(store, config, _) => {
            let BucketConfig { bucket, folder, .. } = config;
            let endpoint = config.endpoint.as_ref().map_or("", |url| url.0.as_str());
            let whose = match store {
                Store::S3 => config.region(),
                Store::Gcs => "",
                Store::Azure => config.account.as_deref().unwrap_or_default(),
            };
            format!("{store} {endpoint} {whose} {bucket} {folder}")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use andon_dialects::Dialects;

    use super::*;

    /// Returns the key and its parts for a request, read with the configuration `keys` in `folder`; the source is a
    /// JPEG.
    fn parts(keys: &str, folder: &str, target: &str) -> ([String; 4], Key) {
        let config = Config::parse(keys, Path::new(folder)).unwrap();
        let request = Dialects::new(&config.dialects)
            .unwrap()
            .parse(target)
            .unwrap();
        let asked = SettledRequest {
            request: Arc::new(request),
            negotiated: false,
            is_open: false,
        };
        let names = Names::new(&config, andon_codecs::ALL);
        let resolved = match asked.request.is_file() {
            true => names.file(&asked),
            false => names
                .resolve(&asked, &Facts::new("jpeg", 400, 300))
                .unwrap(),
        };
        (names.parts(&asked, false, resolved.text), resolved.key)
    }

    const KEYS: &str = "
        [small_light]
        material_dir = \"icons\"
        compat = \"strict\"
        [[origin]]
        fs.root = \"photos\"
        [[origin]]
        prefix = \"/shop\"
        http.base = \"https://pictures.example/originals\"
        [[origin]]
        prefix = \"/bucket\"
        s3 = { bucket = \"b\", folder = \"f\", region = \"eu-central-1\" }";

    /// Changing this text empties every cache, so this test may only be changed on purpose. The revisions are the only
    /// part that may change by itself.
    #[test]
    fn the_text_of_keys_is_frozen() {
        let revision = andon_pixels::revision(andon_codecs::ALL);
        let (fs, _) = parts(KEYS, "/a", "/small_light(dw=10,dh=20,q=80)/x/a.jpg");
        let [origin, source, result, rules] = &fs;
        assert_eq!(origin, "fs");
        assert_eq!(source, "x/a.jpg");
        let recipe = result.strip_prefix(&revision).unwrap();
        assert_eq!(recipe, RECIPE);
        assert_eq!(rules, "type-by-name ");

        let (http, _) = parts(KEYS, "/a", "/shop/a.jpg");
        let origin = "http https://pictures.example/originals";
        assert_eq!(http, [origin, "shop/a.jpg", "", ""]);

        let (s3, _) = parts(KEYS, "/a", "/bucket/a.jpg");
        assert_eq!(s3[0], "s3  eu-central-1 b f");
    }

    const RECIPE: &str = " exact:10x7,q:80";

    #[test]
    fn equal_requests_have_one_key_however_they_are_written() {
        let key = |target: &str| parts("", "/a", target).1;
        let same = [
            "/small_light(dw=20,q=80)/x/a.jpg",
            "/small_light(q=80,dw=20.0,dh=40,da=l)/x/a.jpg",
            "/small_light(dw=5p,q=80)/x/a.jpg",
            "/r/fit:20x20,q:80/x/a.jpg",
            "/r/q:80,exact:20x15,as:jpeg//x/a.jpg",
        ];
        for target in same {
            assert_eq!(key(target), key(same[0]), "{target}");
        }
        for other in [
            "/r/fit:21x20,q:80/x/a.jpg",
            "/r/fit:20x20,q:81/x/a.jpg",
            "/r/fit:20x20,q:80,as:webp/x/a.jpg",
            "/r/fit:20x20,q:80,as:json/x/a.jpg",
            "/r/fit:20x20,q:80/a.jpg",
            "/x/a.jpg",
        ] {
            assert_ne!(key(other), key(same[0]), "{other}");
        }
    }

    #[test]
    fn machines_with_one_configuration_share_keys_wherever_their_folders_are() {
        for target in [
            "/small_light(dw=10,embedicon=lamp.png)/x/a.jpg",
            "/small_light(dw=10)/shop/a.jpg",
            "/a.jpg",
        ] {
            let (here, there) = (parts(KEYS, "/srv", target), parts(KEYS, "/mnt/b", target));
            assert_eq!(here, there, "{target}");
        }
        let (base, other) = (
            "https://pictures.example/originals",
            "https://other.example/",
        );
        let moved = KEYS.replace(base, other);
        let target = "/small_light(dw=10)/shop/a.jpg";
        assert_ne!(
            parts(KEYS, "/srv", target).1,
            parts(&moved, "/srv", target).1
        );
    }
}
