//! If the translation of a URL into another dialect reports no differences, both URLs get the same image.

use andon_dialects::translate::{Known, Translator};
use andon_server::Config;

use crate::common::Reply;
use crate::options::{KEYS, house, tables};

/// A width, and pixels.
type Pixels = (u32, Vec<[u8; 4]>);

/// Status and format, and pixels if it is an image.
fn image(reply: &Reply) -> (u16, &'static str, Option<Pixels>) {
    let is_image = reply.status == 200
        && reply
            .header("content-type")
            .is_some_and(|it| it.starts_with("image/"));
    (
        reply.status,
        reply.format(),
        is_image.then(|| reply.pixels()),
    )
}

#[test]
fn every_option_of_every_dialect_says_the_same_in_another_or_is_named() {
    let house = house();
    let config = Config::parse(KEYS, std::path::Path::new("")).expect("a configuration");
    let translator = Translator::of(&config.dialects);
    let names: Vec<&str> = translator.names().collect();
    let (mut exact, mut named, mut refused) = (0, 0, 0);
    let mut silent = Vec::new();
    for (from, table) in &tables() {
        for row in &table.option {
            let (target, _) = row.targets(table);
            let Ok((_, request)) = translator.read(Some(from), &target) else {
                continue;
            };
            let translation = translator.translation(&request, &Known::default());
            let mut client = house.client();
            let mut original = None;
            for to in names.iter().filter(|to| *to != from) {
                let Ok(said) = translation.say_in(to) else {
                    refused += 1;
                    continue;
                };
                if !said.but.is_empty() {
                    named += 1;
                    continue;
                }
                exact += 1;
                let original = original.get_or_insert_with(|| client.get(&target));
                let other = client.get(&said.url);
                if image(original) != image(&other) {
                    let statuses = (original.status, other.status);
                    silent.push(format!(
                        "{from} {}: {target} is no {} {statuses:?}",
                        row.name, said.url
                    ));
                }
            }
        }
    }
    println!("{exact} exact, {named} with differences, {refused} refused");
    assert!(exact > 100 && named > 100, "{exact} {named} {refused}");
    assert!(
        silent.is_empty(),
        "{} of {exact}:\n{}",
        silent.len(),
        silent.join("\n")
    );
}
