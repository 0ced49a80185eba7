//! The number of files and sockets that the process may have open.

use std::num::NonZero;
use std::thread;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::{Config, OriginKind};

/// Raises the limit on open files to what the system grants. Most shells and services start programs with a limit of
/// 1024, for the sake of programs that use `select`. This server does not use it, and needs more files for
/// `limits.connections`.
pub(crate) fn allow_all() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // If the system refuses, the server runs with the present limit, and allows fewer connections.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: maximum,
            maximum,
        },
    );
}

/// Returns the maximum number of connections for which file descriptors never run out: each connection may need a file
/// for its reply, and the server's own work and `/healthz` have to go on at the limit.
pub(crate) fn connections(config: &Config) -> usize {
    let limit = config.limits.connections;
    let Some(descriptors) = getrlimit(Resource::Nofile).current else {
        return limit;
    };
    let descriptors = usize::try_from(descriptors).unwrap_or(usize::MAX);
    let fetches = |keeper: &OriginKind| match keeper {
        OriginKind::Fs(_) => 0,
        OriginKind::Http(_, remote) | OriginKind::Bucket(_, _, remote) => remote.fetches(),
    };
    let origins: usize = config
        .origin
        .iter()
        .map(|origin| fetches(&origin.keeper))
        .sum();
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let listeners = cores * (config.listen.len() + config.tls.listen.len() + 1);
    let reserve = OUR_OWN
        .saturating_add(listeners)
        .saturating_add(config.limits.fetches)
        .saturating_add(origins);
    limit.min((descriptors.saturating_sub(reserve) / 2).max(FEWEST))
}

/// Number of descriptors reserved for logs, folders, the cache, and the few connections that are accepted over a limit
/// on connections.
const OUR_OWN: usize = 96;

/// Minimum number of connections that are allowed, even if the system does not grant enough descriptors for them.
const FEWEST: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        let current = maximum.map_or(Some(1024), |most| Some(most.min(1024)));
        setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
        allow_all();
        assert_eq!(getrlimit(Resource::Nofile).current, maximum);
    }
}
