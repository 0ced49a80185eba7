//! Parses the lines of an access log, and detects the format of each line.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{balancer, custom, json, w3c};

/// The request that a log line describes.
#[derive(Debug, PartialEq)]
pub(super) struct Entry {
    /// When the request began, in seconds since 1970.
    pub(super) began: f64,
    /// Whether the log has a resolution of one second, so that `began` is a whole number.
    pub(super) whole_second: bool,
    pub(super) method: String,
    pub(super) target: String,
    pub(super) status: u16,
}

/// A parser of log lines that keeps state: a directive in an earlier line may name the fields of the lines after it.
#[derive(Debug, Default)]
pub(super) struct Lines {
    fields: w3c::Fields,
}

impl Lines {
    /// Parses a line of any supported format. Returns `None` for a directive, and `Some(Err)` with the reason for a
    /// line whose request cannot be replayed.
    pub(super) fn parse(&mut self, line: &str) -> Option<Result<Entry, &'static str>> {
        let is_directive = self.fields.take(line);
        (!is_directive).then(|| usable(self.entry(line)))
    }

    fn entry(&self, line: &str) -> Option<Entry> {
        // Log collectors put a host name and a time before the JSON object of a line.
        let is_object = |(before, rest): &(&str, &str)| {
            !before.contains('"') && rest.trim_start().starts_with('"')
        };
        if let Some((before, _)) = line.split_once('{').filter(is_object) {
            return json::parse(&line[before.len()..], |line| self.entry(line));
        }
        andon(line)
            .or_else(|| common(line))
            .or_else(|| balancer::parse(line))
            .or_else(|| self.fields.parse(line))
            .or_else(|| custom::parse(line))
    }
}

fn usable(entry: Option<Entry>) -> Result<Entry, &'static str> {
    let mut entry = entry.ok_or("no line of an access log that is known here")?;
    if !["GET", "HEAD"].contains(&entry.method.as_str()) {
        return Err("neither GET nor HEAD, and no log tells a body");
    }
    // Proxies log absolute URLs.
    if is_url(&entry.target) {
        entry.target = balancer::target(&entry.target).unwrap_or(entry.target);
    }
    if !entry.target.starts_with('/') || entry.target.ends_with('…') {
        return Err("a target that is not whole");
    }
    Ok(entry)
}

/// Whether a target is an absolute URL.
pub(super) fn is_url(target: &str) -> bool {
    target.starts_with("http://") || target.starts_with("https://")
}

/// Parses a line of Andon's text format: `2026-11-21T19:50:00.123Z 127.0.0.1 GET /a.jpg 200 123B 23.4ms …`. The time in
/// the line is the end of the response.
fn andon(line: &str) -> Option<Entry> {
    let mut words = line.split(' ');
    let end = rfc_3339(words.next()?)?;
    let _client = words.next()?;
    let method = words.next()?.to_owned();
    let target = words
        .next()?
        .replace("\\'", "'")
        .replace("\\\"", "\"")
        .replace("\\\\", "\\");
    let status = words.next()?.parse().ok()?;
    let _bytes = words.next()?.strip_suffix('B')?;
    let took: f64 = words.next()?.strip_suffix("ms")?.parse().ok()?;
    Some(Entry {
        began: end - took / 1e3,
        whole_second: false,
        method,
        target,
        status,
    })
}

/// Parses a time in RFC 3339 format with an offset, such as `2000-10-10T13:55:36-07:00`, and returns seconds since
/// 1970.
pub(super) fn zoned(text: &str) -> Option<f64> {
    let (local, zone) = text.split_at_checked(text.len().checked_sub(6)?)?;
    let ahead = offset(&zone.replace(':', ""))?;
    Some(rfc_3339(&format!("{local}Z"))? - ahead)
}

/// Parses a line of the common or combined log format, with any text before or after it: `HOST - USER
/// [10/Oct/2000:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 2326 …`.
fn common(line: &str) -> Option<Entry> {
    let (_, rest) = line.split_once('[')?;
    let (date, rest) = rest.split_once("] \"")?;
    let (request, rest) = rest.split_once("\" ")?;
    let mut words = request.split(' ');
    Some(Entry {
        began: day(date)?,
        whole_second: true,
        method: words.next()?.to_owned(),
        target: words.next()?.to_owned(),
        status: rest.split(' ').next()?.parse().ok()?,
    })
}

pub(super) fn rfc_3339(text: &str) -> Option<f64> {
    seconds(humantime::parse_rfc3339(text).ok()?)
}

fn seconds(time: SystemTime) -> Option<f64> {
    let since: Duration = time.duration_since(UNIX_EPOCH).ok()?;
    Some(since.as_secs_f64())
}

