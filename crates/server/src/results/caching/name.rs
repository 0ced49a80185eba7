//! What results are called: by everything that their bytes depend on, and by nothing of one machine.
//!
//! Results outlive the process and the version on a disk, and machines may share them. So every part is a text
//! written here by hand, and a test freezes it: no derived `Debug`, no version of the package, no folder.

use std::fmt::Write;

use andon_cache::Key;
use andon_pixels::Codec;

use crate::config::{self, Config, HttpConfig, OriginKind, S3Config};
use crate::request::negotiation::SettledRequest;
use crate::sources::revision::Revision;

/// The parts of keys that do not come from the request.
#[derive(Debug)]
pub(crate) struct Names {
    revision: Revision,
    /// Prefixes, and where the sources below each come from: when that changes, a path is another image.
    origins: Vec<(String, String)>,
}

impl Names {
    pub(crate) fn new(config: &Config, codecs: &[&dyn Codec]) -> Self {
        let origin = |origin: &config::OriginConfig| {
            let prefix = origin.prefix.trim_matches('/').to_owned();
            (prefix, origin_name(&origin.keeper))
        };
        Self {
            revision: Revision::of(codecs),
            origins: config.origin.iter().map(origin).collect(),
        }
    }

    /// The key of a request whose format is settled and part of the recipe; nothing else that a client sends
    /// matters.
    pub(crate) fn key(&self, asked: &SettledRequest) -> Key {
        Key::of(&self.parts(asked))
    }

    fn parts(&self, asked: &SettledRequest) -> [String; 4] {
        let request = &asked.request;
        let source = request.source.as_str().trim_start_matches('/');
        let mut rules = String::new();
        for (rule, applies) in [
            ("negotiated", asked.negotiated),
            ("strict", request.style.exact),
            ("source-type", request.style.type_by_name),
        ] {
            if applies {
                let _ = write!(rules, "{rule} ");
            }
        }
        [
            self.origin(source).to_owned(),
            source.to_owned(),
            self.revision.result(request),
            rules,
        ]
    }

    /// The origin of the longest prefix.
    fn origin(&self, source: &str) -> &str {
        self.origins
            .iter()
            .filter(|(prefix, _)| config::is_below(prefix, source))
            .max_by_key(|(prefix, _)| prefix.len())
            .map_or("", |(_, origin)| origin)
    }
}

/// Where an origin's sources come from, as far as it decides which images they are. A folder has no name of
/// its own: it may be mounted anywhere, and its files are looked at before a result is used again.
fn origin_name(keeper: &OriginKind) -> String {
    match keeper {
        OriginKind::Fs(_) => "fs".to_owned(),
        OriginKind::Http(HttpConfig { base, headers, .. }, _) => {
            let mut name = format!("http {}", base.0);
            for (header, value) in headers {
                let _ = write!(name, "\n{header}: {value}");
            }
            name
        }
        OriginKind::S3(config, _) => {
            let S3Config {
                bucket,
                folder,
                region,
                endpoint,
                ..
            } = config;
            let endpoint = endpoint.as_ref().map_or("", |url| url.0.as_str());
            format!("s3 {endpoint} {region} {bucket} {folder}")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use andon_dialects::Dialects;

    use super::*;

    /// A request as the configuration `keys`, read in `folder`, understands it.
    fn parts(keys: &str, folder: &str, target: &str) -> ([String; 4], Key) {
        let config = Config::parse(keys, Path::new(folder)).unwrap();
        let request = Dialects::new(&config.dialects)
            .unwrap()
            .parse(target)
            .unwrap();
        let asked = SettledRequest {
            request: Arc::new(request),
            negotiated: false,
        };
        let names = Names::new(&config, andon_codecs::ALL);
        (names.parts(&asked), names.key(&asked))
    }

    const KEYS: &str = "
        [small_light]
        material_dir = \"icons\"
        compat = \"strict\"
        [[origin]]
        fs.root = \"photos\"
        [[origin]]
        prefix = \"/shop\"
        http.base = \"https://pictures.example/originals\"
        [[origin]]
        prefix = \"/bucket\"
        s3 = { bucket = \"b\", folder = \"f\", region = \"eu-central-1\" }";

    /// A changed text empties every cache: whoever changes this test does it on purpose. The revisions are
    /// the only part that may change by itself.
    #[test]
    fn the_text_of_keys_is_frozen() {
        let revision = andon_pixels::revision(andon_codecs::ALL);
        let (fs, _) = parts(KEYS, "/a", "/small_light(dw=10,dh=20,q=80)/x/a.jpg");
        let [origin, source, result, rules] = &fs;
        assert_eq!(origin, "fs");
        assert_eq!(source, "x/a.jpg");
        let recipe = result.strip_prefix(&revision).unwrap();
        assert_eq!(recipe, RECIPE);
        assert_eq!(rules, "strict source-type ");

        let (http, _) = parts(KEYS, "/a", "/shop/a.jpg");
        let origin = "http https://pictures.example/originals";
        assert_eq!(http, [origin, "shop/a.jpg", "", ""]);

        let (s3, _) = parts(KEYS, "/a", "/bucket/a.jpg");
        assert_eq!(s3[0], "s3  eu-central-1 b f");
    }

    const RECIPE: &str = " small_light(dw=10,dh=20,q=80)";

    #[test]
    fn machines_with_one_configuration_share_keys_wherever_their_folders_are() {
        for target in [
            "/small_light(dw=10,embedicon=lamp.png)/x/a.jpg",
            "/small_light(dw=10)/shop/a.jpg",
            "/a.jpg",
        ] {
            let (here, there) = (parts(KEYS, "/srv", target), parts(KEYS, "/mnt/b", target));
            assert_eq!(here, there, "{target}");
        }
        let (base, other) = (
            "https://pictures.example/originals",
            "https://other.example/",
        );
        let moved = KEYS.replace(base, other);
        let target = "/small_light(dw=10)/shop/a.jpg";
        assert_ne!(
            parts(KEYS, "/srv", target).1,
            parts(&moved, "/srv", target).1
        );
    }
}
