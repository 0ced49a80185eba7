//! Lists of what unsigned URLs may ask for, in every dialect: widths, heights and qualities.

use andon_recipe::{Goal, Wish};
use andon_settings::check;
use serde::Deserialize;

use crate::ConfigError;
use crate::errors::Fault;
use crate::refusal::Refusal;
use crate::request::{Ask, ImageRequest};

/// The `[permitted]` table. An empty list permits everything. Signed URLs may ask for anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PermittedConfig {
    /// Widths in device pixels, such as those of a page's `srcset`.
    pub widths: Vec<u32>,
    /// Heights in device pixels.
    pub heights: Vec<u32>,
    /// Qualities, 1 to 100, that of the dialect where the URL names none included.
    pub qualities: Vec<u8>,
}

impl PermittedConfig {
    /// Checks for values that no request can ask for.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        for (key, sides) in [("widths", &self.widths), ("heights", &self.heights)] {
            check(!sides.contains(&0), format!("permitted.{key}"), || {
                "0 px is no side of an image; an empty list permits every side".to_owned()
            })?;
        }
        let wrong = self.qualities.iter().find(|it| !(1..=100).contains(*it));
        check(wrong.is_none(), "permitted.qualities", || {
            format!("{} must be from 1 to 100", wrong.unwrap_or(&0))
        })
    }

    /// Whether everything is permitted.
    fn is_empty(&self) -> bool {
        self.widths.is_empty() && self.heights.is_empty() && self.qualities.is_empty()
    }

    /// Checks an unsigned request for an image.
    ///
    /// # Errors
    /// A side or a quality that is not in its list, with those that are.
    pub(crate) fn check(&self, request: &ImageRequest) -> Result<(), Refusal> {
        if self.is_empty() || request.ask != Ask::Image {
            return Ok(());
        }
        let Some(Wish { w, h, output, .. }) = request.rules.wish() else {
            return Ok(());
        };
        let side = |name, side: Option<f64>, permitted: &[u32]| {
            let side = side.map(|side| side.round() as u32);
            refuse(name, side, permitted)
        };
        side("width", w, &self.widths)?;
        side("height", h, &self.heights)?;
        let quality = match output.goal {
            Some(Goal::Quality(quality)) => Some(quality),
            _ => None,
        };
        refuse("quality", quality, &self.qualities)
    }
}

/// Refuses a value that is not in a list, unless the list is empty.
fn refuse<T: Copy + Ord + ToString>(
    name: &str,
    value: Option<T>,
    permitted: &[T],
) -> Result<(), Refusal> {
    let Some(value) = value.filter(|it| !permitted.is_empty() && !permitted.contains(it)) else {
        return Ok(());
    };
    let mut all = permitted.to_vec();
    all.sort_unstable();
    let all: Vec<String> = all.iter().map(T::to_string).collect();
    let plural = match name {
        "quality" => "qualities",
        "width" => "widths",
        _ => "heights",
    };
    let why = format!(
        "unsigned URLs may ask for these {plural}: {}",
        all.join(", ")
    );
    let value = format!("{name} {}", value.to_string());
    Err(Refusal::of(Fault::Url, &value, why))
}

#[cfg(test)]
mod tests {
    use crate::{Config, ConfigError, Dialects, NoHeaders, Places, Refusal};

    /// A server with folders only.
    struct Folders;

    impl Places for Folders {
        fn path_of_url(&self, _: &str) -> Option<String> {
            None
        }

        fn is_literal(&self, _: &str) -> bool {
            false
        }

        fn paths_of_overlay(&self, _: &str) -> Vec<String> {
            Vec::new()
        }
    }

    fn config(text: &str) -> Config {
        let read = ConfigError::reading(text, &[], |all| all.read::<Config>());
        read.expect("a configuration")
    }

    /// What becomes of a target where everything is switched on and these keys are set.
    fn parse(keys: &str, target: &str) -> Result<(), Refusal> {
        let text = format!(
            "{keys}\n[imgproxy]\nprefix = \"/imgproxy\"\nquality = 75\n[thumbor]\nprefix = \"/thumbor\"\nquality = 75\n\
             [imgix]\nprefix = \"/imgix\"\n[weserv]\nprefix = \"/weserv\"\n[cloudflare]\nprefix = \"/cdn-cgi/image\"\n\
             [iiif]\nprefix = \"/iiif/3\"\n[ipx]\nprefix = \"/_ipx\"\n[image_filter]\nprefix = \"/filter\"\n"
        );
        let dialects = Dialects::new(&config(&text)).unwrap();
        dialects
            .parse_for(target, &NoHeaders, &Folders, Ok)
            .map(drop)
    }

    const LISTS: &str = "[permitted]\nwidths = [640, 320]\nheights = [200]\nqualities = [75]\n";

    #[test]
    fn a_side_that_is_not_permitted_is_refused_in_every_dialect_with_those_that_are() {
        for (target, is) in [
            ("/r/fit:WxH,q:Q/a.jpg", "320"),
            ("/small_light(dw=W,dh=H,q=Q)/a.jpg", "320"),
            ("/imgproxy/x/rs:fit:W:H/q:Q/plain/local:///a.jpg", "320"),
            ("/thumbor/unsafe/fit-in/WxH/filters:quality(Q)/a.jpg", "320"),
            ("/imgix/a.jpg?w=W&h=H&q=Q", "320"),
            ("/weserv/?url=a.jpg&w=W&h=H&q=Q", "320"),
            ("/cdn-cgi/image/width=W,height=H,quality=Q/a.jpg", "320"),
            ("/_ipx/s_WxH&q_Q/a.jpg", "320"),
            ("/filter(resize,W,H,q=Q)/a.jpg", "320"),
        ] {
            let with =
                |w: &str, h: &str, q: &str| target.replace('W', w).replace('H', h).replace('Q', q);
            assert_eq!(parse(LISTS, &with(is, "200", "75")), Ok(()), "{target}");
            for (w, h, q, why) in [
                (
                    "321",
                    "200",
                    "75",
                    "width 321` cannot be served: unsigned URLs may ask for these widths: 320, 640",
                ),
                (
                    "320",
                    "201",
                    "75",
                    "height 201` cannot be served: unsigned URLs may ask for these heights: 200",
                ),
                (
                    "320",
                    "200",
                    "76",
                    "quality 76` cannot be served: unsigned URLs may ask for these qualities: 75",
                ),
            ] {
                let target = with(w, h, q);
                let refusal = parse(LISTS, &target).unwrap_err();
                assert!(refusal.to_string().contains(why), "{target}: {refusal}");
                assert_eq!(parse("", &target), Ok(()), "{target}");
            }
        }
    }

    #[test]
    fn device_pixels_count_and_other_requests_are_let_alone() {
        assert_eq!(
            parse(LISTS, "/imgproxy/x/w:160/dpr:2/plain/local:///a.jpg"),
            Ok(())
        );
        assert!(parse(LISTS, "/imgproxy/x/w:320/dpr:3/plain/local:///a.jpg").is_err());
        for target in ["/a.jpg", "/r/as:webp/a.jpg", "/iiif/3/a.jpg/info.json"] {
            assert_eq!(parse(LISTS, target), Ok(()), "{target}");
        }
    }

    #[test]
    fn a_side_of_no_pixels_is_no_permitted_one() {
        let error = Dialects::new(&config("[permitted]\nwidths = [0]\n"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("`permitted.widths`: 0 px"), "{error}");
        assert!(Dialects::new(&config("[permitted]\nqualities = [101]\n")).is_err());
    }
}
