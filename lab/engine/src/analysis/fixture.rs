//! A synthetic run without any flaw. Each test adds the flaw that it is about.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Comparison, analyse, order};
use crate::record::{
    Arm, Block, BodySeen, ClientCost, ConnectionUse, Header, Latencies, LoadResult, Machine, Noise,
    Phase, PhaseKind, Probe, Reply, Run, SCHEMA, ServerCost, SystemLoad, UrlResult, Warmup,
};
use crate::scenario::Scenario;
use crate::stats::Random;
use crate::variant::Variant;

/// Returns a run of `variants` variants (`v0` is the baseline) and the A/A arm, with `pairs` pairs each in ABBA order.
/// `change` alters each block.
pub(crate) fn run(variants: u32, pairs: u32, mut change: impl FnMut(&mut Block)) -> Run {
    let scenario: Scenario = toml::from_str("[server]\ncmd = ['server']").expect("a scenario");
    let mut design = scenario.design.clone();
    (design.pairs.min, design.pairs.max) = (pairs, pairs);
    let mut slots = order(&design, variants, 1);
    // If the number of pairs is odd, the second half of the last quad is left out.
    let mut counts: BTreeMap<(bool, u32), u32> = BTreeMap::new();
    slots = slots
        .chunks(2)
        .filter(|pair| {
            let other = pair.iter().find(|slot| slot.arm != Arm::Baseline);
            let key = other.map_or((false, 0), |slot| (slot.arm == Arm::Again, slot.variant));
            let count = counts.entry(key).or_default();
            *count += 1;
            *count <= pairs
        })
        .flatten()
        .copied()
        .collect();
    let mut random = Random::new(99);
    let blocks = slots.iter().enumerate().map(|(index, slot)| {
        let mut block = block_of(2000);
        block.index = index as u32;
        (block.pair, block.arm, block.variant) = (slot.pair, slot.arm, slot.variant);
        // Without any noise, blocks would be unlike those of real runs.
        set_rate(&mut block, 400.0 * (0.003 * random.normal()).exp());
        change(&mut block);
        block
    });
    Run {
        blocks: blocks.collect(),
        passes: Vec::new(),
        header: Header {
            schema: SCHEMA,
            program: "andon 0.0.0".into(),
            purpose: Default::default(),
            started: "2015-03-13T00:00:00Z".into(),
            scenario,
            variants: (0..variants).map(variant).collect(),
            machine: Machine {
                cpus: 2,
                ..Machine::default()
            },
            programs: Vec::new(),
        },
    }
}

fn variant(at: u32) -> Variant {
    Variant {
        name: format!("v{at}"),
        cmd: vec!["server".into()],
        env: BTreeMap::new(),
        set: BTreeMap::new(),
        unset: Vec::new(),
        urls: None,
        assert: Vec::new(),
        expect: crate::scenario::Expect::default(),
        connections: None,
    }
}

