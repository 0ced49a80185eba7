//! Realistic sites: nginx, and Andon with the configuration that `andon import` wrote for it, receive the same
//! requests. The import names every URL that is answered differently.

use crate::common;
use crate::import::{Nginx, Site};

/// Status, media type, sides of an image, and `Cache-Control`.
type Answer = (u16, String, Option<(u32, u32)>, String);

fn ask(address: &str, target: &str) -> Answer {
    // nginx closes connections after some errors.
    let mut client = common::Client::connect(address).expect("a connection");
    let reply = client.get(target).expect("an answer");
    let header = |name: &str| reply.headers.get(name).cloned().unwrap_or_default();
    if reply.status != 200 {
        return (reply.status, String::new(), None, String::new());
    }
    let image = andon_client::DecodedImage::decode(&reply.body).ok();
    let sides = image.map(|image| (image.width, image.height));
    (
        reply.status,
        header("content-type"),
        sides,
        header("cache-control"),
    )
}

/// Returns an nginx configuration that writes nothing outside of its folder.
fn conf(server: &str) -> String {
    format!(
        "load_module /usr/lib/nginx/modules/ngx_http_image_filter_module.so;\n\
         daemon off; master_process off; pid nginx.pid;\nevents {{}}\nhttp {{\n\
         client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;\n\
         access_log off; types {{ image/jpeg jpg; image/png png; image/gif gif; }}\n\
         server {{ {server}\n}}\n}}\n"
    )
}

/// Sends the same requests to nginx and to Andon with the imported configuration, and checks that both answer alike.
/// `named` are prefixes of targets that may be answered differently, each with what the imported configuration says
/// about that. Returns the imported configuration, or `None` if nginx is not installed.
pub(crate) fn both_answer_alike(
    server: &str,
    targets: &[&str],
    named: &[(&str, &str)],
) -> Option<String> {
    let address = common::free_address();
    let site = Site::new(&conf(&format!(
        "server_name images.example; listen {address};\n{server}"
    )));
    let _nginx = Nginx::start(site.path(), &address)?;
    let (text, served) = site.serve_with("--server images.example");
    let mut silent = Vec::new();
    for target in targets {
        let (old, new) = (ask(&address, target), ask(&served.address, target));
        let why = named.iter().find(|(start, _)| target.starts_with(start));
        match why {
            _ if old == new => {}
            Some((_, said)) => assert!(text.contains(said), "{said}\n{text}"),
            None => silent.push(format!("{target}: {old:?} became {new:?}")),
        }
    }
    for (start, _) in named {
        assert!(
            targets.iter().any(|target| target.starts_with(start)),
            "{start}"
        );
    }
    assert!(silent.is_empty(), "{}\n{text}", silent.join("\n"));
    Some(text)
}

#[test]
fn thumbnails_by_captures_and_a_named_location() {
    both_answer_alike(
        r#"root FILES; image_filter_buffer 20M; expires 1h;
        location ~ ^/thumb/(?<w>\d+)x(?<h>\d+)/(?<file>.+)$ {
            try_files /made/$w-$h/$file @make;
        }
        location @make {
            rewrite ^ /$file break;
            image_filter resize $w $h;
            image_filter_jpeg_quality 80;
            expires 30d;
        }
        location ~ ^/square/(\d+)/(.+)$ {
            try_files /$2 =404;
            image_filter crop $1 $1;
            add_header Cache-Control public;
        }
        location / { try_files $uri =404; }"#,
        &[
            "/thumb/40x40/trip/a.jpg",
            "/thumb/100x50/trip/w.jpg",
            "/thumb/30x30/trip/b%20c.png",
            "/square/50/trip/a.jpg",
            "/square/33/trip/w.jpg",
            "/square/33/trip/none.jpg",
            "/trip/a.jpg",
            "/trip/none.jpg",
        ],
        &[],
    );
}

