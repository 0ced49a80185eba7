//! Parses access logs of AWS load balancers, both the Application Load Balancer and the Classic Load Balancer.

use super::line::{Entry, rfc_3339};

/// Parses a line: the time of the response, the load balancer, the addresses of client and target, three durations in
/// seconds (-1 for none), two statuses, two sizes, and the request in quotes with an absolute URL. Lines of an
/// Application Load Balancer have the protocol before these fields.
pub(super) fn parse(line: &str) -> Option<Entry> {
    let (head, rest) = line.split_once(" \"")?;
    let (request, _) = rest.split_once("\" ")?;
    let words: Vec<&str> = head.split(' ').collect();
    let [
        end,
        _balancer,
        _client,
        _target,
        request_time,
        target_time,
        response_time,
        status,
        ..,
    ] = words
        .strip_prefix(&["http"])
        .or_else(|| words.strip_prefix(&["https"]))
        .or_else(|| words.strip_prefix(&["h2"]))
        .unwrap_or(&words)
    else {
        return None;
    };
    let mut took = 0.0;
    for duration in [request_time, target_time, response_time] {
        took += duration.parse::<f64>().ok()?.max(0.0);
    }
    let mut words = request.split(' ');
    let (method, url) = (words.next()?, words.next()?);
    Some(Entry {
        began: rfc_3339(end)? - took,
        whole_second: false,
        method: method.to_owned(),
        target: target(url)?,
        status: status.parse().ok()?,
    })
}

/// Returns the path and query of an absolute URL unchanged, without decoding them.
pub(super) fn target(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let start = rest.find(['/', '?']).unwrap_or(rest.len());
    let target = &rest[start..];
    Some(match target.starts_with('/') {
        true => target.to_owned(),
        false => format!("/{target}"),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const APPLICATION: &str = r#"h2 2018-07-02T22:23:00.500000Z app/my-loadbalancer/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 0.100 0.300 -1 200 200 34 366 "GET https://www.example.com:443/a%20b.jpg?w=1 HTTP/2.0" "curl/7.46.0" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:x "Root=1-58337262" "www.example.com" "-" 1 2018-07-02T22:22:48.364000Z "forward" "-" "-""#;
    const CLASSIC: &str = r#"2018-07-02T22:23:00.500000Z my-loadbalancer 192.168.131.39:2817 10.0.0.1:80 0.100 0.300 0 200 200 0 29 "GET http://www.example.com:80/a%20b.jpg?w=1 HTTP/1.1" "curl/7.38.0" - -"#;

    #[test]
    fn both_kinds_of_load_balancers_tell_the_same() {
        for line in [APPLICATION, CLASSIC] {
            let entry = parse(line).expect(line);
            assert_eq!(entry.target, "/a%20b.jpg?w=1");
            assert_eq!((entry.method.as_str(), entry.status), ("GET", 200));
            assert!((entry.began - 1_530_570_180.1).abs() < 1e-6, "{line}");
        }
        for (url, is) in [
            ("http://h:80/", "/"),
            ("http://h:80", "/"),
            ("http://h:80?a=/", "/?a=/"),
        ] {
            assert_eq!(target(url).as_deref(), Some(is));
        }
    }

    #[test]
    fn a_request_that_was_none_is_left_out() {
        let line = CLASSIC.replace(
            "GET http://www.example.com:80/a%20b.jpg?w=1 HTTP/1.1",
            "- - - ",
        );
        assert_eq!(parse(&line), None);
    }

    proptest! {
        #[test]
        fn a_target_is_read_as_it_was_sent(target in "/[!#-~]{0,40}") {
            let line = APPLICATION.replace("/a%20b.jpg?w=1", &target);
            prop_assert_eq!(parse(&line).unwrap().target, target);
        }

        #[test]
        fn any_line_is_read_without_a_panic(line in "(http |h2 |2018-07-02T22:23:00Z |\"|-1 |0.5 |[ -~]){0,40}") {
            parse(&line);
        }
    }
}
