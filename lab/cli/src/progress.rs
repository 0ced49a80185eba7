//! The progress of an experiment: a bar on a terminal, lines elsewhere.

use std::fmt;
use std::io::{IsTerminal, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use andon_lab::experiment::{Event, Expected};
use andon_lab::record::Block;
use andon_lab::scenario::Scenario;
use andon_lab::variant::expand;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

/// Shows the progress of an experiment on standard error.
pub(super) struct Progress {
    display: Display,
    start: Instant,
    expected: Expected,
    state: Mutex<State>,
}

enum Display {
    /// Nothing is shown.
    Quiet,
    /// A progress bar, for people who watch a terminal.
    Bar(ProgressBar),
    /// A line now and then, for files and pipes.
    Lines,
}

#[derive(Default)]
struct State {
    /// The name of the variant that is running.
    name: String,
    /// Number of blocks that have ended.
    ended_blocks: u32,
    /// Number of blocks that have ended and count.
    counting: u32,
    /// When the last progress line was printed.
    last_line: Option<Instant>,
}

impl Progress {
    /// Starts the display, and announces how many blocks to expect and how long they will take.
    pub(super) fn start(scenario: &Scenario, budget: Option<Duration>, quiet: bool) -> Self {
        // If the variants cannot be expanded, running the experiment fails, with a message.
        let variants = expand(scenario).map_or(1, |variants| variants.len() as u32);
        let expected = Expected::of(scenario, variants);
        let display = if quiet {
            Display::Quiet
        } else {
            eprintln!("{}: {}", scenario.name, prospect(&expected, budget));
            if stderr().is_terminal() {
                Display::Bar(bar(&expected))
            } else {
                Display::Lines
            }
        };
        Self {
            display,
            start: Instant::now(),
            expected,
            state: Mutex::default(),
        }
    }

    pub(super) fn show(&self, event: Event<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Begins { name, done, .. } => {
                name.clone_into(&mut state.name);
                if let Display::Bar(bar) = &self.display {
                    bar.set_length(done.1.into());
                    bar.set_position(done.0.into());
                    bar.set_message(format!("{name}: starts"));
                }
            }
            Event::Load(progress) => {
                if let Display::Bar(bar) = &self.display {
                    let phase = if progress.measuring {
                        format!("{:.0} %", progress.done * 100.0)
                    } else {
                        "warm-up".to_owned()
                    };
                    let name = &state.name;
                    bar.set_message(format!("{name}: {phase}, {:.0} replies/s", progress.rate));
                }
            }
            Event::Counts { name } => match &self.display {
                Display::Bar(bar) => {
                    bar.set_message(format!("{name}: counting pass, apart from all timing"));
                }
                Display::Lines => eprintln!("{name}: counting pass, apart from all timing"),
                Display::Quiet => {}
            },
            Event::Ended(block) => self.block_ended(&mut state, block),
        }
    }

    fn block_ended(&self, state: &mut State, block: &Block) {
        state.ended_blocks += 1;
        state.counting += u32::from(block.counts());
        if let Some(why) = reason_not_counted(block) {
            let line = format!("block {}: {why}; its pair runs again", block.index + 1);
            match &self.display {
                Display::Bar(bar) => bar.println(line),
                Display::Lines => eprintln!("{line}"),
                Display::Quiet => {}
            }
        }
        let due = state
            .last_line
            .is_none_or(|last_line| last_line.elapsed() >= BETWEEN);
        if matches!(self.display, Display::Lines) && due {
            state.last_line = Some(Instant::now());
            let rate = block.throughput().unwrap_or(0.0);
            let (least, most) = self.expected.blocks;
            let so_far = self.start.elapsed().as_secs_f64();
            let each = so_far / f64::from(state.ended_blocks);
            let time_left = |blocks: u32| each * f64::from(blocks.saturating_sub(state.counting));
            eprintln!(
                "{} of {} blocks; {}: {rate:.0} replies/s; {} so far, {} to go",
                state.counting,
                range(&least.to_string(), &most.to_string()),
                state.name,
                time(so_far),
                range(&time(time_left(least)), &time(time_left(most)))
            );
        }
    }

    pub(super) fn finish(&self) {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

/// Returns why a block does not count, together with the processes that disturbed it. `None` if it counts.
fn reason_not_counted(block: &Block) -> Option<String> {
    if let Some(why) = &block.failure {
        return Some(why.clone());
    }
    let why = block.discarded.clone()?;
    let by: Vec<String> = block
        .foreign
        .iter()
        .take(3)
        .map(ToString::to_string)
        .collect();
    Some(match by[..] {
        [] => why,
        _ => format!("{why} ({} of all CPUs)", by.join(", ")),
    })
}

fn bar(expected: &Expected) -> ProgressBar {
    let bar = ProgressBar::new(expected.blocks.1.into());
    let style = ProgressStyle::with_template(
        "{spinner} block {pos} of at most {len}, {elapsed} so far{left}  {msg}",
    );
    if let Ok(style) = style {
        bar.set_style(style.with_key("left", write_time_left));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Writes an upper bound for the duration of the remaining blocks, or nothing before the first block has ended.
fn write_time_left(state: &ProgressState, to: &mut dyn fmt::Write) {
    if state.pos() > 0 {
        // Writing fails only if the terminal does, and then nothing can be shown.
        let _ = write!(to, ", at most {} to go", time(state.eta().as_secs_f64()));
    }
}

/// Describes the expected number of blocks and the duration, e.g. `24 to 80 blocks, 2 to 6 min`.
fn prospect(expected: &Expected, budget: Option<Duration>) -> String {
    let (least, most) = expected.blocks;
    let blocks = range(&least.to_string(), &most.to_string());
    let duration = match expected.seconds() {
        Some((least, most)) => {
            let limit = budget.map_or(f64::INFINITY, |budget| budget.as_secs_f64());
            range(&time(least.min(limit)), &time(most.min(limit)))
        }
        None => match budget {
            Some(budget) => format!("at most {}", time(budget.as_secs_f64())),
            None => "as long as the server takes for the requests".to_owned(),
        },
    };
    format!("{blocks} blocks, {duration}; it ends as soon as the result is precise enough")
}

/// Formats a range, e.g. `24 to 80`. Equal ends are written once, and so is a unit that both have in common.
fn range(least: &str, most: &str) -> String {
    if least == most {
        return least.to_owned();
    }
    match (least.split_once(' '), most.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number} to {most}"),
        _ => format!("{least} to {most}"),
    }
}

/// Formats a duration, e.g. `45 s`, `3 min`, `1.5 h`.
fn time(seconds: f64) -> String {
    match seconds {
        it if it < 90.0 => format!("{it:.0} s"),
        it if it < 5400.0 => format!("{:.0} min", it / 60.0),
        it => format!("{:.1} h", it / 3600.0),
    }
}

/// Time between two progress lines.
const BETWEEN: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prospect_names_blocks_and_time_and_a_budget_shortens_it() {
        let expected = Expected {
            blocks: (24, 80),
            block_seconds: Some((4.0, 9.0)),
        };
        let said = prospect(&expected, None);
        assert!(said.starts_with("24 to 80 blocks, 2 to 12 min; "), "{said}");
        let said = prospect(&expected, Some(Duration::from_secs(60)));
        assert!(said.starts_with("24 to 80 blocks, 60 s; "), "{said}");
        let by_requests = Expected {
            block_seconds: None,
            ..expected
        };
        let said = prospect(&by_requests, None);
        assert!(said.contains("as long as the server takes"), "{said}");
    }

    #[test]
    fn a_disturbed_block_names_who_disturbed_it() {
        let mut block = Block::new(2, 1, andon_lab::record::Arm::Variant, 1);
        block.discarded = Some("foreign CPU > 10 %".into());
        block.foreign = vec![andon_lab::record::ForeignProcess {
            name: "rustc".into(),
            count: 1,
            share: 0.61,
        }];
        let said = reason_not_counted(&block).expect("it does not count");
        assert_eq!(said, "foreign CPU > 10 % (rustc 61 % of all CPUs)");
    }
}
