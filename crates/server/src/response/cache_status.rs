//! `Cache-Status` (RFC 9211): what the cache did for one answer.

use std::fmt;
use std::time::Duration;

/// What the cache did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheStatus {
    /// It had the answer; used for so long yet, where that is known.
    Hit {
        /// Until it is checked again.
        ttl: Option<Duration>,
    },
    /// Another node had made the answer, and it was in the store that they share.
    Shared {
        /// Until it is checked again.
        ttl: Duration,
    },
    /// It had an old answer, and gave that.
    Stale,
    /// It had no answer, or an old one, and one was made.
    Forwarded {
        /// It had an old one.
        stale: bool,
        /// The origin said that the old one is still good.
        not_modified: bool,
        /// The new one is kept.
        stored: bool,
        /// Somebody else was already waiting for it.
        collapsed: bool,
    },
}

impl fmt::Display for CacheStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Hit { ttl: Some(ttl) } => write!(f, "andon; hit; ttl={}", ttl.as_secs()),
            Self::Hit { ttl: None } => f.write_str("andon; hit"),
            Self::Shared { ttl } => write!(f, "andon; hit; ttl={}; detail=STORE", ttl.as_secs()),
            // A negative ttl would be more telling, and has no bound that is worth telling.
            Self::Stale => f.write_str("andon; hit; ttl=0; detail=STALE"),
            Self::Forwarded {
                stale,
                not_modified,
                stored,
                collapsed,
            } => {
                let why = if stale { "stale" } else { "uri-miss" };
                write!(f, "andon; fwd={why}")?;
                for (holds, text) in [
                    (not_modified, "; fwd-status=304"),
                    (stored, "; stored"),
                    (collapsed, "; collapsed"),
                ] {
                    if holds {
                        f.write_str(text)?;
                    }
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_as_rfc_9211_has_it() {
        let ttl = Some(Duration::from_millis(59_900));
        assert_eq!(CacheStatus::Hit { ttl }.to_string(), "andon; hit; ttl=59");
        let forwarded = CacheStatus::Forwarded {
            stale: true,
            not_modified: true,
            stored: true,
            collapsed: true,
        };
        assert_eq!(
            forwarded.to_string(),
            "andon; fwd=stale; fwd-status=304; stored; collapsed"
        );
    }
}
