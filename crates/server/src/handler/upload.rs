//! `POST /_andon/render`: the image comes with the request and is returned as the recipe describes.
//!
//! The operations are in the query, `?recipe=fit:250x250,as:webp` or `?small_light=dw=250,dh=250`, or in the header
//! `Andon-Recipe`. Uploads pass through the same queue to the same worker threads as all other requests. No result is
//! stored, and nothing is opened or fetched except the overlay images of the recipe.
//!
//! # Step by step
//!
//! Values in parentheses are defaults.
//!
//! 1. `App::upload_reply` checks the method (405), that no page of another site sends it, `upload.allow` (`"off"`; both
//!    403), that the body is no multipart form, and the recipe in query or header (both 400). `Accept` does not count.
//! 2. `Uploads::receive` reads up to `limits.source_bytes` (64 MiB; 413) within `timeouts.body` (30 s; 408). Memory is
//!    reserved as bytes arrive, from `limits.held_bytes` and from the half of it that uploads may take: 503 at once if
//!    either is full.
//! 3. `timeouts.request` (30 s) begins only now. `App::render_upload`: overlay images that are not in folders are
//!    fetched as in step 3 of a miss (`results/making/mod.rs`); then admission decides by the length of the body. Then
//!    `App::prepared`, `Maker::planned` and `Maker::render`, as in steps 8 to 10 of a miss. An upload joins nothing,
//!    and nothing of it is stored but the overlay images, among the sources.
//! 4. The response is `no-store`. After an error, `discard` reads on for up to 5 s, since the client may still send.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_dialects::{AnswerStyle, Dialects, ImageRequest, Source};
use andon_recipe::{Recipe, unknown};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderMap};
use hyper::{Method, Request, Response};
use percent_encoding::percent_decode_str;

use super::local::check_site;
use super::record::RequestRecord;
use super::{check_host, target};
use crate::admission::Shares;
use crate::config::{AllowedClients, Config, ConfigError};
use crate::error::Error;
use crate::handler::App;
use crate::operations::entry::Stages;
use crate::origins::{Blocking, Reservation, SourceMemory};
use crate::request::forwarded::Visitor;
use crate::request::negotiation;
use crate::response::varying::Varying;
use crate::response::{self, Reply};
use crate::results::making::{Allowance, RenderTask};
use crate::sources::overlays::OpenOverlays;
use crate::sources::rendering::{Ingredients, Prepared};

/// What uploads need in addition to what every request needs.
#[derive(Debug)]
pub(crate) struct Uploads {
    allow: AllowedClients,
    /// Maximum length of one body in bytes.
    most_bytes: u64,
    /// Time limit for one body to arrive.
    timeout: Duration,
    /// Memory that all bodies together may take: half of the memory for all sources, or more if one body of the maximum
    /// length needs it. The rest stays free for sources that are read and fetched, however slowly bodies arrive.
    room: SourceMemory,
    /// Parses small_light's options in the query as if they were in the path of a URL. Has its own configuration, so
    /// that rewrite rules and signatures of this server's URLs do not apply.
    dialects: Dialects,
}

impl Uploads {
    /// Prepares the parser of the operations that uploads request. The memory for bodies is that of the uploads
    /// `before` a reload, and keeps its size until [`Uploads::resize`].
    ///
    /// # Errors
    /// An error that names the configuration key with an invalid value.
    pub(crate) fn new(config: &Config, before: Option<&Self>) -> Result<Self, ConfigError> {
        let mut plain = config.dialects.clone();
        // `upload.allow` decides who may upload; an upload has no URL that could be signed.
        plain.open_all();
        plain.rewrite.clear();
        plain.small_light.getparam_mode = false;
        Ok(Self {
            allow: config.upload.allow,
            most_bytes: config.limits.source_bytes.0,
            timeout: config.timeouts.body.0,
            room: before.map_or_else(
                || SourceMemory::new(room(config)),
                |before| before.room.clone(),
            ),
            dialects: Dialects::new(&plain)?,
        })
    }

    /// Changes the memory for bodies to the size in this configuration.
    pub(crate) fn resize(&self, config: &Config) {
        self.room.resize(room(config));
    }

