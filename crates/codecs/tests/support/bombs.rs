//! Small SVG documents that would cause much work: chains, fans and cycles of every kind of reference and mixtures of
//! them, style sheets, texts, filters, layers and numbers.
//!
//! This file depends on nothing, so that tests of other crates, tasks and the fuzz target `svg_graph` can include it by
//! path.

#![allow(dead_code)]

/// A file and its name.
pub(crate) struct Bomb {
    pub(crate) name: String,
    pub(crate) file: Vec<u8>,
}

/// A kind of reference from one element to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Use,
    Symbol,
    Fill,
    Stroke,
    FillOfBox,
    ClipPath,
    ClipOfBox,
    Mask,
    MaskOfBox,
    Marker,
    FeImage,
    Filters,
}

pub(crate) const KINDS: [Kind; 12] = [
    Kind::Use,
    Kind::Symbol,
    Kind::Fill,
    Kind::Stroke,
    Kind::FillOfBox,
    Kind::ClipPath,
    Kind::ClipOfBox,
    Kind::Mask,
    Kind::MaskOfBox,
    Kind::Marker,
    Kind::FeImage,
    Kind::Filters,
];

/// The syntax of a reference from one SVG element to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Spelling {
    Attribute,
    Style,
    Sheet,
}

pub(crate) const SPELLINGS: [Spelling; 3] = [Spelling::Attribute, Spelling::Style, Spelling::Sheet];

impl Kind {
    /// Returns an element with the content `inside` that can be referred to as number `index`.
    pub(crate) fn define(self, index: usize, inside: &str) -> String {
        let id = format!("id='k{index}'");
        let own = "patternUnits='userSpaceOnUse' width='9' height='9'";
        match self {
            Self::Use => format!("<g {id}>{inside}</g>"),
            Self::Symbol => format!("<symbol {id} viewBox='0 0 64 64'>{inside}</symbol>"),
            Self::Fill | Self::Stroke => format!("<pattern {id} {own}>{inside}</pattern>"),
            Self::FillOfBox => format!("<pattern {id} width='1' height='1'>{inside}</pattern>"),
            Self::ClipPath => format!("<clipPath {id}>{inside}</clipPath>"),
            Self::ClipOfBox => {
                format!("<clipPath {id} clipPathUnits='objectBoundingBox'>{inside}</clipPath>")
            }
            Self::Mask => format!(
                "<mask {id} maskUnits='userSpaceOnUse' width='64' height='64'>{inside}</mask>"
            ),
            Self::MaskOfBox => {
                format!("<mask {id} maskContentUnits='objectBoundingBox'>{inside}</mask>")
            }
            Self::Marker => {
                format!(
                    "<marker {id} overflow='visible' markerWidth='9' markerHeight='9'>{inside}</marker>"
                )
            }
            Self::FeImage | Self::Filters => format!(
                "<g id='e{index}'>{inside}</g><filter {id}><feImage xlink:href='#e{index}'/></filter>"
            ),
        }
    }

    /// Returns a shape that refers to element number `index`.
    pub(crate) fn refer(self, index: usize, spelling: Spelling) -> String {
        let (property, value) = match self {
            Self::Use | Self::Symbol => return format!("<use xlink:href='#k{index}'/>"),
            Self::Fill | Self::FillOfBox => ("fill", format!("url(#k{index})")),
            Self::Stroke => ("stroke", format!("url(#k{index})")),
            Self::ClipPath | Self::ClipOfBox => ("clip-path", format!("url(#k{index})")),
            Self::Mask | Self::MaskOfBox => ("mask", format!("url(#k{index})")),
            Self::Marker if spelling == Spelling::Attribute => {
                ("marker-mid", format!("url(#k{index})"))
            }
            Self::Marker => ("marker", format!("url(#k{index})")),
            Self::FeImage => ("filter", format!("url(#k{index})")),
            Self::Filters => ("filter", format!("blur(1) url(#k{index}) url(#k{index})")),
        };
        // A path with few vertices, because a marker is drawn on each.
        let shape = "d='M0 0h9v9'";
        match spelling {
            Spelling::Attribute => format!("<path {shape} {property}='{value}'/>"),
            Spelling::Style => format!("<path {shape} style='{property}:{value}'/>"),
            Spelling::Sheet => format!(
                "<style>.{property}{index}{{{property}:{value}}}</style><path {shape} class='{property}{index}'/>"
            ),
        }
    }
}

const NAMESPACES: &str =
    "xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'";

/// Returns an SVG document of 64×64 px with the content `inside`.
pub(crate) fn document(inside: &str) -> String {
    sized("width='64' height='64'", inside)
}

fn sized(attributes: &str, inside: &str) -> String {
    format!("<svg {NAMESPACES} {attributes}>{inside}</svg>")
}

/// Returns an SVG document with elements of alternating kinds, each of which refers `times` times to the next one.
pub(crate) fn chain(kinds: &[Kind], length: usize, times: usize, spelling: Spelling) -> String {
    let kind = |index: usize| kinds[index % kinds.len()];
    let mut text = String::new();
    for index in 0..length {
        let next = kind(index + 1).refer(index + 1, spelling).repeat(times);
        text += &kind(index).define(index, &next);
    }
    text += &kind(length).define(length, "<path d='M0 0h9v9z'/>");
    document(&(text + &kind(0).refer(0, spelling)))
}

