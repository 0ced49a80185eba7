//! One result, made and kept, or its fault remembered.

use std::sync::Arc;
use std::time::Instant;

use andon_cache::{Entry, Key, Ticket};
use hyper::StatusCode;

use super::picture::Task;
use super::{Made, Maker};
use crate::access_log::Stages;
use crate::caching::{self, Notes, Terms};
use crate::error::{Error, SharedError};
use crate::negotiation::Asked;
use crate::origins::SourceValidators;
use crate::resolver::Found;

/// What is to be made, and until when.
pub(super) struct Order {
    pub(super) key: Key,
    pub(super) flight: Key,
    /// Taken before the source was looked at.
    pub(super) ticket: Ticket,
    pub(super) asked: Asked,
    pub(super) deadline: Instant,
    pub(super) began: Instant,
}

impl Maker {
    /// Makes a result.
    pub(super) async fn make(
        &self,
        order: &Order,
        found: Found,
        source: Option<SourceValidators>,
        terms: Terms,
    ) -> Result<Made, Error> {
        let mut stages = Stages::new();
        let validators = found.validators.clone();
        let task = Task {
            asked: &order.asked,
            deadline: order.deadline,
            began: order.began,
        };
        let picture = match order.asked.wish.transformed {
            true => self.picture(&task, found, &mut stages).await?,
            false => self.file(&task, found, &mut stages).await?,
        };
        let wish = &order.asked.wish;
        let mut tags = vec![
            caching::wish_tag(wish),
            format!("type:{}", picture.media_type),
        ];
        let materials = wish.rules.materials().into_iter();
        tags.extend(materials.map(|name| format!("material:{name}")));
        let notes = Notes {
            source,
            client: terms.client.clone(),
            plan: picture.plan,
        };
        let entry = Entry {
            body: picture.body,
            media_type: picture.media_type.to_owned(),
            etag: validators.etag,
            last_modified: validators.modified,
            source: caching::source_path(wish),
            tags,
            life: terms.life,
            negative: false,
            notes: notes.written(),
        };
        Ok(self.keep(order, entry, &terms, stages, false))
    }

    pub(super) fn keep(
        &self,
        order: &Order,
        entry: Entry,
        terms: &Terms,
        stages: Stages,
        not_modified: bool,
    ) -> Made {
        let entry = Arc::new(entry);
        let stored = terms.shared && self.results.keeps();
        if stored {
            self.results
                .cache
                .put(order.key, entry.clone(), order.ticket);
        }
        Made {
            entry,
            stages: Arc::new(stages),
            stored,
            not_modified,
        }
    }

    /// Remembers faults that would be the same the next moment; never our own, nor an origin's trouble.
    pub(super) fn note_fault(&self, order: &Order, error: Error) -> SharedError {
        let error = match error {
            Error::Shared(shared) => shared,
            error => SharedError::new(error),
        };
        let lasting = matches!(
            error.status(),
            StatusCode::BAD_REQUEST
                | StatusCode::NOT_FOUND
                | StatusCode::UNSUPPORTED_MEDIA_TYPE
                | StatusCode::UNPROCESSABLE_ENTITY
        );
        if lasting {
            let span = self.results.config.negative.0;
            self.results
                .faults
                .remember(order.flight, error.clone(), span);
        }
        error
    }
}
