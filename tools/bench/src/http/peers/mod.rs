//! Comparison of Andon and sharp, both as servers. They get the same photos in the same sizes on ten connections (by
//! default) in closed loops, and each file is requested under a name of its own. The servers alternate, with loads of a
//! few seconds. The clients share their cores.

mod load;
mod photo_sets;
mod quality;
mod sharp;

use anyhow::Result;
use serde::Serialize;

use super::turns::in_turn;
use crate::goals::{self, Goal};
use crate::photos::Folder;
use crate::stats::median;
use load::{Load, Peer, Work};
use quality::Quality;

/// Results of the comparison of Andon and sharp.
#[derive(Serialize)]
pub(crate) struct Peers {
    peer: String,
    connections: usize,
    seconds_each: f64,
    rounds: usize,
    cases: Vec<Case>,
    goals: Vec<Goal>,
}

/// Results of Andon and sharp for photos of one size under one kind of load.
#[derive(Serialize)]
struct Case {
    megapixels: u32,
    work: Work,
    andon: Side,
    sharp: Side,
    /// Andon's images per second divided by sharp's.
    ratio: f64,
}

/// Results of Andon or of sharp.
#[derive(Serialize)]
struct Side {
    /// Median of the rates of all runs.
    images_per_second: f64,
    cpu_milliseconds_per_image: f64,
    quality: Option<Quality>,
    loads: Vec<Load>,
}

/// Compares Andon and sharp and prints the results. With `quick` there is only one short round, for a quick check.
pub(crate) fn run(connections: usize, photos: &Folder, quick: bool) -> Result<Peers> {
    let (seconds, rounds) = if quick { (1.0, 1) } else { (4.0, 3) };
    let peer = sharp::versions()?;
    println!("{peer}; {connections} connections, {rounds} rounds of {seconds} s");
    let mut cases = Vec::new();
    for megapixels in SETS {
        let set = photo_sets::set(photos, megapixels)?;
        let mut works = vec![
            Work::Side { side: 150 },
            Work::Side { side: 400 },
            Work::Side { side: 1200 },
        ];
        if megapixels == JUDGED {
            works.extend([Work::Srcset, Work::Second]);
        }
        for work in works {
            let [andon, sharp] = in_turn(rounds, |side| {
                let peer = [Peer::Andon, Peer::Sharp][side];
                load::measure(peer, &set, work, connections, seconds)
            })?;
            let quality = match work {
                Work::Side { side } => Some(quality::compare(&set, side)?),
                Work::Srcset | Work::Second => None,
            };
            let (first, second) = quality.unzip();
            let case = Case::new(
                megapixels,
                work,
                Side::new(andon, first),
                Side::new(sharp, second),
            );
            case.print();
            cases.push(case);
        }
    }
    let goals = goals(&cases);
    goals::print(&goals);
    Ok(Peers {
        peer,
        connections,
        seconds_each: seconds,
        rounds,
        cases,
        goals,
    })
}

/// Sizes of the photos of each set, in megapixels.
const SETS: [u32; 4] = [2, 4, 8, 15];
/// Size in megapixels of the photos for which there are goals. There are none for photos of other sizes.
const JUDGED: u32 = 4;

fn goals(cases: &[Case]) -> Vec<Goal> {
    let cases_with_goals = cases.iter().filter(|case| case.megapixels == JUDGED);
    let goal = |case: &Case| {
        let limit = match case.work {
            Work::Side { side: ..=400 } => 4.0,
            Work::Side { .. } => 3.0,
            Work::Srcset => 6.0,
            Work::Second => 8.0,
        };
        Goal::at_least(
            format!("{JUDGED} megapixels, {}", case.work),
            case.ratio,
            limit,
            "times sharp's rate",
        )
    };
    cases_with_goals.map(goal).collect()
}

impl Side {
    fn new(loads: Vec<Load>, quality: Option<Quality>) -> Self {
        let median_of =
            |what: fn(&Load) -> f64| median(&loads.iter().map(what).collect::<Vec<_>>());
        Self {
            images_per_second: median_of(|load| load.images as f64 / load.seconds),
            cpu_milliseconds_per_image: median_of(|load| {
                1e3 * load.cpu_seconds / load.images as f64
            }),
            quality,
            loads,
        }
    }
}

impl Case {
    fn new(megapixels: u32, work: Work, andon: Side, sharp: Side) -> Self {
        Self {
            megapixels,
            work,
            ratio: andon.images_per_second / sharp.images_per_second,
            andon,
            sharp,
        }
    }

    fn print(&self) {
        let quality = |side: &Side| {
            let quality = side.quality.as_ref();
            quality.map_or(String::new(), |it| {
                format!(", {:.0} bytes, {:.2} dB", it.bytes, it.psnr)
            })
        };
        println!(
            "{:2} megapixels, {:12} andon {:6.1} images/s ({:.1} ms of processor each{}), sharp {:6.1} ({:.1} ms{}): {:.2} times",
            self.megapixels,
            self.work.to_string(),
            self.andon.images_per_second,
            self.andon.cpu_milliseconds_per_image,
            quality(&self.andon),
            self.sharp.images_per_second,
            self.sharp.cpu_milliseconds_per_image,
            quality(&self.sharp),
            self.ratio
        );
    }
}