/// Returns an SVG document with elements whose references form a cycle.
pub(crate) fn circle(kinds: &[Kind], spelling: Spelling) -> String {
    let mut text = String::new();
    for (index, kind) in kinds.iter().enumerate() {
        let next = (index + 1) % kinds.len();
        text += &kind.define(index, &kinds[next].refer(next, spelling));
    }
    document(&(text + &kinds[0].refer(0, spelling)))
}

/// Returns an SVG document with references that the bytes choose.
pub(crate) fn chosen(bytes: &[u8]) -> String {
    let mut bytes = bytes.iter().copied();
    let mut choose = |most: usize| usize::from(bytes.next().unwrap_or(0)) % most;
    let count = 1 + choose(12);
    let mut sheet = String::new();
    let mut text = String::new();
    for index in 0..count {
        let kind = KINDS[choose(KINDS.len())];
        let mut inside = String::new();
        for _ in 0..choose(5) {
            inside += &piece(&mut choose, count);
        }
        for _ in 0..choose(4) {
            inside = format!(
                "<g opacity='.{}' id='g{}'>{inside}</g>",
                choose(10),
                choose(4)
            );
        }
        text += &kind.define(if choose(8) == 0 { choose(count) } else { index }, &inside);
    }
    for _ in 0..choose(6) {
        let names = [
            "g",
            "path",
            "*",
            "#k0",
            ".a",
            "use",
            "rect:first-child",
            "[id]",
        ];
        let joints = [" ", " > ", " + ", ",", ""];
        for _ in 0..=choose(4) {
            sheet += names[choose(names.len())];
            sheet += joints[choose(joints.len())];
        }
        let property = ["fill", "stroke", "mask", "clip-path", "filter", "marker"][choose(6)];
        sheet += &format!("path{{{property}:url(#k{})}}", choose(count));
    }
    let pieces: String = (0..1 + choose(4))
        .map(|_| piece(&mut choose, count))
        .collect();
    document(&format!("<style>{sheet}</style>{text}{pieces}"))
}

/// Returns one element that refers to another, or draws something.
fn piece(choose: &mut impl FnMut(usize) -> usize, count: usize) -> String {
    let numbers = ["0", "1", "-3", "9", "1e9", "1e-9", "1e38", "64"];
    match choose(10) {
        0 => format!(
            "<rect width='{}' height='{}'/>",
            numbers[choose(8)],
            numbers[choose(8)]
        ),
        1 => format!("<text y='9' x='{}'>a&#x301;b</text>", numbers[choose(8)]),
        2 => format!(
            "<path stroke='red' stroke-dasharray='{} 2' d='M0 0c9 9 3 {} 4 4'/>",
            numbers[choose(8)],
            numbers[choose(8)]
        ),
        3 => format!(
            "<linearGradient id='k{}' xlink:href='#k{}'/>",
            choose(count),
            choose(count)
        ),
        4 => {
            let names = [
                "feOffset dx='N'",
                "feMorphology radius='N'",
                "feGaussianBlur stdDeviation='N'",
                "feTurbulence baseFrequency='N'",
                "feTile",
                "feFlood x='N'",
            ];
            let name = names[choose(names.len())].replace('N', numbers[choose(8)]);
            let id = choose(count);
            format!(
                "<filter id='k{id}'><{name}/></filter><path d='M0 0h9v9z' filter='url(#k{id})'/>"
            )
        }
        _ => KINDS[choose(KINDS.len())].refer(choose(count), SPELLINGS[choose(3)]),
    }
}

/// Returns all SVG documents that would cause much work, with their names.
pub(crate) fn svg() -> Vec<Bomb> {
    let mut bombs = Vec::new();
    let mut add = |name: String, text: String| {
        bombs.push(Bomb {
            name,
            file: text.into_bytes(),
        });
    };
    for kind in KINDS {
        for spelling in SPELLINGS {
            for length in [3, 24, 30, 67, 1000] {
                add(
                    format!("chain-{kind:?}-{spelling:?}-{length}"),
                    chain(&[kind], length, 1, spelling),
                );
            }
        }
        for (length, times) in [(4, 10), (8, 10), (20, 4), (30, 2)] {
            add(
                format!("fan-{kind:?}-{length}x{times}"),
                chain(&[kind], length, times, Spelling::Attribute),
            );
        }
        for other in KINDS {
            let both = [kind, other];
            add(
                format!("mixed-{kind:?}-{other:?}-40"),
                chain(&both, 40, 1, Spelling::Attribute),
            );
            add(
                format!("mixed-{kind:?}-{other:?}-8x10"),
                chain(&both, 8, 10, Spelling::Style),
            );
            add(
                format!("circle-{kind:?}-{other:?}"),
                circle(&both, Spelling::Attribute),
            );
            add(
                format!("circle-{kind:?}-{other:?}-{kind:?}"),
                circle(&[kind, other, kind], Spelling::Sheet),
            );
        }
        add(
            format!("circle-{kind:?}"),
            circle(&[kind], Spelling::Attribute),
        );
    }
    add(
        "chain-all-33".to_owned(),
        chain(&KINDS, 33, 1, Spelling::Attribute),
    );
    add(
        "fan-all-12x4".to_owned(),
        chain(&KINDS, 12, 4, Spelling::Sheet),
    );
    for (name, text) in [
        nesting(),
        sheets(),
        markup(),
        texts(),
        filters(),
        layers(),
        shapes(),
        images(),
        templates(),
    ]
    .concat()
    {
        add(name, text);
    }
    bombs
}

