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
pub(crate) struct Fallbacks(Vec<ConfiguredFallback>);

/// One `[[fallback]]` table.
#[derive(Debug)]
struct ConfiguredFallback {
    terms: FallbackConfig,
    /// Where the table's `image` is read from; `None` if the table has no `image`. In that case only fallback images
    /// that request URLs name are sent.
    image: Option<Source>,
    /// Whether the last request for the table's image failed.
    is_failing: AtomicBool,
}

impl Fallbacks {
    /// Locates the image of each table.
    ///
    /// # Errors
    /// An error that names an image that belongs to no origin.
    pub(super) fn new(tables: &[FallbackConfig], resolver: &Resolver) -> Result<Self, ConfigError> {
        let configure = |(index, terms): (usize, &FallbackConfig)| {
            let locate =
                |name: &String| resolver.configured(name, format!("fallback.{index}.image"));
            Ok(ConfiguredFallback {
                terms: terms.clone(),
                image: terms.image.as_ref().map(locate).transpose()?,
                is_failing: AtomicBool::new(false),
            })
        };
        let entries = tables.iter().enumerate().map(configure);
        Ok(Self(entries.collect::<Result<_, ConfigError>>()?))
    }

    /// Returns the `[[fallback]]` table that applies to a source, if any.
    fn of(&self, source: &str) -> Option<&ConfiguredFallback> {
        FallbackConfig::of(&self.0, source, |one| &one.terms)
    }
}

impl ConfiguredFallback {
    /// Logs when the fallback image becomes unavailable and when it is available again, once for each change. Errors
    /// that are not the source's, such as overload, are ignored.
    fn note(&self, result: &Result<Reply, Error>) {
        let fault = result.as_ref().err();
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
        variant: &RequestVariant,
        error: Error,
    ) -> Result<Reply, Error> {
        let request = &variant.asked.request;
        if request.ask != Ask::Image || !is_the_sources(&error) {
            return Err(error);
        }
        let entry = self.fallbacks.of(&request.source.place());
        let url_fallback = request.style.fallback.clone();
        // A fallback named in the URL takes precedence. Its failures are not logged, as the operator cannot fix them.
        let operator_entry = entry.filter(|_| url_fallback.is_none());
        let image = || Some(Fallback::Image(operator_entry?.image.clone()?));
        let Some(fallback) = url_fallback.or_else(image) else {
            return Err(error);
        };
        let source = match fallback {
            Fallback::Image(source) => source,
            Fallback::Redirect(to) => {
                let (status, errors) = (302, request.style.errors);
                return Err(Error::Moved { to, status, errors });
            }
        };
        let fallback_request = with_source(request, source);
        let fallback_variant = Arc::new(RequestVariant::new(
            exchange.target,
            fallback_request,
            &self.maker,
        ));
        let result = self
            .result(exchange, &fallback_variant, &HeaderMap::new())
            .await;
        if let Some(entry) = operator_entry {
            entry.note(&result);
        }
        let Ok(mut reply) = result else {
            return Err(error);
        };
        let terms = entry.map_or_else(FallbackConfig::default, |it| it.terms.clone());
        let error_status = exchange.record.error_reply(&error).status();
        *reply.status_mut() = match terms.status {
            0 => error_status,
            status => StatusCode::from_u16(status).unwrap_or(error_status),
        };
        reply.headers_mut().remove(header::ETAG);
        reply.headers_mut().remove(header::LAST_MODIFIED);
        if variant.asked.negotiated {
            response::vary(&mut reply, "Accept");
        }
        response::set_cache_control(&mut reply, &format!("max-age={}", terms.ttl.0.as_secs()));
        response::set_fallback(&mut reply, error.label());
        Ok(reply)
    }
}

/// Returns the request with another source.
fn with_source(request: &ImageRequest, source: Source) -> SettledRequest {
    let request = ImageRequest {
        source,
        ..request.clone()
    };
    SettledRequest {
        request: Arc::new(request),
        // The format is final, however long encoding takes.
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
