//! IPTC's older metadata (IIM): consecutive data sets, each identified by a record and a number.

use std::ops::RangeInclusive;

use super::places;

/// Record and number of the IPTC data sets that are kept: character set, byline, credit and copyright notice.
const KEPT: [(u8, u8); 4] = [(1, 90), (2, 80), (2, 110), (2, 116)];

const CHARACTERS: (u8, u8) = KEPT[0];

/// Numbers of the IPTC data sets of record 2 that hold a preview.
const PREVIEW: RangeInclusive<u8> = 200..=202;

/// Returns the IPTC data sets about author and rights, and the one that declares their character set; `None` if neither
/// author nor rights are stated.
pub(super) fn reduced(block: &[u8]) -> Option<Vec<u8>> {
    let is_statement = |set: &Set<'_>| set.id() != CHARACTERS && !set.is_empty();
    let selection: Vec<Set<'_>> = sets(block).filter(|set| KEPT.contains(&set.id())).collect();
    selection
        .iter()
        .any(is_statement)
        .then(|| joined(&selection))
}

/// Returns the IPTC data sets without the preview and, if `place` is set, without the place where the image was taken;
/// `None` if nothing else is left.
pub(super) fn without_preview(block: &[u8], place: bool) -> Option<Vec<u8>> {
    let is_kept = |set: &Set<'_>| {
        let is_preview = set.record == 2 && PREVIEW.contains(&set.number);
        !(is_preview || place && places::is_set(set.record, set.number))
    };
    let selection: Vec<Set<'_>> = sets(block).filter(is_kept).collect();
    (!selection.is_empty()).then(|| joined(&selection))
}

/// Bytes of an IPTC data set before its value: a marker, record, number and length.
const HEAD: usize = 5;

/// An IPTC data set with all its bytes.
struct Set<'a> {
    record: u8,
    number: u8,
    bytes: &'a [u8],
}

impl Set<'_> {
    fn id(&self) -> (u8, u8) {
        (self.record, self.number)
    }

    fn is_empty(&self) -> bool {
        self.bytes.len() == HEAD
    }
}

/// Returns the IPTC data sets up to the first that is incomplete or whose length exceeds 15 bits. Longer lengths have
/// another encoding, and no text is that long.
fn sets(mut rest: &[u8]) -> impl Iterator<Item = Set<'_>> {
    std::iter::from_fn(move || {
        let &[0x1c, record, number, high @ 0..=0x7f, low, ..] = rest else {
            return None;
        };
        let length = HEAD + usize::from(u16::from_be_bytes([high, low]));
        let (bytes, after) = rest.split_at_checked(length)?;
        rest = after;
        Some(Set {
            record,
            number,
            bytes,
        })
    })
}

fn joined(sets: &[Set<'_>]) -> Vec<u8> {
    let bytes: Vec<&[u8]> = sets.iter().map(|set| set.bytes).collect();
    bytes.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(record: u8, number: u8, text: &[u8]) -> Vec<u8> {
        let mut set = vec![0x1c, record, number, 0, text.len() as u8];
        set.extend(text);
        set
    }

    #[test]
    fn names_are_kept_and_captions_and_places_are_not() {
        let names = [
            set(1, 90, b"\x1b%G"),
            set(2, 80, b"somebody"),
            set(2, 116, b"(c)"),
        ];
        let [characters, byline, notice] = names.clone();
        let place = set(2, 90, b"a town");
        let whole = [
            characters,
            place.clone(),
            byline,
            set(2, 120, b"a day"),
            notice,
        ]
        .concat();
        assert_eq!(reduced(&whole), Some(names.concat()));
        assert_eq!(reduced(&[names[0].clone(), place].concat()), None);
        for length in 0..whole.len() {
            let _ = reduced(&whole[..length]);
        }
    }

    #[test]
    fn a_preview_goes_and_so_does_the_place_if_asked() {
        let stays = [
            set(2, 80, b"me"),
            set(2, 120, b"a day"),
            set(2, 116, b"(c)"),
        ];
        let [byline, caption, notice] = stays.clone();
        let (preview, town) = (set(2, 202, b"pixels"), set(2, 90, b"a town"));
        let whole = [
            byline.clone(),
            preview.clone(),
            town.clone(),
            caption.clone(),
            notice.clone(),
        ];
        let with_town = [byline, town.clone(), caption, notice].concat();
        assert_eq!(without_preview(&whole.concat(), false), Some(with_town));
        assert_eq!(without_preview(&whole.concat(), true), Some(stays.concat()));
        assert_eq!(without_preview(&preview, false), None);
        assert_eq!(without_preview(&town, true), None);
    }

    #[test]
    fn what_a_set_of_extended_length_holds_does_not_stay() {
        let mut long = vec![0x1c, 2, 120, 0x80, 4, 0, 0, 0x90, 0];
        long.extend(set(2, 90, b"a town"));
        long.resize(9 + 0x9000, b' ');
        let whole = [set(2, 80, b"me"), long].concat();
        for place in [false, true] {
            assert_eq!(without_preview(&whole, place), Some(set(2, 80, b"me")));
        }
    }
}
