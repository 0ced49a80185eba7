//! The folder that relative paths of a process are relative to, by its name.

use std::env;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Returns the path of the working folder as the shell has it (`PWD`), with the links that lead there, or else without
/// them. A process stays in a folder that is renamed or replaced; this path leads to the folder that is there now.
///
/// # Errors
/// If the working folder has no path any more.
pub fn working_folder() -> io::Result<PathBuf> {
    let id = |path: &Path| path.metadata().ok().map(|it| (it.dev(), it.ino()));
    let of_shell = env::var_os("PWD").map(PathBuf::from);
    let leads_here = |path: &PathBuf| path.is_absolute() && id(path) == id(Path::new("."));
    of_shell
        .filter(leads_here)
        .map_or_else(env::current_dir, Ok)
}
