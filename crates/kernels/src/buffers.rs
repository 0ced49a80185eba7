//! Keeps large buffers after they are freed, for reuse by the next image.
//!
//! The operating system zeroes every page on first touch, which costs more than writing the page: a full decode of an
//! image of some megapixels spends a fifth of its time on it. The C library's allocator cannot keep large buffers
//! without a disadvantage: in its per-thread heaps they leave holes that double the resident memory (see
//! `andon_codecs::allocator`). This module keeps whole buffers, because the same lengths are soon requested again, and
//! never more bytes than [`allow`] permits.

use std::any::Any;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Minimum size of a buffer that is kept, in bytes. Smaller ones are returned to the allocator.
const LEAST_BYTES: usize = 16 << 10;

/// Maximum number of buffers that are kept, so that searching them stays fast.
const MOST_BUFFERS: usize = 1024;

/// Bytes that are kept until `allow` sets another limit.
const DEFAULT_BYTES: usize = 32 << 20;

/// The free buffers of this process.
static POOL: Pool = Pool::new(DEFAULT_BYTES);

/// Limits the free buffers that are kept to `bytes` in total (32 MiB by default). If there are more, the oldest are
/// returned to the allocator at once.
pub fn allow(bytes: u64) {
    POOL.allow(usize::try_from(bytes).unwrap_or(usize::MAX));
}

/// Returns the total size of the free buffers that are kept, in bytes.
#[must_use]
pub fn bytes() -> u64 {
    POOL.lock().bytes as u64
}

/// Overwrites the data of earlier images in the free buffers.
pub fn wipe() {
    POOL.wipe();
}

/// Returns all free buffers to the allocator.
pub fn release() {
    POOL.release();
}

/// A value type that a `Buffer` can hold.
pub trait Plain: Copy + Default + Send + 'static {}

impl<T: Copy + Default + Send + 'static> Plain for T {}

/// A vector whose memory is kept for reuse when it is dropped.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Buffer<T: Plain>(Vec<T>);

impl<T: Plain> Buffer<T> {
    /// Creates an empty buffer with room for `count` values.
    #[must_use]
    pub fn with_capacity(count: usize) -> Self {
        let vec = POOL.take(count).map(|mut vec| {
            vec.clear();
            vec
        });
        Self(vec.unwrap_or_else(|| Vec::with_capacity(count)))
    }

    /// Converts the buffer into a plain vector, whose memory is no longer kept for reuse when it is dropped.
    #[must_use]
    pub fn into_vec(mut self) -> Vec<T> {
        std::mem::take(&mut self.0)
    }

    /// Creates a buffer of `count` unspecified values: defaults, or those of an earlier image, perhaps another
    /// client's. The caller must overwrite every value before it passes the buffer on.
    #[must_use]
    pub fn overwritten(count: usize) -> Self {
        match POOL.take(count) {
            Some(mut vec) => {
                vec.resize(count, T::default());
                Self(vec)
            }
            None => Self(vec![T::default(); count]),
        }
    }

    /// Creates a buffer of `count` copies of `value`.
    #[must_use]
    pub fn filled(count: usize, value: T) -> Self {
        match POOL.take(count) {
            Some(mut vec) => {
                vec.clear();
                vec.resize(count, value);
                Self(vec)
            }
            // Fresh pages are zeroed, so zeros need not be written.
            None => Self(vec![value; count]),
        }
    }
}

impl<T: Plain> From<Vec<T>> for Buffer<T> {
    fn from(vec: Vec<T>) -> Self {
        Self(vec)
    }
}

impl<T: Plain> FromIterator<T> for Buffer<T> {
    // Inlined, so that it uses the instructions for which the iterator is compiled.
    #[inline(always)]
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let values = values.into_iter();
        let mut buffer = Self::with_capacity(values.size_hint().0);
        buffer.extend(values);
        buffer
    }
}

impl<T: Plain> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        let mut clone = Self::with_capacity(self.len());
        clone.extend_from_slice(self);
        clone
    }
}

impl<T: Plain> Deref for Buffer<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Plain> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

