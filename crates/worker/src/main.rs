//! `andon-worker`: the program of the worker processes of a server that reads HEIC by them. It is in a package of its own,
//! because HEVC is patented; the server finds it beside itself or in `../lib/andon`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use andon_codecs::{ALL, Fonts, allocator};

fn main() -> ExitCode {
    // Before there is a second thread, and anything to free.
    allocator::return_free_memory();
    let arguments = std::env::args_os().skip(1);
    match andon_isolation::as_process(ALL, Fonts::adopt, arguments) {
        Some(ended) => ended.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS),
        None => {
            let version = env!("CARGO_PKG_VERSION");
            eprintln!(
                "andon-worker {version}: `andon serve` and `andon convert` start it, nobody else has to"
            );
            ExitCode::from(2)
        }
    }
}
