//! Fallbacks, which are sent in place of images whose sources are unavailable.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use andon_dialects::{Ask, Fallback, Fault, ImageRequest, Source};
use hyper::{HeaderMap, StatusCode, header};

use super::App;
use super::serve::Exchange;
use crate::config::{ConfigError, FallbackConfig};
use crate::error::Error;
use crate::request::negotiation::SettledRequest;
use crate::response::{self, Reply};
use crate::results::variant::RequestVariant;
use crate::sources::resolver::Resolver;

/// The `[[fallback]]` tables of a configuration.
#[derive(Debug)]
pub(crate) struct Fallbacks(Vec<Configured>);

/// One `[[fallback]]` table.
#[derive(Debug)]
struct Configured {
    terms: FallbackConfig,
    /// The source of its image.
    image: Option<Source>,
    /// Whether the last request for its image failed.
    is_failing: AtomicBool,
}

impl Fallbacks {
    /// Locates the image of each table.
    ///
    /// # Errors
    /// Names an image that no origin has.
    pub(super) fn new(tables: &[FallbackConfig], resolver: &Resolver) -> Result<Self, ConfigError> {
        let configured = |(index, terms): (usize, &FallbackConfig)| {
            let locate =
                |name: &String| resolver.configured(name, format!("fallback.{index}.image"));
            Ok(Configured {
                terms: terms.clone(),
                image: terms.image.as_ref().map(locate).transpose()?,
                is_failing: AtomicBool::new(false),
            })
        };
        let all = tables.iter().enumerate().map(configured);
        Ok(Self(all.collect::<Result<_, ConfigError>>()?))
    }

    /// Returns the table for a source, if there is one.
    fn of(&self, source: &str) -> Option<&Configured> {
        FallbackConfig::of(&self.0, source, |one| &one.terms)
    }
}

impl Configured {
    /// Logs that the image cannot be had, or can be had again, once for each change.
    fn note(&self, made: &Result<Reply, Error>) {
        let fault = made.as_ref().err();
        if fault.is_some_and(|error| !is_the_sources(error)) {
            return;
        }
        let was_failing = self.is_failing.swap(fault.is_some(), Ordering::Relaxed);
        let image = self.terms.image.as_deref().unwrap_or_default();
        match fault {
            Some(error) if !was_failing => {
                tracing::warn!(%error, "the image \"{image}\" of a [[fallback]] cannot be sent");
            }
            None if was_failing => {
                tracing::info!("the image \"{image}\" of a [[fallback]] can be sent again");
            }
            _ => {}
        }
    }
}

impl App {
    /// Returns the fallback image, rendered as the request says, or a redirect to another URL. Without a usable
    /// fallback, returns `error`. Clients get the fallback without validators, so that they get the image itself once
    /// its source is available.
    pub(super) async fn fall_back(
        &self,
        exchange: &mut Exchange<'_, '_>,
        known: &RequestVariant,
        error: Error,
    ) -> Result<Reply, Error> {
        let asked = &known.asked.request;
        if asked.ask != Ask::Image || !is_the_sources(&error) {
            return Err(error);
        }
        let configured = self.fallbacks.of(&asked.source.place());
        let named = asked.style.fallback.clone();
        // A fallback that the URL names goes first, and is not the operator's to mend.
        let own = configured.filter(|_| named.is_none());
        let image = || Some(Fallback::Image(own?.image.clone()?));
        let Some(fallback) = named.or_else(image) else {
            return Err(error);
        };
        let source = match fallback {
            Fallback::Image(source) => source,
            Fallback::Redirect(to) => {
                let (status, errors) = (302, asked.style.errors);
                return Err(Error::Moved { to, status, errors });
            }
        };
        let settled = with_source(asked, source);
        let other = Arc::new(RequestVariant::new(exchange.target, settled, &self.maker));
        let made = self.result(exchange, &other, &HeaderMap::new()).await;
        if let Some(own) = own {
            own.note(&made);
        }
        let Ok(mut reply) = made else {
            return Err(error);
        };
        let terms = configured.map_or_else(FallbackConfig::default, |it| it.terms.clone());
        let failed = exchange.record.failed(&error).status();
        *reply.status_mut() = match terms.status {
            0 => failed,
            status => StatusCode::from_u16(status).unwrap_or(failed),
        };
        reply.headers_mut().remove(header::ETAG);
        reply.headers_mut().remove(header::LAST_MODIFIED);
        if known.asked.negotiated {
            response::vary(&mut reply, "Accept");
        }
        response::set_cache_control(&mut reply, &format!("max-age={}", terms.ttl.0.as_secs()));
        response::set_fallback(&mut reply, error.label());
        Ok(reply)
    }
}

/// Returns the request with another source.
fn with_source(asked: &ImageRequest, source: Source) -> SettledRequest {
    let request = ImageRequest {
        source,
        ..asked.clone()
    };
    SettledRequest {
        request: Arc::new(request),
        // However long its writing takes: there is no other format to go to.
        negotiated: false,
        is_open: false,
    }
}

/// Whether the source is to blame for the error, so that another source may succeed.
fn is_the_sources(error: &Error) -> bool {
    use Fault::{Damaged, Limit, Missing, NotImage, Origin, Source, Unsupported};
    let faults = [
        Missing,
        Source,
        NotImage,
        Damaged,
        Unsupported,
        Limit,
        Origin,
    ];
    faults.contains(&error.kind()) || matches!(error.root(), Error::Origin(_))
}
