//! Metadata of a result: by default, statements about rights and AI stay, and locations do not. Thumbnails and other
//! embedded pixels never stay.

use crate::common::House;
use crate::common::images::{has, jpeg, with_segments};

const THUMBNAIL: &[u8] = b"\xff\xd8THUMBNAIL OF THE WHOLE\xff\xd9";
const MAKER: &[u8] = b"MAKER'S PREVIEW";
const LATITUDE: &[u8] = b"4812 NORTH";
const OWNER: &[u8] = b"(c) an owner";

/// Names of places in the IPTC and XMP of the source, which are in results only on request.
const PLACES: [&str; 6] = [
    "Gartenweg",
    "Old Town Square",
    "Lower Province",
    "Kingdom of Here",
    "Castle Hill",
    "River Bank",
];
const CAPTION: &[u8] = b"A feast in spring";

/// Returns EXIF with an orientation, a copyright notice, a maker note, a width, a GPS latitude, and a second directory
/// with a thumbnail.
fn exif() -> Vec<u8> {
    let mut block = b"II*\0".to_vec();
    let short = |value: u16| value.to_le_bytes().to_vec();
    // A tag, its kind and its value; where one points to is filled in below.
    let first: Vec<(u16, u16, Vec<u8>)> = vec![
        (0x0112, 3, short(1)),
        (0x8298, 2, OWNER.to_vec()),
        (0x8769, 4, vec![0; 4]),
        (0x8825, 4, vec![0; 4]),
    ];
    let inner = vec![(0x927c, 7, MAKER.to_vec()), (0xa002, 3, short(4000))];
    let place = vec![(0x0002, 2, LATITUDE.to_vec())];
    let second = vec![
        (0x0103, 3, short(6)),
        (0x0201, 4, vec![0; 4]),
        (0x0202, 4, (THUMBNAIL.len() as u32).to_le_bytes().to_vec()),
    ];
    let length = |entries: &[(u16, u16, Vec<u8>)]| {
        let behind = entries.iter().map(|(_, _, value)| match value.len() {
            0..=4 => 0,
            longer => longer.next_multiple_of(2),
        });
        6 + 12 * entries.len() + behind.sum::<usize>()
    };
    let inner_at = 8 + length(&first);
    let place_at = inner_at + length(&inner);
    let second_at = place_at + length(&place);
    let thumbnail_at = second_at + length(&second);
    block.extend(8_u32.to_le_bytes());
    for (entries, next) in [(first, second_at), (inner, 0), (place, 0), (second, 0)] {
        let mut behind = block.len() + 6 + 12 * entries.len();
        let mut values = Vec::new();
        block.extend((entries.len() as u16).to_le_bytes());
        for (tag, kind, value) in entries {
            let value = match tag {
                0x8769 => (inner_at as u32).to_le_bytes().to_vec(),
                0x8825 => (place_at as u32).to_le_bytes().to_vec(),
                0x0201 => (thumbnail_at as u32).to_le_bytes().to_vec(),
                _ => value,
            };
            let each = match kind {
                3 => 2,
                4 => 4,
                _ => 1,
            };
            block.extend(tag.to_le_bytes());
            block.extend(kind.to_le_bytes());
            block.extend(((value.len() / each) as u32).to_le_bytes());
            if value.len() > 4 {
                block.extend((behind as u32).to_le_bytes());
                behind += value.len().next_multiple_of(2);
                values.extend_from_slice(&value);
                values.resize(values.len().next_multiple_of(2), 0);
            } else {
                let mut four = value;
                four.resize(4, 0);
                block.extend(four);
            }
        }
        block.extend((next as u32).to_le_bytes());
        block.extend(values);
    }
    assert_eq!(block.len(), thumbnail_at);
    block.extend_from_slice(THUMBNAIL);
    block
}

const XMP: &str = r#"<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:xmpGImg="http://ns.adobe.com/xap/1.0/g/img/"
 xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:plus="http://ns.useplus.org/ldf/xmp/1.0/"
 xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" photoshop:City="Gartenweg" exif:GPSLatitude="48,12N" exif:PixelXDimension="4000"
 Iptc4xmpExt:DigitalSourceType="http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"
 plus:DataMining="http://ns.useplus.org/ldf/vocab/DMI-PROHIBITED-AIMLTRAINING">
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">At home</rdf:li></rdf:Alt></dc:title>
<Iptc4xmpExt:LocationShown><rdf:Bag><rdf:li rdf:parseType="Resource"><Iptc4xmpExt:City>Castle Hill</Iptc4xmpExt:City></rdf:li></rdf:Bag></Iptc4xmpExt:LocationShown>
<exif:GPSAreaInformation>River Bank</exif:GPSAreaInformation>
<xmp:Thumbnails><rdf:Alt><rdf:li rdf:parseType="Resource"><xmpGImg:image>/9j/THUMBNAILINXMP</xmpGImg:image></rdf:li></rdf:Alt></xmp:Thumbnails>
</rdf:Description></rdf:RDF></x:xmpmeta>"#;

/// IPTC's data sets in Photoshop's resource.
fn iptc() -> Vec<u8> {
    let sets: [(u8, &[u8]); 6] = [
        (80, OWNER),
        (92, b"Old Town Square"),
        (95, b"Lower Province"),
        (101, b"Kingdom of Here"),
        (27, b"Castle Hill"),
        (120, CAPTION),
    ];
    let mut data = Vec::new();
    for (number, text) in sets {
        data.extend([0x1c, 2, number, 0, text.len() as u8]);
        data.extend_from_slice(text);
    }
    let length = (data.len() as u32).to_be_bytes();
    data.resize(data.len().next_multiple_of(2), 0);
    [&b"Photoshop 3.0\08BIM\x04\x04\0\0"[..], &length, &data].concat()
}

