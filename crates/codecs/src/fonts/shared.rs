//! A set of fonts as one file, which worker processes read in place of the font files.
//!
//! The file begins with lines of text: `fonts 1`, the five generic families, `prefer SCRIPT`, a tab and the preferred
//! families with tabs between them, the length of each font file, and an empty line. The font files follow.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::bytes::FontFile;
use super::{FontSettings, Fonts};

const FIRST: &str = "fonts 1";

/// Maximum number of bytes of the lines before the font files.
const LINES: u64 = 16 << 20;

impl Fonts {
    /// Writes the fonts and their preferences to a file that [`Fonts::read`] can read.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, file: &mut File) -> io::Result<()> {
        let mut text = format!("{FIRST}\n");
        for family in &self.settings.families {
            text += &format!("{}\n", plain(family));
        }
        for (script, families) in &self.settings.fallback {
            let families = families.iter().map(|family| plain(family));
            let families: Vec<String> = families.collect();
            text += &format!("prefer {script}\t{}\n", families.join("\t"));
        }
        for font in &self.files {
            text += &format!("{}\n", font.length());
        }
        text.push('\n');
        file.write_all(text.as_bytes())?;
        let mut files = self.files.iter();
        files.try_for_each(|font| file.write_all(font.peek().as_slice()))
    }

    /// Reads fonts that [`Fonts::write`] wrote to a file, and installs them for the whole process.
    ///
    /// # Errors
    /// Those of [`Fonts::read`].
    pub fn adopt(file: File) -> io::Result<()> {
        Self::read(file).map(|fonts| {
            fonts.install();
        })
    }

    /// Reads fonts that [`Fonts::write`] wrote to a file. Each font is read from the file when a text first needs it,
    /// so the file must not change.
    ///
    /// # Errors
    /// If the file cannot be read, or [`Fonts::write`] did not write it.
    pub fn read(file: File) -> io::Result<Self> {
        let mut reader = BufReader::new(At { file: &file, at: 0 }.take(LINES));
        let mut at = 0;
        let mut line = || {
            let mut line = String::new();
            at += reader.read_line(&mut line)? as u64;
            let content = line.strip_suffix('\n').ok_or_else(garbled)?;
            Ok::<_, io::Error>((content.to_owned(), at))
        };
        if line()?.0 != FIRST {
            return Err(garbled());
        }
        let mut settings = FontSettings::default();
        for family in &mut settings.families {
            *family = line()?.0;
        }
        let mut lengths: Vec<usize> = Vec::new();
        let mut at = loop {
            let (line, end) = line()?;
            if line.is_empty() {
                break end;
            }
            match line.strip_prefix("prefer ") {
                Some(line) => {
                    let mut words = line.split('\t').map(str::to_owned);
                    let script = words.next().unwrap_or_default();
                    settings.fallback.insert(script, words.collect());
                }
                None => lengths.push(line.parse().map_err(|_| garbled())?),
            }
        };
        let file = Arc::new(file);
        let fonts = lengths.into_iter().map(|length| {
            let font = FontFile::part_of_file(file.clone(), at, length);
            at += length as u64;
            font
        });
        Ok(Self::of(fonts.collect(), settings))
    }
}

/// Returns a family's name without the characters that separate names in this file format.
fn plain(family: &str) -> String {
    family.replace(['\n', '\t'], " ")
}

fn garbled() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "this is no set of fonts")
}

/// Reads from a file at its own position, so that several readers can share the file.
struct At<'a> {
    file: &'a File,
    at: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read_at(buffer, self.at)?;
        self.at += length as u64;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::super::BUNDLED;
    use super::*;

    #[test]
    fn a_set_that_was_written_and_read_is_the_same_set() {
        let mut settings = FontSettings::default();
        let preferred = vec!["DejaVu Sans".to_owned(); 2];
        settings.fallback.insert("Arabic".to_owned(), preferred);
        let fonts = Fonts::load(&settings).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        fonts.write(&mut file).unwrap();
        let read = Fonts::read(file).unwrap();
        assert_eq!(read.name(), fonts.name());
        assert_eq!(read.settings, fonts.settings);
        assert_eq!(read.fallback, fonts.fallback);
        assert_eq!(read.missing("a\u{65e5}"), ['\u{65e5}']);
        assert_eq!(read.files[0].as_ref().as_ref(), BUNDLED);
    }

    #[test]
    fn what_is_no_set_of_fonts_is_refused() {
        for text in [
            "",
            "fonts 2\n",
            "fonts 1\nA\n",
            "fonts 1\na\na\na\na\na\nx\n\n",
        ] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            assert!(Fonts::read(file).is_err(), "{text}");
        }
    }
}
