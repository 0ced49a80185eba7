//! Decoded overlay images: each state of a file is decoded once for all requests that compose with it, within a limit
//! of bytes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use andon_pixels::{Image, Result};

use crate::origins::Identity;

/// Decoded overlay images, the least recently used first. By default nothing is kept, and only requests for the same
/// image at the same time share a decode.
#[derive(Debug, Default)]
pub struct OverlayCache(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    /// Maximum size of all decoded images together, in bytes.
    most: u64,
    overlays: Vec<Overlay>,
}

#[derive(Debug)]
struct Overlay {
    /// The state of the file: after a change it counts as another file.
    identity: Identity,
    /// The decoded image; locked while it is being decoded.
    image: Arc<Mutex<Option<Image>>>,
    /// Size of the decoded image in bytes; 0 until it is decoded.
    bytes: u64,
}

impl OverlayCache {
    /// Creates a cache that keeps up to `most` bytes of samples.
    #[must_use]
    pub fn new(most: u64) -> Self {
        let cache = Self::default();
        cache.resize(most);
        cache
    }

    /// Keeps up to `most` bytes of samples from now on.
    pub(crate) fn resize(&self, most: u64) {
        let mut kept = locked(&self.0);
        kept.most = most;
        kept.make_room();
    }

    /// Returns the image of a file in this state. A caller that comes while another one decodes it waits, and decodes
    /// it itself if that decode fails.
    pub(crate) fn get(
        &self,
        identity: Identity,
        decode: impl FnOnce() -> Result<Image>,
    ) -> Result<Image> {
        let place = locked(&self.0).place(identity);
        let mut image = locked(&place);
        if let Some(image) = &*image {
            return Ok(image.clone());
        }
        let decoded = decode();
        *image = decoded.as_ref().ok().cloned();
        drop(image);
        let bytes = decoded.as_ref().ok().map(Image::bytes);
        locked(&self.0).settle(identity, place, bytes);
        decoded
    }
}

impl Entries {
    /// Returns the place for a file's image, and marks it as the most recently used one.
    fn place(&mut self, identity: Identity) -> Arc<Mutex<Option<Image>>> {
        let known = self.overlays.iter().position(|it| it.identity == identity);
        let overlay = match known {
            Some(index) => self.overlays.remove(index),
            None => Overlay {
                identity,
                image: Arc::default(),
                bytes: 0,
            },
        };
        let image = overlay.image.clone();
        self.overlays.push(overlay);
        image
    }

    /// Counts the bytes of a decoded image, or removes the image if there are none or too many.
    fn settle(&mut self, identity: Identity, image: Arc<Mutex<Option<Image>>>, bytes: Option<u64>) {
        self.overlays.retain(|it| it.identity != identity);
        if let Some(bytes) = bytes.filter(|&bytes| bytes <= self.most) {
            self.overlays.push(Overlay {
                identity,
                image,
                bytes,
            });
            self.make_room();
        }
    }

    fn make_room(&mut self) {
        let mut bytes: u64 = self.overlays.iter().map(|it| it.bytes).sum();
        let most = self.most;
        self.overlays.retain(|it| {
            let stays = bytes <= most || it.bytes == 0;
            if !stays {
                bytes -= it.bytes;
            }
            stays
        });
    }
}

/// Locks a mutex even if it is poisoned: a decoder that panics leaves no image, and nothing half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use andon_pixels::Error;
    use andon_pixels::frame::{Depth, Frame, Model, Plane};

    use super::*;

    /// Returns the state of a file with this modification time in ns.
    fn state(modified_ns: i128) -> Identity {
        Identity {
            modified_ns,
            size: 1,
            inode: 1,
            device: 1,
        }
    }

    /// Returns an image of 1,000 bytes.
    fn image() -> Result<Image> {
        let plane = Plane::filled(Depth::U8, 100, 10, 7);
        let frame = Frame::new(Model::Gray, 100, 10, vec![plane], None).unwrap();
        Ok(Image::still(frame))
    }

    /// Whether the cache has to decode the image of a file in this state.
    fn decodes(cache: &OverlayCache, identity: Identity) -> bool {
        let mut decoded = false;
        let made = cache.get(identity, || {
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
    fn the_least_recently_used_goes_when_the_bytes_are_spent() {
        let cache = OverlayCache::new(2500);
        for number in [1, 2] {
            assert!(decodes(&cache, state(number)));
        }
        assert!(!decodes(&cache, state(1)));
        assert!(decodes(&cache, state(3)));
        assert!(!decodes(&cache, state(1)) && !decodes(&cache, state(3)));
        assert!(decodes(&cache, state(2)));

        cache.resize(1000);
        let kept: u64 = locked(&cache.0).overlays.iter().map(|it| it.bytes).sum();
        assert_eq!(kept, 1000);
        cache.resize(999);
        assert!(locked(&cache.0).overlays.is_empty());
        assert!(decodes(&cache, state(2)) && decodes(&cache, state(2)));
    }

    #[test]
    fn a_fault_is_not_kept() {
        let cache = OverlayCache::new(1 << 20);
        let fault = cache.get(state(1), || Err(Error::Interrupted));
        assert_eq!(fault, Err(Error::Interrupted));
        assert!(decodes(&cache, state(1)) && !decodes(&cache, state(1)));
    }
}
