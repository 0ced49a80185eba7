//! `limits.cpu`: work that is planned to take longer is refused before it begins.

use crate::common::{House, Reply, sample};

/// Limit on the planned processor time, of which small sources may use about a quarter: less than [`dear`] takes, and
/// more than a small PNG does.
const LIMIT: &str = "[limits]\ncpu = \"200ms\"\n";

/// Returns a recipe with enough operations for its plan to exceed [`LIMIT`].
fn dear() -> String {
    format!("exact:300x300{},as:png", ",sharpen-l:9".repeat(10))
}

fn house(keys: &str) -> House {
    House::with(&format!("{keys}{LIMIT}"))
}

fn refused(reply: &Reply) {
    let said = reply.text();
    assert_eq!(reply.status, 422, "{said}");
    for part in [
        "s of processor time are planned",
        "the limit of 0.05 s for a source of this length",
        "lower effort",
        "`limits.cpu`",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn work_that_is_planned_to_take_longer_is_refused_with_the_way_out() {
    let house = house("");
    refused(&house.get(&format!("/r/{}/a.jpg", dear())));
    assert_eq!(house.get("/r/fit:90x90,as:png/a.jpg").status, 200);
}

#[test]
fn what_is_measured_counts_with_what_is_made_of_it() {
    let house = house("");
    refused(&house.get(&format!("/r/trim,{}/a.jpg", dear())));
    assert_eq!(house.get("/r/trim,fit:90x90,as:png/a.jpg").status, 200);
}

#[test]
fn uploads_are_held_to_it() {
    let house = house("[upload]\nallow = \"local\"\n");
    let photo = std::fs::read(sample("jpeg/420.jpg")).expect("a sample");
    let post = |recipe: &str| {
        let mut client = house.client();
        let target = format!("/_andon/render?recipe={recipe}");
        client.ask(
            "POST",
            &target,
            &[("Content-Length", &photo.len().to_string())],
        );
        client.send(&photo);
        client.reply("POST")
    };
    refused(&post(&dear()));
    assert_eq!(post("fit:90x90,as:png").status, 200);
}

#[test]
fn idle_requests_have_the_time_and_leave_others_as_they_were() {
    let house = house("[admin]\ntoken = \"a token of some length\"\n");
    let target = format!("/r/{}/a.jpg", dear());
    refused(&house.get(&target));
    let headers = [
        ("Andon-Priority", "idle"),
        ("Authorization", "Bearer a token of some length"),
    ];
    let made = house.request("GET", &target, &headers);
    assert_eq!(made.status, 200, "{}", made.text());
    // What was made is there for everybody.
    assert_eq!(house.get(&target).status, 200);
}

#[test]
fn a_format_that_is_too_dear_gives_way_to_the_next_that_the_client_takes() {
    let house = house("[negotiation]\nformats = [\"avif\", \"webp\"]\npatience = \"1h\"\n");
    house.put_sample("large.jpg", "photos/otter.jpg");
    let accept = [("accept", "image/avif,image/webp,*/*")];
    let reply = house.request("GET", "/r/exact:500x500,as:auto/large.jpg", &accept);
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.header("content-type"), Some("image/webp"));
    assert_eq!(reply.header("andon-instead-of"), Some("avif"));
    // What is too dear in every format is refused.
    let all = dear().replace("as:png", "as:auto");
    refused(&house.request("GET", &format!("/r/{all}/a.jpg"), &accept));
}

#[test]
fn zero_is_no_limit() {
    let house = House::with("[limits]\ncpu = \"0s\"\n");
    assert_eq!(house.get(&format!("/r/{}/a.jpg", dear())).status, 200);
}
