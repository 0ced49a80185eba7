//! `andon adopt` next to running servers, with logs in those servers' formats.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::common::said::{Said, command};
use crate::common::{Served, program, sample};
use tempfile::TempDir;

const KEY: &str = "0123456789abcdef0123456789abcdef";

/// A running server with the samples `a.jpg` and `trip/b.jpg`, which stands for the old server that `andon adopt`
/// replaces, and a folder in which `andon adopt` runs.
pub(crate) struct Site {
    folder: TempDir,
    pub(crate) old: Served,
    pub(crate) config: String,
}

impl Site {
    pub(crate) fn new(config: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("images/trip");
        fs::create_dir_all(&root).expect("a folder");
        fs::copy(sample("jpeg/420.jpg"), folder.path().join("images/a.jpg")).expect("a copy");
        fs::copy(sample("photos/wren.jpg"), root.join("b.jpg")).expect("a copy");
        let old = folder.path().join("old");
        fs::create_dir_all(&old).expect("a folder");
        let images = folder.path().join("images");
        let config = format!(
            "[log]\nformat = \"off\"\n[[origin]]\nfs.root = \"{}\"\n{config}",
            images.display()
        );
        Self {
            old: Served::start(&old, &config),
            folder,
            config,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect(name)
    }

    /// Writes a log in the combined format: these targets, and other requests that a website receives.
    pub(crate) fn log(&self, targets: &[String]) {
        let noise = [
            "GET / 200",
            "GET /about 404",
            "GET /css/site.css?v=3 200",
            "GET /js/app.1f2e3d.js 200",
            "GET /favicon.ico 200",
            "GET /health 404",
            "GET /wp-login.php 404",
            "POST /contact 200",
            "HEAD /a.jpg 200",
        ];
        let targets = targets.iter().map(|target| format!("GET {target} 200"));
        let lines = noise.iter().map(|line| (*line).to_owned()).chain(targets);
        let lines = lines.map(|line| {
            let (request, status) = line.rsplit_once(' ').expect("a status");
            format!(
                "10.0.0.1 - - [10/Oct/2000:13:55:36 +0000] \"{request} HTTP/1.1\" {status} 1 \"-\" \"Mozilla/5.0\"\n"
            )
        });
        fs::write(self.path("access.log"), lines.collect::<String>()).expect("a log");
    }

    pub(crate) fn adopt(&self, more: &str, variables: &[(&str, &str)]) -> Said {
        let address = &self.old.address;
        let words = format!("adopt --log access.log --rate 1000 http://{address} {more}");
        let mut command = command(program(), self.folder.path(), &words);
        command.envs(variables.iter().copied());
        command.output().expect("the program runs").into()
    }

    /// Returns URLs of `dialect`, with the old server's signature, that scale `trip/b.jpg` to fit squares with sides of
    /// `sizes` in px. `andon translate` makes them from native URLs.
    fn signed(&self, dialect: &str, sizes: &[u32]) -> Vec<String> {
        let file = self.path("old/andon.toml");
        fs::write(&file, &self.config).expect("a file");
        let all = sizes.iter().map(|size| {
            let url = format!("/r/fit:{size}x{size}/trip/b.jpg");
            let told = Command::new(program())
                .args([
                    "translate",
                    &url,
                    "--to",
                    dialect,
                    "--from",
                    "native",
                    "--config",
                ])
                .arg(&file)
                .output()
                .expect("the program runs");
            let told = String::from_utf8_lossy(&told.stdout).into_owned();
            let line = told.lines().find(|line| line.starts_with(dialect));
            let url = line.and_then(|line| line.split_whitespace().nth(1));
            url.unwrap_or_else(|| panic!("{told}")).to_owned()
        });
        all.collect()
    }

    fn checks(&self) {
        let said = command(program(), self.folder.path(), "config check andon.toml");
        let said: Said = { said }.output().expect("the program runs").into();
        said.ending(0);
    }
}

/// Checks that all of these texts were printed to standard output, ignoring the alignment of columns.
#[track_caller]
pub(crate) fn has(said: &Said, parts: &[&str]) {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let out = plain(&said.out);
    for part in parts {
        assert!(
            out.contains(&plain(part)),
            "{part}: {}{}",
            said.out,
            said.err
        );
    }
}

#[test]
fn a_site_of_eight_languages_is_recognised_and_safe_to_switch() {
    let site = Site::new(
        "[native]\nprefix = \"/own\"\n[imgproxy]\nprefix = \"/img\"\n[iiif]\nprefix2 = \"/iiif/2\"\n\
         [cloudflare]\nprefix = \"/cdn-cgi/image\"\n[next]\nprefix = \"/shop/_next/image\"\nbase_path = \"/shop\"\nqualities = [60, 75]\n\
         [weserv]\nprefix = \"/w\"\n[ipx]\nprefix = \"/_ipx\"\n[astro]\nprefix = \"/_image\"\n[thumbor]\nprefix = \"/thumbs\"\n",
    );
    let encoded = "bG9jYWw6Ly8vdHJpcC9iLmpwZw";
    let targets = [
        "/own/fit:60x60,as:webp/trip/b.jpg",
        "/own/fit:61x60,as:webp/trip/b.jpg",
        "/img/insecure/rs:fill:60:40/plain/local:///trip/b.jpg@png",
        "/img/insecure/rs:fill:61:40/q:70/plain/local:%2F%2F%2Ftrip%2Fb.jpg",
        &format!("/img/insecure/w:64/{encoded}.webp"),
        &format!(
            "/img/insecure/w:65/{}/{}.webp",
            &encoded[..10],
            &encoded[10..]
        ),
        "/iiif/2/trip%2Fb.jpg/full/60,/0/default.jpg",
        "/iiif/2/trip%2Fb.jpg/0,0,80,80/40,/90/gray.png",
        "/iiif/2/a.jpg/full/full/0/default.jpg",
        "/cdn-cgi/image/width=60,height=40,fit=cover/trip/b.jpg",
        "/cdn-cgi/image/w=50/a.jpg",
        "/shop/_next/image?url=%2Fshop%2Ftrip%2Fb.jpg&w=64&q=60",
        "/shop/_next/image?url=%2Fshop%2Fa.jpg&w=640&q=75",
        "/w/?url=trip/b.jpg&w=60&h=60&fit=cover",
        "/w/?url=a.jpg&w=50&output=webp",
        "/_ipx/w_60&f_png/trip/b.jpg",
        "/_ipx/_/a.jpg",
        "/_image?href=%2Ftrip%2Fb.jpg&w=60&f=png",
        "/thumbs/unsafe/60x40/smart/filters:quality(70)/trip/b.jpg",
        "/thumbs/unsafe/fit-in/60x40/filters:format(png)/trip/b.jpg",
        "/small_light(dw=60,dh=60,of=png)/trip/b.jpg",
        "/small_light(dw%3D61)/a.jpg",
    ]
    .map(str::to_owned);
    site.log(&targets);
    let said = site.adopt("", &[]).ending(0);
    has(
        &said,
        &[
            "100.00 % of 22 image URLs",
            "imgproxy        /img                              4 URLs",
            "Next.js         /shop/_next/image                 2 URLs",
            "IIIF 2          /iiif/2                           3 URLs",
            "ngx_small_light /                                 2 URLs",
            "22 distinct URLs of 22 requests were compared",
            "22 are the same to the byte",
            "requests left out: answered with 404",
            "Cloudflare Images",
            "location ^~ /thumbs/ {",
            "Answered without a signature: ",
            "Safe to switch.",
        ],
    );
    site.checks();
    let text = site.read("andon.toml");
    assert!(text.contains("base_path = \"/shop\""), "{text}");
    assert!(text.contains("qualities = [60, 75]"), "{text}");
    assert!(text.contains("# assumed: the old server"), "{text}");
    let page = site.read("andon-adopt.html");
    assert!(page.contains("Safe to switch.") && page.contains("Vercel"));

    let again = site.adopt("", &[]).ending(1);
    assert!(again.err.contains("--force replaces it"), "{}", again.err);
    assert_eq!(site.read("andon.toml"), text);
    let tried = site.adopt("--config andon.toml", &[]).ending(0);
    has(&tried, &["as configured", "(as it was)", "Safe to switch."]);
}

#[test]
fn signed_urls_need_keys_and_are_tried_without_them() {
    let site = Site::new(&format!(
        "[files]\nopen = true\n[native]\nopen = true\n[thumbor]\nprefix = \"/\"\nkeys = [\"{KEY}\"]\n"
    ));
    let mut targets = site.signed("thumbor", &[50, 60, 70]);
    targets.push("/r/fit:55x55/a.jpg".to_owned());
    site.log(&targets);
    let said = site.adopt("--root images", &[]).ending(1);
    has(
        &said,
        &[
            "100.00 % of 4 image URLs",
            "4 are the same to the byte",
            "Not safe to switch yet: fill in what is marked SECRET in andon.toml: thumbor.keys (THUMBOR_SECURITY_KEY).",
        ],
    );
    site.checks();
    let text = site.read("andon.toml");
    assert!(
        text.contains("# SECRET: THUMBOR_SECURITY_KEY goes here"),
        "{text}"
    );
    assert!(
        !text.contains("allow_unsafe"),
        "nothing unsigned is open: {text}"
    );
    let known = site
        .adopt("--root images --force", &[("THUMBOR_SECURITY_KEY", KEY)])
        .ending(0);
    has(&known, &["4 are the same to the byte", "Safe to switch."]);
    assert!(
        !known.out.contains("without a signature: thumbor"),
        "{}",
        known.out
    );
    assert!(!site.read("andon.toml").contains("SECRET"));
    let wrong = site
        .adopt(
            "--root images --force",
            &[("THUMBOR_SECURITY_KEY", "another key of sixteen bytes")],
        )
        .ending(1);
    has(
        &wrong,
        &["25.00 % of 4 image URLs", "its signature does not match"],
    );
}

#[test]
fn imgproxy_with_keys_is_adopted_at_the_root_beside_another_language() {
    let hex = |text: &str| {
        text.bytes()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let (key, salt) = (hex(KEY), hex("salty"));
    let site = Site::new(&format!(
        "[files]\nopen = true\n[native]\nopen = true\n[thumbor]\nopen = true\nprefix = \"/_t\"\n\
         [[rewrite]]\nfrom = \"^/unsafe/(.*)$\"\nto = \"/_t/unsafe/$1\"\n\
         [imgproxy]\nprefix = \"/\"\nkeys = [\"{key}\"]\nsalts = [\"{salt}\"]\n"
    ));
    let mut targets = site.signed("imgproxy", &[50, 60, 70]);
    targets.push("/unsafe/60x60/trip/b.jpg".to_owned());
    targets.push("/unsafe/fit-in/61x61/a.jpg".to_owned());
    site.log(&targets);
    let images = site.path("images").display().to_string();
    let open = format!("[imgproxy]\nprefix = \"/\"\n[[origin]]\nfs.root = \"{images}\"\n");
    fs::write(site.path("open.toml"), open).expect("a file");
    has(
        &site.adopt("--config open.toml", &[]).ending(1),
        &["3 URLs are signed, and no key of open.toml checks that: it would answer any URL"],
    );
    let variables = [("IMGPROXY_KEY", &*key), ("IMGPROXY_SALT", &*salt)];
    let said = site.adopt("--root images", &variables).ending(0);
    has(
        &said,
        &[
            "100.00 % of 5 image URLs",
            "imgproxy        /                                 3 URLs",
            "thumbor         /                                 2 URLs",
            "Safe to switch.",
        ],
    );
    site.checks();
}

#[test]
fn imgproxy_that_reads_only_presets_is_adopted_with_its_presets() {
    let site = Site::new(
        "[files]\nopen = true\n[imgproxy]\nprefix = \"/i\"\nonly_presets = true\n\
         presets = { small = \"w:60\", flat = \"el:1/bl:2\" }\n",
    );
    site.log(&[
        "/i/insecure/small/plain/local:///trip/b.jpg".to_owned(),
        "/i/insecure/small:flat/plain/local:///a.jpg".to_owned(),
        // `local:///a.jpg` in base64.
        "/i/insecure/flat/bG9jYWw6Ly8vYS5qcGc.png".to_owned(),
    ]);
    let without = site.adopt("--root images", &[]).ending(1);
    has(&without, &["imgproxy.presets (IMGPROXY_PRESETS)"]);
    let presets = [("IMGPROXY_PRESETS", "small=w:60,flat=el:1/bl:2")];
    let said = site.adopt("--root images --force", &presets).ending(0);
    has(&said, &["100.00 % of 3 image URLs", "Safe to switch."]);
    let text = site.read("andon.toml");
    assert!(text.contains("only_presets = true"), "{text}");
    site.checks();
}

/// Starts a server that answers a GET with the image in `file` if `is_image` returns true for the target, and with an
/// HTML page otherwise. Returns its address.
pub(crate) fn answers(
    file: &Path,
    is_image: impl Fn(&str) -> bool + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound").to_string();
    let image = fs::read(file).expect("an image");
    let shared = Arc::new((image, is_image));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || answer(stream, &shared.0, &shared.1));
        }
    });
    address
}