/// Returns an undisturbed block with this many replies.
pub(crate) fn block_of(completed: u64) -> Block {
    let mut block = Block {
        index: 0,
        pair: 0,
        arm: Arm::Baseline,
        variant: 0,
        attempt: 0,
        phases: vec![
            phase(PhaseKind::Start, 0.0, 0.5),
            phase(PhaseKind::Warmup, 0.5, 2.5),
            phase(PhaseKind::Measure, 2.5, 7.5),
            phase(PhaseKind::Stop, 7.5, 8.0),
        ],
        warmup: Warmup {
            seconds: 2.0,
            steady: true,
        },
        load: LoadResult {
            connections: 10,
            completed,
            sent: completed,
            bytes_body: completed * 12_000,
            bytes_total: completed * 12_200,
            per_connection: vec![
                ConnectionUse {
                    completed: completed / 10,
                    longest_wait: 0.06,
                };
                10
            ],
            bodies: vec![BodySeen {
                url: 0,
                reply: Reply {
                    status: 200,
                    media_type: "image/jpeg".into(),
                    length: 12_000,
                    hash: "00".into(),
                },
                count: completed,
            }],
            ..LoadResult::default()
        },
        client: ClientCost {
            cpu_seconds: 0.5,
            threads: 1,
            busy: 0.1,
            ceiling: 30_000.0,
        },
        server: ServerCost {
            user_seconds: 6.0,
            system_seconds: 1.0,
            threads_peak: 3,
            processes_peak: 1,
            rss_peak: 60_000_000,
            ..ServerCost::default()
        },
        system: SystemLoad {
            user: 0.65,
            system: 0.12,
            idle: 0.23,
            runnable: 3.0,
            load_1: 1.0,
            ..SystemLoad::default()
        },
        timeline: Vec::new(),
        noise: Noise {
            probe: Probe {
                before: 0.02,
                after: 0.02,
            },
            clock_resolution: 1e-9,
            ..Noise::default()
        },
        foreign: Vec::new(),
        assertions: Vec::new(),
        discarded: None,
        failure: None,
    };
    set_rate(&mut block, completed as f64 / 5.0);
    block
}

/// Changes a block to `rate` replies per second over ten connections that are never idle. The number of replies stays,
/// and the window's length and all latencies follow.
pub(crate) fn set_rate(block: &mut Block, rate: f64) {
    let load = &mut block.load;
    let seconds = if rate > 0.0 {
        load.completed as f64 / rate
    } else {
        0.0
    };
    let before = if load.seconds > 0.0 {
        load.seconds
    } else {
        seconds
    };
    load.seconds = seconds;
    load.in_flight = f64::from(load.connections);
    let mut latencies = Latencies::new();
    for at in 0..load.completed {
        // Latencies are spread evenly around the mean (connections / rate), from half to one and a half times the mean.
        let place = 0.5 + (at as f64 + 0.5) / load.completed as f64;
        latencies.record(Duration::from_secs_f64(
            f64::from(load.connections) / rate * place,
        ));
    }
    load.total = latencies.clone();
    load.service = latencies.clone();
    load.waiting = latencies.clone();
    load.urls = vec![UrlResult {
        url: "/a.jpg".into(),
        completed: load.completed,
        failures: 0,
        bytes_body: load.bytes_body,
        total: latencies,
        reason: None,
    }];
    // CPU times follow the length of the window, so that the CPU use stays the same.
    block.server.user_seconds *= seconds / before;
    block.server.system_seconds *= seconds / before;
    block.client.cpu_seconds *= seconds / before;
    let start = block
        .phases
        .iter()
        .find(|it| it.kind == PhaseKind::Measure)
        .map(|it| it.from);
    for phase in &mut block.phases {
        match phase.kind {
            PhaseKind::Measure => phase.to = phase.from + seconds,
            PhaseKind::Stop => {
                phase.from = start.unwrap_or(0.0) + seconds;
                phase.to = phase.from + 0.5;
            }
            PhaseKind::Start | PhaseKind::Ramp | PhaseKind::Warmup => {}
        }
    }
}

pub(crate) fn phase(kind: PhaseKind, from: f64, to: f64) -> Phase {
    Phase { kind, from, to }
}

/// Returns a run of two variants with ten pairs each. The second variant's rate is `factor` times that of the first,
/// with 1 % of noise.
pub(crate) fn run_with_rate(factor: f64) -> Run {
    let mut random = Random::new(4);
    run(2, 10, |block| {
        let noise = (0.01 * random.normal()).exp();
        let factor = if block.arm == Arm::Variant {
            factor
        } else {
            1.0
        };
        set_rate(block, 400.0 * factor * noise);
    })
}

/// Returns the first variant's comparison with the baseline by the primary metric.
pub(crate) fn primary(run: &Run) -> Comparison {
    analyse(run, &[])
        .primary()
        .next()
        .cloned()
        .expect("a variant")
}
