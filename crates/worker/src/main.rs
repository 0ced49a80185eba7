//! `andon-worker`: a program for worker processes that can also decode HEIC. It is packaged separately because HEVC is
//! patented. If it is installed beside `andon` or in `../lib/andon`, `andon` runs it in all its worker processes
//! instead of its own executable.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use andon_codecs::{ALL, Fonts, allocator};

fn main() -> ExitCode {
    // Set before a second thread exists and memory is freed.
    allocator::return_free_memory();
    let arguments = std::env::args_os().skip(1);
    match andon_isolation::as_process(ALL, Fonts::adopt, arguments) {
        Some(result) => result.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS),
        None => {
            let version = env!("CARGO_PKG_VERSION");
            eprintln!(
                "andon-worker {version}: `andon serve` and `andon convert` start it, nobody else has to"
            );
            ExitCode::from(2)
        }
    }
}
