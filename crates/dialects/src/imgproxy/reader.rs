//! Applies options one after the other, including those of presets and client hints.

use super::Imgproxy;
use super::options::{Options, Watermark};
use super::path::PIPELINE;
use super::row::About;
use super::table;
use crate::dialect::Target;
use crate::errors::Fault;
use crate::refusal::Refusal;

/// Collects the options of one request.
pub(super) struct Reader<'a> {
    dialect: &'a Imgproxy,
    pub(super) options: Options,
    pub(super) notes: Vec<String>,
    /// Names of the presets that are being applied, to detect one that includes itself.
    presets: Vec<&'a str>,
}

/// Maximum number of pipelines in one URL. Each is applied to the result of the one before.
const MOST_PIPELINES: usize = 8;

/// The largest device pixel ratio that a client's header may set.
const MOST_HINTED: f64 = 8.0;

impl<'a> Reader<'a> {
    pub(super) fn new(dialect: &'a Imgproxy, options: Options) -> Self {
        Self {
            dialect,
            options,
            notes: Vec::new(),
            presets: Vec::new(),
        }
    }

    /// Applies one option: its name and arguments. `ours` says that it comes from the server's configuration, which may
    /// use every option.
    pub(super) fn option(&mut self, option: &[&str], ours: bool) -> Result<(), Refusal> {
        let refuse = |why: String| Refusal::new(&option.join(":"), why);
        let [name, args @ ..] = option else {
            return Ok(());
        };
        if *name == PIPELINE {
            if self.options.earlier_pipelines.len() + 1 >= MOST_PIPELINES {
                let why = format!("there are more than {MOST_PIPELINES} pipelines");
                return Err(refuse(why));
            }
            self.options = std::mem::take(&mut self.options).next_pipeline();
            return Ok(());
        }
        let dialect = self.dialect;
        let allowed_names = &dialect.config.allowed_processing_options;
        if !ours
            && !allowed_names.is_empty()
            && !allowed_names
                .iter()
                .any(|allowed_names| allowed_names == name)
        {
            let why = format!("`{name}` is not among the options that are allowed here");
            return Err(refuse(why));
        }
        if matches!(*name, "preset" | "pr") {
            return args.iter().try_for_each(|name| {
                match dialect.config.presets.contains_key(*name) {
                    true => self.preset(name),
                    false => Err(refuse(format!("there is no preset `{name}`"))),
                }
            });
        }
        let row = table::find(name).ok_or_else(|| refuse(format!("`{name}` is no option")))?;
        if args.len() > row.most {
            let why = format!("`{name}` takes no more than {} arguments", row.most);
            return Err(refuse(why));
        }
        if row.kind == About::Limit && !ours && !dialect.config.allow_security_options {
            let why = "limits are the server's to set, unless `allow_security_options` is on";
            return Err(Refusal::of(Fault::Signature, &option.join(":"), why));
        }
        let notes = row.notes(args).into_iter();
        self.notes
            .extend(notes.map(|note| format!("{name}: {note}")));
        row.read(&mut self.options, args).map_err(refuse)
    }

    /// Applies the options of a preset. A preset that includes itself, directly or through others, is left out at that
    /// place and noted.
    pub(super) fn preset(&mut self, name: &str) -> Result<(), Refusal> {
        let Some((name, text)) = self.dialect.config.presets.get_key_value(name) else {
            return Err(Refusal::new(name, "there is no such preset"));
        };
        if self.presets.contains(&&**name) {
            self.notes.push(format!(
                "preset {name} stands in itself; it is left out there"
            ));
            return Ok(());
        }
        self.presets.push(name);
        for segment in text.split('/') {
            let option: Vec<&str> = segment.split(&*self.dialect.config.separator).collect();
            if option.len() < 2 {
                return Err(Refusal::new(
                    segment,
                    "an option of a preset has an argument",
                ));
            }
            self.option(&option, true)?;
        }
        self.presets.pop();
        Ok(())
    }

    /// Takes density and width from client hints. Invalid values are ignored.
    pub(super) fn hints(&mut self, target: &Target<'_>) {
        let header = |new, old| target.header(new).or_else(|| target.header(old));
        let dpr: Option<f64> = header("sec-ch-dpr", "dpr").and_then(|text| text.parse().ok());
        if let Some(dpr) = dpr.filter(|dpr| *dpr > 0.0 && *dpr <= MOST_HINTED) {
            self.options.dpr = dpr;
        }
        let width: Option<u32> = header("sec-ch-width", "width").and_then(|text| text.parse().ok());
        if let Some(width) = width.filter(|width| *width > 0) {
            // `as` saturates, which is harmless for a width.
            self.options.width = (f64::from(width) / self.options.dpr).round() as u32;
        }
    }

    /// Adds notes on options that do not act as the URL asks.
    pub(super) fn remark(&mut self) {
        let options = &self.options;
        let mut notes = Vec::new();
        let mut later = options.pipelines().skip(1);
        if later.any(|pipeline| pipeline.trim.is_some()) {
            notes.push("t: only the first pipeline cuts borders off; it is ignored");
        }
        let effects = &options.effects;
        if effects.duotone.0 > 0.0 && effects.duotone.0 < 1.0 {
            notes.push("dt: both colours act in full");
        }
        let mut marks = options.pipelines().map(|options| &options.watermark);
        let is_nothing =
            |mark: &Watermark| mark.opacity > 0.0 && mark.url.is_none() && mark.text.is_none();
        if self.dialect.common.watermark.is_none() && marks.any(is_nothing) {
            notes.push("wm: there is neither `wmu` nor an `imgproxy.watermark` in the configuration; it is ignored");
        }
        let mut marks = options.pipelines().map(|options| &options.watermark);
        if marks.any(|mark| mark.text.as_ref().is_some_and(|text| text.contains('<'))) {
            notes.push("wmt: the tags in the text are left out");
        }
        self.notes.extend(notes.into_iter().map(str::to_owned));
    }
}
