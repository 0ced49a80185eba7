//! SVG over HTTP: drawings are drawn once, in the size of the result, whichever program wrote them.

use crate::common::House;

/// Returns an SVG of `width` × `height` px with lines and a curve. Its 80 × 60 units are stretched to that size.
fn drawing(width: u32, height: u32) -> String {
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' viewBox='0 0 80 60' \
         preserveAspectRatio='none'><rect width='80' height='60' fill='#fff'/>\
         <path d='M10 10h30v1H10zM10 20h30v1H10zM20 5h1v30h-1z'/><circle cx='55' cy='35' r='15' fill='#c00'/>\
         <path d='M5 50L75 40' stroke='#00f'/></svg>"
    )
}

#[test]
fn a_drawing_is_drawn_in_the_size_of_the_result_and_never_resampled() {
    let house = House::new();
    house.put("own.svg", drawing(80, 60));
    for (recipe, (width, height)) in [
        ("", (80, 60)),
        ("fit:40x40,", (40, 30)),
        ("fit:333x999:enlarge,", (333, 250)),
        ("exact:50x90,", (50, 90)),
        ("exact:1000x600,", (1000, 600)),
    ] {
        let name = format!("{width}.svg");
        house.put(&name, drawing(width, height));
        let made = house.get(&format!("/r/{recipe}as:png/own.svg"));
        let drawn = house.get(&format!("/r/as:png/{name}"));
        assert_eq!(made.size(), (width, height), "{recipe}");
        assert!(made.pixels() == drawn.pixels(), "{recipe}");
    }
    // Lines of one px are as black as they were drawn.
    let (width, own) = house.get("/r/as:png/own.svg").pixels();
    let at = |x: u32, y: u32| own[(y * width + x) as usize];
    assert_eq!(
        [at(15, 9), at(15, 10), at(15, 11), at(20, 15)],
        [[255; 4], [0, 0, 0, 255], [255; 4], [0, 0, 0, 255]]
    );
}

#[test]
fn a_logo_of_24_units_fills_the_box_without_enlarge() {
    let house = House::new();
    house.put(
        "logo.svg",
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'><circle cx='12' cy='12' r='9'/></svg>",
    );
    for (recipe, size) in [
        ("fit:256x,q:75,as:auto", (256, 256)),
        ("dpr:2,cover:100x50,as:png", (200, 100)),
    ] {
        let reply = house.get(&format!("/r/{recipe}/logo.svg"));
        assert_eq!((reply.status, reply.size()), (200, size), "{recipe}");
    }
    // It is as sharp as the one that was enlarged by its recipe.
    let [left, right] = ["fit:96x,as:png", "fit:96x:enlarge,as:png"]
        .map(|recipe| house.get(&format!("/r/{recipe}/logo.svg")).pixels());
    assert!(left == right);
}

#[test]
fn a_part_of_a_drawing_is_what_the_whole_shows_there() {
    let house = House::new();
    house.put("own.svg", drawing(80, 60));
    for (part, whole, (x, y)) in [
        ("crop:10:20:30x40", "", (10, 20)),
        ("crop:10:20:30x40,exact:60x80", "exact:160x120,", (20, 40)),
        ("cover:60x60", "", (10, 0)),
        (
            "cover:120x120:enlarge,crop:7:9:50x50",
            "exact:160x120,",
            (27, 9),
        ),
    ] {
        let (width, seen) = house.get(&format!("/r/{part},as:png/own.svg")).pixels();
        let (whole_width, all) = house.get(&format!("/r/{whole}as:png/own.svg")).pixels();
        for (row, seen) in (0..).zip(seen.chunks(width as usize)) {
            let start = ((row + y) * whole_width + x) as usize;
            let whole = all[start..].iter().zip(seen);
            let apart = whole.flat_map(|(all, seen)| (0..4).map(|at| all[at].abs_diff(seen[at])));
            // Curves are cut at the sides, and their edges rounded from there.
            assert!(apart.max() <= Some(4), "{part}: row {row}");
        }
    }
}

const GREEN: [u8; 4] = [30, 180, 40, 255];
const RED: [u8; 4] = [220, 30, 30, 255];

