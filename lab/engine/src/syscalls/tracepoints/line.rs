//! The lines of the kernel's trace: `COMMAND-THREAD [CPU] FLAGS SECOND: what`, where `what` is `sys_NAME(…)` at the
//! beginning of a call and `sys_NAME -> 0xRESULT` at its end.

use crate::syscalls::trace::{Call, Line, Time};

/// Parses a line of the trace. `None` if it is neither a call nor a notice of lost calls.
pub(super) fn parse(line: &str) -> Option<Line<'_>> {
    if line.starts_with("CPU:") && line.contains("[LOST ") {
        return Some(Line::Lost);
    }
    // The command itself may contain brackets and spaces.
    let calls = line.match_indices(" [");
    let call = calls.filter_map(|(at, _)| call(line.get(..at)?, line.get(at + 2..)?));
    call.map(Line::Call).next()
}

/// Parses a call from the parts of a line before and after the opening bracket of the CPU number.
fn call<'a>(before: &str, after: &'a str) -> Option<Call<'a>> {
    let (_, thread) = before.rsplit_once('-')?;
    let (cpu, rest) = after.split_once("] ")?;
    cpu.parse::<u32>().ok()?;
    let (_flags, rest) = rest.trim_start().split_once(' ')?;
    let (second, what) = rest.trim_start().split_once(": ")?;
    let what = what.strip_prefix("sys_")?;
    let end = what.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')?;
    let (name, rest) = what.split_at(end);
    let result = rest.strip_prefix(" -> ");
    if result.is_none() && !rest.starts_with('(') {
        return None;
    }
    Some(Call {
        thread: thread.trim_end().parse().ok()?,
        name: usual(name),
        begins: result.is_none(),
        failed: result.is_some_and(failed),
        time: Time::At(second.parse().ok()?),
    })
}

/// Returns the text of the marker with this number, which the laboratory writes into the kernel's trace.
pub(super) fn mark(number: u32) -> String {
    format!("andon-lab {number}\n")
}

/// Whether this complete line of the trace is the marker with this number.
pub(super) fn is_mark(line: &str, number: u32) -> bool {
    line.ends_with(&format!(": tracing_mark_write: {}", mark(number)))
}

/// Whether the result of a call, in hexadecimal, is an error number. A call that is resumed after a signal
/// (`ERESTARTSYS` and the like) has not failed.
fn failed(result: &str) -> bool {
    let digits = result.trim_end().trim_start_matches("0x");
    let number = u64::from_str_radix(digits, 16).map_or(0, |bits| bits as i64);
    // A call that a signal interrupts (`ERESTARTSYS` and the like) is continued later, so it has not failed.
    (-4095..0).contains(&number) && !(-516..=-512).contains(&number)
}

/// Returns the name that programs, manuals and strace use for a system call, where the kernel's own name differs.
fn usual(name: &str) -> &str {
    match name {
        "newstat" => "stat",
        "newfstat" => "fstat",
        "newlstat" => "lstat",
        "newuname" => "uname",
        "sendfile64" => "sendfile",
        "fadvise64_64" => "fadvise64",
        "umount" => "umount2",
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syscalls::trace::count;

    #[test]
    fn calls_are_timed_from_their_beginning_to_their_end_in_the_same_thread() {
        let trace = "\
          python3-17      [000] ..... 10.000001: sys_openat(dfd: ffffff9c, filename: 7f71, flags: 80000, mode: 0)
 ev-il [001] x: y-18      [001] ..... 10.000002: sys_futex(uaddr: 7f, op: 189, val: 0)
          python3-17      [000] ..... 10.000011: sys_openat -> 0xfffffffffffffffe
          python3-17      [000] d..1. 10.000020: sys_sendfile64(out_fd: 4, in_fd: 5, offset: 0, count: 6)
          python3-17      [001] ..... 10.000050: sys_sendfile64 -> 0x6
           <...>-99      [001] ..... 10.100000: tracing_mark_write: andon-lab 3
 ev-il [001] x: y-18      [001] ..... 10.250002: sys_futex -> 0xfffffffffffffe00
            child-19      [000] ..... 10.300000: sys_clone -> 0x0
          python3-20      [000] ..... 10.400000: sys_exit_group(error_code: 0)
            other-20      [000] ..... 10.500000: sys_clone -> 0x0
";
        let counts = count(trace.as_bytes(), parse).expect("reads");
        let of = |name: &str| counts[name];
        let names: Vec<_> = counts.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["clone", "exit_group", "futex", "openat", "sendfile"]
        );
        assert_eq!((of("openat").calls, of("openat").errors), (1, 1));
        assert!((of("openat").seconds - 10e-6).abs() < 1e-9);
        assert_eq!((of("sendfile").calls, of("sendfile").errors), (1, 0));
        // The call was interrupted by a signal.
        assert_eq!((of("futex").calls, of("futex").errors), (1, 0));
        assert!((of("futex").seconds - 0.25).abs() < 1e-9);
        // A child process returns from `clone` without having called it.
        assert_eq!((of("clone").calls, of("clone").timed), (0, 0));
        assert_eq!((of("exit_group").calls, of("exit_group").timed), (1, 0));
    }

    #[test]
    fn marks_are_told_from_each_other_and_from_calls() {
        let line = "           andon-99      [001] ..... 10.1: tracing_mark_write: andon-lab 3\n";
        assert!(is_mark(line, 3) && !is_mark(line, 33));
        assert!(!is_mark(line.trim_end(), 3), "torn");
        assert_eq!(parse(line), None);
    }

    #[test]
    fn lost_calls_are_an_error_and_torn_lines_are_passed_over() {
        assert_eq!(parse("CPU:1 [LOST 4711 EVENTS]\n"), Some(Line::Lost));
        assert!(count("CPU:0 [LOST 1 EVENTS]\n".as_bytes(), parse).is_err());
        for line in [
            "",
            "python3-17 [000] ..... 10.000001: sys_ope",
            "python3-17 [000] ..... sys_openat(",
            "python3-x [000] ..... 10.000001: sys_openat(",
            "# tracer: nop",
            "cat: /sys/kernel/tracing/x: No such device",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
