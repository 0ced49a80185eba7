use andon_recipe::Facts;
use proptest::prelude::*;

use super::config::{PhotonConfig, PhotonSource};
use crate::request::{ImageRequest, Source};
use crate::{Config, Dialects};

fn dialects(source: PhotonSource) -> Dialects {
    let photon = PhotonConfig {
        prefix: "/".to_owned(),
        source,
        ..PhotonConfig::default()
    };
    let config = Config {
        photon,
        ..Config::default()
    };
    Dialects::new(&config).expect("settings that work")
}

fn parse(target: &str) -> ImageRequest {
    let request = dialects(PhotonSource::Path).parse(target);
    request.expect("a request")
}

/// The recipe for a JPEG of 1600x1064 px, without its output.
fn steps(query: &str) -> String {
    let request = parse(&format!("/a.jpg?{query}"));
    let resolved = request.rules.resolve(&Facts::new("jpeg", 1600, 1064));
    let recipe = resolved.expect("a recipe").to_string();
    let (steps, _) = recipe.split_once("as:auto").expect("a format");
    steps.trim_end_matches(',').to_owned()
}

#[test]
fn arguments_have_the_documented_arithmetic() {
    for (query, recipe) in [
        ("w=300", "exact:300x200"),
        ("w=15%25", "exact:240x160"),
        ("w=3000", ""),
        ("h=200", "exact:301x200"),
        ("w=300&h=100", "exact:150x100"),
        ("w=300&h=300&crop=1", "exact:451x300,crop:75:0:300x300"),
        ("resize=400,220", "exact:400x266,crop:0:23:400x220"),
        ("resize=3200,3200", "exact:4812x3200,crop:806:0:3200x3200"),
        ("fit=300,300", "exact:300x200"),
        ("fit=3000,3000", ""),
        ("fit=100,100&zoom=2", "exact:200x133"),
        ("crop=12,25,60,60", "crop:192:266:960x638"),
        ("crop=160px,25,1400px,60", "crop:160:266:1400x638"),
        ("lb=400,400", "exact:400x266,canvas:400x400:000000:0:67"),
        ("filter=grayscale&w=300", "gray,exact:300x200"),
        ("contrast=50", "contrast:2.25"),
        ("brightness=-40", "brightness:-40"),
        // The last value of a repeated parameter counts, at its place in the query.
        ("w=900&fit=500,500&w=400", "exact:500x333,exact:400x266"),
    ] {
        assert_eq!(steps(query), recipe, "{query}");
    }
}

#[test]
fn a_source_is_a_host_and_a_path_there_or_a_path() {
    let hosts = dialects(PhotonSource::Host);
    for (target, source) in [
        ("/a.example/b/c.jpg?w=9", "http://a.example/b/c.jpg"),
        ("/a.example/b/c.jpg?w=9&ssl=1", "https://a.example/b/c.jpg"),
        (
            "/a.example:8080/b%20c.jpg",
            "http://a.example:8080/b%20c.jpg",
        ),
    ] {
        let request = hosts.parse(target).expect("a request");
        assert!(!request.is_file());
        assert_eq!(request.source, Source::Url(source.to_owned()));
    }
    for target in ["/a.jpg", "/folder/a.jpg?w=9"] {
        assert!(hosts.parse(target).expect("a file").is_file(), "{target}");
    }
    let request = parse("/folder/a.jpg?w=9");
    assert_eq!(request.source, Source::Path("folder/a.jpg".to_owned()));
    for target in ["/folder/a.jpg", "/folder/a.jpg?v=2"] {
        assert!(parse(target).is_file(), "{target}");
    }
}

#[test]
fn what_is_ignored_has_a_note() {
    for (query, note) in [
        ("w=300&colorize=1,2,3", "colorize: "),
        ("filter=emboss", "filter: `emboss` is not supported"),
        ("h=300&w=wide", "w: it must be px"),
        ("w=300&resise=3,3", "resise: "),
    ] {
        let notes = parse(&format!("/a.jpg?{query}")).notes;
        assert!(notes.len() == 1 && notes[0].starts_with(note), "{notes:?}");
    }
}

proptest! {
    /// No query causes a panic, and each parsed request can be written as a target and parsed again.
    #[test]
    fn queries_are_read_as_they_are_written(
        query in "((w|h|crop|resize|fit|lb|ulb|filter|zoom|quality|ssl)=[0-9]{0,5}(,|%|px|%25|\\.)?[0-9a-z,]{0,9}&?){1,4}",
        width in 1_u32..3000,
    ) {
        for source in [PhotonSource::Host, PhotonSource::Path] {
            let dialects = dialects(source);
            let Ok(request) = dialects.parse(&format!("/a.example/b.jpg?{query}")) else { continue };
            if !request.is_file() {
                let _ = request.rules.resolve(&Facts::new("jpeg", width, 1000));
                let mut written = dialects.write(&request);
                prop_assert!(written.any(|(name, _)| name == "photon"), "{}", request.rules.text());
            }
        }
    }
}
