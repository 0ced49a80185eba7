//! Parses lines of custom log formats, such as an nginx `log_format` with the time before the request, HAProxy's or
//! thumbor's format: lines that contain a method, a target, a status and a time, in any order.

use super::line::{Entry, day, is_url, rfc_3339, zoned};

/// Parses a line of a custom format, in which a time, a method, a target and a status stand in any order. Returns
/// `None` if one of them is missing. Tries each separator (`|`, whitespace, comma, semicolon) until one makes the
/// method a field of its own. Quotes around fields are ignored.
pub(super) fn parse(line: &str) -> Option<Entry> {
    let began = moment(line)?;
    let is_named_method = |field: &&str| is_method(value(field, &METHOD));
    let (fields, at) = SEPARATORS.iter().find_map(|is_separator| {
        let fields: Vec<&str> = line.split(is_separator).map(bare).collect();
        let at = fields.iter().position(is_named_method)?;
        Some((fields, at))
    })?;
    let (before, after) = fields.split_at(at);
    let is_target = |field: &&&str| {
        let target = value(field, &TARGET);
        target.starts_with('/') || is_url(target)
    };
    // With a label such as `method=GET`, the method may also be behind the target, as imgproxy writes it.
    let target = match is_method(fields[at]) {
        true => after.iter().find(is_target)?,
        false => before.iter().chain(after).find(is_target)?,
    };
    let status = |field: &&str| status(value(field, &STATUS));
    let status = (after.iter().find_map(status)).or_else(|| before.iter().find_map(status))?;
    Some(Entry {
        began,
        whole_second: began.fract() == 0.0,
        method: value(fields[at], &METHOD).to_owned(),
        target: value(target, &TARGET).to_owned(),
        status,
    })
}

const SEPARATORS: [fn(char) -> bool; 4] = [
    |c| c == '|',
    |c| c.is_whitespace(),
    |c| c == ',',
    |c| c == ';',
];

/// Names that may precede the method in its field, as in `method=GET`.
const METHOD: [&str; 3] = ["method", "req", "request"];
const TARGET: [&str; 4] = ["path", "uri", "url", "request_uri"];
const STATUS: [&str; 2] = ["status", "code"];

/// Returns a field without the quotes around it.
fn bare(field: &str) -> &str {
    field.trim().trim_matches('"')
}

/// Returns the value of a field, without its label if it is written as `name=value` or `name:value` with one of
/// `names`.
fn value<'a>(field: &'a str, names: &[&str]) -> &'a str {
    let named = field
        .split_once(['=', ':'])
        .filter(|(name, _)| names.contains(name));
    named.map_or(field, |(_, value)| value).trim_matches('"')
}

fn is_method(word: &str) -> bool {
    let methods = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PURGE",
    ];
    methods.contains(&word)
}

fn status(word: &str) -> Option<u16> {
    let is_status = word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_digit());
    let status = word.parse().ok().filter(|_| is_status)?;
    (100..600).contains(&status).then_some(status)
}

