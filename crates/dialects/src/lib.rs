//! URL languages: from a request's target to what it asks for, and back.
//!
//! [`Dialects`] is the front door. It applies the rewrite rules, asks each dialect in turn whether the
//! target is in its language, and takes what none of them knows for a plain file. Nothing here opens a
//! file or a picture.
//!
//! ```
//! use andon_dialects::{Config, Dialects, Source};
//! let dialects = Dialects::new(&Config::default()).unwrap();
//! let request = dialects.parse("/small_light(dw=250,dh=250,q=95)/trip/a%20b.jpg").unwrap();
//! assert_eq!(request.source, Source::Path("trip/a b.jpg".to_owned()));
//! assert_eq!(request.rules.text(), "small_light(dw=250,dh=250,q=95)");
//! ```

#![forbid(unsafe_code)]

pub mod cloudflare;
mod colours;
mod config;
mod dialect;
mod document;
mod effects;
mod errors;
mod geometry;
pub mod iiif;
pub mod image_filter;
pub mod imgix;
pub mod imgproxy;
pub mod native;
mod percent;
mod request;
mod rewrite;
mod rules;
pub mod signature;
pub mod signing;
pub mod small_light;
mod swatches;
pub mod thumbor;
pub mod translate;
pub mod weserv;

pub use andon_settings::Error as ConfigError;
pub use cloudflare::CloudflareConfig;
pub use config::Settings;
pub use dialect::{Dialect, Headers, Refusal, Target};
pub use document::{About, Document, Part, ResultAbout, SourceAbout};
pub use errors::{ErrorStyle, Errors, Fault, OWN_ERRORS};
pub use iiif::{IiifConfig, LargerBox, Slashes};
pub use image_filter::ImageFilterConfig;
pub use imgix::ImgixConfig;
pub use imgproxy::ImgproxyConfig;
pub use native::{Canonical, NativeConfig};
pub use percent::encode as percent_encode;
pub use request::{AnswerStyle, Ask, Fallback, ImageRequest, Redirect, Source};
pub use rewrite::Rewrite;
pub use small_light::{Compat, Mistakes, SmallLightConfig};
pub use thumbor::{ImagorConfig, Loader, ThumborConfig};
pub use weserv::WeservConfig;

use std::borrow::Cow;

use dialect::HeadersRead;
use rewrite::Rewriter;
use signing::{SecureLink, SecureLinkConfig, Signing, SigningConfig};

config::dialects! {
    /// Andon's own URLs.
    native: NativeConfig,
    /// imgproxy's URLs.
    imgproxy: ImgproxyConfig,
    /// ngx_small_light's URLs.
    small_light: SmallLightConfig,
    /// The URLs that rewrite rules make of nginx's image_filter locations.
    image_filter: ImageFilterConfig,
    /// The IIIF Image API's URLs.
    iiif: IiifConfig,
    /// Cloudflare's URLs.
    cloudflare: CloudflareConfig,
    /// thumbor's URLs.
    thumbor: ThumborConfig,
    /// imagor's URLs.
    imagor: ImagorConfig,
    /// weserv's URLs.
    weserv: WeservConfig,
    /// imgix's URLs, which may be those of files.
    imgix: ImgixConfig,
}

/// The file of all [`Dialects::examples`], with its slash.
pub const EXAMPLE_SOURCE: &str = "/trip/a.jpg";

/// Makes a dialect, if the configuration has it switched on.
pub type Maker = fn(&Config) -> Result<Option<Box<dyn Dialect>>, ConfigError>;

/// The dialects that are switched on, ready to read targets. Shared by all requests.
#[derive(Debug)]
pub struct Dialects {
    signing: Signing,
    links: Vec<SecureLink>,
    rewriter: Rewriter,
    dialects: Vec<(&'static str, Box<dyn Dialect>)>,
}

impl Dialects {
    /// Compiles the configuration.
    ///
    /// # Errors
    /// The first rule or key that cannot work.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        let mut dialects = Vec::new();
        for (name, make) in ALL {
            dialects.extend(make(config)?.map(|dialect| (*name, dialect)));
        }
        dialects.sort_by_key(|(_, dialect)| dialect.reads_everything());
        let links = config.secure_link.iter().enumerate();
        Ok(Self {
            signing: config.signing.checked()?,
            links: links
                .map(|(index, link)| SecureLink::new(index, link))
                .collect::<Result<_, _>>()?,
            rewriter: Rewriter::new(&config.rewrite)?,
            dialects,
        })
    }

