//! Checks that a configuration answers the URLs of a log as they were recognised.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;

use andon_dialects::forms::{is_script, looks_signed};
use andon_dialects::{Ask, Dialects, ImageRequest, NoHeaders, Nowhere, Refusal, Rewrite, Source};
use andon_server::config::{Listen, Overrides};

/// What a server with a given configuration does for a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// The server makes an image from this source, or returns facts about it, such as its size.
    Image(Source),
    /// The server sends a file unchanged.
    File,
    /// The server sends something that is neither an image nor a file, such as a redirect.
    Other,
    /// The server refuses the target, for this reason.
    Refused(String),
}

/// Resolves targets as a server with this configuration would, including the environment variables of this process.
pub(super) struct Router {
    dialects: Dialects,
    rules: Vec<Rewrite>,
    listen: Vec<Listen>,
}

impl Router {
    pub(super) fn new(text: &str, folder: &Path) -> anyhow::Result<Self> {
        let config = Overrides::of_process().parse(text, folder)?;
        Ok(Self {
            dialects: Dialects::new(&config.dialects)?,
            rules: config.dialects.rewrite,
            listen: config.listen,
        })
    }

    /// Returns the URL that a proxy on the same machine uses to reach the server.
    pub(super) fn address(&self) -> String {
        match self.listen.first() {
            Some(Listen::Tcp(address)) => {
                let socket_address = address.parse::<SocketAddr>().ok();
                match socket_address.filter(|it| it.ip().is_unspecified()) {
                    Some(all) => format!("http://127.0.0.1:{}", all.port()),
                    None => format!("http://{address}"),
                }
            }
            Some(Listen::Unix(path)) => format!("http://unix:{}", path.display()),
            None => String::new(),
        }
    }

    /// Whether a rewrite rule applies to a target.
    pub(super) fn has_rule(&self, target: &str) -> bool {
        self.dialects.rule_of(target).is_some()
    }

    /// Returns the rewrite rules that apply to these targets, in their order.
    pub(super) fn rules_of<'a>(&self, targets: impl Iterator<Item = &'a String>) -> Vec<Rewrite> {
        let indices: BTreeSet<usize> = targets
            .filter_map(|target| self.dialects.rule_of(target))
            .collect();
        let rules = indices.iter().filter_map(|index| self.rules.get(*index));
        rules.cloned().collect()
    }

    /// Returns the names of the dialects that answer unsigned URLs.
    pub(super) fn unsigned(&self) -> Vec<&'static str> {
        self.dialects.unsigned().to_vec()
    }

    /// Whether a target begins with a signature, as URLs of imgproxy, thumbor and imagor do, but would be answered
    /// without one as well.
    pub(super) fn ignores_signature(&self, target: &str) -> bool {
        let request = self
            .dialects
            .parse_for(target, &NoHeaders, &Nowhere, Ok::<_, Refusal>);
        let dialect = request.map_or("", |request| request.style.dialect);
        SIGNING.contains(&dialect)
            && self.dialects.unsigned().contains(&dialect)
            && begins_with_signature(target)
    }

    /// Whether a rewrite rule turns a target into the URL of a script, which Andon does not run.
    pub(super) fn leads_to_script(&self, target: &str) -> bool {
        let new_target = self.dialects.rewritten(target).filter(|new| new != target);
        new_target.is_some_and(|new| is_script(&new))
    }

    /// Returns the reason why no dialect reads the target of an image.
    pub(super) fn why_unread(&self, target: &str) -> String {
        let Some(new) = self.dialects.rewritten(target) else {
            return UNREAD.to_owned();
        };
        let hint = self.dialects.hint(target).map(|hint| format!(": {hint}"));
        format!(
            "the old server sends an image, and [[rewrite]] makes the URL {new}, which no dialect reads{}",
            hint.unwrap_or_default()
        )
    }

    pub(super) fn route(&self, target: &str) -> Route {
        let request: Result<ImageRequest, Refusal> =
            self.dialects.parse_for(target, &NoHeaders, &Nowhere, Ok);
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

/// Dialects whose URLs have a signature directly after the prefix.
const SIGNING: [&str; 3] = ["imgproxy", "thumbor", "imagor"];

/// Words in the place of a signature that mark a URL as unsigned.
const NO_SIGNATURES: [&str; 3] = ["unsafe", "insecure", "_"];

/// Whether the segment before the options and the source of a target looks like a signature.
fn begins_with_signature(target: &str) -> bool {
    let Some((beginning, _)) = target.rsplit_once('/') else {
        return false;
    };
    let is_open = |segment: &str| segment.contains(':') || NO_SIGNATURES.contains(&segment);
    let mut segments = beginning.split('/').take_while(|segment| !is_open(segment));
    segments.any(looks_signed)
}

/// The reason in the report for an image that neither a rewrite rule nor a dialect reads.
const UNREAD: &str = "the old server sends an image, and no dialect reads the URL; docs/behind-nginx.md has rules that turn URLs of a script into Andon's (\"In place of a script that resizes\")";

#[cfg(test)]
mod tests {
    use super::begins_with_signature;

    #[test]
    fn a_signature_is_told_from_a_source_in_base64() {
        let signature = "AfrOrF3gWeDA6VOlDG4TzxMv39O7MXnF4CXpKUwGqRM";
        let source = "aHR0cDovL2V4YW1wbGUuY29tL2ltYWdlcy9jdXJpb3NpdHkuanBn";
        for signed in [
            format!("/{signature}/w:300/plain/a.jpg"),
            format!("/img/{signature}/{source}.png"),
            format!("/{signature}/fit-in/300x200/a.jpg"),
        ] {
            assert!(begins_with_signature(&signed), "{signed}");
        }
        for open in [
            format!("/insecure/{source}.png"),
            format!("/_/{source}/more.png"),
            format!("/img/x/w:300/{source}/more"),
            format!("/x/{source}.png"),
            "/unsafe/300x200/a.jpg".to_owned(),
        ] {
            assert!(!begins_with_signature(&open), "{open}");
        }
    }
}
