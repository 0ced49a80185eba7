//! Encoding of the arguments and results of codecs: headers, images, errors.

use std::io;

use andon_pixels::buffers::Buffer;
use andon_pixels::space::{Colour, Matrix, Primaries, Range, Space, Transfer};
use andon_pixels::{
    Animation, Bound, BoundOn, Damaged, Delay, Depth, Encode, Error, Frame, GainHeader, GainMap,
    GainParams, Grid, Head, Image, Info, Limits, Metadata, Model, Orientation, Plane, RegionF,
    Scale, Scales, Subsampling, Timed, Traits, Window,
};
use andon_recipe::Area;

use super::{Input, List, Output, Wire, fields, garbled_message, variants};

fields!(Info {
    format,
    width,
    height,
    model,
    depth,
    alpha,
    space,
    palette,
    frames,
    animation,
    orientation,
    quality,
    lossless,
    progressive,
    metadata,
    decoder_bytes,
    decoder_nanos,
    fewest_bytes,
});
fields!(Animation {
    plays,
    duration_ms,
    alpha,
    apart
});
fields!(Delay { ticks, per_second });
fields!(Subsampling { h, v });
fields!(Space {
    primaries,
    transfer,
    profiled
});
fields!(Colour { space, icc });
fields!(Traits {
    model,
    depth,
    alpha,
    space
});
fields!(Metadata {
    icc,
    exif,
    iptc,
    xmp
});
fields!(GainParams { iso, xmp });
fields!(GainMap {
    frame,
    quality,
    params
});
fields!(GainHeader {
    info,
    bytes,
    params
});
fields!(Timed { frame, delay });
fields!(Head {
    width,
    height,
    traits,
    plays,
    metadata
});
fields!(RegionF { x, y, w, h });
fields!(Window { from, to });
fields!(Scales { luma, chroma });
fields!(Area { x, y, w, h });
fields!(Encode {
    quality,
    lossless,
    depth,
    progressive,
    chroma,
    effort,
    options,
    few_colours,
});
variants!(Range { 0 => Full, 1 => Limited });
variants!(Damaged { 0 => Refused, 1 => Shown });
variants!(Model {
    0 => Gray,
    1 => YCbCr { sub, range, matrix },
    2 => Rgb,
    3 => Cmyk,
});
fields!(Bound { name, unit, on });
variants!(BoundOn {
    0 => Source,
    1 => Result,
    2 => Work,
    3 => Server,
    4 => Plan,
    5 => Format(format),
});
variants!(Error {
    0 => UnknownFormat,
    1 => Broken { format, why },
    2 => Unsupported { format, what },
    3 => Limit { bound, value, limit },
    4 => Recipe { piece, why },
    5 => Unfit { piece, why },
    6 => Interrupted,
    7 => Internal(why),
    8 => Crashed { format, how },
    9 => Suspect { format },
    10 => NotRead { format },
    11 => NotPermitted { piece, why },
});

impl Wire for Scale {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        self.0.put(output);
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        u8::take(input).map(Self)
    }
}

/// Implements `Wire` for types whose values have numbers, by sending the number.
macro_rules! by_number {
    ($($name:ty: $number:expr, $back:expr;)*) => { $(
        impl Wire for $name {
            fn put<'a>(&'a self, output: &mut Output<'a>) {
                let number: fn(Self) -> u8 = $number;
                output.head.push(number(*self));
            }

            fn take(input: &mut Input<'_>) -> io::Result<Self> {
                let back: fn(u8) -> Option<Self> = $back;
                back(u8::take(input)?).ok_or_else(|| garbled_message("an unknown value"))
            }
        }
    )* };
}

by_number! {
    Primaries: Self::code, |code| Some(Self::from_code(code));
    Transfer: Self::code, |code| Some(Self::from_code(code));
    Matrix: Self::code, Self::from_code;
    Orientation: |turn| turn.exif() as u8, |number| Some(Self::from_exif(number.into()));
    Depth: Self::bits, |bits| Self::ALL.into_iter().find(|depth| depth.bits() == bits);
}

