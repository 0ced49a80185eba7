//! Translates directives of nginx's `image_filter` module to options of Andon's image_filter dialect.

use super::syntax::Directive;

/// The `image_filter` directives of a block, with their values unparsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    /// The filter with its arguments, such as `resize,$1,$2` for `resize $1 $2`. `None` if the block has no filter.
    what: Option<String>,
    rotate: Option<String>,
    jpeg_quality: Option<String>,
    webp_quality: Option<String>,
    sharpen: Option<String>,
    interlace: bool,
}

impl Filter {
    /// Stores a directive of nginx's `image_filter` module if Andon's image_filter dialect has an option for it.
    /// Returns `false` for any other directive.
    pub(super) fn take(&mut self, directive: &Directive) -> bool {
        let value = || Some(directive.arg(0).to_owned());
        match directive.name.as_str() {
            "image_filter" => match directive.arg(0) {
                // `rotate` accompanies resize or crop; as the only directive it is the filter itself.
                "rotate" => self.rotate = Some(directive.arg(1).to_owned()),
                _ => self.what = Some(directive.args.join(",")),
            },
            "image_filter_jpeg_quality" => self.jpeg_quality = value(),
            "image_filter_webp_quality" => self.webp_quality = value(),
            "image_filter_sharpen" => self.sharpen = value(),
            "image_filter_interlace" => self.interlace = directive.arg(0) == "on",
            _ => return false,
        }
        true
    }

    /// Returns the options for Andon's image_filter dialect, or `None` if no filter is applied.
    pub(super) fn options(&self) -> Option<String> {
        let mut options = match (self.what.as_deref(), &self.rotate) {
            (None | Some("off"), None) => return None,
            (None | Some("off" | "test" | "size"), Some(angle)) => format!("rotate,{angle}"),
            (Some(what @ ("test" | "size")), None) => return Some(what.to_owned()),
            (Some(what), None) => what.to_owned(),
            (Some(what), Some(angle)) => format!("{what},rotate={angle}"),
        };
        let usual =
            |value: &Option<String>, default: &str| value.clone().unwrap_or(default.to_owned());
        let (jpeg, webp) = (
            usual(&self.jpeg_quality, "75"),
            usual(&self.webp_quality, "80"),
        );
        if jpeg != "75" {
            options += &format!(",q={jpeg}");
        }
        // The option `q` sets the quality of both JPEG and WebP.
        if webp != if jpeg == "75" { "80" } else { &jpeg } {
            options += &format!(",webp_q={webp}");
        }
        if let Some(sharpen) = self.sharpen.as_deref().filter(|sharpen| *sharpen != "0") {
            options += &format!(",sharpen={sharpen}");
        }
        if self.interlace {
            options += ",interlace=on";
        }
        Some(options)
    }
}
