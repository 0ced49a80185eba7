//! Invalid options: notes in the reply name them, whether the result is new, cached or unchanged, or the request is
//! refused if the configuration says so.

use crate::common::{Client, House};

/// Invalid options, each with the beginning of the note about it.
const MISTAKES: &[(&str, &str)] = &[
    (
        "dww=250",
        "`dww` is no option (did you mean `dw`?); it is ignored",
    ),
    ("dw=abc", "dw=abc: neither pixels nor percent"),
    ("dw=300px", "dw=300px: read as 300 percent"),
    ("p=nope", "p: there is no pattern `nope`; it is ignored"),
    ("dw=20,of=avif", "of=avif: not one of jpeg"),
    ("dw=20,%C3%BC=1", "`\\u{fc}` is no option"),
    (
        "dw=20,x%0D%0ASet-Cookie:a=1",
        "`x\\r\\nSet-Cookie:a` is no option",
    ),
];

fn target(options: &str) -> String {
    format!("/small_light({options})/a.jpg")
}

/// All notes of the next reply, and its status.
fn notes(client: &mut Client, target: &str, headers: &[(&str, &str)]) -> (u16, Vec<String>) {
    let reply = client.request("GET", target, headers);
    let notes = reply
        .headers
        .iter()
        .filter(|(name, _)| name == "andon-note")
        .map(|(_, value)| value.clone())
        .collect();
    assert!(reply.header("set-cookie").is_none());
    (reply.status, notes)
}

#[test]
fn a_mistake_is_named_in_the_reply_also_from_the_cache_and_when_nothing_changed() {
    let house = House::with("[cache]\nfs_fresh = \"1h\"\n");
    let mut client = house.client();
    for (options, note) in MISTAKES {
        let target = target(options);
        // Made; from memory beneath hyper; through hyper; as unchanged.
        for headers in [
            &[][..],
            &[],
            &[("Range", "bytes=0-")],
            &[("If-None-Match", "*")],
        ] {
            let (status, notes) = notes(&mut client, &target, headers);
            assert!(matches!(status, 200 | 206 | 304), "{target}: {status}");
            assert_eq!(notes.len(), 1, "{target}: {notes:?}");
            assert!(notes[0].starts_with(note), "{target}: {notes:?}");
        }
    }
    let unclosed = notes(&mut client, "/small_light(dw=20/a.jpg", &[]);
    assert!(unclosed.1[0].contains("must be closed"), "{unclosed:?}");
    let sound = notes(&mut client, &target("dw=20,dh=20,da=l,q=90"), &[]);
    assert_eq!(sound, (200, vec![]));
}

#[test]
fn replies_share_an_entry_and_not_its_notes() {
    let house = House::with("[cache]\nfs_fresh = \"1h\"\n");
    let mut client = house.client();
    for _ in 0..2 {
        assert_eq!(notes(&mut client, &target("dw=20"), &[]).1.len(), 0);
        assert_eq!(notes(&mut client, &target("dw=20,x=1"), &[]).1.len(), 1);
        assert_eq!(notes(&mut client, &target("dw=20,x=1,y=2"), &[]).1.len(), 2);
    }
    let reply = client.get(&target("dw=20,x=1"));
    assert!(
        reply
            .header("cache-status")
            .is_some_and(|status| status.contains("hit"))
    );
    let many: String = (0..500).map(|number| format!(",x{number}=1")).collect();
    assert_eq!(
        notes(&mut client, &target(&format!("dw=20{many}")), &[])
            .1
            .len(),
        8
    );
}

#[test]
fn a_mistake_is_refused_where_the_configuration_says_so() {
    let house = House::with("[small_light]\nmistakes = \"refuse\"\n");
    for (options, note) in MISTAKES {
        let reply = house.get(&target(options));
        assert_eq!(reply.status, 400, "{options}: {}", reply.text());
        let name = note
            .split(['`', ':'])
            .find(|part| !part.is_empty())
            .unwrap_or_default();
        let name = name.split('\\').next().unwrap_or_default();
        assert!(reply.text().contains(name), "{options}: {}", reply.text());
    }
    assert_eq!(house.get(&target("dw=20,dh=20,da=l,q=90")).status, 200);
    assert_eq!(house.get("/small_light(dw=20/a.jpg").status, 400);
}

#[test]
fn the_modules_strict_mode_ignores_mistakes_in_silence() {
    let house = House::with("[small_light]\ncompat = \"strict\"\nmistakes = \"refuse\"\n");
    for options in ["dww=250", "p=nope", "dw=20,of=avif"] {
        assert_eq!(house.get(&target(options)).status, 200, "{options}");
    }
}

#[test]
fn an_upload_is_told_of_its_mistakes_too() {
    let house = House::with("[upload]\nallow = \"local\"\n");
    let image = std::fs::read(house.file("a.jpg")).expect("the image");
    let mut client = house.client();
    client.send(format!(
        "POST /_andon/render?small_light=dw=20,dww=9,50%25=1 HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n",
        image.len()
    ));
    client.send(&image);
    let reply = client.reply("POST");
    let notes = reply
        .headers
        .iter()
        .filter(|(name, _)| name == "andon-note");
    assert_eq!((reply.status, notes.count()), (200, 2));
}
