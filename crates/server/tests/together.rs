//! Several sizes of one image that wait together: one decode, and nobody sees it in the bytes.

use crate::common;
use std::time::{Duration, Instant};

use crate::common::{Client, Gate, House, figure, trick_target};

const SOURCES: [&str; 3] = ["jpeg/420.jpg", "jpeg/progressive-420.jpg", "png/alpha.png"];

/// Every reduced scale of an image of 400 × 300 px, some of them twice, in two formats; turned, cut,
/// and with an effect.
const SIZES: [&str; 8] = [
    "dw=20,dh=15",
    "dw=60,dh=45",
    "dw=61,dh=45,of=webp",
    "dw=100,dh=75",
    "dw=130,dh=90,q=60",
    "dw=64,dh=48,of=png",
    "sx=50,sy=50,sw=200,sh=200,dw=60,dh=60",
    "dw=60,dh=60,angle=90,sharpen=1x1",
];

/// A server whose only worker thread stands at a gate.
struct Busy {
    house: House,
    gate: Gate,
    first: Client,
}

impl Busy {
    fn with(source: &str, keys: &str) -> Self {
        let house = House::with(&format!("workers = 1\nmax_wait = \"60s\"\n{keys}"));
        house.put_sample("p", source);
        let gate = house.put_gate("wait.trick");
        let mut first = house.client();
        first.ask("GET", &trick_target("wait.trick"), &[]);
        gate.wait_until_begun();
        Self { house, gate, first }
    }

    /// Sends a request without waiting for its reply.
    fn ask(&self, size: &str) -> Client {
        let mut client = self.house.client();
        client.ask("GET", &target(size), &[]);
        client
    }

    fn wait_until_in_line(&self, length: usize) {
        let patience = Instant::now() + Duration::from_secs(60);
        while figure(&self.house, "andon_queue_length") != length as f64 {
            assert!(Instant::now() < patience, "they never came");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn release(&mut self) {
        self.gate.release();
        assert_eq!(self.first.reply("GET").status, 200);
    }

    /// The number of decodes, without that of the image at the gate.
    fn decodes(&self) -> f64 {
        figure(&self.house, "andon_decodes_total") - 1.0
    }
}

fn target(size: &str) -> String {
    format!("/small_light({size})/p")
}

/// The bytes that each request gets when nobody else is there.
fn alone(source: &str) -> Vec<Vec<u8>> {
    let house = House::new();
    house.put_sample("p", source);
    SIZES
        .iter()
        .map(|size| {
            let reply = house.get(&target(size));
            assert_eq!(reply.status, 200, "{size}: {}", reply.text());
            reply.body
        })
        .collect()
}

#[test]
fn sizes_that_wait_together_share_one_decode_and_get_the_bytes_of_a_lone_request() {
    for source in SOURCES {
        let expected = alone(source);
        let mut busy = Busy::with(source, "");
        let mut clients: Vec<_> = SIZES.iter().map(|size| busy.ask(size)).collect();
        busy.wait_until_in_line(SIZES.len());
        busy.release();
        for ((client, expected), size) in clients.iter_mut().zip(&expected).zip(SIZES) {
            let reply = client.reply("GET");
            assert_eq!(reply.status, 200, "{source} {size}: {}", reply.text());
            assert!(reply.body == *expected, "{source} {size}");
        }
        assert_eq!(busy.decodes(), 1.0, "{source}");
        let shared = figure(&busy.house, "andon_decodes_shared_total");
        assert_eq!(shared, SIZES.len() as f64 - 1.0, "{source}");
        assert_eq!(figure(&busy.house, "andon_memory_planned_bytes"), 0.0);
    }
}

#[test]
fn whoever_leaves_or_runs_out_of_time_hurts_nobody_in_company() {
    let source = SOURCES[0];
    let expected = alone(source);
    let mut busy = Busy::with(source, "");
    // In its turn the first of them is the one whose thread it is.
    let mut clients: Vec<_> = SIZES.iter().map(|size| busy.ask(size)).collect();
    busy.wait_until_in_line(SIZES.len());
    clients.remove(5);
    clients.remove(0);
    busy.wait_until_in_line(SIZES.len() - 2);
    busy.release();
    for (client, index) in clients.iter_mut().zip([1, 2, 3, 4, 6, 7]) {
        let reply = client.reply("GET");
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert!(reply.body == expected[index], "{}", SIZES[index]);
    }
}

#[test]
fn a_broken_image_is_refused_to_each_of_them() {
    let mut busy = Busy::with(SOURCES[0], "");
    let whole = std::fs::read(common::sample(SOURCES[0])).expect("a sample");
    busy.house.put("p", &whole[..whole.len() / 2]);
    let mut clients: Vec<_> = SIZES.iter().map(|size| busy.ask(size)).collect();
    busy.wait_until_in_line(SIZES.len());
    busy.release();
    for client in &mut clients {
        assert_eq!(client.reply("GET").status, 415);
    }
    assert_eq!(figure(&busy.house, "andon_memory_planned_bytes"), 0.0);
}

#[test]
fn different_images_are_decoded_apart() {
    let mut busy = Busy::with(SOURCES[0], "");
    busy.house.put_sample("q", SOURCES[1]);
    let mut clients = vec![busy.ask(SIZES[0])];
    let mut other = busy.house.client();
    other.ask("GET", "/small_light(dw=20,dh=15)/q", &[]);
    clients.push(other);
    busy.wait_until_in_line(2);
    busy.release();
    for client in &mut clients {
        assert_eq!(client.reply("GET").status, 200);
    }
    assert_eq!(busy.decodes(), 2.0);
}

#[test]
fn photos_of_a_page_share_a_decode_too() {
    let photo = std::fs::read(common::sample("large/canyon-wren.jpg")).expect("a photo");
    let lone = House::new();
    lone.put("p", &photo);
    let mut busy = Busy::with(SOURCES[0], "");
    busy.house.put("p", &photo);
    let sizes = ["dw=160", "dw=320", "dw=480", "dw=640", "dw=800"];
    let mut clients: Vec<_> = sizes.iter().map(|size| busy.ask(size)).collect();
    busy.wait_until_in_line(sizes.len());
    busy.release();
    for (client, size) in clients.iter_mut().zip(sizes) {
        let reply = client.reply("GET");
        assert_eq!(reply.status, 200, "{size}: {}", reply.text());
        assert!(reply.body == lone.get(&target(size)).body, "{size}");
    }
    assert_eq!(busy.decodes(), 1.0);
}
