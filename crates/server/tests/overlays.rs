//! An overlay image is decoded once, whoever lays it over whatever.

use std::path::Path;

use crate::common::{Client, Gate, House};

const TRIED: u32 = 6;

/// Starts a server with the overlay image `lamp.png`, whose decoder waits at the returned gate.
fn house(keys: &str) -> (House, Gate) {
    let mut gate = None;
    let house = House::furnished(
        &format!("workers = 4\n{keys}\n[small_light]\nmaterial_dir = \"icons\""),
        |folder| {
            std::fs::create_dir(folder.join("icons")).expect("a folder");
            gate = Some(put(folder, "first"));
        },
    );
    (house, gate.expect("it is furnished"))
}

fn put(folder: &Path, name: &str) -> Gate {
    let (gate, content) = Gate::new(&folder.join(name));
    std::fs::write(folder.join("icons/lamp.png"), content).expect("an overlay");
    gate
}

fn ask(house: &House, width: u32) -> Client {
    let mut client = house.client();
    let target = format!("/small_light(dw={width},embedicon=lamp.png)/a.jpg");
    client.ask("GET", &target, &[]);
    client
}

fn ask_for_all(house: &House, gate: &Gate, widths: std::ops::Range<u32>) {
    let clients: Vec<_> = widths.map(|width| ask(house, width)).collect();
    gate.wait_until_begun();
    gate.release();
    for mut client in clients {
        assert_eq!(client.reply("GET").status, 200);
    }
}

#[test]
fn an_overlay_that_many_want_is_decoded_once_and_again_when_its_file_changes() {
    let (house, gate) = house("");
    ask_for_all(&house, &gate, 20..20 + TRIED);
    ask_for_all(&house, &gate, 60..60 + TRIED);
    assert_eq!(gate.times_begun(), 1);

    let changed = put(house.folder.path(), "second");
    ask_for_all(&house, &changed, 100..100 + TRIED);
    assert_eq!((gate.times_begun(), changed.times_begun()), (1, 1));
}

#[test]
fn an_overlay_is_decoded_each_time_where_none_may_be_kept() {
    let (house, gate) = house("cache.overlays = \"0\"");
    gate.release();
    for width in 20..20 + TRIED {
        assert_eq!(ask(&house, width).reply("GET").status, 200);
    }
    assert_eq!(gate.times_begun(), TRIED as usize);
}