/// Returns the first time in a line, in seconds since 1970. Its format may be that of RFC 3339, the common log format
/// with or without a time zone, a date and a time separated by a space, or seconds with a fraction, such as nginx's
/// `$msec`.
fn moment(line: &str) -> Option<f64> {
    let separators = |c: char| c.is_whitespace() || "[]|\",;".contains(c);
    let words: Vec<&str> = line
        .split(separators)
        .map(|word| value(word, &["time", "ts"]))
        .filter(|word| !word.is_empty())
        .collect();
    let pairs = words.iter().zip(words.iter().skip(1).chain([&""]));
    let mut pairs = pairs.filter(|(word, _)| word.len() >= 10);
    pairs.find_map(|(word, next)| {
        let is_epoch = || {
            let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            let parts = word.split_once('.');
            parts.is_some_and(|(seconds, rest)| {
                (9..=10).contains(&seconds.len()) && digits(seconds) && digits(rest)
            })
        };
        rfc_3339(word)
            .or_else(|| zoned(word))
            .or_else(|| day(&format!("{word} {next}")))
            .or_else(|| day(&format!("{word} +0000")))
            .or_else(|| rfc_3339(&format!("{word}T{next}Z")))
            .or_else(|| word.parse().ok().filter(|_| is_epoch()))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns lines of several formats for one request with this target and status.
    fn lines(target: &str, status: u16) -> Vec<String> {
        vec![
            format!(
                r#"10.0.0.1 - h.example [10/Oct/2000:13:55:36 -0700] 0.042 "GET {target} HTTP/1.1" {status} 482 "-" HIT"#
            ),
            format!(
                r#"10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] h.example 0.042 "GET {target} HTTP/1.1" {status} 482 "-" "UA""#
            ),
            format!(
                "2000-10-10T20:55:36+00:00|10.0.0.1|h|GET|{target}|HTTP/1.1|{status}|482|0.042"
            ),
            format!(
                r#"Oct 10 20:55:36 lb haproxy[1]: 10.0.0.1:3 [10/Oct/2000:20:55:36.000] in s/1 1/0/3/6/109 {status} 275 - - ---- 1/1 0/0 {{h}} "GET {target} HTTP/1.1""#
            ),
            format!(
                "2000-10-10 20:55:36 tornado.access:INFO {status} GET {target} (10.0.0.1) 12.34ms"
            ),
            format!(
                r#"INFO [2000-10-10T20:55:36Z] Completed in 1ms {target} request_id=a method=GET status={status} client_ip="10.0.0.1""#
            ),
            format!(
                r#"time="2000-10-10T20:55:36Z" level=info method=GET path={target} status={status} took=1ms"#
            ),
            format!(
                "time:[10/Oct/2000:20:55:36 +0000]\thost:h\treq:GET {target} HTTP/1.1\tstatus:{status}\tsize:482"
            ),
            format!(
                r#"[2000-10-10T20:55:36.000Z] "GET {target} HTTP/2" {status} - 154 0 226 "10.0.0.1" "a""#
            ),
            format!("971211336.000 GET https://h.example{target} {status} 0.01"),
        ]
    }

    #[test]
    fn a_format_is_read_by_what_its_fields_look_like() {
        let separated = ["2000-10-10T20:55:36Z,h,GET,/unsafe/300x200/a.jpg?w=1,304,9".to_owned()];
        for line in lines("/unsafe/300x200/a.jpg?w=1", 304)
            .into_iter()
            .chain(separated)
        {
            let entry = parse(&line).expect(&line);
            let target = entry.target.trim_start_matches("https://h.example");
            assert_eq!(target, "/unsafe/300x200/a.jpg?w=1", "{line}");
            assert_eq!((&*entry.method, entry.status), ("GET", 304), "{line}");
            assert_eq!(entry.began, 971_211_336.0, "{line}");
        }
    }

    #[test]
    fn what_has_no_request_status_or_time_is_no_line() {
        for line in [
            r#"2026/11/29 04:30:55 [error] 1#1: *16 open() "/a.jpg" failed, request: "GET /a.jpg HTTP/1.1", host: "h""#,
            "INFO [2000-10-10T20:55:36Z] Started /a.jpg request_id=a method=GET",
            "[today] 0.1 \"GET /a HTTP/1.0\" 200 1",
            "2000-10-10T20:55:36Z listening on /run/a.sock 200",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn targets_of_all_letters_that_clients_send_are_taken_whole(
            target in "/[!#-{}~]{0,40}",
            status in 100_u16..600,
        ) {
            prop_assume!(!target.contains('|'));
            for line in lines(&target, status) {
                let entry = parse(&line).expect("a line");
                prop_assert_eq!(entry.target.trim_start_matches("https://h.example"), &target);
                prop_assert_eq!(entry.status, status);
            }
        }

        #[test]
        fn no_line_panics(line in "[ -~éé\t]{0,120}") {
            parse(&line);
        }
    }
}
