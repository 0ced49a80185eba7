//! Cache of the properties of recently read image files. They are needed once when a file is probed, and again whenever
//! the work of a request for it is planned.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use andon_pixels::Info;
use blake3::Hash;

/// Properties of the most recently read files, by the hash of the file's content.
#[derive(Debug, Default)]
pub(crate) struct Facts(Mutex<VecDeque<(Hash, Info)>>);

/// Maximum number of image files whose properties are cached. When it is reached, a new file replaces the one that was
/// added first.
const MAX_FILES: usize = 64;

impl Facts {
    /// Returns the properties of a file, from the cache or from `read`.
    ///
    /// # Errors
    /// Those of `read`; errors are not cached.
    pub(crate) fn of<E>(
        &self,
        file: &[u8],
        read: impl FnOnce() -> Result<Info, E>,
    ) -> Result<Info, E> {
        let hash = blake3::hash(file);
        if let Some(info) = self.lock().iter().find(|(it, _)| *it == hash) {
            return Ok(info.1.clone());
        }
        let info = read()?;
        let mut files = self.lock();
        if files.len() == MAX_FILES {
            files.pop_front();
        }
        files.push_back((hash, info.clone()));
        Ok(info)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Hash, Info)>> {
        // A poisoned lock is safe to use, because no code that holds it can panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use andon_pixels::Model;

    use super::*;

    #[test]
    fn a_header_is_read_once_and_a_failure_is_tried_again() {
        let facts = Facts::default();
        let info = |width| Info::new("webp", width, 1, Model::Gray);
        assert_eq!(facts.of(b"one", || Err("cut")), Err("cut"));
        assert_eq!(facts.of(b"one", || Ok::<_, ()>(info(1))), Ok(info(1)));
        assert_eq!(facts.of(b"one", || Err("read again")), Ok(info(1)));
        for number in 0..MAX_FILES as u32 {
            let file = number.to_le_bytes();
            assert_eq!(
                facts.of(&file, || Ok::<_, ()>(info(number))),
                Ok(info(number))
            );
        }
        assert_eq!(facts.of(b"one", || Err("forgotten")), Err("forgotten"));
    }
}
