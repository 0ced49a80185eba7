//! Consistent hashing. Nodes have points on a ring, and an image belongs to the node of the next point.

use crate::random::scramble;

/// The points of all nodes on a ring, in order.
#[derive(Clone, Debug)]
pub struct Ring {
    points: Vec<(u64, u32)>,
    /// For each value of a hash's first bits, the index of the first point that is not below it. This narrows most
    /// searches to a few points.
    starts: Vec<u32>,
}

impl Ring {
    /// Creates a ring of `nodes` nodes with `points` points each. A node's points do not depend on the number of other
    /// nodes.
    pub fn new(nodes: usize, points: usize) -> Self {
        let mut all: Vec<(u64, u32)> = (0..nodes as u64)
            .flat_map(|node| {
                let point = move |number| scramble(scramble(node << 20 | number));
                (0..points as u64).map(move |number| (point(number), node as u32))
            })
            .collect();
        all.sort_unstable();
        let start = |bits: u64| all.partition_point(|(point, _)| point >> REST < bits) as u32;
        let starts = (0..=1 << BITS).map(start).collect();
        Self {
            points: all,
            starts,
        }
    }

    /// Returns the node that owns a hash.
    pub fn owner(&self, hash: u64) -> u32 {
        self.points[self.place(hash)].1
    }

    /// Returns the nodes in the order in which they are tried for a hash. A node occurs as often as it has points on
    /// the ring.
    pub fn from(&self, hash: u64) -> impl Iterator<Item = u32> {
        let (before, after) = self.points.split_at(self.place(hash));
        after.iter().chain(before).map(|(_, node)| *node)
    }

    fn place(&self, hash: u64) -> usize {
        let bits = (hash >> REST) as usize;
        let (start, end) = (self.starts[bits] as usize, self.starts[bits + 1] as usize);
        let nearby = &self.points[start..end];
        let place = start + nearby.partition_point(|(point, _)| *point < hash);
        if place == self.points.len() { 0 } else { place }
    }
}

/// How evenly a hash ring distributes images and requests over its nodes.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Evenness {
    /// The number of nodes.
    pub nodes: usize,
    /// The number of points of each node.
    pub points: usize,
    /// Standard deviation of the numbers of images per node, divided by their mean.
    pub deviation: f64,
    /// Number of images of the node with the most images, divided by the mean of all nodes.
    pub most_images: f64,
    /// Number of requests of the node with the most requests, divided by the mean of all nodes.
    pub most_requests: f64,
    /// Number of requests of the node with the most requests, divided by the mean of all nodes, if requests for the
    /// thousand most requested images are not counted.
    pub most_requests_of_others: f64,
    /// The share of all images that move to another node when one node is lost.
    pub moved_by_loss: f64,
    /// The share of all images that move to another node when the number of nodes is doubled.
    pub moved_by_doubling: f64,
}

impl Evenness {
    /// Measures the evenness of `nodes` nodes with `points` points each. `shares` are the shares of the images in all
    /// requests.
    pub fn of(nodes: usize, points: usize, shares: &[f64]) -> Self {
        let (ring, doubled) = (Ring::new(nodes, points), Ring::new(2 * nodes, points));
        let mut images = vec![0.0; nodes];
        let (mut requests, mut of_others) = (vec![0.0; nodes], vec![0.0; nodes]);
        let (mut lost, mut moved) = (0.0, 0.0);
        for (rank, share) in shares.iter().enumerate() {
            let hash = scramble(rank as u64);
            let owner = ring.owner(hash);
            let node = owner as usize;
            images[node] += 1.0;
            requests[node] += share;
            if rank >= HOTTEST {
                of_others[node] += share;
            }
            lost += f64::from(u8::from(node == 0));
            moved += f64::from(u8::from(doubled.owner(hash) != owner));
        }
        let over_mean = |values: &[f64]| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            values.iter().copied().fold(0.0, f64::max) / mean
        };
        let mean = shares.len() as f64 / nodes as f64;
        let variance = images.iter().map(|n| (n / mean - 1.0).powi(2)).sum::<f64>() / nodes as f64;
        Self {
            nodes,
            points,
            deviation: variance.sqrt(),
            most_images: over_mean(&images),
            most_requests: over_mean(&requests),
            most_requests_of_others: over_mean(&of_others),
            moved_by_loss: lost / shares.len() as f64,
            moved_by_doubling: moved / shares.len() as f64,
        }
    }
}

const HOTTEST: usize = 1000;

/// The number of leading bits of a hash that select where a search begins.
const BITS: u32 = 16;
/// The number of bits of a hash after the first [`BITS`].
const REST: u32 = 64 - BITS;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_points_share_out_more_evenly_and_twice_the_nodes_move_half_the_images() {
        let shares = vec![1e-6; 200_000];
        let [few, many] = [16, 160].map(|points| Evenness::of(100, points, &shares));
        assert!(few.deviation > 2.0 * many.deviation);
        assert!((many.moved_by_doubling - 0.5).abs() < 0.05);
        assert!((many.moved_by_loss - 0.01).abs() < 0.005);
    }

    #[test]
    fn the_owner_has_the_next_point() {
        let ring = Ring::new(50, 40);
        for number in 0..10_000 {
            let hash = scramble(number);
            let next = ring.points.iter().find(|(point, _)| *point >= hash);
            assert_eq!(ring.owner(hash), next.unwrap_or(&ring.points[0]).1);
        }
    }

    #[test]
    fn the_nodes_that_are_tried_begin_with_the_owner_and_leave_nobody_out() {
        let ring = Ring::new(7, 20);
        for hash in [0, 1 << 40, u64::MAX] {
            let tried: Vec<u32> = ring.from(hash).collect();
            assert_eq!(tried.first(), Some(&ring.owner(hash)));
            assert!((0..7).all(|node| tried.contains(&node)));
        }
    }
}