type Named = (String, String);

fn named(name: &str, text: String) -> Named {
    (name.to_owned(), text)
}

fn nesting() -> Vec<Named> {
    let within = |open: &str, close: &str, times: usize| {
        document(&(open.repeat(times) + "<path d='M0 0h9v9z'/>" + &close.repeat(times)))
    };
    let mut all = Vec::new();
    for times in [150, 190, 300, 20_000] {
        for (name, open, close) in [
            ("g", "<g>", "</g>"),
            ("opacity", "<g opacity='.5'>", "</g>"),
            ("transform", "<g transform='rotate(1)'>", "</g>"),
            ("svg", "<svg width='9' height='9'>", "</svg>"),
            ("switch", "<switch>", "</switch>"),
            ("a", "<a>", "</a>"),
            (
                "pattern",
                "<pattern id='p' width='1' height='1'>",
                "</pattern>",
            ),
        ] {
            all.push((format!("nested-{name}-{times}"), within(open, close, times)));
        }
        let spans = "<tspan>".repeat(times) + "a" + &"</tspan>".repeat(times);
        all.push((
            format!("nested-tspan-{times}"),
            document(&format!("<text y='9'>{spans}</text>")),
        ));
    }
    // Every element of a long chain searches all elements around it.
    let around = "<g fill='red' opacity='1' stroke='blue' class='a'>";
    let row = "<path d='M0 0h9'/>".repeat(20_000);
    all.push(named(
        "row-in-depth",
        document(&(around.repeat(150) + &row + &"</g>".repeat(150))),
    ));
    all
}

fn sheets() -> Vec<Named> {
    let deep = |sheet: &str| {
        let (open, close) = ("<g class='a'>".repeat(180), "</g>".repeat(180));
        document(&format!(
            "<style>{sheet}</style>{open}<rect class='a' width='9' height='9'/>{close}"
        ))
    };
    let flat = |sheet: &str, count: usize| {
        document(&format!(
            "<style>{sheet}</style>{}",
            "<g class='a'/>".repeat(count)
        ))
    };
    let mut all = Vec::new();
    for combinators in [1, 2, 3, 4, 6, 12] {
        for (name, part) in [
            ("names", "g "),
            ("any", "* "),
            ("classes", ".a "),
            ("attributes", "[class] "),
        ] {
            let sheet = format!("q {}rect{{fill:red}}", part.repeat(combinators));
            all.push((format!("descendants-{name}-{combinators}"), deep(&sheet)));
        }
        let sheet = format!("q {}g{{fill:red}}", "g + ".repeat(combinators));
        all.push((format!("siblings-{combinators}"), flat(&sheet, 20_000)));
    }
    let style = format!("fill:url({})", "a".repeat(20_000));
    let long = format!("<g style='{}'/>", "a:b;".repeat(20_000));
    all.extend([
        named("rules-by-elements", flat(&"a{b:c}".repeat(10_000), 9000)),
        named("matching-rules", flat(&".a{fill:red}".repeat(5000), 9000)),
        named("many-rules", flat(&"a{b:c}".repeat(110_000), 10_000)),
        named(
            "declarations",
            flat(&format!("*{{{}}}", "fill:red;".repeat(6000)), 9000),
        ),
        named(
            "selectors-by-declarations",
            flat(
                &format!("{}a{{{}}}", "a,".repeat(60_000), "b:c;".repeat(60_000)),
                1,
            ),
        ),
        named(
            "selectors-in-comments",
            flat(
                &format!(
                    "{}a{{x:y;/*{{*/{}}}",
                    "a,".repeat(60_000),
                    "b:c;".repeat(60_000)
                ),
                1,
            ),
        ),
        named(
            "comments",
            flat(&format!("a{}b{{c:d}}", "/**/".repeat(200_000)), 1),
        ),
        named(
            "numbers",
            flat(&format!("a{{b:{}}}", "1 ".repeat(400_000)), 1),
        ),
        named("sums", flat(&format!("a{{b:{}}}", "+1".repeat(400_000)), 1)),
        named(
            "long-values",
            flat(&format!("*{{font-family:{}}}", "a".repeat(100_000)), 20_000),
        ),
        named(
            "long-style",
            document(&format!("<g style='{style}'/>").repeat(30)),
        ),
        named(
            "long-style-repeated",
            document(&format!(
                "<defs><g id='a'>{long}</g></defs>{}",
                "<use xlink:href='#a'/>".repeat(5000)
            )),
        ),
        named(
            "first-child",
            document(&format!(
                "<style>{}</style>{}<g/>",
                "g:first-child{fill:red}".repeat(3000),
                "<!---->".repeat(50_000)
            )),
        ),
        named(
            "class-lists",
            document(&format!(
                "<style>{}</style>{}",
                ".a{fill:red}".repeat(2000),
                format!("<g class='{}'/>", "b ".repeat(5000)).repeat(60)
            )),
        ),
        named("unclosed", flat(&"a{".repeat(50_000), 10)),
        named("closed", flat(&"}".repeat(500_000), 10)),
    ]);
    all
}

