//! Made-up runs for tests of reports, with data for every figure.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;

use super::ReportInput;
use crate::analysis::{Analysis, Counted, WorkJudgement, analyse, fixture};
use crate::bodies::Judged;
use crate::record::{
    Arm, Bin, Block, Latencies, Pass, Point, Reply, Run, SyscallRow, Tick, UrlResult,
};
use crate::stats::Random;

/// Owner of everything that a [`ReportInput`] borrows.
pub(super) struct Owned {
    pub(super) run: Run,
    pub(super) analysis: Analysis,
    pub(super) judgement: Judged,
    pub(super) bodies: BTreeMap<String, Bytes>,
}

impl Owned {
    pub(super) fn of(run: Run) -> Self {
        Self {
            analysis: analyse(&run, &[]),
            run,
            judgement: Judged::default(),
            bodies: BTreeMap::new(),
        }
    }

    pub(super) fn input(&self) -> ReportInput<'_> {
        ReportInput {
            run: &self.run,
            analysis: &self.analysis,
            judgement: &self.judgement,
            bodies: &self.bodies,
            colour: false,
        }
    }
}

/// A name, also used in a URL, with characters that are special in HTML, Markdown, CSV and terminals.
pub(super) const NASTY: &str = "<b a=\"1\">&'\u{1b}[31m|,x";

/// A run of three variants: the second needs 40 % more time than the first, the third is the same as the first. It has
/// drift, a discarded block, counting passes and images.
pub(super) fn rich() -> Owned {
    let mut random = Random::new(7);
    let mut run = fixture::run(3, 10, |block| {
        let slow = if block.variant == 1 { 0.71 } else { 1.0 };
        let drift = 1.0 + 0.001 * f64::from(block.index);
        fixture::set_rate(
            block,
            400.0 * slow * drift * (0.008 * random.normal()).exp(),
        );
    });
    run.header.scenario.name = "overlay at two sizes".into();
    run.header.variants[1].name = "omp, unlimited".into();
    run.header.variants[2].name = NASTY.into();
    run.header.machine.cpu = "Some CPU @ 2.0 GHz".into();
    run.header.machine.kernel = "Linux 6.1".into();
    run.header.machine.memory = 8_000_000_000;
    run.header.machine.missing = vec!["hardware counters: not supported by this machine".into()];
    let mut clock = 0.0;
    for block in &mut run.blocks {
        clock = course(block, clock, &mut random);
    }
    run.blocks[5].discarded = Some("steal 7.2 % > 5 %".into());
    run.passes = (0..2).map(pass).collect();
    let mut owned = Owned::of(run);
    add_images(&mut owned);
    owned
}

/// Moves a block to its start time and fills it with samples. Returns the start time of the next block.
fn course(block: &mut Block, start: f64, random: &mut Random) -> f64 {
    for phase in &mut block.phases {
        phase.from += start;
        phase.to += start;
    }
    let end = block.phases.last().map_or(start, |it| it.to);
    let window = super::input::window_start(block).unwrap_or(start);
    let mut at = start;
    while at < end {
        let busy = if at > window { 0.9 } else { 0.3 };
        block.timeline.push(Tick {
            at,
            user: 0.75 * busy,
            system: 0.2 * busy,
            iowait: 0.01,
            steal: 0.02,
            runnable: 2 + (at * 7.0) as u32 % 3,
            load_1: 1.0 + 2.0 * (1.0 - (-at / 60.0).exp()),
            server_cpus: 1.6 * busy,
            ..Tick::default()
        });
        at += 0.1;
    }
    let load = &mut block.load;
    let rate = load.completed as f64 / load.seconds;
    let usual = 10.0 / rate;
    // Latencies have a long tail, as those of real servers do.
    let mut slow =
        || usual * (0.3 * random.normal()).exp() * if random.unit() < 0.01 { 6.0 } else { 1.0 };
    load.total = Latencies::new();
    for at in 0..load.completed {
        let latency = slow();
        load.total.record(Duration::from_secs_f64(latency));
        if at % 20 == 0 {
            let good = at % 400 != 40;
            load.points.push(Point {
                at: at as f64 / rate,
                latency,
                url: (at % 3) as u32,
                good,
            });
        }
    }
    load.service = load.total.clone();
    load.urls = (0..3)
        .map(|url| url_result(url, load.completed / 3, &load.total))
        .collect();
    let bins = (load.seconds / 0.25).floor() as u32;
    load.bins = (0..bins)
        .map(|bin| {
            let p50 = load.total.quantile(0.5);
            Bin {
                at: f64::from(bin) * 0.25,
                seconds: 0.25,
                completed: (rate * 0.25 * (0.05 * random.normal()).exp()) as u64,
                p50,
                p99: 2.0 * p50 * (0.3 * random.normal()).exp(),
                late: 0,
            }
        })
        .collect();
    end + 0.2
}