    /// The same without all dialects but one, if that is switched on.
    #[must_use]
    pub fn only(mut self, name: &str) -> Option<Self> {
        self.dialects.retain(|(known, _)| *known == name);
        (!self.dialects.is_empty()).then_some(self)
    }

    /// A target in each language, with [`EXAMPLE_SOURCE`] as its file.
    pub fn examples(&self) -> impl Iterator<Item = String> {
        self.dialects.iter().map(|(_, dialect)| dialect.example())
    }

    /// Where the source is in targets of each language, for load balancers: regular expressions over the raw target,
    /// whose one group is the source; in the order in which they are to be tried. Targets that match none are files, or
    /// are rewritten.
    pub fn source_patterns(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.dialects.iter().flat_map(|(name, dialect)| {
            let patterns = dialect.source_patterns().into_iter();
            patterns.map(move |pattern| (*name, format!("^(?:/~[^/?]+)?{pattern}")))
        })
    }

    /// What the target of a request (path and query as received, such as `/a%20b.jpg?x=1`) asks for.
    ///
    /// # Errors
    /// A target that is broken, or asks for what may not be: the client's fault.
    pub fn parse(&self, raw_target: &str) -> Result<ImageRequest, Refusal> {
        self.parse_with(raw_target, &NoHeaders)
    }

    /// The same for a target that came with headers.
    ///
    /// # Errors
    /// As [`Dialects::parse`].
    pub fn parse_with(
        &self,
        raw_target: &str,
        headers: &dyn Headers,
    ) -> Result<ImageRequest, Refusal> {
        // HTTP sends none without it; what is typed at a command line means the same.
        let raw_target = match raw_target.starts_with('/') {
            true => Cow::Borrowed(raw_target),
            false => Cow::Owned(format!("/{raw_target}")),
        };
        let signed = self.signing.open(&raw_target)?;
        let headers = HeadersRead::new(headers);
        let mut expires = signed.expires;
        for link in &self.links {
            let until = link.check(&Target::new(&signed.rest).with_headers(&headers))?;
            expires = expires.into_iter().chain(until).min();
        }
        let mut request = self.read(&signed.rest, &headers)?;
        let said = request.style.expires;
        request.style.expired = match said.is_some_and(|said| expires.is_none_or(|end| said < end))
        {
            true => request.style.errors,
            false => OWN_ERRORS,
        };
        request.style.expires = said.into_iter().chain(expires).min();
        request.style.reads = headers.names();
        Ok(request)
    }

    /// What a target asks for whose signatures are taken off.
    fn read(&self, raw: &str, headers: &HeadersRead<'_>) -> Result<ImageRequest, Refusal> {
        let rewritten = self.rewriter.apply(raw);
        let target = Target::new(&rewritten).with_headers(headers);
        for (_, dialect) in &self.dialects {
            let parsed = dialect.parse(&target).map_err(|refusal| Refusal {
                errors: dialect.errors(),
                ..refusal
            })?;
            if let Some(mut request) = parsed {
                request.style.errors = dialect.errors_of(&request.ask);
                return Ok(request);
            }
        }
        Ok(ImageRequest::file(Source::from_raw(target.path)?))
    }

    /// The request in every language that can say it: the dialect's name and the target.
    pub fn write<'a>(
        &'a self,
        request: &'a ImageRequest,
    ) -> impl Iterator<Item = (&'static str, String)> + 'a {
        self.dialects.iter().filter_map(move |(name, dialect)| {
            // A tilde would begin a signature.
            let target = dialect.write(request).filter(|it| !it.starts_with("/~"))?;
            // What a language cannot carry shows when it is read back, and what is rewritten, or another one takes for its
            // own.
            let again = self.read(&target, &HeadersRead::new(&NoHeaders)).ok()?;
            let same = again.ask == request.ask
                && again.source == request.source
                && again.rules.text() == request.rules.text();
            same.then_some((*name, target))
        })
    }
}

/// Of requests that came without any.
struct NoHeaders;

impl Headers for NoHeaders {
    fn get(&self, _: &str) -> Option<&str> {
        None
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;