#[test]
fn sides_that_are_set_before_the_path_is_rewritten() {
    both_answer_alike(
        r#"root FILES; image_filter_buffer 20M;
        location ~* "^/thumbs/(\d{2,4})x(\d{2,4})/(.+\.(?:jpe?g|png))$" {
            set $w $1; set $h $2;
            rewrite ^/thumbs/[^/]+/(.*)$ /$1 break;
            image_filter crop $w $h;
        }
        location ~ ^/w/(\d+)/ {
            set $width $1;
            rewrite ^/w/\d+/(.*) /trip/$1 break;
            image_filter resize $width -;
        }
        location / { return 404; }"#,
        &[
            "/thumbs/40x30/trip/a.jpg",
            "/thumbs/30x40/trip/b%20c.png",
            "/thumbs/30x40/trip/none.jpg",
            "/w/50/a.jpg",
            "/w/50/none.jpg",
        ],
        &[],
    );
}

#[test]
fn signed_downloads_with_thumbnails_beside_them() {
    both_answer_alike(
        r#"root FILES; image_filter_buffer 20M;
        location /full/ {
            secure_link $arg_md5,$arg_expires;
            secure_link_md5 "$secure_link_expires$uri swordfish";
            if ($secure_link = "") { return 403; }
            if ($secure_link = "0") { return 410; }
            alias FILES/trip/;
            add_header Cache-Control "private, max-age=60";
        }
        location ~ ^/t/(\d+)/(.+)$ {
            alias FILES/trip/$2;
            image_filter resize $1 -;
            expires 7d;
        }
        location /internal/ { internal; alias FILES/trip/; }
        location / { return 404; }"#,
        &[
            "/full/a.jpg?md5=B5lAJBsayy73JbE_FwfADQ&expires=2147483647",
            "/full/a.jpg",
            "/full/a.jpg?md5=x&expires=1",
            "/t/40/a.jpg",
            "/t/60/w.jpg",
            "/t/60/none.jpg",
            "/internal/a.jpg",
            "/elsewhere.jpg",
        ],
        &[],
    );
}

#[test]
fn lifetimes_and_headers_of_every_location_are_its_own() {
    both_answer_alike(
        r#"root FILES; image_filter_buffer 20M;
        add_header X-Site images;
        location /trip/ { expires 1h; }
        location ~* \.png$ { expires 30d; add_header Cache-Control "public, immutable"; }
        location ^~ /long/ { alias FILES/trip/; expires max; }
        location ^~ /never/ { alias FILES/trip/; expires -1; }
        location ^~ /plain/ { alias FILES/trip/; }
        location ^~ /off/ { alias FILES/trip/; expires off; add_header Cache-Control no-store; }
        location ~ ^/w/(\d+)/(.+)$ { alias FILES/$2; image_filter resize $1 -; expires 12h; }
        location ^~ /office/ { allow 10.0.0.0/8; allow 192.168.0.0/16; deny all; alias FILES/trip/; }
        location ^~ /nobody/ { deny all; }"#,
        &[
            "/trip/a.jpg",
            "/trip/b%20c.png",
            "/long/a.jpg",
            "/never/a.jpg",
            "/plain/a.jpg",
            "/off/a.jpg",
            "/w/40/trip/a.jpg",
            "/w/40/trip/b%20c.png",
            "/office/a.jpg",
            "/nobody/a.jpg",
        ],
        &[
            // 404 instead of 403, so that clients do not learn what exists.
            (
                "/office/",
                "allow 10.0.0.0/8; allow 192.168.0.0/16; deny all: Andon has no lists of addresses",
            ),
            ("/nobody/", "to = \"/.closed\""),
        ],
    );
}

