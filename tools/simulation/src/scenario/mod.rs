//! Events in the life of a fleet, one scenario per module.

pub mod burst;
pub mod overload;
pub mod planted;
pub mod purge;
pub mod timeline;

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::time::{Instant, sleep_until};

use crate::fleet::Fleet;
use crate::random::Random;

/// A function that makes single-threaded runtimes with a paused clock, which jumps to the next timer when there is
/// nothing to do.
pub type Runtimes = fn() -> Runtime;

/// Requests that arrive independently of each other (a Poisson process) for a limited time.
struct Arrivals {
    /// Requests per second, for all images together.
    rate: f64,
    time: Duration,
}

impl Arrivals {
    /// Sends the requests to a fleet, each for the image that `next` returns. `every_tick` is called once per
    /// millisecond.
    async fn at(
        &self,
        fleet: &Arc<Fleet>,
        random: &mut Random,
        mut next: impl FnMut(&mut Random) -> u32,
        mut every_tick: impl FnMut(u64),
    ) {
        let start = Instant::now();
        let ticks = self.time.as_millis() as u64;
        for tick in 0..ticks {
            every_tick(tick);
            for _ in 0..random.events(self.rate / 1000.0) {
                let image = next(random);
                fleet.request(image);
            }
            sleep_until(start + Duration::from_millis(tick + 1)).await;
        }
    }
}
