use super::*;

fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(text, Path::new("/etc/andon"))
}

fn message(text: &str) -> String {
    parse(text).expect_err("an error").to_string()
}

#[test]
fn an_empty_file_is_the_default() {
    let mut expected = Config::default();
    expected.resolve_paths(Path::new("/etc/andon"));
    assert_eq!(parse("").unwrap(), expected);
}

#[test]
fn the_reference_file_says_what_the_defaults_are() {
    assert_eq!(parse(include_str!("../../andon.default.toml")), parse(""));
}

#[test]
fn the_reference_file_shows_remote_origins_with_their_defaults() {
    let reference = include_str!("../../andon.default.toml");
    let shown: String = reference
        .lines()
        .skip_while(|line| !line.starts_with("# [[origin]]"))
        .take_while(|line| !line.starts_with("# [[rewrite]]"))
        .map(|line| format!("{}\n", line.trim_start_matches("# ")))
        .collect();
    let shown = parse(&shown).unwrap().origin;
    let plain = parse(
        "[[origin]]\nprefix = \"/shop\"\nhttp.base = \"https://pictures.example/originals\"\n\
         [[origin]]\nprefix = \"/s3\"\ns3.bucket = \"photos\"\n\
         [[origin]]\nprefix = \"/gcs\"\ngcs.bucket = \"photos\"\n\
         [[origin]]\nprefix = \"/azure\"\nazure = { container = \"photos\", account = \"shop\" }\n",
    )
    .unwrap()
    .origin;
    // What is "none by default" is shown with an example; the rest is what one gets anyway.
    let [shop, _, buckets @ .., named] = &shown[..] else {
        panic!("a web server, absolute URLs, buckets, and buckets that requests name");
    };
    assert_eq!(named.place().to_string(), "s3://assets-*");
    let OriginKind::Http(http, remote) = shop.keeper.clone() else {
        panic!("a web server");
    };
    let http = HttpConfig {
        user: None,
        password_env: None,
        bearer_env: None,
        ca: None,
        ..http
    };
    assert_eq!(remote.fetches(), RemoteConfig::default().fetches());
    assert_eq!(remote.max_bytes, Some(LimitsConfig::default().source_bytes));
    let remote = RemoteConfig {
        fetches: None,
        fetches_per_second: None,
        max_bytes: None,
        ..remote
    };
    assert_eq!(plain[0].keeper, OriginKind::Http(http, remote));
    assert_eq!((buckets.len(), plain.len()), (3, 4));
    for (shown, plain) in buckets.iter().zip(&plain[1..]) {
        let (OriginKind::Bucket(store, bucket, remote), OriginKind::Bucket(..)) =
            (shown.keeper.clone(), &plain.keeper)
        else {
            panic!("buckets");
        };
        assert!(matches!(bucket.region.as_deref(), None | Some("us-east-1")));
        assert_eq!(bucket.credentials, None);
        let bucket = BucketConfig {
            region: None,
            endpoint: None,
            access_key_env: None,
            secret_key_env: None,
            session_token_env: None,
            credentials_env: None,
            sas_env: None,
            ca: None,
            ..bucket
        };
        assert_eq!(plain.keeper, OriginKind::Bucket(store, bucket, remote));
    }
}

#[test]
fn the_file_of_the_design_is_understood() {
    let config = parse(
        r#"
        listen  = ["127.0.0.1:8080", "unix:/run/andon.sock"]
        workers = 0
        [[origin]]
        prefix  = "/"
        fs.root = "photos"
        [[rewrite]]
        from = '^/resize/w/(\d+)/h/(\d+)/(.+)$'
        to   = '/small_light(dw=$1,dh=$2,da=l,q=90,jpeghint=y)/$3'
        [small_light]
        enabled       = true
        getparam_mode = false
        material_dir  = "icons"
        radius_max    = 10
        sigma_max     = 10
        compat        = "strict"
        [small_light.patterns]
        msize = "dw=500,dh=500,da=l,q=95,jpeghint=y"
        [limits]
        source_bytes = "16MiB"
        [timeouts]
        header = "5s"
        [log]
        format = "json"
        [debug]
        plan_header = true
        "#,
    )
    .unwrap();
    assert_eq!(config.origin[0], OriginConfig::folder("/etc/andon/photos"));
    assert_eq!(
        config.dialects.small_light.material_dir.as_deref(),
        Some(Path::new("/etc/andon/icons"))
    );
    assert_eq!(config.dialects.small_light.compat, dialects::Compat::Strict);
    assert_eq!(config.dialects.small_light.patterns["msize"].len(), 34);
    assert_eq!(config.limits.pixels().source_bytes, 16 << 20);
    assert_eq!(config.log.format, LogFormat::Json);
    assert!(config.debug.plan_header);
}

#[test]
fn an_unknown_key_names_its_line_and_the_nearest_known_one() {
    let message = message("queue = 3\nworker = 2\n");
    assert!(message.contains("line 2"), "{message}");
    assert!(message.contains("`worker`"), "{message}");
    assert!(message.contains("`workers`"), "{message}");
}

