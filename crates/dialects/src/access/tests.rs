//! Tests of the rules about sources, on targets alone. The server's tests check the same over a socket.

use super::*;
use crate::signing::{Keys, SecureLinkConfig, Signature};
use crate::{Config, NoHeaders, Rewrite};

const KEY: &str = "0123456789abcdef0123456789abcdef";

/// Test server with folders at `/`, a bucket at `/s3`, and web servers at `/shop` and at `/`. Overlay images are in a
/// guarded folder, whose folder `web/shop` holds the files of the shop.
struct Here;

impl Places for Here {
    fn path_of_url(&self, url: &str) -> Option<String> {
        let (prefix, path) = match url.strip_prefix("https://root.test/") {
            Some(path) => ("", path),
            None => ("shop", url.strip_prefix("https://o.test/")?),
        };
        Some(format!("{prefix}/{}", path.split(['?', '#']).next()?))
    }

    fn is_literal(&self, path: &str) -> bool {
        path.starts_with("s3/")
    }

    fn paths_of_overlay(&self, name: &str) -> Vec<String> {
        match name.strip_prefix("web/shop/") {
            Some(rest) => vec![format!("shop/{rest}")],
            None => vec![format!("secure/icons/{name}")],
        }
    }
}

/// A function that adds a given key to a configuration.
type Change = fn(&mut Config, String);

/// Returns a configuration with all dialects switched on, each at its own prefix.
fn config() -> Config {
    let mut config = Config::default();
    config.imgproxy.prefix = "/imgproxy".to_owned();
    config.image_filter.prefix = "/f".to_owned();
    config.iiif.prefix = "/iiif/3".to_owned();
    config.cloudflare.prefix = "/cdn-cgi/image".to_owned();
    config.thumbor.prefix = "/thumbor".to_owned();
    config.imagor.prefix = "/imagor".to_owned();
    config.imagor.allow_unsafe = true;
    config.weserv.prefix = "/weserv".to_owned();
    config.imgix.prefix = "/imgix".to_owned();
    config.ipx.prefix = "/_ipx".to_owned();
    config.astro.prefix = "/_image".to_owned();
    config.small_light.material_dir = Some("icons".into());
    config
}

fn guarded(config: Config) -> Config {
    Config {
        secure_link: vec![SecureLinkConfig {
            location: "/secure/".to_owned(),
            secure_link: "$arg_md5,$arg_expires".to_owned(),
            secure_link_md5: "$secure_link_expires$uri swordfish".to_owned(),
            secure_link_secret: String::new(),
            guards: None,
        }],
        ..config
    }
}

fn signing(config: Config) -> Config {
    let mut config = config;
    config.signing.keys = Keys::List(vec![KEY.to_owned()]);
    config
}

fn asked(config: &Config, target: &str) -> Result<ImageRequest, Refusal> {
    let dialects = Dialects::new(config).expect("a configuration");
    dialects.parse_for(target, &NoHeaders, &Here, Ok)
}

#[track_caller]
fn is_open(config: &Config, target: &str) {
    if let Err(refusal) = asked(config, target) {
        panic!("{target}: {refusal}");
    }
}

#[track_caller]
fn is_closed(config: &Config, target: &str) {
    let refusal = asked(config, target).expect_err(target);
    assert_eq!(refusal.fault, Fault::Signature, "{target}: {refusal}");
}

fn signed(scope: usize, target: &str) -> String {
    let signature = Signature {
        scope,
        ..Signature::default()
    };
    signature.of(KEY.as_bytes(), target).expect(target)
}

/// Returns targets that name a source in every dialect, percent-encoded where that matters.
fn spelt(path: &str) -> Vec<String> {
    let one = path.replace('/', "%2F");
    vec![
        format!("/{path}"),
        format!("/r/original/{path}"),
        format!("/r/fit:9x9,as:json/{path}"),
        format!("/small_light(dw=9)/{path}"),
        format!("/f/image_filter(resize,9,-)/{path}"),
        format!("/f/image_filter(off)/{path}"),
        format!("/imgproxy/unsafe/w:9/plain/local:///{path}"),
        format!("/imgproxy/info/unsafe/plain/local:///{path}"),
        format!("/iiif/3/{one}/full/max/0/default.jpg"),
        format!("/iiif/3/{one}/info.json"),
        format!("/iiif/3/{one}"),
        format!("/cdn-cgi/image/width=9/{path}"),
        format!("/thumbor/unsafe/9x9/{path}"),
        format!("/thumbor/unsafe/meta/{path}"),
        format!("/imagor/unsafe/9x9/{path}"),
        format!("/weserv/?url={path}&w=9"),
        format!("/weserv/?url={path}&output=json"),
        format!("/imgix/{path}?w=9"),
        format!("/imgix/{path}?fm=json"),
        format!("/_ipx/w_9/{path}"),
        // Two slashes would begin a URL.
        format!("/_image?href=/{}&w=9", path.trim_start_matches('/')),
        format!("/_image?href=/{}&f=svg", path.trim_start_matches('/')),
    ]
}

