//! Parts of large JPEGs over HTTP: their sources are indexed once, and every part is what it was without an index.

use crate::common::{House, Reply, sample};
use andon_pixels::{Engine, Limits, Run};
use andon_recipe::Recipe;

const TILES: &str = "[iiif]\nprefix = \"/iiif/3\"\n";

/// Whether a reply says in `Server-Timing` that its source was measured or indexed for it.
fn tells_indexing(reply: &Reply) -> bool {
    reply
        .header("server-timing")
        .is_some_and(|timing| timing.contains("measure;"))
}

/// A photo of 9 megapixels.
fn large(options: &str) -> Vec<u8> {
    let photo = std::fs::read(sample("large/canyon-wren.jpg")).expect("a sample");
    let engine = Engine::new(andon_codecs::ALL, Limits::default());
    let recipe = format!("exact:4000x2250,as:jpeg,q:75,profile:srgb{options}");
    let recipe: Recipe = recipe.parse().expect("a recipe");
    let plan = engine.plan(&recipe, &photo).expect("a plan");
    let made = engine.run(&plan, Run::of(&photo));
    made.expect("an image").body.expect("a new one")
}

fn tile(house: &House, file: &str, x: u32, y: u32) -> Reply {
    let reply = house.get(&format!("/iiif/3/{file}/{x},{y},512,512/max/0/default.jpg"));
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply
}

#[test]
fn a_source_is_indexed_once_for_all_of_its_tiles() {
    let (house, file) = (House::with(TILES), large(""));
    let without = House::with(&format!("{TILES}[cache]\nmemory = 0\n"));
    house.put("f.jpg", &file);
    without.put("f.jpg", &file);
    for (number, (x, y)) in [(0, 0), (512, 512), (3488, 1738), (1024, 7)]
        .into_iter()
        .enumerate()
    {
        let reply = tile(&house, "f.jpg", x, y);
        assert_eq!(tells_indexing(&reply), number == 0, "tile {number}");
        let plain = tile(&without, "f.jpg", x, y);
        assert!(!tells_indexing(&plain), "nothing is kept there");
        assert!(reply.body == plain.body, "tile {number} is another");
    }
    assert!(
        !tells_indexing(&house.get("/r/crop:900:900:300x200/f.jpg")),
        "by any dialect"
    );

    house.put("f.jpg", [file, b"more".to_vec()].concat());
    assert!(
        tells_indexing(&tile(&house, "f.jpg", 512, 0)),
        "another state of it"
    );
}

#[test]
fn what_cannot_be_indexed_is_tried_once_and_decoded_in_full() {
    let house = House::with(TILES);
    house.put("progressive.jpg", large(",progressive"));
    assert!(!tells_indexing(&tile(&house, "progressive.jpg", 0, 0)));

    let mut cut = large("");
    cut.truncate(cut.len() - 2000);
    house.put("cut.jpg", cut);
    let ask = |x: u32| house.get(&format!("/iiif/3/cut.jpg/{x},0,512,512/max/0/default.jpg"));
    let (first, second) = (ask(0), ask(512));
    assert_eq!(
        (first.status, second.status),
        (415, 415),
        "{}",
        first.text()
    );
}

#[test]
fn an_index_on_disk_survives_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let keys = format!(
        "{TILES}[cache]\nmemory = 0\ndisk = {{ path = {:?}, size = \"64MiB\" }}\n",
        folder.path().join("cache")
    );
    std::fs::create_dir(folder.path().join("cache")).expect("a folder in it");
    // The same file for both: its inode is part of its state.
    let file = folder.path().join("f.jpg");
    std::fs::write(&file, large("")).expect("a file");
    let open = || {
        House::furnished(&keys, |house| {
            std::fs::hard_link(&file, house.join("root/f.jpg")).expect("the same file");
        })
    };
    let mut house = open();
    assert!(tells_indexing(&tile(&house, "f.jpg", 0, 0)));
    house.begin_to_stop();
    house.wait_until_stopped();
    assert!(!tells_indexing(&tile(&open(), "f.jpg", 512, 0)));
}
