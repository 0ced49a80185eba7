//! Code that the fuzz targets of the decoders share: an image goes through everything that a request does with it.

use andon_codecs::ALL;
use andon_pixels::{
    AnimationDecoder, Codec, Damaged, Decode, Engine, Error, Info, Limits, Never, Run, Scales,
};
use andon_recipe::Recipe;

/// Low limits, so that the fuzzer spends its time on bytes and not on pixels.
pub const LIMITS: Limits = Limits {
    source_bytes: 1 << 20,
    pixels: 1 << 18,
    frames: 40,
    animation_pixels: 1 << 20,
    side: 4096,
    result_pixels: 1 << 18,
    result_side: 4096,
    memory: 64 << 20,
    scans: 20,
    metadata_bytes: 64 << 10,
    cpu: None,
    damaged: Damaged::Refused,
};

/// Probes an image, decodes it at every scale that the codec offers, and renders small images through the planner.
/// Errors are allowed. Panics, undefined behaviour and wrong sizes are not.
pub fn decode(format: &str, bytes: &[u8]) {
    let Some(codec) = ALL.iter().find(|codec| codec.name() == format) else {
        panic!("no codec is called {format}");
    };
    let Ok(info) = codec.probe(bytes) else { return };
    // The engine makes the same check before it decodes anything.
    if info.pixels() > LIMITS.pixels || info.width.max(info.height) > LIMITS.side {
        return;
    }
    for &scale in codec.scales(&info) {
        let options = Decode {
            scales: Scales::both(scale),
            limits: &LIMITS,
            interrupt: &Never,
            cores: &andon_pixels::Alone,
            keep_metadata: true,
        };
        if let Ok(image) = codec.decode(bytes, &info, &options) {
            let size = (image.frame.width, image.frame.height);
            assert_eq!(size, info.scaled(scale), "{format} at {scale:?}");
        }
    }
    let options = Decode {
        scales: Scales::FULL,
        limits: &LIMITS,
        interrupt: &Never,
        cores: &andon_pixels::Alone,
        keep_metadata: false,
    };
    if let Ok(length) = codec.extent(bytes, &info, &options) {
        let whole = &bytes[..length];
        let again = codec
            .probe(whole)
            .map(|info| codec.decode(whole, &info, &options));
        assert!(
            matches!(
                &again,
                Ok(Ok(_) | Err(Error::Limit { .. } | Error::Unsupported { .. }))
            ),
            "{format}: {length} bytes of {} pass for whole: {again:?}",
            bytes.len()
        );
    }
    frames(*codec, bytes, &info);
    let engine = Engine::new(ALL, LIMITS);
    for recipe in RECIPES {
        let recipe: Recipe = recipe.parse().expect("a recipe");
        if let Ok(plan) = engine.plan(&recipe, bytes) {
            // Whether it succeeds depends on the image.
            let _ = engine.run(&plan, Run::of(bytes));
        }
    }
}

/// Recipes for a still image, and for all frames of an animation.
const RECIPES: [&str; 5] = [
    "orient,fit:33x21,as:png",
    "fit:33x21,as:gif",
    "fit:20x20,as:webp,effort:0",
    "fit:20x20,as:avif",
    "fit:33x21,as:jpeg",
];

/// Composes every frame, and checks that each is as large as the canvas and that there are no more frames than were
/// counted.
fn frames(codec: &dyn Codec, bytes: &[u8], info: &Info) {
    let few = info.frames <= LIMITS.frames;
    let moves = |decoder: &&dyn AnimationDecoder| few && decoder.composed(info).is_some();
    let Some(decoder) = codec.animation().filter(moves) else {
        return;
    };
    let options = Decode {
        scales: Scales::FULL,
        limits: &LIMITS,
        interrupt: &Never,
        cores: &andon_pixels::Alone,
        keep_metadata: true,
    };
    let Ok(mut reader) = decoder.open(bytes, info, &options) else {
        return;
    };
    let mut read = 0;
    while let Ok(Some(timed)) = reader.next() {
        read += 1;
        assert!(read <= info.frames, "{} frames were counted", info.frames);
        let size = (timed.frame.width, timed.frame.height);
        assert_eq!(size, (info.width, info.height), "frame {read}");
        let traits = timed.frame.with_colour(info.space).traits();
        assert_eq!(Some(traits), decoder.composed(info), "frame {read}");
    }
}