#[test]
fn a_request_names_the_dialect_that_read_it() {
    for (target, dialect) in [
        ("/trip/a.jpg", "files"),
        ("/r/fit:9x9/trip/a.jpg", "native"),
        ("/small_light(dw=9)/trip/a.jpg", "small_light"),
        ("/thumbor/unsafe/9x9/trip/a.jpg", "thumbor"),
        ("/_ipx/w_9/trip/a.jpg", "ipx"),
    ] {
        let request = asked(&config(), target).expect(target);
        assert_eq!(request.style.dialect, dialect, "{target}");
    }
}

#[test]
fn dot_segments_are_refused_in_every_language_but_in_keys_of_buckets() {
    for dots in [
        "trip/../a.jpg",
        "./a.jpg",
        "%2e%2e/a.jpg",
        "x/%252e%252e/a.jpg",
        "x/.%2E/a.jpg",
    ] {
        for target in spelt(dots) {
            let refusal = asked(&config(), &target).expect_err(&target);
            assert!(refusal.why.contains("segments"), "{target}: {refusal}");
        }
        for target in spelt(&format!("s3/{dots}")) {
            is_open(&config(), &target);
        }
    }
    for overlay in [
        "/r/overlay:%2Fx%2F..%2Fa.png:1:1/a.jpg",
        "/r/over:..%2Fa.png:1:2/a.jpg",
        "/thumbor/unsafe/filters:watermark(x/../a.png,0,0,0)/a.jpg",
        "/imagor/unsafe/filters:watermark(x/../a.png,0,0,0)/a.jpg",
        "/imgix/a.jpg?mark=/x/../a.png",
        "/imgproxy/unsafe/fiu:bG9jYWw6Ly8veC8uLi9hLmpwZw/plain/local:///a.jpg",
        "/r/same/https://o.test/x/%2e%2e/a.jpg",
        "/r/same/https://o.test/x/%252e%252e/a.jpg",
        "/r/same/https://o.test%5C..%5Ca.jpg",
        "/weserv/?url=https://o.test/x/../a.jpg",
        "/_ipx/_/https://o.test/x/../a.jpg",
        "/_image?href=https://o.test/x/../a.jpg",
    ] {
        let refusal = asked(&config(), overlay).expect_err(overlay);
        assert_eq!(refusal.fault, Fault::Url, "{overlay}: {refusal}");
    }
}

#[test]
fn a_guarded_folder_is_closed_in_every_language_and_spelling() {
    let config = guarded(config());
    for path in [
        "secure/a.jpg",
        "/secure//a.jpg",
        "%73ecure/a.jpg",
        "secure%2Fa.jpg",
    ] {
        for target in spelt(path) {
            is_closed(&config, &target);
        }
    }
    for path in ["trip/a.jpg", "insecure/a.jpg", "secure.jpg"] {
        for target in spelt(path) {
            is_open(&config, &target);
        }
    }
}

