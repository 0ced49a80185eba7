//! Translation of a request from one URL language into another, with the differences that remain.
//!
//! Each translated URL is parsed again, and the recipes of both requests are compared for sources of many sizes, or for
//! the size that is known.
//!
//! ```
//! use andon_dialects::translate::{Known, Translator};
//! let translator = Translator::usual();
//! let (dialect, request) = translator.read(None, "/small_light(dw=250,dh=250)/a.jpg").unwrap();
//! assert_eq!(dialect, "small_light");
//! let translation = translator.translation(&request, &Known::default());
//! assert_eq!(translation.say_in("native").unwrap().url, "/r/fit:250x250/a.jpg");
//! ```

mod answer;
mod behaviour;
mod spellings;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use andon_recipe::{Facts, Output, ResolveError, Step, Wish};

use crate::{ALL, Ask, Config, Dialects, ImageRequest, Refusal};
use behaviour::Behaviour;
use spellings::Spelling;

/// Translates requests between dialects, each of which is configured alone.
#[derive(Debug)]
pub struct Translator {
    /// The dialects in the order of [`ALL`]. An error says why a dialect is not available.
    dialects: Vec<(&'static str, Result<Dialects, String>)>,
}

/// What is known about the source.
#[derive(Clone, Debug, Default)]
pub struct Known<'a> {
    /// Width and height in px.
    pub size: Option<(u32, u32)>,
    /// The format. If absent, it follows from the extension of the source's name, or is JPEG.
    pub format: Option<&'a str>,
    /// All that the source's header says, if it is available. It takes precedence over `size` and `format`.
    pub facts: Option<Facts>,
}

impl Known<'_> {
    fn size(&self) -> Option<(u32, u32)> {
        let facts = self.facts.as_ref();
        facts.map(|it| (it.width, it.height)).or(self.size)
    }
}

/// A request that is prepared for translation into other dialects.
#[derive(Debug)]
pub struct Translation<'a> {
    translator: &'a Translator,
    request: &'a ImageRequest,
    format: &'static str,
    resolved: Option<Result<ImageRequest, ResolveError>>,
    /// The request in the terms that all dialects share; `None` if it makes no image of any source.
    wish: Option<Wish>,
    /// The results of the request for the known source, or for sources of many sizes.
    behaviour: Behaviour,
}

/// A request, translated into a dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Path and query.
    pub url: String,
    /// How the results of this URL differ from those of the original request.
    pub but: Vec<String>,
}

/// Why no request could be read from a target.
#[derive(Clone, Debug)]
pub enum Unread {
    /// The target is in this dialect, which refuses it.
    By(&'static str, Refusal),
    /// No dialect reads an image from this target.
    ByAll(String),
    /// All of these dialects can read the target.
    Ambiguous(Vec<&'static str>),
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::By(name, refusal) => write!(f, "{name}: {refusal}"),
            Self::ByAll(target) => write!(f, "no dialect reads an image from {target}"),
            Self::Ambiguous(names) => {
                write!(f, "{} can read this: name one of them", names.join(" and "))
            }
        }
    }
}

impl std::error::Error for Unread {}

impl Translator {
    /// Creates a translator in which each dialect has its usual prefix, and URLs are not signed.
    #[must_use]
    pub fn usual() -> Self {
        Self::each(|name| spellings::usual(name).map_err(|error| error.to_string()))
    }

