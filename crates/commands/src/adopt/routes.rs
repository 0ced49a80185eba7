//! Checks that a configuration reads the URLs of a log as they were recognised.

use std::path::Path;

use andon_dialects::{Ask, Dialects, ImageRequest, NoHeaders, Nowhere, Refusal, Source};
use andon_server::config::Overrides;

/// Where a configuration leads a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// An image is made of this source, or facts are told about it.
    Image(Source),
    /// A file is sent unchanged.
    File,
    /// Something else is sent, such as a redirect.
    Other,
    /// It is refused, for this reason.
    Refused(String),
}

/// Reads targets as a server with this configuration does, under the environment variables of this process.
pub(super) struct Router(Dialects);

impl Router {
    pub(super) fn new(text: &str, folder: &Path) -> anyhow::Result<Self> {
        let config = Overrides::of_process().parse(text, folder)?;
        Ok(Self(Dialects::new(&config.dialects)?))
    }

    /// Returns the names of the dialects that answer URLs without any signature.
    pub(super) fn unsigned(&self) -> Vec<&'static str> {
        self.0.unsigned().to_vec()
    }

    /// Says why no dialect reads a target that is that of an image.
    pub(super) fn why_unread(&self, target: &str) -> String {
        let Some(new) = self.0.rewritten(target) else {
            return UNREAD.to_owned();
        };
        let hint = self.0.hint(target).map(|hint| format!(": {hint}"));
        format!(
            "the old server sends an image, and [[rewrite]] makes the URL {new}, which no dialect reads{}",
            hint.unwrap_or_default()
        )
    }

    pub(super) fn route(&self, target: &str) -> Route {
        let request: Result<ImageRequest, Refusal> =
            self.0.parse_for(target, &NoHeaders, &Nowhere, Ok);
        match request {
            Err(refusal) => Route::Refused(refusal.to_string()),
            Ok(request) => match request.ask {
                Ask::Image | Ask::Describe(_) => Route::Image(request.source),
                Ask::File => Route::File,
                Ask::Redirect(_) | Ask::Text { .. } => Route::Other,
            },
        }
    }
}

/// Why a target is listed that no rule and no dialect reads.
const UNREAD: &str = "the old server sends an image, and no dialect reads the URL; docs/behind-nginx.md has rules that turn URLs of a script into Andon's (\"In place of a script that resizes\")";
