//! A race between looking up a result in the store that nodes share and making it. The look-up gets a short head start.
//! After that both run, and the first complete result is used.

use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

/// What a look-up in the shared store found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<T, S> {
    /// A fresh result.
    Fresh(T),
    /// A stale result, which its origin may still confirm to be current.
    Stale(S),
}

/// Returns the result that `look_up` finds or `make` makes. `look_up` runs alone for at most `wait`. If it finds a
/// stale result in that time, `make` receives it. After that both run, and the first to give a fresh result wins. If
/// `make` fails with an error for which `can_wait` returns true, because the result cannot be made now, this waits for
/// the look-up.
///
/// # Errors
/// The error of `make`.
pub async fn found_or_made<T, S, E, M>(
    wait: Duration,
    look_up: impl Future<Output = Option<Found<T, S>>>,
    make: impl FnOnce(Option<S>) -> M,
    can_wait: impl Fn(&E) -> bool,
) -> Result<T, E>
where
    M: Future<Output = Result<T, E>>,
{
    let mut look_up = pin!(look_up);
    match timeout(wait, &mut look_up).await {
        Ok(Some(Found::Fresh(value))) => return Ok(value),
        Ok(Some(Found::Stale(stale))) => return make(Some(stale)).await,
        Ok(None) => return make(None).await,
        Err(_) => {}
    }
    let mut make = pin!(make(None));
    tokio::select! {
        biased;
        result = &mut make => match result {
            // Since `make` cannot work now, only the store may have a result.
            Err(error) if can_wait(&error) => match look_up.await {
                Some(Found::Fresh(value)) => Ok(value),
                _ => Err(error),
            },
            result => result,
        },
        entry = &mut look_up => match entry {
            // Returning drops `make`, which cancels it.
            Some(Found::Fresh(value)) => Ok(value),
            _ => make.await,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Ready, pending, ready};

    use super::*;

    type Looked = Option<Found<&'static str, &'static str>>;

    async fn race(
        look_up: impl Future<Output = Looked>,
        make: impl Future<Output = Result<&'static str, &'static str>>,
    ) -> Result<&'static str, &'static str> {
        found_or_made(Duration::ZERO, look_up, |_| make, |_| true).await
    }

    #[tokio::test]
    async fn what_the_store_has_at_once_is_not_made() {
        let look_up = ready(Some(Found::<_, ()>::Fresh("found")));
        let make = |_| -> Ready<Result<_, ()>> { unreachable!("it is there") };
        let result = found_or_made(Duration::from_secs(3600), look_up, make, |()| true).await;
        assert_eq!(result, Ok("found"));
    }

    #[tokio::test]
    async fn what_is_stale_is_handed_to_the_making() {
        let look_up = ready(Some(Found::<&str, _>::Stale("old")));
        let make = |stale: Option<&'static str>| ready(stale.ok_or(()));
        let result = found_or_made(Duration::from_secs(3600), look_up, make, |()| true).await;
        assert_eq!(result, Ok("old"));
    }

    #[tokio::test]
    async fn beside_a_store_that_hangs_the_result_is_made_and_its_error_waits_for_the_store() {
        assert_eq!(race(pending(), ready(Ok("made"))).await, Ok("made"));
        let late = async {
            tokio::task::yield_now().await;
            Some(Found::Fresh("found"))
        };
        assert_eq!(race(late, ready(Err("too busy"))).await, Ok("found"));
        let nothing = async {
            tokio::task::yield_now().await;
            None
        };
        assert_eq!(race(nothing, ready(Err("too busy"))).await, Err("too busy"));
    }

    #[tokio::test]
    async fn what_is_being_made_is_withdrawn_when_the_store_is_faster() {
        let late = async {
            tokio::task::yield_now().await;
            Some(Found::Fresh("found"))
        };
        assert_eq!(race(late, pending()).await, Ok("found"));
    }
}