    /// Parses the operations that the request asks for.
    fn image_request<B>(&self, request: &Request<B>) -> Result<ImageRequest, Error> {
        let mut parameters = Vec::new();
        if let Some(recipe) = request.headers().get(RECIPE_HEADER) {
            let text = recipe.to_str().unwrap_or_default().to_owned();
            parameters.push(("recipe".to_owned(), text));
        }
        let query = request.uri().query().unwrap_or_default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode_query(name)?;
            if !WORDS.contains(&&*name) {
                let name = name.escape_debug().to_string();
                return Err(Error::Upload(unknown("parameter", &name, WORDS)));
            }
            parameters.push((name, decode_query(value)?));
        }
        match &*parameters {
            [(name, text)] if name == "recipe" => recipe_request(text),
            [(name, text)] if name == "small_light" => self.small_light_request(text),
            _ => Err(Error::Upload(
                "give exactly one of ?recipe=fit:250x250,as:webp, ?small_light=dw=250,dh=250 \
                 or the Andon-Recipe header"
                    .to_owned(),
            )),
        }
    }

    fn small_light_request(&self, options: &str) -> Result<ImageRequest, Error> {
        // The options are decoded already, and the dialect decodes once more.
        let options = options.replace('%', "%25");
        let image_request = self
            .dialects
            .parse(&format!("/small_light({options})/{SOURCE}"))
            .map_err(Error::Target)?;
        if image_request.is_file() || image_request.source.as_str() != SOURCE {
            return Err(Error::Upload(format!(
                "`{options}` are no small_light options, or small_light is switched off here"
            )));
        }
        // Leave out the special statuses of small_light's URLs: uploads are answered with the usual ones.
        Ok(ImageRequest {
            style: AnswerStyle::default(),
            ..image_request
        })
    }

    /// Receives the whole body, within its time limit and its share of memory.
    pub(super) async fn receive(
        &self,
        body: &mut Incoming,
        sources: &SourceMemory,
    ) -> Result<Received, Error> {
        let length = body.size_hint().exact();
        self.check_length(body.size_hint().lower())?;
        let mut upload = Received::new(length.unwrap_or(self.most_bytes));
        let receiving = async {
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|_| Error::BodyCut)?;
                let Some(data) = frame.data_ref() else {
                    continue;
                };
                self.check_length((upload.bytes.len() + data.len()) as u64)?;
                upload.append(data, [&self.room, sources])?;
            }
            Ok(())
        };
        match tokio::time::timeout(self.timeout, receiving).await {
            Ok(result) => result.map(|()| upload),
            Err(_) => Err(Error::BodyLate(self.timeout)),
        }
    }

    fn check_length(&self, bytes: u64) -> Result<(), Error> {
        if bytes > self.most_bytes {
            return Err(Error::BodyTooLarge {
                limit: self.most_bytes,
            });
        }
        Ok(())
    }
}

/// Returns how many bytes all bodies together may take.
fn room(config: &Config) -> u64 {
    let shares = Shares::of(config);
    (shares.sources / 2).max(config.limits.source_bytes.0.min(shares.sources))
}

impl App {
    /// Answers an upload.
    pub(crate) async fn upload(&self, request: Request<Incoming>, visitor: Visitor) -> Reply {
        let mut record = RequestRecord::begin(&self.log, &request, visitor.peer);
        let (head, mut body) = request.into_parts();
        let request = Request::from_parts(head, ());
        let mut reply = match self
            .upload_reply(&request, &mut body, visitor, &mut record)
            .await
        {
            Ok(reply) => reply,
            Err(error) => {
                record.is_upload();
                discard(body, request.headers(), &error);
                record.error_reply(&error)
            }
        };
        self.dress(request.headers(), &mut reply);
        record.finish(&reply);
        reply
    }

    async fn upload_reply(
        &self,
        request: &Request<()>,
        body: &mut Incoming,
        visitor: Visitor,
        record: &mut RequestRecord<'_>,
    ) -> Result<Reply, Error> {
        check_host(request.version(), request.headers())?;
        if request.method() != Method::POST {
            return Err(Error::PostOnly(request.method().clone()));
        }
        target(request.uri())?;
        check_site(request.headers())?;
        if !self.admits(self.uploads.allow, visitor, request.headers()) {
            return Err(Error::NoUploads);
        }
        if is_form(request.headers()) {
            return Err(Error::Upload(format!(
                "the body is a multipart form; {HOW}"
            )));
        }
        let mut image_request = self.uploads.image_request(request)?;
        let is_entitled =
            self.is_local(visitor, request.headers()) || self.knows_token(request.headers());
        (self.maker.resolver).check_upload(&mut image_request, is_entitled)?;
        negotiation::settle_without_accept(&mut image_request, self.negotiation.background());
        let image_request = Arc::new(image_request);
        let recipe: Option<Arc<str>> = Some(image_request.rules.text().into());
        record.asks_for(&image_request, recipe.as_ref());

        let start = Instant::now();
        let sources = self.maker.fetcher.held();
        let upload = self.uploads.receive(body, sources).await?;
        record.took("receive", start.elapsed());
        if upload.bytes.is_empty() {
            return Err(Error::Upload(format!("the body is empty; {HOW}")));
        }

        let deadline = Instant::now() + self.timeout;
        let answer = self.render_upload(image_request, upload, deadline, record);
        match tokio::time::timeout_at(deadline.into(), answer).await {
            Err(_) => Err(Error::Late(self.timeout)),
            Ok(Err(error)) if error.is_interrupted() => Err(Error::Late(self.timeout)),
            Ok(answer) => answer,
        }
    }