#[test]
fn another_servers_images_with_a_lifetime_for_each_location() {
    let origin = common::free_address();
    let files = Site::new(&conf(&format!(
        "listen {origin}; root FILES; location ~ png$ {{ expires 5m; }}"
    )));
    let Some(_origin) = Nginx::start(files.path(), &origin) else {
        return;
    };
    both_answer_alike(
        &r#"image_filter_buffer 20M;
        location /raw/ { proxy_pass http://ORIGIN/trip/; }
        location /day/ { proxy_pass http://ORIGIN/trip/; expires 1d; proxy_cache_valid 200 1d; }
        location ~ ^/t/(\d+)/(.+)$ {
            proxy_pass http://ORIGIN/$2;
            image_filter resize $1 -;
            expires 10m;
        }
        location ~ ^/c/(\d+)x(\d+)/(.+)$ {
            proxy_pass http://ORIGIN/$3;
            image_filter crop $1 $2;
            add_header Cache-Control "max-age=7200";
        }
        location / { return 404; }"#
            .replace("ORIGIN", &origin),
        &[
            "/raw/a.jpg",
            "/raw/b%20c.png",
            "/raw/none.jpg",
            "/day/a.jpg",
            "/t/40/trip/a.jpg",
            "/t/40/trip/w.jpg",
            "/t/40/trip/none.jpg",
            "/c/30x60/trip/w.jpg",
            "/c/30x60/trip/a.jpg",
            "/none",
        ],
        &[],
    );
}

#[test]
fn missing_images_have_the_same_image_in_their_place() {
    both_answer_alike(
        r#"root FILES; image_filter_buffer 20M;
        location ~ ^/t/(\d+)/(.+)$ {
            try_files /$2 /trip/w.jpg;
            image_filter resize $1 -;
        }
        location ~ ^/e/(\d+)/(.+)$ {
            alias FILES/$2;
            image_filter resize $1 -;
            error_page 404 415 =200 /trip/a.jpg;
        }
        location ~ ^/k/(\d+)/(.+)$ {
            alias FILES/$2;
            image_filter crop $1 $1;
            error_page 415 404 /trip/a.jpg;
        }
        location / { try_files $uri $uri/ =404; }"#,
        &[
            "/t/40/trip/a.jpg",
            "/t/40/trip/none.jpg",
            "/e/40/trip/w.jpg",
            "/e/40/trip/none.jpg",
            "/k/40/trip/w.jpg",
            "/k/40/trip/none.jpg",
            "/trip/a.jpg",
        ],
        &[
            // nginx sends the whole file.
            (
                "/t/40/trip/none.jpg",
                "# the same is made of it as of the image that is missing",
            ),
            (
                "/e/40/trip/none.jpg",
                "# the same is made of it as of the image that is missing",
            ),
            (
                "/k/40/trip/none.jpg",
                "# the same is made of it as of the image that is missing",
            ),
        ],
    );
}

#[test]
fn tls_is_imported_with_its_files() {
    let site = Site::new(
        "events {}\nhttp { server { listen 80; listen 443 ssl http2; listen [::]:443 ssl;\n\
         ssl_certificate /etc/ssl/a.pem; ssl_certificate_key /etc/ssl/a.key; ssl_protocols TLSv1.2 TLSv1.3;\n\
         root FILES; } }",
    );
    let text = site.import("").ending(0).out;
    for part in [
        "listen = [\"0.0.0.0:80\"]",
        "[tls]\nlisten = [\"0.0.0.0:443\", \"[::]:443\"]\ncertificate = \"/etc/ssl/a.pem\"\nkey = \"/etc/ssl/a.key\"",
        "ssl_protocols TLSv1.2 TLSv1.3: is not needed",
        "# Where nginx goes on to end TLS, remove this table",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn scripts_and_sockets_behind_nginx_are_named() {
    let site = Site::new(
        "events {}\nhttp { upstream back { server unix:/run/back.sock; }\n\
         server { listen 80; root FILES;\n\
         location ~ ^/t/(.+)$ { proxy_pass http://back/$1; image_filter resize ${arg_w} -; }\n\
         location ~ ^/q/(.+)$ { rewrite ^/q/(.+)$ /r/${arg_w}x$arg_h/$1 last; }\n\
         location ~ \\.php$ { fastcgi_pass unix:/run/php.sock; } } }",
    );
    let text = site.import("").ending(0).out;
    for part in [
        "origins are asked over TCP",
        "fastcgi_pass unix:/run/php.sock: has no equivalent: Andon runs no programs",
        "to = \"/r/${arg_w}x${arg_h}/$1\"",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("http://unix:"), "{text}");
}
