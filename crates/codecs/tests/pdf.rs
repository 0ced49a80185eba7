//! PDF: recognised and rejected or, in builds with the feature `pdf`, drawn from its first page.

fn sample(name: &str) -> Vec<u8> {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    std::fs::read(samples.join(name)).expect("a sample")
}

#[cfg(not(feature = "pdf"))]
#[test]
fn a_build_without_the_interpreter_says_what_it_lacks() {
    let engine = andon_pixels::Engine::new(andon_codecs::ALL, andon_pixels::Limits::default());
    let error = engine
        .probe(&sample("pdf/page.pdf"))
        .expect_err("nothing draws it");
    let text = error.to_string();
    assert!(text.contains("pdf") && text.contains("feature"), "{text}");
}

#[cfg(feature = "pdf")]
mod read {
    use std::fmt::Write as _;
    use std::sync::atomic::{AtomicU32, Ordering};

    use andon_pixels::{
        Alone, Decode, Error, Image, Interrupt, Limits, Never, Result, Scale, Scales,
    };

    use super::sample;
    use crate::support::{assert_keeps_promises, assert_survives_damage, codec, decode, rgba};

    fn draw(file: &[u8], eighths: u8, interrupt: &dyn Interrupt) -> Result<Image> {
        let info = codec("pdf").probe(file)?;
        let how = Decode {
            scales: Scales::both(Scale(eighths)),
            limits: &Limits::default(),
            interrupt,
            cores: &Alone,
            keep_metadata: false,
        };
        codec("pdf").decode(file, &info, &how)
    }

    /// Creates an uncompressed document whose first page has this content, without a cross-reference table.
    fn page(content: &str) -> Vec<u8> {
        let mut file = String::from("%PDF-1.4\n");
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 60 40] /Contents 4 0 R /Resources << >> >>"
                .to_owned(),
            format!(
                "<< /Length {} >>\nstream\n{content}\nendstream",
                content.len()
            ),
        ];
        for (index, object) in objects.iter().enumerate() {
            let _ = writeln!(file, "{} 0 obj\n{object}\nendobj", index + 1);
        }
        file += "trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n0\n%%EOF\n";
        file.into_bytes()
    }

    #[test]
    fn the_first_page_is_drawn_as_poppler_draws_it() {
        let file = sample("pdf/page.pdf");
        let info = codec("pdf").probe(&file).expect("a page");
        assert_eq!((info.width, info.height), (200, 150));
        let image = decode(codec("pdf"), &file).expect("a page");
        assert_keeps_promises(&info, &image);
        let poppler = decode(codec("png"), &sample("pdf/page.png")).expect("its drawing");
        let (ours, theirs) = (rgba(&image.frame), rgba(&poppler.frame));
        assert_eq!(ours.len(), theirs.len());
        let off: u64 = (ours.iter().zip(&theirs))
            .map(|(a, b)| u64::from(a.abs_diff(*b)))
            .sum();
        let off = off as f64 / ours.len() as f64;
        // Poppler uses another font, and draws the photo on every pixel that it touches.
        assert!(off < 5.0, "{off} levels in the mean");
    }

    #[test]
    fn it_is_drawn_at_every_scale() {
        let file = sample("pdf/page.pdf");
        for (eighths, size) in [
            (1, (25, 19)),
            (8, (200, 150)),
            (16, (400, 300)),
            (128, (3200, 2400)),
        ] {
            let image = draw(&file, eighths, &Never).expect("a page");
            let frame = &image.frame;
            assert_eq!((frame.width, frame.height), size, "{eighths}/8");
            // A point in the middle of the red rectangle, whose corners are (10, 110) and (50, 140) from below.
            let at = |x: u32, y: u32| {
                let (x, y) = (x * frame.width / 200, y * frame.height / 150);
                let first = 4 * (y * frame.width + x) as usize;
                rgba(frame)[first..first + 4].to_vec()
            };
            assert_eq!(at(30, 25), [255, 0, 0, 255], "{eighths}/8");
            assert_eq!(at(195, 145), [255, 255, 255, 255], "{eighths}/8");
        }
    }

    #[test]
    fn a_page_of_endless_drawing_is_refused() {
        let file = page(&"0 0 60 40 re f\n".repeat(2_000_000));
        match draw(&file, 8, &Never) {
            Err(Error::Unsupported { what, .. }) => assert!(what.contains("drawing"), "{what}"),
            other => panic!("{other:?}"),
        }
        let little = page("0 0 60 40 re f\n");
        let drawn = draw(&little, 8, &Never).expect("a black page");
        assert!(
            rgba(&drawn.frame)
                .chunks(4)
                .all(|pixel| pixel == [0, 0, 0, 255])
        );
    }

    #[test]
    fn nobody_waits_for_a_page_that_nobody_wants() {
        struct After(AtomicU32);
        impl Interrupt for After {
            fn interrupted(&self) -> bool {
                self.0.fetch_sub(1, Ordering::Relaxed) == 1
            }
        }
        let file = page(&"0 0 60 40 re f\n".repeat(100_000));
        // The interrupt is checked before the page is interpreted, and then every few operations.
        let interrupted = draw(&file, 8, &After(3.into()));
        assert_eq!(interrupted.err(), Some(Error::Interrupted));
    }

    #[test]
    fn what_cannot_be_read_is_said_to_be_broken() {
        let broken = |file: &[u8]| matches!(codec("pdf").probe(file), Err(Error::Broken { .. }));
        assert!(broken(b"%PDF-1.7\n"));
        assert!(broken(&sample("pdf/page.pdf")[..100]));
    }

    #[test]
    fn damage_does_no_harm() {
        assert_survives_damage(codec("pdf"), &sample("pdf/page.pdf"), 60);
    }
}
