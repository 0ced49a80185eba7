//! Prints the comparison of Andon with other libraries, by format and size, as tables that fit on one screen.

use crate::compare::{Run, of, ratios, sides};
use crate::engines::{Contestant, Format};
use crate::memory::Peak;
use crate::stats::{geometric_mean, mean};

const LEGEND: &str = "\
One thread unless said otherwise; all at q 80, 4:2:0, without metadata, of equal size.
images/s  geometric mean over the photos of 1 / median time; runs interleaved there and back
Andon ×   how many times as many images Andon makes (lowest and highest photo); CPU × the same
          by processor time, which other programs on the machine disturb less
PSNR      of R, G and B in dB, SSIM of luma: mean, against a full decode and Lanczos3 in floats
peak RSS  of a process of its own; idle: what was there before the first photo";

/// Prints one table per format and side.
pub(crate) fn print(run: &Run) {
    let machine = &run.machine;
    println!(
        "{} × {} cores, Linux {}; {}; load before: {}",
        machine.processor,
        machine.cores,
        machine.kernel,
        machine.peers.join(", "),
        machine.load_before
    );
    println!("{LEGEND}");
    for format in Format::ALL {
        for side in sides(&run.results, format) {
            print_one(run, format, side);
        }
    }
}

fn print_one(run: &Run, format: Format, side: u32) {
    let ours = of(&run.results, Contestant::Andon, format, side);
    println!(
        "\nJPEG → {}, longest side {side} px, {} photos",
        format.name(),
        ours.len()
    );
    println!(
        "{:29}{:>9}{:>9}  {:14}{:>6}{:>7}{:>8}{:>8}  peak RSS",
        "", "images/s", "Andon ×", "(range)", "CPU ×", "PSNR", "SSIM", "bytes"
    );
    for &contestant in Contestant::ALL {
        let theirs = of(&run.results, contestant, format, side);
        if theirs.is_empty() {
            continue;
        }
        let rate = geometric_mean(theirs.iter().map(|one| 1.0 / one.median_seconds));
        let ratios = ratios(&ours, &theirs);
        let cpu_ratios = ours
            .iter()
            .zip(&theirs)
            .map(|(our, their)| their.median_cpu_seconds / our.median_cpu_seconds);
        let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ratios.iter().copied().fold(0.0, f64::max);
        println!(
            "{:29}{:>9.1}{:>9.2}  {:14}{:>6.2}{:>7.2}{:>8.4}{:>8.0}  {}",
            contestant.name(),
            rate,
            geometric_mean(ratios.iter().copied()),
            format!("({low:.2}–{high:.2})"),
            geometric_mean(cpu_ratios),
            mean(theirs.iter().map(|one| one.psnr)),
            mean(theirs.iter().map(|one| one.ssim)),
            mean(theirs.iter().map(|one| one.bytes as f64)),
            memory(&run.memory, contestant, format, side),
        );
    }
}

fn memory(peaks: &[Peak], contestant: Contestant, format: Format, side: u32) -> String {
    peaks
        .iter()
        .find(|peak| (peak.contestant, peak.format, peak.side) == (contestant, format, side))
        .map_or_else(String::new, |peak| {
            let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
            format!(
                "{:.0} MiB ({:.0} idle)",
                mib(peak.peak_bytes),
                mib(peak.idle_bytes)
            )
        })
}