    /// Creates a translator in which each dialect has the prefix, keys and presets of a configuration. Dialects that it
    /// switches off are not available.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        Self::each(|name| match Dialects::new(config) {
            Ok(all) => all
                .only(name)
                .ok_or_else(|| "the configuration has it switched off".to_owned()),
            Err(error) => Err(error.to_string()),
        })
    }

    /// Creates a translator in which each dialect has the settings of a configuration. Dialects that it switches off
    /// have their usual prefix.
    #[must_use]
    pub fn of_or_usual(config: &Config) -> Self {
        let (configured, usual) = (Self::of(config), Self::usual());
        let dialects = configured.dialects.into_iter().zip(usual.dialects);
        let dialects =
            dialects.map(|((name, configured), (_, usual))| (name, configured.or(usual)));
        Self {
            dialects: dialects.collect(),
        }
    }

    fn each(open: impl Fn(&str) -> Result<Dialects, String>) -> Self {
        Self {
            dialects: ALL.iter().map(|(name, _)| (*name, open(name))).collect(),
        }
    }

    /// Returns the names of all dialects, available or not.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.dialects.iter().map(|(name, _)| *name)
    }

    /// Parses a target, and returns the name of its dialect and the request. With `from`, only that dialect is tried.
    ///
    /// # Errors
    /// A target that no dialect reads, or that more than one reads.
    pub fn read(
        &self,
        from: Option<&str>,
        target: &str,
    ) -> Result<(&'static str, ImageRequest), Unread> {
        let (mut requests, mut mark_their_urls) = (Vec::new(), Vec::new());
        let mut refusals = Vec::new();
        for (name, dialects) in &self.dialects {
            let Ok(dialects) = dialects else { continue };
            if from.is_some_and(|from| from != *name) {
                continue;
            }
            match dialects.parse(target) {
                Ok(request) if request.ask == Ask::Image => {
                    requests.push((*name, request));
                    mark_their_urls.push(dialects.mark_their_urls());
                }
                Ok(_) => {}
                Err(refusal) => refusals.push((*name, refusal)),
            }
        }
        if requests.len() > 1 {
            let mut mark_their_urls = mark_their_urls.into_iter();
            requests.retain(|_| mark_their_urls.next().unwrap_or(true));
        }
        match (&*requests, &*refusals) {
            ([_], _) => Ok(requests.remove(0)),
            ([], [(name, refusal)]) => Err(Unread::By(name, refusal.clone())),
            ([], _) => Err(Unread::ByAll(target.to_owned())),
            _ => Err(Unread::Ambiguous(
                requests.iter().map(|(name, _)| *name).collect(),
            )),
        }
    }

    /// Prepares a request for translation into other dialects.
    #[must_use]
    pub fn translation<'a>(
        &'a self,
        request: &'a ImageRequest,
        known: &Known<'_>,
    ) -> Translation<'a> {
        let place = request.source.place();
        let extension = || Path::new(&*place).extension().and_then(|it| it.to_str());
        let name = (known.facts.as_ref().map(|it| &*it.format)).or(known.format);
        let name = name.or_else(extension).unwrap_or_default();
        let format = FORMATS
            .into_iter()
            .find(|format| format.eq_ignore_ascii_case(name));
        let format = format.unwrap_or("jpeg");
        let plain = Facts::new(format, 0, 0);
        let like = known.facts.as_ref().unwrap_or(&plain);
        let behaviour_of_request = Behaviour::of(request, like, &behaviour::trials(known, format));
        let wish = behaviour_of_request.output().zip(request.rules.wish());
        // Of these settings, the request itself counts, and not its results for the sources that were tried.
        let wish = wish.map(|(output, wish)| Wish {
            output: Output {
                profile: wish.output.profile,
                metadata: wish.output.metadata,
                stored_turn: wish.output.stored_turn,
                moving: wish.output.moving.clone(),
                ..output
            },
            ..wish
        });
        let resolved = known
            .size()
            .map(|(width, height)| -> Result<ImageRequest, ResolveError> {
                let facts = Facts {
                    width,
                    height,
                    ..like.clone()
                };
                let recipe = request.rules.resolve(&facts)?;
                Ok(ImageRequest {
                    rules: Arc::new(recipe),
                    ..request.clone()
                })
            });
        Translation {
            translator: self,
            request,
            format,
            resolved,
            wish,
            behaviour: behaviour_of_request,
        }
    }
}

