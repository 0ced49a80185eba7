//! Serves `/readyz`, and `/metrics` at the addresses and for the clients that the configuration allows.

use andon_dialects::OWN_ERRORS;
use bytes::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Request, Response, StatusCode};

use super::check_method;
use super::local::check_site;
use crate::error::Error;
use crate::handler::App;
use crate::operations::metrics::{admission, cache, origins, processes, store};
use crate::prometheus::{Format, MetricSet};
use crate::request::forwarded::Visitor;
use crate::request::negotiation;
use crate::request::route::{Purpose, Route};
use crate::response::{self, Reply};

impl App {
    /// Answers requests for metrics, health and readiness, and with 404 all others at an address for metrics.
    pub(crate) fn monitoring<B>(
        &self,
        route: Route,
        request: &Request<B>,
        purpose: Purpose,
        visitor: Visitor,
    ) -> Reply {
        let check = check_method(request.method()).and_then(|()| match route {
            Route::Metrics => {
                check_site(request.headers())?;
                match purpose {
                    Purpose::Metrics => self.check_own_host(visitor, request.headers()),
                    Purpose::Images => Ok(()),
                }
            }
            _ => Ok(()),
        });
        if let Err(error) = check {
            return response::error(&error, error.status(), OWN_ERRORS);
        }
        match route {
            Route::Metrics => {
                let prefers_new = negotiation::prefers(request.headers(), OPENMETRICS, TEXT);
                self.exposition(if prefers_new {
                    Format::OpenMetrics
                } else {
                    Format::Text
                })
            }
            Route::Health => response::healthy(),
            Route::Ready => match self.readiness.check().and_then(|()| self.maker.turns()) {
                Ok(()) => response::healthy(),
                Err(error) => response::error(&error, error.status(), OWN_ERRORS),
            },
            _ => {
                let path = request.uri().path().trim_start_matches('/').to_owned();
                response::error(&Error::Missing { path }, StatusCode::NOT_FOUND, OWN_ERRORS)
            }
        }
    }

    /// Reads all metrics.
    pub(crate) fn metric_set(&self) -> MetricSet {
        let mut out = MetricSet::new(self.metrics.start());
        self.metrics.write(&mut out);
        admission::write(&mut out, &self.maker.admission.gauges());
        admission::write_headers(&mut out, self.maker.headers.counts());
        if let Some(pool) = andon_isolation::installed() {
            processes::write(&mut out, &pool.counts());
        }
        let results = &self.maker.results;
        let stats = results.cache.stats();
        out.since(results.cache_began);
        cache::write(&mut out, &stats);
        store::write(&mut out, stats.store.as_ref());
        // A reload resets the counters that follow.
        out.since(self.began);
        let waiting = [
            results.flights.followers(),
            results.fetches.followers(),
            results.measured.followers() + results.indexes.followers(),
        ];
        cache::write_coalesced(&mut out, waiting);
        let (saved_fetches, source_stats) = results.sources.figures();
        cache::write_sources(&mut out, saved_fetches, &source_stats);
        origins::write(&mut out, self.maker.resolver.origins());
        out
    }

    fn exposition(&self, format: Format) -> Reply {
        let text = self.metric_set().text(format);
        let mut reply = Response::new(Bytes::from(text).into());
        for (name, value) in [
            (header::CONTENT_TYPE, format.media_type()),
            (header::CACHE_CONTROL, "no-store"),
            (header::VARY, "Accept"),
        ] {
            let value = HeaderValue::from_static(value);
            reply.headers_mut().insert(name, value);
        }
        reply
    }
}

const OPENMETRICS: &str = "application/openmetrics-text";

const TEXT: &str = "text/plain";
