//! A plain LRU cache, for comparison with the server's memory tier, which uses SIEVE. Che's approximation predicts the
//! hit ratio of such an LRU.

use std::collections::HashMap;

/// The most recently used images, up to a maximum number.
#[derive(Debug)]
pub struct Lru {
    most: usize,
    places: HashMap<u32, u32>,
    slots: Vec<Slot>,
    newest: u32,
    oldest: u32,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    image: u32,
    newer: u32,
    older: u32,
}

impl Lru {
    /// Creates an empty LRU for this many images.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            places: HashMap::new(),
            slots: Vec::new(),
            newest: NONE,
            oldest: NONE,
        }
    }

    /// Requests an image, which becomes the most recently used one. Returns whether it was in the cache.
    pub fn uses(&mut self, image: u32) -> bool {
        if let Some(place) = self.places.get(&image).copied() {
            self.unlink(place);
            self.link(place);
            return true;
        }
        if self.most == 0 {
            return false;
        }
        let slot = Slot {
            image,
            newer: NONE,
            older: NONE,
        };
        let place = if self.slots.len() < self.most {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        } else {
            let place = self.oldest;
            self.unlink(place);
            self.places.remove(&self.slots[place as usize].image);
            self.slots[place as usize] = slot;
            place
        };
        self.places.insert(image, place);
        self.link(place);
        false
    }

    fn unlink(&mut self, place: u32) {
        let Slot { newer, older, .. } = self.slots[place as usize];
        match self.slots.get_mut(newer as usize) {
            Some(slot) => slot.older = older,
            None => self.newest = older,
        }
        match self.slots.get_mut(older as usize) {
            Some(slot) => slot.newer = newer,
            None => self.oldest = newer,
        }
    }

    fn link(&mut self, place: u32) {
        let before = self.newest;
        let slot = &mut self.slots[place as usize];
        (slot.newer, slot.older) = (NONE, before);
        match self.slots.get_mut(before as usize) {
            Some(slot) => slot.newer = place,
            None => self.oldest = place,
        }
        self.newest = place;
    }
}

/// Index that stands for no slot.
const NONE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_holds_what_was_used_last(most in 0..6usize, uses in prop::collection::vec(0..10u32, 0..200)) {
            let mut lru = Lru::new(most);
            let mut order: Vec<u32> = Vec::new();
            for image in uses {
                let expected = order.iter().rev().take(most).any(|other| *other == image);
                prop_assert_eq!(lru.uses(image), expected);
                order.retain(|other| *other != image);
                order.push(image);
            }
        }
    }
}
