//! Selects the next URL as a pure function of a sequence number, so that every variant receives the same requests.

use std::sync::{Mutex, PoisonError};

use super::{RequestTemplate, Script};
use crate::scenario::UrlOrder;
use crate::stats::Random;

/// The order in which URLs are requested.
pub(super) struct Sequence {
    order: UrlOrder,
    seed: u64,
    len: usize,
    /// For each URL, the sum of the weights up to and including its own.
    cumulated: Vec<f64>,
    /// The index of each request's URL if a script gives the order; otherwise empty.
    script: Vec<u32>,
    /// The pass through the list of URLs that was shuffled last: its number, from 0, and its order.
    round: Mutex<(u64, Vec<usize>)>,
}

impl Sequence {
    pub(super) fn new(templates: &[RequestTemplate], order: UrlOrder, seed: u64) -> Self {
        let mut sum = 0.0;
        let cumulated = templates
            .iter()
            .map(|template| {
                sum += template.weight.max(0.0);
                sum
            })
            .collect();
        Self {
            order,
            seed,
            len: templates.len(),
            cumulated,
            script: Vec::new(),
            round: Mutex::new((u64::MAX, Vec::new())),
        }
    }

    /// Creates a sequence that requests the URLs in the order of a script.
    pub(super) fn scripted(script: &Script) -> Self {
        let urls = script.requests.iter().map(|(_, url)| *url);
        Self {
            script: urls.collect(),
            ..Self::new(&[], UrlOrder::List, 0)
        }
    }

    /// Returns the index of the URL of the request with this sequence number.
    pub(super) fn url(&self, number: u64) -> usize {
        if !self.script.is_empty() {
            let at = number % self.script.len() as u64;
            return self.script[at as usize] as usize;
        }
        let len = self.len as u64;
        match self.order {
            UrlOrder::List => (number % len) as usize,
            UrlOrder::Shuffle => self.shuffled_index(number / len, (number % len) as usize),
            UrlOrder::Weighted => {
                let total = self.cumulated.last().copied().unwrap_or(0.0);
                let at = Random::new(self.seed ^ number.wrapping_mul(0xD134_2543_DE82_EF95)).unit()
                    * total;
                self.cumulated
                    .partition_point(|&sum| sum <= at)
                    .min(self.len - 1)
            }
        }
    }

    fn shuffled_index(&self, round: u64, place: usize) -> usize {
        let mut last = self.round.lock().unwrap_or_else(PoisonError::into_inner);
        if last.0 != round {
            let mut random = Random::new(
                self.seed
                    .wrapping_add(round.wrapping_mul(0xA24B_AED4_963E_E407)),
            );
            let mut order: Vec<usize> = (0..self.len).collect();
            random.shuffle(&mut order);
            *last = (round, order);
        }
        last.1[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn templates(weights: &[f64]) -> Vec<RequestTemplate> {
        weights
            .iter()
            .map(|&weight| RequestTemplate {
                weight,
                ..RequestTemplate::get("/")
            })
            .collect()
    }

    #[test]
    fn a_list_is_asked_again_and_again_in_its_order() {
        let sequence = Sequence::new(&templates(&[1.0; 3]), UrlOrder::List, 1);
        let order: Vec<usize> = (0..7).map(|n| sequence.url(n)).collect();
        assert_eq!(order, [0, 1, 2, 0, 1, 2, 0]);
    }

    #[test]
    fn each_round_of_a_shuffle_has_every_url_once() {
        let sequence = Sequence::new(&templates(&[1.0; 9]), UrlOrder::Shuffle, 7);
        let rounds: Vec<Vec<usize>> = (0..3)
            .map(|round| (0..9).map(|n| sequence.url(round * 9 + n)).collect())
            .collect();
        for round in &rounds {
            let mut sorted = round.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..9).collect::<Vec<_>>());
        }
        assert_ne!(rounds[0], rounds[1]);
        let again = Sequence::new(&templates(&[1.0; 9]), UrlOrder::Shuffle, 7);
        assert_eq!(rounds[0], (0..9).map(|n| again.url(n)).collect::<Vec<_>>());
    }

    #[test]
    fn weights_are_kept_in_the_long_run() {
        let sequence = Sequence::new(&templates(&[1.0, 3.0, 0.0]), UrlOrder::Weighted, 3);
        let mut counts = [0_u32; 3];
        for number in 0..10_000 {
            counts[sequence.url(number)] += 1;
        }
        assert!((2300..2700).contains(&counts[0]), "{counts:?}");
        assert_eq!(counts[2], 0);
    }
}