/// Returns an SVG of 160 × 120 px whose upper left quarter is green. `root` contains further attributes of the root
/// element, and `behind` the elements behind the green quarter.
fn quarter(root: &str, behind: &str) -> String {
    format!(
        "<svg {root} width='160' height='120'>{behind}<rect width='80' height='60' fill='#1eb428'/></svg>"
    )
}

#[test]
fn drawings_are_known_however_they_begin() {
    const NAMESPACE: &str = "xmlns='http://www.w3.org/2000/svg'";
    let red = "<rect width='160' height='120' fill='#dc1e1e'/>";
    let plain = quarter(NAMESPACE, red);
    let declared = "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'http://www.w3.org/a' [\n\
                    <!ENTITY ns_svg \"http://www.w3.org/2000/svg\"><!ENTITY red '#dc1e1e'>]>";
    let named = quarter("xmlns='&ns_svg;'", &red.replace("#dc1e1e", "&red;"));
    let utf16 = |mark: &[u8], bytes: fn(u16) -> [u8; 2]| {
        let text = format!("<?xml version='1.0' encoding='UTF-16'?>{plain}");
        [
            mark,
            &text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>(),
        ]
        .concat()
    };
    let house = House::new();
    for (name, file) in [
        ("plain", plain.clone().into_bytes()),
        (
            "entities",
            format!("<?xml version='1.0'?>{declared}{named}").into_bytes(),
        ),
        (
            "late",
            format!(
                "<?xml version='1.0'?><!-- {} -->{plain}",
                "x".repeat(30_000)
            )
            .into_bytes(),
        ),
        ("little", utf16(&[0xff, 0xfe], u16::to_le_bytes)),
        ("big", utf16(&[0xfe, 0xff], u16::to_be_bytes)),
        (
            "shorthand",
            quarter(&format!("{NAMESPACE} style='background:#dc1e1e'"), "").into_bytes(),
        ),
        (
            "longhand",
            quarter(&format!("{NAMESPACE} style='background-color:#dc1e1e'"), "").into_bytes(),
        ),
        (
            "sheet",
            quarter(
                NAMESPACE,
                "<style>svg{background:#dc1e1e url(a.png)}</style>",
            )
            .into_bytes(),
        ),
    ] {
        house.put(&format!("{name}.svg"), file);
        let reply = house.get(&format!("/r/fit:80x80,as:png/{name}.svg"));
        assert_eq!(reply.status, 200, "{name}: {}", reply.text());
        let (width, seen) = reply.pixels();
        assert_eq!(width, 80, "{name}");
        assert_eq!((seen[0], seen[80 * 60 - 1]), (GREEN, RED), "{name}");
    }
}

#[test]
fn what_entities_must_not_do_is_refused() {
    let laughs = "<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'>";
    let outside = "<!ENTITY a SYSTEM 'file:///etc/hostname'>";
    let markup = "<!ENTITY a '<rect/>'>";
    let house = House::new();
    for (name, declared) in [("laughs", laughs), ("outside", outside), ("markup", markup)] {
        let root =
            "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'><text>&a;</text></svg>";
        house.put(
            &format!("{name}.svg"),
            format!("<!DOCTYPE svg [{declared}]>{root}"),
        );
        let reply = house.get(&format!("/r/as:png/{name}.svg"));
        assert_eq!(reply.status, 415, "{name}: {}", reply.text());
    }
}

#[test]
fn a_drawing_without_a_size_is_as_large_as_in_browsers() {
    let house = House::new();
    for (name, root, size) in [
        ("none", "", (300, 150)),
        ("shares", "width='100%' height='100%'", (300, 150)),
        ("width", "width='40'", (40, 150)),
    ] {
        let file = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' {root}><rect width='9' height='9'/></svg>"
        );
        house.put(&format!("{name}.svg"), file);
        let reply = house.get(&format!("/r/as:png/{name}.svg"));
        assert_eq!((reply.status, reply.size()), (200, size), "{name}");
        let (width, seen) = reply.pixels();
        let opaque = seen.iter().filter(|pixel| pixel[3] == 255).count();
        assert_eq!(
            (width, opaque),
            (size.0, 81),
            "{name}: drawn at its own scale"
        );
    }
}
