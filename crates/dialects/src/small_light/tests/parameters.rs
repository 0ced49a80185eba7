//! Tests of every parameter by itself, and together with its engine.

use super::{SmallLightConfig, ask, bare, getparam, request, rules, sane, strict, text};
use crate::small_light::{Mistakes, PARAMETERS};
use crate::{Config, Dialects};

#[test]
fn every_parameter_changes_the_recipe() {
    for parameter in PARAMETERS {
        let (before, after) = match parameter.name {
            "p" => ("q=1", "q=1,p=a"),
            "e" => ("q=1", "q=1,e=gd"),
            "sx" => ("dw=1", "dw=1,sx=5"),
            "sy" => ("dw=1", "dw=1,sy=5"),
            "sw" => ("dw=1", "dw=1,sw=5"),
            "sh" => ("dw=1", "dw=1,sh=5"),
            "dx" => ("cw=9,ch=9", "cw=9,ch=9,dx=5"),
            "dy" => ("cw=9,ch=9", "cw=9,ch=9,dy=5"),
            "dw" => ("q=1", "q=1,dw=5"),
            "dh" => ("q=1", "q=1,dh=5"),
            "da" => ("dw=1,dh=1", "dw=1,dh=1,da=s"),
            "ds" => ("dw=1", "dw=1,ds=s"),
            "cw" => ("ch=9", "ch=9,cw=9"),
            "ch" => ("cw=9", "cw=9,ch=9"),
            "cc" => ("cw=9,ch=9", "cw=9,ch=9,cc=ff0000"),
            "bw" => ("q=1", "q=1,bw=2"),
            "bh" => ("q=1", "q=1,bh=2"),
            "bc" => ("bw=2", "bw=2,bc=ff0000"),
            "pt" => ("dw=1", "dw=1,pt=ptss"),
            "q" => ("dw=1", "dw=1,q=80"),
            "of" => ("dw=1", "dw=1,of=png"),
            "jpeghint" => ("dw=1", "dw=1,jpeghint=y"),
            "rmprof" => ("q=1", "q=1,rmprof=y"),
            "embedicon" => ("q=1", "q=1,embedicon=i.png"),
            "ix" => ("embedicon=i.png", "embedicon=i.png,ix=3"),
            "iy" => ("embedicon=i.png", "embedicon=i.png,iy=3"),
            "angle" => ("q=1", "q=1,angle=90"),
            "progressive" => ("q=1", "q=1,progressive=y"),
            "cmyk2rgb" => ("q=1", "q=1,cmyk2rgb=y"),
            "autoorient" => ("q=1", "q=1,autoorient=y"),
            "unsharp" => ("q=1", "q=1,unsharp=0x1+1+0"),
            "sharpen" => ("q=1", "q=1,sharpen=0x1"),
            "blur" => ("q=1", "q=1,blur=0x1"),
            other => panic!("{other} has no example"),
        };
        let differs =
            |config: fn() -> SmallLightConfig| text(config(), before) != text(config(), after);
        assert!(differs(strict), "{}", parameter.name);
        // In sane mode, images are shrunk while they are decoded even without a hint.
        assert_eq!(
            differs(sane),
            parameter.name != "jpeghint",
            "{}",
            parameter.name
        );
    }
    assert_eq!(PARAMETERS.len(), 33);
}

#[test]
fn every_declared_value_is_read_without_a_note() {
    for parameter in PARAMETERS {
        for sample in parameter.samples() {
            let options = match parameter.name {
                // Patterns have configured names.
                "p" => "p=a".to_owned(),
                "cw" => format!("cw={sample},ch=9"),
                "ch" => format!("cw=9,ch={sample}"),
                name => format!("{name}={sample}"),
            };
            let request = request(sane(), &options);
            assert!(request.notes.is_empty(), "{options}: {:?}", request.notes);
        }
    }
}

#[test]
fn everything_at_once_keeps_the_modules_order() {
    assert_eq!(
        text(
            sane(),
            "blur=1x2,sharpen=0x1,unsharp=0x1+0.5+0.05,embedicon=i.png,ix=-3,iy=4,bw=2,bh=1,\
             bc=ff000080,cw=300,ch=200,cc=0000ff00,dx=5,dw=250,dh=250,da=s,ds=s,sx=10p,sw=50p,\
             angle=270,autoorient=y,rmprof=y,cmyk2rgb=y,of=jpg,q=80,progressive=y,pt=ptss"
        ),
        "pt=ptss,rmprof=y,autoorient=y,angle=270,sx=10p,sw=50p,dw=250,dh=250,da=s,ds=s,\
         cw=300,ch=200,cc=0000ff,dx=5,cmyk2rgb=y,unsharp=0x1+0.5+0.05,sharpen=0x1,blur=1x2,\
         bw=2,bh=1,bc=ff000080,embedicon=i.png,ix=-3,iy=4,of=jpeg,q=80,progressive=y"
    );
}

