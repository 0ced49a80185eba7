//! A vector split into parts, each of which a different thread may write.
//!
//! Threads that outlive a call cannot borrow parts of a slice. Here they own the parts: a vector is split without being
//! copied, and becomes a vector again once only one part is left.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

/// Exclusively owned consecutive elements of a vector.
///
/// Elements are `'static`, because otherwise parts of one vector could be given different lifetimes.
#[derive(Debug)]
pub struct Part<T: 'static> {
    whole: Arc<Whole<T>>,
    first: NonNull<T>,
    length: usize,
}

/// The pointer, length and capacity of a vector that is split into [`Part`]s. Only these access the elements.
#[derive(Debug)]
struct Whole<T> {
    first: NonNull<T>,
    length: usize,
    capacity: usize,
}

impl<T: 'static> From<Vec<T>> for Part<T> {
    fn from(vec: Vec<T>) -> Self {
        let mut vec = ManuallyDrop::new(vec);
        let (length, capacity) = (vec.len(), vec.capacity());
        // The pointer of an empty vector is dangling, but not null.
        let first = NonNull::new(vec.as_mut_ptr()).unwrap_or(NonNull::dangling());
        Self {
            whole: Arc::new(Whole {
                first,
                length,
                capacity,
            }),
            first,
            length,
        }
    }
}

impl<T: 'static> Part<T> {
    /// Splits the part into parts of these lengths. Elements that are left over are inaccessible until the vector is
    /// whole again.
    ///
    /// # Panics
    /// If the part is shorter than all `lengths` together.
    #[must_use]
    pub fn split(self, lengths: impl IntoIterator<Item = usize>) -> Vec<Self> {
        let mut cut = 0;
        let part = |length: usize| {
            let start = cut;
            cut = (length.checked_add(cut))
                .filter(|&end| end <= self.length)
                .expect("a part within the whole");
            // SAFETY: `start` is at most `self.length`, the number of elements of one allocation from `first` on.
            let first = unsafe { self.first.add(start) };
            Self {
                whole: self.whole.clone(),
                first,
                length,
            }
        };
        lengths.into_iter().map(part).collect()
    }

    /// Returns the whole vector if this is its only part that is left, otherwise `None`.
    #[must_use]
    pub fn into_whole(self) -> Option<Vec<T>> {
        let Self { whole, .. } = self;
        let whole = ManuallyDrop::new(Arc::into_inner(whole)?);
        // SAFETY: the last `Arc`, and so the last part, no longer exists, and `ManuallyDrop` prevents `drop` from
        // rebuilding the vector again.
        Some(unsafe { whole.vec() })
    }
}

impl<T> Whole<T> {
    /// Reassembles the vector.
    ///
    /// # Safety
    /// Must be called at most once, when no part of the vector is left.
    unsafe fn vec(&self) -> Vec<T> {
        // SAFETY: these are the raw parts of a vector that `Part::from` has taken apart. The caller guarantees that the
        // vector is rebuilt once, when no part points into it.
        unsafe { Vec::from_raw_parts(self.first.as_ptr(), self.length, self.capacity) }
    }
}

impl<T> Drop for Whole<T> {
    fn drop(&mut self) {
        // SAFETY: nothing uses the vector after `drop`, and no part is left, because each part has an `Arc` that would
        // have prevented the drop.
        drop(unsafe { self.vec() });
    }
}

impl<T: 'static> Deref for Part<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: these are elements of a vector that lives at least as long as its parts, and no other part has them:
        // a vector is one part at first, and `split` hands out disjoint ranges.
        unsafe { slice::from_raw_parts(self.first.as_ptr(), self.length) }
    }
}

impl<T: 'static> DerefMut for Part<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and this part is borrowed mutably.
        unsafe { slice::from_raw_parts_mut(self.first.as_ptr(), self.length) }
    }
}

// SAFETY: a part has the only access to its elements, like a `&mut [T]`, and dropping the last part drops a `Vec<T>`: both may be sent.
unsafe impl<T: Send + 'static> Send for Part<T> {}
// SAFETY: a shared reference to a part gives only shared references to its elements.
unsafe impl<T: Sync + 'static> Sync for Part<T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn parts_that_threads_write_are_a_vector_again_when_all_are_back() {
        let mut vec = Vec::with_capacity(20);
        vec.resize(12, 0);
        let at = vec.as_ptr();
        let parts = Part::from(vec).split([5, 0, 4]);
        let threads: Vec<_> = (1..)
            .zip(parts)
            .map(|(number, mut part)| {
                thread::spawn(move || {
                    part.fill(number);
                    part
                })
            })
            .collect();
        let mut parts: Vec<_> = threads
            .into_iter()
            .map(|thread| thread.join().expect("a part"))
            .collect();
        let last = parts.pop().expect("three parts");
        drop(parts);
        let vec = last.into_whole().expect("all parts are back");
        assert_eq!(vec, [1, 1, 1, 1, 1, 3, 3, 3, 3, 0, 0, 0]);
        assert_eq!((vec.as_ptr(), vec.capacity()), (at, 20));
    }

    #[test]
    fn a_vector_of_which_somebody_has_a_part_is_not_whole() {
        let mut parts = Part::from(vec![Box::new(7); 4]).split([1, 1, 2]);
        let first = parts.remove(0);
        assert!(first.into_whole().is_none());
        let [second, last] = parts.try_into().expect("two are left");
        let smaller = second.split([1]).remove(0);
        assert_eq!(*smaller, [Box::new(7)]);
        assert!(last.into_whole().is_none());
        assert_eq!(smaller.into_whole(), Some(vec![Box::new(7); 4]));
    }

    #[test]
    fn a_vector_that_is_never_whole_again_is_dropped_once() {
        let value = Arc::new(());
        let parts = Part::from(vec![value.clone(); 6]).split([2, 3]);
        assert_eq!(Arc::strong_count(&value), 7);
        drop(parts);
        assert_eq!(Arc::strong_count(&value), 1);
        assert_eq!(Part::from(Vec::<Arc<()>>::new()).into_whole(), Some(vec![]));
    }

    #[test]
    #[should_panic(expected = "a part within the whole")]
    fn parts_beyond_the_vector_are_refused() {
        let _ = Part::from(vec![1, 2, 3]).split([2, 2]);
    }
}
