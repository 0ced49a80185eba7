//! Locates the programs that count system calls or instructions (strace, valgrind). The laboratory's own `PATH` is
//! used, since the server's may differ.

use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the path of a program, or an error that tells how to install it (its Debian package has the same name).
pub(super) fn find(name: &str) -> Result<String, String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let program = locate(name, &path)
        .ok_or_else(|| format!("{name} is not installed (apt install {name})"))?;
    (program.into_os_string().into_string())
        .map_err(|path| format!("{} is not text", path.to_string_lossy()))
}

/// Returns the last word of the first line that the program prints for `--version`.
pub(super) fn version(program: &str) -> Result<String, String> {
    let output = Command::new(program).arg("--version").output();
    let output = output.map_err(|error| format!("{program} does not start: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let word = text
        .lines()
        .next()
        .and_then(|line| line.split_whitespace().last());
    Ok(word.unwrap_or_default().to_owned())
}

fn locate(name: &str, path: &OsStr) -> Option<PathBuf> {
    env::split_paths(path)
        .map(|folder| folder.join(name))
        .find(|file| executable(file))
}

fn executable(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_by_the_path_and_a_missing_one_is_named_with_its_package() {
        assert!(locate("sh", OsStr::new("/nowhere:/bin")).is_some());
        assert_eq!(locate("sh", OsStr::new("/nowhere")), None);
        assert_eq!(
            find("no-such-tool"),
            Err("no-such-tool is not installed (apt install no-such-tool)".into())
        );
    }
}
