//! The fonts that text is drawn with: those of the configured folders, and a bundled one.
//!
//! A set of fonts is loaded once and [installed](Fonts::install) for the whole process. Worker processes, which cannot
//! open files, get it as one file ([`Fonts::write`], [`Fonts::read`]). The characters of each font are determined at
//! loading, so that no font is read from that file before a text is drawn with it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use resvg::usvg::fontdb::{Database, Family, ID, Query, Source, Stretch, Style, Weight};
use unicode_script::Script;

mod bytes;
mod choice;
mod coverage;
mod files;
mod shared;

use bytes::FontFile;
use coverage::Coverage;

pub(crate) use choice::{FontSelection, MOST_MISSING, is_invisible};

/// The bundled font, which covers Latin, Greek and Cyrillic.
const BUNDLED: &[u8] = include_bytes!("bundled/DejaVuSans.ttf");

/// The family of the bundled font.
const BUNDLED_FAMILY: &str = "DejaVu Sans";

static FONTS: OnceLock<Arc<Fonts>> = OnceLock::new();

/// Which fonts to load, and which of them to prefer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FontSettings {
    /// Folders whose fonts are loaded, including subfolders.
    pub folders: Vec<PathBuf>,
    /// Whether to load the fonts that are installed on this machine as well.
    pub system: bool,
    /// The families for the generic names sans-serif, serif, monospace, cursive and fantasy. Text that names no family
    /// is drawn in the first of them.
    pub families: [String; 5],
    /// The families to prefer for a script, by its name in Unicode, such as `Arabic` or `Han`, or by its code in ISO
    /// 15924, such as `Arab` or `Hani`.
    pub fallback: BTreeMap<String, Vec<String>>,
}

impl Default for FontSettings {
    fn default() -> Self {
        Self {
            folders: Vec::new(),
            system: false,
            families: [(); 5].map(|()| BUNDLED_FAMILY.to_owned()),
            fallback: BTreeMap::new(),
        }
    }
}

/// An error in the font settings, or a folder that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FontError {
    /// The name of the invalid setting, such as `folders`.
    pub setting: String,
    /// The error, and how to fix it.
    pub why: String,
}

/// A set of fonts, and the families for generic names.
#[derive(Debug)]
pub struct Fonts {
    database: Arc<Database>,
    faces: Vec<Face>,
    /// The union of the characters of all faces.
    all: Coverage,
    files: Vec<Arc<FontFile>>,
    settings: FontSettings,
    /// The preferred faces for each script.
    fallback: Vec<(Script, Vec<usize>)>,
    name: String,
    ignored: Vec<PathBuf>,
}

/// A single font. A font file may contain several.
#[derive(Debug)]
pub(crate) struct Face {
    pub(crate) id: ID,
    coverage: Coverage,
    weight: u16,
    is_italic: bool,
    is_normal_width: bool,
    /// Whether the font has coloured glyphs.
    pub(crate) is_coloured: bool,
}

impl Fonts {
    /// Loads font files, each of which may contain several fonts, without the bundled font. The families are those for
    /// sans-serif, serif, monospace, cursive and fantasy. Text that names no family is drawn in the first of them.
    #[must_use]
    pub fn new(files: Vec<Vec<u8>>, families: [&str; 5]) -> Self {
        let settings = FontSettings {
            families: families.map(str::to_owned),
            ..FontSettings::default()
        };
        let files = files.into_iter().map(FontFile::in_memory).collect();
        Self::of(files, settings)
    }

    /// Loads the fonts of the settings, and the bundled font, which has the lowest priority. Files that are not fonts
    /// are skipped; see [`Fonts::ignored`].
    ///
    /// # Errors
    /// If a folder cannot be read, the font files are too large, a family in the settings is not among the loaded
    /// fonts, or a script in the settings is unknown.
    pub fn load(settings: &FontSettings) -> Result<Self, FontError> {
        let (paths, mut files) = files::load(settings)?;
        files.push(FontFile::in_memory(BUNDLED.to_vec()));
        let mut fonts = Self::of(files, settings.clone());
        let is_ignored = |file: &Arc<FontFile>| file.faces() == 0;
        let ignored = paths.into_iter().zip(&fonts.files);
        fonts.ignored = ignored
            .filter_map(|(path, file)| is_ignored(file).then_some(path))
            .collect();
        fonts.check()?;
        Ok(fonts)
    }

