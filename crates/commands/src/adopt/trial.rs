//! Runs a temporary server next to the old one.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};
use tempfile::NamedTempFile;

/// An `andon serve` on a free loopback port, which is stopped when this is dropped.
pub(super) struct Trial {
    child: Child,
    /// The server's URL.
    pub(super) url: String,
    /// The temporary configuration file, deleted when this is dropped.
    _config: NamedTempFile,
}

/// Tables and keys that the configuration of a trial server omits, because they concern only the real server, such as
/// its addresses and folders.
const LEFT_OUT: [&str; 6] = ["listen", "tls", "proxy", "metrics", "store", "log"];

/// Removes the environment variables that would set tables and keys of [`LEFT_OUT`] or the disk cache.
fn leave_out_variables(serve: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let Some(key) = name.to_str().and_then(|it| it.strip_prefix("ANDON_")) else {
            continue;
        };
        let table = key.split("__").next().unwrap_or_default();
        let is_left_out = LEFT_OUT.iter().any(|it| table.eq_ignore_ascii_case(it));
        if is_left_out || key.starts_with("CACHE__DISK") {
            serve.env_remove(&name);
        }
    }
}

impl Trial {
    /// Starts a server with the configuration `text`, in which relative paths refer to `folder`.
    pub(super) fn start(text: &str, folder: &Path) -> anyhow::Result<Self> {
        let mut table: toml::Table = toml::from_str(text)?;
        for key in LEFT_OUT {
            table.remove(key);
        }
        if let Some(cache) = table.get_mut("cache").and_then(toml::Value::as_table_mut) {
            cache.remove("disk");
        }
        let log = toml::Table::from_iter([("format".to_owned(), "off".into())]);
        table.insert("log".to_owned(), log.into());
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let mut config = tempfile::Builder::new()
            .prefix(".andon-trial-")
            .suffix(".toml")
            .tempfile_in(folder)
            .with_context(|| format!("cannot write to {}", folder.display()))?;
        std::io::Write::write_all(&mut config, table.to_string().as_bytes())?;
        let mut errors: File = tempfile::tempfile()?;
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut serve = Command::new(program);
        leave_out_variables(&mut serve);
        let mut child = serve
            .args(["serve", "--listen", "127.0.0.1:0", "--config"])
            .arg(config.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(errors.try_clone()?)
            .spawn()
            .context("cannot start the server")?;
        let mut line = String::new();
        if let Some(out) = child.stdout.as_mut() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let url = line
            .strip_prefix("listening on ")
            .and_then(|rest| rest.split(' ').next());
        let Some(url) = url.map(str::to_owned) else {
            let _ = child.kill();
            let _ = child.wait();
            let mut message = String::new();
            errors.rewind()?;
            errors.read_to_string(&mut message)?;
            bail!("the server does not start: {}", message.trim());
        };
        Ok(Self {
            child,
            url,
            _config: config,
        })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        // The process may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the processor time in seconds that a process and its descendants have used, or `None` if /proc does not have
/// it.
pub(super) fn processor_seconds(process: u32) -> Option<f64> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let number = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        if let Some((number, (parent, ticks))) = number.zip(parent_and_ticks(&stat)) {
            all.push((number, parent, ticks));
        }
    }
    let mut family = vec![process];
    let mut ticks = 0;
    let mut exists = false;
    while let Some(id) = family.pop() {
        for (number, parent, own_ticks) in &all {
            if *number == id {
                ticks += own_ticks;
                exists = true;
            }
            if *parent == id {
                family.push(*number);
            }
        }
    }
    exists.then_some(ticks as f64 / TICKS_PER_SECOND)
}

/// Unit of times in /proc: the kernel's USER_HZ, which is 100 on all supported architectures.
const TICKS_PER_SECOND: f64 = 100.0;

/// Parses /proc/PID/stat. Returns the parent, and the ticks in user and kernel mode, including those of children that
/// have ended.
fn parent_and_ticks(stat: &str) -> Option<(u32, u64)> {
    // The name of the program may contain spaces and parentheses.
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let parent = fields.get(1)?.parse().ok()?;
    let times = fields
        .get(11..15)?
        .iter()
        .map(|time| time.parse::<u64>().ok());
    Some((parent, times.sum::<Option<u64>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_behind_any_name() {
        let stat = "42 (a) b (c)) S 7 42 42 0 -1 4194560 1 0 0 0 10 20 3 4 20 0 1 0 1";
        assert_eq!(parent_and_ticks(stat), Some((7, 37)));
        assert_eq!(parent_and_ticks("nonsense"), None);
    }

    #[test]
    fn this_process_has_used_some_time_and_no_process_none() {
        assert!(processor_seconds(std::process::id()).is_some());
        assert_eq!(processor_seconds(u32::MAX), None);
    }
}
