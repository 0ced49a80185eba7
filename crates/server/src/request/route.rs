//! What a request is for, decided once from the address it came to and its path.

/// What is served at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Images, and whatever else the configuration allows there.
    Images,
    /// Metrics and health only.
    Metrics,
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
    /// An image or a file, as a dialect reads the target.
    Image,
    /// At an address for metrics: anything else.
    Nothing,
}

impl Route {
    /// The route of a path without its query. Where no `metrics` are for the client, their path is an image's like
    /// any other.
    pub(crate) fn of(purpose: Purpose, path: &str, metrics: bool) -> Self {
        match (purpose, path) {
            (_, "/healthz") => Self::Health,
            (_, "/readyz") => Self::Ready,
            (Purpose::Metrics, "/metrics") => Self::Metrics,
            (Purpose::Metrics, _) => Self::Nothing,
            (Purpose::Images, "/metrics") if metrics => Self::Metrics,
            (Purpose::Images, "/_andon/purge") => Self::Purge,
            (Purpose::Images, "/_andon/render") => Self::Upload,
            (Purpose::Images, _) => Self::Image,
        }
    }

    /// Is it answered even over the connection limit? Whoever watches the server wants to know most when it is
    /// full.
    pub(crate) fn is_for_monitoring(self) -> bool {
        matches!(
            self,
            Self::Health | Self::Ready | Self::Metrics | Self::Nothing
        )
    }
}

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
        ] {
            assert_eq!(Route::of(Purpose::Images, path, true), when_open, "{path}");
            assert_eq!(
                Route::of(Purpose::Images, path, false),
                when_closed,
                "{path}"
            );
            assert_eq!(
                Route::of(Purpose::Metrics, path, false),
                for_metrics,
                "{path}"
            );
        }
    }
}
