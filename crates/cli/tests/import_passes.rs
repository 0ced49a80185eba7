//! `andon import` of an nginx whose servers pass requests on to each other, such as a cache in front of `image_filter`.

use std::fs;

use crate::adopt::has;
use crate::common;
use crate::import::{Site, size, size_of};
use crate::import_sites::both_answer_alike;

/// A server with a cache, and one behind it that resizes. PASS is the first server's address for the second, LISTEN the
/// second's own.
const PAIR: &str = r#"
events {}
http {
    proxy_cache_path /tmp/andon-passes levels=1:2 keys_zone=thumbs:10m max_size=1g;
    upstream resizer { server 127.0.0.1:23189; }
    upstream socket { server unix:/run/resizer.sock; }
    server {
        listen 127.0.0.1:8081;
        server_name images.example;
        location ~ ^/img/(\d+|-)x(\d+|-)/(.+)$ {
            proxy_pass PASS;
            proxy_cache thumbs;
            proxy_cache_valid 200 30d;
            expires 30d;
        }
    }
    server {
        listen LISTEN;
        image_filter_buffer 20M;
        allow 127.0.0.1;
        deny all;
        location ~ ^/img/(\d+|-)x(\d+|-)/(.+)$ {
            alias FILES/$3;
            image_filter resize $1 $2;
        }
    }
}
"#;

