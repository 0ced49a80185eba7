//! Tests every report format with every kind of run.

use super::fixture::{NASTY, Owned, alone, empty, failing, only_failures, rich, single};
use super::*;

fn print(name: &str, owned: &Owned) -> String {
    let format = find(name).expect("a format");
    let bytes = (format.print)(&owned.input()).expect("prints");
    String::from_utf8(bytes).expect("text")
}

#[test]
fn names_and_files_are_unique() {
    for (at, format) in ALL.iter().enumerate() {
        let same = |it: &&Format| it.name == format.name || it.file == format.file;
        assert_eq!(ALL[at..].iter().filter(same).count(), 1, "{}", format.name);
    }
}

#[test]
fn no_format_stumbles_over_a_run_with_little_in_it() {
    for owned in [empty(), only_failures(), failing(), single(), alone()] {
        for format in ALL {
            let bytes = (format.print)(&owned.input()).expect(format.name);
            let text = String::from_utf8(bytes).expect("text");
            assert!(!text.is_empty(), "{}", format.name);
            // Prometheus permits NaN and infinity, and histograms are written in base64.
            let odd = text.contains("NaN") || text.contains("inf ");
            assert!(
                !odd || ["prom", "hdr"].contains(&format.name),
                "{}: {text}",
                format.name
            );
        }
    }
}

#[test]
fn the_first_screen_says_what_came_of_it() {
    let text = print("text", &rich());
    let line = |start: &str| {
        let found = text
            .lines()
            .find(|line| line.trim_start().starts_with(start));
        found
            .unwrap_or_else(|| panic!("no {start} in {text}"))
            .to_owned()
    };
    let slower = line("omp, unlimited / v0");
    assert!(
        slower.contains("throughput") && slower.contains("SLOWER"),
        "{slower}"
    );
    assert!(
        slower.contains("×0.7") && slower.contains('[') && slower.contains("pairs"),
        "{slower}"
    );
    assert!(line("<b a=").contains("SAME within ±3 %"));
    assert!(line("Noise floor").contains("are within the noise"));
    assert!(line("Discards").contains("steal 7.2 % > 5 %: 1 block"));
    assert!(line("Requests per second [#/sec]").contains("41"));
    assert!(line("Concurrency asked / in flight").contains("10 / 10.0"));
    let ranks = slower
        .split("pairs")
        .nth(1)
        .unwrap_or_default()
        .trim_start();
    assert!(ranks.starts_with("0.0"), "p of signed ranks: {slower}");
    assert!(text.contains("Connection times [ms]"));
    assert!(line("Stability: omp, unlimited / v0").contains("longest wait 60.0 ms"));
    assert!(line("Response equivalence").contains("500 of 1500 replies (33 %) differ"));
    assert!(line("omp, unlimited /resize/w/250/a.jpg: ").contains("SSIM 0.94 < 0.98"));
    assert!(line("hardware counters").contains("not supported"));
    for finding in &rich().analysis.findings {
        assert!(text.contains(finding.name) && text.contains(finding.advice));
    }
}

#[test]
fn primary_verdicts_come_first() {
    let text = print("text", &rich());
    let verdicts: Vec<&str> = text
        .lines()
        .skip_while(|it| !it.starts_with("Verdicts"))
        .take(3)
        .collect();
    assert!(
        verdicts[1].contains("omp") && verdicts[1].contains("throughput"),
        "{text}"
    );
    assert!(
        verdicts[2].contains("<b a=") && verdicts[2].contains("throughput"),
        "{text}"
    );
}

#[test]
fn only_those_who_ask_get_colours_and_nobody_gets_anothers() {
    let owned = rich();
    for format in ALL {
        let bytes = (format.print)(&owned.input()).expect("prints");
        assert!(!bytes.contains(&0x1b), "{}", format.name);
    }
    let colourful = ReportInput {
        colour: true,
        ..owned.input()
    };
    let text = (text::FORMAT.print)(&colourful).expect("prints");
    let text = String::from_utf8(text).expect("text");
    assert!(text.contains("\u{1b}[1;31mSLOWER\u{1b}[0m"), "{text}");
    assert!(!text.contains("&'\u{1b}"), "a name's own");
}

#[test]
fn an_invalid_comparison_shows_no_ratio() {
    let text = print("text", &failing());
    assert_eq!(text.matches("INVALID").count(), 1, "{text}");
    let rate = text
        .lines()
        .find(|it| it.starts_with("Requests per second"));
    assert_eq!(
        rate.map(|line| line.matches('×').count()),
        Some(1),
        "{text}"
    );

    let text = print("text", &only_failures());
    assert!(text.contains("INVALID") && !text.contains('×'), "{text}");
    assert!(text.contains("the server ended with status 1"), "{text}");
}