#[test]
fn an_unknown_key_in_a_table_is_found_too() {
    let message = message("[small_light]\n\nmaterials_dir = \"x\"\n");
    assert!(message.contains("line 3"), "{message}");
    assert!(message.contains("`material_dir`"), "{message}");
}

#[test]
fn an_unknown_key_unlike_any_other_lists_them_all() {
    let message = message("[debug]\nzzzzzzzz = 1\n");
    assert!(message.contains("plan_header"), "{message}");
}

#[test]
fn a_key_of_the_top_level_in_a_table_is_told_where_it_stands() {
    for key in PLAIN {
        let message = message(&format!("[cache]\nmemory = \"1GiB\"\n{key} = 1\n"));
        let expected =
            format!("unknown key `{key}` of [cache]; `{key}` stands above the first [table]");
        assert!(message.contains(&expected), "{message}");
    }
    // All that stands above the first table in the reference, and it is read there.
    let reference = include_str!("../../andon.default.toml");
    let above = reference.split("\n[").next().unwrap();
    let above: toml::Table = toml::from_str(above).unwrap();
    let mut plain = PLAIN.to_vec();
    plain.sort_unstable();
    assert_eq!(above.keys().collect::<Vec<_>>(), plain);
}

#[test]
fn a_wrong_value_names_its_line_its_key_and_what_would_do() {
    for (text, parts) in [
        (
            "\n\nworkers = \"many\"\n",
            ["line 3", "`workers`", "a whole number"],
        ),
        (
            "[debug]\nplan_header = 1",
            ["line 2", "`debug.plan_header`", "true"],
        ),
        ("listen = \"x:1\"", ["line 1", "`listen`", "[ ]"]),
        (
            "workers = 2\n[origin]\nfs.root = \".\"",
            ["line 2", "`origin`", "\n  [[origin]]\n  fs.root = \".\""],
        ),
        (
            "[[origin]]\nroot = \".\"",
            ["line 2", "`root`", "\n  fs.root = \"photos\""],
        ),
        (
            "root = \".\"",
            [
                "line 1",
                "`root`",
                "[[origin]]\n  prefix = \"/\"\n  fs.root",
            ],
        ),
        (
            "[[origin]]\nurl = \"https://images.example\"",
            ["line 2", "`url`", "http.base = "],
        ),
        (
            "[[origin]]\nbucket = \"a\"",
            ["line 2", "`bucket`", "s3.bucket = "],
        ),
        (
            "[[origin]]\nprefix = \"/\"",
            ["line 1", "`fs.root`", "exactly one"],
        ),
        (
            "[timeouts]\nrequest = 30",
            ["line 2", "`timeouts.request`", "in quotes"],
        ),
        (
            "[small_light]\nradius_max = 5000",
            ["line 2", "radius_max", "5000"],
        ),
        (
            "[[rewrite]]\nfrom = \"^(a)$\"\nto = \"/$2\"",
            ["line 3: `rewrite.to`", "/$2", "no $2"],
        ),
    ] {
        let message = message(text);
        for part in parts {
            assert!(message.contains(part), "{part}: {message}");
        }
    }
}

/// An origin whose only location key is misspelt gets one error, about this key, and no second one about having no
/// location.
#[test]
fn a_key_that_is_called_otherwise_is_one_error() {
    for (key, _) in origin::ADVICE {
        let key = key.trim_start_matches("origin.");
        let text = format!("workers = 2\n[[origin]]\nprefix = \"/\"\n{key} = \"a\"\n");
        let error = parse(&text).unwrap_err().to_string();
        assert_eq!(error.matches("line ").count(), 1, "{key}: {error}");
    }
    let two = "[[origin]]\nroot = \"a\"\n[[origin]]\nprefix = \"/b\"\n";
    let error = parse(two).unwrap_err().to_string();
    assert!(
        error.contains("line 2: ") && error.contains("line 3: "),
        "{error}"
    );
}

#[test]
fn what_an_advice_shows_is_a_configuration() {
    for (key, advice) in origin::ADVICE {
        let (_, lines) = advice.split_once('\n').expect(key);
        assert!(parse(lines).is_ok(), "{key}: {lines}");
    }
}

#[test]
fn an_unknown_key_of_an_origin_is_found_in_each_of_its_tables() {
    for (text, nearest) in [
        ("http.bsae = \"http://o.test\"", "`base`"),
        (
            "http.base = \"http://o.test\"\nhttp.header = {}",
            "`headers`",
        ),
        (
            "s3.bucket = \"b\"\ns3.acces_key_env = \"A\"",
            "`access_key_env`",
        ),
        (
            "http.base = \"http://o.test\"\ntimeouts.first_bite = \"1s\"",
            "`first_byte`",
        ),
        ("http.base = \"http://o.test\"\nfetchs = 3", "`fetches`"),
    ] {
        let message = message(&format!("\n[[origin]]\n{text}\n"));
        assert!(message.contains("line "), "{message}");
        assert!(message.contains(nearest), "{message}");
    }
}