fn markup() -> Vec<Named> {
    let attributes = |count: usize| {
        (0..count)
            .map(|index| format!(" a{index}='1'"))
            .collect::<String>()
    };
    let namespaces = |count: usize| {
        (0..count)
            .map(|index| format!(" xmlns:a{index}='u{index}'"))
            .collect::<String>()
    };
    let nested: String = (0..5000)
        .map(|index| format!("<g xmlns:a{index}='u'>"))
        .collect();
    vec![
        named(
            "attributes-900",
            document(&format!("<rect{}/>", attributes(900)).repeat(90)),
        ),
        named(
            "attributes-80000",
            document(&format!("<rect{}/>", attributes(80_000))),
        ),
        named(
            "namespaces",
            document(&format!(
                "<g{}>{}</g>",
                namespaces(30_000),
                "<g/>".repeat(20_000)
            )),
        ),
        named(
            "namespaces-nested",
            document(&(nested + &"</g>".repeat(5000))),
        ),
        named(
            "data",
            document(&format!("<text>{}</text>", "a<![CDATA[b]]>".repeat(70_000))),
        ),
        named("same-id", document(&"<g id='a'/>".repeat(20_000))),
        named(
            "declared",
            format!(
                "<!DOCTYPE svg [{}]>{}",
                "<!ELEMENT a ANY>".repeat(5000),
                document("")
            ),
        ),
        named(
            "entities",
            format!(
                "<!DOCTYPE svg [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]>{}",
                document("<text>&b;</text>")
            ),
        ),
        named("many-elements", document(&"<g/>".repeat(200_000))),
    ]
}

fn texts() -> Vec<Named> {
    let text = |attributes: &str, inside: &str| {
        document(&format!("<text y='9' {attributes}>{inside}</text>"))
    };
    let path = format!("<path id='p' d='M0 0{}'/>", "q1 1 2 0".repeat(3000));
    vec![
        named("letters-3000", text("", &"a ".repeat(1500))),
        named("letters-50000", text("", &"a".repeat(50_000))),
        named("letters-1000000", text("", &"a".repeat(1_000_000))),
        named(
            "lists",
            text(&format!("x='{}'", "1 ".repeat(25_000)), &"a".repeat(50_000)),
        ),
        named(
            "lists-2000",
            text(
                &format!("x='{0}' dy='{0}' rotate='{0}'", "1 ".repeat(2000)),
                &"a".repeat(2000),
            ),
        ),
        named("spans", text("", &"<tspan dx='1'>a</tspan>".repeat(4000))),
        named(
            "spans-underlined",
            text(
                "text-decoration='underline'",
                &"<tspan font-size='9'>a</tspan>".repeat(1500),
            ),
        ),
        named(
            "combining",
            text("", &format!("a{}", "\u{301}".repeat(45_000))),
        ),
        named(
            "combining-1500",
            text("", &format!("a{}", "\u{301}".repeat(1500))),
        ),
        named("bidi", text("", &"a\u{5d0}".repeat(25_000))),
        named(
            "bidi-nested",
            text("", &format!("{}a", "\u{202e}\u{202d}".repeat(12_000))),
        ),
        named("missing", text("", &"\u{4e00}\u{10400}".repeat(1500))),
        named(
            "spaced",
            text(
                "letter-spacing='1' word-spacing='2' textLength='9'",
                &"a ".repeat(1500),
            ),
        ),
        named(
            "on-a-path",
            document(&format!(
                "{path}<text><textPath xlink:href='#p'>{}</textPath></text>",
                "a".repeat(50_000)
            )),
        ),
        named(
            "on-a-path-1000",
            document(&format!(
                "{path}<text><textPath xlink:href='#p'>{}</textPath></text>",
                "a".repeat(1000)
            )),
        ),
        named(
            "on-paths",
            document(&format!(
                "{path}{}",
                "<text><textPath xlink:href='#p'>a</textPath></text>".repeat(300)
            )),
        ),
        named("huge-letters", text("font-size='1e9'", &"a".repeat(1000))),
        named(
            "stroked-letters",
            text(
                "font-size='60' stroke='red' stroke-width='20' stroke-dasharray='.1'",
                &"a".repeat(500),
            ),
        ),
        named(
            "tref",
            document(&format!(
                "<defs><g id='t'>{}</g></defs>{}",
                "a".repeat(20_000),
                "<text><tref xlink:href='#t'/></text>".repeat(500)
            )),
        ),
        named(
            "families",
            document(&"<text y='9' font-family='a,b,c,d,e,f,g,h'>a</text>".repeat(4000)),
        ),
        named(
            "many-texts",
            document(&"<text y='9'>abc</text>".repeat(4000)),
        ),
    ]
}

