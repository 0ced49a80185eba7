use super::*;
use crate::analysis::fixture;
use crate::record::{Bin, Point};

fn log(lines: &[&str]) -> Past {
    let lines: Vec<String> = lines
        .iter()
        .map(|line| format!("h - - [10/Oct/2000:13:55:{line}"))
        .collect();
    Past::of_log(lines.join("\r\n").as_bytes()).expect("reads")
}

#[test]
fn a_script_asks_each_distinct_request_by_its_place_and_speed_divides_time() {
    let past = log(&[
        "36 +0000] \"GET /a HTTP/1.1\" 200 1",
        "37 +0000] \"GET /b HTTP/1.1\" 404 1",
        "38 +0000] \"GET /b HTTP/1.1\" 404 1",
        "39 +0000] \"HEAD /b HTTP/1.1\" 304 1",
    ]);
    let (templates, script) = script(&past, 2.0);
    let told: Vec<_> = templates
        .iter()
        .map(|it| (it.method.as_str(), it.target.as_str(), it.status))
        .collect();
    assert_eq!(
        told,
        [("GET", "/b", 404), ("GET", "/a", 200), ("HEAD", "/b", 200)]
    );
    let millis: Vec<_> = script
        .requests
        .iter()
        .map(|(at, url)| (at.as_millis(), *url))
        .collect();
    assert_eq!(millis, [(0, 1), (500, 0), (1000, 0), (1500, 2)]);
    let mut first = past;
    first.cut(2.0);
    assert_eq!(first.requests.len(), 2);
}

#[test]
fn a_run_is_asked_again_exactly_where_it_kept_every_reply_and_by_its_slices_otherwise() {
    let mut run = fixture::run(2, 2, |block| {
        block.load.sent = 2;
        let point = |at| Point {
            at,
            latency: 0.25,
            url: 0,
            good: true,
        };
        block.load.points = vec![point(0.5), point(1.0)];
    });
    let exact = of_run(&run, 0);
    let at: Vec<f64> = exact.requests.iter().map(|it| it.at).collect();
    assert_eq!(at, [0.25, 0.75]);
    for block in &mut run.blocks {
        block.load.sent = 5;
        block.load.bins = vec![
            Bin {
                at: 0.0,
                seconds: 1.0,
                completed: 4,
                ..Bin::default()
            },
            Bin {
                at: 1.0,
                seconds: 1.0,
                completed: 1,
                ..Bin::default()
            },
        ];
    }
    let drawn = of_run(&run, 0);
    let at: Vec<f64> = drawn.requests.iter().map(|it| it.at).collect();
    assert_eq!(at, [0.125, 0.375, 0.625, 0.875, 1.5]);
    assert!(of_run(&run, 9).requests.is_empty());
}
