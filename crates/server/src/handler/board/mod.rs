//! The live dashboard, `/_andon/board`: a page, and the state of the server twice a second as server-sent events.
//!
//! One task encodes the events for all watchers. It starts with the first watcher, and ends with the last one, on a
//! reload, and when the server is told to stop. While it does not run, no slow requests are recorded. The history of the
//! last 15 minutes is always recorded, by the server's own loop, and is sent as one JSON document.

mod scene;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use andon_dialects::OWN_ERRORS;
use bytes::Bytes;
use hyper::Request;
use hyper::header::{self, HeaderValue};
use tokio::sync::watch;

use self::scene::Scene;
use super::local::check_site;
use super::page::{self, PageFile};
use super::{check_host, check_method};
use crate::error::Error;
use crate::handler::App;
use crate::request::forwarded::Visitor;
use crate::request::route::{BOARD, Purpose, below};
use crate::response::{self, Reply};

/// The channel of events for the watchers; `None` if there are no watchers.
type Updates = Mutex<Option<watch::Sender<Bytes>>>;

/// The watchers of one configuration's dashboard.
#[derive(Debug, Default)]
pub(crate) struct Board(Arc<Updates>);

impl Board {
    /// Adds a watcher, or returns an error if there are too many. The first one starts the task that sends events.
    fn join(&self, scene: Scene) -> Result<watch::Receiver<Bytes>, Error> {
        let mut updates = lock(&self.0);
        if let Some(sender) = &*updates {
            if sender.receiver_count() >= MOST_WATCHERS {
                return Err(Error::Watched(MOST_WATCHERS));
            }
            let mut receiver = sender.subscribe();
            receiver.mark_changed();
            return Ok(receiver);
        }
        scene.watch(true);
        let (sender, mut receiver) = watch::channel(scene.event());
        receiver.mark_changed();
        *updates = Some(sender);
        drop(updates);
        tokio::spawn(tell(scene, self.0.clone()));
        Ok(receiver)
    }
}

/// Ends the streams of events after a reload. Watchers reconnect and see the new configuration.
impl Drop for Board {
    fn drop(&mut self) {
        *lock(&self.0) = None;
    }
}

/// Sends the server's state to all watchers twice a second, until nobody watches or the server is stopping.
async fn tell(scene: Scene, updates: Arc<Updates>) {
    loop {
        tokio::time::sleep(EVERY).await;
        // The task of a previous configuration's board may just have switched recording off.
        scene.watch(true);
        let event = scene.event();
        let mut updates = lock(&updates);
        let sender = updates
            .as_ref()
            .filter(|sender| sender.receiver_count() > 0);
        match sender.filter(|_| !scene.is_stopping()) {
            Some(sender) => _ = sender.send_replace(event),
            None => {
                *updates = None;
                scene.watch(false);
                return;
            }
        }
    }
}

/// Locks the channel. No code panics while it holds this lock, so poisoning is ignored.
fn lock(updates: &Updates) -> MutexGuard<'_, Option<watch::Sender<Bytes>>> {
    updates.lock().unwrap_or_else(PoisonError::into_inner)
}

impl App {
    /// Whether the dashboard is served at addresses of this purpose.
    pub(crate) fn has_board(&self, purpose: Purpose) -> bool {
        purpose == Purpose::Metrics || self.token.is_some()
    }

    /// Answers a request for the dashboard.
    pub(super) fn show_board<B>(
        &self,
        request: &Request<B>,
        purpose: Purpose,
        visitor: Visitor,
    ) -> Reply {
        self.board_reply(request, purpose, visitor)
            .unwrap_or_else(|error| response::error(&error, error.status(), OWN_ERRORS))
    }

    /// Adds a sample of the metrics as they are now to the history that the dashboard shows.
    pub(crate) fn remember(&self) {
        let (load, cache) = (
            self.maker.admission.gauges(),
            self.maker.results.cache.stats(),
        );
        self.metrics.remember(&load, &cache);
    }

    fn board_reply<B>(
        &self,
        request: &Request<B>,
        purpose: Purpose,
        visitor: Visitor,
    ) -> Result<Reply, Error> {
        check_host(request.version(), request.headers())?;
        check_site(request.headers())?;
        if purpose == Purpose::Metrics {
            self.check_own_host(visitor, request.headers())?;
        }
        check_method(request.method())?;
        let place = below(BOARD, request.uri().path()).unwrap_or_default();
        if let Some(file) = FILES.iter().find(|file| file.name == place) {
            return Ok(file.reply(request.headers()));
        }
        if !matches!(place, "events" | "history") {
            let path = request.uri().path().trim_start_matches('/').to_owned();
            return Err(Error::Missing { path });
        }
        let headers = request.headers();
        let may_watch = self.knows_token(headers) || self.is_own_user(visitor, headers);
        if purpose == Purpose::Images && !may_watch {
            return Err(Error::Unauthorized);
        }
        if place == "history" {
            let history = self.metrics.history.to_json().to_string();
            let mut reply = response::json(history.into());
            response::set_cache_control(&mut reply, "no-store");
            return Ok(reply);
        }
        let updates = self.board.join(Scene::of(self))?;
        let mut reply = response::events(updates);
        let headers = reply.headers_mut();
        // Without this header, nginx would buffer the events.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Ok(reply)
    }
}

const FILES: &[PageFile] = page::files! {
    "", "text/html; charset=utf-8", "board.html";
    "base.css", "text/css; charset=utf-8", "base.css";
    "board.css", "text/css; charset=utf-8", "board.css";
    "board.js", page::SCRIPT, "board.js";
    "dom.js", page::SCRIPT, "dom.js";
    "icon.svg", "image/svg+xml", "icon.svg";
    "alarms.js", page::SCRIPT, "alarms.js";
    "charts.js", page::SCRIPT, "charts.js";
    "docs/cache.md", MANUAL, "../../../../../docs/cache.md";
    "docs/capacity.md", MANUAL, "../../../../../docs/capacity.md";
    "docs/faults.md", MANUAL, "../../../../../docs/faults.md";
    "docs/operations.md", MANUAL, "../../../../../docs/operations.md";
    "docs/troubleshooting.md", MANUAL, "../../../../../docs/troubleshooting.md";
};

/// The media type of the manual's pages, which the dashboard's alarms link to.
const MANUAL: &str = "text/plain; charset=utf-8";

const MOST_WATCHERS: usize = 16;
const EVERY: Duration = Duration::from_millis(500);
