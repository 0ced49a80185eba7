//! image_filter's directives in the words of its dialect.

use super::syntax::Directive;

/// What the directives of a block say, values as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    /// `resize $1 $2` as `resize,$1,$2`; absent: not said.
    what: Option<String>,
    rotate: Option<String>,
    jpeg_quality: Option<String>,
    webp_quality: Option<String>,
    sharpen: Option<String>,
    interlace: bool,
}

impl Filter {
    /// Takes a directive of the module, if it is one that the dialect has a word for.
    pub(super) fn take(&mut self, directive: &Directive) -> bool {
        let value = || Some(directive.arg(0).to_owned());
        match directive.name.as_str() {
            "image_filter" => match directive.arg(0) {
                // Beside resize or crop; alone it is the filter itself.
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

    /// The options of the dialect; `None` where nothing is done.
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
        // `q` says both.
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
