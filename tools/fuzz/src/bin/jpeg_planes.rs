#![no_main]
//! Fuzzes our JPEG decoder alone with any bytes: at every size at once, and by an index. What the index leads to must be
//! what the whole image has there.

use andon_jpeg::decode::{Index, Request, components, decode_part, index};
use andon_jpeg::{Area, Header};

/// The most pixels of an image. Larger ones show nothing new, and take time.
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
    let whole = components(bytes, &request);
    let request = Request {
        sizes: &[[8, 8]],
        ..request
    };
    let Ok(index) = index(bytes, &request) else {
        return;
    };
    let index = Index::of(&index, bytes).expect("its own index");
    // The right lower quarter.
    let (x, y) = (header.width / 2, header.height / 2);
    let wanted = Area {
        x,
        y,
        w: header.width - x,
        h: header.height - y,
    };
    let part = index
        .part(wanted, (header.width, header.height))
        .expect("a part");
    let planes = decode_part(bytes, &index, part, &request).expect("what has an index decodes");
    let whole = whole.expect("what has an index decodes");
    for (plane, sizes) in planes.iter().zip(&whole) {
        let all = &sizes[0].plane;
        let last = |samples: &[u8]| samples.last().copied();
        assert_eq!(last(&plane.samples), last(&all.samples));
        assert!(plane.width <= all.width && plane.height <= all.height);
    }
});
