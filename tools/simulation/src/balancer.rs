//! The load balancer. It sends a request to the node that owns the image, or to the next node on the ring that is up
//! and whose load is below the limit.

use crate::images;
use crate::ring::Ring;

/// The nodes as a load balancer sees them.
#[derive(Debug)]
pub struct Balancer {
    ring: Ring,
    nodes: Vec<State>,
    /// The load limit, if any: the maximum number of requests under way at a node, as a multiple of the mean over the
    /// nodes that are up.
    factor: Option<f64>,
    under_way: u64,
    up: usize,
}

#[derive(Clone, Copy, Debug)]
struct State {
    is_up: bool,
    under_way: u64,
    requests: u64,
    /// Number of consecutive requests to the node that failed.
    failures: u32,
}

impl Balancer {
    /// Creates a balancer for this many nodes, all of them up.
    pub fn new(nodes: usize, factor: Option<f64>) -> Self {
        let mut balancer = Self {
            ring: Ring::new(0, 0),
            nodes: Vec::new(),
            factor,
            under_way: 0,
            up: 0,
        };
        balancer.grow(nodes);
        balancer
    }

    /// Grows the fleet to this many nodes. New nodes are marked as up.
    pub fn grow(&mut self, nodes: usize) {
        let new = State {
            is_up: true,
            under_way: 0,
            requests: 0,
            failures: 0,
        };
        self.up += nodes - self.nodes.len();
        self.nodes.resize(nodes, new);
        self.ring = Ring::new(nodes, POINTS);
    }

    /// Chooses the node to which a request for this image is sent, but never the node `not`. Returns `None` if no node
    /// can take the request. Otherwise a call of [`Balancer::leave`] must follow.
    pub fn enter(&mut self, image: u32, not: Option<u32>) -> Option<u32> {
        let most = self.factor.map_or(u64::MAX, |factor| {
            let mean = (self.under_way + 1) as f64 / self.up.max(1) as f64;
            (factor * mean).ceil() as u64
        });
        let takes = |node: &u32| {
            let state = &self.nodes[*node as usize];
            state.is_up && state.under_way < most && Some(*node) != not
        };
        let node = self.ring.from(images::hash(image)).find(takes)?;
        let state = &mut self.nodes[node as usize];
        state.under_way += 1;
        state.requests += 1;
        self.under_way += 1;
        Some(node)
    }

    /// Ends a request. `was_there` is whether the node responded. After two consecutive failures the node is marked as
    /// down.
    pub fn leave(&mut self, node: u32, was_there: bool) {
        self.under_way -= 1;
        let state = &mut self.nodes[node as usize];
        state.under_way -= 1;
        state.failures = match was_there {
            true => 0,
            false => state.failures + 1,
        };
        if state.failures >= MOST_FAILURES {
            self.set(node, false);
        }
    }

    /// Marks a node as up or down.
    pub fn set(&mut self, node: u32, is_up: bool) {
        let state = &mut self.nodes[node as usize];
        if state.is_up != is_up {
            state.is_up = is_up;
            state.failures = 0;
            match is_up {
                true => self.up += 1,
                false => self.up -= 1,
            }
        }
    }

    /// Returns the largest number of requests that a node has received since the last call, divided by the mean over
    /// all nodes.
    pub fn take_most_requests(&mut self) -> f64 {
        let all: u64 = self.nodes.iter().map(|node| node.requests).sum();
        let most = self.nodes.iter().map(|node| node.requests).max();
        let mean = all as f64 / self.nodes.len() as f64;
        self.nodes.iter_mut().for_each(|node| node.requests = 0);
        most.unwrap_or(0) as f64 / mean
    }
}

/// Number of points of each node on the ring: that of nginx, and of HAProxy for a weight of 10.
pub const POINTS: usize = 160;

/// Number of consecutive failures after which a node counts as down, like HAProxy's `fall` in the output of `andon
/// lb-config`.
const MOST_FAILURES: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_goes_to_its_owner_until_that_is_down_and_comes_back() {
        let mut balancer = Balancer::new(10, None);
        let owner = balancer.enter(1, None).expect("a node");
        assert_eq!(balancer.enter(1, None), Some(owner));
        assert_ne!(balancer.enter(1, Some(owner)), Some(owner));
        balancer.leave(owner, false);
        balancer.leave(owner, false);
        let other = balancer.enter(1, None).expect("a node");
        assert_ne!(other, owner);
        balancer.set(owner, true);
        assert_eq!(balancer.enter(1, None), Some(owner));
    }

    #[test]
    fn no_node_has_more_than_its_bound() {
        let mut balancer = Balancer::new(10, Some(1.5));
        for _ in 0..1000 {
            balancer.enter(1, None).expect("a node");
        }
        let most = balancer.nodes.iter().map(|node| node.under_way).max();
        assert_eq!(most, Some(150));
    }

    #[test]
    fn nobody_is_asked_when_all_are_down() {
        let mut balancer = Balancer::new(2, None);
        balancer.set(0, false);
        balancer.set(1, false);
        assert_eq!(balancer.enter(1, None), None);
    }
}
