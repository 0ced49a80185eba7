//! Lists of CPUs as the kernel writes them: `0`, `0-1`, `0,2-3`; and staying on them.

use std::io;

use rustix::thread::{CpuSet, sched_setaffinity};

/// The CPUs of a list, in ascending order, each once; an empty list is empty.
///
/// # Errors
/// A sentence with the offending value and what would do.
pub fn parse(text: &str) -> Result<Vec<usize>, String> {
    let wrong = || format!("`{text}` is not a list of CPUs: write `0`, `0-1` or `0,2`");
    let mut cpus = Vec::new();
    for part in text.split(',').map(str::trim).filter(|_| !text.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: usize = first.trim().parse().map_err(|_| wrong())?;
        let last: usize = last.trim().parse().map_err(|_| wrong())?;
        if first > last || last >= MOST {
            return Err(wrong());
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// Keeps the calling thread, and whatever it starts from now on, on these CPUs; none are named: on any.
///
/// # Errors
/// None of them may be used.
pub(crate) fn stay_on(cpus: &[usize]) -> io::Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    cpus.iter().for_each(|cpu| set.set(*cpu));
    Ok(sched_setaffinity(None, &set)?)
}

/// The kernel's own set of CPUs ends here.
const MOST: usize = CpuSet::MAX_CPU;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_may_be_mixed() {
        assert_eq!(parse("0,2-3, 2"), Ok(vec![0, 2, 3]));
        assert_eq!(parse(""), Ok(vec![]));
    }

    #[test]
    fn what_is_no_list_is_named() {
        for wrong in ["a", "3-1", "0,", "99999", "-"] {
            assert!(parse(wrong).is_err_and(|what| what.contains(wrong)));
        }
    }
}
