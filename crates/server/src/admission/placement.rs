//! Chooses the core on which a worker thread wakes up.
//!
//! Linux may wake a thread on the core of the thread that woke it although another core is idle, and move it only
//! milliseconds later, because in a virtual machine under KVM a sleeping core looks busy. A part of an image that is
//! offered to another thread then waits for the very core that offered it. Therefore each thread without work waits
//! bound to a core of its own. Once it is awake it may run anywhere: if it stayed bound, it would have to share its
//! core with whatever else runs there.

/// The core on which one thread waits for work, if it is bound to one.
pub(super) struct Placement {
    /// The core on which the thread waits, and the cores on which it may run; `None` if the kernel decides.
    cores: Option<system::Cores>,
    is_bound: bool,
}

impl Placement {
    /// Chooses the core for the calling thread, which is number `seat` of `threads`. Unless there are at least two
    /// threads and exactly as many as cores, the thread is not bound: the kernel decides then, because other processes
    /// may need cores, too.
    pub(super) fn new(seat: usize, threads: usize) -> Self {
        Self {
            cores: system::Cores::of_thread(seat, threads),
            is_bound: false,
        }
    }

    /// Whether the thread still has to be bound to its core before it waits.
    pub(super) fn is_free(&self) -> bool {
        self.cores.is_some() && !self.is_bound
    }

    /// Binds this thread to its own core.
    pub(super) fn bind(&mut self) {
        self.is_bound = true;
        self.apply(|cores| cores.bind());
    }

    /// Lets this thread run on any core again.
    pub(super) fn release(&mut self) {
        if self.is_bound {
            self.is_bound = false;
            self.apply(|cores| cores.release());
        }
    }

    fn apply(&mut self, change: impl Fn(&system::Cores) -> bool) {
        // If the system does not permit this, it is not attempted again.
        if !self.cores.as_ref().is_some_and(change) {
            self.cores = None;
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    pub(super) struct Cores {
        core_set: CpuSet,
        all: CpuSet,
    }

    impl Cores {
        pub(super) fn of_thread(seat: usize, threads: usize) -> Option<Self> {
            let all = sched_getaffinity(None).ok()?;
            if threads < 2 || all.count() as usize != threads {
                return None;
            }
            let core = (0..CpuSet::MAX_CPU)
                .filter(|&core| all.is_set(core))
                .nth(seat)?;
            let mut core_set = CpuSet::new();
            core_set.set(core);
            Some(Self { core_set, all })
        }

        pub(super) fn bind(&self) -> bool {
            sched_setaffinity(None, &self.core_set).is_ok()
        }

        pub(super) fn release(&self) -> bool {
            sched_setaffinity(None, &self.all).is_ok()
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) struct Cores;

    impl Cores {
        pub(super) fn of_thread(_seat: usize, _threads: usize) -> Option<Self> {
            None
        }

        pub(super) fn bind(&self) -> bool {
            false
        }

        pub(super) fn release(&self) -> bool {
            false
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::thread::sched_getaffinity;

    use super::*;

    #[test]
    fn each_thread_waits_on_a_core_of_its_own_and_runs_on_any() {
        let all = sched_getaffinity(None).expect("affinity");
        let cores = all.count() as usize;
        let waits = |seat| {
            std::thread::spawn(move || {
                let mut placement = Placement::new(seat, cores);
                if !placement.is_free() {
                    return None;
                }
                placement.bind();
                let core_set = sched_getaffinity(None).expect("affinity");
                placement.release();
                assert_eq!(sched_getaffinity(None).expect("affinity"), all);
                Some(core_set)
            })
        };
        let waits = (0..cores).map(|seat| waits(seat).join().expect("a core"));
        let waits: Vec<_> = waits.collect();
        for (seat, core_set) in waits.iter().enumerate() {
            // One core has nobody to choose from.
            assert_eq!(core_set.is_some(), cores > 1);
            assert!(core_set.is_none_or(|core_set| core_set.count() == 1));
            assert!(core_set.is_none() || !waits[..seat].contains(core_set));
        }
    }

    #[test]
    fn threads_that_are_not_as_many_as_cores_are_left_alone() {
        let cores = sched_getaffinity(None).expect("affinity").count() as usize;
        assert!(!Placement::new(0, cores + 1).is_free());
        assert!(!Placement::new(0, 1).is_free());
        // A seat beyond the cores, while their number changes.
        assert!(!Placement::new(cores, cores).is_free());
    }
}
