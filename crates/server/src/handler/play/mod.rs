//! The playground, `/_andon/play`: a page that builds recipes, and the requests that it sends to the server.
//!
//! The page's files are served to everyone who may open it, since they contain nothing secret. The requests that the
//! page sends are answered for local browsers, and for others only with the administrator's token.

mod explanation;
mod trial;
mod words;

use std::sync::Arc;

use andon_dialects::translate::Translator;
use andon_pixels::Codec;
use andon_recipe::Recipe;
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::{Method, Request};

use super::local::check_site;
use super::page::{self, PageFile};
use super::record::RequestRecord;
use super::upload::{decode_query, discard};
use super::{check_host, check_method, target};
use crate::config::{AllowedClients, Config, ConfigError};
use crate::error::Error;
use crate::handler::App;
use crate::request::forwarded::Visitor;
use crate::request::route::{PLAY, below};
use crate::response::{self, Reply};

/// What the playground needs in addition to what every request needs.
#[derive(Debug)]
pub(crate) struct Play {
    allow: AllowedClients,
    translator: Arc<Translator>,
    /// Reads URLs of other servers, whose dialects are at their usual prefixes.
    default_translator: Arc<Translator>,
    /// The words of recipes with their arguments, and the output formats, as JSON.
    words: Bytes,
}

impl Play {
    /// Returns the playground, or `None` if it is switched off.
    ///
    /// # Errors
    /// If everybody may open it and there is no administrator's token.
    pub(crate) fn new(
        config: &Config,
        codecs: &[&'static dyn Codec],
        has_token: bool,
    ) -> Result<Option<Self>, ConfigError> {
        let allow = config.play.allow;
        match allow {
            AllowedClients::Off => return Ok(None),
            AllowedClients::All if !has_token => {
                let why = "\"all\" needs a token that clients from elsewhere have to know: set `admin.token_env`";
                return Err(ConfigError::new("play.allow", why));
            }
            AllowedClients::Local | AllowedClients::All => {}
        }
        Ok(Some(Self {
            allow,
            translator: Arc::new(Translator::of_or_usual(&config.dialects)),
            default_translator: Arc::new(Translator::usual()),
            words: words::declared(codecs).to_string().into(),
        }))
    }

    /// Returns which clients may open the page.
    pub(crate) fn allow(&self) -> AllowedClients {
        self.allow
    }
}

/// The query parameters of a request to the playground.
#[derive(Debug, Default)]
struct Query {
    recipe: Option<String>,
    /// The path or URL of the source. If the request's body contains the image, the path that the image has in the URLs
    /// on the page.
    source: Option<String>,
    url: Option<String>,
    dialect: Option<String>,
}

impl Query {
    fn read(query: &str) -> Result<Self, Error> {
        let mut read = Self::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let place = match name {
                "recipe" => &mut read.recipe,
                "source" => &mut read.source,
                "url" => &mut read.url,
                "dialect" => &mut read.dialect,
                _ => {
                    let names = "recipe, source, url and dialect";
                    let name = name.escape_debug();
                    let why = format!("there is no parameter `{name}` here; known are {names}");
                    return Err(Error::Play(why));
                }
            };
            *place = Some(decode_query(value)?).filter(|value| !value.is_empty());
        }
        Ok(read)
    }
}

impl Query {
    /// Returns the parsed recipe. If the query has none, returns an empty recipe, which only encodes the image again.
    fn recipe(&self) -> Result<Recipe, Error> {
        let recipe = self
            .recipe
            .as_deref()
            .map_or(Ok(Recipe::default()), str::parse);
        recipe.map_err(|error| Error::Play(error.to_string()))
    }
}

impl App {
    /// Answers a request for the playground.
    pub(super) async fn play(&self, request: Request<Incoming>, visitor: Visitor) -> Reply {
        let mut record = RequestRecord::begin(&self.log, &request, visitor.peer);
        let (head, mut body) = request.into_parts();
        let request = Request::from_parts(head, ());
        let reply = match self
            .play_reply(&request, &mut body, visitor, &mut record)
            .await
        {
            Ok(reply) => reply,
            Err(error) => {
                discard(body, request.headers(), &error);
                record.error_reply(&error)
            }
        };
        record.finish(&reply);
        reply
    }

    async fn play_reply(
        &self,
        request: &Request<()>,
        body: &mut Incoming,
        visitor: Visitor,
        record: &mut RequestRecord<'_>,
    ) -> Result<Reply, Error> {
        check_host(request.version(), request.headers())?;
        check_site(request.headers())?;
        target(request.uri())?;
        let path = request.uri().path();
        let missing = || Error::Missing {
            path: path.trim_start_matches('/').to_owned(),
        };
        let play = self.play.as_ref().ok_or_else(missing)?;
        let place = below(PLAY, path).ok_or_else(missing)?;
        if let Some(file) = FILES.iter().find(|file| file.name == place) {
            check_method(request.method())?;
            return Ok(file.reply(request.headers()));
        }
        self.admits_player(request.headers(), visitor)?;
        let query = Query::read(request.uri().query().unwrap_or_default())?;
        let body = match *request.method() {
            Method::POST if matches!(place, "plan" | "render" | "score") => {
                record.is_upload();
                let sources = self.maker.fetcher.held();
                Some(self.uploads.receive(body, sources).await?)
            }
            _ => {
                check_method(request.method())?;
                None
            }
        };
        match place {
            "words" => Ok(json(play.words.clone())),
            "images" => self.images().await,
            "read" => self.read_url(play, query).await,
            "plan" => self.explanation(play, query, body).await,
            "render" => self.rendering(query, body, record).await,
            "score" => self.scoring(query, body).await,
            _ => Err(missing()),
        }
    }

    /// Checks that the request comes from a browser on this machine without a proxy in between, or carries the
    /// administrator's token.
    fn admits_player(&self, headers: &HeaderMap, visitor: Visitor) -> Result<(), Error> {
        match self.is_local(visitor, headers) || self.knows_token(headers) {
            true => Ok(()),
            false => Err(Error::Unauthorized),
        }
    }

    /// Lists the images to choose from in the folder at `/`.
    async fn images(&self) -> Result<Reply, Error> {
        let resolver = self.maker.resolver.clone();
        let look = move || Ok::<_, Error>(resolver.images(MOST_IMAGES));
        let images = self.maker.fetcher.look(look).await?;
        Ok(json(serde_json::json!({ "images": images }).to_string()))
    }
}

fn json(text: impl Into<Bytes>) -> Reply {
    let mut reply = response::json(text.into());
    response::set_cache_control(&mut reply, "no-store");
    reply
}

const FILES: &[PageFile] = page::files! {
    "", "text/html; charset=utf-8", "play.html";
    "base.css", "text/css; charset=utf-8", "base.css";
    "play.css", "text/css; charset=utf-8", "play.css";
    "icon.svg", "image/svg+xml", "icon.svg";
    "dom.js", page::SCRIPT, "dom.js";
    "server.js", page::SCRIPT, "server.js";
    "recipe.js", page::SCRIPT, "recipe.js";
    "viewer.js", page::SCRIPT, "viewer.js";
    "panels.js", page::SCRIPT, "panels.js";
    "play.js", page::SCRIPT, "play.js";
    "copies.js", page::SCRIPT, "copies.js";
    "formats.js", page::SCRIPT, "formats.js";
    "marks.js", page::SCRIPT, "marks.js";
    "place.js", page::SCRIPT, "place.js";
};

/// Maximum number of images in the list of the page.
const MOST_IMAGES: usize = 200;
