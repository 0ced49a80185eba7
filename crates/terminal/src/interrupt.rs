//! Handles Ctrl-C and SIGTERM. The first signal makes a command stop and report the results so far, the second ends the
//! process at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};

/// Returns a flag that Ctrl-C or SIGTERM sets. A second signal ends the process.
pub fn flag() -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = flag.clone();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    // The handlers are installed before the thread starts, so that no signal from now on ends the process.
    let (mut int, mut term) = {
        let _inside = runtime.enter();
        let [int, term] = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
        (int?, term?)
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            runtime.block_on(async {
                loop {
                    tokio::select! {
                        _ = int.recv() => {}
                        _ = term.recv() => {}
                    }
                    if set.swap(true, Ordering::Relaxed) {
                        // The guard processes notice that this process has ended, and clean up.
                        std::process::exit(130);
                    }
                }
            });
        })?;
    Ok(flag)
}

/// Waits until `due`, and returns `true`. Returns `false` early if `cancel` is set.
pub fn wait_until(due: Instant, cancel: &AtomicBool) -> bool {
    loop {
        if cancel.load(Ordering::Relaxed) {
            return false;
        }
        let wait = due.saturating_duration_since(Instant::now());
        if wait.is_zero() {
            return true;
        }
        std::thread::sleep(wait.min(Duration::from_millis(100)));
    }
}