impl Translation<'_> {
    /// Returns the format that the source is known or assumed to have.
    #[must_use]
    pub fn format(&self) -> &'static str {
        self.format
    }

    /// Returns the recipe in whole pixels, if the source's size is known.
    ///
    /// # Errors
    /// Rules that make no image of such a source.
    pub fn resolved(&self) -> Result<Option<String>, ResolveError> {
        match &self.resolved {
            None => Ok(None),
            Some(Ok(resolved)) => Ok(Some(resolved.rules.text())),
            Some(Err(error)) => Err(error.clone()),
        }
    }

    /// Returns the request as a URL of a dialect, and how its results differ. They are compared for the source's size,
    /// if it is known, or else for many sizes.
    ///
    /// # Errors
    /// A sentence that says why the dialect has no such URL.
    pub fn say_in(&self, name: &str) -> Result<Said, String> {
        let mut entries = self.translator.dialects.iter();
        let dialects = match entries.find(|(entry, _)| *entry == name) {
            Some((_, dialects)) => dialects.as_ref().map_err(Clone::clone)?,
            None => return Err(format!("there is no dialect `{name}`")),
        };
        let request = self.request;
        if let Some((_, url)) = dialects.write(request).next() {
            let parsed = dialects.parse(&url).map_err(|error| error.to_string())?;
            let but = answer::differences(request, &parsed);
            return Ok(Said { url, but });
        }
        if request.ask != Ask::Image {
            return Err("it asks for something else than an image".to_owned());
        }
        let wish = self.wish.as_ref();
        let wish =
            wish.ok_or_else(|| "it makes no image of the sources that were tried".to_owned());
        let spelling = wish.and_then(|wish| spellings::write_wish(name, dialects, request, wish));
        // A rectangle in px was chosen for images of this size, so that any difference counts.
        let is_cut =
            (self.wish.iter().flat_map(Wish::others)).any(|step| matches!(step, Step::Crop(_)));
        let is_other = |it: &Spelling| {
            let actual = self.behaviour.results_of(&it.request);
            self.behaviour.is_other_for_plain(&actual)
                || (is_cut && !self.behaviour.differences(&actual).is_empty())
        };
        if spelling.as_ref().map_or(true, is_other)
            && let Some(translation) = self.say_for_this_size(name, dialects)
        {
            return Ok(translation);
        }
        self.compared(name, spelling?)
    }

    /// Returns the URL of `spelling`, the request as written in the dialect `name`, with the differences between the
    /// results of this URL and those of the request.
    ///
    /// # Errors
    /// A sentence about a URL whose results differ for all sources.
    fn compared(&self, name: &str, spelling: Spelling) -> Result<Said, String> {
        let Spelling {
            url,
            request: parsed_request,
            missing,
        } = spelling;
        let actual = self.behaviour.results_of(&parsed_request);
        let (differing, all) = self.behaviour.differing(&actual);
        let words = missing
            .iter()
            .map(|word| spellings::in_own_words(self.request, word));
        let beyond = self
            .wish
            .iter()
            .flat_map(|wish| wish.beyond.iter().cloned());
        let missing_parts = words.chain(beyond).filter(|_| differing > 0);
        let mut but: Vec<String> = missing_parts
            .map(|it| format!("without {it}, for which {name} has no word"))
            .collect();
        but.extend(self.behaviour.differences(&actual));
        but.extend(answer::differences(self.request, &parsed_request));
        match differing == all {
            true => Err(format!("the nearest is {url}, but {}", but.join(", "))),
            false => Ok(Said { url, but }),
        }
    }

    /// Returns a URL that is equivalent for the source's size only; `None` if the size is not known, or there is no
    /// such URL.
    fn say_for_this_size(&self, name: &str, dialects: &Dialects) -> Option<Said> {
        let Some(Ok(resolved_request)) = &self.resolved else {
            return None;
        };
        let mut but = vec![THIS_SIZE_ONLY.to_owned()];
        if let Some((_, url)) = dialects.write(resolved_request).next() {
            but.extend(answer::differences(
                self.request,
                &dialects.parse(&url).ok()?,
            ));
            return Some(Said { url, but });
        }
        let wish = resolved_request.rules.wish()?;
        let spelling = spellings::write_wish(name, dialects, self.request, &wish).ok()?;
        let actual = self.behaviour.results_of(&spelling.request);
        but.extend(self.behaviour.differences(&actual));
        but.extend(answer::differences(self.request, &spelling.request));
        let url = spelling.url;
        (!self.behaviour.is_other_for_plain(&actual)).then_some(Said { url, but })
    }
}

