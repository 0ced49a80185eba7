use super::*;

const MASK: Word = Word {
    name: "unsharp",
    args: &[
        Arg::number("radius", 0.0, 1000.0).unit("px"),
        Arg::number("sigma", 0.0, 1000.0).after('x').default("0"),
        Arg::number("amount", 0.0, 1000.0).after('+').default("1"),
        Arg::colour("colour").default("000000"),
    ],
    help: "unsharp mask",
    example: "unsharp:0x1+0.7",
};

fn read(parts: &[&str]) -> Result<[Option<String>; 4], ParseError> {
    let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
    let texts = MASK.read(&parts)?;
    Ok(texts.map(|text| text.map(str::to_owned)))
}

#[test]
fn every_argument_gets_its_text_and_absent_ones_get_none() {
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        read(&["2x1+0.5", "ff8800"]).unwrap(),
        [text("2"), text("1"), text("0.5"), text("ff8800")]
    );
    assert_eq!(read(&["2x1"]).unwrap(), [text("2"), text("1"), None, None]);
    assert_eq!(read(&["2"]).unwrap(), [text("2"), None, None, None]);
}

#[test]
fn what_is_missing_wrong_or_too_much_is_named() {
    for (parts, piece) in [
        (&[][..], "unsharp"),
        (&["x"], ""),
        (&["2x"], ""),
        (&["2x1+1+1"], "1+1"),
        (&["2x1+nan"], "nan"),
        (&["2x1+1e3"], "1e3"),
        (&["2x-1"], "-1"),
        (&["2x1", "redd"], "redd"),
        (&["2x1", "ff8800", "more"], "unsharp:2x1:ff8800:more"),
    ] {
        let error = read(parts).expect_err("an error");
        assert_eq!(error.piece, piece, "{parts:?}");
    }
}

#[test]
fn a_word_prints_its_form() {
    assert_eq!(MASK.to_string(), "unsharp:RADIUS[xSIGMA[+AMOUNT[:COLOUR]]]");
    assert_eq!(
        LABEL.to_string(),
        "label:TEXT[:SIZE][:line=LINE[xINK]][:turn=TURN]"
    );
}

/// A word with named arguments.
const LABEL: Word = Word {
    name: "label",
    args: &[
        Arg::text("text", "a"),
        Arg::number("size", 1.0, 99.0).default("9"),
        Arg::number("line", 0.0, 9.0).named().default("0"),
        Arg::colour("ink").after('x').default("000000"),
        Arg::number("turn", -360.0, 360.0).named().default("0"),
    ],
    help: "writes",
    example: "label:a:9:turn=30",
};

#[test]
fn named_arguments_stand_in_any_order_after_the_required_ones() {
    let read = |parts: &[&str]| {
        let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        let texts: [Option<&str>; 5] = LABEL.read(&parts)?;
        Ok::<_, ParseError>(texts.map(|text| text.unwrap_or("-").to_owned()))
    };
    let all = ["a", "7", "2", "ff0000", "30"].map(str::to_owned);
    for parts in [
        ["a", "7", "line=2xff0000", "turn=30"],
        ["a", "turn=30", "7", "line=2xff0000"],
        ["a", "line=2xff0000", "turn=30", "7"],
    ] {
        assert_eq!(read(&parts), Ok(all.clone()), "{parts:?}");
    }
    // The first argument is required, so its text is not taken for a named argument.
    assert_eq!(read(&["turn=30", "turn=40"]).unwrap()[4], "40");
    assert_eq!(read(&["turn=30"]).unwrap()[0], "turn=30");
    for (parts, piece) in [
        (&["a", "turn=1", "turn=2"][..], "label:a:turn=1:turn=2"),
        (&["a", "turn="], ""),
        (&["a", "turn=x"], "x"),
        (&["a", "line=2xred5"], "red5"),
        (&["a", "size=7"], "size=7"),
    ] {
        assert_eq!(read(parts).expect_err("an error").piece, piece, "{parts:?}");
    }
    let error = read(&["a", "lien=2"]).expect_err("an error");
    let expected = "size: a number from 1 to 99; or line=, turn= (did you mean `line=`?)";
    assert_eq!(error.expected, expected);
}

#[test]
fn samples_are_what_the_argument_may_say() {
    for arg in MASK.args {
        for sample in arg.samples() {
            assert_eq!(arg.check(&sample), Ok(()), "{sample}");
        }
    }
}

#[test]
fn numbers_are_written_plainly() {
    const ARG: Arg = Arg::whole("n", -5, 5);
    for wrong in ["+1", " 1", "1 ", "", "-", "6", "1.0", "0x1", "٣"] {
        assert!(ARG.read_whole(wrong).is_err(), "{wrong}");
    }
    assert_eq!(ARG.read_whole("-5"), Ok(-5));
}

#[test]
fn an_error_shows_a_long_form_by_its_required_arguments() {
    const MANY: [Arg; 9] = [Arg::whole("a-rather-long-name", 0, 9).default("0"); 9];
    const ARGS: [Arg; 11] = {
        let mut args = [Arg::whole("size", 1, 9); 11];
        args[0] = Arg::text("text", "Otter");
        let mut at = 0;
        while at < MANY.len() {
            args[at + 2] = MANY[at];
            at += 1;
        }
        args
    };
    let word = |args: &'static [Arg]| Word {
        name: "write",
        args,
        help: "writes",
        example: "write:Otter:2",
    };
    let expected = word(&ARGS).form(&[]).expected;
    assert!(
        expected.starts_with("`write:TEXT:SIZE[:…]`, as in `write:Otter:2`"),
        "{expected}"
    );
    let short = word(&ARGS[..2]).form(&[]).expected;
    assert_eq!(short, "`write:TEXT:SIZE`, as in `write:Otter:2`");
}
