//! `/metrics`, at the addresses and for the clients that the configuration allows.

use bytes::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use super::{Exposition, admission, cache, origins};
use crate::app::App;
use crate::error::Error;
use crate::handler::HEALTH;
use crate::http::Peer;
use crate::response::{self, Reply};

/// Where the figures are.
const PATH: &str = "/metrics";

impl App {
    /// Does this request, at an address for pictures, get the figures?
    pub(crate) fn shows_figures<B>(&self, request: &Request<B>, peer: Peer) -> bool {
        self.has_figures(request.uri().path(), peer)
    }

    /// The same for a path.
    pub(crate) fn has_figures(&self, path: &str, peer: Peer) -> bool {
        path == PATH && self.metrics_allow.reaches(peer)
    }

    /// The figures; at an address of their own there is nothing else but `/healthz`.
    pub(crate) fn figures<B>(&self, request: &Request<B>) -> Reply {
        let method = request.method();
        if method != Method::GET && method != Method::HEAD {
            let error = Error::Method(method.clone());
            return response::error(&error, error.status());
        }
        match request.uri().path() {
            PATH => {}
            HEALTH => return response::healthy(),
            path => {
                let path = path.trim_start_matches('/').to_owned();
                return response::error(&Error::Missing { path }, StatusCode::NOT_FOUND);
            }
        }
        let mut out = Exposition::default();
        self.metrics.write(&mut out);
        admission::write(&mut out, &self.maker.admission.gauges());
        let results = &self.maker.results;
        cache::write(&mut out, &results.cache.stats(), results.purges());
        let waiting = [results.flights.followers(), results.fetches.followers()];
        cache::write_coalesced(&mut out, waiting);
        origins::write(&mut out, self.maker.resolver.origins());
        let mut reply = Response::new(Bytes::from(out.finish()).into());
        for (name, value) in [
            (header::CONTENT_TYPE, Exposition::MEDIA_TYPE),
            (header::CACHE_CONTROL, "no-store"),
        ] {
            let value = HeaderValue::from_static(value);
            reply.headers_mut().insert(name, value);
        }
        reply
    }
}