fn filters() -> Vec<Named> {
    let mut all = Vec::new();
    let drawn = |attributes: &str, primitives: &str, side: u32| {
        sized(
            &format!("width='{side}' height='{side}'"),
            &format!(
                "<filter id='f' {attributes}>{primitives}</filter><rect width='{side}' height='{side}' filter='url(#f)'/>"
            ),
        )
    };
    let wide = "x='-5' y='-5' width='11' height='11'";
    for number in [
        "0",
        "-1",
        "1",
        "30",
        "500",
        "2147483647",
        "1073741824",
        "1e30",
        "1e300",
    ] {
        for (name, primitive) in [
            ("morphology", "<feMorphology operator='dilate' radius='N'/>"),
            ("morphology-x", "<feMorphology radius='N 1'/>"),
            ("offset", "<feOffset dx='1' dy='N'/>"),
            ("offset-back", "<feOffset dx='-N' dy='N'/>"),
            ("blur", "<feGaussianBlur stdDeviation='N'/>"),
            ("shadow", "<feDropShadow dx='N' dy='N' stdDeviation='N'/>"),
            (
                "displacement",
                "<feDisplacementMap in2='SourceAlpha' scale='N'/>",
            ),
            (
                "frequency",
                "<feTurbulence baseFrequency='N' stitchTiles='stitch' seed='N'/>",
            ),
            (
                "octaves",
                "<feTurbulence baseFrequency='1' numOctaves='N'/>",
            ),
            (
                "region",
                "<feFlood x='N' y='N' width='9' height='9'/><feTile/>",
            ),
            ("size", "<feFlood width='N' height='N'/><feTile/>"),
            (
                "order",
                "<feConvolveMatrix order='N' kernelMatrix='1 1 1'/>",
            ),
            (
                "divisor",
                "<feConvolveMatrix order='1' kernelMatrix='1' divisor='N'/>",
            ),
            (
                "light",
                "<feSpecularLighting surfaceScale='N' specularConstant='N'><fePointLight x='N' y='N' z='N'/></feSpecularLighting>",
            ),
            (
                "gamma",
                "<feComponentTransfer><feFuncR type='gamma' exponent='N' amplitude='N'/></feComponentTransfer>",
            ),
            ("matrix", "<feColorMatrix type='hueRotate' values='N'/>"),
            (
                "arithmetic",
                "<feComposite operator='arithmetic' k1='N' k2='N' k3='N' k4='N'/>",
            ),
        ] {
            let primitive = primitive.replace('N', number);
            all.push((
                format!("filter-{name}-{number}"),
                drawn("", &primitive, 100),
            ));
            let of_box = "primitiveUnits='objectBoundingBox'";
            all.push((
                format!("filter-{name}-{number}-of-box"),
                drawn(of_box, &primitive, 100),
            ));
        }
        let region = format!(
            "filterUnits='userSpaceOnUse' x='{number}' y='-{number}' width='{number}' height='{number}'"
        );
        all.push((
            format!("filter-at-{number}"),
            drawn(&region, "<feFlood/>", 100),
        ));
    }
    for (name, primitive, times) in [
        ("blurs", "<feGaussianBlur stdDeviation='1'/>", 50),
        ("wide-blurs", "<feGaussianBlur stdDeviation='99'/>", 50),
        ("shadows", "<feDropShadow/>", 50),
        ("erosions", "<feMorphology radius='20'/>", 20),
        (
            "noises",
            "<feTurbulence baseFrequency='.1' numOctaves='9'/>",
            20,
        ),
        (
            "lights",
            "<feDiffuseLighting><feSpotLight x='1' y='1' z='1' specularExponent='99'/></feDiffuseLighting>",
            700,
        ),
        (
            "tiles",
            "<feFlood x='0' y='0' width='.001' height='.001'/><feTile/>",
            900,
        ),
        ("floods", "<feFlood/>", 3000),
        (
            "merges",
            "<feMerge><feMergeNode/><feMergeNode/><feMergeNode/></feMerge>",
            300,
        ),
        (
            "transfers",
            "<feComponentTransfer><feFuncR type='gamma'/><feFuncG type='gamma'/></feComponentTransfer>",
            50,
        ),
    ] {
        for side in [64, 600, 2000] {
            all.push((
                format!("filters-{name}-{side}"),
                drawn("", &primitive.repeat(times), side),
            ));
            all.push((
                format!("filters-{name}-{side}-wide"),
                drawn(wide, primitive, side),
            ));
        }
    }
    let matrix = format!(
        "<feConvolveMatrix order='100' kernelMatrix='{}'/>",
        "1 ".repeat(10_000)
    );
    all.push(named("convolution", drawn("", &matrix, 600)));
    let wrapped = format!(
        "<feConvolveMatrix edgeMode='wrap' order='9000 1' kernelMatrix='{}'/>",
        "1 ".repeat(9000)
    );
    all.push(named(
        "convolution-wrapped",
        drawn(
            "width='1' height='1' filterUnits='userSpaceOnUse'",
            &wrapped,
            64,
        ),
    ));
    let table = format!(
        "<feComponentTransfer><feFuncR type='table' tableValues='{}'/></feComponentTransfer>",
        "1 ".repeat(40_000)
    );
    let users = "<path d='M0 0h9v9z' filter='url(#f)'/>".repeat(2000);
    all.push(named(
        "table-by-users",
        document(&format!("<filter id='f'>{table}</filter>{users}")),
    ));
    all
}

