//! Objects in the store that no node wrote there like this.

use std::collections::HashMap;

use bytes::Bytes;
use serde::Serialize;
use tokio::task::JoinSet;

use crate::fleet::{Fleet, Setup};
use crate::images;
use crate::node::Sources;
use crate::random::{Random, scramble};

/// What was served of them.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Outcome {
    /// Objects that somebody had changed, torn, swapped or made up.
    pub planted: u64,
    /// Those that a node used.
    pub used: u64,
    /// Objects that nobody had touched.
    pub untouched: u64,
    /// Those that a node used.
    pub untouched_used: u64,
}

/// Writes the results of so many images by way of one node, spoils nine in ten of them in so many rounds, and looks all
/// of them up by way of another.
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

/// One bit flipped, bytes overwritten, an end torn off, another image's object, bytes of no object at all.
fn spoil(object: &Bytes, other: &Bytes, random: &mut Random) -> Bytes {
    let mut bytes = object.to_vec();
    let place = random.below(bytes.len() as u64) as usize;
    match random.below(5) {
        0 => bytes[place] ^= 1 << random.below(8),
        1 => bytes[place..].iter_mut().for_each(|byte| *byte = !*byte),
        2 => bytes.truncate(place),
        // Its own one, now and then: then its seal is broken as well.
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

/// The name of an image's object, as nodes write it.
fn name(key: &andon_cache::Key) -> String {
    let key = key.to_string();
    format!("results/{}/{key}", &key[..2])
}

/// Fewer than a node queues for writing.
const QUEUE: u32 = 500;
/// As many look-ups as a node has at a time.
const AT_ONCE: usize = 64;
