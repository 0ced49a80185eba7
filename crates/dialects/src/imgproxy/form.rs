//! How imgproxy's URLs are recognised in logs.

use super::options::Options;
use super::table;
use crate::forms::{Cut, Form, Marks, Room, Strength, is_base64};

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "imgproxy",
        dialect: "imgproxy",
        order: (8, 0),
        prefix_key: Some("prefix"),
        lenient: "allow_security_options = true\n",
        room: Room::Everything,
        pattern: "/(?:info/)?[A-Za-z0-9_=-]+/(?:(?:[a-z_-]+(?::|%3A)[^/]*/)*(?:plain/.+|enc/[A-Za-z0-9_=/-]+(?:\\.[a-z0-9]+)?)\
                  |(?:[a-z_-]+(?::|%3A)[^/]*/)+[A-Za-z0-9_=/-]+(?:\\.[a-z0-9]+)?)\
                  |/(?:info/)?[A-Za-z0-9_-]{43}/[A-Za-z0-9_=/-]+(?:\\.[a-z0-9]+)?",
        look,
    },
    Form {
        name: "imgproxy with only presets",
        dialect: "imgproxy",
        order: (8, 1),
        prefix_key: Some("prefix"),
        lenient: ONLY_PRESETS,
        room: Room::Everything,
        pattern: "/[A-Za-z0-9_=-]+/[A-Za-z0-9_.-]+(?:(?::|%3A)[A-Za-z0-9_.-]+)*/(?:plain/.+|[A-Za-z0-9_=/-]+(?:\\.[a-z0-9]+)?)",
        look: look_for_presets,
    },
];

/// The configuration key with which URLs have names of presets in place of options.
pub(super) const ONLY_PRESETS: &str = "only_presets = true\n";

/// Words that usually stand in place of a signature.
const WORDS: [&str; 3] = ["insecure", "unsafe", "_"];

/// Length in base64 of a signature that is not truncated: 32 bytes without padding.
const WHOLE: usize = 43;

fn look<'a>(cut: &Cut<'a>) -> Option<Marks<'a>> {
    let rest = cut.path.strip_prefix('/')?;
    let (about, rest) = match rest.strip_prefix("info/") {
        Some(rest) => ("info/", rest),
        None => ("", rest),
    };
    let (signature, rest) = rest.split_once('/')?;
    if signature.is_empty() || rest.is_empty() || !signature.bytes().all(is_base64) {
        return None;
    }
    let is_signature = signature.len() == WHOLE || WORDS.contains(&signature);
    let is_option = |segment: &str| {
        let end = segment.find(':').or_else(|| segment.find("%3A"));
        let is_of_name = |byte: u8| byte.is_ascii_lowercase() || b"_-".contains(&byte);
        end.is_some_and(|end| end > 0 && segment[..end].bytes().all(is_of_name))
    };
    let mut at = 0;
    for segment in rest.split('/').take_while(|segment| is_option(segment)) {
        at += segment.len() + 1;
    }
    let (options, source) = (
        &rest[..at.min(rest.len())],
        rest.get(at..).unwrap_or_default(),
    );
    let has_options = !options.is_empty();
    let plain_source = source.strip_prefix("plain/");
    let sealed_source = source.strip_prefix("enc/").filter(|it| is_sealed(it));
    let is_url = plain_source.is_some_and(|it| it.contains("://") || it.contains("%3A%2F"));
    if !has_options && !is_signature && !is_url {
        return None;
    }
    let path = match sealed_source {
        None => cut.path.into(),
        Some(_) => format!("/{about}{signature}/{options}plain/local:///sealed.jpg").into(),
    };
    Some(Marks {
        path,
        signature: Some(signature.to_owned()),
        is_sealed: sealed_source.is_some(),
        ..cut.marks(Strength::Sure)
    })
}

fn look_for_presets<'a>(cut: &Cut<'a>) -> Option<Marks<'a>> {
    let (signature, _) = presets(cut.path)?;
    Some(Marks {
        signature: Some(signature.to_owned()),
        ..cut.marks(Strength::Sure)
    })
}

/// Beginnings of URLs in base64: `http`, `s3://`, `gs://`, `abs://` and `local:`.
const ENCODED: [&str; 5] = ["aHR0c", "czM6Ly", "Z3M6Ly", "YWJzOi8v", "bG9jYWw6"];

