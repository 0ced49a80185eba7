//! Caches the weights of a kernel along an axis: the planes of an image share them, and so do images of the same shape.

use std::cell::RefCell;
use std::rc::Rc;
use std::thread::LocalKey;

use andon_kernels::resample::{Resampled, Span, Weights};

use super::Kernel;
use super::axis::Axis;
use crate::error::{Error, Result};

/// Maximum number of sets of weights that a thread caches: enough for two images, each with the two axes of planes of
/// two sizes (luma and chroma).
const REMEMBERED: usize = 8;

/// Cached weights by axis and kernel, the most recently used first.
pub(crate) type Recent<S> = RefCell<Vec<(Axis, Kernel, Rc<Weights<S>>)>>;

/// Returns the weights of `kernel` along `axis`, computed only if they are not cached.
pub(super) fn weights<S: Resampled>(
    recent: &'static LocalKey<Recent<S>>,
    axis: &Axis,
    kernel: Kernel,
) -> Result<Rc<Weights<S>>> {
    recent.with_borrow_mut(|recent| {
        let position = recent
            .iter()
            .position(|(a, k, _)| a == axis && *k == kernel);
        let entry = match position {
            Some(index) => recent.remove(index),
            None => {
                let weights = Weights::new(span(axis), kernel);
                let weights =
                    weights.ok_or_else(|| Error::Internal(format!("{axis:?} is empty")))?;
                (*axis, kernel, Rc::new(weights))
            }
        };
        let weights = entry.2.clone();
        recent.truncate(REMEMBERED - 1);
        recent.insert(0, entry);
        Ok(weights)
    })
}

fn span(axis: &Axis) -> Span {
    Span {
        input: axis.count,
        left: axis.left,
        length: axis.length,
        output: axis.out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_made_once_for_all_planes_of_a_shape() {
        thread_local! {
            static RECENT: Recent<u8> = const { RefCell::new(Vec::new()) };
        }
        let axis = Axis::new(100, 1.0, 0.0, 100.0, 40, 1);
        let first = weights(&RECENT, &axis, Kernel::Lanczos3).unwrap();
        let same = weights(&RECENT, &axis, Kernel::Lanczos3).unwrap();
        assert!(Rc::ptr_eq(&first, &same));
        let other = weights(&RECENT, &axis, Kernel::Mitchell).unwrap();
        assert!(!Rc::ptr_eq(&first, &other));
    }
}