fn layers() -> Vec<Named> {
    let mut all = Vec::new();
    for side in [64, 1000, 5000] {
        let size = format!("width='{side}' height='{side}'");
        let whole = format!("<path fill='#fff' d='M0 0h{side}v{side}h-{side}z'/>");
        for count in [3, 8, 20, 60] {
            let chain = |name: &str, attribute: &str, more: &str| {
                let mut text = String::new();
                for index in 0..count {
                    let next = format!("{attribute}='url(#c{})'", index + 1);
                    text += &format!("<{name} id='c{index}' {more} {next}>{whole}</{name}>");
                }
                text += &format!("<{name} id='c{count}' {more}>{whole}</{name}>");
                sized(
                    &size,
                    &format!("{text}<g {attribute}='url(#c0)'>{whole}</g>"),
                )
            };
            all.push((
                format!("layers-clip-{side}-{count}"),
                chain("clipPath", "clip-path", ""),
            ));
            let units = format!("maskUnits='userSpaceOnUse' {size}");
            all.push((
                format!("layers-mask-{side}-{count}"),
                chain("mask", "mask", &units),
            ));
            let nested = "<g opacity='.5'>".repeat(count) + &whole + &"</g>".repeat(count);
            all.push((
                format!("layers-opacity-{side}-{count}"),
                sized(&size, &nested),
            ));
            let row = format!("<g opacity='.5'>{whole}</g>").repeat(count);
            all.push((format!("layers-row-{side}-{count}"), sized(&size, &row)));
            let images = "<g style='mix-blend-mode:multiply'>".repeat(count)
                + &whole
                + &"</g>".repeat(count);
            all.push((
                format!("layers-blend-{side}-{count}"),
                sized(&size, &images),
            ));
        }
        let pattern = format!(
            "<pattern id='p' patternUnits='userSpaceOnUse' width='{side}00' height='{side}00'>{whole}</pattern>"
        );
        all.push((
            format!("layers-pattern-{side}"),
            sized(&size, &format!("{pattern}<rect {size} fill='url(#p)'/>")),
        ));
        let tiny = "<pattern id='p' patternUnits='userSpaceOnUse' width='1e-6' height='1e-6'><path d='M0 0h1v1'/></pattern>";
        all.push((
            format!("layers-tiny-{side}"),
            sized(
                &size,
                &format!(
                    "{tiny}{}",
                    format!("<rect {size} fill='url(#p)'/>").repeat(100)
                ),
            ),
        ));
        let view = format!("{size} viewBox='0 0 1e-30 1e30'");
        all.push((
            format!("layers-view-{side}"),
            sized(&view, &format!("<g opacity='.5'>{whole}</g>")),
        ));
    }
    all
}