/// Lets types that take ownership of the buffer expose its values as a slice.
impl<T: Plain> AsRef<[T]> for Buffer<T> {
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Plain> Drop for Buffer<T> {
    fn drop(&mut self) {
        POOL.keep(std::mem::take(&mut self.0));
    }
}

/// The pool of free buffers, behind a lock.
struct Pool(Mutex<Free>);

struct Free {
    /// The free buffers, the most recently freed last.
    buffers: VecDeque<Entry>,
    /// Total size of the free buffers, in bytes.
    bytes: usize,
    allowed: usize,
}

struct Entry {
    bytes: usize,
    /// The free vector, of any element type, with the values that it held last.
    vec: Box<dyn Any + Send>,
    /// Function that overwrites the vector; `None` if it has been overwritten already.
    wipe: Option<fn(&mut (dyn Any + Send))>,
}

/// Overwrites everything that a `Vec<T>` held, including spare capacity beyond its length.
fn wipe_vec<T: Plain>(vec: &mut (dyn Any + Send)) {
    if let Some(vec) = vec.downcast_mut::<Vec<T>>() {
        vec.clear();
        vec.resize(vec.capacity(), T::default());
    }
}

impl Pool {
    const fn new(allowed: usize) -> Self {
        Self(Mutex::new(Free {
            buffers: VecDeque::new(),
            bytes: 0,
            allowed,
        }))
    }

    /// Takes a free vector with room for `count` values and at most an eighth more, because the memory that is reserved
    /// for an image does not allow for larger ones. Its length and values are those that it had when it was freed.
    /// Returns `None` if there is no such vector.
    fn take<T: Plain>(&self, count: usize) -> Option<Vec<T>> {
        let bytes = count.checked_mul(size_of::<T>())?;
        if bytes < LEAST_BYTES {
            return None;
        }
        let mut free = self.lock();
        // The buffer that was freed last may still be in a processor's cache.
        let index = free.buffers.iter().rposition(|entry| {
            (bytes..=bytes + bytes / 8).contains(&entry.bytes) && entry.vec.is::<Vec<T>>()
        })?;
        let entry = free.remove(index)?;
        drop(free);
        entry.vec.downcast().ok().map(|vec| *vec)
    }

    fn keep<T: Plain>(&self, vec: Vec<T>) {
        let bytes = vec.capacity() * size_of::<T>();
        if bytes < LEAST_BYTES {
            return;
        }
        let surplus = {
            let mut free = self.lock();
            if bytes > free.allowed {
                return;
            }
            let vec = Box::new(vec);
            let wipe = Some(wipe_vec::<T> as fn(&mut (dyn Any + Send)));
            free.buffers.push_back(Entry { bytes, vec, wipe });
            free.bytes += bytes;
            free.take_surplus()
        };
        // The lock is released before the allocator frees the buffers.
        drop(surplus);
    }

    fn allow(&self, bytes: usize) {
        let surplus = {
            let mut free = self.lock();
            free.allowed = bytes;
            free.take_surplus()
        };
        drop(surplus);
    }

    fn wipe(&self) {
        for entry in &mut self.lock().buffers {
            if let Some(wipe) = entry.wipe.take() {
                wipe(&mut *entry.vec);
            }
        }
    }

    fn release(&self) {
        let all = {
            let mut free = self.lock();
            free.bytes = 0;
            std::mem::take(&mut free.buffers)
        };
        drop(all);
    }

    fn lock(&self) -> MutexGuard<'_, Free> {
        // No code panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Free {
    fn remove(&mut self, index: usize) -> Option<Entry> {
        let entry = self.buffers.remove(index)?;
        self.bytes -= entry.bytes;
        Some(entry)
    }

