//! Tests of what options mean, one by one and together.

use std::collections::HashSet;

use super::super::options::Options;
use super::super::row::About;
use super::super::table::ALL;
use super::{ImgproxyConfig, ask, common, dialects, status};
use crate::Fault;
use crate::geometry::FACES;

#[test]
fn every_option_has_names_of_its_own() {
    let names: Vec<_> = ALL.iter().flat_map(|row| row.names).collect();
    let distinct: HashSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len());
}

#[test]
fn what_an_option_shows_it_reads() {
    let said = "rs:auto:100:50:1:1:no:1:2/mw:5/mh:6/z:0.5:2/dpr:2/exar:1:so/g:fp:0.1:0.2/c:10:0.5:ea/car:1.5:1/t:5:fff:1\
                /pd:1:2:3:4/ar:0/rot:-90/fl:1/bg:123/bga:0.5/a:10:1.5:0.5/mc:0.5:f00/dt:1/col:0.1/gr:0.5:f00:left:0.2:0.8/bl:1/sh:2/ush:always:2:12/avifo:on/cp:p3/pix:3\
                /ba:1:0:0:1:1/wm:0.5:re:1:2:0.3/wmu:bG9jYWw6Ly8vYg/wmt:QQ/wms:3:4/wmr:45/wmsh:2/q:7/fq:png:5/mb:9/f:tif/sm:0/kcr:0/scp:0/jpgo:1:1/pngo:1/webpo:lossless\
                /pg:2/da:1/skp:gif:jpg/fn:bmFtZQ:1/fiu:bG9jYWw6Ly8vYQ/att:1/exp:9999999999/hs:md5:900150983cd24fb0d6963f7d28e17f72/msr:1/msfs:4/maf:2/mrd:3/raw:1";
    let mut options = Options::default();
    for option in said.split('/') {
        let mut words = option.split(':');
        let row = super::super::table::find(words.next().unwrap()).expect(option);
        row.read(&mut options, &words.collect::<Vec<_>>())
            .expect(option);
    }
    let mut again = Options::default();
    for row in ALL {
        let plain = row.show(&Options::default());
        let Some((text, plain)) = row.show(&options).zip(plain) else {
            continue;
        };
        assert_ne!(text, plain, "{:?} is not said above", row.names);
        row.read(&mut again, &text.split(':').collect::<Vec<_>>())
            .unwrap();
        // The default value resets the option. Qualities are an exception, since there is one for each format.
        let mut emptied = options.clone();
        if row.names[1..] != ["fq"]
            && row
                .read(&mut emptied, &plain.split(':').collect::<Vec<_>>())
                .is_ok()
        {
            assert_ne!(row.show(&emptied).as_ref(), Some(&text), "{:?}", row.names);
        }
    }
    assert_eq!(again, options);
}

#[test]
fn mistakes_are_404_but_for_words_that_are_neither_yes_nor_no() {
    for wrong in [
        "w:",
        "w:-1",
        "w:12x",
        "w:1:2",
        "w:1.5",
        "w: 5",
        "w:0x5",
        "nope:1",
        "rt:",
        "rt:nope",
        "rs:fit:a:1",
        "rs:fit:1:1:0:0:xx",
        "rs:fit:1:1:0:0:ce:0:0:0",
        "z:0",
        "dpr:0",
        "dpr:-1",
        "dpr:nan",
        "dpr:inf",
        "g:xx",
        "g:fp:0.5",
        "g:fp:2:0",
        "g:fp::1",
        "g:sm:1",
        "g:objects",
        "-/-/-/-/-/-/-/-/w:5",
        "ex:1:obj:face",
        "gr:2",
        "gr:1:xyz",
        "gr:1:000:sideways",
        "g:no:a",
        "g:no:1:2:3",
        "ex:1:sm",
        "c:",
        "c:-1",
        "c:1:a",
        "rot:45",
        "rot:x",
        "q:101",
        "q:-1",
        "q:",
        "fq:jpeg",
        "fq:nope:5",
        "fq:jpeg:101",
        "mb:-1",
        "bg:12345",
        "bg:ggg",
        "bg:1:2",
        "bg:1:2:256",
        "bl:-1",
        "bl:",
        "sh:x",
        "pix:-1",
        "pd:a",
        "pd:1:2:3:4:5",
        "wm:2",
        "wm:1:xx",
        "wm:1:fp:0.5:0.5",
        "wm:1:sm",
        "wm:1:ce:a",
        "wm:1:ce:0:0:-1",
        "f:",
        "f:nope",
        "skp:nope",
        "fn:*:1",
        "exp:x",
        "pr:nope",
        "t:a",
        "t:1:xyz",
        "fl:1:1:1",
        "el:1:1",
        "br:256",
        "mc:2",
        "aq:nope",
    ] {
        let refusal = ask(&common(), wrong).expect_err(wrong);
        assert_eq!(
            (refusal.fault, status(&refusal)),
            (Fault::Url, 404),
            "{wrong}"
        );
    }
    for fine in [
        "w:+5",
        "w:-0",
        "q:0",
        "el:yes",
        "el:",
        "rs:::",
        "rs:fit",
        "s::",
        "pd:::",
        "pd:",
        "g:no::5",
        "ex:",
        "t:",
        "bg:",
        "cb:",
        "cb:x",
        "wm::ce",
        "fl::1",
        "dpr:1e0",
        "z:.5",
        "bl:5.",
        "c:0",
        "skp:jpg:png",
        "exp:0",
        "aq:size:5000",
        "rot:-450",
        "raw:0",
        "ba:",
        "op:prop",
        "bd:5:face",
        "vts:3",
        "jpgo:",
        "webpo:",
        "pngo::1:64",
    ] {
        ask(&common(), fine).expect(fine);
    }
    let noted = ask(&common(), "rs:fit:1:1:maybe").unwrap().notes;
    assert!(noted[0].contains("maybe"), "{noted:?}");
    assert!(ask(&common(), "rs:fit:1:1:T:0/vts:1").unwrap().notes[0].contains("video"));
    assert!(ask(&common(), "g:obj:cat").unwrap().notes[0].contains("eye"));
    let notes = |options| ask(&common(), options).unwrap().notes;
    assert_eq!(notes("g:obj:face").is_empty(), FACES);
    assert_eq!(notes("g:obj:face:cat").len(), 1);
}