#[test]
fn overlays_fallbacks_and_urls_that_lead_there_are_guarded_too() {
    let mut config = guarded(config());
    config.secure_link[0].guards = Some(vec!["/secure/".to_owned(), "/shop/private/".to_owned()]);
    for target in [
        "/r/overlay:%2Fsecure%2Fa.png:1:1/a.jpg",
        "/r/overlay:%2F%2Fsecure%2F%2Fa.png:1:1/a.jpg",
        "/r/over:star.png:1:2/a.jpg",
        "/r/over:web%2Fshop%2Fprivate%2Fa.png:1:2/a.jpg",
        "/r/over:web%2F%2Fshop%2F%2Fprivate%2Fa.png:1:2/a.jpg",
        "/r/over:web%2Fshop%2F%2Fprivate%2Fa.png:1:2/a.jpg",
        "/small_light(dw=9,embedicon=star.png)/a.jpg",
        "/thumbor/unsafe/filters:watermark(secure/a.png,0,0,0)/a.jpg",
        "/imagor/unsafe/filters:image(filters:image(secure/a.png,0,0):grayscale()/b.png,0,0)/a.jpg",
        "/imgix/a.jpg?mark=/secure/a.png",
        "/imgproxy/unsafe/fiu:bG9jYWw6Ly8vc2VjdXJlL2EuanBn/plain/local:///a.jpg",
        "/r/same/https://o.test/private/a.jpg",
        "/r/same/https://o.test/private/a.jpg%3Fv=2",
        "/weserv/?url=https://o.test/private/a.jpg",
        "/_ipx/_/https://o.test/private/a.jpg",
        "/_image?href=https://o.test/private/a.jpg",
        "/r/same/shop/private/a.jpg",
    ] {
        is_closed(&config, target);
    }
    is_open(&config, "/r/same/https://o.test/public/a.jpg");
    is_open(&config, "/r/overlay:%2Ftrip%2Fa.png:1:1/a.jpg");
    is_open(&config, "/r/over:web%2F%2Fshop%2Fpublic%2Fa.png:1:2/a.jpg");
}

#[test]
fn what_a_link_signs_names_what_it_opens_and_nothing_else() {
    let link = |config: &Config, uri: &str, more: &str| {
        let expires = 4_102_444_800_u64;
        let signed = format!("{expires}{uri} swordfish");
        let md5 = crate::signature::base64::bare(&crate::signature::md5(&[signed.as_bytes()]));
        (
            config.clone(),
            format!("{uri}?md5={md5}&expires={expires}{more}"),
        )
    };
    let mut config = guarded(config());
    config.imgix.prefix = "/".to_owned();
    let open = [
        link(&config, "/secure/a.jpg", ""),
        link(&config, "/secure/a.jpg", "&w=9"),
    ];
    for (config, target) in open {
        is_open(&config, &target);
    }
    // The signature does not cover overlay images.
    let (config, overlaid) = link(&config, "/secure/a.jpg", "&mark=/secure/b.png");
    is_closed(&config, &overlaid);
    // The signature does not cover a source that the query names either.
    let mut config = config;
    config.weserv.prefix = "/secure/w".to_owned();
    let (config, elsewhere) = link(&config, "/secure/w/", "&url=/secure/b.jpg");
    is_closed(&config, &elsewhere);
}

#[test]
fn a_link_stands_for_a_key_where_it_signs_all_that_is_asked() {
    let link = "/secure/a.jpg?md5=PohwVNe5JI7vyBQIWQYXPw&expires=4102444800";
    let mut config = signing(guarded(config()));
    is_open(&config, link);
    config.rewrite = vec![Rewrite {
        query: Vec::new(),
        from: "^/secure/(.*)$".to_owned(),
        to: "/f/image_filter(resize,$arg_w,-)/secure/$1".to_owned(),
        opens: false,
    }];
    // The signature does not cover the size yet.
    is_closed(&config, &format!("{link}&w=9"));
    config.secure_link[0].secure_link_md5 = "$secure_link_expires$uri$arg_w swordfish".to_owned();
    let signed = crate::signature::md5(&[b"4102444800/secure/a.jpg9 swordfish"]);
    let signed = crate::signature::base64::bare(&signed);
    let link = format!("/secure/a.jpg?md5={signed}&expires=4102444800&w=9");
    is_open(&config, &link);
    is_closed(&config, &link.replace("w=9", "w=8"));
}

#[test]
fn a_rewrite_leads_to_what_is_guarded_only_if_it_says_so() {
    let mut config = guarded(config());
    config.rewrite = vec![Rewrite {
        query: Vec::new(),
        from: "^/thumb/(.*)$".to_owned(),
        to: "/f/image_filter(resize,100,-)/secure/$1".to_owned(),
        opens: false,
    }];
    is_closed(&config, "/thumb/a.jpg");
    config.rewrite[0].opens = true;
    is_open(&config, "/thumb/a.jpg");
    is_closed(&config, "/f/image_filter(resize,100,-)/secure/a.jpg");
    // Like nginx, the rule is matched with the decoded path.
    is_open(&config, "/thumb/vip%2Fa.jpg");
    config.rewrite[0].from = "^/thumb/([^/]+)$".to_owned();
    is_open(&config, "/thumb/a%20b.jpg");
    is_closed(&config, "/thumb/vip%2Fa.jpg");
}