#[test]
fn a_text_read_again_is_the_same_rules() {
    for config in [sane, strict] {
        for options in [
            "",
            "dw=250,dh=250,da=n,q=95,jpeghint=y",
            "sx=25p,sy=2.5,sw=50p,sh=7,dw=100,ds=s,pt=ptls,angle=180",
            "cw=300,ch=200,cc=ff8800,dx=0,dy=10p,bw=3,bc=00000080",
            "e=gd,sharpen=3,of=png",
            "e=imlib2,sharpen=3,blur=2",
            "unsharp=0x1+0.5+0.05,embedicon=i.png,ix=-3,rmprof=y,p=a",
        ] {
            let text = text(config(), options);
            assert_eq!(rules(config(), &text), rules(config(), options), "{text}");
        }
    }
}

#[test]
fn flags_go_by_their_first_letter_and_only_y_is_yes() {
    for (value, set) in [("y", true), ("yes", true), ("Y", false), ("1", false)] {
        let rules = rules(sane(), &format!("rmprof={value}"));
        assert_eq!(rules.strip, set, "{value}");
    }
}

#[test]
fn da_and_ds_go_by_their_first_letter() {
    assert_eq!(text(sane(), "dw=1,dh=2,da=large"), "dw=1,dh=2");
    assert_eq!(
        text(sane(), "dw=1,dh=2,da=small,ds=so"),
        "dw=1,dh=2,da=s,ds=s"
    );
    assert_eq!(text(sane(), "dw=1,dh=2,da=x,ds=x"), "dw=1,dh=2,da=n");
    assert_eq!(text(sane(), "dw=1,da=s"), "dw=1", "no box to cover");
}

#[test]
fn lengths_and_strengths_that_look_alike_are_one_unless_strict() {
    for options in [
        "dw=100",
        "dw=100.0",
        "dw=0100",
        "dw=100.0001",
        "dw=99.9999",
        "dw=100.",
    ] {
        assert_eq!(text(sane(), options), "dw=100", "{options}");
    }
    assert_eq!(text(sane(), "dw=33.3333333p"), "dw=33.3333p");
    assert_eq!(text(sane(), "blur=0x1.00001"), "blur=0x1");
    assert_eq!(text(strict(), "dw=100.0001"), "dw=100.0001");
}

#[test]
fn what_is_hardly_meant_so_is_noted() {
    for (options, note) in [
        ("dww=250", "`dww` is no option (did you mean `dw`?)"),
        ("DW=250", "`DW` is no option (did you mean `dw`?)"),
        ("width=250", "`width` is no option"),
        ("dw=abc", "dw=abc: neither pixels nor percent"),
        ("dw=300px", "dw=300px: read as 300 percent"),
        ("p=nope", "there is no pattern `nope`"),
        ("of=avif", "of=avif: not one of jpeg, jpg"),
        ("q=high", "q=high: no number"),
        ("q=101", "q=101: more than 100"),
        ("q=80%25", "q=80%: read as 80"),
        ("cw=10", "needs both cw and ch"),
        ("dw=1,dh=1,da=cover", "da=cover: not one of l, s, n"),
        ("ds=yes", "ds=yes: not one of s, n"),
        ("rmprof=1", "rmprof=1: not one of y, n"),
    ] {
        let request = request(sane(), options);
        assert!(
            request.notes[0].contains(note),
            "{options}: {:?}",
            request.notes
        );
        let config = SmallLightConfig {
            mistakes: Mistakes::Refuse,
            ..sane()
        };
        let refusal = ask(config, &format!("/small_light({options})/a.jpg")).unwrap_err();
        assert!(refusal.why.contains(note), "{options}: {refusal}");
        let config = SmallLightConfig {
            mistakes: Mistakes::Refuse,
            ..strict()
        };
        let target = format!("/small_light({options})/a.jpg");
        assert!(ask(config, &target).is_ok(), "{options}");
    }
    assert!(
        request(sane(), "dw=250,dh=25.5p,da=l,ds=n,q=95,jpeghint=y")
            .notes
            .is_empty()
    );
}

#[test]
fn a_pattern_with_a_mistake_in_it_is_refused_unless_strict() {
    let with = |config: SmallLightConfig, pattern: &str| {
        let mut config = config;
        config.patterns = [("m".to_owned(), pattern.to_owned())].into();
        let config = Config {
            small_light: config,
            ..Config::default()
        };
        Dialects::new(&config).map(drop)
    };
    assert!(with(sane(), "dw=500,dh=500,da=l,q=95,jpeghint=y").is_ok());
    for pattern in [
        "dww=500",
        "dw=abc",
        "dw=5,of=avif",
        "dw",
        "cw=0.5,ch=9",
        "p=m",
    ] {
        let error = with(sane(), pattern).unwrap_err();
        let named = format!("`small_light.patterns.m`: `{pattern}` cannot work: ");
        assert!(error.to_string().starts_with(&named), "{error}");
        assert!(with(strict(), pattern).is_ok(), "{pattern}");
    }
}