fn shapes() -> Vec<Named> {
    let side = |inside: &str| sized("width='600' height='600'", inside);
    let curve = format!("d='M0 0{}'", "c1 1 2 2 3 3".repeat(8000));
    let scaled = |open: &str, times: usize| {
        side(&format!(
            "{}<path stroke='red' {curve}/>{}",
            open.repeat(times),
            "</g>".repeat(times)
        ))
    };
    let stops = "<stop offset='.5'/>".repeat(20_000);
    let gradient = |stops: &str| format!("<linearGradient id='l'>{stops}</linearGradient>");
    let mut all = vec![
        named(
            "dashes",
            side(&format!(
                "<path stroke='red' stroke-dasharray='.0001' d='M0 0{}'/>",
                "h600v600h-600z".repeat(100)
            )),
        ),
        named(
            "dashes-some",
            side(&format!(
                "<path stroke='red' stroke-dasharray='1' d='M0 0{}'/>",
                "h600v600h-600z".repeat(10)
            )),
        ),
        named(
            "dashes-curved",
            side(&format!(
                "<path stroke='red' stroke-dasharray='.001 .001' d='M0 0{}'/>",
                "c1e6 0 1e6 1e6 0 600".repeat(100)
            )),
        ),
        named(
            "dashes-long",
            side(&format!(
                "<path stroke='red' stroke-dasharray='{}' d='M0 0h600'/>",
                "1 ".repeat(50_000)
            )),
        ),
        named(
            "arcs",
            side(&format!(
                "<path stroke='red' fill='none' stroke-width='1e5' stroke-linejoin='round' d='M0 0{}'/>",
                "a1e6 1 0 0 1 3 4".repeat(5000)
            )),
        ),
        named(
            "thin",
            side(&format!("<path d='M0 0{}'/>", "L600 600 0 1".repeat(7000))),
        ),
        named(
            "stroked-curves",
            side(&format!(
                "<path stroke='red' stroke-linejoin='round' stroke-linecap='round' stroke-width='9' {curve}/>"
            )),
        ),
        named(
            "stroked-curves-repeated",
            side(&format!(
                "<path id='p' stroke='red' {curve}/>{}",
                "<use xlink:href='#p'/>".repeat(50)
            )),
        ),
        named(
            "curves-repeated",
            side(&format!(
                "<path id='p' {curve}/>{}",
                "<use xlink:href='#p'/>".repeat(1000)
            )),
        ),
        named(
            "skewed",
            side(&format!(
                "<g transform='skewX(9)'><path id='p' stroke='red' {curve}/></g>"
            )),
        ),
        named(
            "small-numbers",
            side(&format!(
                "<path stroke='red' d='M0 0{}'/>",
                "l1e308 1e-308".repeat(6000)
            )),
        ),
        named(
            "points",
            side(&format!(
                "<polygon stroke='red' points='{}'/>",
                "1,2 9,300 ".repeat(20_000)
            )),
        ),
        named(
            "rows",
            side(&"<rect width='600' height='600'/>".repeat(5000)),
        ),
        named(
            "gradient-rows",
            side(&format!(
                "{}{}",
                gradient("<stop/><stop offset='1'/>"),
                "<rect width='600' height='600' fill='url(#l)'/>".repeat(1000)
            )),
        ),
        named(
            "same-stops",
            side(&format!(
                "{}<rect width='9' height='9' fill='url(#l)'/>",
                gradient(&stops)
            )),
        ),
        named(
            "stops-by-users",
            side(&format!(
                "{}{}",
                gradient(&"<stop offset='.1'/><stop offset='.9'/>".repeat(2000)),
                "<rect width='9' height='9' fill='url(#l)'/>".repeat(10_000)
            )),
        ),
        named(
            "transforms",
            side(&format!(
                "<g transform='{}'><rect width='9' height='9'/></g>",
                "scale(1.1)".repeat(9000)
            )),
        ),
        named(
            "scaled-beyond",
            scaled("<g transform='rotate(1) scale(1e9)'>", 40),
        ),
        named(
            "scaled-beyond-at-once",
            scaled(
                &format!("<g transform='rotate(1) {}'>", "scale(1e9)".repeat(40)),
                1,
            ),
        ),
        named(
            "scaled-by-style",
            scaled("<g style='transform:rotate(45) scale(1e6)'>", 1),
        ),
        named(
            "scaled-by-strokes",
            side(&format!(
                "<marker id='m' overflow='visible' orient='auto' markerWidth='1e4' markerHeight='1e4' viewBox='0 0 1 1'>\
                 <path stroke='red' fill='none' {curve}/></marker>\
                 <path d='M0 0l9 9' stroke='red' stroke-width='1e5' marker-end='url(#m)'/>"
            )),
        ),
        named(
            "transforms-repeated",
            side(&format!(
                "<defs><g id='a' transform='{}'/></defs>{}",
                "scale(1)".repeat(8000),
                "<use xlink:href='#a'/>".repeat(20_000)
            )),
        ),
        named(
            "transforms-of-all",
            side(&format!(
                "<style>*{{transform:{}}}</style>{}",
                "scale(1)".repeat(20_000),
                "<g/>".repeat(20_000)
            )),
        ),
        named(
            "uses-with-attributes",
            side(&format!(
                "<defs><g id='a'>{}</g></defs>{}",
                format!(
                    "<use {}/>",
                    (0..900).map(|i| format!(" a{i}=''")).collect::<String>()
                )
                .repeat(60),
                "<use xlink:href='#a'/>".repeat(15_000)
            )),
        ),
        named(
            "outlines-repeated",
            side(&format!(
                "<path id='a' stroke='red' d='M0 0{}'/>{}",
                "h1".repeat(100_000),
                "<use xlink:href='#a'/>".repeat(1000)
            )),
        ),
        named(
            "rotated-layers",
            side(
                &("<g opacity='.5' transform='rotate(45 300 300) scale(1.5)'>".repeat(60)
                    + "<rect width='600' height='600'/>"
                    + &"</g>".repeat(60)),
            ),
        ),
        named(
            "languages",
            side(&format!(
                "<switch><g systemLanguage='{}'/></switch>",
                "xx,".repeat(200_000)
            )),
        ),
    ];
    for (parts, vertices) in [(100, 700), (500, 2500), (1500, 15_000)] {
        let inside = "<path d='M0 0h1v1'/>".repeat(parts);
        let outline = "h1v1".repeat(vertices / 2);
        let marker = format!(
            "<marker id='m' overflow='visible' markerWidth='9' markerHeight='9'>{inside}</marker>"
        );
        all.push((
            format!("markers-{parts}-{vertices}"),
            side(&format!(
                "{marker}<path d='M0 0{outline}' marker-mid='url(#m)'/>"
            )),
        ));
        all.push((
            format!("markers-inherited-{parts}-{vertices}"),
            side(&format!(
                "{marker}<g style='marker:url(#m)'><path d='M0 0{outline}'/></g>"
            )),
        ));
    }
    for number in ["1e9", "1e30", "1e38", "-1e38", "1e-38", "NaN"] {
        let shape = format!(
            "<rect x='{number}' width='{number}' height='9' stroke='red' stroke-width='{number}'/><circle r='{number}'/><g opacity='.5'><path d='M0 0L{number} 9 {number} 3z'/></g>"
        );
        all.push((format!("number-{number}"), side(&shape)));
        all.push((
            format!("number-scaled-{number}"),
            side(&format!(
                "<g opacity='.5' transform='scale({number})'>{shape}</g>"
            )),
        ));
        all.push((
            format!("number-view-{number}"),
            sized(
                &format!("width='600' height='600' viewBox='{number} 0 {number} 9'"),
                &shape,
            ),
        ));
        all.push((
            format!("number-size-{number}"),
            sized(&format!("width='{number}' height='9'"), &shape),
        ));
    }
    all
}

