//! The bundled face detection model, which is parsed once.

use std::sync::OnceLock;

use crate::gradients::Patch;
use crate::network::{Layer, Network};
use crate::pattern;
use crate::proposals::{Cascade, GROUP, SIDE, VALUES};

/// A face detection model: the weights of all stages of detection, and the positions in a window of the patterns and
/// patches that the stages evaluate.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) cascades: Vec<Cascade>,
    /// The stages after the cascades, each with its networks. All networks run one after the other, including those of
    /// the same stage.
    pub(crate) stages: Vec<Vec<Network>>,
}

static BYTES: &[u8] = include_bytes!("../model/seeta_fd_frontal_v1.0.bin");

impl Model {
    /// Returns the bundled model, or `None` if it cannot be parsed, which a test rules out.
    pub(crate) fn bundled() -> Option<&'static Self> {
        static MODEL: OnceLock<Option<Model>> = OnceLock::new();
        MODEL.get_or_init(|| Self::read(BYTES)).as_ref()
    }

    /// Parses a model. Returns `None` if its structure is not the supported one: cascades first, then a single chain of
    /// networks that takes the windows of all cascades.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let levels = reader.count()?;
        let mut cascades = Vec::new();
        for _ in 0..reader.count()? {
            let (networks, kind) = (reader.count()?, reader.count()?);
            if (networks, kind) != (1, CASCADE) {
                return None;
            }
            cascades.push(reader.cascade()?);
            reader.sources(0)?;
        }
        let mut stages = Vec::new();
        for level in 1..levels {
            let chains = reader.count()?;
            let mut networks = Vec::new();
            for _ in 0..reader.count()? {
                let kind = reader.count()?;
                if (chains, kind) != (1, NETWORK) {
                    return None;
                }
                networks.push(reader.network()?);
            }
            reader.sources(if level == 1 { cascades.len() } else { 1 })?;
            stages.push(networks);
        }
        reader.0.is_empty().then_some(Self { cascades, stages })
    }
}

/// Number by which the model file denotes a classifier that is a cascade.
const CASCADE: usize = 0;
/// Number by which the model file denotes a classifier that is a network.
const NETWORK: usize = 1;

/// Reads little-endian numbers of 4 bytes.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn bytes(&mut self) -> Option<[u8; 4]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn count(&mut self) -> Option<usize> {
        usize::try_from(i32::from_le_bytes(self.bytes()?)).ok()
    }

    fn float(&mut self) -> Option<f32> {
        Some(f32::from_le_bytes(self.bytes()?)).filter(|number| number.is_finite())
    }

    fn floats(&mut self, count: usize) -> Option<Vec<f32>> {
        (0..count).map(|_| self.float()).collect()
    }

    /// Reads the indices of the lists of windows that a stage takes as its input. Returns `None` unless they are 0 to
    /// `count` - 1, in order.
    fn sources(&mut self, count: usize) -> Option<()> {
        // The count is negative if there are no lists.
        let list_count = i32::from_le_bytes(self.bytes()?).max(0) as usize;
        let in_order =
            (0..list_count).try_fold(true, |all, at| Some(all && self.count()? == at))?;
        (list_count == count && in_order).then_some(())
    }

    fn cascade(&mut self) -> Option<Cascade> {
        let (patterns, highest) = (self.count()?, self.count()?);
        let place = |reader: &mut Self| {
            let place = (reader.count()?, reader.count()?);
            (place.0.max(place.1) <= SIDE - pattern::SIDE).then_some(place)
        };
        let places: Vec<_> = (0..patterns).map(|_| place(self)).collect::<Option<_>>()?;
        let least = self.floats(patterns)?;
        let weights = self.floats(patterns.checked_mul(VALUES)?)?;
        (highest + 1 == VALUES && patterns.is_multiple_of(GROUP)).then_some(Cascade {
            places,
            weights,
            // Only the threshold at the end of each group is used.
            least: least
                .chunks(GROUP)
                .filter_map(|group| group.last().copied())
                .collect(),
        })
    }

    fn network(&mut self) -> Option<Network> {
        let (layers, patches) = (self.count()?, self.count()?);
        let all = Patch::all();
        // The file counts patches from 1.
        let patch = |reader: &mut Self| all.get(reader.count()?.checked_sub(1)?).copied();
        let patches = (0..patches).map(|_| patch(self)).collect::<Option<_>>()?;
        let least = self.float()?;
        let mut inputs = self.count()?;
        let mut layer = |reader: &mut Self| {
            let outputs = reader.count()?;
            let layer = Layer {
                inputs,
                weights: reader.floats(inputs.checked_mul(outputs)?)?,
                biases: reader.floats(outputs)?,
            };
            inputs = outputs;
            Some(layer)
        };
        // The first layer stands for the inputs, and has no weights.
        let layers = (1..layers).map(|_| layer(self)).collect::<Option<_>>()?;
        let network = Network {
            patches,
            layers,
            least,
        };
        network.is_whole().then_some(network)
    }
}
