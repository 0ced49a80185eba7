//! Cache of decoded overlay images. Each state of an overlay image is decoded once for all requests that compose with
//! it, within a limit of bytes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use andon_cache::{Key, Table};
use andon_pixels::{Image, Result};

/// Decoded overlay images, by the state of their files: after a change, an image has another key. By default no image
/// is kept, and only concurrent requests for the same image share a decode.
#[derive(Debug)]
pub struct OverlayCache(Table<Key, Overlay>);

#[derive(Clone, Debug, Default)]
struct Overlay {
    /// The decoded image. Locked while it is being decoded.
    image: Arc<Mutex<Option<Image>>>,
    /// Size of the decoded image in bytes; 0 until it is decoded.
    bytes: u64,
}

impl Default for OverlayCache {
    fn default() -> Self {
        Self::new(0)
    }
}

impl OverlayCache {
    /// Creates a cache of up to `most` bytes of samples.
    #[must_use]
    pub fn new(most: u64) -> Self {
        Self(Table::weighing(most, |overlay| overlay.bytes))
    }

    /// Changes the limit to `most` bytes of samples.
    pub(crate) fn resize(&self, most: u64) {
        self.0.resize(most);
    }

    /// Returns the image with this key, decoded by `decode` if the cache lacks it. A caller that arrives while another
    /// one decodes the image waits, and decodes it itself if that decode fails.
    pub(crate) fn get(&self, key: Key, decode: impl FnOnce() -> Result<Image>) -> Result<Image> {
        let place = Overlay::default();
        let existing = self.0.claim(key, place.clone(), Duration::MAX);
        let Overlay { image: place, .. } = existing.unwrap_or(place);
        // A decoder that panics leaves no image behind, so a poisoned lock is harmless.
        let mut image = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(image) = &*image {
            return Ok(image.clone());
        }
        let result = decode();
        *image = result.as_ref().ok().cloned();
        drop(image);
        match result.as_ref().map(Image::bytes) {
            Ok(bytes) => {
                let image = place;
                self.0.insert(key, Overlay { image, bytes });
            }
            Err(_) => drop(self.0.remove(&key)),
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use andon_pixels::Error;
    use andon_pixels::frame::{Depth, Frame, Model, Plane};

    use super::*;

    /// Returns the key of an overlay image in this state.
    fn state(number: u32) -> Key {
        Key::of(&[&number.to_string()])
    }

    /// Returns an image of 1,000 bytes.
    fn image() -> Result<Image> {
        let plane = Plane::filled(Depth::U8, 100, 10, 7);
        let frame = Frame::new(Model::Gray, 100, 10, vec![plane], None).unwrap();
        Ok(Image::still(frame))
    }

    /// Whether the cache has to decode the image of this key.
    fn decodes(cache: &OverlayCache, key: Key) -> bool {
        let mut decoded = false;
        let made = cache.get(key, || {
            decoded = true;
            image()
        });
        assert_eq!(made, image());
        decoded
    }

    #[test]
    fn many_who_want_an_overlay_at_once_decode_it_once_and_later_ones_not_at_all() {
        let (cache, count, start) = (
            OverlayCache::new(1 << 20),
            AtomicUsize::new(0),
            Barrier::new(8),
        );
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    let made = cache.get(state(1), || {
                        count.fetch_add(1, Ordering::Relaxed);
                        image()
                    });
                    assert_eq!(made, image());
                });
            }
        });
        assert_eq!(count.into_inner(), 1);
        assert!(!decodes(&cache, state(1)));
    }

    #[test]
    fn a_changed_file_is_decoded_again() {
        let cache = OverlayCache::new(1 << 20);
        assert!(decodes(&cache, state(1)));
        assert!(decodes(&cache, state(2)));
        assert!(!decodes(&cache, state(2)));
    }

    #[test]
    fn one_that_was_not_used_goes_when_the_bytes_are_spent() {
        let cache = OverlayCache::new(2500);
        for number in [1, 2] {
            assert!(decodes(&cache, state(number)));
        }
        assert!(!decodes(&cache, state(1)));
        assert!(decodes(&cache, state(3)));
        assert!(!decodes(&cache, state(1)) && !decodes(&cache, state(3)));
        assert!(decodes(&cache, state(2)));

        cache.resize(1000);
        assert_eq!(cache.0.usage().1, 1000);
        cache.resize(999);
        assert_eq!(cache.0.usage().0, 0);
        assert!(decodes(&cache, state(2)) && decodes(&cache, state(2)));
    }

    #[test]
    fn a_fault_is_not_kept() {
        let cache = OverlayCache::new(1 << 20);
        let fault = cache.get(state(1), || Err(Error::Interrupted));
        assert_eq!(fault, Err(Error::Interrupted));
        assert_eq!(cache.0.usage().0, 0);
        assert!(decodes(&cache, state(1)) && !decodes(&cache, state(1)));
    }
}
