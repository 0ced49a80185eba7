//! The `Cache-Status` header (RFC 9211): what the cache did for a reply.

use std::fmt;
use std::time::Duration;

/// What the cache did for a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheStatus {
    /// The cache of this node had a fresh answer.
    Hit {
        /// Remaining time for which the answer is used before it is checked again.
        ttl: Duration,
    },
    /// The store that the nodes share had the answer, which another node or an earlier run has made.
    Shared {
        /// Remaining time for which the answer is used before it is checked again.
        ttl: Duration,
    },
    /// The cache had a stale answer, and that was sent.
    Stale,
    /// The cache had no answer or a stale one, and a new one was made.
    Forwarded {
        /// Whether the cache had a stale answer.
        stale: bool,
        /// Whether the origin said that the stale answer is still good.
        not_modified: bool,
        /// Whether the new answer is stored in the cache.
        stored: bool,
        /// Whether another request was already waiting for the same answer, and this one joined it.
        collapsed: bool,
    },
}

impl fmt::Display for CacheStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Hit { ttl } => write!(f, "andon; hit; ttl={}", ttl.as_secs()),
            Self::Shared { ttl } => write!(f, "andon; hit; ttl={}; detail=STORE", ttl.as_secs()),
            // RFC 9211 allows a negative ttl for stale answers; 0 is enough to say that this one is stale.
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
        let ttl = Duration::from_millis(59_900);
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
