//! Opens the files that a request needs, and fetches its overlay images that are not in folders.

use std::sync::Arc;

use andon_cache::Deadline;
use andon_dialects::{ImageRequest, Source as Location};

use super::{Fetch, Maker};
use crate::error::{Error, OriginError};
use crate::origins::Source;
use crate::results::caching::SourceState;
use crate::sources::opening::{bounded, overlay_request};
use crate::sources::overlays::{FetchedOverlays, OpenOverlays};
use crate::sources::resolver::OpenSource;

impl Maker {
    /// Opens the files of a request whose source is in a folder. Overlay images that are not in folders are fetched,
    /// which may take until `deadline`.
    pub(super) async fn open(
        self: &Arc<Self>,
        request: &Arc<ImageRequest>,
        deadline: &Deadline,
    ) -> Result<OpenSource, Error> {
        let overlays = self.overlays(request, deadline).await?;
        let (resolver, request) = (self.resolver.clone(), request.clone());
        let open = move |blocking| resolver.open_files(&request, &overlays, blocking);
        self.fetcher.open(open).await
    }

    /// Opens the file of a request without its overlays.
    pub(crate) async fn open_file(&self, request: &Arc<ImageRequest>) -> Result<OpenSource, Error> {
        let (resolver, request) = (self.resolver.clone(), request.clone());
        let overlays = FetchedOverlays::default();
        let open = move |blocking| resolver.open_files(&request, &overlays, blocking);
        self.fetcher.open(open).await
    }

    /// Opens or fetches the overlay images of a request.
    pub(crate) async fn open_overlays(
        self: &Arc<Self>,
        request: &Arc<ImageRequest>,
        deadline: &Deadline,
    ) -> Result<OpenOverlays, Error> {
        let overlays = self.overlays(request, deadline).await?;
        let (resolver, request) = (self.resolver.clone(), request.clone());
        let open = move |blocking| resolver.open_overlays(&request, &overlays, blocking);
        self.fetcher.open(open).await
    }

    /// Fetches the overlay images of a request that are not in folders, in the same way as sources: fresh ones come
    /// from the cache of sources, all others from their origins, once for all requests.
    async fn overlays(
        self: &Arc<Self>,
        request: &ImageRequest,
        deadline: &Deadline,
    ) -> Result<FetchedOverlays, Error> {
        let mut overlays = FetchedOverlays::default();
        let most = self.resolver.most_bytes();
        for (name, from) in self.resolver.overlays_to_fetch(request) {
            let overlay = self.overlay(from.clone(), deadline).await;
            let result =
                overlay.and_then(|overlay| overlays.add(name.clone(), from, overlay, most));
            result.map_err(|error| error.of_overlay(&name))?;
        }
        Ok(overlays)
    }

    async fn overlay(
        self: &Arc<Self>,
        from: Location,
        deadline: &Deadline,
    ) -> Result<Source, Error> {
        let request = Arc::new(overlay_request(from));
        let Fetch::Body(source) = self.fetch(&request, None, deadline).await? else {
            // No validators were sent that could be unchanged.
            return Err(OriginError::Status(304).into());
        };
        if source.hold.bytes() == 0 {
            return bounded((*source).clone());
        }
        // Reservations are avoided here: requests that hold bytes of overlay images while they wait for memory for
        // their sources could wait for one another. The bytes of cached sources are counted by their cache.
        let results = &self.results;
        let (name, origin) = (results.source(&request), self.resolver.origin(&request));
        let budget = self.fetcher.budget(deadline.clone());
        bounded(
            match results.sources.look_up(&name, &origin, &budget).await {
                SourceState::Source(cached) if cached.validators == source.validators => cached,
                _ => (*source).clone(),
            },
        )
    }
}
