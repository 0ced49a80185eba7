//! The scans of a progressive picture on as many cores as there are, and their samples behind them.
//!
//! A scan adds to what earlier scans of its band left, row by row: it may begin as soon as they have begun
//! if it stays behind them. Scans of other components or other bands do not meet at all. So every core
//! takes scan after scan, large ones first. What comes out does not depend on who did what, and neither does
//! the error: the one that comes first in the file.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use andon_kernels::cpu::with_modern_instructions;

use super::super::bits::Bits;
use super::super::entropy::{Unstuffed, WORTH_IT};
use super::super::plane::PlaneDecoder;
use super::super::scan::{Intervals, check};
use super::super::segments::ScanHeader;
use super::super::{Refused, Request};
use super::ac;
use super::{Found, Rows, begun, dc};

pub(super) const MISSING_TABLE: Refused = Refused::Broken("a scan's Huffman table is missing");

/// Helpers beyond which nothing is gained: luma's scans are one chain.
const MOST_HELPERS: usize = 3;
/// Rows of MCUs that one who has caught up lets the one before him go ahead.
const LEAD: u32 = 8;
/// `done` of a job that has ended.
const ALL: u32 = u32::MAX;

/// One scan, or the samples of one component.
pub(super) struct Job {
    task: Mutex<Task>,
    data: Mutex<Unstuffed>,
    /// Entropy-coded bytes.
    size: usize,
    /// MCUs between restart markers; 0: none.
    restart: u32,
    /// Of a scan.
    header: Option<ScanHeader>,
    /// Rows of this job that make a row of MCUs.
    rows_per_mcu: u32,
    /// Jobs that this one has to stay behind; all of them come before it in the file.
    after: Vec<usize>,
}

pub(super) enum Task {
    Dc(dc::Scan),
    Ac(AcScan),
    Samples {
        component: usize,
        plane: PlaneDecoder,
        quant: [u16; 64],
    },
    /// Taken by whoever does it.
    Taken,
}

/// An AC scan.
pub(super) struct AcScan {
    component: usize,
    coder: AcCoder,
    kept: &'static super::super::plane::Kept,
    /// Blocks that it codes.
    wide: usize,
    high: u32,
}

enum AcCoder {
    First(ac::First),
    Refine(ac::Refine),
}

impl Job {
    pub(super) fn scan(
        scan: &Found<'_>,
        data: Unstuffed,
        after: Vec<usize>,
        rows_per_mcu: u32,
        task: Task,
    ) -> Self {
        Self {
            task: Mutex::new(task),
            data: Mutex::new(data),
            size: scan.coded.len(),
            restart: scan.tables.restart,
            header: Some(scan.header.clone()),
            rows_per_mcu,
            after,
        }
    }

    /// The samples of a component, behind all its scans.
    pub(super) fn samples(
        component: usize,
        plane: PlaneDecoder,
        quant: [u16; 64],
        after: Vec<usize>,
    ) -> Self {
        Self {
            data: Mutex::default(),
            size: 0,
            restart: 0,
            header: None,
            rows_per_mcu: plane.v,
            after,
            task: Mutex::new(Task::Samples {
                component,
                plane,
                quant,
            }),
        }
    }

    /// Is it a scan of this component?
    pub(super) fn is_of(&self, component: usize) -> bool {
        self.header.as_ref().is_some_and(|scan| scan.has(component))
    }

    /// Is it a scan of coefficients that `later` brings, too?
    pub(super) fn adds_to(&self, later: &ScanHeader) -> bool {
        let shared = |scan: &ScanHeader| {
            scan.band() & later.band() != 0
                && scan
                    .components
                    .iter()
                    .any(|component| later.has(component.index))
        };
        self.header.as_ref().is_some_and(shared)
    }
}

impl AcScan {
    pub(super) fn new(scan: &Found<'_>, planes: &[PlaneDecoder]) -> Result<Self, Refused> {
        let component = scan.header.components[0];
        let plane = &planes[component.index];
        let codes = scan.tables.ac(component.ac_table).ok_or(MISSING_TABLE)?;
        let coder = match scan.header.high {
            0 => AcCoder::First(ac::First::new(&scan.header, codes, plane.kept)),
            _ => AcCoder::Refine(ac::Refine::new(&scan.header, codes, plane.kept)),
        };
        Ok(Self {
            component: component.index,
            coder,
            kept: plane.kept,
            wide: plane.blocks_wide as usize,
            high: plane.blocks_high,
        })
    }

