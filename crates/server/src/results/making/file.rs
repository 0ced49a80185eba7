//! Serves a file of a folder as it is. Nothing is made, and only the place where the image in it ends is kept.
//!
//! An image is checked as a whole before any of it is sent: a truncated or broken one is refused, and what follows its
//! end is left out. That takes its bytes into memory once. The outcome is remembered with the file's date, size and
//! inode number, so that later requests read it piece by piece.

use std::sync::Arc;

use andon_cache::Key;

use super::{Maker, RequestContext};
use crate::error::Error;
use crate::operations::entry::Stages;
use crate::request::conditional::Validators;
use crate::response::body::{Body, MOST_WHOLE, PIECE, Pieces};
use crate::sources::media_type;
use crate::sources::resolver::{FileHead, OpenSource};

/// A file that is served as it is.
pub(crate) struct Served {
    pub(crate) body: Body,
    pub(crate) media_type: &'static str,
    pub(crate) validators: Validators,
}

impl Maker {
    /// Serves a file of a folder as it is, in pieces unless it is small.
    pub(crate) async fn serve(
        self: &Arc<Self>,
        ctx: &RequestContext,
        found: OpenSource,
    ) -> Result<Served, Error> {
        let key = found.source_key();
        let validators = found.validators("");
        if found.size() <= MOST_WHOLE || found.is_checked() {
            let _hold = self.fetcher.hold(found.size_to_read()).await;
            let (found, read) = self.read(found).await?;
            let mut body = Body::from(read.source.clone());
            if self.is_image(&found, &read.source)? {
                match self.end_of_image(ctx, key).await? {
                    Some(end) => body.cut_to(0..end),
                    None => body = self.completed(ctx).await?,
                }
            }
            return Ok(Served {
                media_type: media_type::of(self.codecs, &found.path, &read.source),
                validators,
                body,
            });
        }
        let begin = |found: &OpenSource, blocking| found.begin(PIECE, blocking);
        let (found, begun) = self.fetcher.read(found, begin).await?;
        let FileHead { file, beginning } = begun;
        let media_type = media_type::of(self.codecs, &found.path, &beginning);
        let is_image = self.is_image(&found, &beginning)?;
        let mut body = Body::Pieces(Pieces::of(file, beginning, self.fetcher.clone()));
        if is_image {
            match self.end_of_image(ctx, key).await? {
                Some(end) => body.cut_to(0..end),
                None => body = self.completed(ctx).await?,
            }
        }
        Ok(Served {
            body,
            media_type,
            validators,
        })
    }

    /// Whether a file begins like an image.
    ///
    /// # Errors
    /// `UnknownFormat` if the file's name promises an image of a known format and its content is none, for example
    /// because it was truncated.
    fn is_image(&self, found: &OpenSource, beginning: &[u8]) -> Result<bool, Error> {
        let is_image = media_type::is_image(self.codecs, beginning);
        if !is_image && media_type::promises_image(self.codecs, &found.path) {
            return Err(Error::Pixels(andon_pixels::Error::UnknownFormat));
        }
        Ok(is_image)
    }

    /// Returns the image with the end that its file lacks.
    async fn completed(&self, ctx: &RequestContext) -> Result<Body, Error> {
        let found = self.open_file(ctx.request()).await?;
        let picture = self.picture(ctx, found, &mut Stages::new()).await?;
        Ok(Body::from(picture.body))
    }

    /// Returns how many bytes of a file are the image; `None` if all of them are and the file lacks the image's end.
    /// What is not known yet is found out once for all requests that need it.
    async fn end_of_image(
        self: &Arc<Self>,
        ctx: &RequestContext,
        key: Key,
    ) -> Result<Option<u64>, Error> {
        let (maker, job) = (self.clone(), ctx.clone());
        let find = move |deadline| async move {
            let ctx = job.shared(deadline);
            let found = maker.open_file(ctx.request()).await?;
            // It is another file by now: whoever asks next looks at that.
            if found.source_key() != key {
                return Err(Error::Changing);
            }
            let picture = maker.picture(&ctx, found, &mut Stages::new()).await?;
            Ok((!picture.completed).then_some(picture.body.len() as u64))
        };
        let deadline = &ctx.allowance.deadline;
        self.results.ends.get_or(key, deadline, find).await
    }
}
