//! `andon lab` and `andon tune`: replace this process by the laboratory, which is a separate program.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Compare servers, or settings of one server, and report which is faster (starts andon-lab)
#[derive(clap::Args)]
#[command(disable_help_flag = true, after_help = LAB_EXAMPLES)]
pub(crate) struct Lab {
    /// Arguments for andon-lab: its commands and their options
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "WORD"
    )]
    words: Vec<OsString>,
}

/// Try the few settings that matter on this machine, and recommend a configuration (starts andon-lab)
#[derive(clap::Args)]
#[command(disable_help_flag = true, after_help = TUNE_EXAMPLES)]
pub(crate) struct Tune {
    /// Arguments for andon-lab tune: its folder and options
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "WORD"
    )]
    words: Vec<OsString>,
}

const LAB_EXAMPLES: &str = "\
Examples:
  andon lab quick -e OMP_NUM_THREADS=,1 -c 10 -n 500 -L urls.txt -- ./server --port {port}
  andon lab bench http://127.0.0.1:8080/a.jpg -c 10 -n 1000
  andon lab --help";

const TUNE_EXAMPLES: &str = "\
Examples:
  andon tune --quick
  andon tune ~/photos
  andon tune --help";

/// Replaces this process by `andon-lab` with the given arguments.
pub(crate) fn run(args: &Lab) -> ExitCode {
    become_lab(&args.words, NOT_UNDERSTOOD)
}

/// Replaces this process by `andon-lab tune` with the given arguments, to tune the server in this executable.
pub(crate) fn tune(args: &Tune) -> ExitCode {
    let mut words = vec![OsString::from("tune")];
    if let Ok(server) = env::current_exe() {
        words.extend([OsString::from("--server"), server.into()]);
    }
    words.extend_from_slice(&args.words);
    become_lab(&words, FAILED)
}

/// Replaces this process by `andon-lab`. Returns only if that fails, with the exit code `code`.
fn become_lab(words: &[OsString], code: u8) -> ExitCode {
    let error = match laboratory() {
        Some(program) => {
            let error = Command::new(&program).args(words).exec();
            format!("{} cannot be started: {error}", program.display())
        }
        None => "the laboratory is a program of its own, `andon-lab`, which is neither beside this one nor in PATH. \
                 Install the package andon-lab, or build it in a clone: cargo build --release --manifest-path lab/Cargo.toml"
            .to_owned(),
    };
    eprintln!("andon: {error}");
    ExitCode::from(code)
}

/// Returns the path of the program `andon-lab` in the same folder as this one, or else of the first one in `PATH`.
fn laboratory() -> Option<PathBuf> {
    let executable = env::current_exe().ok();
    let own_folder = executable.as_deref().and_then(std::path::Path::parent);
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = own_folder
        .map(PathBuf::from)
        .into_iter()
        .chain(env::split_paths(&path));
    folders
        .map(|folder| folder.join("andon-lab"))
        .find(|file| file.is_file())
}

/// The laboratory's exit code if a command could not be carried out. Its exit code 1 means a regression.
const NOT_UNDERSTOOD: u8 = 4;
const FAILED: u8 = 1;
