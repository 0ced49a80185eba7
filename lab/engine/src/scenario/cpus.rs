//! Lists of CPUs in the kernel's notation (`0`, `0-1`, `0,2-3`), and pinning of threads to them.

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Parses a list of CPUs. The result is sorted and without duplicates, and empty for an empty list.
///
/// # Errors
/// A sentence that names the invalid value and what would be valid.
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

/// Parses a list of CPUs and checks that this process may use each of them.
///
/// # Errors
/// A sentence with the list and the CPUs that may be used.
pub fn usable(text: &str) -> Result<Vec<usize>, String> {
    let cpus = parse(text)?;
    let usable = allowed();
    // If the allowed CPUs are unknown, pinning a thread fails later with an error.
    if usable.is_empty() || cpus.iter().all(|cpu| usable.contains(cpu)) {
        return Ok(cpus);
    }
    let usable: Vec<String> = usable.iter().map(ToString::to_string).collect();
    Err(format!(
        "`{text}` names a CPU that is not there or that this process may not use; it may use {}",
        usable.join(",")
    ))
}

/// Returns the CPUs that this process may use, in ascending order. Empty if the system does not tell.
pub(crate) fn allowed() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..MOST).filter(|cpu| set.is_set(*cpu)).collect()
}

/// Pins the calling thread, and all threads and processes that it starts from now on, to these CPUs. An empty list
/// changes nothing.
///
/// # Errors
/// None of the CPUs may be used.
pub(crate) fn stay_on(cpus: &[usize]) -> io::Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    cpus.iter().for_each(|cpu| set.set(*cpu));
    Ok(sched_setaffinity(None, &set)?)
}

/// Number of CPUs that the kernel's CPU set can hold.
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
    fn a_cpu_that_is_not_there_is_told_with_those_that_are() {
        let first = allowed()[0].to_string();
        assert!(usable(&first).is_ok() && usable("").is_ok());
        let list = format!("{first},1023");
        let said = usable(&list).expect_err("no machine of a test has so many");
        assert!(said.contains(&list), "{said}");
        assert!(said.contains(&format!("may use {first}")), "{said}");
    }

    #[test]
    fn what_is_no_list_is_named() {
        for wrong in ["a", "3-1", "0,", "99999", "-"] {
            assert!(parse(wrong).is_err_and(|what| what.contains(wrong)));
        }
    }
}