    fn of(files: Vec<FontFile>, settings: FontSettings) -> Self {
        let mut database = Database::new();
        let [sans, serif, mono, cursive, fantasy] = &settings.families;
        database.set_sans_serif_family(sans);
        database.set_serif_family(serif);
        database.set_monospace_family(mono);
        database.set_cursive_family(cursive);
        database.set_fantasy_family(fantasy);
        let mut faces = Vec::new();
        let mut hash = blake3::Hasher::new();
        let mut font_files = Vec::with_capacity(files.len());
        for file in files {
            let file = Arc::new(file);
            // A temporary copy, so that bytes which can be read from a file again do not stay in memory.
            let bytes = file.peek();
            hash.update(&(bytes.as_slice().len() as u64).to_le_bytes());
            hash.update(bytes.as_slice());
            let mut single = Database::new();
            let ids = match has_room_for_its_faces(bytes.as_slice()) {
                true => single.load_font_source(Source::Binary(Arc::new(bytes))),
                false => Default::default(),
            };
            for id in ids {
                let read = single.with_face_data(id, coverage::read).flatten();
                if let (Some(mut info), Some((coverage, is_coloured))) =
                    (single.face(id).cloned(), read)
                {
                    info.source = Source::Binary(file.clone());
                    file.count_face();
                    faces.push(Face {
                        coverage,
                        weight: info.weight.0,
                        is_italic: info.style != Style::Normal,
                        is_normal_width: info.stretch == Stretch::Normal,
                        is_coloured,
                        id: database.push_face_info(info),
                    });
                }
            }
            font_files.push(file);
        }
        let is_bundled_alone = font_files.len() == 1 && settings == FontSettings::default();
        hash.update(format!("{:?}{:?}", settings.families, settings.fallback).as_bytes());
        let mut fonts = Self {
            database: Arc::new(database),
            all: Coverage::union(faces.iter().map(|face| &face.coverage)),
            faces,
            files: font_files,
            fallback: Vec::new(),
            name: match is_bundled_alone {
                true => String::new(),
                false => hash.finalize().to_hex()[..16].to_owned(),
            },
            settings,
            ignored: Vec::new(),
        };
        let preferred = fonts.settings.fallback.iter();
        let preferred = preferred.filter_map(|(script, families)| {
            let faces = families.iter().filter_map(|name| fonts.regular(name));
            Some((script_named(script)?, faces.collect()))
        });
        fonts.fallback = preferred.collect();
        fonts
    }

    /// Checks that the families in the settings are loaded, and that the scripts are known.
    fn check(&self) -> Result<(), FontError> {
        const GENERIC: [&str; 5] = ["sans_serif", "serif", "monospace", "cursive", "fantasy"];
        for (setting, family) in GENERIC.iter().zip(&self.settings.families) {
            self.check_family(setting, family)?;
        }
        for (script, families) in &self.settings.fallback {
            let setting = format!("fallback.{script}");
            if script_named(script).is_none() {
                let why =
                    "no script of Unicode has this name; examples are Arabic, Han and Devanagari";
                return Err(FontError {
                    setting,
                    why: why.to_owned(),
                });
            }
            let mut families = families.iter();
            families.try_for_each(|family| self.check_family(&setting, family))?;
        }
        Ok(())
    }

    fn check_family(&self, setting: &str, family: &str) -> Result<(), FontError> {
        if self.regular(family).is_some() {
            return Ok(());
        }
        let families = self.families();
        let suggestion = andon_recipe::nearest(family, families.iter().map(String::as_str));
        let hint = suggestion.map_or_else(
            || "`folders` has to name a folder with its file".to_owned(),
            |suggestion| format!("did you mean {suggestion:?}?"),
        );
        Err(FontError {
            setting: setting.to_owned(),
            why: format!("no loaded font is of the family {family:?}; {hint}"),
        })
    }