/// Returns the target of a request line for a path or URL that a user typed. A missing leading slash is added, because it
/// is easily forgotten, and scheme and host are removed, because users often paste a whole URL.
#[must_use]
pub fn target(typed: &str) -> String {
    let after_scheme = ["http://", "https://"]
        .iter()
        .find_map(|scheme| typed.strip_prefix(scheme));
    let path = match after_scheme {
        Some(url) => url.split_once('/').map_or("", |(_, path)| path),
        None => typed.strip_prefix('/').unwrap_or(typed),
    };
    format!("/{path}")
}

/// The difference that is reported if a dialect can only express a request in whole pixels, for a source of known size.
pub const THIS_SIZE_ONLY: &str = "for sources of this size only, as that is all it can say";

/// Formats that rules may treat differently from JPEG.
const FORMATS: [&str; 5] = ["png", "gif", "webp", "avif", "jxl"];

#[cfg(test)]
mod tests {
    use super::{Known, Said, Translator, target};

    /// Translates a URL of one dialect for sources of any size.
    fn said(from: &str, url: &str, to: &str) -> Result<Said, String> {
        let translator = Translator::usual();
        let (_, request) = translator.read(Some(from), url).unwrap();
        translator
            .translation(&request, &Known::default())
            .say_in(to)
    }

    #[test]
    fn gravity_turns_effects_and_output_are_said_in_the_words_of_the_other() {
        for (from, url, to, expected) in [
            (
                "imgix",
                "/a.jpg?w=60&h=20&fit=crop&crop=top&flip=h&blur=40&cs=strip",
                "native",
                "/r/flip:h,cover:60x20:north:enlarge,blur:0x2,metadata:none,q:75/a.jpg",
            ),
            (
                "native",
                "/r/turn:90,dpr:2,fit:30x:enlarge,brightness:51,q:75/a.jpg",
                "imgix",
                "/a.jpg?bri=20&q=75&rot=90&w=60",
            ),
            (
                "cloudflare",
                "/cdn-cgi/image/width=60,height=20,fit=cover,gravity=0.1x0.2,gamma=2,rotate=90/a.jpg",
                "imgix",
                "/a.jpg?crop=focalpoint&fit=crop&fp-x=0.1&fp-y=0.2&gam=100&h=20&q=85&rot=90&w=60",
            ),
        ] {
            let said = said(from, url, to).unwrap();
            assert_eq!(said.url, expected, "{url}");
            assert_eq!(said.but, [""; 0], "{url}");
        }
    }

    #[test]
    fn what_has_no_word_is_named_as_the_source_says_it() {
        for (from, url, to, missing) in [
            ("imgix", "/a.jpg?w=60&px=5", "cloudflare", "px=5"),
            (
                "imgproxy",
                "/unsafe/w:60/mw:50/plain/local:///a.jpg",
                "native",
                "mw:50",
            ),
            (
                "native",
                "/r/fit:60x60,sepia:80/a.jpg",
                "thumbor",
                "sepia:80",
            ),
        ] {
            let why = match said(from, url, to) {
                Ok(said) => said.but.join(", "),
                Err(why) => why,
            };
            assert!(
                why.contains(&format!("without {missing}, for which {to} has no word")),
                "{why}"
            );
        }
    }

    #[test]
    fn a_path_may_be_typed_without_its_slash_or_with_its_whole_url() {
        for typed in [
            "/a/b.jpg?c",
            "a/b.jpg?c",
            "http://127.0.0.1:8080/a/b.jpg?c",
            "https://pictures.example/a/b.jpg?c",
        ] {
            assert_eq!(target(typed), "/a/b.jpg?c", "{typed}");
        }
        assert_eq!(target("//a"), "//a");
        assert_eq!(target("http://x"), "/");
    }
}
