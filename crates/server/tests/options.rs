//! Every option of every dialect, with and without it: what is ignored has to say so in an `Andon-Note`.
//!
//! The options, and what each changes, are tables in `crates/dialects/options`.

use std::collections::BTreeMap;
use std::path::Path;

use andon_pixels::{Encode, Frame, Grid, Model, Plane};
use serde::Deserialize;

use crate::common::images::{self, rgb, still, with_segments, written};
use crate::common::{House, Reply, sample};

pub(crate) const KEYS: &str = r#"
[[origin]]
http.urls = ["https://pictures.example/"]
[imgproxy]
prefix = "/imgproxy"
allow_security_options = true
watermark = { file = "b.png", size = [16, 12], opacity = 1.0 }
[imgproxy.presets]
small = "w:10"
[small_light]
material_dir = "icons"
[small_light.patterns]
small = "dw=10"
[image_filter]
prefix = "/"
[iiif]
prefix = "/iiif"
[cloudflare]
prefix = "/cloudflare"
[next]
prefix = "/_next/image"
qualities = [75, 30]
[photon]
prefix = "/photon"
source = "path"
[weserv]
prefix = "/weserv"
[imgix]
prefix = "/imgix"
[ipx]
prefix = "/_ipx"
[astro]
prefix = "/_image"
[thumbor]
prefix = "/thumbor"
[imagor]
prefix = "/imagor"
allow_unsafe = true
"#;

/// The options of a dialect.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    url: String,
    between: String,
    beside: String,
    input: String,
    pub(crate) option: Vec<Row>,
}

/// One option. If its `url`, `beside` or `input` is `None`, that of the table applies.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) name: String,
    with: String,
    /// The options of the request without this option; `None` for those in `beside`.
    without: Option<String>,
    changes: String,
    why: Option<String>,
    url: Option<String>,
    beside: Option<String>,
    input: Option<String>,
}

impl Row {
    /// Returns the targets of the requests with and without this option.
    pub(crate) fn targets(&self, table: &Table) -> (String, String) {
        let url = self.url.as_ref().unwrap_or(&table.url);
        let input = self.input.as_ref().unwrap_or(&table.input);
        let beside = self.beside.as_ref().unwrap_or(&table.beside);
        let (with, without) = match &self.without {
            Some(without) => (self.with.clone(), without),
            None if beside.is_empty() => (self.with.clone(), beside),
            None => (format!("{beside}{}{}", table.between, self.with), beside),
        };
        let target = |options: &str| url.replace("{}", options).replace("{input}", input);
        (target(&with), target(without))
    }

    /// Returns how the reply to the request with this option contradicts `changes`; `None` if it does not.
    fn wrong(&self, with: &Reply, without: &Reply) -> Option<String> {
        let (kind, detail) = self.changes.split_once(' ').unwrap_or((&self.changes, ""));
        let fine = with.status < 400;
        let holds = match kind {
            "bytes" => fine && with.body != without.body,
            "header" => fine && values(with, detail) != values(without, detail),
            "note" => fine && !notes(with).is_empty() && notes(with) != notes(without),
            "refused" => detail.parse() == Ok(with.status) && without.status != with.status,
            "same" => fine && with.body == without.body && self.why.is_some(),
            other => panic!("{}: nothing is called {other}", self.name),
        };
        let same = with.body == without.body;
        (!holds).then(|| {
            let (status, notes) = (with.status, notes(with));
            let error = if fine { String::new() } else { with.text() };
            format!("it is {status}, the bytes are the same: {same}, notes: {notes:?} {error}")
        })
    }
}

/// All values of a header.
fn values<'a>(reply: &'a Reply, name: &str) -> Vec<&'a str> {
    let named = reply.headers.iter().filter(|(own, _)| own == name);
    named.map(|(_, value)| value.as_str()).collect()
}

fn notes(reply: &Reply) -> Vec<&str> {
    values(reply, "andon-note")
}

pub(crate) fn tables() -> BTreeMap<String, Table> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dialects/options");
    let files = std::fs::read_dir(folder).expect("the tables");
    let table = |path: &Path| {
        let text = std::fs::read_to_string(path).expect("a text");
        let table = toml::from_str(&text);
        let table = table.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = path.file_stem().expect("a name").to_string_lossy();
        (name.into_owned(), table)
    };
    files
        .map(|file| table(&file.expect("a file").path()))
        .collect()
}

/// A server of every dialect, and the inputs that the tables name.
pub(crate) fn house() -> House {
    let icon = written("png", &still(16, 12, 3), &Encode::default());
    let house = House::furnished(KEYS, |folder| {
        std::fs::create_dir(folder.join("icons")).expect("a folder");
        std::fs::write(folder.join("icons/b.png"), &icon).expect("an icon");
    });
    house.put("b.png", &icon);
    let framed = rgb(80, 60, |plane, at| {
        let (x, y) = (at % 80, at / 80);
        match (15..65).contains(&x) && (15..45).contains(&y) {
            true => ((x * 3 + y * 2 + plane * 40) % 200) as u8,
            false => 255,
        }
    });
    house.put("framed.png", written("png", &framed, &Encode::default()));
    house.put("clear.png", written("png", &clear(), &Encode::default()));
    house.put_sample("wide.jpg", "jpeg/icc-adobe-rgb.jpg");
    house.put_sample("cmyk.jpg", "jpeg/cmyk.jpg");
    let turned = std::fs::read(sample("jpeg/orientation-6.jpg")).expect("a sample");
    house.put("turned.jpg", with_segments(&turned, &[(0xe1, XMP)]));
    house.put("moving.gif", images::animation("gif", (40, 30), 4, 10));
    let photo = std::fs::read(sample("jpeg/420.jpg")).expect("a sample");
    house.put("still.webp", images::made(&photo, "as:webp"));
    house
}

/// XMP with the owner of the rights and with an unrelated label.
const XMP: &[u8] = b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF \
    xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description rdf:about=\"\" \
    xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" xmp:Label=\"Trip\">\
    <dc:rights><rdf:Alt><rdf:li xml:lang=\"x-default\">Ottilie Otter</rdf:li></rdf:Alt></dc:rights>\
    </rdf:Description></rdf:RDF></x:xmpmeta>";

/// Returns a frame whose right half is fully transparent.
fn clear() -> Frame {
    let frame = still(80, 60, 1);
    let alpha = (0..80 * 60)
        .map(|at| if at % 80 < 40 { 255 } else { 0 })
        .collect();
    let alpha = Grid::from_samples(80, 60, alpha)
        .map(Plane::U8)
        .expect("samples");
    Frame::new(Model::Rgb, 80, 60, frame.planes, Some(alpha)).expect("a frame")
}

#[test]
fn every_option_acts_or_says_that_it_does_not() {
    let house = house();
    let mut wrong = Vec::new();
    for (dialect, table) in tables() {
        let mut plain: BTreeMap<String, Reply> = BTreeMap::new();
        for row in &table.option {
            let (with, without) = row.targets(&table);
            let reply = plain
                .entry(without)
                .or_insert_with_key(|target| house.get(target));
            let made = house.get(&with);
            if let Some(why) = row.wrong(&made, reply) {
                wrong.push(format!("{dialect}: {with}: not `{}`: {why}", row.changes));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} options:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_option_that_a_dialect_knows_is_tried() {
    for (dialect, table) in tables() {
        let tried = |name: &str| table.option.iter().any(|row| row.name == name);
        let missing: Vec<String> = (andon_dialects::options(&dialect).into_iter())
            .filter(|name| !tried(name))
            .collect();
        assert!(missing.is_empty(), "{dialect}: {missing:?}");
    }
}
