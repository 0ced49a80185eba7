//! How `andon adopt` handles files that the old server sends as they are, and images whose URLs do not show that the
//! old server resizes them.

use std::fs;

use crate::adopt::{Site, has};
use crate::common::sample;

/// A site whose old server resizes what is below `/thumb/60x-/`. Its log has requests for such an image, for an
/// unchanged file, and for an image whose URL `andon adopt` recognises.
fn resizing() -> Site {
    let site = Site::new(
        "[[rewrite]]\nfrom = '^/thumb/([0-9]+)x-/(.+)$'\nto = '/small_light(dw=$1,dh=$1)/$2'\n",
    );
    site.log(&[
        "/thumb/60x-/trip/b.jpg".to_owned(),
        "/a.jpg".to_owned(),
        "/small_light(dw=50)/a.jpg".to_owned(),
    ]);
    site
}

#[test]
fn a_configuration_that_serves_originals_for_resized_images_is_not_safe() {
    let site = resizing();
    let images = site.path("images").display().to_string();
    let nginx = format!(
        "http {{\n server {{\n  listen 80;\n  small_light on;\n  root {images};\n  location ~ ^/thumb/[^/]+/(.+)$ {{ alias {images}/$1; }}\n  location ~ small_light[^/]*/(.+)$ {{ set $file $1; rewrite ^ /$file; }}\n }}\n}}\n"
    );
    let own = format!(
        "[[origin]]\nfs.root = \"{images}\"\n[[rewrite]]\nfrom = '^/thumb/[^/]+/(.+)$'\nto = '/$1'\n"
    );
    for (name, text) in [("nginx.conf", nginx), ("own.toml", own)] {
        fs::write(site.path(name), text).expect("a file");
        let said = site.adopt(&format!("--config {name}"), &[]).ending(1);
        has(
            &said,
            &[
                "as configured",
                "100.00 % of 1 image URL",
                "files as they are, which the configuration answers",
                "size in px",
                "/thumb/60x-/trip/b.jpg",
                "To switch All recognised URLs are those of the configuration",
                "Not safe to switch yet: 1 of 4 replies differs.",
            ],
        );
        let page = site.read("andon-adopt.html");
        assert!(
            page.contains("All recognised URLs are those of the configuration"),
            "{page}"
        );
    }
    let right = site.config.clone();
    fs::write(site.path("right.toml"), right).expect("a file");
    let said = site.adopt("--config right.toml", &[]).ending(0);
    has(
        &said,
        &[
            "100.00 % of 2 image URLs",
            "location ~ \"^/thumb/([0-9]+)x-/(.+)$\" { proxy_pass http://127.0.0.1:",
            "The others are those of the configuration",
            "Safe to switch.",
        ],
    );
}

#[test]
fn files_that_look_resized_are_listed_where_no_configuration_answers_them() {
    let site = resizing();
    let said = site.adopt("--root images", &[]).ending(1);
    has(
        &said,
        &[
            "50.00 % of 2 image URLs",
            "Not recognised: the old server may resize these /thumb/60x-/trip/b.jpg (1 request) a part of the URL",
            "Not safe to switch yet: 1 image URL looks as if the old server resized it.",
        ],
    );
    let page = site.read("andon-adopt.html");
    assert!(page.contains("the old server may resize these"), "{page}");
    // The new server fetches its originals from the old server, so both send what the old one has resized.
    fs::write(
        site.path("passing.toml"),
        format!(
            "[[origin]]\nprefix = \"/\"\nhttp.base = \"http://{}\"\nallow = [\"127.0.0.1/32\"]\n",
            site.old.address
        ),
    )
    .expect("a file");
    let said = site.adopt("--config passing.toml", &[]).ending(1);
    has(
        &said,
        &["Not safe to switch yet: 1 image URL looks as if the old server resized it."],
    );
}

#[test]
fn files_that_a_configuration_does_not_have_stay_with_the_old_server() {
    let site = Site::new("");
    let moved = site.path("moved/trip");
    fs::create_dir_all(&moved).expect("a folder");
    fs::copy(sample("photos/wren.jpg"), moved.join("b.jpg")).expect("a copy");
    let root = site.path("moved").display().to_string();
    fs::write(
        site.path("own.toml"),
        format!("[[origin]]\nfs.root = \"{root}\"\n"),
    )
    .expect("a file");
    site.log(&[
        "/a.jpg".to_owned(),
        "/trip/b.jpg".to_owned(),
        "/small_light(dw=50)/trip/b.jpg".to_owned(),
    ]);
    let said = site.adopt("--config own.toml", &[]).ending(0);
    has(
        &said,
        &[
            "1 URL, 1 request: files as they are, which may stay with the old server",
            "1 requests left out: files that the configuration does not have",
            "Safe to switch.",
        ],
    );
}