fn house() -> House {
    let house = House::with(
        "[imgproxy]\nprefix = \"/imgproxy\"\n[imagor]\nprefix = \"/imagor\"\nallow_unsafe = true\n[cloudflare]\nprefix = \"/cdn-cgi/image\"\n",
    );
    let exif = [&b"Exif\0\0"[..], &exif()].concat();
    let xmp = [&b"http://ns.adobe.com/xap/1.0/\0"[..], XMP.as_bytes()].concat();
    let segments: [(u8, &[u8]); 3] = [(0xe1, &exif), (0xe1, &xmp), (0xed, &iptc())];
    let file = with_segments(&jpeg(160, 120, false), &segments);
    for there in [THUMBNAIL, MAKER, LATITUDE, OWNER] {
        assert!(has(&file, there));
    }
    house.put("t.jpg", file);
    house
}

fn body(house: &House, target: &str) -> Vec<u8> {
    let reply = house.get(target);
    assert_eq!(reply.status, 200, "{target}: {}", reply.text());
    reply.body
}

#[test]
fn other_pixels_are_in_no_result_of_any_dialect_or_format() {
    let house = house();
    for target in [
        "/r/crop:0:0:100x80,metadata:all/t.jpg",
        "/r/crop:0:0:100x80,metadata:public/t.jpg",
        "/r/blur:5x5,metadata:all/t.jpg",
        "/r/crop:0:0:100x80,metadata:all,as:webp/t.jpg",
        "/r/crop:0:0:100x80,metadata:all,as:avif/t.jpg",
        "/r/crop:0:0:100x80,metadata:all,as:png/t.jpg",
        "/r/crop:0:0:100x80,metadata:all,as:jxl/t.jpg",
        "/cdn-cgi/image/trim.width=100,trim.height=80,trim.left=0,trim.top=0,metadata=keep/t.jpg",
        "/imgproxy/unsafe/c:100:80:nowe/sm:0/plain/local:///t.jpg",
        "/imagor/unsafe/100x80/t.jpg",
        "/small_light(sx=0,sy=0,sw=100,sh=80,dw=100,dh=80)/t.jpg",
    ] {
        let body = body(&house, target);
        for gone in [
            &THUMBNAIL[2..],
            MAKER,
            b"THUMBNAILINXMP",
            b"PixelXDimension",
        ] {
            assert!(!has(&body, gone), "{target}: {}", gone.escape_ascii());
        }
        assert!(has(&body, OWNER), "{target}: the rest is not there");
    }
}

#[test]
fn marks_of_ai_and_of_rights_stay_by_default_in_every_format_that_holds_them() {
    let house = house();
    for format in ["jpeg", "webp", "png", "avif", "jxl"] {
        let body = body(&house, &format!("/r/fit:50x50,as:{format}/t.jpg"));
        for there in [&b"trainedAlgorithmicMedia"[..], b"DMI-PROHIBITED", OWNER] {
            assert!(has(&body, there), "{format}: {}", there.escape_ascii());
        }
        for gone in [&b"At home"[..], b"GPSLatitude", LATITUDE] {
            assert!(!has(&body, gone), "{format}: {}", gone.escape_ascii());
        }
    }
}

#[test]
fn the_place_stays_only_where_it_is_asked_for() {
    let house = house();
    for (target, stays) in [
        ("/small_light(dw=50,dh=50)/t.jpg", false),
        ("/imagor/unsafe/50x50/t.jpg", false),
        ("/r/fit:50x50,metadata:public/t.jpg", false),
        ("/r/fit:50x50,metadata:all/t.jpg", true),
        ("/cdn-cgi/image/width=50,metadata=keep/t.jpg", true),
        ("/imgproxy/unsafe/w:50/sm:0/plain/local:///t.jpg", true),
    ] {
        let body = body(&house, target);
        assert!(has(&body, b"At home"), "{target}: the title is not there");
        for place in [&b"GPSLatitude"[..], LATITUDE] {
            assert_eq!(has(&body, place), stays, "{target}");
        }
    }
}

#[test]
fn no_place_is_in_a_public_result_of_any_format_and_every_one_in_one_with_all() {
    let house = house();
    for format in ["jpeg", "png", "webp", "avif", "jxl"] {
        let made = |metadata: &str| {
            let target = format!("/r/fit:50x50,metadata:{metadata},as:{format}/t.jpg");
            body(&house, &target)
        };
        let (public, all) = (made("public"), made("all"));
        let has_iptc = format == "jpeg";
        for there in [&b"At home"[..], b"trainedAlgorithmicMedia", OWNER] {
            assert!(has(&public, there), "{format}: {}", there.escape_ascii());
        }
        assert_eq!(has(&public, CAPTION), has_iptc, "{format}");
        for place in PLACES {
            assert!(!has(&public, place.as_bytes()), "{format}: {place}");
            let of_iptc = has(&iptc(), place.as_bytes()) && !has(XMP.as_bytes(), place.as_bytes());
            let stays = has_iptc || !of_iptc;
            assert_eq!(has(&all, place.as_bytes()), stays, "{format}: {place}");
        }
        for gone in [&b"GPS"[..], b"LocationShown", b"photoshop:City", LATITUDE] {
            assert!(!has(&public, gone), "{format}: {}", gone.escape_ascii());
        }
    }
}
