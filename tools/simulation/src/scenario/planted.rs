//! Objects in the store that no node has written in this form: changed, truncated, swapped or made up.

use std::collections::HashMap;

use bytes::Bytes;
use serde::Serialize;
use tokio::task::JoinSet;

use crate::fleet::{Fleet, Setup};
use crate::images;
use crate::node::Sources;
use crate::random::{Random, scramble};

/// How many planted and untouched objects were looked up, and how many of them were used.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Outcome {
    /// Look-ups of objects that had been changed, truncated, swapped or made up.
    pub planted: u64,
    /// Look-ups of planted objects in which the node used the object.
    pub used: u64,
    /// Look-ups of objects that had not been touched.
    pub untouched: u64,
    /// Look-ups of untouched objects in which the node used the object.
    pub untouched_used: u64,
}

/// Writes the results of `images` images by way of one node. In each round it spoils nine in ten of these objects, and
/// looks all of them up by way of another node.
pub async fn run(images: u32, rounds: u32, seed: u64) -> Outcome {
    let fleet = Fleet::start(Setup {
        nodes: 2,
        room: 1,
        sources: Sources::Network,
        shares: true,
        factor: None,
        tries: 1,
        images: 0,
    })
    .await;
    let writer = fleet.node(0);
    for image in 0..images {
        let ticket = writer.cache().ticket();
        let entry = images::result(image, 0);
        writer
            .cache()
            .put_in_store(images::key(image), entry, ticket);
        if image % QUEUE == 0 {
            writer.cache().flush().await;
        }
    }
    writer.cache().flush().await;
    let mut good = HashMap::new();
    fleet.store().tamper(|objects| good.clone_from(objects));
    let names: Vec<String> = (0..images).map(|image| name(&images::key(image))).collect();
    let mut outcome = Outcome::default();
    let mut random = Random::new(seed);
    for _ in 0..rounds {
        fleet.store().tamper(|objects| {
            objects.clone_from(&good);
            for (image, name) in names.iter().enumerate() {
                let other = &names[random.below(names.len() as u64) as usize];
                if is_spoiled(image as u32)
                    && let (Some((bytes, _)), Some((swapped, _))) =
                        (good.get(name), good.get(other))
                {
                    let spoiled = spoil(bytes, swapped, &mut random);
                    objects.insert(name.clone(), (spoiled, random.bits()));
                }
            }
        });
        for first in (0..images).step_by(AT_ONCE) {
            let mut looks = JoinSet::new();
            for image in first..(first + AT_ONCE as u32).min(images) {
                let node = fleet.node(1);
                looks.spawn(async move {
                    let ticket = node.cache().ticket();
                    let found = node
                        .cache()
                        .get_from_store(&images::key(image), ticket)
                        .await;
                    (image, found.is_some())
                });
            }
            for (image, was_used) in looks.join_all().await {
                let used = u64::from(was_used);
                if is_spoiled(image) {
                    outcome.planted += 1;
                    outcome.used += used;
                } else {
                    outcome.untouched += 1;
                    outcome.untouched_used += used;
                }
            }
        }
    }
    outcome
}

fn is_spoiled(image: u32) -> bool {
    !image.is_multiple_of(10)
}

/// Returns a spoiled object at random: one bit flipped, its end overwritten or cut off, another image's object, or
/// random bytes.
fn spoil(object: &Bytes, other: &Bytes, random: &mut Random) -> Bytes {
    let mut bytes = object.to_vec();
    let place = random.below(bytes.len() as u64) as usize;
    match random.below(5) {
        0 => bytes[place] ^= 1 << random.below(8),
        1 => bytes[place..].iter_mut().for_each(|byte| *byte = !*byte),
        2 => bytes.truncate(place),
        // If it is the object itself, its seal is broken instead.
        3 if other != object => bytes = other.to_vec(),
        _ => {
            let mut number = random.bits();
            bytes.iter_mut().for_each(|byte| {
                number = scramble(number);
                *byte = number as u8;
            });
        }
    }
    bytes.into()
}

/// Returns the name of an image's object in the store, as nodes write it.
fn name(key: &andon_cache::Key) -> String {
    let key = key.to_string();
    format!("results/{}/{key}", &key[..2])
}

/// Number of objects written between two flushes. It is smaller than the number that a node queues for writing.
const QUEUE: u32 = 500;
/// Number of concurrent look-ups, as many as a node allows.
const AT_ONCE: usize = 64;