#[test]
fn a_rewrite_that_opens_leads_through_closed_doors_to_what_it_says_itself() {
    let rule = |from: &str, to: &str| Rewrite {
        query: Vec::new(),
        from: from.to_owned(),
        to: to.to_owned(),
        opens: true,
    };
    let mut config = signing(guarded(config()));
    config.imgix.prefix = "/".to_owned();
    config.rewrite = vec![
        rule(
            "^/thumb/([^/]+)$",
            "/f/image_filter(resize,100,-)/secure/$1",
        ),
        rule("^/public/(.*)$", "/secure/$1"),
        rule("^/sized/(.*)$", "/secure/$1?w=$arg_size"),
    ];
    for target in ["/thumb/a.jpg", "/thumb/a.jpg?v=2", "/public/a.jpg?v=2"] {
        is_open(&config, target);
    }
    is_open(&config, "/sized/a.jpg?size=9");
    // Options that no rule takes from the URL need a signature, and so do targets that no rule matches.
    is_closed(&config, "/public/a.jpg?w=9");
    is_closed(&config, "/public/a.jpg?mark=/secure/b.png");
    is_closed(&config, "/thumb/vip%2Fa.jpg");
    is_closed(&config, "/f/image_filter(resize,100,-)/trip/a.jpg");
    config.rewrite[0].opens = false;
    is_closed(&config, "/thumb/a.jpg");
    config.rewrite[0].opens = true;
    config.signing.required = true;
    is_closed(&config, "/thumb/a.jpg");
}

#[test]
fn a_key_of_one_language_closes_all_others_until_they_are_opened() {
    let key = "6b6579206f66206d616e79206279746573".to_owned();
    let changes: [(&str, Change); 5] = [
        ("signing", |config, _| {
            config.signing.keys = Keys::List(vec![KEY.to_owned()])
        }),
        ("imgproxy", |config, key| {
            config.imgproxy.keys = vec![key];
            config.imgproxy.salts = vec!["73616c74".to_owned()];
        }),
        ("thumbor", |config, key| config.thumbor.keys = vec![key]),
        ("imagor", |config, key| {
            config.imagor.keys = vec![key];
            config.imagor.allow_unsafe = false;
        }),
        ("imgix", |config, key| config.imgix.tokens = vec![key]),
    ];
    for (name, change) in changes {
        let mut config = config();
        change(&mut config, key.clone());
        for target in spelt("trip/a.jpg") {
            is_closed(&config, &target);
        }
        config.open_all();
        let own = format!("/{name}/");
        for target in spelt("trip/a.jpg")
            .iter()
            .filter(|it| !it.starts_with(&own))
        {
            is_open(&config, target);
        }
        // The generated examples are signed already.
        let dialects = Dialects::new(&config).unwrap();
        for example in dialects.examples() {
            is_open(&config, &example);
        }
    }
}

#[test]
fn a_file_at_its_own_path_is_behind_the_door_of_files() {
    let mut config = signing(config());
    config.imgix.prefix = "/".to_owned();
    for open in [false, true] {
        config.files.open = open;
        for target in ["/trip/a.jpg", "/trip/a.jpg?v=2", "/trip/a.jpg?ixlib=js-1"] {
            match open {
                true => is_open(&config, target),
                false => is_closed(&config, target),
            }
        }
        for target in [
            "/trip/a.jpg?w=9",
            "/https:%2F%2Fo.test%2Fa.jpg?ixlib=js-1",
            "/f/image_filter(off)/trip/a.jpg",
        ] {
            is_closed(&config, target);
        }
    }
}

#[test]
fn presets_close_other_languages_and_leave_files_open() {
    let mut config = config();
    config.native.only_presets = true;
    config.native.presets = [("thumb".to_owned(), "fit:9x9".to_owned())].into();
    is_open(&config, "/p/thumb/trip/a.jpg");
    is_open(&config, "/trip/a.jpg");
    for target in spelt("trip/a.jpg") {
        if target != "/trip/a.jpg" {
            assert!(asked(&config, &target).is_err(), "{target}");
        }
    }
    config.small_light.open = true;
    is_open(&config, "/small_light(dw=9)/trip/a.jpg");
    is_closed(&config, "/iiif/3/trip%2Fa.jpg/info.json");
}

