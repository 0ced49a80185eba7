//! AVIFs that repeat parts of a bitstream, or items: the units (OBUs) of an image from our own encoder, in a container
//! that may declare any sizes and items.

/// Returns one unit (OBU) of an AV1 bitstream, of this type and payload.
pub(crate) fn obu(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut unit = vec![kind << 3 | 2];
    let mut length = payload.len();
    while length > 127 {
        unit.push(length as u8 | 128);
        length >>= 7;
    }
    unit.push(length as u8);
    unit.extend_from_slice(payload);
    unit
}

/// Type of an OBU that contains a sequence header.
pub(crate) const SEQUENCE_HEADER: u8 = 1;
/// Type of an OBU that contains only a frame header.
pub(crate) const FRAME_HEADER: u8 = 3;
/// Type of an OBU that contains metadata.
pub(crate) const METADATA: u8 = 5;
/// Type of an OBU that contains a frame header and its tiles.
pub(crate) const FRAME: u8 = 6;
/// Type of an OBU that contains padding.
pub(crate) const PADDING: u8 = 15;

/// Splits an AV1 bitstream into its units (OBUs), each with its type and its bytes, including its header.
pub(crate) fn units(mut stream: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut units = Vec::new();
    while let Some(&head) = stream.first() {
        let (mut length, mut at) = (0, 1);
        while let Some(&byte) = stream.get(at) {
            length |= usize::from(byte & 127) << (7 * (at - 1));
            at += 1;
            if byte & 128 == 0 {
                break;
            }
        }
        let (unit, rest) = stream.split_at((at + length).min(stream.len()));
        units.push((head >> 3 & 15, unit.to_vec()));
        stream = rest;
    }
    units
}

/// The parts of a still image with one item: its bitstream and its configuration box.
pub(crate) struct AvifImage {
    pub(crate) stream: Vec<u8>,
    configuration: Vec<u8>,
}

impl AvifImage {
    /// Takes the bitstream and the configuration box from a file of our own encoder, or from any other file with one
    /// item without opacity, whose data is the whole `mdat`.
    pub(crate) fn of(file: &[u8]) -> Self {
        let at = |kind: &[u8; 4]| {
            let found = file.windows(4).position(|here| here == kind);
            let at = found.expect("the box is there") - 4;
            let length: [u8; 4] = file[at..at + 4].try_into().expect("four bytes");
            (at, at + u32::from_be_bytes(length) as usize)
        };
        let (data, end) = at(b"mdat");
        let (configuration, configured) = at(b"av1C");
        Self {
            stream: file[data + 8..end].to_vec(),
            configuration: file[configuration..configured].to_vec(),
        }
    }

    /// Returns the image with every unit (OBU) of a type repeated this number of times.
    pub(crate) fn repeated(&self, kind: u8, times: usize) -> Self {
        let again = |(own, unit): (u8, Vec<u8>)| unit.repeat(if own == kind { times } else { 1 });
        self.with(units(&self.stream).into_iter().flat_map(again).collect())
    }

    /// Returns the image with units (OBUs) inserted after its sequence header, before its first frame.
    pub(crate) fn behind_header(&self, more: &[u8]) -> Self {
        let put = |(kind, unit): (u8, Vec<u8>)| match kind {
            SEQUENCE_HEADER => [&unit, more].concat(),
            _ => unit,
        };
        self.with(units(&self.stream).into_iter().flat_map(put).collect())
    }

    /// Returns this configuration with another bitstream.
    pub(crate) fn with(&self, stream: Vec<u8>) -> Self {
        Self {
            stream,
            configuration: self.configuration.clone(),
        }
    }

    /// Returns a file with the image as its only item.
    pub(crate) fn file(&self, size: (u32, u32)) -> Vec<u8> {
        let item = Item::coded(1, size);
        container(&[item], &[], self, |_| vec![(0, self.stream.len() as u32)])
    }

