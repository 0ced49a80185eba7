//! Decides which results are written to the store that nodes share.

use std::time::Duration;

use super::Terms;
use super::life::NOT_SHARED;
use crate::config::StoreConfig;

/// Minimum cost and lifetime of results that are written to the store that nodes share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Worth {
    /// Minimum processor time that the result's plan must predict.
    cost: Duration,
    /// Minimum time for which the result may be used.
    life: Duration,
}

impl Worth {
    pub(crate) fn of(store: &StoreConfig) -> Self {
        Self {
            cost: store.min_cost.0,
            life: store.min_life.0,
        }
    }

    /// Checks whether a result that takes `cost` of processor time and has these caching terms is to be written to the
    /// store that nodes share.
    ///
    /// # Errors
    /// A message for users that says why it is not.
    pub(crate) fn check(&self, cost: Duration, terms: &Terms) -> Result<(), String> {
        let life = terms.life.fresh_for + terms.life.stale_while_revalidate;
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        if !terms.shared {
            Err(NOT_SHARED.to_owned())
        } else if cost < self.cost {
            Err(format!(
                "{:.1} ms of processor time is less than `store.min_cost` ({:.1} ms)",
                millis(cost),
                millis(self.cost)
            ))
        } else if life < self.life {
            Err(format!(
                "it is good for {life:?}, less than `store.min_life` ({:?})",
                self.life
            ))
        } else {
            Ok(())
        }
    }
}
