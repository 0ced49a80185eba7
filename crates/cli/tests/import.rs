//! `andon import` of nginx configurations: Andon then does what nginx was configured for.

use crate::common;
use std::fs;
use std::path::Path;

use crate::common::program;
use crate::common::said::{Said, said as run};
use crate::common::{Served, sample};
use tempfile::TempDir;

/// A folder with `nginx.conf`, and images in `files`.
pub(crate) struct Site(TempDir);

impl Site {
    pub(crate) fn new(conf: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = folder.path().join("files/trip");
        fs::create_dir_all(&files).unwrap();
        for (name, from) in [
            ("a.jpg", "jpeg/420.jpg"),
            ("b c.png", "png/rgb.png"),
            ("w.jpg", "photos/wren.jpg"),
        ] {
            fs::copy(sample(from), files.join(name)).unwrap();
        }
        let site = Self(folder);
        let conf = conf.replace("FILES", &site.path().join("files").display().to_string());
        fs::write(site.path().join("nginx.conf"), conf).unwrap();
        site
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn import(&self, more: &str) -> Said {
        run(program(), self.path(), &format!("import nginx.conf {more}"))
    }

    /// Imports, checks and serves the configuration. Returns the imported configuration.
    pub(crate) fn serve(&self) -> (String, Served) {
        self.serve_with("")
    }

    /// Runs `andon import` with further arguments, such as `--server NAME`, then checks and serves the resulting
    /// configuration. Returns that configuration.
    pub(crate) fn serve_with(&self, more: &str) -> (String, Served) {
        let imported = self.import(more).ending(0);
        assert_eq!(imported.err, "");
        fs::write(self.path().join("andon.toml"), &imported.out).unwrap();
        run(program(), self.path(), "config check andon.toml").ending(0);
        let served = Served::start(
            self.path(),
            &format!("{}\n[log]\nformat = \"off\"\n", imported.out),
        );
        (imported.out, served)
    }
}

/// Returns width and height of a response, or its status.
pub(crate) fn size(served: &Served, target: &str) -> String {
    let reply = served.get(target);
    if reply.status != 200 {
        return reply.status.to_string();
    }
    let image = andon_client::DecodedImage::decode(&reply.body).unwrap();
    format!("{}x{}", image.width, image.height)
}

const IMAGE_FILTER: &str = r#"
user www;
events { worker_connections 512; }
http {
    gzip on;
    image_filter_buffer 20M;
    proxy_cache_path /tmp/andon-import levels=1:2 keys_zone=images:10m max_size=1g inactive=60m;
    proxy_cache_valid 200 1h;
    server { listen 81; server_name other.example; return 301 https://other.example/; }
    server {
        listen 127.0.0.1:8081;
        listen 443 ssl;
        root FILES;
        expires 30d;
        location ~ ^/(\d+|-)x(\d+|-)/(.+)$ {
            image_filter resize $1 $2;
            image_filter_jpeg_quality 60;
            alias FILES/$3;
            error_page 415 = /empty.gif;
        }
        location ~ ^/square/(?<side>\d+)/ {
            rewrite ^/square/(\d+)/(.*)$ /$2 break;
            image_filter crop $1 $1;
        }
        location /turned/ {
            alias FILES/;
            image_filter rotate 90;
        }
        location ~* \.php$ { return 404; }
        location /private/ { internal; }
        location ^~ /plain/ { alias FILES/trip/; }
        location ~ ^/upload/(\d+)/ { image_filter resize $cookie_w -; auth_basic "no"; }
        location ~ ^/by-query/(.+) { image_filter resize $arg_w -; alias FILES/$1; }
        location @later { proxy_pass http://127.0.0.1:9; }
    }
}
"#;

#[test]
fn image_filter_locations_become_rewrites_and_give_the_same_sizes() {
    let site = Site::new(IMAGE_FILTER);
    let (text, served) = site.serve();
    for (target, is) in [
        ("/40x-/trip/a.jpg", size_of("trip/a.jpg", 40)),
        ("/40x-/trip/b%20c.png", size_of("trip/b c.png", 40)),
        ("/by-query/trip/a.jpg?w=40", size_of("trip/a.jpg", 40)),
        ("/by-query/trip/a.jpg?w=40)/x/", "415".to_owned()),
        ("/square/50/trip/a.jpg", "50x50".to_owned()),
        ("/plain/a.jpg", size_of("trip/a.jpg", u32::MAX)),
        ("/trip/a.jpg", size_of("trip/a.jpg", u32::MAX)),
        ("/0x0/trip/a.jpg", "415".to_owned()),
        ("/40x-/trip/none.jpg", "415".to_owned()),
        ("/x.PHP", "404".to_owned()),
        ("/private/trip/a.jpg", "404".to_owned()),
        (
            "/_nginx/image_filter(resize,10,10)/trip/a.jpg",
            "404".to_owned(),
        ),
        ("/r/fit:10x10/trip/a.jpg", "404".to_owned()),
    ] {
        assert_eq!(size(&served, target), is, "{target}\n{text}");
    }
    let [w, h] = sides("trip/a.jpg");
    assert_eq!(size(&served, "/turned/trip/a.jpg"), format!("{h}x{w}"));
    let reply = served.get("/40x-/trip/a.jpg");
    assert_eq!(reply.headers["cache-control"], "max-age=2592000");
    for part in [
        "# nginx.conf:2: user www: belongs into the unit of systemd",
        "# nginx.conf:5: gzip on: has no equivalent: images are compressed already",
        "# nginx.conf:7: proxy_cache_path inactive=60m: ",
        "# nginx.conf:9: another server; --server other.example imports it",
        "TLS needs an address, ssl_certificate and ssl_certificate_key",
        "image = \"/empty.gif\"\nstatus = 200",
        "# nginx.conf:32: location ~ ^/upload/(\\d+)/: the variable $cookie_w has no equivalent",
        "# nginx.conf:32: auth_basic no: has no equivalent: keep a proxy in front",
        "# nginx.conf:34: location @later: only nginx reaches it",
        "listen = [\"127.0.0.1:8081\"]",
        "disk = { path = \"/tmp/andon-import-andon\", size = \"1024MiB\" }",
        "ttl = \"3600s\"",
        "source_bytes = \"20480KiB\"",
        "connections = 512",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let other = site.import("--server other.example").ending(0);
    assert!(
        other.out.contains("listen = [\"0.0.0.0:81\"]"),
        "{}",
        other.out
    );
    let none = site.import("--server none.example").ending(1);
    assert!(
        none.err
            .contains("no server has the server_name none.example"),
        "{}",
        none.err
    );
}

fn sides(name: &str) -> [u32; 2] {
    let from = if name.ends_with("png") {
        "png/rgb.png"
    } else {
        "jpeg/420.jpg"
    };
    let image = andon_client::DecodedImage::decode(&fs::read(sample(from)).unwrap()).unwrap();
    [image.width, image.height]
}

/// Returns the size of a sample scaled to fit this width as the nginx module `image_filter` does it.
pub(crate) fn size_of(name: &str, width: u32) -> String {
    let [w, h] = sides(name);
    match w > width {
        true => format!("{width}x{}", h * width / w),
        false => format!("{w}x{h}"),
    }
}

const SMALL_LIGHT: &str = r#"
server {
    listen 127.0.0.1:8082;
    small_light on;
    small_light_pattern_define thumb dw=40,dh=40,da=s,q=80;
    small_light_pattern_define odd dw=4,what=1;
    small_light_material_dir FILES;
    small_light_radius_max 5;
    location ~ small_light[^/]*/(.+)$ {
        set $file $1;
        rewrite ^ /$file;
    }
    location ~ ^/album/small_light[^/]*/(.+)$ {
        set $file $1;
        rewrite ^ /trip/$file;
    }
    location ~ ^/w/(\d+)/(.+)$ {
        proxy_pass http://127.0.0.1:8082/small_light(dw=$1)/$2;
    }
    root FILES;
}
"#;

#[test]
fn small_light_keeps_its_urls_and_patterns() {
    let site =
        Site::new(&SMALL_LIGHT.replace("location ~ small_light", "location ~ ^/small_light"));
    let (text, served) = site.serve();
    let [w, h] = sides("a.jpg");
    let dw = |side: u32| format!("{side}x{}", side * h / w);
    for (target, is) in [
        ("/small_light(dw=40)/trip/a.jpg", dw(40)),
        ("/small_light(dw=40,q=80)x/trip/a.jpg", dw(40)),
        ("/album/small_light(dw=50)/a.jpg", dw(50)),
        ("/w/60/trip/a.jpg", dw(60)),
        ("/trip/a.jpg", format!("{w}x{h}")),
    ] {
        assert_eq!(size(&served, target), is, "{target}\n{text}");
    }
    assert!(size(&served, "/small_light(p=thumb)/trip/a.jpg").ends_with("x40"));
    for part in [
        "thumb = \"dw=40,dh=40,da=s,q=80\"",
        "radius_max = 5",
        "# nginx.conf:6: small_light_pattern_define odd dw=4,what=1: ",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn image_filter_is_kept_beside_small_light() {
    let site = Site::new(
        r#"
server {
    listen 127.0.0.1:8082;
    small_light on;
    root FILES;
    location ~ ^/thumb/(\d+|-)x(\d+|-)/(.+)$ {
        alias FILES/$3;
        image_filter resize $1 $2;
    }
    location ~ ^/album/small_light[^/]*/(.+)$ {
        set $file $1;
        rewrite ^ /trip/$file;
    }
    location ~ ^/both/small_light[^/]*/(.+)$ {
        image_filter rotate 90;
        set $file $1;
        rewrite ^ /trip/$file;
    }
}
"#,
    );
    let (text, served) = site.serve();
    let [w, h] = sides("a.jpg");
    let dw = |side: u32| format!("{side}x{}", side * h / w);
    for (target, is) in [
        ("/thumb/40x-/trip/a.jpg", size_of("trip/a.jpg", 40)),
        ("/thumb/0x0/trip/a.jpg", "415".to_owned()),
        ("/album/small_light(dw=50)/a.jpg", dw(50)),
        ("/both/small_light(dw=50)/a.jpg", dw(50)),
        ("/trip/a.jpg", format!("{w}x{h}")),
    ] {
        assert_eq!(size(&served, target), is, "{target}\n{text}");
    }
    let note = "location ~ ^/both/small_light[^/]*/(.+)$: image_filter is not applied";
    assert!(text.contains(note), "{note}\n{text}");
}

#[test]
fn getparam_mode_of_a_location_does_not_end_the_paths_of_others() {
    let of_location = "location /query/ { small_light_getparam_mode on; alias FILES/trip/; }";
    let of_paths =
        "location ~ ^/album/small_light[^/]*/(.+)$ { set $file $1; rewrite ^ /trip/$file; }";
    let site = |inner: &str| {
        Site::new(&format!(
            "server {{ listen 127.0.0.1:8082; small_light on; root FILES;\n{inner}\n}}"
        ))
    };
    let [w, h] = sides("a.jpg");
    let dw = |side: u32| format!("{side}x{}", side * h / w);

    let both = site(&format!("{of_location}\n{of_paths}"));
    let (text, served) = both.serve();
    let note = "# nginx.conf:2: small_light_getparam_mode on: not taken over";
    assert!(text.contains(note), "{note}\n{text}");
    assert_eq!(size(&served, "/album/small_light(dw=50)/a.jpg"), dw(50));

    let one = site(of_location);
    let (text, served) = one.serve();
    let note = "# nginx.conf:2: small_light_getparam_mode on: `getparam_mode` in [small_light] is for every path";
    assert!(text.contains(note), "{note}\n{text}");
    assert_eq!(size(&served, "/query/a.jpg?dw=50"), dw(50), "{text}");
}

#[test]
fn images_of_another_server_are_an_origin() {
    let site = Site::new(
        "events {}\nhttp { upstream back { server 127.0.0.1:9; server 127.0.0.2:9; }\n server { location ~ ^/t/(\\d+)/(.+)$ { proxy_pass http://back/originals/$2; image_filter resize $1 -; }\n location /raw/ { proxy_pass https://images.example/all/; } location / { return 403; } } }",
    );
    let text = site.import("").ending(0).out;
    for part in [
        "http.base = \"http://127.0.0.1:9/originals\"\nallow = [\"127.0.0.1/32\"]",
        "# nginx.conf:2: server 127.0.0.2:9: an origin has one address",
        "from = '^/t/(\\d+)/(.+)$'\nto = \"/_nginx/image_filter(resize,$1,-)/$2\"",
        "prefix = \"/raw\"\nhttp.base = \"https://images.example/all\"",
        "to = \"/.closed\"",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    fs::write(site.path().join("andon.toml"), &text).unwrap();
    run(program(), site.path(), "config check andon.toml").ending(0);
}

#[test]
fn a_mistake_is_named_with_its_line() {
    let site = Site::new("http {\n server {\n listen 80\n }\n}");
    let said = site.import("").ending(1);
    assert_eq!(said.err, "andon: nginx.conf:3: `listen` lacks its `;`\n");
    let site = Site::new("events {}");
    let said = site.import("").ending(1);
    assert_eq!(said.err, "andon: nginx.conf: there is no server block\n");
}

/// A running nginx with its module `image_filter`, if this machine has both. It is killed when this is dropped.
pub(crate) struct Nginx(std::process::Child);

impl Nginx {
    pub(crate) fn start(folder: &Path, address: &str) -> Option<Self> {
        let mut command = std::process::Command::new("nginx");
        command
            .arg("-p")
            .arg(folder)
            .args(["-e", "error.log", "-c", "nginx.conf"]);
        let Ok(child) = command.spawn() else {
            eprintln!("skipped: there is no nginx here");
            return None;
        };
        let mut nginx = Self(child);
        loop {
            if std::net::TcpStream::connect(address).is_ok() {
                return Some(nginx);
            }
            if nginx.0.try_wait().unwrap().is_some() {
                let log = fs::read_to_string(folder.join("error.log")).unwrap_or_default();
                assert!(
                    log.contains("dlopen") || log.contains("unknown directive"),
                    "{log}"
                );
                eprintln!("skipped: this nginx has no image_filter: {log}");
                return None;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn andon_answers_as_the_nginx_does_whose_configuration_it_imported() {
    let address = common::free_address();
    let conf = format!(
        r#"
load_module /usr/lib/nginx/modules/ngx_http_image_filter_module.so;
daemon off; master_process off; pid nginx.pid;
events {{}}
http {{
    client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
    access_log access.log combined;
    types {{ image/jpeg jpg; image/png png; }}
    server {{
        listen {address};
        root FILES;
        image_filter_buffer 20M;
        location ~ ^/(\d+|-)x(\d+|-)/(.+)$ {{
            image_filter resize $1 $2;
            alias FILES/$3;
        }}
        location ~ ^/crop/(\d+)x(\d+)/ {{
            rewrite ^/crop/(\d+)x(\d+)/(.*)$ /$3 break;
            image_filter crop $1 $2;
            image_filter_jpeg_quality 85;
        }}
        location /turned/ {{
            alias FILES/trip/;
            image_filter rotate 90;
        }}
        location ~ ^/q/(.+)$ {{
            image_filter crop $arg_w $arg_h;
            alias FILES/$1;
        }}
        location ~ \.txt$ {{ return 404; }}
        location ^~ /plain/ {{ alias FILES/; }}
    }}
}}"#
    );
    let site = Site::new(&conf);
    let Some(_nginx) = Nginx::start(site.path(), &address) else {
        return;
    };
    for target in [
        "/40x-/trip/a.jpg",
        "/-x33/trip/a.jpg",
        "/250x250/trip/w.jpg",
        "/97x1000/trip/w.jpg",
        "/30x30/trip/b%20c.png",
        "/9000x9000/trip/a.jpg",
        "/0x10/trip/a.jpg",
        "/40x40/trip/none.jpg",
        "/q/trip/w.jpg?w=70&h=90",
        "/q/trip/w.jpg?w=70",
        "/crop/100x100/trip/w.jpg",
        "/crop/33x77/trip/a.jpg",
        "/turned/w.jpg",
        "/plain/trip/a.jpg",
        "/trip/b%20c.png",
        "/a.txt",
    ] {
        // nginx closes connections after some errors.
        let mut client = common::Client::connect(&address).unwrap();
        client.get(target).unwrap();
    }
    let (_, served) = site.serve();
    let words = format!(
        "shadow access.log --old http://{address} --new http://{} --ssim 0.9",
        served.address
    );
    let said = run(program(), site.path(), &words).ending(0);
    assert!(said.out.starts_with("old "), "{}", said.out);
    assert!(
        said.out.contains("16 distinct URLs of 16 requests"),
        "{}",
        said.out
    );
}

#[test]
fn links_that_nginx_checks_are_checked() {
    let site = Site::new(
        r#"events {}
http { server {
    location /secure/ {
        secure_link $arg_md5,$arg_expires;
        secure_link_md5 "$secure_link_expires$uri swordfish";
        if ($secure_link = "") { return 403; }
        if ($secure_link = "0") { return 410; }
        alias FILES/trip/;
    }
} }"#,
    );
    let (text, served) = site.serve();
    let good = "/secure/a.jpg?md5=XtpGzfejz0U9crJSA7ilCg&expires=2147483647";
    assert_eq!(size(&served, good), size_of("a.jpg", u32::MAX), "{text}");
    let past = "/secure/a.jpg?md5=liQqgE2wqeVkz9i200RqVg&expires=1";
    for (target, status) in [
        ("/secure/a.jpg", "403"),
        (
            "/secure/w.jpg?md5=XtpGzfejz0U9crJSA7ilCg&expires=2147483647",
            "403",
        ),
        (past, "410"),
    ] {
        assert_eq!(size(&served, target), status, "{target}");
    }
    assert!(
        text.contains("location = \"/secure/\"\nsecure_link = \"$arg_md5,$arg_expires\""),
        "{text}"
    );
}

#[test]
fn what_secure_link_guards_is_reached_as_in_nginx_and_no_other_way() {
    let site = Site::new(
        r#"events {}
http { server {
    root FILES;
    location /trip/ {
        secure_link $arg_md5,$arg_expires;
        secure_link_md5 "$secure_link_expires$uri swordfish";
        if ($secure_link = "") { return 403; }
    }
    location ~ ^/thumb/(\d+)/ {
        rewrite ^/thumb/(\d+)/(.*)$ /trip/$2 break;
        image_filter resize $1 -;
    }
    location /private/ { internal; }
} }"#,
    );
    let (text, served) = site.serve();
    assert!(text.contains("opens = true"), "{text}");
    for (target, is) in [
        ("/thumb/40/a.jpg", size_of("trip/a.jpg", 40)),
        ("/trip/a.jpg", "403".to_owned()),
        ("//trip/a.jpg", "403".to_owned()),
        ("/%74rip/a.jpg", "403".to_owned()),
        ("/trip%2Fa.jpg", "403".to_owned()),
        ("/x/../trip/a.jpg", "403".to_owned()),
        ("/trip/../trip.jpg", "400".to_owned()),
        ("/private/a.jpg", "404".to_owned()),
        ("/%70rivate/a.jpg", "404".to_owned()),
        ("//private//a.jpg", "404".to_owned()),
    ] {
        assert_eq!(size(&served, target), is, "{target}\n{text}");
    }
}

/// `next build` of Next.js 15 writes neither `qualities` nor `localPatterns`, and adds `basePath` and the slash of
/// `trailingSlash` to the optimizer's path. `distDir` is the folder that it writes to.
#[test]
fn an_earlier_next_keeps_its_qualities_queries_paths_and_folders() {
    let site = Site::new("");
    fs::create_dir_all(site.path().join("public")).unwrap();
    let built = site.path().join("build/web/static/media");
    fs::create_dir_all(&built).unwrap();
    for copy in [site.path().join("public/w.jpg"), built.join("w.0a1b.jpg")] {
        fs::copy(sample("photos/wren.jpg"), copy).unwrap();
    }
    let json = r#"{ "version": 1, "config": { "basePath": "/docs", "distDir": "./build/web/", "trailingSlash": true, "images": {
        "deviceSizes": [640], "imageSizes": [64], "path": "/docs/_next/image/", "loader": "default",
        "formats": ["image/webp"], "domains": [], "remotePatterns": [] } } }"#;
    fs::write(site.path().join("next.json"), json).unwrap();
    let imported = run(program(), site.path(), "import next.json").ending(0);
    assert!(!imported.out.contains("# What was not"), "{}", imported.out);
    let read = "\nread = [\"build/web\"]\n";
    assert!(imported.out.contains(read), "{}", imported.out);
    let served = Served::start(site.path(), &imported.out);
    for query in [
        "url=%2Fdocs%2Fw.jpg&w=640&q=90",
        "url=%2Fdocs%2F_next%2Fstatic%2Fmedia%2Fw.0a1b.jpg&w=640&q=90",
        "url=%2Fdocs%2Fw.jpg%3Fv%3D2&w=64&q=75",
    ] {
        for path in ["/docs/_next/image", "/docs/_next/image/"] {
            let target = format!("{path}?{query}");
            assert_eq!(served.get(&target).status, 200, "{target}");
        }
    }
}

#[test]
fn an_application_of_next_keeps_its_widths_patterns_and_paths() {
    let site = Site::new("");
    let public = site.path().join("public");
    fs::create_dir_all(&public).unwrap();
    fs::create_dir_all(site.path().join(".next/static/media")).unwrap();
    fs::copy(sample("photos/wren.jpg"), public.join("w.jpg")).unwrap();
    let hashed = site.path().join(".next/static/media/w.0a1b.jpg");
    fs::copy(sample("photos/wren.jpg"), hashed).unwrap();
    let json = r#"{ "version": 1, "config": { "basePath": "", "assetPrefix": "/assets/", "images": {
        "deviceSizes": [640, 800], "imageSizes": [64], "path": "/_next/image", "loader": "default", "qualities": [40],
        "minimumCacheTTL": 60, "formats": ["image/avif", "image/webp"], "dangerouslyAllowSVG": true,
        "contentDispositionType": "inline", "domains": [], "maximumRedirects": 1,
        "remotePatterns": [
            { "protocol": "https", "hostname": "**.pictures.example", "pathname": "/a/**" },
            { "hostname": "img{1,2}.pictures.example" }
        ] } } }"#;
    fs::write(site.path().join("next.json"), json).unwrap();
    let imported = run(program(), site.path(), "import next.json").ending(0);
    assert_eq!(imported.err, "");
    for line in [
        "http.urls = [\"https://*.pictures.example/\"]",
        "fs.root = \".next/static\"",
        "read = [\".next\"]",
        "# images.maximumRedirects = 1: http.redirects",
        "# images: the hosts of `img{1,2}.pictures.example`",
    ] {
        assert!(imported.out.contains(line), "{line}: {}", imported.out);
    }
    fs::write(site.path().join("andon.toml"), &imported.out).unwrap();
    run(program(), site.path(), "config check andon.toml").ending(0);
    let served = Served::start(site.path(), &imported.out);
    for (target, status) in [
        ("/_next/image?url=%2Fw.jpg&w=640&q=40", 200),
        (
            "/_next/image?url=%2F_next%2Fstatic%2Fmedia%2Fw.0a1b.jpg&w=64&q=40",
            200,
        ),
        ("/_next/image?url=%2Fw.jpg&w=750&q=40", 400),
        ("/_next/image?url=%2Fw.jpg&w=640&q=75", 400),
    ] {
        let reply = served.get(target);
        assert_eq!(reply.status, status, "{target}");
    }
    let elsewhere = "/_next/image?url=%2Fassets%2F_next%2Fstatic%2Fmedia%2Fw.0a1b.jpg&w=64&q=40";
    let reply = served.get(elsewhere);
    assert_eq!(reply.status, 200);
    assert_eq!(
        reply.headers["cache-control"],
        "public, max-age=31536000, must-revalidate"
    );
    for (is_allowed, lines) in [
        (
            "true",
            [
                "http.urls = [\"http://127.0.0.1/\", \"http://localhost/\", \"http://media:9000/\", \"https://localhost/\"]\nallow = [\"127.0.0.0/8\", \"::1/128\", \"10.0.0.0/8\"",
                "# images: the pattern of `127.0.0.1` names no port",
                "# images: the domain `localhost` names no port",
            ],
        ),
        (
            "false",
            [
                "# images: where the address of http://127.0.0.1/ is not public, its images are refused unless the origin has `allow = [\"127.0.0.0/8\"]`",
                "# images: where the address of http://media:9000/ is not public",
                "# images: where the address of http://localhost/ is not public",
            ],
        ),
    ] {
        let json = format!(
            "{{\"images\": {{\"dangerouslyAllowLocalIP\": {is_allowed}, \"domains\": [\"localhost\"], \"remotePatterns\": [\
             {{\"protocol\": \"http\", \"hostname\": \"127.0.0.1\"}},\
             {{\"protocol\": \"http\", \"hostname\": \"media\", \"port\": \"9000\"}}]}}}}"
        );
        fs::write(site.path().join("local.json"), json).unwrap();
        let imported = run(program(), site.path(), "import local.json").ending(0);
        for line in lines {
            assert!(imported.out.contains(line), "{line}: {}", imported.out);
        }
        assert_eq!(imported.out.contains("\nallow"), is_allowed == "true");
    }
    fs::write(site.path().join("next.config.ts"), "export default {};").unwrap();
    let done = run(program(), site.path(), "import next.config.ts").ending(1);
    assert!(done.err.contains("next build"), "{}", done.err);
    for (json, said) in [
        ("{}", "it has no `images`"),
        ("{", "it is no JSON"),
        (
            r#"{ "images": { "localPatterns": [{ "pathname": "^(?:\/a)$" }] } }"#,
            "regular expressions",
        ),
        (
            r#"{ "images": { "minimumCacheTTL": 1.5 } }"#,
            "`minimumCacheTTL`",
        ),
    ] {
        fs::write(site.path().join("wrong.json"), json).unwrap();
        let done = run(program(), site.path(), "import wrong.json").ending(1);
        assert!(done.err.contains(said), "{}", done.err);
    }
}