/// Sends all limits except that of processor time, which only the caller uses, for planning.
impl Wire for Limits {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        for number in [
            self.source_bytes,
            self.pixels,
            self.animation_pixels,
            self.result_pixels,
            self.memory,
            self.metadata_bytes,
        ] {
            output.head.extend(number.to_le_bytes());
        }
        for number in [self.frames, self.side, self.result_side, self.scans] {
            output.head.extend(number.to_le_bytes());
        }
        self.damaged.put(output);
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        Ok(Self {
            source_bytes: Wire::take(input)?,
            pixels: Wire::take(input)?,
            animation_pixels: Wire::take(input)?,
            result_pixels: Wire::take(input)?,
            memory: Wire::take(input)?,
            metadata_bytes: Wire::take(input)?,
            frames: Wire::take(input)?,
            side: Wire::take(input)?,
            result_side: Wire::take(input)?,
            scans: Wire::take(input)?,
            cpu: None,
            damaged: Wire::take(input)?,
        })
    }
}

impl Wire for Plane {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        output.head.extend(self.width().to_le_bytes());
        output.head.extend(self.height().to_le_bytes());
        match self {
            Self::U8(grid) => {
                output.head.push(1);
                output.blobs.push(grid.samples());
            }
            Self::U16(grid) => {
                output.head.push(2);
                output.blobs.push(bytemuck::cast_slice(grid.samples()));
            }
        }
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        let (width, height): (u32, u32) = (Wire::take(input)?, Wire::take(input)?);
        let samples = u64::from(width) * u64::from(height);
        let announced = |input: &Input<'_>, bytes: u64| match bytes <= input.remaining {
            true => usize::try_from(samples).map_err(|_| garbled_message("a plane is too large")),
            false => Err(garbled_message("a plane is larger than it may be")),
        };
        let plane = match u8::take(input)? {
            1 => {
                let mut samples = Buffer::<u8>::overwritten(announced(input, samples)?);
                input.blob(&mut samples)?;
                Grid::from_buffer(width, height, samples).map(Self::U8)
            }
            2 => {
                let bytes = samples.saturating_mul(2);
                let mut samples = Buffer::<u16>::overwritten(announced(input, bytes)?);
                input.blob(bytemuck::cast_slice_mut(&mut samples))?;
                Grid::from_buffer(width, height, samples).map(Self::U16)
            }
            _ => return Err(garbled_message("samples of an unknown size")),
        };
        plane.map_err(|error| garbled_message(&error.to_string()))
    }
}

impl Wire for Frame {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        self.model.put(output);
        output.head.extend(self.width.to_le_bytes());
        output.head.extend(self.height.to_le_bytes());
        put_list(&self.planes, output);
        self.alpha.put(output);
        self.colour.put(output);
        output.head.push(self.depth().bits());
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        let model = Wire::take(input)?;
        let (width, height) = (Wire::take(input)?, Wire::take(input)?);
        let List(planes) = Wire::take(input)?;
        let alpha = Wire::take(input)?;
        let colour: Colour = Wire::take(input)?;
        let depth = Wire::take(input)?;
        Self::new(model, width, height, planes, alpha)
            .and_then(|frame| frame.with_colour(colour).with_depth(depth))
            .map_err(|error| garbled_message(&error.to_string()))
    }
}

impl Wire for Image {
    fn put<'a>(&'a self, output: &mut Output<'a>) {
        self.frame.put(output);
        self.metadata.put(output);
        output.head.push(u8::from(self.gain_map.is_some()));
        if let Some(map) = self.gain_map.as_deref() {
            map.put(output);
        }
        output
            .head
            .extend((self.undrawn.len() as u64).to_le_bytes());
        for letter in &self.undrawn {
            output.head.extend(u32::from(*letter).to_le_bytes());
        }
    }

    fn take(input: &mut Input<'_>) -> io::Result<Self> {
        let (frame, metadata) = (Wire::take(input)?, Wire::take(input)?);
        let gain_map: Option<GainMap> = Wire::take(input)?;
        let List(undrawn): List<u32> = Wire::take(input)?;
        let letter =
            |code: u32| char::from_u32(code).ok_or_else(|| garbled_message("no character"));
        Ok(Self {
            frame,
            metadata,
            gain_map: gain_map.map(Box::new),
            undrawn: undrawn.into_iter().map(letter).collect::<Result<_, _>>()?,
        })
    }
}