    /// Returns an AVIF with a grid whose tiles are separate items; `places` maps a tile to its place in the bitstream.
    pub(crate) fn grid(
        &self,
        (columns, rows): (u32, u32),
        (width, height): (u32, u32),
        places: impl Fn(u32) -> Vec<(u32, u32)>,
    ) -> Vec<u8> {
        let mut items = vec![Item {
            id: 1,
            kind: *b"grid",
            size: (columns * width, rows * height),
            inside: true,
        }];
        items.extend((0..columns * rows).map(|tile| Item::coded(2 + tile as u16, (width, height))));
        let tiles: Vec<u16> = (0..columns * rows).map(|tile| 2 + tile as u16).collect();
        container(&items, &[(*b"dimg", 1, tiles)], self, |item| {
            places(u32::from(item.id) - 2)
        })
    }

    /// Returns an AVIF with a grid that refers to one item for every tile.
    pub(crate) fn grid_of_one(
        &self,
        (columns, rows): (u32, u32),
        (width, height): (u32, u32),
    ) -> Vec<u8> {
        let items = [
            Item {
                id: 1,
                kind: *b"grid",
                size: (columns * width, rows * height),
                inside: true,
            },
            Item::coded(2, (width, height)),
        ];
        let tiles = vec![2; (columns * rows) as usize];
        container(&items, &[(*b"dimg", 1, tiles)], self, |_| {
            vec![(0, self.stream.len() as u32)]
        })
    }
}

/// An item of an AVIF file.
#[derive(Clone, Copy)]
pub(crate) struct Item {
    id: u16,
    kind: [u8; 4],
    size: (u32, u32),
    /// Whether its data is a grid's description, in `idat`.
    inside: bool,
}

impl Item {
    fn coded(id: u16, size: (u32, u32)) -> Self {
        Self {
            id,
            kind: *b"av01",
            size,
            inside: false,
        }
    }
}

fn boxed(kind: &[u8; 4], payload: &[u8]) -> Vec<u8> {
    [&(payload.len() as u32 + 8).to_be_bytes()[..], kind, payload].concat()
}

fn full(kind: &[u8; 4], version: u8, payload: &[u8]) -> Vec<u8> {
    boxed(kind, &[&[version, 0, 0, 0], payload].concat())
}

