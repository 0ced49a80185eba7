//! Which part of the server answers a request, decided once from the address that received it and from its path.

/// What is served at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Images, and whatever else the configuration allows there.
    Images,
    /// Metrics, health and the live dashboard only.
    Metrics,
}

/// A part of the server that not every client may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Metrics,
    Play,
    Board,
    Folder,
}

/// The part of the server that answers a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// Liveness check: whether the server is running.
    Health,
    /// Readiness check: whether the server should be sent requests.
    Ready,
    /// Metrics for Prometheus.
    Metrics,
    /// Remove results from the cache.
    Purge,
    /// Render the image in the body.
    Upload,
    /// The live dashboard.
    Board,
    /// The playground.
    Play,
    /// The page at `/` with the images of the folder, and its files.
    Folder,
    /// An image or a file, as a URL dialect reads the target.
    Image,
    /// Any other path at an address for metrics, where nothing is served.
    Nothing,
}

impl Route {
    /// Returns the route of a path without its query. The path of a part that is not `open` to the client is routed
    /// like any other path: as that of an image or, at an address for metrics, of nothing.
    pub(crate) fn of(purpose: Purpose, path: &str, open: impl Fn(Part) -> bool) -> Self {
        match (purpose, path) {
            (_, "/healthz") => Self::Health,
            (_, "/readyz") => Self::Ready,
            (Purpose::Metrics, "/metrics") => Self::Metrics,
            (_, path) if below(BOARD, path).is_some() && open(Part::Board) => Self::Board,
            (Purpose::Metrics, _) => Self::Nothing,
            (Purpose::Images, "/metrics") if open(Part::Metrics) => Self::Metrics,
            (Purpose::Images, "/_andon/purge") => Self::Purge,
            (Purpose::Images, "/_andon/render") => Self::Upload,
            (Purpose::Images, path) if below(PLAY, path).is_some() && open(Part::Play) => {
                Self::Play
            }
            (Purpose::Images, path)
                if (path == "/" || below(FOLDER, path).is_some()) && open(Part::Folder) =>
            {
                Self::Folder
            }
            (Purpose::Images, _) => Self::Image,
        }
    }

    /// Whether the request is answered even beyond the connection limit: monitoring matters most when the server is
    /// full.
    pub(crate) fn is_for_monitoring(self) -> bool {
        matches!(
            self,
            Self::Health | Self::Ready | Self::Metrics | Self::Board | Self::Nothing
        )
    }
}

/// Returns the rest of a path at or below `prefix`, or `None` if it is elsewhere.
pub(crate) fn below<'a>(prefix: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(prefix)?;
    match rest.strip_prefix('/') {
        None if !rest.is_empty() => None,
        rest => Some(rest.unwrap_or_default()),
    }
}

/// The path of the live dashboard.
pub(crate) const BOARD: &str = "/_andon/board";

/// The path below which the files of the page at `/` are.
pub(crate) const FOLDER: &str = "/_andon/folder";

/// The path of the playground.
pub(crate) const PLAY: &str = "/_andon/play";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_routed_by_address_and_by_what_is_open() {
        for (path, when_open, when_closed, for_metrics) in [
            ("/healthz", Route::Health, Route::Health, Route::Health),
            ("/readyz", Route::Ready, Route::Ready, Route::Ready),
            ("/metrics", Route::Metrics, Route::Image, Route::Metrics),
            ("/_andon/purge", Route::Purge, Route::Purge, Route::Nothing),
            (
                "/_andon/render",
                Route::Upload,
                Route::Upload,
                Route::Nothing,
            ),
            ("/metrics/a.jpg", Route::Image, Route::Image, Route::Nothing),
            ("/a.jpg", Route::Image, Route::Image, Route::Nothing),
            ("/_andon/board", Route::Board, Route::Image, Route::Board),
            ("/_andon/play", Route::Play, Route::Image, Route::Nothing),
            (
                "/_andon/play/words",
                Route::Play,
                Route::Image,
                Route::Nothing,
            ),
            ("/", Route::Folder, Route::Image, Route::Nothing),
            (
                "/_andon/folder/folder.css",
                Route::Folder,
                Route::Image,
                Route::Nothing,
            ),
            ("/_andon/player", Route::Image, Route::Image, Route::Nothing),
        ] {
            let route = |purpose, open| Route::of(purpose, path, |_| open);
            assert_eq!(route(Purpose::Images, true), when_open, "{path}");
            assert_eq!(route(Purpose::Images, false), when_closed, "{path}");
            assert_eq!(route(Purpose::Metrics, true), for_metrics, "{path}");
        }
    }
}
