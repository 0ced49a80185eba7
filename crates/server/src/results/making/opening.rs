//! Opens what a request needs in folders, and fetches the overlay images that are elsewhere.

use std::sync::Arc;

use andon_cache::Deadline;
use andon_dialects::{ImageRequest, Source as Location};

use super::{Fetch, Maker};
use crate::error::{Error, OriginError};
use crate::origins::Source;
use crate::results::caching::Known;
use crate::sources::materials::{FetchedMaterials, OpenMaterials};
use crate::sources::opening::{bounded, overlay_request};
use crate::sources::resolver::OpenSource;

impl Maker {
    /// Opens the files of a request whose source is in a folder. Overlay images that are not in folders are fetched
    /// until `deadline`.
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

    /// Opens the file of a request that composes it with nothing.
    pub(crate) async fn open_file(&self, request: &Arc<ImageRequest>) -> Result<OpenSource, Error> {
        let (resolver, request) = (self.resolver.clone(), request.clone());
        let overlays = FetchedMaterials::default();
        let open = move |blocking| resolver.open_files(&request, &overlays, blocking);
        self.fetcher.open(open).await
    }

    /// Opens or fetches the images that the result of a request is composed with.
    pub(crate) async fn open_materials(
        self: &Arc<Self>,
        request: &Arc<ImageRequest>,
        deadline: &Deadline,
    ) -> Result<OpenMaterials, Error> {
        let overlays = self.overlays(request, deadline).await?;
        let (resolver, request) = (self.resolver.clone(), request.clone());
        let open = move |blocking| resolver.open_materials(&request, &overlays, blocking);
        self.fetcher.open(open).await
    }

    /// Fetches the overlay images of a request that are not in folders, as sources are fetched: a fresh one is taken
    /// from the kept sources, and all others are asked for at their origins, once for all requests.
    async fn overlays(
        self: &Arc<Self>,
        request: &ImageRequest,
        deadline: &Deadline,
    ) -> Result<FetchedMaterials, Error> {
        let mut fetched = FetchedMaterials::default();
        let most = self.resolver.most_bytes();
        for (name, from) in self.resolver.overlays_to_fetch(request) {
            let overlay = self.overlay(from.clone(), deadline).await;
            let added = overlay.and_then(|overlay| fetched.add(name.clone(), from, overlay, most));
            added.map_err(|error| error.of_overlay(&name))?;
        }
        Ok(fetched)
    }

    async fn overlay(
        self: &Arc<Self>,
        from: Location,
        deadline: &Deadline,
    ) -> Result<Source, Error> {
        let request = Arc::new(overlay_request(from));
        let Fetch::Body(source) = self.fetch(&request, None, deadline).await? else {
            // Nothing was said to be known.
            return Err(OriginError::Status(304).into());
        };
        if source.hold.bytes() == 0 {
            return bounded((*source).clone());
        }
        // The kept sources count the bytes of what they keep. Requests that held bytes of overlay images while they
        // wait for room for their sources could wait for one another.
        let results = &self.results;
        let (name, origin) = (results.source(&request), self.resolver.origin(&request));
        let budget = self.fetcher.budget(deadline.clone());
        bounded(
            match results.sources.look_up(&name, &origin, &budget).await {
                Known::Source(kept) if kept.validators == source.validators => kept,
                _ => (*source).clone(),
            },
        )
    }
}
