use proptest::prelude::*;

use super::*;

#[test]
fn the_bundled_model_is_whole_and_nothing_shorter_is() {
    let bytes = include_bytes!("../model/seeta_fd_frontal_v1.0.bin");
    let model = Model::read(bytes).expect("the model");
    assert_eq!(model.cascades.len(), 3);
    let networks: Vec<_> = model.stages.iter().map(Vec::len).collect();
    assert_eq!(networks, [2, 1]);
    for length in (0..bytes.len()).step_by(9973) {
        assert!(Model::read(&bytes[..length]).is_none(), "{length}");
    }
}

#[test]
fn a_image_has_as_many_samples_as_pixels() {
    assert!(Gray::new(&[0; 6], 3, 2).is_some());
    assert!(Gray::new(&[0; 6], 3, 3).is_none());
    assert!(Gray::new(&[], u32::MAX, u32::MAX).is_none());
}

#[test]
fn flat_and_small_images_have_no_faces() {
    for (width, height) in [(0, 0), (1, 1), (39, 400), (120, 90)] {
        let samples = vec![128; (width * height) as usize];
        let image = Gray::new(&samples, width, height).expect("an image");
        assert_eq!(find(image, &|| true), Some(Vec::new()));
    }
}

#[test]
fn what_nobody_wants_ends_at_once() {
    let samples = vec![128; 120 * 90];
    let image = Gray::new(&samples, 120, 90).expect("an image");
    assert_eq!(find(image, &|| false), None);
}

/// Images of noise or of a few blocks, on which no window may cause a panic.
fn any_image() -> impl Strategy<Value = (Vec<u8>, u32, u32)> {
    (1..160_u32, 1..160_u32).prop_flat_map(|(width, height)| {
        let count = (width * height) as usize;
        let noise = prop::collection::vec(any::<u8>(), count);
        let blocks =
            (prop::collection::vec(any::<u8>(), 64), 1..30_u32).prop_map(move |(levels, side)| {
                let place = |at: u32| (at % width / side + at / width / side * 7) % 64;
                (0..width * height)
                    .map(|at| levels[place(at) as usize])
                    .collect()
            });
        (prop_oneof![noise, blocks], Just(width), Just(height))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_image_is_looked_through((samples, width, height) in any_image()) {
        let image = Gray::new(&samples, width, height).expect("an image");
        let faces = find(image, &|| true).expect("to the end");
        for face in faces {
            prop_assert!(face.side > 1 && face.score >= CERTAIN);
        }
    }
}
