//! The image size that a URL asks for, read from the usual notations: `/w/150/h/100/`, `dw=250,dh=250`, `w=300&h=200`,
//! `/300x200/`.

use std::sync::LazyLock;

use regex::Regex;

/// Returns the largest width and height in px that a URL allows for the image in its reply; `None` where the URL does
/// not say.
pub(super) fn requested_size(url: &str) -> (Option<u32>, Option<u32>) {
    if let Some(captures) = BOTH.captures(url) {
        return (captures[1].parse().ok(), captures[2].parse().ok());
    }
    let side = |pattern: &Regex| {
        pattern
            .captures(url)
            .and_then(|captures| captures[1].parse().ok())
    };
    (side(&WIDTH), side(&HEIGHT))
}

/// Compiles a constant pattern. A pattern that does not compile fails every test of this file.
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern in this file")
}

static BOTH: LazyLock<Regex> = LazyLock::new(|| pattern(r"/(\d{1,5})x(\d{1,5})(?:/|$)"));
static WIDTH: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:^|[/,(?&;])(?:d?w|width)[/=:](\d{1,5})(?:\D|$)"));
static HEIGHT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:^|[/,(?&;])(?:d?h|height)[/=:](\d{1,5})(?:\D|$)"));

#[cfg(test)]
mod tests {
    use super::requested_size;

    #[test]
    fn sizes_are_read_from_the_usual_spellings() {
        for (url, size) in [
            ("/resize/w/150/h/100/a.jpg", (Some(150), Some(100))),
            ("/resize/w/400/a.jpg", (Some(400), None)),
            (
                "/small_light(dw=250,dh=188,da=l,q=95)/img/a.jpg",
                (Some(250), Some(188)),
            ),
            ("/a.jpg?w=300&h=200", (Some(300), Some(200))),
            ("/300x200/a.jpg", (Some(300), Some(200))),
            ("/a.jpg", (None, None)),
            ("/show/w.jpg", (None, None)),
        ] {
            assert_eq!(requested_size(url), size, "{url}");
        }
    }
}
