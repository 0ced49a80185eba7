use super::*;

fn log(lines: &[&str]) -> Past {
    let lines: Vec<String> = lines
        .iter()
        .map(|line| format!("h - - [10/Oct/2000:13:55:{line}"))
        .collect();
    Past::of_log(lines.join("\r\n").as_bytes()).expect("reads")
}

#[test]
fn requests_of_one_second_are_spread_over_it_and_order_is_by_time() {
    let past = log(&[
        "38 +0000] \"GET /late HTTP/1.1\" 200 1",
        "36 +0000] \"GET /a HTTP/1.1\" 200 1",
        "36 +0000] \"GET /b HTTP/1.1\" 503 1",
        "36 +0000] \"POST /c HTTP/1.1\" 200 1",
        "nonsense",
    ]);
    let told: Vec<_> = past
        .requests
        .iter()
        .map(|it| (it.at, it.target.as_str(), it.status))
        .collect();
    assert_eq!(
        told,
        [(0.0, "/a", 200), (0.5, "/b", 200), (2.0, "/late", 200)]
    );
    assert_eq!(past.left_out.values().sum::<u64>(), 2);
    assert_eq!(past.seconds(), 2.0);
}

#[test]
fn compressed_logs_are_refused_with_a_way_to_unpack_them() {
    let line = b"h - - [10/Oct/2000:13:55:36 +0000] \"GET /a HTTP/1.1\" 200 1\n";
    for (magic, name, command) in [
        (
            &b"\x28\xb5\x2f\xfd"[..],
            "zstd",
            "zstdcat access.log.1.zst > ",
        ),
        (b"\xfd7zXZ\0\0", "xz", "xzcat access.log.1.xz > "),
        (b"BZh91AY&SY", "bzip2", "bzcat access.log.1.bz2 > "),
    ] {
        let error = Past::of_log(&[magic, line].concat()[..]).expect_err(name);
        let said = error.to_string();
        assert!(
            said.contains("unpack it first") && said.contains(name),
            "{said}"
        );
        assert!(said.contains(command), "{said}");
    }
    assert_eq!(Past::of_log(&line[..]).expect("a log").requests.len(), 1);
    assert!(
        Past::of_log(&b""[..])
            .expect("an empty log")
            .requests
            .is_empty()
    );
}

#[test]
fn logs_that_gzip_has_compressed_are_read_also_in_several_parts() {
    let compressed = |line: &str| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut out, line.as_bytes()).expect("in memory");
        out.finish().expect("in memory")
    };
    let line =
        |path: &str| format!("h - - [10/Oct/2000:13:55:36 +0000] \"GET {path} HTTP/1.1\" 200 1\n");
    let parts = [line("/a"), line("/b")].map(|line| compressed(&line));
    let past = Past::of_log(&parts.concat()[..]).expect("a log");
    let targets: Vec<&str> = past.requests.iter().map(|it| &*it.target).collect();
    assert_eq!(targets, ["/a", "/b"]);
    let cut = &parts[0][..parts[0].len() - 9];
    assert!(Past::of_log(cut).is_err());
}
