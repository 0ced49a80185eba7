//! A picture format that does as it is told, for what no real picture does on command: to take its
//! time, or to make its decoder panic. `TRICK panic` panics; `TRICK wait <path>` makes the file
//! `<path>.begun`, and decodes once there is a file `<path>.release`; told to stop before, it makes
//! `<path>.stopped`.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use andon_pixels::{
    Codec, Cost, Decode, Depth, Encode, Error, Format, Frame, Image, Info, Interrupt, Model, Plane,
    Result, Scales, Traits,
};

pub struct Trick;

/// A picture that waits.
pub struct Gate(PathBuf);

impl Gate {
    /// A gate beside `path`, and the picture that waits there.
    pub fn new(path: &Path) -> (Self, String) {
        (
            Self(path.to_owned()),
            format!("TRICK wait {}", path.display()),
        )
    }

    /// Waits until so many decoders stand at the gate.
    pub fn wait_until_begun(&self) {
        wait_for(&self.sign("begun"));
    }

    pub fn wait_until_stopped(&self) {
        wait_for(&self.sign("stopped"));
    }

    pub fn has_begun(&self) -> bool {
        self.sign("begun").exists()
    }

    /// How many decoders have come to the gate so far.
    pub fn times_begun(&self) -> usize {
        std::fs::read(self.sign("begun")).map_or(0, |marks| marks.len())
    }

    /// Lets everybody through.
    pub fn release(&self) {
        std::fs::write(self.sign("release"), "").expect("a sign");
    }

    /// Closes the gate again: the next decoder waits there.
    pub fn close(&self) {
        for name in ["begun", "release"] {
            std::fs::remove_file(self.sign(name)).expect("a sign");
        }
    }

    fn sign(&self, name: &str) -> PathBuf {
        self.0.with_extension(name)
    }
}

fn wait_for(sign: &Path) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !sign.exists() {
        assert!(Instant::now() < patience, "{} never came", sign.display());
        std::thread::sleep(Duration::from_millis(1));
    }
}

impl Codec for Trick {
    fn format(&self) -> Format {
        Format {
            name: "trick",
            aliases: &[],
            media_type: "image/x-trick",
            revision: 1,
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        head.starts_with(b"TRICK ")
    }

    fn probe(&self, _bytes: &[u8]) -> Result<Info> {
        Ok(Info {
            space: andon_pixels::Space::UNSPECIFIED,
            lossless: true,
            ..Info::new("trick", SIDE, SIDE, Model::Gray)
        })
    }

    fn decode(&self, bytes: &[u8], _info: &Info, how: &Decode<'_>) -> Result<Image> {
        let text = String::from_utf8_lossy(bytes);
        let gate = match text
            .strip_prefix("TRICK ")
            .unwrap_or_default()
            .split_once(' ')
        {
            Some(("wait", path)) => Gate(PathBuf::from(path)),
            _ => panic!("as told"),
        };
        let begun = OpenOptions::new()
            .append(true)
            .create(true)
            .open(gate.sign("begun"));
        begun
            .and_then(|mut marks| marks.write_all(b"|"))
            .expect("a sign");
        while !gate.sign("release").exists() {
            if how.interrupt.interrupted() {
                std::fs::write(gate.sign("stopped"), "").expect("a sign");
                return Err(Error::Interrupted);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let plane = Plane::filled(Depth::U8, SIDE, SIDE, 128);
        Ok(Image::still(
            Frame::new(Model::Gray, SIDE, SIDE, vec![plane], None).unwrap(),
        ))
    }

    fn extent(&self, bytes: &[u8], _info: &Info, _how: &Decode<'_>) -> Result<usize> {
        Ok(bytes.len())
    }

    fn extent_cost(&self, _bytes: u64, _info: &Info) -> Cost {
        Cost::default()
    }

    fn decode_cost(&self, _bytes: u64, _info: &Info, _scales: Scales) -> Cost {
        Cost::default()
    }

    fn accepts(&self, _have: Traits, _how: &Encode) -> Option<Traits> {
        None
    }

    fn encode(&self, _: &Image, _: &Encode, _: &dyn Interrupt) -> Result<Vec<u8>> {
        Err(Error::Internal("tricks are not written".to_owned()))
    }

    fn encode_cost(&self, _width: u32, _height: u32, _traits: Traits, _how: &Encode) -> Cost {
        Cost::default()
    }
}

const SIDE: u32 = 8;