fn put_list<'a, T: Wire>(values: &'a [T], output: &mut Output<'a>) {
    output.head.extend((values.len() as u64).to_le_bytes());
    for value in values {
        value.put(output);
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;

    /// Writes a value as a message and reads it back.
    fn there_and_back<T: Wire>(value: &T) -> io::Result<T> {
        let message = Output::of(value);
        let blobs = message.blobs.concat();
        let mut stream = blobs.as_slice();
        let mut input = Input::new(&message.head, &mut stream, blobs.len() as u64);
        let back = T::take(&mut input)?;
        input.check_end()?;
        Ok(back)
    }

    fn same<T: Wire + Debug + PartialEq>(value: &T) {
        assert_eq!(&there_and_back(value).unwrap(), value);
    }

    fn frame(depth: Depth) -> Frame {
        let model = Model::ycbcr(Subsampling::C420);
        let plane = |index: usize| {
            let (width, height) = model.plane_size(index, 31, 17);
            Plane::filled(depth, width, height, 200 + index as u16)
        };
        let alpha = Some(Plane::filled(depth, 31, 17, 7));
        let planes = (0..3).map(plane).collect();
        Frame::new(model, 31, 17, planes, alpha)
            .and_then(|frame| {
                frame
                    .with_colour(Colour::profiled(vec![1, 2, 3]))
                    .with_depth(depth)
            })
            .unwrap()
    }

    #[test]
    fn what_is_sent_is_what_arrives() {
        for depth in Depth::ALL {
            same(&frame(depth));
        }
        let params = GainParams {
            iso: Some(vec![9; 40].into()),
            xmp: None,
        };
        same(&Image {
            frame: frame(Depth::U8),
            metadata: Metadata {
                exif: Some(vec![5; 300]),
                ..Metadata::default()
            },
            gain_map: Some(Box::new(GainMap {
                frame: frame(Depth::U8),
                quality: Some(90),
                params,
            })),
            undrawn: vec!['\u{65e5}', '\u{1f600}'],
        });
        same(&Info {
            orientation: Orientation::from_exif(6),
            animation: Some(Animation {
                plays: 0,
                duration_ms: 70,
                alpha: true,
                apart: true,
            }),
            quality: Some(75),
            space: Space::DISPLAY_P3,
            ..Info::new("webp", 640, 480, Model::Cmyk)
        });
        for error in [
            Error::UnknownFormat,
            Error::broken("avif", "cut"),
            Error::Limit {
                bound: Bound::PIXELS,
                value: 9,
                limit: 8,
            },
            Error::Internal("plane 3 of 2".to_owned()),
            Error::Interrupted,
        ] {
            same(&error);
        }
        let mut encode = Encode {
            quality: Some(80),
            chroma: Some(Subsampling::NONE),
            ..Encode::default()
        };
        encode
            .options
            .insert("near_lossless".to_owned(), "60".to_owned());
        same(&encode);
    }

    #[test]
    fn a_message_that_lies_about_a_length_allocates_nothing_and_is_an_error() {
        let value = frame(Depth::U8);
        let message = Output::of(&value);
        let blobs = message.blobs.concat();
        for length in 0..message.head.len() {
            let mut stream = blobs.as_slice();
            let mut input = Input::new(&message.head[..length], &mut stream, blobs.len() as u64);
            let read = Frame::take(&mut input).and_then(|it| input.check_end().map(|()| it));
            assert!(read.is_err(), "{length} bytes of the head");
        }
        // Replace every length and size in the message, one after the other, with the largest value.
        for place in 0..message.head.len().saturating_sub(8) {
            let mut head = message.head.clone();
            head[place..place + 8].fill(0xff);
            let mut stream = blobs.as_slice();
            let mut input = Input::new(&head, &mut stream, blobs.len() as u64);
            let _ = Frame::take(&mut input);
        }
    }
}
