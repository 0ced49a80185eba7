//! `andon-worker`: the program of the worker processes in which a server decodes HEIC. It is a separate package because HEVC is
//! patented. The server finds it in its own directory or in `../lib/andon`.

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
