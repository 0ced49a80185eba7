//! The experiment: runs blocks in their order and records each when it ends, until enough is known.
//!
//! Each block starts a fresh server, waits until it is ready and the process that answers is the one that was started,
//! drives the load while /proc is sampled, and stops the server. Neighbouring blocks form a pair. A pair runs again if
//! a noise measurement exceeded a limit of the scenario (`[design.discard]`), which shows that the machine was
//! disturbed.

mod block;
mod capacity;
mod discard;
mod expected;
mod limits;
mod load_test;
mod moment;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::analysis::{Enough, Slot, enough, order};
use crate::launch::{Guard, LaunchError, Launched, program_file};
use crate::load::{self, Progress};
use crate::record::{
    Arm, Block, Folder, FolderError, Header, Kind, Machine, Pass, Purpose, Run, SCHEMA,
};
use crate::scenario::{Address, BlockOrder, Fresh, Scenario, ScenarioError};
use crate::syscalls::{self, Subject};
use crate::variant::{self, Variant};

pub use block::request_templates;
pub use capacity::{Capacity, CapacityTest, FOREIGN, Trial};
pub use expected::Expected;
pub use limits::ClientLimits;
pub use load_test::LoadTest;
pub use moment::utc;

/// An experiment that is about to run.
pub struct Experiment<'a> {
    /// The scenario to run.
    pub scenario: Scenario,
    /// How to start the guard of each server: a parent process that ends the server even if this process is killed.
    pub guard: Guard,
    /// The new folder that the run is written to.
    pub folder: PathBuf,
    /// Name and version of the program, for the record.
    pub program: String,
    /// Time after which the experiment ends, whatever is known by then.
    pub budget: Option<Duration>,
    /// Ends the experiment early when set. The block in progress is thrown away.
    pub cancel: Arc<AtomicBool>,
    /// Called with each event of the experiment.
    pub watch: &'a (dyn Fn(Event<'_>) + Sync),
}

/// An event of a running experiment.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A block begins.
    Begins {
        /// The block's place in the order.
        slot: Slot,
        /// The name of the block's variant.
        name: &'a str,
        /// Number of finished blocks and number of all blocks in the order. Repeated pairs are not counted.
        done: (u32, u32),
    },
    /// Progress of the current block's load.
    Load(Progress),
    /// A block has ended.
    Ended(&'a Block),
    /// A counting pass of a variant begins, which counts system calls or instructions.
    Counts {
        /// The variant's name.
        name: &'a str,
    },
}

/// The reason for which an experiment ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// The primary metric is known precisely enough, or the maximum number of pairs has run.
    Enough(Enough),
    /// All planned blocks have run.
    AllRun,
    /// The time budget is used up.
    Budget,
    /// The experiment was cancelled.
    Cancelled,
}

/// A finished run.
#[derive(Debug)]
pub struct Finished {
    /// The folder that the run was written to.
    pub folder: Folder,
    /// The run, as recorded.
    pub run: Run,
    /// The reason for which the experiment ended.
    pub end: End,
}

/// Why an experiment could not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario file is invalid.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A variant's server did not start, and never had before.
    #[error("variant `{variant}`: {why}")]
    Start {
        /// The variant's name.
        variant: String,
        /// The reason, with the last lines that the server printed.
        why: LaunchError,
    },
    /// The client could not drive the load.
    #[error(transparent)]
    Load(#[from] load::Error),
    /// The run's folder could not be written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Any other problem, mostly with something that the scenario names, as a sentence.
    #[error("{0}")]
    Other(String),
}

/// Runs an experiment.
///
/// # Errors
/// See [`Error`]. What was recorded until then is in the folder.
pub fn run(experiment: &Experiment<'_>) -> Result<Finished, Error> {
    let scenario = &experiment.scenario;
    if scenario.server.fresh == Fresh::Variant && matches!(scenario.server.addr, Address::Fixed(_))
    {
        return Err(Error::Other(
            "server.fresh = \"variant\" keeps all servers running, which cannot share one fixed \
             server.addr: write \"tcp\" or \"unix\""
                .to_owned(),
        ));
    }
    let mut run = RunningExperiment::start(experiment)?;
    let end = run.blocks()?;
    if end != End::Cancelled {
        run.passes()?;
    }
    for (_, server) in std::mem::take(&mut run.servers) {
        server.stop().map_err(|why| Error::Other(why.to_string()))?;
    }
    Ok(run.finish(end))
}

/// Runs only the counting passes of an experiment, which count system calls and instructions. It runs no blocks, so
/// nothing is timed.
///
/// # Errors
/// See [`Error`]. If a variant could not be counted, the reason is in its [`Pass::method`].
pub fn count(experiment: &Experiment<'_>) -> Result<Finished, Error> {
    let mut run = RunningExperiment::start(experiment)?;
    run.passes()?;
    let end = if run.cancelled() {
        End::Cancelled
    } else {
        End::AllRun
    };
    Ok(run.finish(end))
}

/// Returns the header of a run: the scenario, its variants, the machine and the hashes of the programs. `program` is
/// the name and version of the laboratory itself.
///
/// # Errors
/// See [`variant::expand`].
pub fn header(scenario: &Scenario, program: &str) -> Result<Header, ScenarioError> {
    let variants = variant::expand(scenario)?;
    Ok(Header {
        schema: SCHEMA,
        program: program.to_owned(),
        purpose: Purpose::Comparison,
        started: utc(std::time::SystemTime::now()),
        scenario: scenario.clone(),
        programs: variants
            .iter()
            .map(|variant| program_hash(scenario, variant))
            .collect(),
        variants,
        machine: Machine::read(),
    })
}

