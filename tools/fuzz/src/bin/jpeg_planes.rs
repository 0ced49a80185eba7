#![no_main]
//! Fuzzes Andon's JPEG decoder alone with any bytes: at several scales in one call, and through an index. The lower
//! right quarter, decoded through the index, must not be larger than the whole image and must end with the same sample.

use andon_jpeg::decode::{Index, Request, components, decode_part, index};
use andon_jpeg::{Area, Header};

/// Maximum number of pixels of an image. Larger images reveal nothing more, and take time.
const PIXELS: u64 = 1 << 16;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(header) = Header::read(bytes) else {
        return;
    };
    if u64::from(header.width) * u64::from(header.height) > PIXELS {
        return;
    }
    let request = Request {
        scans: 20,
        memory: 64 << 20,
        ..Request::of(&[[1, 1], [2, 4], [8, 8]])
    };
    let full_planes = components(bytes, &request);
    let request = Request {
        sizes: &[[8, 8]],
        ..request
    };
    let Ok(index) = index(bytes, &request) else {
        return;
    };
    let index = Index::of(&index, bytes).expect("its own index");
    // The lower right quarter.
    let (x, y) = (header.width / 2, header.height / 2);
    let area = Area {
        x,
        y,
        w: header.width - x,
        h: header.height - y,
    };
    let part = index
        .part(area, (header.width, header.height))
        .expect("a part");
    let planes = decode_part(bytes, &index, part, &request).expect("what has an index decodes");
    let full_planes = full_planes.expect("what has an index decodes");
    for (plane, sizes) in planes.iter().zip(&full_planes) {
        let all = &sizes[0].plane;
        let last = |samples: &[u8]| samples.last().copied();
        assert_eq!(last(&plane.samples), last(&all.samples));
        assert!(plane.width <= all.width && plane.height <= all.height);
    }
});