#[test]
fn a_script_that_sends_images_is_listed_and_one_that_sends_pages_is_not() {
    let site = Site::new(
        "[files]\nopen = true\n[[rewrite]]\nfrom = '^/resize\\.php$'\nto = '/r/fit:${arg_w}x/$arg_src'\n\
         [[rewrite]]\nfrom = '^/forum\\.php$'\nto = '/about'\n",
    );
    let mut targets: Vec<String> = (50..55)
        .map(|width| format!("/resize.php?src=a.jpg&w={width}"))
        .collect();
    targets.extend((0..300).map(|topic| format!("/forum.php?t={topic}")));
    targets.push("/small_light(dw=50)/a.jpg".to_owned());
    site.log(&targets);
    let images = site.path("images").display().to_string();
    fs::write(
        site.path("own.toml"),
        format!("[[origin]]\nfs.root = \"{images}\"\n"),
    )
    .expect("a file");
    for config in ["--root images", "--config own.toml"] {
        let said = site.adopt(config, &[]).ending(1);
        has(
            &said,
            &[
                "16.66 % of 6 image URLs",
                "/resize.php?src=a.jpg&w=50 (1 request)",
                "/resize.php?src=a.jpg&w=54 (1 request) the old server sends an image, and no dialect reads the URL",
                "docs/behind-nginx.md",
                "Not safe to switch yet: 5 image URLs are not recognised.",
            ],
        );
    }
    // The rewrite from the report, in a configuration in which it has no effect.
    let rule =
        "[[rewrite]]\nfrom = '^/resize\\.php$'\nto = '/r/fit:${arg_w}x/$arg_src'\nopens = true\n";
    let off = format!("[native]\nenabled = false\n{rule}[[origin]]\nfs.root = \"{images}\"\n");
    fs::write(site.path("own.toml"), off).expect("a file");
    let said = site.adopt("--config own.toml", &[]).ending(1);
    has(
        &said,
        &[
            "[[rewrite]] makes the URL /r/fit:50x/a.jpg?src=a.jpg&w=50, which no dialect reads: this looks like a URL of \
             native, which is not enabled: add [native] with `enabled = true`",
        ],
    );
}

#[test]
fn a_watermark_that_the_configuration_does_not_have_is_not_safe() {
    let site = Site::new("[files]\nopen = true\n[imgproxy]\nprefix = \"/img\"\n");
    site.log(&[
        "/img/insecure/w:60/wm:0.5/plain/local:///trip/b.jpg".to_owned(),
        "/img/insecure/w:60/plain/local:///trip/b.jpg".to_owned(),
    ]);
    // The old server does not have the file either, so both responses are the same.
    let said = site.adopt("--root images", &[]).ending(1);
    has(
        &said,
        &[
            "2 are the same to the byte",
            "Notes of the new server wm: there is neither",
            "1 URL, such as /img/insecure/w:60/wm:0.5/plain/local:///trip/b.jpg",
            "No Accept header was sent",
            "Not safe to switch yet: 1 of 2 replies differs; 1 URL had something left out: wm: there is neither",
        ],
    );
    let accept = ["-H", "Accept:*/*"].join(" ");
    let said = site
        .adopt(&format!("--root images --force {accept}"), &[])
        .ending(1);
    assert!(!said.out.contains("No Accept header"), "{}", said.out);
}

#[test]
fn a_site_whose_only_images_are_a_scripts_is_told_how_to_try_rules() {
    let site = Site::new(
        "[files]\nopen = true\n[[rewrite]]\nfrom = '^/thumb\\.php$'\nto = '/r/fit:${arg_w}x/$arg_src'\n",
    );
    site.log(&["/thumb.php?src=a.jpg&w=50".to_owned()]);
    let said = site.adopt("", &[]).ending(1);
    let command = format!(
        "andon adopt --config andon.toml --log access.log http://{}",
        site.old.address
    );
    assert!(said.err.contains("docs/behind-nginx.md"), "{}", said.err);
    assert!(said.err.contains(&command), "{}", said.err);
    fs::write(site.path("andon.toml"), &site.config).expect("a file");
    let said = site.adopt("--config andon.toml", &[]).ending(0);
    has(&said, &["100.00 % of 1 image URL", "Safe to switch."]);
}

#[test]
fn an_image_whose_url_a_rule_turns_into_that_of_a_script_is_not_recognised() {
    let site = Site::new(
        "[files]\nopen = true\n[[rewrite]]\nfrom = '^/foto/([0-9]+)/2024/(.+)$'\nto = '/r/fit:$1x/$2'\n",
    );
    site.log(&[
        "/foto/50/2024/a.jpg".to_owned(),
        "/r/fit:50x/a.jpg".to_owned(),
    ]);
    let images = site.path("images").display().to_string();
    let own = format!(
        "[[rewrite]]\nfrom = '^/foto/([0-9]+)/(.+)$'\nto = '/resize.php?src=$2&w=$1'\n[[origin]]\nfs.root = \"{images}\"\n"
    );
    fs::write(site.path("own.toml"), own).expect("a file");
    let said = site.adopt("--config own.toml", &[]).ending(1);
    has(
        &said,
        &[
            "[[rewrite]] makes the URL /resize.php?src=2024/a.jpg&w=50, which no dialect reads",
            "Not safe to switch yet: 1 image URL is not recognised.",
        ],
    );
}