#[test]
fn a_server_behind_a_cache_is_imported_in_the_place_of_the_cache() {
    for (pass, listen) in [
        ("http://127.0.0.1:23189", "127.0.0.1:23189"),
        ("http://localhost:23189", "127.0.0.1:23189"),
        ("http://127.0.0.1:23189$request_uri", "*:23189"),
        ("http://resizer", "23189"),
        ("http://[::1]:23189", "[::]:23189"),
        ("http://unix:/run/resizer.sock", "unix:/run/resizer.sock"),
        ("http://socket", "unix:/run/resizer.sock"),
        // The path is the same.
        ("http://127.0.0.1:23189$uri", "23189"),
        ("http://127.0.0.1:23189/img/$1x$2/$3", "23189"),
    ] {
        let site = Site::new(&PAIR.replace("PASS", pass).replace("LISTEN", listen));
        let (text, served) = site.serve();
        let target = "/img/40x-/trip/a.jpg";
        assert_eq!(size(&served, target), size_of("trip/a.jpg", 40), "{text}");
        assert_eq!(size(&served, "/img/40x-/none.jpg"), "415", "{text}");
        let reply = served.get(target);
        assert_eq!(reply.headers["cache-control"], "max-age=2592000");
        for part in [
            "listen = [\"127.0.0.1:8081\"]",
            "ttl = \"2592000s\"",
            "source_bytes = \"20480KiB\"",
            "disk = { path = \"/tmp/andon-passes-andon\", ",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        for part in ["another server", "http.base", "allow 127.0.0.1"] {
            assert!(!text.contains(part), "{part}\n{text}");
        }
    }
}

#[test]
fn a_path_that_the_cache_puts_together_is_answered_by_the_location_behind_it() {
    for (outer, pass) in [
        (r"~ ^/pictures/(\d+|-)x(\d+|-)/(.+)$", "/img/$1x$2/$3"),
        (r"~ ^/p/(\d+|-)/(\d+|-)/(.+\.jpg)$", "/img/$1x$2/$3"),
    ] {
        let pair = PAIR.replace(
            r"location ~ ^/img/(\d+|-)x(\d+|-)/(.+)$ {
            proxy_pass PASS;",
            &format!("location {outer} {{ proxy_pass http://127.0.0.1:23189{pass};"),
        );
        let site = Site::new(&pair.replace("LISTEN", "127.0.0.1:23189"));
        let (text, served) = site.serve();
        let target = match outer.contains("pictures") {
            true => "/pictures/40x-/trip/a.jpg",
            false => "/p/40/-/trip/a.jpg",
        };
        assert_eq!(size(&served, target), size_of("trip/a.jpg", 40), "{text}");
        assert!(!text.contains("not imported: proxy_pass"), "{text}");
        // Clients cannot reach the server behind.
        assert_eq!(served.get("/img/40x-/trip/a.jpg").status, 404, "{text}");
    }
}

#[test]
fn a_server_whose_locations_do_not_fit_is_named() {
    for (outer, inner) in [
        // The path is replaced by another one, whose groups are in another order.
        (
            "~ ^/img/(\\d+)/(.+)$ { proxy_pass http://127.0.0.1:23189/by/$1/$2; }",
            "~ ^/by/([0-9]+)/(.+)$",
        ),
        (
            "~ ^/img/(.+)/(\\d+)$ { proxy_pass http://127.0.0.1:23189/by/$2/$1; }",
            "~ ^/by/(\\d+)/(.+)$",
        ),
        (
            "~* ^/img/(a|b)/(.+)$ { proxy_pass http://127.0.0.1:23189/by/$1/$2; }",
            "~ ^/by/(a|b)/(.+)$",
        ),
        // The expressions differ.
        (
            "~ ^/img/(\\d+)/(.+)$ { proxy_pass http://127.0.0.1:23189; }",
            "~ ^/img/([0-9]+)/(.+)$",
        ),
        // More than the prefix of the path matters.
        (
            "/img/ { proxy_pass http://127.0.0.1:23189; }",
            "~ ^/i(mg)/(\\d+)",
        ),
        (
            "/img/ { rewrite ^/img/(.*)$ /$1 break; proxy_pass http://127.0.0.1:23189; }",
            "~ ^/(\\d+)/(.+)$",
        ),
        // The location uses the path that is passed to it.
        (
            "~ ^/img/(\\d+)/(.+)$ { proxy_pass http://127.0.0.1:23189/by/$1/$2; }",
            "~ ^/by/(\\d+)/(.+)$ { alias FILES$uri; image_filter resize $1 -; } location ~ ^/none/(.+)/(.+)$",
        ),
    ] {
        let site = Site::new(&format!(
            "events {{}}\nhttp {{ server {{ server_name outer; listen 127.0.0.1:8081; location {outer} }}\n\
             server {{ server_name inner; listen 23189; location {inner} {{ alias FILES/$2; image_filter resize $1 -; }} }} }}"
        ));
        let text = site.import("").ending(0).out;
        for part in [
            "not imported: proxy_pass http://127.0.0.1:23189",
            "asks another server (nginx.conf:3), which makes the images",
            "--server inner imports that one",
            "# nginx.conf:3: another server; --server inner imports it",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains("http.base"), "{text}");
        assert!(!text.contains("\n[[rewrite]]"), "{text}");
    }
}

#[test]
fn servers_that_pass_requests_to_each_other_end() {
    let site = Site::new(
        "server { listen 127.0.0.1:1; location / { proxy_pass http://127.0.0.1:2; } image_filter_buffer 1M; }\n\
         server { listen 127.0.0.1:2; location / { proxy_pass http://127.0.0.1:1; } }",
    );
    let text = site.import("").ending(0).out;
    assert!(
        text.contains("location /: not imported: proxy_pass http://127.0.0.1:"),
        "{text}"
    );
}

#[test]
fn a_server_that_only_sends_files_stays_an_origin_where_it_has_other_paths() {
    let site = Site::new(
        "server { listen 127.0.0.1:8081; location ~ ^/t/(\\d+)/(.+)$ { proxy_pass http://127.0.0.1:2/originals/$2; image_filter resize $1 -; } }\n\
         server { listen 127.0.0.1:2; location /originals/ { alias FILES/; } location /small/ { image_filter resize 9 9; } }",
    );
    let text = site.import("").ending(0).out;
    assert!(
        text.contains("http.base = \"http://127.0.0.1:2/originals\""),
        "{text}"
    );
}

#[test]
fn a_server_without_a_name_is_chosen_by_its_address() {
    let site = Site::new(
        &PAIR
            .replace("PASS", "http://127.0.0.1:23189")
            .replace("LISTEN", "23189"),
    );
    let text = site.import("--server 23189").ending(0).out;
    assert!(text.contains("listen = [\"0.0.0.0:23189\"]"), "{text}");
    assert!(
        text.contains("--server images.example imports it"),
        "{text}"
    );
}

/// Returns the configuration of two nginx servers, without the first and the last brace: one with the lines `outer`,
/// and one with the lines `inner`. INNER in these lines becomes the address on which the second server listens.
fn pair(outer: &str, inner: &str) -> String {
    let address = common::free_address();
    format!("{outer} }}\n server {{ listen INNER; image_filter_buffer 20M; {inner}")
        .replace("INNER", &address)
}

#[test]
fn a_prefix_that_is_passed_on_is_answered_by_all_locations_below_it() {
    let servers = pair(
        r#"root FILES;
        location /img/ { proxy_pass http://INNER; expires 1h; add_header Cache-Control public; }
        location ~ ^/raw/ { proxy_pass http://INNER; }
        location / { return 404; }"#,
        r#"root FILES; expires 2d;
        location ~ ^/img/w/(\d+)/(.+)$ { alias FILES/$2; image_filter resize $1 -; }
        location ^~ /img/turned/ { alias FILES/trip/; image_filter rotate 90; }
        location ~ /sq(\d+)/(.+)$ { alias FILES/$2; image_filter crop $1 $1; expires 5m; }
        location ~* \.png$ { return 404; }
        location /img/ { alias FILES/; }
        location /raw/ { alias FILES/trip/; }
        location /elsewhere/ { image_filter resize 9 9; }"#,
    );
    let text = both_answer_alike(
        &servers,
        &[
            "/img/w/40/trip/a.jpg",
            "/img/w/40/trip/b%20c.png",
            "/img/turned/a.jpg",
            "/img/turned/b%20c.png",
            "/img/sq50/trip/w.jpg",
            "/img/x/sq50/trip/w.jpg",
            "/img/trip/a.jpg",
            "/img/trip/b%20c.png",
            "/img/none.jpg",
            "/raw/a.jpg",
            "/elsewhere/a.jpg",
            "/trip/a.jpg",
        ],
        &[],
    );
    assert!(
        text.is_none_or(|text| !text.contains("http.base") && !text.contains("another server"))
    );
}

#[test]
fn lifetimes_are_those_that_clients_of_both_servers_see() {
    let servers = pair(
        r#"location ~ ^/a/(\d+)/(.+)$ { proxy_pass http://INNER; expires 1h; }
        location ~ ^/b/(\d+)/(.+)$ { proxy_pass http://INNER; }
        location ~ ^/c/(\d+)/(.+)$ { proxy_pass http://INNER; add_header Cache-Control immutable; }
        location ~ ^/d/(\d+)/(.+)$ { proxy_pass http://INNER; expires 3h; }
        location ~ ^/e/(\d+)/(.+)$ { try_files /none @behind; }
        location @behind { proxy_pass http://INNER; expires 4h; }
        location / { proxy_pass http://INNER; }"#,
        r#"location ~ ^/a/(\d+)/(.+)$ { alias FILES/$2; image_filter resize $1 -; expires 2h; }
        location ~ ^/b/(\d+)/(.+)$ { alias FILES/$2; image_filter resize $1 -; expires 2h; }
        location ~ ^/c/(\d+)/(.+)$ { alias FILES/$2; image_filter resize $1 -; }
        location ~ ^/d/(\d+)/(.+)$ { try_files /none @make; }
        location @make { rewrite ^/d/(\d+)/(.+)$ /$2 break; image_filter crop 30 30; root FILES; }
        location ~ ^/e/(\d+)/(.+)$ { alias FILES/$2; image_filter crop $1 $1; }
        location / { root FILES; }"#,
    );
    both_answer_alike(
        &servers,
        &[
            "/a/40/trip/a.jpg",
            "/b/40/trip/a.jpg",
            "/c/40/trip/a.jpg",
            "/d/40/trip/a.jpg",
            "/e/40/trip/a.jpg",
            "/trip/a.jpg",
            "/a/40/trip/none.jpg",
        ],
        &[],
    );
}

#[test]
fn adopting_such_a_pair_compares_the_server_behind() {
    let site = crate::adopt::Site::new(
        "[files]\nopen = true\n[[rewrite]]\nfrom = '^/img/([0-9]+)x-/(.+)$'\nto = '/small_light(dw=$1)/$2'\n",
    );
    site.log(&["/img/60x-/trip/b.jpg".to_owned()]);
    let old = site.old.address.clone();
    // Requests to the server behind the cache get the old server's responses.
    let conf = PAIR
        .replace("PASS", &format!("http://{old}"))
        .replace("LISTEN", &old);
    let conf = conf.replace("FILES", &site.path("images").display().to_string());
    let fits = conf.replace(
        "listen 127.0.0.1:8081;",
        "listen 80; listen 443 ssl; ssl_certificate a; ssl_certificate_key b;",
    );
    fs::write(site.path("nginx.conf"), &fits).expect("a file");
    let said = site.adopt("--config nginx.conf", &[]);
    has(&said, &["as configured", "100.00 % of 1 image URL"]);
    let text = site.read("andon.toml");
    assert!(!text.contains("http.base"), "{text}");
    // It listens on the address to which the printed nginx lines pass requests.
    assert!(
        text.contains("\nlisten = [\"127.0.0.1:8080\"]  # "),
        "{text}"
    );
    assert!(
        text.contains("\n# [tls]\n# listen = [\"0.0.0.0:443\"]\n"),
        "{text}"
    );
    assert_eq!(text.matches("\nlisten = ").count(), 1, "{text}");
    assert!(
        said.out.contains("proxy_pass http://127.0.0.1:8080"),
        "{}",
        said.out
    );

    let (outer, inner) = conf
        .rsplit_once("location ~ ^/img/(\\d+|-)x(\\d+|-)/")
        .expect("two servers");
    let other = format!("{outer}location ~ ^/img/(\\d+|-)[x](\\d+|-)/{inner}");
    let root = format!(
        "root {};\n server_name images.example;",
        site.path("images").display()
    );
    let other = other.replace("server_name images.example;", &root);
    fs::write(site.path("nginx.conf"), other).expect("a file");
    let said = site.adopt("--config nginx.conf --force", &[]).ending(1);
    has(
        &said,
        &[
            "Not safe to switch yet",
            "1 image URL looks as if the old server resized it",
        ],
    );
}

/// A site whose first server only redirects to HTTPS, with a script of another program and thumbnails.
const WITH_SCRIPT: &str = r#"
http {
    server {
        listen 80;
        server_name shop.example;
        return 301 https://$host$request_uri;
    }
    server {
        listen 127.0.0.1:8082;
        server_name shop.example;
        root FILES;
        location ~ \.php$ { proxy_pass http://127.0.0.1:9999; }
        location = /thumb.php { proxy_pass http://127.0.0.1:9999; }
        location ~ ^/foto/(?<w>\d+)/(?<f>.+)$ { rewrite ^ /resize.php?src=$f&w=$w last; }
        location ~ ^/s/(\d+)/(.+)$ {
            alias FILES/$2;
            image_filter resize $1 -;
        }
    }
}
"#;

#[test]
fn a_script_behind_a_proxy_is_no_origin_of_images_and_leaves_its_urls_to_rules_of_ones_own() {
    let site = Site::new(WITH_SCRIPT);
    let imported = site.import("--server shop.example").ending(0);
    has(
        &imported,
        &[
            "a script: has no equivalent",
            "it leads to the script /resize.php, and rules do not follow one another",
            "In place of a script that resizes",
        ],
    );
    let text = imported
        .out
        .replace("[native]\nenabled = false", "[native]\nenabled = true");
    assert!(!text.contains("9999"), "{text}");
    let rule = "[[rewrite]]\nfrom = '^/thumb\\.php$'\nto = '/r/fit:${arg_w:-50}x/$arg_src'\nopens = true\n";
    let served = common::Served::start(site.path(), &format!("{text}{rule}"));
    assert_eq!(size(&served, "/s/40/trip/a.jpg"), size_of("trip/a.jpg", 40));
    for (query, width) in [("src=trip/a.jpg&w=30", "30x"), ("src=trip/a.jpg", "50x")] {
        let size = size(&served, &format!("/thumb.php?{query}"));
        assert!(size.starts_with(width), "{query}: {size}");
    }
}