/// Returns a file whose primary item is the first one; `places` maps an item to its place in the image's bitstream.
fn container(
    items: &[Item],
    references: &[([u8; 4], u16, Vec<u16>)],
    image: &AvifImage,
    places: impl Fn(&Item) -> Vec<(u32, u32)>,
) -> Vec<u8> {
    let head = boxed(b"ftyp", b"avif\0\0\0\0avifmif1miaf");
    let meta = |data: u32| {
        let count = (items.len() as u16).to_be_bytes();
        let handler = full(b"hdlr", 0, b"\0\0\0\0pict\0\0\0\0\0\0\0\0\0\0\0\0\0");
        let primary = full(b"pitm", 0, &items[0].id.to_be_bytes());
        let mut locations = [&[0x44, 0][..], &count].concat();
        let mut grids = Vec::new();
        for item in items {
            let own = match item.inside {
                true => {
                    let at = grids.len() as u32;
                    let tile = items.get(1).map_or(item.size, |tile| tile.size);
                    let (columns, rows) = (item.size.0 / tile.0, item.size.1 / tile.1);
                    grids.extend([0, 1, (rows - 1) as u8, (columns - 1) as u8]);
                    grids.extend(item.size.0.to_be_bytes());
                    grids.extend(item.size.1.to_be_bytes());
                    vec![(at, grids.len() as u32 - at)]
                }
                false => places(item)
                    .iter()
                    .map(|(at, length)| (at + data, *length))
                    .collect(),
            };
            locations.extend(item.id.to_be_bytes());
            locations.extend([0, u8::from(item.inside), 0, 0]);
            locations.extend((own.len() as u16).to_be_bytes());
            for (at, length) in own {
                locations.extend(at.to_be_bytes());
                locations.extend(length.to_be_bytes());
            }
        }
        let kinds: Vec<u8> = items
            .iter()
            .flat_map(|item| {
                full(
                    b"infe",
                    2,
                    &[&item.id.to_be_bytes()[..], &[0, 0], &item.kind, &[0]].concat(),
                )
            })
            .collect();
        let refer: Vec<u8> = references
            .iter()
            .flat_map(|(kind, from, to)| {
                let to: Vec<u8> = to.iter().flat_map(|to| to.to_be_bytes()).collect();
                let count = (to.len() as u16 / 2).to_be_bytes();
                boxed(kind, &[&from.to_be_bytes()[..], &count, &to].concat())
            })
            .collect();
        // The sizes of the first item and of all others, and the configuration.
        let size = |item: &Item| {
            full(
                b"ispe",
                0,
                &[item.size.0.to_be_bytes(), item.size.1.to_be_bytes()].concat(),
            )
        };
        let other = items.get(1).unwrap_or(&items[0]);
        let properties = boxed(
            b"ipco",
            &[size(&items[0]), size(other), image.configuration.clone()].concat(),
        );
        let mut associations = (items.len() as u32).to_be_bytes().to_vec();
        for (place, item) in items.iter().enumerate() {
            associations.extend(item.id.to_be_bytes());
            match item.inside {
                true => associations.extend([1, 1]),
                false => associations.extend([2, if place == 0 { 1 } else { 2 }, 0x83]),
            }
        }
        let properties = boxed(
            b"iprp",
            &[properties, full(b"ipma", 0, &associations)].concat(),
        );
        full(
            b"meta",
            0,
            &[
                handler,
                primary,
                full(b"iloc", 1, &locations),
                full(b"iinf", 0, &[&count[..], &kinds].concat()),
                full(b"iref", 0, &refer),
                properties,
                boxed(b"idat", &grids),
            ]
            .concat(),
        )
    };
    let data = (head.len() + meta(0).len() + 8) as u32;
    [head, meta(data), boxed(b"mdat", &image.stream)].concat()
}

/// Returns AVIFs that must be rejected because of their headers, made from an image of this size, each with its name.
pub(crate) fn refused(image: &AvifImage, size: (u32, u32)) -> Vec<(&'static str, Vec<u8>)> {
    let length = image.stream.len() as u32;
    vec![
        (
            "avif, 200 frames in one image",
            image.repeated(FRAME, 200).file(size),
        ),
        (
            "avif, 10,000 frame headers",
            image
                .behind_header(&obu(FRAME_HEADER, &[0x10; 4]).repeat(10_000))
                .file(size),
        ),
        (
            "avif, 10,000 sequence headers",
            image.repeated(SEQUENCE_HEADER, 10_000).file(size),
        ),
        (
            "avif, a million empty units",
            image
                .behind_header(&obu(PADDING, &[]).repeat(1_000_000))
                .file(size),
        ),
        (
            "avif, 60,000 units of metadata",
            image
                .behind_header(&obu(METADATA, &[4, 1, 2, 128]).repeat(60_000))
                .file(size),
        ),
        ("avif, tiles that overlap", {
            // Padding after the image, so that all tiles have the same length but different bytes.
            let padded = image.with([image.stream.clone(), vec![0; 4096]].concat());
            padded.grid((16, 16), size, |tile| vec![(0, length + tile)])
        }),
        (
            "avif, a grid of an image of 200 frames",
            image.repeated(FRAME, 200).grid_of_one((4, 4), size),
        ),
    ]
}

/// Returns valid AVIFs that must not cause more work than their size suggests, each with its name.
pub(crate) fn bounded(image: &AvifImage, size: (u32, u32)) -> Vec<(&'static str, Vec<u8>)> {
    let length = image.stream.len() as u32;
    vec![
        (
            "avif, a grid of one item",
            image.grid_of_one((100, 100), size),
        ),
        (
            "avif, a grid of items with the same bytes",
            image.grid((32, 32), size, |_| vec![(0, length)]),
        ),
        (
            "avif, a few frames in one image",
            image.repeated(FRAME, 8).file(size),
        ),
    ]
}