fn url_result(url: u32, completed: u64, times: &Latencies) -> UrlResult {
    let url = match url {
        0 => "/resize/w/250/a.jpg".to_owned(),
        1 => "/resize/w/1200/photograph-with-a-long-name.jpg".to_owned(),
        _ => format!("/{NASTY}"),
    };
    UrlResult {
        url,
        completed,
        failures: 0,
        bytes_body: completed * 12_000,
        total: times.clone(),
        reason: None,
    }
}

fn pass(variant: u32) -> Pass {
    let row = |(name, calls): (&str, f64)| SyscallRow {
        name: name.into(),
        calls: calls * (1.0 + 0.5 * f64::from(variant)),
        errors: if name == "futex" { 0.5 } else { 0.0 },
        microseconds: 3.5,
    };
    let calls = [
        ("read", 12.0),
        ("write", 2.0),
        ("futex", 30.0),
        ("openat", 1.0),
        ("epoll_wait", 1.5),
    ];
    Pass {
        variant,
        method: "ptrace".into(),
        requests: 50,
        slowdown: 4.2,
        syscalls: calls.into_iter().map(row).collect(),
        instructions: Some(31_415_926.0),
        assertions: Vec::new(),
    }
}

/// Adds a red image, a blue image and a missing one to the run, with a judgement of each variant's replies.
fn add_images(owned: &mut Owned) {
    for (hash, colour) in [("aa", [200, 40, 40]), ("bb", [40, 40, 200])] {
        owned.bodies.insert(hash.into(), Bytes::from(png(colour)));
    }
    for variant in 0..3 {
        for url in 0..3 {
            let hash = if url == 2 {
                "missing"
            } else if variant == 1 {
                "bb"
            } else {
                "aa"
            };
            let reply = Reply {
                status: 200,
                media_type: "image/jpeg".into(),
                length: 12_000,
                hash: hash.into(),
            };
            owned.judgement.typical.push((variant, url, reply));
        }
        owned.judgement.work.push(WorkJudgement {
            variant,
            url: "/resize/w/250/a.jpg".into(),
            same: variant != 1,
            replies: Counted {
                all: 500,
                wrong: if variant == 1 { 500 } else { 0 },
            },
            baseline: Counted::default(),
            detail: "12.0 KB vs 12.0 KB, SSIM 0.94 < 0.98".into(),
        });
    }
}

/// Returns a PNG of 80 by 60 px in one colour: rows of a filter byte and samples, stored without compression.
fn png(colour: [u8; 3]) -> Vec<u8> {
    let (width, height) = (80_u32, 60_u32);
    let row = || std::iter::once(0).chain(std::iter::repeat_n(colour, width as usize).flatten());
    let rows: Vec<u8> = (0..height).flat_map(|_| row()).collect();
    let length = rows.len() as u16;
    let mut data = vec![0x78, 0x01, 1];
    data.extend(length.to_le_bytes());
    data.extend((!length).to_le_bytes());
    let (a, b) = rows.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    data.extend(&rows);
    data.extend((b << 16 | a).to_be_bytes());

    let mut head = [width.to_be_bytes(), height.to_be_bytes()].concat();
    head.extend([8, 2, 0, 0, 0]);
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, content) in [(b"IHDR", head), (b"IDAT", data), (b"IEND", Vec::new())] {
        let chunk = [name.as_slice(), &content].concat();
        out.extend((content.len() as u32).to_be_bytes());
        out.extend(&chunk);
        out.extend(crc(&chunk).to_be_bytes());
    }
    out
}

fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc))
    })
}

/// The run of `rich`, but with some failed requests in the third variant.
pub(super) fn failing() -> Owned {
    let mut owned = rich();
    let third = owned.run.blocks.iter_mut().find(|it| it.variant == 2);
    if let Some(block) = third {
        block.load.failures.status = 3;
    }
    owned.analysis = analyse(&owned.run, &[]);
    owned
}

/// A run of two variants with six pairs for each comparison. All blocks failed before their measured windows.
pub(super) fn only_failures() -> Owned {
    let mut run = fixture::run(2, 6, |_| {});
    for block in &mut run.blocks {
        *block = Block {
            failure: Some("the server ended with status 1: <no such file>".into()),
            phases: Vec::new(),
            load: Default::default(),
            ..block.clone()
        };
    }
    Owned::of(run)
}

/// A run with a header but no blocks, as if it had been cancelled at once.
pub(super) fn empty() -> Owned {
    let mut run = fixture::run(2, 6, |_| {});
    run.blocks.clear();
    Owned::of(run)
}

/// A run of one variant, which is compared only with itself.
pub(super) fn single() -> Owned {
    Owned::of(fixture::run(1, 6, |_| {}))
}

/// A run of one variant that is compared with nothing.
pub(super) fn alone() -> Owned {
    let mut run = fixture::run(1, 6, |_| {});
    run.header.scenario.design.aa = false;
    run.blocks.retain(|block| block.arm == Arm::Baseline);
    Owned::of(run)
}
