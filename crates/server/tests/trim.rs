//! `trim` over HTTP: measured on a worker thread, once for each state of a source.

use crate::common::{House, Reply, sample, wait_for_followers};
use andon_pixels::{Engine, Limits, Run};
use andon_recipe::Recipe;

/// Does a reply tell that its source was measured for it?
fn tells_measuring(reply: &Reply) -> bool {
    reply
        .header("server-timing")
        .is_some_and(|timing| timing.contains("measure;"))
}

/// A green PNG of 90 × 60 px with a photo of 30 × 20 px in it.
fn framed() -> Vec<u8> {
    let photo = std::fs::read(sample("jpeg/420.jpg")).expect("a sample");
    let engine = Engine::new(andon_codecs::ALL, Limits::default());
    let recipe: Recipe = "exact:30x20,pad:7:35:33:25:00ff00,as:png"
        .parse()
        .expect("a recipe");
    let plan = engine.plan(&recipe, &photo).expect("a plan");
    let made = engine.run(&plan, Run::of(&photo));
    made.expect("an image").body.expect("a new one")
}

#[test]
fn a_border_is_cut_off_and_measured_once_for_all_results() {
    let house = House::new();
    house.put("f.png", framed());
    let first = house.get("/r/trim/f.png");
    assert_eq!(
        (first.status, first.size()),
        (200, (30, 20)),
        "{}",
        first.text()
    );
    assert!(tells_measuring(&first));
    let other = house.get("/r/trim,fit:15x/f.png");
    assert_eq!((other.status, other.size()), (200, (15, 10)));
    assert!(!tells_measuring(&other));
    assert!(
        tells_measuring(&house.get("/r/trim:20/f.png")),
        "that is another question"
    );

    house.put("f.png", [framed(), b"more".to_vec()].concat());
    let changed = house.get("/r/trim,fit:12x/f.png");
    assert_eq!((changed.status, changed.size()), (200, (12, 8)));
    assert!(tells_measuring(&changed));
}

#[test]
fn many_who_ask_at_once_decode_once_to_measure() {
    let house = House::with("workers = 4");
    let gate = house.put_gate("wait.trick");
    let ask = |width: u32| {
        let mut client = house.client();
        client.ask(
            "GET",
            &format!("/r/trim,exact:{width}x4,as:png/wait.trick"),
            &[],
        );
        client
    };
    let mut clients: Vec<_> = (3..7).map(ask).collect();
    gate.wait_until_begun();
    wait_for_followers(&house, "measure", clients.len() - 1);
    assert_eq!(gate.times_begun(), 1, "nobody else decodes meanwhile");
    gate.release();
    for client in &mut clients {
        assert_eq!(client.reply("GET").status, 200);
    }
}

#[test]
fn what_cannot_be_measured_is_the_images_fault() {
    let house = House::new();
    let mut cut = framed();
    cut.truncate(cut.len() / 2);
    house.put("cut.png", cut);
    assert_eq!(house.get("/r/trim/cut.png").status, 415);
    let misplaced = house.get("/r/fit:50x50,trim/a.jpg");
    assert_eq!(misplaced.status, 400);
    assert!(misplaced.text().contains("trim:10"), "{}", misplaced.text());
}

#[test]
fn an_upload_is_measured_too() {
    let house = House::with("upload.allow = \"all\"");
    let mut client = house.client();
    let body = framed();
    let length = body.len().to_string();
    client.ask(
        "POST",
        "/_andon/render?recipe=trim",
        &[("Content-Length", &length)],
    );
    client.send(body);
    let reply = client.reply("POST");
    assert_eq!(
        (reply.status, reply.size()),
        (200, (30, 20)),
        "{}",
        reply.text()
    );
}