#[test]
fn languages_that_answer_presets_only_do_not_close_each_other() {
    let mut config = config();
    config.native.only_presets = true;
    config.native.presets = [("thumb".to_owned(), "fit:9x9".to_owned())].into();
    config.imgproxy.only_presets = true;
    config.imgproxy.presets = [("thumb".to_owned(), "w:9".to_owned())].into();
    let native = "/p/thumb/trip/a.jpg";
    let imgproxy = "/imgproxy/unsafe/thumb/plain/local:///trip/a.jpg";
    is_open(&config, native);
    is_open(&config, imgproxy);
    is_closed(&config, "/small_light(dw=9)/trip/a.jpg");
    // A key closes them.
    config.thumbor.keys = vec![KEY.to_owned()];
    is_closed(&config, native);
    is_closed(&config, imgproxy);
}

#[test]
fn a_key_of_signing_opens_every_language_and_what_is_guarded() {
    let config = signing(guarded(config()));
    for path in ["trip/a.jpg", "secure/a.jpg"] {
        for target in spelt(path) {
            is_closed(&config, &target);
            is_open(&config, &signed(0, &target));
        }
    }
    // The signature does not open another source.
    is_closed(
        &config,
        &signed(0, "/iiif/3/trip%2Fa.jpg").replace("trip", "secure"),
    );
}

#[test]
fn a_scope_names_a_source_and_what_is_appended_names_no_other() {
    let config = signing(guarded(config()));
    for (scope, beginning, rest, open) in [
        // The source itself, to which an image viewer appends the rest.
        (3, "/iiif/3/sub%2Fb.jpg", "/full/max/0/default.jpg", true),
        (3, "/iiif/3/sub%2Fb.jpg", "/info.json", true),
        (3, "/iiif/3/sub%2Fb.jpg", "", true),
        (5, "/iiif/3/sub%2Fb.jpg/full/9,", "/0/default.jpg", true),
        (4, "/iiif/3/sub/b.jpg", "/full/max/0/default.jpg", true),
        (3, "/imgix/trip/a.jpg", "?w=100", true),
        (3, "/imgix/trip/a.jpg", "", true),
        // A folder.
        (3, "/r/fit:9x9/trip", "/a.jpg", true),
        (2, "/small_light(dw=9)/trip", "/sub/a.jpg", true),
        (1, "/trip", "/a.jpg", true),
        (5, "/thumbor/unsafe/9x9/trip", "/a.jpg", false),
        (4, "/thumbor/unsafe/9x9/trip", "/a.jpg", true),
        (
            6,
            "/imgproxy/unsafe/w:9/plain/local:",
            "///trip/a.jpg",
            false,
        ),
        // The URL of a web server that is configured at `/`, at a prefix or not at all.
        (2, "/imgix/https%3A%2F%2Froot.test%2Fa.jpg", "?w=9", true),
        (2, "/imgix/https%3A%2F%2Fo.test%2Fa.jpg", "?w=9", true),
        (2, "/imgix/https%3A%2F%2Felse.test%2Fa.jpg", "?w=9", true),
        (2, "/imgix/https%3A%2F%2Froot.test%2Fx", "/a.jpg?w=9", true),
        (
            2,
            "/imgix/https%3A%2F%2Froot.test",
            "/a.jpg?w=9&mark=/trip/b.png",
            false,
        ),
        // A size, for any source that is not guarded.
        (2, "/r/fit:9x9", "/trip/a.jpg", true),
        (1, "/small_light(dw=9)", "/trip/a.jpg", true),
        (3, "/thumbor/unsafe/9x9", "/trip/a.jpg", true),
        (2, "/r/fit:9x9", "/secure/a.jpg", false),
        (1, "/small_light(dw=9)", "/secure/a.jpg", false),
        // A guarded folder that the signed beginning names.
        (3, "/r/fit:9x9/secure", "/a.jpg", true),
        (3, "/iiif/3/secure%2Fa.jpg", "/info.json", true),
        (1, "/secure", "/a.jpg", true),
        // A guarded source, with some of the options.
        (5, "/iiif/3/secure%2Fa.jpg/full/9,", "/0/default.jpg", true),
        (4, "/iiif/3/secure%2Fa.jpg/full", "/9,/0/default.jpg", true),
        // Another source.
        (
            3,
            "/iiif/3/sub%2Fb.jpg",
            "/../../secure/a.jpg/full/max/0/default.jpg",
            false,
        ),
        (
            3,
            "/iiif/3/sub%2Fb.jpg",
            "/%2e%2e/%2e%2e/secure/a.jpg/full/max/0/default.jpg",
            false,
        ),
        (
            3,
            "/iiif/3/sub%2Fb.jpg",
            "/small_light(dw=9)/trip/a.jpg",
            false,
        ),
        (
            3,
            "/iiif/3/sub%2Fb.jpg",
            "/small_light(dw=9)/secure/a.jpg",
            false,
        ),
        (1, "/weserv", "/?url=/trip/a.jpg", false),
        (1, "/trip", "/small_light(dw=9)/other/a.jpg", false),
        // An overlay from another folder.
        (3, "/imgix/trip/a.jpg", "?w=100&mark=/other/b.png", false),
        (2, "/imgix/trip", "/a.jpg?w=100&mark=/trip/b.png", true),
        // Another source, whose base64 text begins like the signed one.
        (
            4,
            "/imgproxy/unsafe/w:9/bG9jYWw6Ly8vc3ViL2IuanBn",
            "/LnNlY3JldC5wbmc",
            false,
        ),
        (4, "/imgproxy/unsafe/w:9/bG9jYWw6Ly8vc3ViL2IuanBn", "", true),
    ] {
        if beginning.split('/').count() <= scope {
            continue;
        }
        let target = signed(scope, beginning) + rest;
        match open {
            true => is_open(&config, &target),
            false => assert!(asked(&config, &target).is_err(), "{target}"),
        }
    }
}