#[test]
fn coordinates_without_a_unit_upstream_count_as_not_given_with_a_note() {
    let request = request(sane(), "dw=-5,dh=100");
    assert_eq!(bare(&request), "dh=100");
    assert!(
        request.notes[0].contains("undefined"),
        "{:?}",
        request.notes
    );
}

#[test]
fn a_length_beyond_what_recipes_say_is_cut_with_a_note() {
    let request = request(sane(), "dw=99999999");
    assert_eq!(bare(&request), "dw=1000000");
    assert_eq!(request.notes, ["dw=99999999: 1000000 stands for it"]);
}

#[test]
fn a_canvas_needs_both_sides_and_a_pixel_on_each() {
    assert_eq!(text(sane(), "cw=10"), "");
    assert_eq!(text(sane(), "cw=10,ch=-5"), "");
    assert_eq!(text(sane(), "cw=300p,ch=10.9"), "cw=300,ch=10");
    let refusal = ask(sane(), "/small_light(cw=0.5,ch=10)/a.jpg").unwrap_err();
    assert_eq!(refusal.value, "cw=0.5,ch=10");
}

#[test]
fn short_colours_are_shorthand_unless_strict() {
    assert_eq!(text(sane(), "bw=1,bh=1,bc=fff"), "bw=1,bh=1,bc=ffffff");
    assert_eq!(text(strict(), "bw=1,bh=1,bc=fff"), "bw=1,bh=1,bc=0f0f0f");
    let request = request(sane(), "bw=1,bh=1,bc=redd");
    assert_eq!(bare(&request), "bw=1,bh=1");
    assert!(request.notes[0].starts_with("bc=redd: no colour"));
}

#[test]
fn a_border_on_one_axis_leaves_a_line_on_the_other_when_strict() {
    assert_eq!(text(sane(), "bw=5"), "bw=5,bh=0");
    assert_eq!(text(strict(), "bw=5"), "bw=5,bh=1");
    assert_eq!(text(sane(), "bw=5.9,bh=0.5"), "bw=5,bh=0");
    assert_eq!(text(strict(), "bw=0,bh=-2"), "");
}

#[test]
fn effects_without_sigma_or_over_the_ceiling_are_left_out_with_a_note() {
    for (options, why) in [
        ("blur=5", "no sigma"),
        ("sharpen=5x0", "no sigma"),
        ("unsharp=0x1", "no amount"),
        ("unsharp=0x1-1", "no amount"),
        ("blur=11x1", "larger than 10x10"),
        ("blur=1x10.1", "larger than 10x10"),
        ("unsharp=0x11+1+0", "larger than 10x10"),
    ] {
        let request = request(sane(), options);
        assert_eq!(bare(&request), "", "{options}");
        assert!(request.notes[0].contains(why), "{:?}", request.notes);
    }
    assert_eq!(text(sane(), "blur=10x10"), "blur=10x10");
}

#[test]
fn icons_stay_in_their_folder() {
    for name in ["..", "a..b"] {
        let refusal = ask(sane(), &format!("/small_light(embedicon={name})/a.jpg"));
        assert_eq!(refusal.unwrap_err().value, name);
    }
    let refusal = ask(getparam(), "/a.jpg?embedicon=../x").unwrap_err();
    assert_eq!(refusal.value, "../x");
    let config = SmallLightConfig {
        material_dir: None,
        ..sane()
    };
    let request = request(config, "embedicon=i.png");
    assert_eq!(bare(&request), "");
    assert!(
        request.notes[0].contains("material_dir"),
        "{:?}",
        request.notes
    );
}

#[test]
fn formats_are_exact_words() {
    for (of, expected) in [
        ("jpeg", "of=jpeg"),
        ("jpg", "of=jpeg"),
        ("png", "of=png"),
        ("gif", "of=gif"),
        ("webp", "of=webp"),
        ("JPG", ""),
        ("avif", ""),
    ] {
        assert_eq!(text(sane(), &format!("of={of}")), expected);
    }
}