#[test]
fn values_that_make_no_sense_are_refused() {
    for text in [
        "listen = []",
        "listen = [\"8080\"]",
        "listen = [\"unix:\"]",
        "listen = [\"unix:/a\", \"unix:/a\"]",
        "listen = [\"127.0.0.1:80\"]\nmetrics.listen = \"127.0.0.1:80\"",
        "target_wait = \"20s\"",
        "[headers]\nEtag = \"x\"",
        "[headers]\n\"a b\" = \"x\"",
        "[headers]\na = \"x\\ny\"",
        "[small_light.patterns]\nm = \"p=m\"",
        "workers = 100000",
        "target_wait = \"0s\"",
        "max_wait = \"0s\"",
        "max_wait = 2",
        "memory_budget = \"1MiB\"",
        "origin = []",
        "[[origin]]\nprefix = \"photos\"\nfs.root = \".\"",
        "[[origin]]\nfs.root = \".\"\n[[origin]]\nfs.root = \"x\"",
        "[[origin]]\nprefix = \"/\"",
        "[[origin]]\nfs.root = \".\"\nhttp.base = \"http://o.test\"",
        "[[origin]]\nfs.root = \".\"\nallow = [\"10.0.0.0/8\"]",
        "[[origin]]\nhttp.base = \"o.test/x\"",
        "[[origin]]\nhttp.base = \"file:///x\"",
        "[[origin]]\nhttp.base = \"http://user:secret@o.test\"",
        "[[origin]]\nhttp.base = \"http://o.test/?x\"",
        "[[origin]]\nhttp.base = \"http://o.test\"\nhttp.retries = 100",
        "[[origin]]\nhttp.base = \"http://o.test\"\nallow = [\"10/8\"]",
        "[[origin]]\nhttp.base = \"http://o.test\"\nfetches = 0",
        "[[origin]]\nhttp.base = \"http://o.test\"\ntimeouts.idle = \"0s\"",
        "[[origin]]\ns3.bucket = \"a/b\"",
        "[limits]\nfetches = 0",
        "[limits]\nheld_bytes = \"1KiB\"",
        "[limits]\nsource_bytes = \"3 parsecs\"",
        "[timeouts]\nrequest = \"0s\"",
        "[timeouts]\nrequest = 30",
        "socket_mode = \"0999\"",
        "[small_light]\ncompat = \"loose\"",
    ] {
        assert!(parse(text).is_err(), "{text} was accepted");
    }
}

#[test]
fn a_bucket_has_one_source_of_credentials_and_one_name_or_patterns() {
    let error = |keys: &str| message(&format!("[[origin]]\n{keys}\n"));
    for (keys, part) in [
        (
            "s3 = { bucket = \"b\", credentials = \"platform\", access_key_env = \"KEY\" }",
            "`origin.s3.credentials`: names credentials, and so does `access_key_env`",
        ),
        (
            "s3 = { bucket = \"b\", credentials = \"cloud\" }",
            "`cloud`",
        ),
        (
            "s3 = { credentials = \"platform\" }",
            "needs either `bucket`",
        ),
        (
            "s3 = { bucket = \"b\", buckets = [\"b\"] }",
            "needs either `bucket`",
        ),
        ("s3 = { buckets = [\"*\"] }", "is every bucket"),
        (
            "prefix = \"/x\"\ns3 = { buckets = [\"b\"] }",
            "an origin with `buckets` is asked by absolute URLs",
        ),
        (
            "gcs = { buckets = [\"b\"], credentials_env = \"KEY\" }",
            "does not go with `credentials_env`",
        ),
    ] {
        let said = error(keys);
        assert!(said.contains(part), "{keys}: {said}");
    }
    let said = message("[store]\nsecret_env = \"S\"\ns3 = { buckets = [\"b\"] }\n");
    assert!(said.contains("one `bucket`"), "{said}");
}

#[test]
fn tokens_of_a_platform_are_not_sent_in_the_clear() {
    let read = |store: &str, endpoint: &str, keys: &str| {
        let text = format!(
            "[[origin]]\n{store} = {{ bucket = \"b\", {keys}endpoint = \"{endpoint}\", credentials = \"platform\" }}\n"
        );
        Config::parse(&text, Path::new("/"))
    };
    for (store, keys) in [("gcs", ""), ("azure", "account = \"a\", ")] {
        for endpoint in [
            "http://storage.example",
            "http://10.0.0.1:4443",
            "http://127.0.0.1.example/",
        ] {
            let error = read(store, endpoint, keys).unwrap_err().to_string();
            let part = format!("`origin.{store}.endpoint`: {endpoint}");
            assert!(
                error.contains(&part) && error.contains("use https"),
                "{error}"
            );
        }
        for endpoint in [
            "https://storage.example",
            "http://127.0.0.1:4443",
            "http://[::1]:4443",
            "http://localhost:4443",
        ] {
            read(store, endpoint, keys).unwrap_or_else(|error| panic!("{endpoint}: {error}"));
        }
    }
    // Its requests are signed, and its secret is not sent.
    read("s3", "http://minio.example:9000", "region = \"x\", ").expect("a configuration");
}