/// Parses a time such as `10/Oct/2000:13:55:36 -0700`, and returns seconds since 1970.
pub(super) fn day(text: &str) -> Option<f64> {
    let (local, zone) = text.split_once(' ')?;
    let mut parts = local.splitn(3, '/');
    let (day, month, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let (year, clock) = rest.split_once(':')?;
    let local = rfc_3339(&format!("{year}-{month:02}-{day}T{clock}Z"))?;
    Some(local - offset(zone)?)
}

/// Parses an offset from UTC such as `-0700`, and returns it in seconds, positive east of Greenwich.
fn offset(zone: &str) -> Option<f64> {
    let (hours, minutes) = (zone.get(1..3)?, zone.get(3..5)?);
    let ahead = hours.parse::<f64>().ok()? * 3600.0 + minutes.parse::<f64>().ok()? * 60.0;
    match zone.get(..1)? {
        "-" => Some(-ahead),
        "+" => Some(ahead),
        _ => None,
    }
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Entry, &'static str> {
        Lines::default().parse(line).expect("no directive")
    }

    #[test]
    fn each_kind_of_line_tells_the_same() {
        let text = "2000-10-10T20:55:37.000Z unix GET /a(b='c').jpg?x=\\\"1\\\" 200 123B 1000.0ms read=1.2";
        let json = r#"{"time":"2000-10-10T20:55:37.000Z","client":"unix","method":"GET","target":"/a(b='c').jpg?x=\"1\"","status":200,"bytes":1,"total_ms":1000.0}"#;
        let combined = r#"shop.example:80 127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a(b='c').jpg?x=%221%22 HTTP/1.0" 200 2326 "http://h/[x]" "Mozilla""#;
        let of = |line| parse(line).expect("known");
        assert_eq!(of(text), of(json));
        assert_eq!(of(text).target, "/a(b='c').jpg?x=\"1\"");
        let common = of(combined);
        assert_eq!(common.began, of(text).began);
        assert!(common.whole_second && common.status == 200);
        assert_eq!(common.target, "/a(b='c').jpg?x=%221%22");
    }

    #[test]
    fn json_of_other_servers_tells_the_same() {
        for line in [
            r#"{"level":"info","ts":971211336.5,"request":{"method":"GET","uri":"/a.jpg?w=1","host":"h"},"status":200,"duration":0.01}"#,
            r#"{"StartUTC":"2000-10-10T20:55:36.5Z","RequestMethod":"GET","RequestPath":"/a.jpg?w=1","DownstreamStatus":200}"#,
            r#"{"time_iso8601":"2000-10-10T13:55:36-07:00","request":"GET /a.jpg?w=1 HTTP/1.1","status":"200"}"#,
            r#"{"date":"2000-10-10","time":"20:55:36","x-edge-location":"LAX1","cs-method":"GET","cs-uri-stem":"/a.jpg","cs-uri-query":"w=1","sc-status":"200"}"#,
            r#"{"msec":"971211336.5","request_method":"GET","request_uri":"/a.jpg?w=1","status":"200"}"#,
            r#"{"ClientRequestMethod":"GET","ClientRequestURI":"/a.jpg?w=1","EdgeResponseStatus":200,"EdgeStartTimestamp":971211336500000000}"#,
            r#"{"timestamp":"2000-10-10T20:55:36Z","url":"https://h/a.jpg?w=1","request_method":"GET","response_status":200}"#,
            r#"{"httpRequest":{"requestMethod":"GET","requestUrl":"https://h/a.jpg?w=1","status":200},"timestamp":"2000-10-10T20:55:36.123Z"}"#,
            r#"{"@timestamp":"2000-10-10T20:55:36.5Z","http":{"request":{"method":"GET"},"response":{"status_code":"200"}},"url":{"original":"/a.jpg?w=1"}}"#,
            r#"{"time":"2000-10-10T20:55:36Z","method":"GET","uri":"/a.jpg","args":"w=1","status":200}"#,
            r#"{"time":"2000-10-10T20:55:36Z","level":"info","message":"Completed in 13ms /a.jpg?w=1","method":"GET","status":200}"#,
            r#"{"log":"h - - [10/Oct/2000:20:55:36 +0000] \"GET /a.jpg?w=1 HTTP/1.1\" 200 9\n","stream":"stdout","time":"2000-10-10T20:55:37Z"}"#,
            r#"{"time":"2000-10-10T20:55:36Z","properties":{"httpMethod":"GET","requestUri":"https://h:443/a.jpg?w=1","httpStatusCode":"200"}}"#,
            r#"{"time":"10/Oct/2000:20:55:36 +0000","request":"/a.jpg","query":"?w=1","method":"GET","status":"200"}"#,
            r#"web-1  | {"time":"2000-10-10T20:55:36Z","method":"GET","target":"/a.jpg?w=1","status":200}"#,
        ] {
            let entry = parse(line).expect(line);
            assert_eq!(entry.target, "/a.jpg?w=1", "{line}");
            assert_eq!(
                (entry.method.as_str(), entry.status),
                ("GET", 200),
                "{line}"
            );
            assert_eq!(entry.began.floor(), 971_211_336.0, "{line}");
        }
    }

    #[test]
    fn what_cannot_be_asked_again_is_said_to_be_so() {
        let line =
            |request: &str| format!(r#"h - - [10/Oct/2000:13:55:36 +0000] "{request}" 200 1"#);
        assert!(
            parse(&line("POST /x HTTP/1.1"))
                .expect_err("a body")
                .contains("body")
        );
        assert!(
            parse(&line("GET * HTTP/1.1"))
                .expect_err("no path")
                .contains("not whole")
        );
        for other in [
            "",
            "-",
            "nonsense",
            "{}",
            "h - - [today] \"GET / HTTP/1.0\" 200 1",
        ] {
            assert!(parse(other).expect_err(other).contains("known here"));
        }
    }
}
