//! An image format that does as it is told, for what no real image does on command: to take its time, or to make its
//! decoder panic. `TRICK panic` panics; `TRICK wait <name>` waits at the gate of that name until it is open. `TRICK jam <name>`
//! waits there whether it is interrupted or not, and the header of `TRICK header <name>` is not read before.
//!
//! Gates are in memory: a decoder opens no files, and its thread could not.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use andon_pixels::{
    Codec, Cost, Decode, Depth, Error, Format, Frame, Image, Info, Model, Plane, Result, Scales,
};

pub struct Trick;

/// The gate at which decoders of an image wait until it is open.
pub struct Gate(PathBuf);

/// What has happened at a gate.
#[derive(Clone, Copy, Default)]
struct State {
    /// Number of decoders that have reached the gate.
    begun: usize,
    is_open: bool,
    /// Whether a decoder was interrupted before the gate was open.
    stopped: bool,
}

static GATES: LazyLock<Mutex<HashMap<PathBuf, State>>> = LazyLock::new(Mutex::default);

impl Gate {
    /// A gate of this name, and the image that waits there.
    pub fn new(path: &Path) -> (Self, String) {
        Self::that("wait", path)
    }

    /// A gate of this name, and the content of the image that does there what `word` says, such as `wait`.
    pub fn that(word: &str, path: &Path) -> (Self, String) {
        (
            Self(path.to_owned()),
            format!("TRICK {word} {}", path.display()),
        )
    }

    /// Waits until a decoder stands at the gate.
    pub fn wait_until_begun(&self) {
        self.wait_for("a decoder", |state| state.begun > 0);
    }

    pub fn wait_until_stopped(&self) {
        self.wait_for("the end of its decoder", |state| state.stopped);
    }

    pub fn has_begun(&self) -> bool {
        self.state().begun > 0
    }

    pub fn has_stopped(&self) -> bool {
        self.state().stopped
    }

    /// The number of decoders that have reached the gate so far.
    pub fn times_begun(&self) -> usize {
        self.state().begun
    }

    /// Lets everybody through.
    pub fn release(&self) {
        self.change(|state| state.is_open = true);
    }

    /// Closes the gate again: the next decoder waits there.
    pub fn close(&self) {
        self.change(|state| *state = State::default());
    }

    fn state(&self) -> State {
        gates().get(&self.0).copied().unwrap_or_default()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(gates().entry(self.0.clone()).or_default());
    }

    fn wait_for(&self, what: &str, is_there: impl Fn(State) -> bool) {
        let patience = Instant::now() + Duration::from_secs(60);
        while !is_there(self.state()) {
            let name = self.0.display();
            assert!(Instant::now() < patience, "{what} never came to {name}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Locks the gates. Poisoning is ignored, because each change is made in one step.
fn gates() -> MutexGuard<'static, HashMap<PathBuf, State>> {
    GATES
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Codec for Trick {
    fn format(&self) -> Format {
        Format {
            name: "trick",
            aliases: &[],
            media_type: "image/x-trick",
            revision: 1,
            web: None,
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        head.starts_with(b"TRICK ")
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        if let Some(("header", gate)) = told(bytes) {
            gate.change(|state| state.begun += 1);
            while !gate.state().is_open {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        Ok(Info {
            space: andon_pixels::Space::UNSPECIFIED,
            lossless: true,
            ..Info::new("trick", SIDE, SIDE, Model::Gray)
        })
    }

    fn decode(&self, bytes: &[u8], _info: &Info, how: &Decode<'_>) -> Result<Image> {
        let (word, gate) = told(bytes).expect("as told");
        gate.change(|state| state.begun += 1);
        while !gate.state().is_open {
            if word == "wait" && how.interrupt.interrupted() {
                gate.change(|state| state.stopped = true);
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
}

/// What an image is told to do, and at which gate.
fn told(bytes: &[u8]) -> Option<(&str, Gate)> {
    let text = str::from_utf8(bytes).ok()?.strip_prefix("TRICK ")?;
    let (word, path) = text.split_once(' ')?;
    Some((word, Gate(PathBuf::from(path))))
}

const SIDE: u32 = 8;