    /// Removes the buffers that were freed first until the rest are within the limits, and returns the removed ones.
    fn take_surplus(&mut self) -> Vec<Entry> {
        let mut out = Vec::new();
        while (self.bytes > self.allowed || self.buffers.len() > MOST_BUFFERS)
            && let Some(entry) = self.remove(0)
        {
            out.push(entry);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: usize = LEAST_BYTES;

    /// Returns the sizes of the kept buffers in bytes, the first freed first.
    fn kept(of: &Pool) -> Vec<usize> {
        let free = of.lock();
        let bytes: Vec<usize> = free.buffers.iter().map(|entry| entry.bytes).collect();
        assert_eq!(free.bytes, bytes.iter().sum::<usize>());
        bytes
    }

    #[test]
    fn a_buffer_that_was_freed_is_the_next_of_its_type_and_size() {
        let kept = Pool::new(1 << 30);
        let vec = vec![7_u8; LEAST];
        let at = vec.as_ptr();
        kept.keep(vec);
        assert_eq!(kept.take::<u16>(LEAST / 2), None);
        assert_eq!(kept.take::<u8>(LEAST + 1), None);
        let vec = kept.take::<u8>(LEAST).expect("it is kept");
        assert_eq!((vec.as_ptr(), vec.len()), (at, LEAST));
        assert_eq!(kept.take::<u8>(LEAST), None);
    }

    #[test]
    fn nobody_gets_much_more_than_was_asked_for() {
        let kept = Pool::new(1 << 30);
        kept.keep(Vec::<u8>::with_capacity(9 * LEAST));
        assert_eq!(kept.take::<u8>(8 * LEAST - 1), None);
        assert!(kept.take::<u8>(8 * LEAST).is_some());
    }

    #[test]
    fn nothing_is_left_in_a_buffer_that_was_wiped() {
        let all = Pool::new(1 << 30);
        let mut vec = vec![7_u16; LEAST];
        let at = vec.as_ptr();
        vec.truncate(LEAST / 2);
        all.keep(vec);
        all.wipe();
        let vec = all.take::<u16>(LEAST).expect("it is kept");
        assert_eq!((vec.as_ptr(), vec.len()), (at, LEAST));
        assert!(vec.iter().all(|it| *it == 0));
    }

    #[test]
    fn small_buffers_are_not_kept() {
        let all = Pool::new(1 << 30);
        all.keep(vec![0_u8; LEAST - 1]);
        all.keep(Vec::<u8>::new());
        assert_eq!(kept(&all), []);
    }

    #[test]
    fn what_was_freed_first_goes_when_there_is_more_than_allowed() {
        let all = Pool::new(6 * LEAST);
        for times in [1, 2, 3, 2] {
            all.keep(Vec::<u8>::with_capacity(times * LEAST));
        }
        assert_eq!(kept(&all), [3 * LEAST, 2 * LEAST]);
        // This is larger than everything that may be kept.
        all.keep(Vec::<u8>::with_capacity(7 * LEAST));
        assert_eq!(kept(&all), [3 * LEAST, 2 * LEAST]);
        all.allow(4 * LEAST);
        assert_eq!(kept(&all), [2 * LEAST]);
        all.release();
        assert_eq!(kept(&all), []);
        all.allow(0);
        all.keep(Vec::<u8>::with_capacity(LEAST));
        assert_eq!(kept(&all), []);
    }

    #[test]
    fn there_are_never_more_than_can_be_looked_through_quickly() {
        let all = Pool::new(1 << 30);
        for _ in 0..MOST_BUFFERS + 3 {
            all.keep(Vec::<u16>::with_capacity(LEAST / 2));
        }
        assert_eq!(kept(&all).len(), MOST_BUFFERS);
    }

    #[test]
    fn what_is_overwritten_anyway_has_its_length_whatever_the_buffer_held() {
        // A length that no other test uses.
        let count = 5 * LEAST + 3;
        for before in [0, count - 7, count, count + 9] {
            let mut vec = Vec::with_capacity(count + 9);
            vec.resize(before, 9_u8);
            drop(Buffer::from(vec));
            assert_eq!(Buffer::<u8>::overwritten(count).len(), count);
        }
    }

    #[test]
    fn nothing_of_an_earlier_image_is_seen() {
        // A length that no other test uses.
        let count = 3 * LEAST + 5;
        drop(Buffer::from(vec![9_u8; count]));
        let filled = Buffer::filled(count, 1_u8);
        assert!(filled.iter().all(|&value| value == 1));
        drop(filled);
        let empty = Buffer::<u8>::with_capacity(count);
        assert!(empty.is_empty());
        let original = Buffer::from(vec![2_u8; count]);
        let clone = original.clone();
        assert_eq!(clone, original);
        assert_eq!(clone.into_vec(), vec![2; count]);
    }
}