    /// Returns the names of all families, sorted.
    #[must_use]
    pub fn families(&self) -> Vec<String> {
        let names = self.database.faces().flat_map(|face| &face.families);
        let mut names: Vec<String> = names.map(|(name, _)| name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Returns the number of fonts.
    #[must_use]
    pub fn count(&self) -> usize {
        self.faces.len()
    }

    /// Returns the total number of bytes of all font files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.length()).sum()
    }

    /// Returns the paths of files with the name of a font file that contain no readable font.
    #[must_use]
    pub fn ignored(&self) -> &[PathBuf] {
        &self.ignored
    }

    /// Returns a hash of all font files and of the families that are preferred. It is empty for the bundled font alone,
    /// with default settings.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Uses these fonts for all text from now on. Returns false, and changes nothing, if text was drawn or fonts were
    /// installed before.
    pub fn install(self) -> bool {
        FONTS.set(Arc::new(self)).is_ok()
    }

    /// Returns the fonts as a database for `usvg`.
    pub(crate) fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// Returns the family for text that names none.
    pub(crate) fn default_family(&self) -> &str {
        &self.settings.families[0]
    }

    pub(crate) fn face(&self, index: usize) -> &Face {
        &self.faces[index]
    }

    pub(crate) fn index_of(&self, id: ID) -> Option<usize> {
        self.faces.iter().position(|face| face.id == id)
    }

    /// Returns the face of normal weight, width and style of a family.
    fn regular(&self, family: &str) -> Option<usize> {
        self.query(Family::Name(family), Weight::NORMAL, Style::Normal)
    }

    fn query(&self, family: Family<'_>, weight: Weight, style: Style) -> Option<usize> {
        let id = self.database.query(&Query {
            families: &[family],
            weight,
            style,
            stretch: Stretch::Normal,
        });
        self.index_of(id?)
    }
}

fn script_named(name: &str) -> Option<Script> {
    Script::from_full_name(name).or_else(|| Script::from_short_name(name))
}

/// Returns the installed fonts, or the bundled font if none were installed.
pub(crate) fn installed() -> Arc<Fonts> {
    let bundled_set = || {
        let bundled = FontFile::in_memory(BUNDLED.to_vec());
        Arc::new(Fonts::of(vec![bundled], FontSettings::default()))
    };
    FONTS.get_or_init(bundled_set).clone()
}

/// The fonts that a text requests: families in order of preference, and words for their style, separated by commas,
/// such as `Noto Serif,bold,italic`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FontRequest {
    families: Vec<String>,
    weight: Option<u16>,
    is_italic: bool,
}

impl FromStr for FontRequest {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut request = Self::default();
        let words = text.split(',').map(str::trim);
        for word in words.filter(|word| !word.is_empty()) {
            match word {
                "bold" => request.weight = Some(700),
                "italic" => request.is_italic = true,
                word => match word.parse() {
                    Ok(weight @ 1..=1000) => request.weight = Some(weight),
                    _ => request.families.push(word.to_owned()),
                },
            }
        }
        Ok(request)
    }
}

/// Whether a file is large enough for the number of faces that it declares. A collection (TTC) has a header of twelve
/// bytes, followed by an offset of four bytes for each face.
fn has_room_for_its_faces(bytes: &[u8]) -> bool {
    let declared = match bytes.get(..12) {
        Some([b't', b't', b'c', b'f', _, _, _, _, count @ ..]) => count
            .iter()
            .fold(0, |sum, byte| sum << 8 | usize::from(*byte)),
        _ => 0,
    };
    declared <= bytes.len().saturating_sub(12) / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_no_font_has_are_told_once() {
        let fonts = installed();
        let known = "Zo\u{eb} \u{3a9}\u{416}\u{200d}\n";
        assert_eq!(fonts.missing(known), [] as [char; 0]);
        assert_eq!(
            fonts.missing("a\u{65e5}\u{672c}\u{65e5}"),
            ['\u{65e5}', '\u{672c}']
        );
    }

    #[test]
    fn the_bundled_font_alone_has_no_name_and_any_other_set_has_one_of_its_own() {
        assert_eq!(installed().name(), "");
        let family = [BUNDLED_FAMILY; 5];
        let twice = Fonts::new(vec![BUNDLED.to_vec(), BUNDLED.to_vec()], family);
        assert_eq!(twice.name().len(), 16);
        let mut settings = FontSettings::default();
        let preferred = vec![BUNDLED_FAMILY.to_owned()];
        settings.fallback.insert("Arabic".to_owned(), preferred);
        let preferring = Fonts::load(&settings).unwrap();
        assert_eq!(preferring.name().len(), 16);
        assert_ne!(preferring.name(), twice.name());
    }

    #[test]
    fn a_family_or_script_that_is_not_there_is_an_error_that_names_the_nearest() {
        let wrong = |change: fn(&mut FontSettings)| {
            let mut settings = FontSettings::default();
            change(&mut settings);
            Fonts::load(&settings).unwrap_err()
        };
        let error = wrong(|settings| settings.families[1] = "Dejavu Sans".to_owned());
        assert_eq!(error.setting, "serif");
        assert!(error.why.contains("\"DejaVu Sans\""), "{}", error.why);
        let error = wrong(|settings| {
            settings.fallback.insert("Arabish".to_owned(), Vec::new());
        });
        assert_eq!(error.setting, "fallback.Arabish");
        let error = wrong(|settings| settings.folders = vec!["/no/such/folder".into()]);
        assert_eq!(error.setting, "folders");
        assert!(error.why.contains("/no/such/folder"), "{}", error.why);
    }
}