#[test]
fn the_last_writer_of_a_value_wins() {
    for (written, same) in [
        ("rs:fill:100:100/w:50", "rs:fill:50:100"),
        ("w:5/w:6", "w:6"),
        ("g:so:1:2/g:no", "g:no:1:2"),
        ("g:so:1:2/g:sm", "g:sm"),
        ("g:obj:cat", "g:sm"),
        ("g:objw:face:2", "g:obj:face"),
        ("gr:0.5:fff:up", "gradient:0.5:ffffff:180"),
        ("gr:0.5:fff:right", "gr:0.5:fff:-90"),
        ("gr:0.5:fff:down", "gr:0.5:fff"),
        ("aq:/aq::80/jpgo::1", "jpgo:0:1"),
        ("ush::2/icc:srgb", "unsharp_masking:auto:2:24/cp:srgb"),
        ("pngo::1:64/pngo:1", "pngo:1:1:64"),
        (
            "webpo:near_lossless/avifo:on/avifo:auto",
            "webp_options:near_lossless",
        ),
        ("crop_ar:1.5", "car:1.5"),
        ("wm:1:ch:3:4", "wm:1:re:3:4"),
        ("w:9/q:5/-/h:7/q:0", "q:5/w:9/-/q:0/h:7"),
        ("pd:9/pd::1", "pd:9:1:9:1"),
        ("bg:fff/bg:", "w:0"),
        ("f:png/f:jpg", "f:jpeg"),
        ("a:1:2:3", "br:1/co:2/sa:3"),
        ("rot:-90", "rotate:270"),
        ("resize:fill:1:2:t:f", "s:1:2:1:0/resizing_type:fill"),
        ("fq:webp:5:jpg:6", "format_quality:jpeg:6/fq:webp:5"),
    ] {
        let text = |options| ask(&common(), options).unwrap().rules.text();
        assert_eq!(text(written), text(same), "{written}");
    }
}

