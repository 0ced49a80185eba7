//! The fast path for hits in memory and for files that the system has cached. They are answered without a future, a
//! header map or one of hyper's bodies.
//!
//! The reply is the one that [`App::answer`] gives to the same request, built by the same functions.

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use andon_dialects::ImageRequest;
use bytes::Bytes;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, StatusCode};

use super::record::RequestRecord;
use crate::handler::App;
use crate::http::{AfterReply, FastBody, Simple};
use crate::net::Peer;
use crate::origins::Blocking;
use crate::request::route::{Purpose, Route};
use crate::response::Reply;
use crate::response::varying::Varying;
use crate::response::{self, ranges};
use crate::results::served_file::{RecentBytes, ServedFile};
use crate::results::variant::RequestVariant;
use crate::trace::Trace;

impl App {
    /// Answers a simple request at once, if possible: writes the reply's head to `head` and returns the body. A large
    /// file is only returned if `sends_files`. Returns `None`, with `head` unchanged, if the request has to be answered
    /// in the usual way.
    pub(crate) fn at_once(
        &self,
        simple: &Simple<'_>,
        peer: Peer,
        sends_files: bool,
        head: &mut Vec<u8>,
    ) -> Option<FastBody> {
        let start = Instant::now();
        // Whether the client may use another route depends on headers that were not read here.
        if Route::of(Purpose::Images, simple.path(), |_| true) != Route::Image {
            return None;
        }
        let headers = || simple.accept.map(accepting).unwrap_or_default();
        let variant = self
            .targets
            .understood(simple.target, headers, &self.negotiation)?;
        let record = || {
            let (log, uri) = (&self.log, variant.uri.clone());
            let trace = simple.traceparent.and_then(Trace::of_value);
            let method = simple.method.clone();
            let mut record = RequestRecord::since(start, log, method, uri, peer, trace);
            record.asks_for(&variant.asked.request, variant.recipe.as_ref());
            record
        };
        let body = match variant.asked.request.is_file() && !variant.is_remote {
            true => self.file_at_once(simple, &variant, start, record, sends_files, head)?,
            false => self.result_at_once(simple, &variant, start, record, head)?,
        };
        let _ = write!(
            head,
            "date: {}\r\n\r\n",
            httpdate::HttpDate::from(SystemTime::now())
        );
        Some(match simple.method {
            Method::HEAD => FastBody::default(),
            _ => body,
        })
    }

    /// Answers with a result that is in memory and fresh, or returns `None`.
    fn result_at_once<'a>(
        &self,
        simple: &Simple<'_>,
        variant: &RequestVariant,
        start: Instant,
        record: impl FnOnce() -> RequestRecord<'a>,
        head: &mut Vec<u8>,
    ) -> Option<FastBody> {
        let hit = self.maker.at_hand(variant, start)?;
        let mut record = record();
        record.took_all(hit.stages);
        let entry = &hit.entry;
        let cached_head = variant.head(entry);
        let wire = || {
            let reply = cached_head.reply(&HeaderMap::new(), &entry.body);
            let length = reply.body().length();
            self.wire(reply.into_parts().0.headers, length)
        };
        begin(head, cached_head.wire(wire), simple.after);
        let style = &variant.asked.request.style;
        let freshness = (hit.age, hit.status);
        cached_head
            .varying((entry, style), freshness, record.stages())
            .write(head);
        record.is_made_of(cached_head.source_bytes);
        record.finish_with(StatusCode::OK, entry.body.len() as u64);
        Some(FastBody::Bytes(entry.body.clone()))
    }

    /// Answers with a file of a folder that was served before and has not changed since, which is checked on every
    /// request.
    fn file_at_once<'a>(
        &self,
        simple: &Simple<'_>,
        variant: &RequestVariant,
        start: Instant,
        record: impl FnOnce() -> RequestRecord<'a>,
        sends_files: bool,
        head: &mut Vec<u8>,
    ) -> Option<FastBody> {
        let served_file = variant.served()?;
        let (request, resolver) = (&variant.asked.request, &self.maker.resolver);
        let is_still = |recent: &RecentBytes| resolver.is_still(request, &recent.status);
        let (body, stage) = match served_file.recent(start).filter(is_still) {
            Some(recent) => {
                served_file.is_used(start);
                (FastBody::Bytes(recent.bytes), "cache")
            }
            None => (
                self.file_body(request, &served_file, start, sends_files)?,
                "fetch",
            ),
        };
        let mut record = record();
        record.took(stage, start.elapsed());
        begin(head, &served_file.wire, simple.after);
        let varying = Varying {
            stages: record.stages(),
            cache_control: self.lifetime(request),
            ..Varying::default()
        };
        varying.write(head);
        record.finish_with(StatusCode::OK, served_file.end);
        Some(body)
    }

    /// Opens the file and returns the body to send, or `None` if the file has changed or has to be read piece by piece.
    fn file_body(
        &self,
        request: &ImageRequest,
        served_file: &Arc<ServedFile>,
        start: Instant,
        sends_files: bool,
    ) -> Option<FastBody> {
        let (resolver, results) = (&self.maker.resolver, &self.maker.results);
        let (file, figures) = resolver.reopened(request, &served_file.identity)?;
        let body = match served_file.end {
            ..=MOST_COPIED => {
                let bytes = file
                    .piece(0, served_file.end as usize, Blocking::Refused)
                    .ok()?;
                if let Some(status) = file.status(SystemTime::now()) {
                    results
                        .files
                        .keep(served_file, bytes.clone(), status, start);
                }
                FastBody::Bytes(bytes)
            }
            ..=MOST_SENT if sends_files && file.is_cached(0..served_file.end) => {
                FastBody::File(Arc::new(file), served_file.end)
            }
            _ => return None,
        };
        figures.count(Ok(Some(served_file.identity.size)), start.elapsed());
        Some(body)
    }

    /// Returns the part of a reply's head that is the same for all simple requests for one target: the status line,
    /// `headers`, and the headers that every reply with a body of `length` bytes has. The headers that vary follow this
    /// part.
    pub(super) fn wire(&self, headers: HeaderMap, length: u64) -> Bytes {
        let (plainest, ()) = Request::new(()).into_parts();
        let mut reply = Reply::default();
        *reply.headers_mut() = headers;
        ranges::apply(&plainest, &mut reply);
        self.cors.apply(&plainest.headers, &mut reply);
        response::add_headers(&mut reply, &self.further_headers);
        reply
            .headers_mut()
            .insert(header::CONTENT_LENGTH, length.into());
        let mut wire = [HTTP_1, b"1 200 OK\r\n"].concat();
        for (name, value) in reply.headers() {
            for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
                wire.extend_from_slice(part);
            }
        }
        wire.into()
    }
}