fn answer(
    mut stream: std::net::TcpStream,
    image: &[u8],
    is_image: &impl Fn(&str) -> bool,
) -> Option<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    loop {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
        if head.ends_with(b"\r\n\r\n") {
            let request = String::from_utf8_lossy(&head).into_owned();
            let target = request.split(' ').nth(1).unwrap_or_default();
            let (media_type, body) = match is_image(target) {
                true => ("image/jpeg", image),
                false => ("text/html", &b"<p>page</p>"[..]),
            };
            let length = body.len();
            let reply = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n"
            );
            stream.write_all(reply.as_bytes()).ok()?;
            stream.write_all(body).ok()?;
            head.clear();
        }
    }
}

#[test]
fn differences_and_unknown_images_are_told_and_shown() {
    let site = Site::new("");
    let old = answers(&sample("photos/otter.jpg"), |_| true);
    let line = |target: &str| {
        format!(
            "{{\"time\":\"2000-10-10T20:55:37.000Z\",\"method\":\"GET\",\"target\":\"{target}\",\"status\":200,\"bytes\":1,\"total_ms\":1.0}}\n"
        )
    };
    let targets = [
        "/unsafe/60x60/trip/b.jpg",
        "/resize/300/200/abcdef",
        "/resize/300/200/ghijkl",
    ];
    let log: String = targets.iter().map(|target| line(target)).collect();
    fs::write(site.path("access.log"), log).expect("a log");
    let words = format!("adopt --log access.log --rate 1000 --root images http://{old}");
    let said = command(program(), site.folder.path(), &words);
    let said = Said::from({ said }.output().expect("the program runs")).ending(1);
    has(
        &said,
        &[
            "33.33 % of 3 image URLs",
            "/resize/300/200/abcdef",
            "no dialect reads the URL",
            "size in px",
            "Not safe to switch yet: 2 image URLs are not recognised; 1 of 1 reply differs.",
        ],
    );
    let page = site.read("andon-adopt.html");
    assert!(
        page.contains("data:image/jpeg;base64,"),
        "both images are shown"
    );

    let words =
        format!("adopt --log access.log --ask 1 --rate 1000 --force --root images http://{old}");
    let said = command(program(), site.folder.path(), &words);
    let said = Said::from({ said }.output().expect("the program runs")).ending(1);
    has(
        &said,
        &["1 URL may be an image or not: nobody asked (--ask 1)"],
    );
}