#[test]
fn presets_are_expanded_in_place() {
    let mut config = ImgproxyConfig {
        presets: [
            ("default", "q:70"),
            ("thumb", "rs:fill:50:50/pr:sharp"),
            ("sharp", "sh:0.5/pr:thumb"),
            ("big", "mrd:9"),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .into(),
        ..common()
    };
    let text = |config: &ImgproxyConfig, options: &str| ask(config, options).unwrap().rules.text();
    assert_eq!(text(&config, "w:5"), "imgproxy(w:5/q:70)");
    assert_eq!(
        text(&config, "w:5/pr:thumb/h:7"),
        "imgproxy(rt:fill/w:50/h:7/sh:0.5/q:70)"
    );
    let again = ask(&config, "pr:thumb").unwrap();
    assert!(again.notes[0].contains("itself"), "{:?}", again.notes);
    // Presets may have options that are forbidden in URLs.
    config.allowed_processing_options = vec!["pr".to_owned()];
    assert_eq!(status(&ask(&config, "w:5").unwrap_err()), 404);
    assert_eq!(text(&config, "pr:big"), "imgproxy(q:70/mrd:9)");
    config.only_presets = true;
    let dialects = dialects(config.clone());
    let request = dialects.parse("/_/thumb:big/plain/local:///a.jpg").unwrap();
    assert_eq!(
        request.rules.text(),
        "imgproxy(rt:fill/w:50/h:50/sh:0.5/q:70/mrd:9)"
    );
    assert_eq!(
        status(&dialects.parse("/_/w:5/plain/local:///a.jpg").unwrap_err()),
        404
    );
    for wrong in ["w:x", "w:5/blur", ""] {
        config.presets.insert("wrong".to_owned(), wrong.to_owned());
        let error = crate::Dialects::new(&crate::Config {
            imgproxy: config.clone(),
            ..crate::Config::default()
        })
        .unwrap_err();
        assert!(
            error.to_string().contains("imgproxy.presets.wrong"),
            "{error}"
        );
    }
}

#[test]
fn limits_are_the_servers_to_set() {
    for row in ALL.iter().filter(|row| row.kind == About::Limit) {
        let option = format!("{}:10", row.names[1]);
        let refusal = ask(&common(), &option).unwrap_err();
        assert_eq!(status(&refusal), 403, "{option}");
        let config = ImgproxyConfig {
            allow_security_options: true,
            ..common()
        };
        assert!(ask(&config, &option).is_ok(), "{option}");
    }
}

#[test]
fn clients_may_hint_at_sizes_where_they_are_let() {
    struct Hints(&'static [(&'static str, &'static str)]);
    impl crate::Headers for Hints {
        fn get(&self, name: &str) -> Option<&str> {
            self.0
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| *value)
        }
    }
    let target = "/_/q:80/plain/local:///a.jpg";
    let text = |on: bool, hints| {
        let dialects = dialects(ImgproxyConfig {
            client_hints: on,
            ..common()
        });
        let request = dialects.parse_with(target, &Hints(hints)).unwrap();
        (request.rules.text(), request.style.reads.len())
    };
    let hints: &[_] = &[("dpr", "2"), ("sec-ch-width", "301")];
    assert_eq!(text(false, hints), ("imgproxy(q:80)".to_owned(), 0));
    assert_eq!(
        text(true, hints),
        ("imgproxy(w:151/dpr:2/q:80)".to_owned(), 3)
    );
    assert_eq!(
        text(true, &[("dpr", "9"), ("width", "-1")]).0,
        "imgproxy(q:80)"
    );
}

#[test]
fn a_text_is_a_watermark() {
    let facts = andon_recipe::Facts::new("jpeg", 400, 300);
    let made = |options| super::made(options, &facts);
    for (options, text) in [
        (
            "wm:1:soea:5:6/wmt:SGVsbG8",
            "text:Hello:16:000000:southeast:5x6",
        ),
        ("wm:0.5/wmt:SGVsbG8", "text:Hello:16:00000080:centre:0x0"),
        (
            "wm:1:no:0:0.1:0.5/wmt:QSBi",
            "text:A%C2%A0b:10000:000000:north:0x30:200x150:shrink",
        ),
        (
            "wm:1:nowe/wms:50/wmt:SGVsbG8",
            "text:Hello:10000:000000:northwest:0x0:50x0:shrink",
        ),
        (
            "wm:1/wmt:PGI-SGk8L2I-ICZhbXA7IGE",
            "text:Hi%20&%20a:16:000000:centre:0x0",
        ),
        (
            "wm:1:soea:5:6/wmt:SGVsbG8/wmr:-30/wmsh:2.5",
            "text:Hello:16:000000:southeast:5x6:shadow=2.5:turn=-30",
        ),
        (
            "wm:0.5/wmt:SGVsbG8/wmsh:2",
            "text:Hello:16:000000:centre:0x0:shadow=2:opacity=50",
        ),
        (
            "wm:1:re:10:0.1/wmt:SGVsbG8/wmr:405/wmsh:1000",
            "text:Hello:16:000000:centre:0x0:shadow=100:turn=45:tile=10x30",
        ),
        (
            "wm:1:re:-9:1000/wms:50:20/wmt:SGVsbG8",
            "text:Hello:10000:000000:centre:0x0:50x20:shrink:tile=0x300",
        ),
    ] {
        let recipe = made(options).to_string();
        assert!(recipe.contains(text), "{options}: {recipe}");
    }
    let notes = |options| ask(&common(), options).unwrap().notes;
    assert!(notes("wm:1/wmt:SGVsbG8").is_empty());
    assert!(notes("wm:1:re/wmt:SGVsbG8/wmr:9/wmsh:1").is_empty());
    assert!(notes("wm:1/wmt:PGI-SGk8L2I-")[0].contains("tags"));
    assert!(!made("wmt:SGVsbG8").to_string().contains("text:"));
}
