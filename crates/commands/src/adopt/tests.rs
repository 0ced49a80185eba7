//! Property tests of recognition: URLs of every dialect, at any prefix and mixed with other URLs of a website.

use std::collections::BTreeSet;
use std::path::Path;

use andon_dialects::Source;
use andon_dialects::translate::{Known, Translator};
use proptest::prelude::*;
use proptest::sample::select;

use super::base::Base;
use super::draft::{Draft, For};
use super::pipeline::check;
use super::recognise::{Recognised, recognise};
use super::routes::{Route, Router};

/// Dialects whose URLs are paths of files, or can be recognised at any path, so that they have no prefix in a log.
const AT_ROOT: [&str; 2] = ["imgix", "small_light"];

/// Recipes that most dialects can express.
fn recipes() -> impl Strategy<Value = String> {
    let boxed = (select(vec!["fit", "cover"]), 1_u32..2000, 1_u32..2000);
    let boxed = boxed.prop_map(|(word, w, h)| format!("{word}:{w}x{h}"));
    let further = select(vec![
        "",
        ",q:80",
        ",as:webp",
        ",as:png",
        ",as:webp,q:7",
        ",rotate:90",
        ",blur:3",
    ]);
    (boxed, further).prop_map(|(boxed, further)| format!("{boxed}{further}"))
}

fn prefixes() -> impl Strategy<Value = String> {
    "(/[a-z][a-z0-9-]{1,8}){1,2}"
}

/// Paths of images on a website.
fn files() -> impl Strategy<Value = String> {
    let folders = "([a-z]{1,9}/|20[0-2][0-9]/|%C3%A9t%C3%A9/|[A-Z]{2}_[0-9]{3}/){0,3}";
    let name = "[A-Za-z0-9][A-Za-z0-9_-]{0,12}";
    let extension = select(vec!["jpg", "JPG", "jpeg", "png", "webp", "gif"]);
    (folders, name, extension).prop_map(|(folders, name, it)| format!("{folders}{name}.{it}"))
}

/// Other URLs of a website, which are images of no dialect.
fn noise() -> impl Strategy<Value = String> {
    let page = "(/[a-z][a-z-]{0,11}){1,4}(/|\\.html|\\.php)?";
    let asked = "/(search|login|go|share)\\?(q|page|id|lang|url|next)=[a-z0-9%]{0,3}(&(l|n|v|ref)=[a-z0-9]{1,4})?";
    let asset = "/(static|assets|_next/static)/[a-z]{1,8}\\.[0-9a-f]{8}\\.(js|css|woff2|map)(\\?v=[0-9]{1,3})?";
    let image =
        "/(img|images|uploads/20[0-2][0-9])/[a-z]{1,8}\\.(png|jpg|svg|ico)(\\?(v=)?[0-9]{1,10})?";
    let scan = "/(wp-admin|vendor|cgi-bin|\\.git|\\.env)/[a-z]{1,8}(\\.php|\\.cgi|)(\\?[a-z]{1,4}=[a-z]{0,6})?";
    let of = |pattern: &str| proptest::string::string_regex(pattern).expect("a pattern");
    prop_oneof![of(page), of(asked), of(asset), of(image), of(scan)]
}

/// Returns a dialect's URL for a recipe, at its usual prefix or below another one. `None` if the dialect cannot express
/// the recipe.
fn said(dialect: &str, recipe: &str, file: &str, prefix: &str) -> Option<String> {
    let translator = Translator::usual();
    let native = format!("/r/{recipe}/{file}");
    let (_, request) = translator.read(Some("native"), &native).ok()?;
    let known = Known {
        size: Some((4000, 3000)),
        ..Known::default()
    };
    let said = translator
        .translation(&request, &known)
        .say_in(dialect)
        .ok()?;
    translator.read(Some(dialect), &said.url).ok()?;
    Some(match AT_ROOT.contains(&dialect) {
        true => said.url,
        false => format!("{prefix}{}", said.url),
    })
}

/// Recognises targets, writes the configuration, and checks that it is valid.
fn adopted(targets: &[String]) -> (Recognised, Router) {
    let targets: Vec<(String, u64)> = targets.iter().map(|it| (it.clone(), 1)).collect();
    let recognised = recognise(&targets, &[], &[]).expect("probes");
    let mut draft = Draft::new(&Base::default(), &recognised, &targets).expect("a draft");
    draft.origins = "[[origin]]\nfs.root = \".\"\n".to_owned();
    check(&draft.text(For::Use), Path::new(".")).expect("sound");
    let router = Router::new(&draft.text(For::Trial), Path::new(".")).expect("sound");
    (recognised, router)
}

/// Returns the name of the dialect that read a target, and its prefix.
fn place_of(recognised: &Recognised, index: usize) -> Option<(&'static str, String)> {
    let mut found = recognised.entries.iter();
    let it = found.find(|it| it.readings.iter().any(|(at, _)| *at == index))?;
    Some((it.kind.dialect, it.prefix.clone()))
}

