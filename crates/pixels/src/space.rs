//! Colour spaces, which define the colours that sample values stand for: the code points of ITU-T H.273, and ICC
//! profiles.
//!
//! Matrix and range apply to luma and chroma only and are part of [`Model::YCbCr`](crate::Model::YCbCr). Primaries and
//! transfer apply to any image and are part of [`Space`].

use std::fmt;
use std::sync::Arc;

/// Defines an enum whose variants are code points of H.273.
macro_rules! code_points {
    ($(#[$doc:meta])* $name:ident { $($(#[$help:meta])* $variant:ident = $code:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name {
            /// Unknown, or left to the reader, as in an image without any tag.
            #[default]
            Unspecified = 2,
            $($(#[$help])* $variant = $code,)*
        }

        impl $name {
            /// All variants.
            pub const ALL: &[Self] = &[Self::Unspecified, $(Self::$variant),*];

            /// Returns the variant with this code point; `Unspecified` for reserved and unknown ones.
            #[must_use]
            pub fn from_code(code: u8) -> Self {
                match code {
                    $($code => Self::$variant,)*
                    _ => Self::Unspecified,
                }
            }

            /// Returns the code point in H.273.
            #[must_use]
            pub fn code(self) -> u8 {
                self as u8
            }
        }
    };
}

code_points! {
    /// The chromaticities of red, green, blue and white (`ColourPrimaries` of H.273).
    Primaries {
        /// BT.709 and sRGB.
        Bt709 = 1,
        /// BT.470 System M.
        Bt470M = 4,
        /// BT.601 with 625 lines.
        Bt470Bg = 5,
        /// BT.601 with 525 lines.
        Bt601 = 6,
        /// SMPTE 240M.
        Smpte240 = 7,
        /// Generic film.
        Film = 8,
        /// BT.2020 and BT.2100.
        Bt2020 = 9,
        /// CIE XYZ.
        Xyz = 10,
        /// SMPTE RP 431: cinemas.
        DciP3 = 11,
        /// SMPTE EG 432: Display P3.
        DisplayP3 = 12,
        /// EBU Tech. 3213.
        Ebu3213 = 22,
    }
}

code_points! {
    /// The function from light to code values (`TransferCharacteristics` of H.273).
    Transfer {
        /// BT.709.
        Bt709 = 1,
        /// A power function with a gamma of 2.2.
        Gamma22 = 4,
        /// A power function with a gamma of 2.8.
        Gamma28 = 5,
        /// BT.601.
        Bt601 = 6,
        /// SMPTE 240M.
        Smpte240 = 7,
        /// Linear.
        Linear = 8,
        /// Logarithmic, with a range of 100 : 1.
        Log100 = 9,
        /// Logarithmic, with a range of 100 √10 : 1.
        Log100Sqrt10 = 10,
        /// IEC 61966-2-4.
        Iec61966 = 11,
        /// BT.1361.
        Bt1361 = 12,
        /// IEC 61966-2-1: sRGB.
        Srgb = 13,
        /// BT.2020 with 10 bits.
        Bt2020Ten = 14,
        /// BT.2020 with 12 bits.
        Bt2020Twelve = 15,
        /// SMPTE ST 2084: PQ.
        Pq = 16,
        /// SMPTE ST 428.
        Smpte428 = 17,
        /// Hybrid log-gamma.
        Hlg = 18,
    }
}

impl Transfer {
    /// Returns the transfer function that browsers apply to a file of the HEIF family. They treat the curve of video
    /// cameras (BT.709, which BT.601 and BT.2020 share) as sRGB's, so that code values stay as they are.
    #[must_use]
    pub fn shown(self) -> Self {
        match self {
            Self::Bt709 | Self::Bt601 | Self::Bt2020Ten | Self::Bt2020Twelve => Self::Srgb,
            other => other,
        }
    }
}

/// The matrix that computes luma and chroma from red, green and blue (`MatrixCoefficients` of H.273). Only the matrices
/// that frames can hold are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Matrix {
    /// No matrix: the planes are green, blue and red.
    Identity,
    /// BT.601: JPEG, WebP, and images that specify nothing.
    #[default]
    Bt601,
    /// BT.709.
    Bt709,
    /// BT.2020 with non-constant luminance.
    Bt2020,
}

impl Matrix {
    /// All matrices.
    pub const ALL: [Self; 4] = [Self::Identity, Self::Bt601, Self::Bt709, Self::Bt2020];

    /// Returns the matrix with this code point; unspecified means BT.601, as in JPEG. `None` for matrices that frames
    /// cannot hold.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Identity),
            1 => Some(Self::Bt709),
            2 | 5 | 6 => Some(Self::Bt601),
            // Browsers do not distinguish constant luminance (10) from non-constant luminance (9).
            9 | 10 => Some(Self::Bt2020),
            _ => None,
        }
    }

    /// Returns the matrix's code point in H.273.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Identity => 0,
            Self::Bt709 => 1,
            Self::Bt601 => 6,
            Self::Bt2020 => 9,
        }
    }
}

/// The range of the values of Y, Cb and Cr (8-bit; wider samples scale by 257).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Range {
    /// 0–255 throughout: JPEG.
    Full,
    /// Y 16–235, chroma 16–240: WebP and video.
    Limited,
}

impl Range {
    /// Both ranges.
    pub const ALL: [Self; 2] = [Self::Full, Self::Limited];
}

