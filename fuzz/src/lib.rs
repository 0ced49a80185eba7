//! What the decoders' targets share: one picture through everything that a request does with it.

use andon_codecs::ALL;
use andon_pixels::{Decode, Engine, Error, Limits, Never, NoMaterials, Scales};
use andon_recipe::Recipe;

/// Small ceilings, so that the fuzzer spends its time on bytes and not on pixels.
pub const LIMITS: Limits = Limits {
    source_bytes: 1 << 20,
    pixels: 1 << 18,
    side: 4096,
    result_pixels: 1 << 18,
    result_side: 4096,
    memory: 64 << 20,
    scans: 20,
    metadata_bytes: 64 << 10,
};

/// Probes, decodes at every scale that the codec offers, and makes a small picture of it by way of the
/// planner. Errors are fine; panics, undefined behaviour and wrong sizes are not.
pub fn decode(format: &str, bytes: &[u8]) {
    let Some(codec) = ALL.iter().find(|codec| codec.name() == format) else {
        panic!("no codec is called {format}");
    };
    let Ok(info) = codec.probe(bytes) else { return };
    // As the engine does before it decodes anything.
    if info.pixels() > LIMITS.pixels || info.width.max(info.height) > LIMITS.side {
        return;
    }
    for &scale in codec.scales(&info) {
        let how = Decode {
            scales: Scales::both(scale),
            limits: &LIMITS,
            interrupt: &Never,
            cores: &andon_pixels::Alone,
            keep_metadata: true,
        };
        if let Ok(image) = codec.decode(bytes, &info, &how) {
            for frame in &image.frames {
                let size = (frame.width, frame.height);
                assert_eq!(size, info.scaled(scale), "{format} at {scale:?}");
            }
        }
    }
    let how = Decode {
        scales: Scales::FULL,
        limits: &LIMITS,
        interrupt: &Never,
        cores: &andon_pixels::Alone,
        keep_metadata: false,
    };
    if let Ok(length) = codec.extent(bytes, &info, &how) {
        let whole = &bytes[..length];
        let again = codec.probe(whole).map(|info| codec.decode(whole, &info, &how));
        assert!(
            matches!(&again, Ok(Ok(_) | Err(Error::Limit { .. } | Error::Unsupported { .. }))),
            "{format}: {length} bytes of {} pass for whole: {again:?}",
            bytes.len()
        );
    }
    let recipe: Recipe = "orient,fit:33x21,as:png".parse().expect("a recipe");
    let engine = Engine::new(ALL, LIMITS);
    if let Ok(plan) = engine.plan(&recipe, bytes) {
        // Whether it succeeds is the picture's affair.
        let _ = engine.run(&plan, bytes, &NoMaterials, &Never);
    }
}
