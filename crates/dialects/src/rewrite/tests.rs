//! Tests of rewrite rules.

use super::{Rewrite, Rewriter};

fn rule(from: &str, to: &str) -> Rewrite {
    Rewrite {
        from: from.to_owned(),
        query: Vec::new(),
        to: to.to_owned(),
        opens: false,
    }
}

#[test]
fn groups_are_put_where_they_are_named() {
    let rewriter = Rewriter::new(&[rule(
        r"^/resize/w/(\d+)/h/(\d+)/(.+)$",
        "/small_light(dw=$1,dh=$2,da=l)/$3",
    )])
    .unwrap();
    assert_eq!(
        rewriter.apply("/resize/w/150/h/100/a%20b.jpg?v=2").target,
        "/small_light(dw=150,dh=100,da=l)/a%20b.jpg?v=2"
    );
    assert_eq!(rewriter.apply("/other.jpg").target, "/other.jpg");
}

#[test]
fn a_group_ends_after_its_digit_and_a_lone_dollar_is_itself() {
    let rewriter = Rewriter::new(&[rule("^/(.)(.)$", "/$1x$2$/$0")]).unwrap();
    assert_eq!(rewriter.apply("/ab").target, "/axb$/$0");
}

#[test]
fn arguments_of_the_query_are_put_where_they_are_named_if_they_are_words() {
    let rewriter = Rewriter::new(&[rule("^/(.+)$", "/x(resize,$arg_w,$arg_h)/$1")]).unwrap();
    let path = |target: &str| {
        let new = rewriter.apply(target).target;
        new.split('?').next().unwrap_or_default().to_owned()
    };
    assert_eq!(path("/a.jpg?h=20&W=10&w=30"), "/x(resize,10,20)/a.jpg");
    assert_eq!(path("/a.jpg"), "/x(resize,,)/a.jpg");
    assert_eq!(path("/a.jpg?w=1,2)/b&h=%2F"), "/x(resize,,)/a.jpg");
}

#[test]
fn an_argument_at_the_end_of_a_path_is_any_path() {
    let to = |to: &str, query: &str| {
        let rewriter = Rewriter::new(&[rule(r"^/resize\.php$", to)]).unwrap();
        let target = format!("/resize.php?{query}");
        let new = rewriter.apply(&target).target;
        new.strip_suffix(query)
            .expect(&new)
            .trim_end_matches(['?', '&'])
            .to_owned()
    };
    for (value, path) in [
        ("trip%2Fa.jpg", "trip/a.jpg"),
        ("/trip/a+b%20c.jpg", "trip/a%20b%20c.jpg"),
        (
            "M%C3%B6bel%2F50%25+%231%3F.jpg",
            "M%C3%B6bel/50%25%20%231%3F.jpg",
        ),
        ("https%3A%2F%2Fa.example%2Fb.jpg", "https://a.example/b.jpg"),
        (
            "https%3A%2F%2Fa.example%2Fb%2520c%20d.jpg",
            "https://a.example/b%20c%20d.jpg",
        ),
        (
            "https%3A%2F%2Fa.example%2F50%25%20off.jpg",
            "https://a.example/50%25%20off.jpg",
        ),
        ("trip%2Fb%2520c.jpg", "trip/b%2520c.jpg"),
        (".%2Ftrip%2Fb.jpg", "trip/b.jpg"),
        ("%2F.%2F%2Fb.jpg", "b.jpg"),
        ("..%2Fb.jpg", "../b.jpg"),
        ("", ""),
        ("K%FCche+1%3f.jpg", "K%FCche%201%3f.jpg"),
        ("%zz?", "%zz%3F"),
        ("%00", "%00"),
    ] {
        let query = format!("w=30&src={value}");
        assert_eq!(
            to("/r/fit:${arg_w}x/$arg_src", &query),
            format!("/r/fit:30x/{path}")
        );
        assert_eq!(to("/$arg_src?dw=$arg_w", &query), format!("/{path}?dw=30"));
    }
    // Elsewhere, the argument is not inserted as a path.
    for text in [
        "/r/$arg_src/a.jpg",
        "/a.jpg?x=/$arg_src",
        "/r/$arg_src$1",
        "/r/fit:$arg_src",
    ] {
        let rewriter = Rewriter::new(&[rule("^/(x)$", text)]).unwrap();
        let new = rewriter.apply("/x?src=a/b").target;
        assert!(
            !new.starts_with("/r/a/b") && !new.contains("/a/b"),
            "{text}: {new}"
        );
    }
}

