//! `andon adopt` with logs of sites whose URLs were made by the client libraries of other servers.
//!
//! The recognition rules were written without knowledge of these sites, and no rule is specific to one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use crate::adopt::{answers, has};
use crate::clients::{HEX_KEY, HEX_SALT, KEY, clients, npm, pypi};
use crate::common::said::{Said, command};
use crate::common::{printed, program, sample};

/// Other requests that a website receives, with their statuses. None of them is for an image in an image server's URL
/// dialect.
const NOISE: [&str; 28] = [
    "GET / 200",
    "GET /about 200",
    "GET /blog/how-to-resize-images 200",
    "GET /css/site.css?v=3 200",
    "GET /js/app.1f2e3d.js 200",
    "GET /favicon.ico 200",
    "GET /robots.txt 200",
    "GET /health 404",
    "GET /wp-login.php 200",
    "GET /wp-login.php?redirect_to=https%3A%2F%2Fx.example%2F 200",
    "GET /.env 404",
    "GET /xmlrpc.php 405",
    "POST /contact 200",
    "HEAD /logo.jpg 200",
    "GET /assets/logo-3f2a.svg 200",
    "GET /search?q=red+shoes&page=2 200",
    "GET /login?url=%2Faccount&l=de 200",
    "GET /share?url=https%3A%2F%2Fx.example%2Fpost&n=1 200",
    "GET /fonts/a.woff2 200",
    "GET /apple-touch-icon.png 200",
    "GET /api/v1/items?fields=a,b&w=3 200",
    "GET /sitemap.xml 200",
    "GET /feed 200",
    "GET /cgi-bin/luci/;stok=/locale?form=country 200",
    "GET /vendor/phpunit/src/Util/PHP/eval-stdin.php 200",
    "GET /_next/static/chunks/main.js 200",
    "GET /user/a@b.example/avatar 200",
    "GET /api/plain/readme.html 200",
];

/// Returns the URLs of each site that a program prints.
fn sites(command: &mut Command) -> BTreeMap<String, BTreeSet<String>> {
    let lines = printed(
        command
            .output()
            .expect("the interpreter that installed them"),
    );
    let mut sites: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in lines.lines() {
        let (site, target) = line.split_once(' ').expect("a site and a target");
        let targets = sites.entry(site.to_owned()).or_default();
        targets.insert(target.to_owned());
    }
    sites
}

/// Adopts a site, and checks that at least 99 % of its image URLs are recognised, that no other URL is, and that the
/// configuration is valid. `languages` are the expected dialects with their prefixes and numbers of URLs.
fn adopts(targets: &BTreeSet<String>, languages: &[&str]) {
    let noise: BTreeSet<&str> = (NOISE.iter().filter_map(|line| line.split(' ').nth(1))).collect();
    let is_page = move |target: &str| noise.contains(target) && !target.ends_with("png");
    let old = answers(&sample("photos/otter.jpg"), move |target| !is_page(target));
    let folder = tempfile::tempdir().expect("a folder");
    let asked = targets.iter().map(|target| format!("GET {target} 200"));
    let lines = NOISE.iter().map(|line| (*line).to_owned()).chain(asked);
    let log = lines.map(|line| {
        let (request, status) = line.rsplit_once(' ').expect("a status");
        format!("10.0.0.1 - - [10/Oct/2000:13:55:36 +0000] \"{request} HTTP/1.1\" {status} 1 \"-\" \"Mozilla/5.0\"\n")
    });
    fs::write(folder.path().join("access.log"), log.collect::<String>()).expect("a log");
    let words = format!("adopt --log access.log --rate 1000 --limit 1 http://{old}");
    let mut adopt = command(program(), folder.path(), &words);
    let said: Said = adopt.output().expect("the program runs").into();
    let share = said
        .out
        .lines()
        .find_map(|line| line.trim().split_once(" % of "));
    let (share, images) = share.unwrap_or_else(|| panic!("{}{}", said.out, said.err));
    let share: f64 = share.parse().expect("a number");
    let text = fs::read_to_string(folder.path().join("andon.toml")).expect("a configuration");
    assert!(share >= 99.0, "{}\n{text}", said.out);
    let images: usize = images
        .split(' ')
        .next()
        .expect("a number")
        .parse()
        .expect("a number");
    assert!(
        images <= targets.len(),
        "{images} of {}: {}",
        targets.len(),
        said.out
    );
    has(&said, languages);
    let head = said.out.split(" % of ").next().unwrap_or_default();
    let groups = head.lines().filter(|line| line.contains(" URLs ")).count();
    assert_eq!(groups, languages.len(), "{}", said.out);
    let check = command(program(), folder.path(), "config check andon.toml").output();
    Said::from(check.expect("the program runs")).ending(0);
}

#[test]
fn five_sites_of_client_libraries_are_recognised() {
    let (Some(node), Some(python)) = (npm(), pypi()) else {
        return;
    };
    let files = "127.0.0.1:9";
    let mut of_node = Command::new("node");
    of_node.arg(clients().join("sites.mjs"));
    of_node.args([&node, HEX_KEY, HEX_SALT, KEY, files]);
    let mut of_python = Command::new("python3");
    of_python.arg(clients().join("sites.py"));
    of_python.args([&python, KEY, HEX_KEY, HEX_SALT, files]);
    let mut all = sites(&mut of_node);
    for (site, targets) in sites(&mut of_python) {
        all.entry(site).or_default().extend(targets);
    }
    for (site, languages) in [
        ("shop", &["imgproxy / 360 URLs"][..]),
        ("magazine", &["thumbor /thumbs 300 URLs"]),
        (
            "library",
            &["IIIF 3 /iiif/3 270 URLs", "IIIF 2 /iiif/2 270 URLs"],
        ),
        ("blog", &["imgix / 2280 URLs"]),
        (
            "portal",
            &[
                "Next.js /_next/image 60 URLs",
                "Vercel /_vercel/image 60 URLs",
                "Astro /_image 60 URLs",
                "Cloudflare /cdn-cgi/image 60 URLs",
                "ipx /_ipx 54 URLs",
                "weserv /proxy 60 URLs",
                "Photon / 60 URLs",
            ],
        ),
    ] {
        adopts(&all[site], languages);
    }
}

