//! What a request is for, decided once from the address it came to and its path.

/// What is served at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Images, and whatever else the configuration allows there.
    Images,
    /// Metrics and health only.
    Metrics,
}

/// What not every client may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Metrics,
    Play,
    Board,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// Is the server there?
    Health,
    /// Should it be sent requests?
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
    /// An image or a file, as a dialect reads the target.
    Image,
    /// At an address for metrics: anything else.
    Nothing,
}

impl Route {
    /// The route of a path without its query. The path of what is not `open` to the client is an image's like any
    /// other.
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
            (Purpose::Images, _) => Self::Image,
        }
    }

    /// Is it answered even over the connection limit? Whoever watches the server wants to know most when it is
    /// full.
    pub(crate) fn is_for_monitoring(self) -> bool {
        matches!(
            self,
            Self::Health | Self::Ready | Self::Metrics | Self::Board | Self::Nothing
        )
    }
}

/// What is left of a path at or below `prefix`.
pub(crate) fn below<'a>(prefix: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(prefix)?;
    match rest.strip_prefix('/') {
        None if !rest.is_empty() => None,
        rest => Some(rest.unwrap_or_default()),
    }
}

/// Where the live dashboard is.
pub(crate) const BOARD: &str = "/_andon/board";

/// Where the playground is.
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
            ("/_andon/player", Route::Image, Route::Image, Route::Nothing),
        ] {
            let route = |purpose, open| Route::of(purpose, path, |_| open);
            assert_eq!(route(Purpose::Images, true), when_open, "{path}");
            assert_eq!(route(Purpose::Images, false), when_closed, "{path}");
            assert_eq!(route(Purpose::Metrics, true), for_metrics, "{path}");
        }
    }
}
