//! Makes one result and stores it, or remembers the error.

use std::sync::Arc;
use std::time::Duration;

use andon_cache::{Entry, Key};
use andon_dialects::Ask;
use andon_pixels::Bound;
use hyper::StatusCode;

use super::{Made, Maker, RequestContext};
use crate::error::{Error, SharedError};
use crate::operations::entry::Stages;
use crate::origins::SourceValidators;
use crate::results::caching::{self, Notes, Resolved, Terms};
use crate::sources::resolver::OpenSource;

impl Maker {
    /// Makes a result and stores it.
    pub(super) async fn make(
        &self,
        ctx: &RequestContext,
        resolved: &Resolved,
        input: OpenSource,
        source: Option<SourceValidators>,
        terms: Terms,
    ) -> Result<Made, Error> {
        let mut stages = Stages::new();
        let validators = input.validators(&resolved.text);
        let request = ctx.request();
        let source_bytes = match request.ask {
            Ask::Image => input.size(),
            _ => 0,
        };
        let image = match &request.ask {
            Ask::File | Ask::Redirect(_) | Ask::Text { .. } => {
                self.file(ctx, input, &mut stages).await?
            }
            Ask::Image => self.image(ctx, input, &mut stages).await?,
            Ask::Describe(document) => {
                (self.describe(&**document, ctx, input, &mut stages)).await?
            }
        };
        let terms = match image.damaged && terms.shared {
            true => Terms::of_damaged(&self.results.config),
            false => terms,
        };
        let mut tags = vec![resolved.tag.clone(), format!("type:{}", image.media_type)];
        for name in request.rules.overlays() {
            let source = self.resolver.overlay_path(&name);
            tags.extend(source.map(|source| format!("{}{source}", Entry::ALSO_OF)));
            tags.push(format!("overlay:{name}"));
        }
        let notes = Notes {
            source,
            client: terms.client.clone(),
            plan: image.plan,
            image: image.notes,
            cost: u64::try_from(image.cost.as_micros()).unwrap_or(u64::MAX),
            source_bytes,
        };
        let entry = Entry {
            body: image.body,
            media_type: image.media_type.to_owned(),
            etag: validators.etag,
            last_modified: validators.modified,
            source: caching::source_path(request),
            tags,
            life: terms.life,
            notes: notes.encode(),
        };
        Ok(self.keep(ctx, resolved.key, entry, &terms, image.cost, stages))
    }

    /// Stores a result in the cache if it may be given to other clients. An image that took long enough to make, and
    /// may be used for long enough, is also stored in the store that nodes share.
    pub(super) fn keep(
        &self,
        ctx: &RequestContext,
        key: Key,
        entry: Entry,
        terms: &Terms,
        cost: Duration,
        stages: Stages,
    ) -> Made {
        let (entry, results) = (Arc::new(entry), &self.results);
        let is_stored = terms.shared && results.keeps();
        if is_stored {
            results.cache.put(key, entry.clone(), ctx.ticket);
        }
        let is_image = ctx.request().ask == Ask::Image;
        if is_image && results.is_worth_sharing(cost, terms) {
            results.cache.put_in_store(key, entry.clone(), ctx.ticket);
        }
        Made {
            entry,
            stages: Arc::new(stages),
            stored: is_stored,
            not_modified: false,
            reuse: None,
        }
    }

    /// Remembers an error that would be the same the next moment, but never a failure of this server or of an origin.
    /// Returns the error in a form that requests can share.
    pub(super) fn note_fault(&self, flight: Key, error: Error) -> SharedError {
        let error = error.shared();
        // The limit on processor time does not apply to requests of idle priority.
        let is_cpu = matches!(
            error.root(),
            Error::Pixels(andon_pixels::Error::Limit {
                bound: Bound::CPU,
                ..
            })
        );
        let is_lasting = !is_cpu
            && error.may_be_kept()
            && matches!(
                error.status(),
                StatusCode::BAD_REQUEST
                    | StatusCode::NOT_FOUND
                    | StatusCode::UNSUPPORTED_MEDIA_TYPE
                    | StatusCode::UNPROCESSABLE_ENTITY
            );
        if is_lasting {
            let span = self.results.config.negative.0;
            self.results.faults.insert_for(flight, error.clone(), span);
        }
        error
    }
}