#[test]
fn what_is_missing_is_said() {
    let site = Site::new("[thumbor]\nprefix = \"/\"\n[files]\n");
    site.log(&["/unsafe/60x60/nowhere/c.jpg".to_owned()]);
    let said = site.adopt("", &[]).ending(1);
    assert!(
        said.err.contains("say where they are by --root DIR"),
        "{}",
        said.err
    );
    let said = site.adopt("--root old", &[]).ending(1);
    assert!(said.err.contains("such as /nowhere/c.jpg"), "{}", said.err);
    assert!(!site.path("andon.toml").exists());
    fs::write(site.path("access.log"), "nonsense\n").expect("a log");
    let said = site.adopt("", &[]).ending(1);
    assert!(
        said.err.contains("no GET that was answered with 200"),
        "{}",
        said.err
    );
    site.log(&["/page".to_owned()]);
    let said = site.adopt("", &[]).ending(1);
    assert!(
        said.err.contains("is an image of a dialect that is known"),
        "{}",
        said.err
    );
    let said = site.adopt("--ssim 2", &[]).ending(1);
    assert!(
        said.err.contains("--ssim 2: write a similarity"),
        "{}",
        said.err
    );
}

#[test]
fn a_configuration_of_nginx_is_completed() {
    let site =
        Site::new("[[rewrite]]\nfrom = '^/thumb/(.+)$'\nto = '/small_light(dw=60,dh=60)/$1'\n");
    let conf = format!(
        "http {{\n server {{\n  listen 80;\n  small_light on;\n  root {};\n  location ~ ^/thumb/(.+)$ {{\n   rewrite ^/thumb/(.+)$ /small_light(dw=60,dh=60)/$1 last;\n  }}\n  location ~ small_light[^/]*/(.+)$ {{ set $file $1; rewrite ^ /$file; }}\n }}\n}}\n",
        site.path("images").display()
    );
    fs::write(site.path("nginx.conf"), conf).expect("a file");
    site.log(&[
        "/thumb/trip/b.jpg".to_owned(),
        "/small_light(dw=50)/a.jpg".to_owned(),
    ]);
    let said = site.adopt("--config nginx.conf", &[]).ending(0);
    has(
        &said,
        &[
            "as configured",
            "100.00 % of 2 image URLs",
            "Safe to switch.",
        ],
    );
}

#[test]
fn compressed_logs_are_refused_by_each_command_that_reads_logs() {
    let site = Site::new("");
    fs::write(site.path("access.log"), b"\x28\xb5\x2f\xfd").expect("a log");
    let address = &site.old.address;
    for words in [
        format!("adopt --log access.log http://{address}"),
        format!("shadow access.log --old http://{address} --new http://{address}"),
        format!("warm --from-log access.log --server http://{address}"),
    ] {
        let said = command(program(), site.folder.path(), &words).output();
        let said = Said::from(said.expect("the program runs")).ending(1);
        assert!(
            said.err.contains(
                "access.log: it is compressed by zstd: unpack it first (zstdcat access.log.1.zst > access.log.1)"
            ),
            "{words}: {}",
            said.err
        );
    }
}