    fn run(
        self,
        intervals: Intervals<'_>,
        rows: &[Rows],
        place: &Place<'_>,
    ) -> Result<(), Refused> {
        let (kept, wide) = (self.kept, self.wide);
        let rows = &rows[self.component][..self.high as usize];
        match self.coder {
            AcCoder::First(coder) => ac_rows(coder, kept, wide, intervals, rows, place),
            AcCoder::Refine(coder) => ac_rows(coder, kept, wide, intervals, rows, place),
        }
    }
}

fn ac_rows(
    mut coder: impl ac::Coder,
    kept: &super::super::plane::Kept,
    wide: usize,
    mut intervals: Intervals<'_>,
    rows: &[Mutex<super::BlockRow>],
    place: &Place<'_>,
) -> Result<(), Refused> {
    let mut bits = Bits::new(&[]);
    for (index, row) in (0..).zip(rows) {
        place.begin(index)?;
        let mut row = begun(row);
        bits = with_modern_instructions(
            #[inline(always)]
            || ac::row(&mut coder, kept, &mut intervals, bits, &mut row, wide),
        )?;
        check(&bits)?;
        drop(row);
        place.done(index);
    }
    Ok(())
}

/// All jobs of a picture, and how far they are.
pub(super) struct Wave {
    jobs: Vec<Job>,
    rows: Vec<Rows>,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    claimed: Vec<bool>,
    /// Rows of MCUs that each job has finished.
    done: Vec<u32>,
    /// Who waits for a change.
    waiting: u32,
    /// The first job in the file's order that failed, and why.
    failed: Option<(usize, Refused)>,
    /// Nobody wants the picture any more.
    stopped: bool,
    planes: Vec<Option<PlaneDecoder>>,
}

impl Wave {
    pub(super) fn new(jobs: Vec<Job>, rows: Vec<Rows>) -> Self {
        let state = State {
            claimed: vec![false; jobs.len()],
            done: vec![0; jobs.len()],
            waiting: 0,
            failed: None,
            stopped: false,
            planes: rows.iter().map(|_| None).collect(),
        };
        Self {
            jobs,
            rows,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Does everything, with idle cores where it is worth it.
    pub(super) fn run(self, wanted: &Request<'_>) -> Result<Vec<PlaneDecoder>, Refused> {
        let wave = Arc::new(self);
        let size: usize = wave.jobs.iter().map(|job| job.size).sum();
        let helpers = if size < WORTH_IT { 0 } else { MOST_HELPERS };
        for _ in 0..helpers {
            let wave = wave.clone();
            let refused = wanted.cores.lend(Box::new(move || wave.work(&|| false)));
            if refused.is_some() {
                break;
            }
        }
        wave.work(wanted.interrupted);
        wave.finish(wanted.interrupted)
    }

    /// Takes job after job.
    fn work(&self, interrupted: &dyn Fn() -> bool) {
        while let Some(job) = self.claim() {
            let claimed = Claimed { wave: self, job };
            let result = self.perform(&Place {
                wave: self,
                job,
                interrupted,
            });
            claimed.end(result);
        }
    }

    /// The next job that may begin, the largest first: luma's last scans are the longest, and whoever
    /// follows another one closely hardly ever catches up.
    fn claim(&self) -> Option<usize> {
        let mut state = lock(&self.state);
        let end = match state.failed {
            _ if state.stopped => return None,
            // What comes after it in the file does not matter any more.
            Some((failed, _)) => failed,
            None => self.jobs.len(),
        };
        let chosen = (0..end)
            .filter(|&job| !state.claimed[job])
            .filter(|&job| {
                self.jobs[job]
                    .after
                    .iter()
                    .all(|&before| state.claimed[before])
            })
            .max_by_key(|&job| self.jobs[job].size)?;
        state.claimed[chosen] = true;
        Some(chosen)
    }

    fn perform(&self, place: &Place<'_>) -> Result<(), Refused> {
        let job = &self.jobs[place.job];
        let data = std::mem::take(&mut *lock(&job.data));
        let intervals = Intervals::new(&data, job.restart);
        match std::mem::replace(&mut *lock(&job.task), Task::Taken) {
            Task::Dc(scan) => scan.run(intervals, &self.rows, place),
            Task::Ac(scan) => scan.run(intervals, &self.rows, place),
            Task::Samples {
                component,
                mut plane,
                quant,
            } => {
                for (index, row) in (0..).zip(&self.rows[component]) {
                    place.begin(index)?;
                    plane.write_row(&begun(row).values, &quant);
                    place.done(index);
                }
                lock(&self.state).planes[component] = Some(plane);
                Ok(())
            }
            Task::Taken => Ok(()),
        }
    }

    /// Waits for what others still do.
    fn finish(&self, interrupted: &dyn Fn() -> bool) -> Result<Vec<PlaneDecoder>, Refused> {
        let mut state = lock(&self.state);
        loop {
            if state.stopped {
                return Err(Refused::Interrupted);
            }
            let (end, failed) = match state.failed {
                Some((job, why)) => (job, Some(why)),
                None => (self.jobs.len(), None),
            };
            if state.done[..end].iter().all(|&done| done == ALL) {
                let planes = state.planes.iter_mut().map(Option::take);
                return match failed {
                    Some(why) => Err(why),
                    None => planes.collect::<Option<_>>().ok_or(Refused::Unsupported),
                };
            }
            state = self.wait(state);
            state.stopped |= interrupted();
        }
    }

    /// Waits for a change, or a moment.
    fn wait<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.waiting += 1;
        let waited = self.changed.wait_timeout(state, A_MOMENT);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        state
    }
}

/// After which an interrupt is looked for.
const A_MOMENT: Duration = Duration::from_millis(20);

/// A job in somebody's hands; one that is dropped without an end has panicked.
struct Claimed<'a> {
    wave: &'a Wave,
    job: usize,
}

