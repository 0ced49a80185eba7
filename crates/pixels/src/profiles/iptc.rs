//! IPTC's older metadata (IIM): consecutive data sets, each identified by a record and a number.

/// Record and number of the data sets that are kept: character set, byline, credit and copyright notice.
const KEPT: [(u8, u8); 4] = [(1, 90), (2, 80), (2, 110), (2, 116)];

const CHARACTERS: (u8, u8) = KEPT[0];

/// Returns the data sets that tell whose image it is; `None` if there are none.
pub(super) fn reduced(mut sets: &[u8]) -> Option<Vec<u8>> {
    let mut kept = Vec::new();
    let mut names = false;
    while let &[0x1c, record, number, high, low, ref rest @ ..] = sets {
        // Lengths of more than 15 bits are written otherwise, and no name is as long.
        let length = usize::from(u16::from_be_bytes([high, low]));
        let Some(after) = rest.get(length..) else {
            break;
        };
        if KEPT.contains(&(record, number)) {
            names |= (record, number) != CHARACTERS && length > 0;
            kept.extend_from_slice(&sets[..5 + length]);
        }
        sets = after;
    }
    names.then_some(kept)
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
}