#[test]
fn quality_has_its_engines_default() {
    for (engine, q, quality) in [
        ("imagemagick", "", None),
        ("imagemagick", "q=0", None),
        ("imagemagick", "q=-5", None),
        ("imagemagick", "q=0.9", None),
        ("imagemagick", "q=80.9", Some(80)),
        ("imagemagick", "q=9999", Some(1000)),
        ("gd", "", Some(100)),
        ("gd", "q=0", Some(100)),
        ("gd", "q=80", Some(80)),
        ("gd", "q=500", Some(100)),
        ("imlib2", "", Some(75)),
        ("imlib2", "q=80", Some(80)),
    ] {
        let rules = rules(sane(), &format!("e={engine},{q}"));
        assert_eq!(rules.quality, quality, "{engine} {q}");
    }
}

#[test]
fn gd_and_imlib2_do_what_they_can_and_ignore_the_rest_with_a_note() {
    let all = "unsharp=0x1+1+0,sharpen=2,blur=3,embedicon=i.png,autoorient=y,progressive=y,\
               bw=1,bh=1,bc=ff000000";
    let gd = request(sane(), &format!("e=gd,{all}"));
    assert_eq!(
        bare(&gd),
        "rmprof=y,cmyk2rgb=y,unsharp=1x0.7+0.02+0,bw=1,bh=1,bc=ff0000,q=100,progressive=y"
    );
    assert_eq!(gd.notes.len(), 5, "{:?}", gd.notes);
    let imlib2 = request(sane(), &format!("e=imlib2,{all}"));
    assert_eq!(
        bare(&imlib2),
        "rmprof=y,cmyk2rgb=y,unsharp=1x0.7+8+0,blur=0x2,bw=1,bh=1,bc=ff000000,q=75"
    );
    assert_eq!(imlib2.notes.len(), 4, "{:?}", imlib2.notes);
    let over = request(sane(), "e=imlib2,blur=11");
    assert_eq!(bare(&over), "rmprof=y,cmyk2rgb=y,q=75");
}

#[test]
fn an_animation_is_shown_by_its_first_frame_when_strict() {
    let frame = |config| request(config, "dw=100,of=gif").rules.output().frame;
    assert_eq!(frame(strict()), Some(1));
    assert_eq!(frame(sane()), None);
}

#[test]
fn imlib2_writes_gif_and_webp_unless_strict() {
    assert!(text(sane(), "e=imlib2,of=gif").contains(",of=gif"));
    assert!(text(sane(), "e=imlib2,of=webp").contains(",of=webp"));
    assert!(!text(strict(), "e=imlib2,of=webp").contains(",of="));
    let refusal = ask(strict(), "/small_light(e=imlib2,of=gif)/a.jpg").unwrap_err();
    assert_eq!(refusal.value, "of=gif");
}

#[test]
fn an_unknown_engine_is_imagemagick_with_a_note() {
    let request = request(sane(), "e=vips,blur=0x1");
    assert_eq!(bare(&request), "blur=0x1");
    assert_eq!(request.notes.len(), 1);
}

#[test]
fn patterns_give_what_the_url_does_not_wherever_p_stands() {
    assert_eq!(text(sane(), "p=a,dw=100"), "dw=100,dh=50");
    assert_eq!(text(sane(), "dw=100,p=a"), "dw=100,dh=50");
    assert_eq!(text(strict(), "p=chain"), "q=7", "patterns do not chain");
    assert_eq!(text(sane(), "p=Big"), "dw=900");
    assert_eq!(text(strict(), "p=Big"), "");
    assert_eq!(text(strict(), "p=big"), "dw=900");
}

#[test]
fn an_unknown_pattern_is_no_error() {
    let request = request(sane(), "p=nope,q=5");
    assert_eq!(bare(&request), "q=5");
    assert_eq!(request.notes.len(), 1);
}

#[test]
fn the_source_type_is_kept_only_when_strict_and_no_format_is_named() {
    assert!(request(strict(), "q=1").style.type_by_name);
    assert!(request(strict(), "q=1").style.exact);
    assert!(!request(strict(), "of=png").style.type_by_name);
    assert!(!request(strict(), "of=PNG").style.type_by_name);
    assert!(!request(strict(), "e=gd").style.type_by_name);
    assert!(!request(sane(), "q=1").style.type_by_name);
}

#[test]
fn getparam_takes_options_in_any_case_and_processes_every_path() {
    assert_eq!(text(getparam(), "DW=200&dw=100&q=5"), "dw=200,q=5");
    assert_eq!(text(getparam(), "p=a&dh=10"), "dw=50,dh=10");
    assert_eq!(text(getparam(), "pt=&dw=5"), "pt=ptss,dw=5");
    let request = ask(getparam(), "/trip/a%20b.jpg").unwrap();
    assert_eq!(request.source.as_str(), "trip/a b.jpg");
    assert!(!request.is_file());
    let request = ask(getparam(), "/small_light(dw=5)/a.jpg").unwrap();
    assert_eq!(request.source.as_str(), "small_light(dw=5)/a.jpg");
    assert_eq!(bare(&request), "");
}
