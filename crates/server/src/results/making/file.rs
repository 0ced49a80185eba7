//! Serves a file of a folder unchanged. Nothing is rendered, and only the offset at which the image in the file ends is
//! remembered.
//!
//! An image is checked as a whole before any of it is sent: a truncated or corrupt image is refused, and bytes after
//! its end are left out. If a JPEG only lacks its end marker, the marker is appended. This check reads the file into
//! memory once. Its outcome is remembered with the file's modification time, size and inode number, so that later
//! requests read the file in pieces.

use std::sync::Arc;

use andon_cache::Key;

use super::{Maker, RequestContext};
use crate::error::Error;
use crate::operations::entry::Stages;
use crate::request::conditional::Validators;
use crate::response::body::{Body, MOST_WHOLE, PIECE, Pieces};
use crate::sources::media_type;
use crate::sources::resolver::{FileHead, OpenSource};

/// A file that is served unchanged.
pub(crate) struct Served {
    pub(crate) body: Body,
    pub(crate) media_type: &'static str,
    pub(crate) validators: Validators,
}

impl Maker {
    /// Serves a file of a folder unchanged, in pieces unless it is small.
    pub(crate) async fn serve(
        self: &Arc<Self>,
        ctx: &RequestContext,
        input: OpenSource,
    ) -> Result<Served, Error> {
        let key = input.source_key();
        let validators = input.validators("");
        if input.size() <= MOST_WHOLE || input.is_checked() {
            let _hold = self.fetcher.hold(input.size_to_read()).await;
            let (input, read) = self.read(input).await?;
            let mut body = Body::from(read.source.clone());
            if self.is_image(&input, &read.source)? {
                match self.end_of_image(ctx, key).await? {
                    Some(end) => body.cut_to(0..end),
                    None => body = self.complete_image(ctx).await?,
                }
            }
            return Ok(Served {
                media_type: media_type::of(self.codecs, &input.path, &read.source),
                validators,
                body,
            });
        }
        let begin = |input: &OpenSource, blocking| input.begin(PIECE, blocking);
        let (input, head) = self.fetcher.read(input, begin).await?;
        let FileHead { file, beginning } = head;
        let media_type = media_type::of(self.codecs, &input.path, &beginning);
        let is_image = self.is_image(&input, &beginning)?;
        let mut body = Body::Pieces(Pieces::of(file, beginning, self.fetcher.clone()));
        if is_image {
            match self.end_of_image(ctx, key).await? {
                Some(end) => body.cut_to(0..end),
                None => body = self.complete_image(ctx).await?,
            }
        }
        Ok(Served {
            body,
            media_type,
            validators,
        })
    }

    /// Whether a file begins with the first bytes of an image.
    ///
    /// # Errors
    /// `UnknownFormat` if the file's name promises an image of a known format and its content is none, for example
    /// because it was truncated.
    fn is_image(&self, input: &OpenSource, beginning: &[u8]) -> Result<bool, Error> {
        let is_image = media_type::is_image(self.codecs, beginning);
        if !is_image && media_type::promises_image(self.codecs, &input.path) {
            return Err(Error::Pixels(andon_pixels::Error::UnknownFormat));
        }
        Ok(is_image)
    }

    /// Returns an image whose file lacks the end marker, with the marker appended.
    async fn complete_image(&self, ctx: &RequestContext) -> Result<Body, Error> {
        let input = self.open_file(ctx.request()).await?;
        let image = self.image(ctx, input, &mut Stages::new()).await?;
        Ok(Body::from(image.body))
    }

    /// Returns how many bytes of a file the image takes, or `None` if the file lacks the end of the image. A length
    /// that is not known yet is determined once for all requests that need it.
    async fn end_of_image(
        self: &Arc<Self>,
        ctx: &RequestContext,
        key: Key,
    ) -> Result<Option<u64>, Error> {
        let (maker, job) = (self.clone(), ctx.clone());
        let find = move |deadline| async move {
            let ctx = job.shared(deadline);
            let input = maker.open_file(ctx.request()).await?;
            // The file has been replaced. The next request looks at the new one.
            if input.source_key() != key {
                return Err(Error::Changing);
            }
            let image = maker.image(&ctx, input, &mut Stages::new()).await?;
            Ok((!image.completed).then_some(image.body.len() as u64))
        };
        let deadline = &ctx.allowance.deadline;
        self.results.ends.get_or(key, deadline, find).await
    }
}
