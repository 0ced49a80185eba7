//! The path of the working folder, to which a process's relative paths are relative.

use std::env;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Returns the path of the working folder, with symbolic links as the shell has followed them (`PWD`) or, if `PWD` does
/// not lead to this folder, with links resolved. If the folder is replaced by another of the same name, the path leads to
/// the new one, whereas the process stays in the old one.
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