/// Covers two faults of thumbor. CVE-2026-53501: a second signature in the path was removed as well, so that the text
/// that was checked was not the one that was read. CVE-2026-53502: a path was resolved after it had been checked.
#[test]
fn one_signature_is_taken_off_and_nothing_is_resolved_behind_it() {
    let mut config = config();
    config.thumbor.keys = vec![KEY.to_owned()];
    let dialects = Dialects::new(&config).unwrap();
    let example = dialects.examples().find(|it| it.starts_with("/thumbor/"));
    let example = example.unwrap();
    let mark = example.split('/').nth(2).unwrap();
    is_open(&config, &example);
    for target in [
        example.replace("/trip/", &format!("/{mark}/trip/")),
        example.replacen(mark, &format!("{mark}/{mark}"), 1),
        example.replace("/trip/", "/trip/../trip/"),
        example.replace("/trip/", "/trip/%2e%2e/trip/"),
    ] {
        is_closed(&config, &target);
    }
    let config = signing(self::config());
    let once = signed(0, "/r/fit:9x9/trip/a.jpg");
    let mark = once.split('/').nth(1).unwrap();
    is_open(&config, &once);
    for target in [
        format!("/{mark}{once}"),
        once.replace("/trip", &format!("/{mark}/trip")),
    ] {
        is_closed(&config, &target);
    }
    // With a signature, it is refused because of its dot segments.
    let refusal = asked(&config, &signed(0, "/r/fit:9x9/trip/../a.jpg")).unwrap_err();
    assert_eq!(refusal.fault, Fault::Url);
}

#[test]
fn beginnings_of_sources_that_imgproxy_allows_hold_for_where_they_lead() {
    let mut config = config();
    config.imgproxy.allowed_sources = vec![
        "local:///public/".to_owned(),
        "local:///users/*/public/".to_owned(),
    ];
    let ask = |path: &str| asked(&config, &format!("/imgproxy/unsafe/plain/local:///{path}"));
    assert!(ask("public/a.jpg").is_ok() && ask("users/me/public/a.jpg").is_ok());
    for path in [
        "public/../secure/a.jpg",
        "secure/a.jpg",
        "public/%2e%2e/secure/a.jpg",
        // `*` does not match an empty segment.
        "users//public/secret/a.jpg",
    ] {
        assert!(ask(path).is_err(), "{path}");
    }
}