#[test]
fn ab_users_find_their_words() {
    let text = print("ab", &failing());
    for word in [
        "Time taken for tests",
        "Complete requests",
        "Failed requests",
        "Requests per second",
        "Time per request",
        "Transfer rate",
        "Connection times [ms]",
        "Waiting",
        "Processing",
        "Percentage of the requests served within a certain time",
        "Client CPU per request",
        "Self-checks",
        "3 (status 3)",
    ] {
        assert!(text.contains(word), "{word} in {text}");
    }
}

#[test]
fn the_page_says_the_result_and_its_warnings_before_the_verdicts() {
    let page = print("html", &rich());
    let places = ["class=\"result\"", "<h2>Warnings</h2>", "class=\"card "]
        .map(|mark| page.find(mark).unwrap_or_else(|| panic!("no {mark}")));
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn long_names_stay_on_the_screen_and_every_variant_is_shown() {
    let mut owned = rich();
    for (at, summary) in owned.analysis.summaries.iter_mut().enumerate() {
        summary.name = format!("engine=imagemagick,jpeghint={at}");
    }
    let text = print("ab", &owned);
    let heads: Vec<&str> = text
        .lines()
        .filter(|it| it.contains("(baseline)"))
        .collect();
    assert_eq!(heads.len(), 2, "{text}");
    assert!(
        heads.iter().all(|it| it.chars().count() <= 140),
        "{heads:?}"
    );
    assert!(
        heads[0].contains("jpeghint=1") && heads[1].contains("jpeghint=2"),
        "{heads:?}"
    );
}

#[test]
fn jmeter_users_find_every_label() {
    let text = print("jmeter", &rich());
    assert!(
        text.contains("#Samples") && text.contains("Error%"),
        "{text}"
    );
    assert_eq!(
        text.lines()
            .filter(|line| line.contains("/resize/w/250/a.jpg"))
            .count(),
        3
    );
}

#[test]
fn sar_has_a_line_per_block_and_says_why_one_does_not_count() {
    let owned = rich();
    let text = print("sar", &owned);
    assert!(text.contains("%iowait") && text.contains("ldavg-1*"));
    assert!(
        text.lines().filter(|line| line.ends_with("kept")).count() >= owned.run.blocks.len() - 2
    );
    assert!(text.contains("discarded: steal 7.2 %"));
}

#[test]
fn strace_shows_calls_per_request_side_by_side() {
    let text = print("strace", &rich());
    let read = text
        .lines()
        .find(|line| line.starts_with("read"))
        .expect("read");
    assert!(
        read.contains("12.00") && read.contains("18.00") && read.contains("×1.500"),
        "{read}"
    );
    assert!(text.contains("31415926"), "{text}");
}

#[test]
fn csv_and_jtl_have_as_many_fields_in_every_line() {
    let owned = rich();
    for (name, lines) in [
        ("csv", owned.run.blocks.len() + 1),
        ("jtl-aggregate", 1 + 3 * 4),
    ] {
        let text = print(name, &owned);
        assert_eq!(text.lines().count(), lines, "{name}");
        same_fields(&text);
    }
    let text = print("jtl", &owned);
    assert!(text.starts_with("timeStamp,elapsed,label,") && text.lines().count() > 1000);
    assert!(text.contains("sampled: 1 of 20"), "{}", &text[..600]);
    same_fields(&text);
}

fn same_fields(text: &str) {
    let counts: Vec<usize> = text.lines().map(fields).collect();
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
}

fn fields(line: &str) -> usize {
    let mut quoted = false;
    let comma = |c: char| {
        quoted ^= c == '"';
        c == ',' && !quoted
    };
    line.chars().map(comma).filter(|comma| *comma).count() + 1
}

#[test]
fn json_is_read_back() {
    let value: serde_json::Value = serde_json::from_str(&print("json", &rich())).expect("JSON");
    assert_eq!(value["header"]["variants"][1]["name"], "omp, unlimited");
    assert_eq!(
        value["analysis"]["comparisons"][0]["verdict"]["word"],
        "slower"
    );
    assert_eq!(value["judged"]["work"][1]["same"], false);
}

#[test]
fn histograms_are_read_back() {
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    let owned = rich();
    let text = print("hdr", &owned);
    let entries: Vec<_> = IntervalLogIterator::new(text.as_bytes())
        .map(|it| it.expect("an entry"))
        .collect();
    let intervals = entries
        .iter()
        .filter(|it| matches!(it, LogEntry::Interval(_)))
        .count();
    assert_eq!(
        intervals,
        owned.run.blocks.iter().filter(|it| it.counts()).count()
    );
    assert!(text.contains("Tag=omp__unlimited,"), "{}", &text[..400]);
}

#[test]
fn prometheus_series_are_unique_and_well_formed() {
    let text = print("prom", &rich());
    let mut seen = std::collections::BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').expect("a value");
        assert!(seen.insert(series.to_owned()), "{series} twice");
        assert!(value.parse::<f64>().is_ok(), "{line}");
        assert!(
            series.ends_with('}') && series.starts_with("andon_lab_"),
            "{line}"
        );
    }
    assert!(text.contains("word=\"SLOWER\"} 1"), "{text}");
}

