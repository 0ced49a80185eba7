//! W3C Trace Context (level 1): the trace that a request belongs to, as a proxy or client in front states in
//! `traceparent`.
//!
//! The server is a span of such a trace. The id of this span is logged, and sent to origins as that of their caller. A
//! request without a valid `traceparent` belongs to no trace; the server does not begin one.

mod parent;

use std::future::Future;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use hyper::header::{HeaderMap, HeaderName, HeaderValue};

use self::parent::TraceParent;

/// The header that names the trace and the caller's span.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The header with data of systems that took part in the trace before, which is passed on to origins.
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// The trace of a request, and this server's span of it.
#[derive(Debug)]
pub(crate) struct Trace {
    caller: TraceParent,
    span: String,
    state: Option<HeaderValue>,
}

impl Trace {
    /// Returns the trace of a request with these headers; `None` unless they contain exactly one `traceparent`, and a
    /// valid one.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Arc<Self>> {
        let mut parents = headers.get_all(TRACEPARENT).iter();
        let caller = parents.next()?.as_bytes();
        // If there are two, it is unknown which one is right.
        match parents.next() {
            Some(_) => None,
            None => Self::called_by(caller, state(headers)),
        }
    }

    /// Returns the trace of a request that came with one `traceparent`, if that is valid.
    pub(crate) fn of_value(parent: &[u8]) -> Option<Arc<Self>> {
        Self::called_by(parent, None)
    }

    fn called_by(parent: &[u8], state: Option<HeaderValue>) -> Option<Arc<Self>> {
        Some(Arc::new(Self {
            caller: TraceParent::parse(parent)?,
            span: new_span(),
            state,
        }))
    }

    /// The trace's id: 32 hexadecimal digits.
    pub(crate) fn id(&self) -> &str {
        &self.caller.trace
    }

    /// The caller's span: 16 hexadecimal digits.
    pub(crate) fn parent(&self) -> &str {
        &self.caller.span
    }

    /// This server's span: 16 hexadecimal digits.
    pub(crate) fn span(&self) -> &str {
        &self.span
    }

    /// Whether the caller records the trace.
    pub(crate) fn is_sampled(&self) -> bool {
        self.caller.is_sampled()
    }

    /// Writes the trace into the headers of a request to another server, with this server's span as the caller.
    pub(crate) fn tell(&self, headers: &mut HeaderMap) {
        let text = self.caller.with_span(&self.span);
        // Digits and dashes are always a valid value.
        if let Ok(value) = HeaderValue::from_str(&text) {
            headers.insert(TRACEPARENT, value);
        }
        if let Some(state) = &self.state {
            headers.insert(TRACESTATE, state.clone());
        }
    }
}

tokio::task_local! {
    /// The trace of the request that this task works for.
    static TRACE: Option<Arc<Trace>>;
}

/// Runs `work` as a part of this trace, so that requests to origins that `work` makes belong to the trace as well.
pub(crate) fn within<W: Future>(
    trace: Option<Arc<Trace>>,
    work: W,
) -> impl Future<Output = W::Output> {
    TRACE.scope(trace, work)
}

/// Returns the trace of the request that this task works for.
pub(crate) fn current() -> Option<Arc<Trace>> {
    TRACE.try_with(Clone::clone).unwrap_or_default()
}

/// Joins the lists of all `tracestate` headers, in their order. Returns `None` if there are none, if one is not ASCII
/// text, or if the joined list is longer than [`LONGEST_STATE`].
fn state(headers: &HeaderMap) -> Option<HeaderValue> {
    let lists: Option<Vec<&str>> = headers
        .get_all(TRACESTATE)
        .iter()
        .map(|list| list.to_str().ok())
        .collect();
    let joined = lists.filter(|lists| !lists.is_empty())?.join(",");
    let is_short = joined.len() <= LONGEST_STATE;
    is_short
        .then(|| HeaderValue::from_str(&joined).ok())
        .flatten()
}

/// Returns a random span id of 16 hexadecimal digits, which is never zero because zero means none.
pub(crate) fn new_span() -> String {
    loop {
        // Each `RandomState` hashes differently. A span id need not be unpredictable.
        let number = RandomState::new().build_hasher().finish();
        if number != 0 {
            return format!("{number:016x}");
        }
    }
}

/// Maximum length in characters of a `tracestate` that is passed on; the specification asks for at least as many.
const LONGEST_STATE: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn headers(all: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        };
        let mut headers = HeaderMap::new();
        for (name, value) in all.iter().map(pair) {
            headers.append(name, value);
        }
        headers
    }

    #[test]
    fn an_origin_is_told_the_trace_and_a_span_of_our_own() {
        let asked = headers(&[
            ("traceparent", PARENT),
            ("tracestate", "a=1"),
            ("tracestate", "b=2,c=3"),
        ]);
        let trace = Trace::of(&asked).unwrap();
        assert_eq!(trace.id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(trace.parent(), "00f067aa0ba902b7");
        let mut told = HeaderMap::new();
        trace.tell(&mut told);
        let expected = format!("00-{}-{}-01", trace.id(), trace.span());
        assert_eq!(told[TRACEPARENT], *expected);
        assert_eq!(told[TRACESTATE], "a=1,b=2,c=3");
        assert!(TraceParent::parse(told[TRACEPARENT].as_bytes()).is_some());
        assert_ne!(trace.span(), trace.parent());
    }

    #[test]
    fn each_request_is_a_span_of_its_own() {
        let asked = headers(&[("traceparent", PARENT)]);
        let spans: std::collections::HashSet<_> = (0..1000)
            .map(|_| Trace::of(&asked).unwrap().span().to_owned())
            .collect();
        assert_eq!(spans.len(), 1000);
    }

    #[test]
    fn without_one_good_parent_there_is_no_trace() {
        for asked in [
            headers(&[]),
            headers(&[("tracestate", "a=1")]),
            headers(&[("traceparent", "nonsense"), ("tracestate", "a=1")]),
            headers(&[("traceparent", PARENT), ("traceparent", PARENT)]),
        ] {
            assert!(Trace::of(&asked).is_none(), "{asked:?}");
        }
    }

    #[test]
    fn a_state_that_nobody_has_to_pass_on_is_left_out() {
        let mut asked = headers(&[("traceparent", PARENT)]);
        let long = format!("a={}", "b".repeat(600));
        asked.insert(TRACESTATE, HeaderValue::from_str(&long).unwrap());
        let mut told = HeaderMap::new();
        Trace::of(&asked).unwrap().tell(&mut told);
        assert!(told.contains_key(TRACEPARENT) && !told.contains_key(TRACESTATE));
    }

    #[tokio::test]
    async fn work_knows_the_trace_that_it_is_for() {
        assert!(current().is_none());
        let trace = Trace::of_value(PARENT.as_bytes());
        let id = within(trace, async { current().map(|it| it.id().to_owned()) }).await;
        assert_eq!(id.as_deref(), Some("4bf92f3577b34da6a3ce929d0e0e4736"));
    }
}
