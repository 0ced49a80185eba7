//! Fallbacks, which are sent in place of images whose sources are unavailable.

use std::sync::Arc;

use andon_dialects::{Ask, Fallback, Fault, ImageRequest, Source};
use hyper::{HeaderMap, StatusCode, header};

use super::App;
use super::serve::Exchange;
use crate::config::FallbackConfig;
use crate::error::Error;
use crate::request::negotiation::SettledRequest;
use crate::response::{self, Reply};
use crate::results::variant::RequestVariant;

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
        let terms = FallbackConfig::of(&self.fallbacks, &asked.source.place());
        let configured = || {
            let source = Source::from_path(terms.image.as_ref()?);
            let origins = self.maker.resolver.origins();
            Some(Fallback::Image(origins.settle(source)))
        };
        let Some(fallback) = asked.style.fallback.clone().or_else(configured) else {
            return Err(error);
        };
        let source = match fallback {
            Fallback::Image(source) => source,
            Fallback::Redirect(to) => {
                let errors = asked.style.errors;
                return Err(Error::Moved {
                    to,
                    status: 302,
                    errors,
                });
            }
        };
        let settled = with_source(asked, source);
        let other = Arc::new(RequestVariant::new(exchange.target, settled, &self.maker));
        let made = self.result(exchange, &other, &HeaderMap::new()).await;
        let Ok(mut reply) = made else {
            return Err(error);
        };
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
