#![no_main]
//! Fuzzes URLs with any text as a request target, which is parsed with four configurations of the URL dialects. The
//! resulting recipe must have a text that parses to the same recipe. Every URL that a dialect writes for the request
//! must be written in the same way after it is parsed again.

use std::sync::LazyLock;

use andon_dialects::{
    AstroConfig, CloudflareConfig, Compat, Config, Dialects, IiifConfig, ImageFilterConfig,
    ImagorConfig, ImgixConfig, ImgproxyConfig, IpxConfig, Rewrite, SmallLightConfig, ThumborConfig,
    WeservConfig,
};
use andon_recipe::{Facts, Recipe};

static SETTINGS: LazyLock<Vec<Dialects>> = LazyLock::new(|| {
    let mut settings = Vec::new();
    for compat in [Compat::Sane, Compat::Strict] {
        for getparam_mode in [false, true] {
            let config = Config {
                rewrite: vec![
                    Rewrite {
                        from: r"^/resize/w/(\d+)/h/(\d+)/(.+)$".to_owned(),
                        query: Vec::new(),
                        to: "/small_light(dw=$1,dh=$2,da=l,q=90,jpeghint=y)/$3".to_owned(),
                        opens: false,
                    },
                    Rewrite {
                        from: r"^/resize\.php$".to_owned(),
                        query: ["(^|&)w=[1-9]", "(^|&)h=[1-9]"].map(str::to_owned).into(),
                        to: "/r/cover:${arg_w}x${arg_h},q:${arg_q:-80}/$arg_src".to_owned(),
                        opens: false,
                    },
                ],
                small_light: SmallLightConfig {
                    getparam_mode,
                    material_dir: Some("icons".into()),
                    compat,
                    patterns: [("msize".to_owned(), "dw=500,dh=500,da=l,q=95".to_owned())].into(),
                    ..SmallLightConfig::default()
                },
                image_filter: ImageFilterConfig {
                    prefix: "/".to_owned(),
                    ..ImageFilterConfig::default()
                },
                cloudflare: CloudflareConfig {
                    prefix: "/cdn-cgi/image".to_owned(),
                    ..CloudflareConfig::default()
                },
                weserv: WeservConfig {
                    prefix: "/weserv".to_owned(),
                    ..WeservConfig::default()
                },
                ipx: IpxConfig {
                    prefix: "/_ipx".to_owned(),
                    ..IpxConfig::default()
                },
                astro: AstroConfig {
                    prefix: "/_image".to_owned(),
                    ..AstroConfig::default()
                },
                imgix: ImgixConfig {
                    prefix: "/imgix".to_owned(),
                    ..ImgixConfig::default()
                },
                iiif: IiifConfig {
                    prefix: "/iiif/3".to_owned(),
                    prefix2: "/iiif/2".to_owned(),
                    ..IiifConfig::default()
                },
                imgproxy: ImgproxyConfig {
                    prefix: "/imgproxy".to_owned(),
                    presets: [("msize".to_owned(), "rs:fill:500:500/q:95".to_owned())].into(),
                    only_presets: getparam_mode,
                    ..ImgproxyConfig::default()
                },
                thumbor: ThumborConfig {
                    prefix: "/thumbor".to_owned(),
                    ..ThumborConfig::default()
                },
                imagor: ImagorConfig {
                    prefix: "/imagor".to_owned(),
                    allow_unsafe: true,
                    ..ImagorConfig::default()
                },
                ..Config::default()
            };
            settings.push(Dialects::new(&config).expect("this configuration works"));
        }
    }
    settings
});

libfuzzer_sys::fuzz_target!(|target: &str| {
    for dialects in SETTINGS.iter() {
        if let Ok(request) = dialects.parse(target) {
            for (width, height) in [(400, 300), (1, u32::MAX)] {
                let facts = Facts::new("jpeg", width, height);
                if let Ok(recipe) = request.rules.resolve(&facts) {
                    let text = recipe.to_string();
                    let again: Recipe = text.parse().expect(&text);
                    assert_eq!(again, recipe, "{text}");
                }
            }
            for (name, written) in dialects.write(&request) {
                let again = dialects.parse(&written).expect(&written);
                let rewritten = dialects.write(&again).find(|(other, _)| *other == name);
                assert_eq!(rewritten, Some((name, written)));
            }
        }
    }
});