/// Returns the signature, and the presets that a URL names in place of options: `/SIGNATURE/NAME:NAME/SOURCE`. `None`
/// if it is not certain that the path has this form.
pub(super) fn presets(path: &str) -> Option<(&str, Vec<String>)> {
    let (signature, rest) = path.strip_prefix('/')?.split_once('/')?;
    let (names, source) = rest.split_once('/')?;
    let is_signature = signature.len() == WHOLE && signature.bytes().all(is_base64);
    let is_source = source.starts_with("plain/") || ENCODED.iter().any(|it| source.starts_with(it));
    if !is_source || !(is_signature || WORDS.contains(&signature)) {
        return None;
    }
    let names = names.replace("%3A", ":").replace("%3a", ":");
    let names: Vec<String> = names.split(':').map(str::to_owned).collect();
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let are_names = names
        .iter()
        .all(|name| !name.is_empty() && name.bytes().all(is_of_name));
    let is_source = ["plain", "enc", "info"].contains(&&*names[0]);
    (are_names && !is_source && !is_option(&names)).then_some((signature, names))
}

/// Whether these words are an option and its arguments. A preset may have the name of an option, but the names of
/// further presets are rarely valid arguments of that option.
fn is_option(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let [name, args @ ..] = &words[..] else {
        return false;
    };
    let is_read = || {
        let row = table::find(name).filter(|row| args.len() <= row.most);
        row.is_some_and(|row| row.read(&mut Options::default(), args).is_ok())
    };
    !args.is_empty() && (["pr", "preset"].contains(name) || is_read())
}

/// Whether a text can be an encrypted source: base64 of a 16-byte initialization vector and of 16-byte blocks.
fn is_sealed(text: &str) -> bool {
    let text = text.split('.').next().unwrap_or_default();
    let digits = text.bytes().filter(|byte| !b"/=".contains(byte));
    let bytes = digits.clone().count() * 3 / 4;
    digits.clone().all(is_base64) && bytes >= 32 && bytes.is_multiple_of(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_presets_are_told_from_options_and_sources() {
        let signature = "AfrOrF3gWeDA6VOlDG4TzxMv39O7MXnF4CXpKUwGqRM";
        for (path, names) in [
            (
                "/insecure/thumb/plain/local:///a.jpg".to_owned(),
                vec!["thumb"],
            ),
            (
                format!("/{signature}/thumb%3Asharp/aHR0cDovL2E.png"),
                vec!["thumb", "sharp"],
            ),
            (
                "/_/blurry:big/plain/https://a.test/a.jpg".to_owned(),
                vec!["blurry", "big"],
            ),
            (
                "/_/blur:big/plain/https://a.test/a.jpg".to_owned(),
                vec!["blur", "big"],
            ),
            (
                format!("/{signature}/watermark%3Abanner/aHR0cDovL2E.png"),
                vec!["watermark", "banner"],
            ),
        ] {
            let (_, read) = presets(&path).expect("presets");
            assert_eq!(read, names, "{path}");
        }
        for path in [
            "/insecure/w:300/plain/local:///a.jpg",
            "/insecure/blur:3/plain/local:///a.jpg",
            "/insecure/rs:fit:30:20/plain/local:///a.jpg",
            "/insecure/pr:thumb/plain/local:///a.jpg",
            "/insecure/plain/local:///a.jpg",
            "/insecure/aHR0cDovL2EvYi9j/ZC5qcGc",
            "/images/thumb/plain/readme.html",
            "/insecure/thumb/a.jpg",
        ] {
            assert_eq!(presets(path), None, "{path}");
        }
    }

    #[test]
    fn sealed_sources_are_replaced_by_plain_ones() {
        fn marks(path: &str) -> Option<Marks<'_>> {
            look(&Cut {
                prefix: "",
                path,
                query: None,
            })
        }
        let sealed = format!("/unsafe/rs:fit:10:10/enc/{}.png", "Ab".repeat(32));
        let sealed = marks(&sealed).expect("imgproxy's");
        assert!(sealed.is_sealed);
        assert_eq!(
            sealed.path,
            "/unsafe/rs:fit:10:10/plain/local:///sealed.jpg"
        );
        assert_eq!(marks("/wp-content/uploads/enc/info-15.jpg"), None);
    }
}