    /// Renders the received image and returns the reply.
    async fn render_upload(
        &self,
        image_request: Arc<ImageRequest>,
        upload: Received,
        deadline: Instant,
        record: &mut RequestRecord<'_>,
    ) -> Result<Reply, Error> {
        let Received { bytes, holds, .. } = upload;
        let source_bytes = bytes.len() as u64;
        // The request does not take a place in the queue while its overlay images are fetched.
        let overlays = self.open_overlays(&image_request, deadline).await?;
        // Only now that the whole body is here: the queue would have changed since an earlier admission.
        let admitted = self.maker.admission.enter(source_bytes, None, deadline)?;
        let (allowance, holds) = (Allowance::until(deadline), Arc::new(holds));
        let prepared = self
            .prepared(image_request.clone(), bytes.into(), overlays, &holds)
            .await?;
        let mut stages = Stages::new();
        let planned = self
            .maker
            .planned(prepared, None, &holds, &allowance, &mut stages)
            .await?;
        let order = RenderTask {
            admitted,
            planned,
            source: None,
            source_bytes,
            allowance,
            holds,
        };
        let image = self.maker.render(order, &mut stages).await?;
        for (stage, time) in stages {
            record.took(stage, time);
        }
        let mut reply = fresh(image.body, image.media_type);
        let varying = Varying {
            stages: record.stages(),
            ..Varying::default()
        };
        varying.set(reply.headers_mut());
        if let Some(plan) = image.plan {
            response::set_plan(&mut reply, &plan);
        }
        let canonical = image_request.style.canonical.as_deref();
        response::add_remarks(reply.headers_mut(), &image_request, canonical);
        response::add_notes(reply.headers_mut(), &image.notes);
        Ok(reply)
    }

    /// Opens the overlay images, and fetches those that are not in folders until `deadline`.
    pub(super) async fn open_overlays(
        &self,
        image_request: &Arc<ImageRequest>,
        deadline: Instant,
    ) -> Result<OpenOverlays, Error> {
        let deadline = deadline.into();
        self.maker.open_overlays(image_request, &deadline).await
    }

    /// Reads the overlay images and the header of the uploaded image, whose memory is reserved by `holds`.
    pub(super) async fn prepared<H: Send + Sync + 'static>(
        &self,
        image_request: Arc<ImageRequest>,
        source: Bytes,
        overlays: OpenOverlays,
        holds: &Arc<H>,
    ) -> Result<Prepared, Error> {
        let max_bytes = self.uploads.most_bytes;
        let read =
            move |overlays: &OpenOverlays, blocking: Blocking| overlays.read(max_bytes, blocking);
        let maker = &self.maker;
        let (read_overlays, overlays) = maker.fetcher.read(overlays, read).await?;
        let engine = maker.engine.clone();
        let is_short = read_overlays.is_empty() && engine.probes_at_once(&source);
        let ingredients = Ingredients {
            overlays,
            request: image_request,
            negotiated: false,
            path: SOURCE.to_owned(),
            source,
        };
        let prepare = move || Prepared::new(&engine, ingredients);
        (maker.headers)
            .read(None, is_short, holds.clone(), prepare)
            .await
    }
}

/// The part of a body that has arrived, and the memory reserved for it. Both grow in steps with the bytes that arrive,
/// up to the announced length, so that a client that merely announces a long body blocks no others.
pub(super) struct Received {
    pub(super) bytes: Vec<u8>,
    /// Maximum length of the body in bytes: the announced length or, without one, the limit for uploads.
    max_length: usize,
    pub(super) holds: [Option<Reservation>; 2],
}

impl Received {
    fn new(max_length: u64) -> Self {
        Self {
            bytes: Vec::new(),
            max_length: usize::try_from(max_length).unwrap_or(usize::MAX),
            holds: [None, None],
        }
    }

