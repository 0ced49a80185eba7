//! How many files and sockets the process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Takes as many as the system grants. Most shells and services start programs with 1024, fewer than
/// `limits.connections` and their files need, for the sake of programs that use `select`; we do not.
pub(crate) fn allow_all() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Where that is refused we run with what there is, and connections wait for their turn.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: maximum,
            maximum,
        },
    );
}

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
