//! URLs of the image component of Next.js: `/_next/image?url=%2Ftrip%2Fa.jpg&w=640&q=75`, and of Vercel's image API,
//! which has the same parameters at `/_vercel/image`.
//!
//! Follows the optimizer of Next.js 16: `query` has its checks, `patterns` the patterns of permitted sources, `rules`
//! its processing of images, and `errors` its messages.

mod config;
mod errors;
mod form;
mod patterns;
mod query;
mod rules;
mod spell;

pub use config::NextConfig;

use self::config::Disposition;
use self::errors::{INTERNAL, UPSTREAM};
use self::query::{Checks, Params};
use self::rules::NextRules;
use crate::dialect::{Dialect, Target};
use crate::disposition;
use crate::errors::ErrorStyle;
use crate::refusal::Refusal;
use crate::request::{AnswerStyle, ImageRequest, Keeping, Source};

/// The dialect, with its settings checked.
#[derive(Debug)]
struct Next {
    /// Prefixes of the dialect's URLs, without trailing slashes.
    prefixes: Vec<String>,
    checks: Checks,
    /// The engine's names of the formats that are selected by `Accept`, the preferred one first.
    formats: Vec<&'static str>,
    /// The path under which the application is mounted, without a trailing slash; empty: `/`.
    base_path: String,
    /// Scheme and authority that paths with a query are fetched from; empty: queries are left out.
    site: String,
    allow_svg: bool,
    /// Minimum number of seconds for which clients cache a result.
    least: u64,
    security_policy: String,
    disposition: Disposition,
}

impl Next {
    /// Returns the headers of a result, whose file name follows from the source at `href`.
    fn headers(&self, href: &str) -> Vec<(&'static str, String)> {
        let path = href.split(['?', '#']).next().unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default();
        let stem = name.split('.').next().unwrap_or_default();
        let extension = format!(".{}", AnswerStyle::LONG_EXTENSION);
        vec![
            (
                "content-disposition",
                disposition::named(self.disposition.word(), stem, &extension),
            ),
            ("content-security-policy", self.security_policy.clone()),
        ]
    }

    /// Returns how long clients cache a result, and the pattern of its `Cache-Control`. Sources that a bundler has
    /// named after a hash of their content are immutable.
    fn keeping(&self, href: &str) -> (Keeping, &'static str) {
        let path = href.strip_prefix(&self.base_path).unwrap_or_default();
        let hashed_folders = ["/_next/static/media", "/_next/static/immutable/media"];
        match hashed_folders.iter().any(|folder| path.starts_with(folder)) {
            true => {
                let (least, most) = (315_360_000, 315_360_000);
                (Keeping { least, most }, "public, max-age={}, immutable")
            }
            false => {
                let (least, most) = (self.least, u64::MAX);
                (
                    Keeping { least, most },
                    "public, max-age={}, must-revalidate",
                )
            }
        }
    }

    /// Returns the source for a permitted `url`.
    fn source(&self, params: &Params) -> Result<Source, Refusal> {
        let url = &params.url;
        if !params.is_local {
            return Ok(Source::Url(url.to_string()));
        }
        if let Some(query) = url.query().filter(|_| !self.site.is_empty()) {
            return Ok(Source::Url(format!("{}{}?{query}", self.site, url.path())));
        }
        // Next.js serves the folder `public` at the base path.
        let path = url.path();
        let rest = path.strip_prefix(&*self.base_path);
        let rest = rest.filter(|rest| rest.starts_with('/'));
        Source::from_raw(rest.unwrap_or(path))
    }
}

impl Dialect for Next {
    fn example(&self, path: &str) -> String {
        let prefix = self.prefixes.first().map_or("", String::as_str);
        // The path becomes a URL within a query, which is decoded twice.
        let source = path.replace('%', "%25").replace('/', "%2F");
        let (w, q) = self.checks.example_values();
        format!("{prefix}?url={source}&w={w}&q={q}")
    }

    fn errors(&self) -> ErrorStyle {
        ErrorStyle(&UPSTREAM)
    }

    fn errors_of(&self, request: &ImageRequest) -> ErrorStyle {
        match request.source {
            Source::Url(_) => ErrorStyle(&UPSTREAM),
            _ => ErrorStyle(&INTERNAL),
        }
    }

    fn source_patterns(&self) -> Vec<String> {
        let all = self.prefixes.iter();
        all.map(|prefix| {
            format!(
                "{}/?[?](?:[^&]*&)*url=(?:%2F|%2f|/)*([^&]*)",
                regex::escape(prefix)
            )
        })
        .collect()
    }

    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal> {
        // With the setting `trailingSlash` of Next.js, the path ends in a slash.
        let path = target.path.strip_suffix('/').unwrap_or(target.path);
        if !self.prefixes.iter().any(|prefix| prefix == path) {
            return Ok(None);
        }
        let params = Params::read(target.query.unwrap_or_default(), &self.checks)?;
        let accept = target.header("accept").unwrap_or_default();
        let format = query::preferred(&self.formats, accept);
        let href = match params.is_local {
            true => params.text.clone(),
            false => params.url.to_string(),
        };
        let rules = NextRules::new(params.width, params.quality, format, self.allow_svg);
        let request = ImageRequest::image(self.source(&params)?, rules);
        let (keeping, lifetime) = self.keeping(&href);
        Ok(Some(ImageRequest {
            style: AnswerStyle {
                exact: true,
                keeping: Some(keeping),
                lifetime,
                headers: self.headers(&href),
                ..AnswerStyle::default()
            },
            ..request
        }))
    }

    fn write(&self, request: &ImageRequest) -> Option<String> {
        let text = request.rules.text();
        let (w, rest) = text.strip_prefix("next(")?.split_once(';')?;
        let (q, _) = rest.split_once(';')?;
        let source = match &request.source {
            Source::Url(url) => url.clone(),
            path => format!("/{}", path.escaped()?),
        };
        let source = crate::percent::encode(&source, "");
        let prefix = self.prefixes.first()?;
        Some(format!("{prefix}?url={source}&w={w}&q={q}"))
    }
}

#[cfg(test)]
mod tests;
