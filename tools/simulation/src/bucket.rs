//! The bucket that nodes share: objects in memory, accessed over a network that has latency and may fail.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use andon_cache::{Answer, Bucket, BucketError, Object, Version};
use bytes::Bytes;
use tokio::time::sleep;

use crate::locks::lock;
use crate::random::scramble;

/// The state of the object store that nodes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    /// Responses take 8 to 17 ms, and one in a hundred takes 80 to 149 ms.
    Usual,
    /// Every response takes this long.
    Slow(Duration),
    /// Every request fails after a millisecond.
    Down,
    /// Requests are never answered.
    Hangs,
}

/// The store that all nodes share.
#[derive(Debug)]
pub struct Store {
    objects: Mutex<HashMap<String, (Bytes, u64)>>,
    weather: Mutex<Weather>,
    requests: AtomicU64,
    written: AtomicU64,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            objects: Mutex::default(),
            weather: Mutex::new(Weather::Usual),
            requests: AtomicU64::new(0),
            written: AtomicU64::new(0),
        }
    }
}

impl Store {
    /// Sets the state of the store.
    pub fn set(&self, weather: Weather) {
        *lock(&self.weather) = weather;
    }

    /// Returns the number of objects that have been written since the start.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Changes or adds objects without the nodes' knowledge, as an attacker with write access to the bucket might.
    pub fn tamper(&self, change: impl FnOnce(&mut HashMap<String, (Bytes, u64)>)) {
        change(&mut lock(&self.objects));
    }

    async fn answer(&self) -> Result<(), BucketError> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let weather = *lock(&self.weather);
        match weather {
            Weather::Usual => {
                let dice = scramble(number);
                let millis = match dice % 100 {
                    0 => 80 + (dice >> 8) % 70,
                    _ => 8 + (dice >> 8) % 10,
                };
                sleep(Duration::from_millis(millis)).await;
                Ok(())
            }
            Weather::Slow(time) => {
                sleep(time).await;
                Ok(())
            }
            Weather::Down => {
                sleep(Duration::from_millis(1)).await;
                Err(BucketError::Failed("connection refused".to_owned()))
            }
            Weather::Hangs => std::future::pending().await,
        }
    }
}

/// The connection of one node to the store.
#[derive(Debug)]
pub struct Link {
    store: Arc<Store>,
    is_cut: AtomicBool,
}

impl Link {
    /// Creates a working connection.
    pub fn new(store: Arc<Store>) -> Self {
        Self {
            store,
            is_cut: AtomicBool::new(false),
        }
    }

    /// Cuts this node off from the store, or reconnects it.
    pub fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::Relaxed);
    }

    async fn answer(&self) -> Result<(), BucketError> {
        if self.is_cut.load(Ordering::Relaxed) {
            return std::future::pending().await;
        }
        self.store.answer().await
    }
}

impl Bucket for Link {
    fn get<'a>(&'a self, name: &'a str, known: Option<&'a Version>) -> Answer<'a, Object> {
        Box::pin(async move {
            self.answer().await?;
            let found = lock(&self.store.objects).get(name).cloned();
            let Some((bytes, number)) = found else {
                return Ok(Object::Missing);
            };
            let version = version(number);
            Ok(match known == Some(&version) {
                true => Object::Unchanged,
                false => Object::Here(bytes, version),
            })
        })
    }

    fn put<'a>(&'a self, name: &'a str, body: Bytes, over: Option<&'a Version>) -> Answer<'a, ()> {
        Box::pin(async move {
            self.answer().await?;
            let mut objects = lock(&self.store.objects);
            let there = objects.get(name).map(|(_, number)| version(*number));
            if there.as_ref() != over {
                return Err(BucketError::Conflict);
            }
            let number = self.store.written.fetch_add(1, Ordering::Relaxed);
            objects.insert(name.to_owned(), (body, number));
            Ok(())
        })
    }
}

fn version(number: u64) -> Version {
    Version {
        tag: Some(number.to_string()),
        number: None,
    }
}
