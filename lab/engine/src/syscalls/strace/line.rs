//! The lines that strace writes: one per call, or two if output of other threads came in between. Each line is written
//! before the traced thread continues.

use crate::syscalls::trace::{Call, Line, Time};

/// Parses `PID name(…) = result <seconds>`, its first half `PID name(… <unfinished ...>`, or its second half `PID <...
/// name resumed>…) = result <seconds>`. Returns `None` for anything else.
pub(super) fn parse(line: &str) -> Option<Line<'_>> {
    let (thread, rest) = line.trim_end().split_once(' ')?;
    let rest = rest.trim_start();
    let (name, begins) = match rest.strip_prefix("<... ") {
        Some(resumed) => (resumed.split_once(" resumed>")?.0, false),
        None => (rest.split_once('(')?.0, true),
    };
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if name.is_empty() || !name.bytes().all(is_name_byte) {
        return None;
    }
    let result = match rest.rsplit_once(" = ") {
        Some((_, result)) if !rest.ends_with("<unfinished ...>") => result,
        _ => "",
    };
    let time = result.rsplit_once('<').map(|(_, time)| time);
    let seconds = time.and_then(|time| time.strip_suffix('>')?.parse().ok());
    Some(Line::Call(Call {
        thread: thread.parse().ok()?,
        name,
        begins,
        // A call that a signal interrupts (`ERESTARTSYS` and the like) is continued later, so it has not failed.
        failed: result.starts_with("-1 E") && !result.starts_with("-1 ERESTART"),
        time: seconds.map_or(Time::Unknown, Time::Took),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syscalls::trace::count;

    #[test]
    fn calls_that_others_interrupt_count_once_with_their_outcome() {
        let trace = "\
17 openat(0xffffff9c, 0x7f71, 0x80000, 0) = -1 ENOENT (No such file or directory) <0.000011>
17 openat(0xffffff9c, 0x7f71, 0x80000, 0) = 0x3 <0.000009>
17 futex(0x1f16cce0, 0x189, 0 <unfinished ...>
18 clock_nanosleep(0x1, 0x1)         = -1 ERESTARTNOHAND (Unknown error 514) <0.5>
17 <... futex resumed>)              = -1 EAGAIN (Resource temporarily unavailable) <0.25>
18 exit_group(0)                     = ?
17 <... wait4 resumed>)              = 0x12 <1.5>
17 --- SIGCHLD {si_signo=SIGCHLD} ---
18 +++ exited with 0 +++
";
        let counts = count(trace.as_bytes(), parse).expect("reads");
        let of = |name: &str| counts[name];
        let names: Vec<_> = counts.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["clock_nanosleep", "exit_group", "futex", "openat", "wait4"]
        );
        assert_eq!((of("openat").calls, of("openat").errors), (2, 1));
        assert!((of("openat").seconds - 20e-6).abs() < 1e-12);
        assert_eq!((of("futex").calls, of("futex").errors), (1, 1));
        assert_eq!(of("futex").seconds, 0.25);
        assert_eq!(of("clock_nanosleep").errors, 0);
        assert_eq!((of("exit_group").calls, of("exit_group").timed), (1, 0));
        // The call began before the window.
        assert_eq!((of("wait4").calls, of("wait4").timed), (0, 1));
    }

    #[test]
    fn torn_and_foreign_lines_are_passed_over() {
        for line in [
            "",
            "17",
            "17 fut",
            "ex(0x1) = 0 <0.1>",
            "17 <... futex",
            "strace: hello (1)",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