impl Claimed<'_> {
    fn end(self, result: Result<(), Refused>) {
        let mut state = lock(&self.wave.state);
        match result {
            Ok(()) => state.done[self.job] = ALL,
            // Stopped for the sake of others.
            Err(Refused::Interrupted) => {}
            Err(why) => state.fail(self.job, why),
        }
        drop(state);
        self.wave.changed.notify_all();
        std::mem::forget(self);
    }
}

impl Drop for Claimed<'_> {
    fn drop(&mut self) {
        // A bug of ours: libjpeg may know better.
        lock(&self.wave.state).fail(self.job, Refused::Unsupported);
        self.wave.changed.notify_all();
    }
}

impl State {
    fn fail(&mut self, job: usize, why: Refused) {
        if self.failed.is_none_or(|(first, _)| job < first) {
            self.failed = Some((job, why));
        }
    }
}

/// Where somebody stands in the wave.
pub(super) struct Place<'a> {
    wave: &'a Wave,
    job: usize,
    interrupted: &'a dyn Fn() -> bool,
}

impl Place<'_> {
    /// To be called before each row of the job: waits until those before it are beyond that row.
    pub(super) fn begin(&self, row: u32) -> Result<(), Refused> {
        let job = &self.wave.jobs[self.job];
        if !row.is_multiple_of(job.rows_per_mcu) {
            return Ok(());
        }
        let mut state = lock(&self.wave.state);
        state.stopped |= (self.interrupted)();
        let mut needed = row / job.rows_per_mcu + 1;
        loop {
            let overruled = state.failed.is_some_and(|(failed, _)| failed < self.job);
            if state.stopped || overruled {
                return Err(Refused::Interrupted);
            }
            if job.after.iter().all(|&before| state.done[before] >= needed) {
                return Ok(());
            }
            // Not to be woken for every row.
            needed = row / job.rows_per_mcu + LEAD;
            state = self.wave.wait(state);
            state.stopped |= (self.interrupted)();
        }
    }

    /// To be called after each row of the job.
    pub(super) fn done(&self, row: u32) {
        let rows = row + 1;
        let job = &self.wave.jobs[self.job];
        if rows.is_multiple_of(job.rows_per_mcu) {
            let mut state = lock(&self.wave.state);
            state.done[self.job] = rows / job.rows_per_mcu;
            if state.waiting > 0 {
                self.wave.changed.notify_all();
            }
        }
    }
}

/// Locks what no code that may panic leaves half done: rows are coefficients, whatever they are.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
