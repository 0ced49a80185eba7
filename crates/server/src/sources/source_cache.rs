//! Cache of source files in memory. Each file is read once for all requests that need it at a time, and its bytes are
//! counted once. Nothing is evicted: a file leaves the cache with the last request that uses it.
//!
//! Without it, fifty requests for sizes of one image would hold fifty copies of it while they wait. If memory is short,
//! most of them could not even wait, let alone share a decode.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use andon_cache::Key;

use crate::error::Error;
use crate::sources::cached_source::{Loaded, Place};
use crate::sources::fetch::Fetcher;
use crate::sources::open_source::OpenSource;

pub(crate) use crate::sources::cached_source::CachedSource;

/// The files that requests use now, by their state.
#[derive(Debug, Default)]
pub(crate) struct SourceCache(Mutex<HashMap<Key, Weak<Place>>>);

impl SourceCache {
    /// Returns `input` with its file in memory: shared with a request that uses it, or read now in one of the fetcher's
    /// slots. An input with overlays is returned unchanged: if it held its source while it waits for memory for the
    /// overlays, two such requests could wait for each other.
    ///
    /// # Errors
    /// The errors of reading the file. A request that waited for another one's read reads the file itself if that
    /// fails.
    pub(crate) async fn fill(
        &self,
        input: OpenSource,
        fetcher: &Fetcher,
    ) -> Result<OpenSource, Error> {
        let Some(read_file) = input.reader() else {
            return Ok(input);
        };
        let place = self.place(input.source_key());
        let read = || async {
            let hold = Arc::new(fetcher.hold(input.size()).await);
            let ((), bytes) = fetcher
                .read((), move |(), blocking| read_file(blocking))
                .await?;
            Ok::<_, Error>(Loaded { bytes, hold })
        };
        let Loaded { bytes, hold } = place.get_or_try_init(read).await?;
        let (bytes, hold) = (bytes.clone(), hold.clone());
        Ok(input.with_cached(CachedSource {
            bytes,
            hold,
            _place: place,
        }))
    }

    fn place(&self, key: Key) -> Arc<Place> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = places.get(&key).and_then(Weak::upgrade) {
            return place;
        }
        places.retain(|_, place| place.strong_count() > 0);
        let place = Arc::new(Place::new());
        places.insert(key, Arc::downgrade(&place));
        place
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::{Bytes as Size, Config, LimitsConfig};
    use crate::sources::resolver::Resolver;

    const TARGET: &str = "/small_light(dw=10)/a.jpg";

    fn resolver(folder: &tempfile::TempDir) -> Resolver {
        let text = format!(
            "[[origin]]\nfs = {{ root = {:?}, files = \"all\" }}\n",
            folder.path()
        );
        let config = Config::parse(&text, folder.path()).unwrap();
        Resolver::new(&config, andon_codecs::ALL).unwrap()
    }

    /// Returns a fetcher with room for this many bytes, in whole KiB.
    fn fetcher(bytes: u64) -> Fetcher {
        Fetcher::new(&LimitsConfig {
            held_bytes: Size(bytes),
            ..LimitsConfig::default()
        })
    }

    fn open(resolver: &Resolver) -> OpenSource {
        resolver.open(&resolver.parse(TARGET).unwrap()).unwrap()
    }

    #[tokio::test]
    async fn a_file_is_held_once_for_all_who_have_it_and_no_longer() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.jpg"), [7; 4096]).unwrap();
        let (resolver, fetcher, source_cache) =
            (resolver(&folder), fetcher(4096), SourceCache::default());
        let fill = || source_cache.fill(open(&resolver), &fetcher);
        let (one, two, three) = tokio::join!(fill(), fill(), fill());
        let found = [one.unwrap(), two.unwrap(), three.unwrap()];
        let read: Vec<_> = found.iter().map(|found| found.read().unwrap()).collect();
        assert_eq!(&read[0].source[..], [7; 4096]);
        for other in &read {
            assert_eq!(other.source.as_ptr(), read[0].source.as_ptr());
        }
        assert_eq!(found[0].source_key(), open(&resolver).source_key());
        assert_eq!(found[0].size_to_read(), 0);

        let mut room = Box::pin(fetcher.hold(4096));
        for found in found.into_iter().zip(read) {
            let full = tokio::time::timeout(Duration::ZERO, &mut room).await;
            assert!(full.is_err(), "somebody has it still");
            drop(found);
        }
        room.await;
    }

    #[tokio::test]
    async fn a_changed_file_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jpg");
        let (resolver, fetcher, source_cache) =
            (resolver(&folder), fetcher(2048), SourceCache::default());
        std::fs::write(&path, "before").unwrap();
        let before = source_cache.fill(open(&resolver), &fetcher).await.unwrap();
        std::fs::write(&path, "afterwards").unwrap();
        let after = source_cache.fill(open(&resolver), &fetcher).await.unwrap();
        assert_eq!(before.read().unwrap().source, "before");
        assert_eq!(after.read().unwrap().source, "afterwards");
    }

    #[tokio::test]
    async fn a_reading_that_fails_leaves_the_place_to_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jpg");
        std::fs::write(&path, "before").unwrap();
        let (resolver, fetcher, source_cache) =
            (resolver(&folder), fetcher(100), SourceCache::default());
        let opened = open(&resolver);
        // It is not what it was when it was opened.
        std::fs::write(&path, "afterwards").unwrap();
        assert!(matches!(
            source_cache.fill(opened, &fetcher).await,
            Err(Error::Changing)
        ));
        let found = source_cache.fill(open(&resolver), &fetcher).await.unwrap();
        assert_eq!(found.read().unwrap().source, "afterwards");
    }
}