/// Begins a reply's head with `wire`, the part that is the same for all simple requests for one target, and marks in it
/// what happens to the connection after the reply.
fn begin(head: &mut Vec<u8>, wire: &[u8], after: AfterReply) {
    let version = head.len() + HTTP_1.len();
    head.extend_from_slice(wire);
    match after {
        AfterReply::Kept => {}
        AfterReply::Closed => head.extend_from_slice(b"connection: close\r\n"),
        AfterReply::ClosedByHttp10 => head[version] = b'0',
    }
}

/// Largest file, in bytes, whose content is read into a buffer and sent from there. Up to this size, that takes no
/// longer than checking whether the file is in the page cache and sending it by `sendfile`.
const MOST_COPIED: u64 = 64 << 10;

/// Largest file, in bytes, that is sent on the fast path; larger files are read piece by piece. Checking whether a file
/// of this length is in the page cache takes some microseconds.
const MOST_SENT: u64 = 8 << 20;

/// The beginning of a status line, up to the minor version.
const HTTP_1: &[u8] = b"HTTP/1.";

fn accepting(accept: &[u8]) -> HeaderMap {
    // An `Accept` that is not a valid header value names no format.
    let value = HeaderValue::from_bytes(accept);
    value
        .into_iter()
        .map(|value| (header::ACCEPT, value))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http_body_util::{BodyExt, Empty};

    use super::*;
    use crate::config::Config;

    const TARGET: &str = "/small_light(dw=20,of=auto)/a.jpg";

    /// Returns an app that checks its files again after `fresh`.
    fn app(folder: &tempfile::TempDir, fresh: &str, keys: &str) -> App {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/jpeg/420.jpg");
        std::fs::copy(sample, folder.path().join("a.jpg")).unwrap();
        let keys = format!(
            "{keys}\n[cache]\nfs_fresh = \"{fresh}\"\n[[origin]]\nfs.root = \".\"\n[log]\nformat = \"off\"\n"
        );
        let config = Config::parse(&keys, folder.path()).unwrap();
        App::new(&config, andon_codecs::ALL, Arc::default(), None).unwrap()
    }

    async fn answer(app: &App, method: &Method, target: &str, accept: Option<&str>) -> Reply {
        let mut request = Request::builder().method(method).uri(target);
        request = request.header("host", "h");
        if let Some(accept) = accept {
            request = request.header("accept", accept);
        }
        let request = request.body(Empty::<Bytes>::new()).unwrap();
        app.answer(Route::Image, request, Peer::Unix).await
    }

    fn at_once(app: &App, asked: &Simple<'_>) -> Option<(String, Bytes)> {
        let mut head = Vec::new();
        let body = match app.at_once(asked, Peer::Unix, false, &mut head)? {
            FastBody::Bytes(body) => body,
            FastBody::File(..) => panic!("nobody can send a file"),
        };
        Some((String::from_utf8(head).unwrap(), body))
    }

    fn get(target: &str) -> Simple<'_> {
        Simple::new(Method::GET, target, None)
    }

    /// Returns the headers sorted, and without what depends on the clock.
    fn timeless<'a>(headers: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
        let timed = |name| match name {
            "date" => Some(""),
            "server-timing" => Some("dur="),
            "cache-status" => Some("ttl="),
            _ => None,
        };
        let mut headers: Vec<_> = headers
            .map(|(name, value)| {
                let end = timed(name).map(|end| value.find(end).expect(end));
                format!("{name}: {}", &value[..end.unwrap_or(value.len())])
            })
            .collect();
        headers.sort();
        headers
    }

    #[tokio::test]
    async fn it_says_what_the_long_way_says() {
        for keys in [
            "",
            "[cors]\norigins = [\"https://a\"]",
            "[debug]\nplan_header = true",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let app = app(&folder, "1h", keys);
            for accept in [None, Some("image/webp"), Some("image/jpeg")] {
                let _ = answer(&app, &Method::GET, TARGET, accept).await;
                for method in [Method::GET, Method::HEAD] {
                    let reply = answer(&app, &method, TARGET, accept).await;
                    let simple = Simple::new(method.clone(), TARGET, accept.map(str::as_bytes));
                    let (text, body) = at_once(&app, &simple).expect("a hit");

                    let (mut long, long_body) = reply.into_parts();
                    let long_body = long_body.collect().await.unwrap().to_bytes();
                    let now = HeaderValue::from_static("now");
                    long.headers.insert(header::DATE, now);
                    let length = long_body.len().into();
                    long.headers.insert(header::CONTENT_LENGTH, length);
                    let long = long.headers.iter();
                    let long = long.map(|(name, value)| (name.as_str(), value.to_str().unwrap()));

                    let told = text
                        .strip_prefix("HTTP/1.1 200 OK\r\n")
                        .and_then(|text| text.strip_suffix("\r\n\r\n"))
                        .expect("a head");
                    let told = told
                        .split("\r\n")
                        .map(|line| line.split_once(": ").unwrap());
                    assert_eq!(timeless(told), timeless(long), "{keys}");
                    match method {
                        Method::HEAD => assert!(body.is_empty()),
                        _ => assert!(body == long_body),
                    }
                }
            }
        }
    }

    #[tokio::test]
    async fn what_memory_alone_cannot_answer_leaves_no_trace() {
        let folder = tempfile::tempdir().unwrap();
        let app = app(&folder, "1h", "[metrics]\nallow = \"all\"");
        let _ = answer(&app, &Method::GET, TARGET, None).await;
        for target in ["/missing", "/healthz", "/metrics"] {
            let _ = answer(&app, &Method::GET, target, None).await;
            let before = app.maker.results.cache.stats();
            assert!(at_once(&app, &get(target)).is_none(), "{target}");
            assert_eq!(app.maker.results.cache.stats(), before);
        }
        let other = "/small_light(dw=21)/a.jpg";
        assert!(at_once(&app, &get(other)).is_none());
        assert!(at_once(&app, &get(TARGET)).is_some());
    }

    #[tokio::test]
    async fn a_file_is_the_same_as_on_the_long_way_for_as_long_as_it_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let app = app(&folder, "1h", "");
        assert!(at_once(&app, &get("/a.jpg")).is_none());
        let long = answer(&app, &Method::GET, "/a.jpg", None).await;
        let long = long.into_body().collect().await.unwrap().to_bytes();
        let path = folder.path().join("a.jpg");
        // Not every file system can tell what it has in memory.
        if let Some((head, body)) = at_once(&app, &get("/a.jpg")) {
            assert!(head.contains("fetch;") && body == long);
            // Its bytes are kept as soon as every further change has another time.
            let kept = loop {
                match at_once(&app, &get("/a.jpg")) {
                    Some((head, body)) if head.contains("cache;") => break body,
                    _ => tokio::time::sleep(Duration::from_millis(20)).await,
                }
                let age = path.metadata().unwrap().modified().unwrap().elapsed();
                assert!(age.unwrap_or_default() < Duration::from_secs(30));
            };
            assert!(kept == long);
        }
        std::fs::write(path, "another").unwrap();
        assert!(at_once(&app, &get("/a.jpg")).is_none());
    }

    #[tokio::test]
    async fn what_was_purged_is_not_known_here_either() {
        let folder = tempfile::tempdir().unwrap();
        let app = app(&folder, "1h", "");
        let _ = answer(&app, &Method::GET, TARGET, None).await;
        assert!(at_once(&app, &get(TARGET)).is_some());
        let everything = andon_cache::Selector::Everything;
        let _ = app
            .maker
            .results
            .purge(everything.clone(), vec![everything])
            .await;
        assert!(at_once(&app, &get(TARGET)).is_none());
    }

    #[tokio::test]
    async fn a_file_is_looked_at_as_often_as_on_the_long_way() {
        let folder = tempfile::tempdir().unwrap();
        let app = app(&folder, "0s", "");
        for _ in 0..2 {
            let _ = answer(&app, &Method::GET, TARGET, None).await;
            assert!(at_once(&app, &get(TARGET)).is_none());
        }
    }
}
