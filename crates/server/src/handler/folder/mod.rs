//! The page at `/` with the images of the folder served there: thumbnails, a search in their names, and URLs of one of
//! them in every dialect. It is on if the server was started without a configuration file, or if `folder.allow` is set.
//!
//! The page works without its script, which only says why an image cannot be shown.
//!
//! The page is for the user of this machine only, because it lists the folder, unless `folder.allow` opens it to
//! others. Other clients get [`App::welcome`], and so do clients that do not accept HTML.

mod html;

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::{HeaderMap, Request};
use tokio::sync::Mutex;
use url::form_urlencoded;

pub(in crate::handler) use self::html::thumbnail;
use self::html::{Access, Page};
use super::local::check_site;
use super::page::{self, PageFile};
use super::record::RequestRecord;
use super::{check_host, check_method, target};
use crate::config::AllowedClients;
use crate::error::Error;
use crate::handler::App;
use crate::origins::Listing;
use crate::request::forwarded::Visitor;
use crate::request::negotiation;
use crate::request::route::{FOLDER, Route, below};
use crate::response::Reply;

/// The images of the folder at `/`, as they were when it was last read.
#[derive(Debug, Default)]
pub(crate) struct FolderIndex(Mutex<Option<CachedListing>>);

#[derive(Debug)]
struct CachedListing {
    listing: Arc<Listing>,
    /// When the folder was read.
    at: Instant,
    /// Time that reading the folder took.
    read_time: Duration,
}

impl CachedListing {
    /// Whether the list may still be shown. A folder that takes long to read is read less often, so that reading takes
    /// at most a twentieth of the time.
    fn is_fresh(&self) -> bool {
        self.at.elapsed() < (self.read_time * 20).max(SHORTEST_LIFE)
    }
}

/// The query parameters of the page.
#[derive(Debug, Default, PartialEq, Eq)]
struct Query {
    /// Words that the paths of the images must contain, in upper or lower case.
    find: String,
    /// Index of the first image that is shown, among those found.
    from: usize,
    /// Path of the image whose URLs are shown.
    image: Option<String>,
}

impl Query {
    /// Reads a query, or returns `None` if it has a parameter that the page does not have.
    fn read(query: &str) -> Option<Self> {
        let mut read = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "find" => read.find = value.trim().to_owned(),
                "from" => read.from = value.parse().unwrap_or(0),
                "image" => read.image = Some(value.into_owned()),
                _ => return None,
            }
        }
        Some(read)
    }
}

impl App {
    /// Answers a request for the page or one of its files.
    pub(super) async fn show_folder(&self, request: Request<Incoming>, visitor: Visitor) -> Reply {
        let query = Query::read(request.uri().query().unwrap_or_default());
        let is_page = request.uri().path() == "/";
        if is_page && (query.is_none() || !self.may_be_page(request.headers())) {
            return self.answer(Route::Image, request, visitor.peer).await;
        }
        let mut record = RequestRecord::begin(&self.log, &request, visitor.peer);
        let is_own = self.is_own_user(visitor, request.headers());
        let reply = self.folder_reply(&request, query.unwrap_or_default(), is_own);
        let reply = match reply.await {
            Ok(reply) => reply,
            Err(error) => record.error_reply(&error),
        };
        record.finish(&reply);
        reply
    }

    /// Whether the root of this server is a folder without an index of its own, and the client a browser.
    fn may_be_page(&self, headers: &HeaderMap) -> bool {
        let has_folder = self.maker.resolver.lists_its_root();
        has_folder && negotiation::prefers(headers, "text/html", "text/plain")
    }

    /// Returns the page or one of its files. `is_own` says whether it is for the user of this machine.
    async fn folder_reply(
        &self,
        request: &Request<Incoming>,
        query: Query,
        is_own: bool,
    ) -> Result<Reply, Error> {
        check_host(request.version(), request.headers())?;
        check_method(request.method())?;
        target(request.uri())?;
        let path = request.uri().path();
        if path == "/" {
            let listing = self.listing().await?;
            let access = Access {
                is_own,
                is_configured: !self.loopback_is_local,
                is_shared: self.folder_allow == AllowedClients::All,
            };
            let page = Page::new(&listing, &query, &self.maker.resolver, access);
            return Ok(page::html_page(page.html()));
        }
        check_site(request.headers())?;
        let place = below(FOLDER, path).unwrap_or_default();
        match FILES.iter().find(|file| file.name == place) {
            Some(file) => Ok(file.reply(request.headers())),
            None => Err(Error::Missing {
                path: path.trim_start_matches('/').to_owned(),
            }),
        }
    }

    /// Returns the images of the folder, which is read again if the list is old. Requests that arrive during the reading
    /// wait for the same list.
    async fn listing(&self) -> Result<Arc<Listing>, Error> {
        let mut slot = self.folder.0.lock().await;
        if let Some(entry) = slot.as_ref().filter(|entry| entry.is_fresh()) {
            return Ok(entry.listing.clone());
        }
        let resolver = self.maker.resolver.clone();
        let look = move || {
            let start = Instant::now();
            let listing = Arc::new(resolver.listing(MOST_IMAGES));
            Ok::<_, Error>((listing, start.elapsed()))
        };
        let (listing, read_time) = self.maker.fetcher.look(look).await?;
        let before = slot.as_ref().map_or(&[][..], |entry| &entry.listing.closed);
        if listing.closed != before && !listing.closed.is_empty() {
            tracing::warn!(
                "the page with the images leaves out {} that the user of the server may not read: {}; `chmod -R o+rX` lets it",
                count_text(listing.closed.len()),
                listing
                    .closed
                    .iter()
                    .take(MOST_NAMED)
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(", ")
            );
        }
        *slot = Some(CachedListing {
            listing: listing.clone(),
            at: Instant::now(),
            read_time,
        });
        Ok(listing)
    }
}

const FILES: &[PageFile] = page::files! {
    "base.css", "text/css; charset=utf-8", "base.css";
    "folder.css", "text/css; charset=utf-8", "folder.css";
    "folder.js", page::SCRIPT, "folder.js";
    "icon.svg", "image/svg+xml", "icon.svg";
};

/// Returns the text for a number of folders, such as `1 folder` or `12 folders`.
fn count_text(folders: usize) -> String {
    match folders {
        1 => "1 folder".to_owned(),
        count => format!("{count} folders"),
    }
}

/// Maximum number of folders that are named in the log.
const MOST_NAMED: usize = 5;

/// Maximum number of images in the list; further ones are left out.
const MOST_IMAGES: usize = 100_000;

/// Minimum time between two readings of the folder.
const SHORTEST_LIFE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_of_other_pages_are_not_read() {
        let read = Query::read("find=a+b%26&from=60&image=trip%2Fa.jpg");
        let expected = Query {
            find: "a b&".to_owned(),
            from: 60,
            image: Some("trip/a.jpg".to_owned()),
        };
        assert_eq!(read, Some(expected));
        assert_eq!(Query::read(""), Some(Query::default()));
        assert_eq!(Query::read("from=x"), Some(Query::default()));
        assert_eq!(Query::read("url=/a.jpg&w=9"), None);
    }
}