    /// Appends data, if there is memory for it in all of `rooms`.
    fn append(&mut self, data: &[u8], rooms: [&SourceMemory; 2]) -> Result<(), Error> {
        let length = self.bytes.len() + data.len();
        if length > self.bytes.capacity() {
            // Doubling the capacity keeps copying rare; exactly as much is allocated as is reserved.
            let capacity = (2 * self.bytes.capacity()).max(FIRST_STEP);
            let capacity = capacity.min(self.max_length).max(length);
            for (hold, room) in self.holds.iter_mut().zip(rooms) {
                let have = hold.as_ref().map_or(0, Reservation::bytes);
                let reservation = room.try_take((capacity as u64).saturating_sub(have))?;
                match hold {
                    Some(hold) => hold.merge(reservation),
                    None => *hold = Some(reservation),
                }
            }
            self.bytes.reserve_exact(capacity - self.bytes.len());
        }
        self.bytes.extend_from_slice(data);
        Ok(())
    }
}

/// Number of bytes that are reserved at first for a body.
const FIRST_STEP: usize = 64 << 10;

/// Reads the rest of a refused body for a while. Closing the connection while the client still sends would reset it,
/// and the response would be lost. Nothing is read from a client that is late with its body, or that waits for
/// permission to send it, since it sends nothing more.
pub(super) fn discard(mut body: Incoming, headers: &HeaderMap, error: &Error) {
    let is_over = body.is_end_stream() || matches!(error, Error::BodyLate(_));
    if is_over || headers.contains_key(header::EXPECT) {
        return;
    }
    let read = async move {
        let mut bytes = 0;
        while bytes < MOST_DISCARDED {
            let Some(Ok(frame)) = body.frame().await else {
                break;
            };
            bytes += frame.data_ref().map_or(0, Bytes::len);
        }
    };
    // A client that still sends after that does not read the response.
    tokio::spawn(tokio::time::timeout(DISCARDING, read));
}

fn recipe_request(text: &str) -> Result<ImageRequest, Error> {
    let recipe: Recipe = text
        .parse()
        .map_err(|error| Error::Upload(format!("the recipe is not understood: {error}")))?;
    Ok(ImageRequest::image(Source::from_path(SOURCE), recipe))
}

/// Returns 200 with an image that is for this client only and must not be cached.
pub(super) fn fresh(body: Bytes, media_type: &'static str) -> Reply {
    let mut reply = Response::new(body.into());
    response::set_media_type(reply.headers_mut(), media_type);
    response::set_cache_control(&mut reply, "no-store");
    reply
}

/// Whether the body is a multipart form, as browsers and `curl -F` send files.
fn is_form(headers: &HeaderMap) -> bool {
    let media_type = headers.get(header::CONTENT_TYPE);
    let media_type = media_type.and_then(|value| value.as_bytes().get(..MULTIPART.len()));
    media_type.is_some_and(|beginning| beginning.eq_ignore_ascii_case(MULTIPART))
}

/// Advice, for error messages, on how to send the body.
const HOW: &str =
    "send the image itself as the body, for example with curl --data-binary @photo.jpg";

const MULTIPART: &[u8] = b"multipart/";

/// Decodes a part of the query as forms encode it, where `+` is a space.
pub(super) fn decode_query(text: &str) -> Result<String, Error> {
    let text = text.replace('+', " ");
    match percent_decode_str(&text).decode_utf8() {
        Ok(text) => Ok(text.into_owned()),
        Err(_) => Err(Error::Upload("the query is not UTF-8".to_owned())),
    }
}

/// The parameters that the query may have.
const WORDS: &[&str] = &["recipe", "small_light"];

const RECIPE_HEADER: &str = "andon-recipe";

/// The path that an uploaded image has in requests, in place of a source's path.
const SOURCE: &str = "upload";

const MOST_DISCARDED: usize = 64 << 20;
const DISCARDING: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_arrived_counts_in_every_room_and_is_given_back() {
        let (bodies, sources) = (SourceMemory::new(1 << 20), SourceMemory::new(2 << 20));
        let mut received = Received::new(900_000);
        for _ in 0..9 {
            received.append(&[7; 100_000], [&bodies, &sources]).unwrap();
            assert!(received.bytes.capacity() >= received.bytes.len());
        }
        assert_eq!(received.bytes.len(), 900_000);
        let held: Vec<_> = received
            .holds
            .iter()
            .flatten()
            .map(Reservation::bytes)
            .collect();
        assert_eq!(held, [900_096; 2], "whole KiB of what was told");

        let mut other = Received::new(600_000);
        let refused = other.append(&[7; 600_000], [&bodies, &sources]);
        assert!(matches!(refused, Err(Error::NoRoom)), "{refused:?}");
        sources.try_take(1 << 20).unwrap();
        drop(received);
        other.append(&[7; 600_000], [&bodies, &sources]).unwrap();
    }
}