/// An experiment in progress.
struct RunningExperiment<'a> {
    experiment: &'a Experiment<'a>,
    origin: Instant,
    folder: Folder,
    run: Run,
    /// Servers that live for all blocks of their variant. The key is whether it is the A/A arm's server, and the
    /// variant's index.
    servers: BTreeMap<(bool, u32), Launched>,
    limits: ClientLimits,
}

impl<'a> RunningExperiment<'a> {
    fn start(experiment: &'a Experiment<'a>) -> Result<Self, Error> {
        experiment.scenario.fits_here()?;
        let header = header(&experiment.scenario, &experiment.program)?;
        Ok(Self {
            experiment,
            origin: Instant::now(),
            folder: Folder::create(&experiment.folder, &header)?,
            run: Run {
                header,
                blocks: Vec::new(),
                passes: Vec::new(),
            },
            servers: BTreeMap::new(),
            limits: ClientLimits::default(),
        })
    }

    fn finish(self, end: End) -> Finished {
        Finished {
            folder: self.folder,
            run: self.run,
            end,
        }
    }

    fn blocks(&mut self) -> Result<End, Error> {
        let scenario = &self.experiment.scenario;
        let slots = order(
            &scenario.design,
            self.run.header.variants.len() as u32,
            scenario.seed,
        );
        let group_size = match scenario.design.order {
            BlockOrder::Sequential => 1,
            BlockOrder::AbbaRandom | BlockOrder::PairsRandom => 2,
        };
        let mut done_slots = 0;
        for pair in slots.chunks(group_size) {
            for attempt in 0..TRIES {
                let Some(disturbed) = self.pair(pair, attempt, (done_slots, slots.len() as u32))?
                else {
                    return Ok(End::Cancelled);
                };
                if self.out_of_time() {
                    return Ok(End::Budget);
                }
                if !disturbed {
                    break;
                }
            }
            done_slots += pair.len() as u32;
            if let Some(enough) = enough(&self.run) {
                return Ok(End::Enough(enough));
            }
        }
        Ok(End::AllRun)
    }

    /// Runs the blocks of a pair. Returns whether one of them was disturbed, or `None` if the experiment was cancelled.
    fn pair(
        &mut self,
        pair: &[Slot],
        attempt: u32,
        done: (u32, u32),
    ) -> Result<Option<bool>, Error> {
        let mut disturbed = false;
        for (at, slot) in pair.iter().enumerate() {
            let name = self.run.header.variants[slot.variant as usize].name.clone();
            (self.experiment.watch)(Event::Begins {
                slot: *slot,
                name: &name,
                done: (done.0 + at as u32, done.1),
            });
            let Some(block) = self.block(*slot, attempt)? else {
                return Ok(None);
            };
            disturbed |= block.discarded.is_some();
            self.folder.append(Kind::Block, &block)?;
            (self.experiment.watch)(Event::Ended(&block));
            self.run.blocks.push(block);
        }
        Ok(Some(disturbed))
    }

    /// Counts system calls and instructions, if the scenario asks for it, variant by variant.
    fn passes(&mut self) -> Result<(), Error> {
        let experiment = self.experiment;
        let sample = &experiment.scenario.sample;
        let passes = [
            (sample.syscalls, syscalls::pass as fn(&Subject<'_>) -> Pass),
            (sample.callgrind, syscalls::callgrind::pass),
        ];
        for (index, variant) in self.run.header.variants.clone().iter().enumerate() {
            for (_, count) in passes.iter().filter(|(requests, _)| *requests > 0) {
                if self.cancelled() {
                    return Ok(());
                }
                (experiment.watch)(Event::Counts {
                    name: &variant.name,
                });
                let pass = count(&Subject {
                    scenario: &experiment.scenario,
                    variant,
                    index: index as u32,
                    guard: &experiment.guard,
                    templates: &|server| {
                        request_templates(&experiment.scenario, variant, server)
                            .map_err(|why| why.to_string())
                    },
                    cancel: experiment.cancel.clone(),
                });
                self.folder.append(Kind::Pass, &pass)?;
                self.run.passes.push(pass);
            }
        }
        Ok(())
    }

    fn out_of_time(&self) -> bool {
        let budget = self.experiment.budget;
        budget.is_some_and(|budget| self.origin.elapsed() >= budget)
    }

    fn cancelled(&self) -> bool {
        self.experiment.cancel.load(Ordering::Relaxed)
    }

    fn at(&self, moment: Instant) -> f64 {
        moment.saturating_duration_since(self.origin).as_secs_f64()
    }
}

/// Returns the BLAKE3 hash of the variant's program file in hex; empty if the file cannot be found or read.
fn program_hash(scenario: &Scenario, variant: &Variant) -> String {
    (variant.cmd.first())
        .and_then(|program| program_file(scenario, program))
        .and_then(|file| fs::read(file).ok())
        .map_or_else(String::new, |bytes| {
            blake3::hash(&bytes).to_hex().to_string()
        })
}

/// Largest number of attempts at a pair that is disturbed each time.
const TRIES: u32 = 3;

impl Slot {
    /// Returns the key of the server for this slot's blocks: whether it is the A/A arm's, which has its own server, and
    /// the variant's index.
    fn server(self) -> (bool, u32) {
        (self.arm == Arm::Again, self.variant)
    }
}