/// The colour space of an image, as far as its header declares it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Space {
    /// The primaries. With an ICC profile: those that it amounts to or at least stays within, if known.
    pub primaries: Primaries,
    /// The transfer function. With an ICC profile: the one that it amounts to, if known.
    pub transfer: Transfer,
    /// Whether an ICC profile defines the colours.
    pub profiled: bool,
}

impl Space {
    /// No information, which is taken as sRGB.
    pub const UNSPECIFIED: Self = Self {
        primaries: Primaries::Unspecified,
        transfer: Transfer::Unspecified,
        profiled: false,
    };

    /// sRGB.
    pub const SRGB: Self = Self {
        primaries: Primaries::Bt709,
        transfer: Transfer::Srgb,
        profiled: false,
    };

    /// Display P3.
    pub const DISPLAY_P3: Self = Self {
        primaries: Primaries::DisplayP3,
        transfer: Transfer::Srgb,
        profiled: false,
    };

    /// A space defined by an ICC profile that was not recognised.
    pub const PROFILED: Self = Self {
        profiled: true,
        ..Self::UNSPECIFIED
    };

    /// Whether the space is sRGB, either declared or by default.
    #[must_use]
    pub fn is_srgb(self) -> bool {
        !self.profiled
            && matches!(self.primaries, Primaries::Unspecified | Primaries::Bt709)
            && matches!(self.transfer, Transfer::Unspecified | Transfer::Srgb)
    }

    /// Whether equal sample values stand for equal colours in both spaces, as far as is known.
    #[must_use]
    pub fn is_as(self, other: Self) -> bool {
        // A profile that was not recognised only equals other unrecognised profiles.
        let comparable = |space: Self| Self {
            profiled: space.profiled && space.transfer == Transfer::Unspecified,
            ..space
        };
        let (one, other) = (comparable(self), comparable(other));
        one == other || (one.is_srgb() && other.is_srgb())
    }

    /// Whether the space may hold colours that sRGB does not.
    #[must_use]
    pub fn is_wide(self) -> bool {
        match self.primaries {
            Primaries::Unspecified => self.profiled,
            Primaries::Bt709 | Primaries::Bt601 | Primaries::Smpte240 | Primaries::Ebu3213 => {
                self.is_hdr()
            }
            _ => true,
        }
    }

    /// Returns the linear-light space with the same primaries. `None` for a profile that was not recognised, and for
    /// spaces with light brighter than white (HDR).
    #[must_use]
    pub fn light(self) -> Option<Self> {
        let unknown = self.profiled && self.transfer == Transfer::Unspecified;
        (!unknown && !self.is_hdr()).then_some(Self {
            primaries: match self.primaries {
                Primaries::Unspecified => Primaries::Bt709,
                primaries => primaries,
            },
            transfer: Transfer::Linear,
            profiled: false,
        })
    }

    /// Whether the space holds light brighter than white.
    #[must_use]
    pub fn is_hdr(self) -> bool {
        !self.profiled && matches!(self.transfer, Transfer::Pq | Transfer::Hlg)
    }
}

/// Prints the space as in plans: `srgb`, `p3`, `icc`, or the code points, such as `cicp9/16`.
impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_srgb() {
            f.write_str("srgb")
        } else if self.profiled {
            f.write_str("icc")
        } else if *self == Self::DISPLAY_P3 {
            f.write_str("p3")
        } else {
            write!(f, "cicp{}/{}", self.primaries.code(), self.transfer.code())
        }
    }
}

/// An ICC profile, shared by all frames that carry it.
pub type Icc = Arc<[u8]>;

/// The colour space of a frame, with its ICC profile if there is one and it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Colour {
    /// Primaries, transfer, and whether the file has a profile.
    pub space: Space,
    /// The file's ICC profile. `None` in a profiled space if the profile was not requested or cannot be read.
    pub icc: Option<Icc>,
}

impl Colour {
    /// Returns a colour space that is defined by this ICC profile.
    #[must_use]
    pub fn profiled(icc: impl Into<Icc>) -> Self {
        Self {
            space: Space::PROFILED,
            icc: Some(icc.into()),
        }
    }
}

impl From<Space> for Colour {
    fn from(space: Space) -> Self {
        Self { space, icc: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_come_back_and_unknown_ones_are_unspecified() {
        for &primaries in Primaries::ALL {
            assert_eq!(Primaries::from_code(primaries.code()), primaries);
        }
        for &transfer in Transfer::ALL {
            assert_eq!(Transfer::from_code(transfer.code()), transfer);
        }
        for matrix in Matrix::ALL {
            assert_eq!(Matrix::from_code(matrix.code()), Some(matrix));
        }
        assert_eq!(Primaries::from_code(0), Primaries::Unspecified);
        assert_eq!(Transfer::from_code(200), Transfer::Unspecified);
        assert_eq!(Matrix::from_code(8), None, "YCgCo is none that frames hold");
    }

    #[test]
    fn spaces_have_short_names() {
        let pq = Space {
            primaries: Primaries::Bt2020,
            transfer: Transfer::Pq,
            profiled: false,
        };
        let names = [
            Space::UNSPECIFIED,
            Space::SRGB,
            Space::DISPLAY_P3,
            Space::PROFILED,
            pq,
        ];
        assert_eq!(
            names.map(|space| space.to_string()),
            ["srgb", "srgb", "p3", "icc", "cicp9/16"]
        );
    }
}
