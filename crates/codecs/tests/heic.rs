//! HEIC: recognised and rejected or, in builds with the feature `heic`, read.

fn sample(name: &str) -> Vec<u8> {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    std::fs::read(samples.join(name)).expect("a sample")
}

#[cfg(not(feature = "heic"))]
#[test]
fn a_build_without_hevc_says_what_it_lacks() {
    let engine = andon_pixels::Engine::new(andon_codecs::ALL, andon_pixels::Limits::default());
    for name in ["heic/420.heic", "heic/alpha.heic"] {
        let error = engine.probe(&sample(name)).expect_err("it has no decoder");
        let text = error.to_string();
        assert!(
            text.contains("HEVC") && text.contains("andon-heic"),
            "{text}"
        );
    }
}

#[cfg(feature = "heic")]
mod read {
    use super::sample;
    use crate::support::{assert_keeps_promises, assert_survives_damage, codec, decode, rgba};

    fn difference(name: &str, original: &str) -> f64 {
        let heic = codec("heic");
        let file = sample(name);
        let info = heic.probe(&file).expect("a header");
        let image = decode(heic, &file).expect("an image");
        assert_keeps_promises(&info, &image);
        let png = decode(codec("png"), &sample(original)).expect("its original");
        let (ours, theirs) = (rgba(&image.frame), rgba(&png.frame));
        assert_eq!(ours.len(), theirs.len());
        let sum: u64 = ours
            .iter()
            .zip(&theirs)
            .map(|(a, b)| u64::from(a.abs_diff(*b)))
            .sum();
        sum as f64 / ours.len() as f64
    }

    #[test]
    fn photos_come_out_as_they_went_in() {
        let off = difference("heic/420.heic", "png/rgb.png");
        assert!(off < 6.0, "{off} in the mean");
    }

    #[test]
    fn opacity_is_read() {
        let image = decode(codec("heic"), &sample("heic/alpha.heic")).expect("an image");
        let png = decode(codec("png"), &sample("png/alpha.png")).expect("its original");
        let opacity = |frame| {
            rgba(frame)
                .into_iter()
                .skip(3)
                .step_by(4)
                .collect::<Vec<_>>()
        };
        let (ours, theirs) = (opacity(&image.frame), opacity(&png.frame));
        let sum: u64 = ours
            .iter()
            .zip(&theirs)
            .map(|(a, b)| u64::from(a.abs_diff(*b)))
            .sum();
        assert!(sum as f64 / (ours.len() as f64) < 3.0, "{sum}");
    }

    #[test]
    fn damage_does_no_harm() {
        assert_survives_damage(codec("heic"), &sample("heic/420.heic"), 200);
    }
}