fn images() -> Vec<Named> {
    let url = |text: &str| {
        // Escapes only characters that end an attribute or cannot be part of an address.
        let text = text
            .replace('%', "%25")
            .replace('#', "%23")
            .replace('<', "%3C");
        format!(
            "data:image/svg+xml,{}",
            text.replace('"', "%22")
                .replace('\'', "%27")
                .replace('>', "%3E")
        )
    };
    let image = |text: &str| {
        format!(
            "<image id='i' width='64' height='64' xlink:href='{}'/>",
            url(text)
        )
    };
    let rows = document(&"<path d='M0 0h9v9'/>".repeat(2500));
    let deep = document(&("<g>".repeat(190) + "<path d='M0 0h9v9'/>" + &"</g>".repeat(190)));
    let sheet = format!("<style>q {}rect{{fill:red}}</style>", "* ".repeat(9));
    let matched = document(&(sheet + &"<g>".repeat(180) + "<rect/>" + &"</g>".repeat(180)));
    let mut nested = document("<path d='M0 0h9v9'/>");
    for _ in 0..4 {
        nested = document(&image(&nested));
    }
    let shown = format!(
        "<filter id='f'><feImage xlink:href='{}'/></filter>",
        url(&rows)
    );
    vec![
        named(
            "image-used-10",
            document(&format!(
                "<defs>{}</defs>{}",
                image(&rows),
                "<use xlink:href='#i'/>".repeat(10)
            )),
        ),
        named(
            "image-used-1000",
            document(&format!(
                "<defs>{}</defs>{}",
                image(&rows),
                "<use xlink:href='#i'/>".repeat(1000)
            )),
        ),
        named(
            "image-deep",
            document(&format!(
                "{}{}{}",
                "<g>".repeat(190),
                image(&deep),
                "</g>".repeat(190)
            )),
        ),
        named("image-sheet", document(&image(&matched))),
        named("image-nested", nested),
        named(
            "image-shown",
            document(&format!(
                "{shown}{}",
                "<path d='M0 0h9v9z' filter='url(#f)'/>".repeat(300)
            )),
        ),
        named(
            "image-chain",
            document(&image(&chain(&[Kind::Fill], 67, 1, Spelling::Attribute))),
        ),
        named(
            "image-layers",
            sized(
                "width='2000' height='2000'",
                &format!(
                    "<defs>{}</defs>{}",
                    image(&rows),
                    "<g opacity='.5'><use xlink:href='#i'/></g>".repeat(50)
                ),
            ),
        ),
    ]
}

fn templates() -> Vec<Named> {
    let mut all = Vec::new();
    for (tag, property, inside) in [
        ("linearGradient", "fill", "<stop/><stop offset='1'/>"),
        ("radialGradient", "fill", "<stop/><stop offset='1'/>"),
        ("pattern", "fill", "<path d='M0 0h9v9z'/>"),
        ("filter", "filter", "<feFlood/>"),
    ] {
        let user = format!("<rect width='9' height='9' {property}='url(#t0)'/>");
        for length in [3, 50, 1000, 10_000] {
            let mut text = String::new();
            for index in 0..length {
                text += &format!("<{tag} id='t{index}' xlink:href='#t{}'/>", index + 1);
            }
            text += &format!("<{tag} id='t{length}'>{inside}</{tag}>");
            all.push((
                format!("templates-{tag}-{length}"),
                document(&(text + &user)),
            ));
        }
        // Chains of templates: a cycle that contains the first one, one that does not, and a self-reference.
        for (name, back) in [("circle", "t0"), ("loop", "t1"), ("self", "t2")] {
            let text = format!(
                "<{tag} id='t0' xlink:href='#t1'/><{tag} id='t1' xlink:href='#t2'/><{tag} id='t2' xlink:href='#{back}'/>"
            );
            all.push((format!("templates-{tag}-{name}"), document(&(text + &user))));
        }
    }
    all
}