#[test]
fn six_further_sites_with_prefixes_of_their_own_are_recognised() {
    let Some(node) = npm() else {
        return;
    };
    let mut program = Command::new("node");
    program.arg(clients().join("more_sites.mjs"));
    program.args([&node, HEX_KEY, HEX_SALT, KEY]);
    let all = sites(&mut program);
    for (site, languages) in [
        ("travel", &["imgproxy /media/render 160 URLs"][..]),
        ("forum", &["imagor /pics 40 URLs"]),
        (
            "cathedral",
            &[
                "IIIF 3 /scans/image 160 URLs",
                "IIIF 2 /cantaloupe/iiif/2 160 URLs",
            ],
        ),
        (
            "zone",
            &[
                "Cloudflare /cdn-cgi/image 40 URLs",
                "weserv / 80 URLs",
                "ipx /kiosk/_ipx 40 URLs",
                "Next.js /shop/_next/image 40 URLs",
                "Astro /docs/_image 40 URLs",
            ],
        ),
        ("clinic", &["thumbor / 40 URLs", "imgproxy / 40 URLs"]),
        (
            "twins",
            &[
                "thumbor /t1 40 URLs",
                "thumbor /old/thumbor 40 URLs",
                "imgproxy /p1 40 URLs",
                "imgproxy /p2 40 URLs",
                "Photon / 80 URLs",
            ],
        ),
    ] {
        adopts(&all[site], languages);
    }
}

/// Log formats of the same requests. Each has a method, a target, a status and a time in some place.
const FORMATS: [&str; 6] = [
    r#"10.0.0.1 - h [10/Oct/2000:13:55:36 +0000] 0.042 "GET TARGET HTTP/1.1" 200 482 "-" HIT"#,
    "2000-10-10T13:55:36+00:00|10.0.0.1|h|GET|TARGET|HTTP/1.1|200|482|0.042",
    r#"10.0.0.1 - - [10/Oct/2000:13:55:36 +0000] "GET https://h.exampleTARGET HTTP/1.1" 200 482"#,
    r#"{"ClientRequestMethod":"GET","ClientRequestURI":"TARGET","EdgeResponseStatus":200,"EdgeStartTimestamp":"2000-10-10T13:55:36Z"}"#,
    r#"Oct 10 13:55:36 lb haproxy[1]: 10.0.0.1:3 [10/Oct/2000:13:55:36.655] in s/1 1/0/3/6/109 200 275 - - ---- 1/1 0/0 "GET TARGET HTTP/1.1""#,
    r#"images-1  | INFO [2000-10-10T13:55:36Z] Completed in 1ms TARGET request_id=a method=GET status=200 client_ip=1"#,
];

#[test]
fn logs_of_formats_that_nobody_has_named_are_adopted() {
    let targets = [
        "/unsafe/30x20/a.jpg",
        "/unsafe/fit-in/40x40/filters:quality(80)/a.jpg",
    ];
    let old = answers(&sample("photos/otter.jpg"), |_| true);
    for format in FORMATS {
        let folder = tempfile::tempdir().expect("a folder");
        let lines = targets.map(|target| format.replace("TARGET", target) + "\n");
        fs::write(folder.path().join("access.log"), lines.concat()).expect("a log");
        let words = format!("adopt --log access.log --rate 1000 --limit 1 http://{old}");
        let said = command(program(), folder.path(), &words).output();
        let said = Said::from(said.expect("the program runs"));
        has(&said, &["thumbor / 2 URLs", "100.00 % of 2 image URLs"]);
    }
}

#[test]
fn a_folder_takes_the_place_of_one_of_a_container() {
    let old = answers(&sample("photos/otter.jpg"), |_| true);
    let folder = tempfile::tempdir().expect("a folder");
    let conf = "LOADER = 'thumbor.loaders.file_loader'\nFILE_LOADER_ROOT_PATH = '/data/of/the/container'\n";
    fs::write(folder.path().join("thumbor.conf"), conf).expect("a file");
    fs::create_dir(folder.path().join("images")).expect("a folder");
    fs::copy(
        sample("photos/otter.jpg"),
        folder.path().join("images/a.jpg"),
    )
    .expect("an image");
    let line = FORMATS[0].replace("TARGET", "/unsafe/30x20/a.jpg");
    fs::write(folder.path().join("access.log"), line).expect("a log");
    let adopt = |more: &str| {
        let words =
            format!("adopt --log access.log --config thumbor.conf {more}--limit 1 http://{old}");
        Said::from(
            command(program(), folder.path(), &words)
                .output()
                .expect("the program runs"),
        )
    };
    let without = adopt("");
    assert!(without.err.contains("--root DIR"), "{}", without.err);
    has(
        &adopt("--root images "),
        &["as configured 1 URL", "100.00 % of 1 image URL"],
    );
    let text = fs::read_to_string(folder.path().join("andon.toml")).expect("a configuration");
    assert!(
        text.contains("# \"/data/of/the/container\" of --config"),
        "{text}"
    );
}
