//! Parses logs in the W3C Extended Log File Format, whose directive `#Fields` names the fields of the lines after it:
//! access logs of Amazon CloudFront, with tabs between fields, and of other servers, with spaces.

use percent_encoding::percent_decode_str;

use super::line::{Entry, rfc_3339};

/// The names of the fields in a line, in their order.
#[derive(Debug)]
pub(super) struct Fields {
    names: Vec<String>,
    /// Whether the log has a `#Fields` directive.
    is_given: bool,
}

impl Default for Fields {
    /// The fields of CloudFront's standard logs, for a log without a `#Fields` directive.
    fn default() -> Self {
        Self {
            names: names(OF_CLOUDFRONT),
            is_given: false,
        }
    }
}

const OF_CLOUDFRONT: &str = "date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query";

fn names(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

impl Fields {
    /// Updates the field names if the line is a `#Fields` directive. Returns `false` if the line is not a directive.
    pub(super) fn take(&mut self, line: &str) -> bool {
        if let Some(list) = line.strip_prefix("#Fields:") {
            self.names = names(list);
            self.is_given = true;
        }
        line.starts_with('#')
    }

    /// Parses a line with these fields. Returns `None` if the line does not have them.
    pub(super) fn parse(&self, line: &str) -> Option<Entry> {
        let values: Vec<&str> = match line.contains('\t') {
            true => line.split('\t').collect(),
            false if self.is_given => line.split(' ').collect(),
            false => return None,
        };
        // Newer versions of CloudFront's format have further fields at the end.
        if values.len() < self.names.len() {
            return None;
        }
        entry(|name| {
            let place = self.names.iter().position(|field| field == name)?;
            values.get(place).copied()
        })
    }
}

/// Builds the request from its fields, which `value` looks up by name. Its time has a resolution of one second.
pub(super) fn entry<'a>(value: impl Fn(&str) -> Option<&'a str>) -> Option<Entry> {
    let (date, time) = (value("date")?, value("time")?);
    let escapes = value("x-edge-location").is_some();
    let part = |text: &str| match escapes {
        true => unescaped(text),
        false => text.to_owned(),
    };
    let mut target = part(value("cs-uri-stem")?);
    if let Some(query) = value("cs-uri-query").filter(|query| !["-", ""].contains(query)) {
        target = format!("{target}?{}", part(query));
    }
    Some(Entry {
        began: rfc_3339(&format!("{date}T{time}Z"))?.floor(),
        whole_second: true,
        method: value("cs-method")?.to_owned(),
        target,
        status: value("sc-status")?.parse().ok()?,
    })
}

/// Undoes the percent-encoding that CloudFront applies to a field, percent signs included: `%2520` stands for `%20`.
/// A field whose decoded text could not be a request target was not encoded in this way, and is returned unchanged.
fn unescaped(text: &str) -> String {
    let decoded = percent_decode_str(text).decode_utf8().ok();
    let is_target = |text: &str| text.chars().all(|c| c.is_ascii_graphic());
    match decoded {
        Some(decoded) if is_target(&decoded) => decoded.into_owned(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
    use proptest::prelude::*;

    use super::*;

    fn parsed(log: &str) -> Vec<Option<Entry>> {
        let mut fields = Fields::default();
        let mut entries = Vec::new();
        for line in log.lines().filter(|line| !line.is_empty()) {
            if !fields.take(line) {
                entries.push(fields.parse(line));
            }
        }
        entries
    }

    #[test]
    fn a_log_of_cloudfront_is_read_with_and_without_its_directives() {
        let line = "2019-12-04\t21:02:31\tLAX1\t392\t192.0.2.100\tGET\td111.cloudfront.net\t/a%2520b.jpg\t200\t-\tMozilla/5.0%20(X11)\tw=64&q=%257B\t-\tHit\tSOX4xw==\td111.cloudfront.net\thttps\t23\t0.001";
        let head = "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken\n";
        for log in [format!("{head}{line}\n"), line.to_owned()] {
            let [Some(entry)] = &parsed(&log)[..] else {
                panic!("one entry: {log}");
            };
            assert_eq!(entry.target, "/a%20b.jpg?w=64&q=%7B");
            assert_eq!((entry.method.as_str(), entry.status), ("GET", 200));
            assert_eq!(entry.began, 1_575_493_351.0);
            assert!(entry.whole_second);
        }
    }

    #[test]
    fn each_directive_counts_for_the_lines_below_it() {
        let log = "#Fields: date time cs-method cs-uri-stem cs-uri-query sc-status\n2019-12-04 21:02:31 GET /a%20b.jpg - 304\n\
                   #Fields: sc-status cs-uri-stem cs-method time date\n200\t/b.jpg\tHEAD\t21:02:32\t2019-12-04\n200 /short\n";
        let entries = parsed(log);
        let told: Vec<_> = entries
            .iter()
            .map(|it| it.as_ref().map(|it| (&*it.target, it.status)))
            .collect();
        assert_eq!(
            told,
            [Some(("/a%20b.jpg", 304)), Some(("/b.jpg", 200)), None]
        );
    }

    #[test]
    fn a_field_that_is_not_escaped_twice_stays_as_it_is() {
        for (text, is) in [
            ("/a%2520b", "/a%20b"),
            ("/a%20b", "/a%20b"),
            ("/%C3%BC", "/%C3%BC"),
            ("/%25C3%25BC", "/%C3%BC"),
            ("/a%7Eb", "/a~b"),
            ("/100%", "/100%"),
        ] {
            assert_eq!(unescaped(text), is);
        }
    }

    /// The characters that CloudFront escapes in fields.
    const ESCAPED: &AsciiSet = &CONTROLS
        .add(b' ')
        .add(b'<')
        .add(b'>')
        .add(b'"')
        .add(b'#')
        .add(b'%')
        .add(b'{')
        .add(b'|')
        .add(b'}')
        .add(b'\\')
        .add(b'^')
        .add(b'~')
        .add(b'[')
        .add(b']')
        .add(b'`')
        .add(b'\'');

    proptest! {
        #[test]
        fn a_target_is_read_as_it_was_sent(path in "/[!-~]{0,30}", query in "[!-~]{0,20}") {
            prop_assume!(!path.contains('?') && !["-", ""].contains(&&*query));
            let field = |text: &str| utf8_percent_encode(text, ESCAPED).to_string();
            let log = format!(
                "#Fields: date time x-edge-location cs-method cs-uri-stem cs-uri-query sc-status\n2019-12-04\t21:02:31\tLAX1\tGET\t{}\t{}\t200",
                field(&path),
                field(&query)
            );
            let entries = parsed(&log);
            prop_assert_eq!(entries.len(), 1);
            let entry = entries[0].as_ref().unwrap();
            prop_assert_eq!(&entry.target, &format!("{path}?{query}"));
        }

        #[test]
        fn any_text_is_read_without_a_panic(log in "(#Fields: |date |time |cs-uri-stem |\t|\n|[ -~]){0,30}") {
            parsed(&log);
        }
    }
}