#[test]
fn a_rule_with_several_queries_is_for_the_requests_whose_query_all_of_them_match() {
    let both = r#"{"from": "^/t$", "query": ["(^|&)zc=1(&|$)", "(^|&)w=[1-9]", "(^|&)h=[1-9]"], "to": "/r/cover:${arg_w}x${arg_h}/$arg_src"}"#;
    let both: Rewrite = serde_json::from_str(both).unwrap();
    let one: Rewrite = serde_json::from_str(
        r#"{"from": "^/t$", "query": "[wh]=[1-9]", "to": "/r/fit:${arg_w}x${arg_h}/$arg_src"}"#,
    )
    .unwrap();
    let rewriter = Rewriter::new(&[both, one]).unwrap();
    for (query, new) in [
        ("src=a&w=30&h=20&zc=1", "cover:30x20"),
        ("zc=1&h=20&src=a&w=30", "cover:30x20"),
        ("src=a&w=30&zc=1", "fit:30x"),
        ("src=a&w=30&h=&zc=1", "fit:30x"),
        ("h=20&src=a&zc=1", "fit:x20"),
        ("src=a&w=30&h=20", "fit:30x20"),
    ] {
        let target = format!("/t?{query}");
        let rewritten = rewriter.apply(&target).target;
        assert!(
            rewritten.starts_with(&format!("/r/{new}/a?")),
            "{query}: {rewritten}"
        );
    }
    let wrong = serde_json::from_str::<Rewrite>(r#"{"from": "a", "query": 1, "to": "/"}"#);
    let said = wrong.unwrap_err().to_string();
    assert!(
        said.contains("expected a regular expression, or a list of them"),
        "{said}"
    );
}

#[test]
fn a_rule_with_a_query_is_for_the_requests_whose_query_it_matches() {
    let crops = Rewrite {
        query: vec!["(^|&)zc=1(&|$)".to_owned()],
        ..rule("^/t$", "/r/cover:9x9/$arg_src")
    };
    let rewriter = Rewriter::new(&[crops, rule("^/t$", "/r/fit:9x9/$arg_src")]).unwrap();
    for (query, step) in [
        ("?zc=1&src=a", "cover"),
        ("?src=a&zc=1", "cover"),
        ("?src=a&zc=12", "fit"),
        ("?src=a", "fit"),
        ("", "fit"),
    ] {
        let target = format!("/t{query}");
        let new = rewriter.apply(&target).target;
        assert!(new.starts_with(&format!("/r/{step}:")), "{query}: {new}");
    }
    let wrong = Rewrite {
        query: vec!["(".to_owned()],
        ..rule("^/t$", "/")
    };
    let error = Rewriter::new(&[wrong]).unwrap_err();
    assert!(
        error.to_string().starts_with("`rewrite.query`: `(` "),
        "{error}"
    );
}

#[test]
fn an_argument_that_is_empty_or_missing_has_the_value_behind_its_name() {
    let to = "/r/fit:${arg_w:-300}x${arg_h:-}/${arg_src:-none/a b.jpg}";
    let rewriter = Rewriter::new(&[rule("^/t$", to)]).unwrap();
    for (query, new) in [
        ("src=a.jpg&w=20&h=10", "/r/fit:20x10/a.jpg"),
        ("src=a.jpg&h=10", "/r/fit:300x10/a.jpg"),
        ("src=a.jpg&w=", "/r/fit:300x/a.jpg"),
        ("src=a.jpg&w=%2F..", "/r/fit:300x/a.jpg"),
        ("w=20", "/r/fit:20x/none/a%20b.jpg"),
    ] {
        let target = format!("/t?{query}");
        let rewritten = rewriter.apply(&target).target;
        assert_eq!(rewritten, format!("{new}?{query}"));
    }
}

#[test]
fn braces_end_a_name_before_a_letter() {
    let rewriter = Rewriter::new(&[rule("^/(.+)$", "/r/fit:${arg_w}x${arg_h}/${1}0$")]).unwrap();
    let new = rewriter.apply("/a?w=30&h=20").target;
    assert_eq!(new, "/r/fit:30x20/a0$?w=30&h=20");
    for (to, why) in [
        ("/${arg_w", "without its `}`"),
        ("/${host}", "`${host}` is not known"),
        ("/$file", "`$file` is not known"),
        ("/${0}", "`${0}` is not known"),
        ("/${2}", "there is no $2"),
    ] {
        let error = Rewriter::new(&[rule("^/(.+)$", to)]).unwrap_err();
        assert!(error.to_string().contains(why), "{to}: {error}");
    }
}

#[test]
fn the_first_rule_that_matches_is_the_only_one_that_acts() {
    let rewriter = Rewriter::new(&[rule("^/a$", "/b"), rule("^/[ab]$", "/c")]).unwrap();
    assert_eq!(rewriter.apply("/a").target, "/b");
    assert_eq!(rewriter.apply("/b").target, "/c");
}

#[test]
fn a_query_in_the_rule_goes_before_the_requests_own() {
    let rewriter = Rewriter::new(&[rule("^/w(.+)/(.+)$", "/$2?dw=$1")]).unwrap();
    assert_eq!(rewriter.apply("/w10/a.jpg").target, "/a.jpg?dw=10");
    assert_eq!(
        rewriter.apply("/w10/a.jpg?dh=5").target,
        "/a.jpg?dw=10&dh=5"
    );
}

#[test]
fn a_rule_opens_what_it_leads_to_from_the_decoded_path() {
    let opens = |from: &str, target: &str| {
        let rule = Rewrite {
            opens: true,
            ..rule(from, "/secure/$1")
        };
        Rewriter::new(&[rule])
            .unwrap()
            .apply(target)
            .opened_target
            .is_some()
    };
    for target in [
        "/thumb/a.jpg",
        "/thumb/a%20b.jpg?v=2",
        "/%74humb//%61.jpg",
        "/thumb%2Fa.jpg",
    ] {
        assert!(opens("^/thumb/([^/]+)$", target), "{target}");
    }
    assert!(opens("^/thumb/(.*)$", "/thumb/vip%2Fa.jpg"));
    for (from, target) in [
        ("^/thumb/([^/]+)$", "/thumb/vip%2Fa.jpg"),
        ("^/thumb/([^/]+)$", "/thumb/vip%2fa.jpg?v=2"),
        // The rule matches the decoded path too, but leads to another file.
        ("^/thumb/([^/]+)(/.*)?$", "/thumb/vip%2Fa.jpg"),
        ("^/thumb/(.*)$", "/thumb/%zz"),
    ] {
        assert!(!opens(from, target), "{from} {target}");
    }
}

#[test]
fn rules_that_cannot_work_are_named() {
    let error = Rewriter::new(&[rule("(", "/")]).unwrap_err();
    assert!(
        error.to_string().starts_with("`rewrite.from`: `(` "),
        "{error}"
    );
    let error = Rewriter::new(&[rule("^/(a)$", "/$2")]).unwrap_err();
    let why = "`rewrite.to`: `/$2` cannot work: there is no $2: `from` has 1 groups";
    assert_eq!(error.to_string(), why);
}

#[test]
fn a_rule_acts_on_every_spelling_of_its_paths_before_the_next_one_does() {
    let rules = [rule("^/private/", "/.closed"), rule("^/(.*)$", "/files/$1")];
    let rewriter = Rewriter::new(&rules).unwrap();
    for spelling in [
        "/private/a.jpg",
        "/%70rivate/a.jpg",
        "//private/a.jpg",
        "/private%2Fa.jpg",
        "/%2Fprivate//a.jpg",
    ] {
        assert_eq!(rewriter.apply(spelling).target, "/.closed", "{spelling}");
    }
    // A target that the rule matches without decoding is rewritten without decoding.
    assert_eq!(rewriter.apply("/a%2fb//c").target, "/files/a%2fb//c");
}