/// Whether two dialects are equivalent for a URL: thumbor's URLs are imagor's as well, and Photon's paths imgix's.
fn is_same(found: &str, wanted: &str) -> bool {
    let is_of = |two: [&str; 2]| two.contains(&found) && two.contains(&wanted);
    found == wanted || is_of(["thumbor", "imagor"]) || is_of(["photon", "imgix"])
}

fn dialects() -> Vec<&'static str> {
    let all: BTreeSet<&str> = andon_dialects::forms().map(|form| form.dialect).collect();
    all.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn urls_of_every_dialect_are_recognised_at_their_prefix_and_served(
        recipes in proptest::collection::vec((recipes(), files()), 3),
        prefix in prefixes(),
        noise in proptest::collection::vec(noise(), 0..12),
    ) {
        for dialect in dialects() {
            // Photon's sources usually begin with a host.
            let file = |file: &str| match dialect {
                "photon" => format!("img.example/{file}"),
                _ => file.to_owned(),
            };
            let urls = recipes.iter().filter_map(|(recipe, name)| said(dialect, recipe, &file(name), &prefix));
            let urls: Vec<String> = urls.collect();
            let targets: Vec<String> = urls.iter().chain(&noise).cloned().collect();
            let (recognised, router) = adopted(&targets);
            for (index, url) in urls.iter().enumerate() {
                let place = place_of(&recognised, index);
                let (found, at) = place.ok_or_else(|| TestCaseError::fail(format!("{dialect}: {url}")))?;
                prop_assert!(is_same(found, dialect), "{dialect}: {url} is {found}'s at {at}");
                let is_there = at.starts_with(&prefix) || AT_ROOT.contains(&dialect) && at.is_empty();
                prop_assert!(is_there, "{dialect}: {url} at {at}");
                let route = router.route(url);
                prop_assert!(matches!(route, Route::Image(_)), "{dialect}: {url}: {route:?}");
            }
        }
    }

    #[test]
    fn two_dialects_of_one_site_are_both_recognised(
        recipe in recipes(),
        file in files(),
        prefixes in [prefixes(), prefixes()],
        two in proptest::sample::subsequence(dialects(), 2),
    ) {
        prop_assume!(prefixes[0] != prefixes[1] && !is_same(two[0], two[1]));
        let urls = two.iter().zip(&prefixes).filter_map(|(dialect, prefix)| said(dialect, &recipe, &file, prefix));
        let urls: Vec<String> = urls.collect();
        prop_assume!(urls.len() == 2);
        let (recognised, router) = adopted(&urls);
        for (index, (url, dialect)) in urls.iter().zip(&two).enumerate() {
            let place = place_of(&recognised, index);
            prop_assert!(place.as_ref().is_some_and(|(found, _)| is_same(found, dialect)), "{dialect}: {url}: {place:?}");
            let is_read = matches!(router.route(url), Route::Image(_));
            prop_assert!(is_read, "{dialect}: {url}");
        }
    }

    #[test]
    fn what_is_no_image_of_a_dialect_yields_none(noise in proptest::collection::vec(noise(), 1..40)) {
        let targets: Vec<(String, u64)> = noise.iter().map(|it| (it.clone(), 1)).collect();
        let recognised = recognise(&targets, &[], &[]).expect("probes");
        let found: Vec<_> = recognised.entries.iter().map(|it| (it.kind.name, &it.prefix)).collect();
        prop_assert!(found.is_empty(), "{found:?}: {noise:?}");
    }
}

#[test]
fn nearly_every_dialect_has_a_url_for_a_recipe() {
    let says =
        |dialect: &&str| said(dialect, "fit:300x200,as:webp", "img.example/a.jpg", "/x").is_some();
    let (said, silent): (Vec<_>, Vec<_>) = dialects().into_iter().partition(says);
    assert!(
        said.len() > 10 && silent.len() < 3,
        "{said:?}, not {silent:?}"
    );
}

#[test]
fn encrypted_sources_are_recognised_with_and_without_signatures() {
    let sealed = "Qw".repeat(16) + &"Er".repeat(16);
    for signature in ["insecure", &"Ab1".repeat(15)[..43]] {
        let target = format!("/i/{signature}/w:80/enc/{sealed}.webp");
        let (recognised, _) = adopted(&[target]);
        let place = place_of(&recognised, 0);
        assert_eq!(place, Some(("imgproxy", "/i".to_owned())), "{signature}");
    }
}

#[test]
fn sources_are_the_same_in_the_configuration_that_is_written() {
    let targets = [
        "/t/unsafe/300x200/trip/ab.jpg",
        "/t/logo.png",
        "/p/_/rs:fit:9:9/plain/local:///trip/ab.jpg",
    ];
    let (_, router) = adopted(&targets.map(str::to_owned));
    let source = Source::Path("trip/ab.jpg".to_owned());
    assert_eq!(router.route(targets[0]), Route::Image(source.clone()));
    assert_eq!(router.route(targets[2]), Route::Image(source));
    assert_eq!(router.route(targets[1]), Route::File);
}