#[test]
fn markdown_rows_have_as_many_cells_as_their_heads() {
    let text = print("md", &rich());
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines
        .windows(2)
        .filter(|pair| pair.iter().all(|it| it.starts_with('|')))
    {
        assert_eq!(cells(pair[0]), cells(pair[1]), "{pair:?}");
    }
    assert!(text.contains("**SLOWER**") || text.contains("SLOWER"));
}

#[test]
fn the_page_is_well_formed_small_and_alone() {
    for owned in [rich(), empty(), only_failures(), single(), alone()] {
        let page = print("html", &owned);
        well_formed(&page);
        assert!(page.len() < 2_000_000, "{} bytes", page.len());
        for outside in [
            "<script", "http://", "https://", "@import", "url(", "<link", NASTY,
        ] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}

#[test]
fn the_page_shows_every_figure_of_a_run_that_has_them() {
    let page = print("html", &rich());
    for title in [
        "Verdicts",
        "Ratios to the baseline",
        "Pairs",
        "Response times by percentile",
        "The run&#39;s course",
        "Blocks in the order",
        "Single response times",
        "Median response time by URL",
        "System calls per request",
        "Response previews",
        "Tables",
    ] {
        assert!(page.contains(&format!("<h2>{title}")), "{title}");
    }
    assert_eq!(
        page.matches("data:image/png;base64,").count(),
        2,
        "each image once"
    );
    assert!(page.contains("its body was not kept"));
    assert!(page.contains("SSIM 0.94 &lt; 0.98"));
}

#[test]
fn every_figure_at_an_axis_has_a_unit_or_counts_something() {
    let page = print("html", &rich());
    let svg = page.split("The run&#39;s course").nth(1).expect("timeline");
    let svg = svg.split("</figure>").next().expect("its end");
    for unit in [" ms<", " s<", " %<", "/s<"] {
        assert!(svg.contains(unit), "{unit}");
    }
}

/// Asserts that every tag is closed by its counterpart, attributes are quoted and every `&` begins an entity.
fn well_formed(page: &str) {
    let body = page.strip_prefix("<!DOCTYPE html>").expect("a doctype");
    let mut open: Vec<&str> = Vec::new();
    for piece in body.split('<').skip(1) {
        let (tag, text) = piece
            .split_once('>')
            .unwrap_or_else(|| panic!("unclosed: {piece}"));
        assert!(
            open.last() == Some(&"style") || !text.contains('>'),
            "stray >: {piece}"
        );
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "in {piece}");
        } else {
            let name = tag.split([' ', '/']).next().unwrap_or_default();
            assert!(name.chars().all(char::is_alphanumeric), "{piece}");
            assert_eq!(tag.matches('"').count() % 2, 0, "{piece}");
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
        if open.last() != Some(&"style") {
            for entity in piece.split('&').skip(1) {
                let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
                assert!(known.iter().any(|it| entity.starts_with(it)), "{piece}");
            }
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_page_about_thousands_of_urls_and_hundreds_of_blocks_stays_small() {
    let mut owned = rich();
    let block = owned.run.blocks[0].clone();
    while owned.run.blocks.len() < 400 {
        owned.run.blocks.push(block.clone());
    }
    let reply = owned.judgement.typical[0].2.clone();
    for summary in &mut owned.analysis.summaries {
        let url = summary.urls[0].clone();
        summary.urls.resize(2000, url);
    }
    for url in 0..2000 {
        owned.judgement.typical.push((0, url, reply.clone()));
    }
    let page = print("html", &owned);
    well_formed(&page);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(page.contains("left out to keep this file small"));
}
