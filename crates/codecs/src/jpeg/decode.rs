//! Decodes a file to planes, with the native decoder or, for files that it does not support, with libjpeg-turbo.

use std::borrow::Cow;
use std::ops::Range;

use andon_jpeg::decode::{self as native, Index, Scans};
use andon_jpeg::header::Layout;
use andon_jpeg::{Header, completed, segments};
use andon_pixels::{
    Bound, Decode, Error, Frame, Grid, Image, Limits, Metadata, Model, Plane, Result, Scale, Scales,
};
use andon_recipe::Area;

use super::turbo::ffi;
use super::{error, layout, model, space};
use crate::guard;

/// Decodes an image at the requested scales.
///
/// # Errors
/// `Broken` for files that are cut short or detectably damaged, `Unsupported`, `Limit`, `Interrupted`.
pub(crate) fn decode(bytes: &[u8], header: &Header, how: &Decode<'_>) -> Result<Image> {
    let layout = layout(header)?;
    guard::size(header.width, header.height, how.limits)?;
    guard::check_interrupt(how.interrupt)?;
    let metadata = metadata(bytes, header, how)?;

    let grids = match native_planes(bytes, header, &layout, how)? {
        Some(grids) => grids,
        None => turbo(bytes, header, &layout, how)?,
    };
    let frame = frame((header.width, header.height), &layout, how.scales, grids)?;
    let space = space(bytes, header, model(&layout));
    Ok(Image::read(frame, metadata, space))
}

/// Decodes the available part of an incomplete or damaged image, at the requested scales. libjpeg-turbo fills in gray
/// or an approximation, as it does in browsers.
///
/// # Errors
/// Those of `decode`, and `Broken` if there is no scan at all.
pub(crate) fn salvage(bytes: &[u8], header: &Header, how: &Decode<'_>) -> Result<Image> {
    let layout = layout(header)?;
    guard::size(header.width, header.height, how.limits)?;
    guard::check_interrupt(how.interrupt)?;
    let metadata = metadata(bytes, header, how)?;
    let grids = turbo_as(bytes, header, &layout, how, true)?;
    let frame = frame((header.width, header.height), &layout, how.scales, grids)?;
    let space = space(bytes, header, model(&layout));
    Ok(Image::read(frame, metadata, space))
}

/// Decodes an image at several scales in one pass over the file. Returns `None` if the native decoder does not support
/// the file. Each result is the same as if it had been decoded separately.
///
/// # Errors
/// Those of `decode`.
pub(crate) fn decode_at_once(
    bytes: &[u8],
    header: &Header,
    how: &Decode<'_>,
    scales: &[Scales],
) -> Result<Option<Vec<Image>>> {
    let layout = layout(header)?;
    guard::size(header.width, header.height, how.limits)?;
    guard::check_interrupt(how.interrupt)?;
    let metadata = metadata(bytes, header, how)?;
    let images = native_planes_at(bytes, header, &layout, how, scales, Scans::Needed)?;
    let space = space(bytes, header, model(&layout));
    let images = images.map(|images| {
        let images = scales.iter().zip(images).map(|(&scales, grids)| {
            let frame = frame((header.width, header.height), &layout, scales, grids)?;
            Ok(Image::read(frame, metadata.clone(), space))
        });
        images.collect()
    });
    images.transpose()
}

/// Checks a file by following all of its scans. The image is decoded at 1/8 and discarded.
///
/// # Errors
/// Those of `decode`.
pub(crate) fn check(bytes: &[u8], header: &Header, how: &Decode<'_>) -> Result<()> {
    let layout = layout(header)?;
    guard::size(header.width, header.height, how.limits)?;
    guard::check_interrupt(how.interrupt)?;
    let how = Decode {
        scales: Scales::both(Scale::EIGHTH),
        ..*how
    };
    let scans = Scans::All;
    match native_planes_at(bytes, header, &layout, &how, &[how.scales], scans)? {
        Some(_) => Ok(()),
        None => turbo(bytes, header, &layout, &how).map(drop),
    }
}

fn frame(
    (width, height): (u32, u32),
    layout: &Layout,
    scales: Scales,
    grids: Vec<Grid<u8>>,
) -> Result<Frame> {
    let model = match model(layout) {
        Model::YCbCr { sub, .. } => Model::ycbcr(scales.subsampling(sub)),
        model => model,
    };
    let (width, height) = (scales.luma.of(width), scales.luma.of(height));
    let planes = grids.into_iter().map(Plane::U8).collect();
    Frame::new(model, width, height, planes, None)
}

/// Decodes the planes with the native decoder, or returns `None` if that does not support the file.
fn native_planes(
    bytes: &[u8],
    header: &Header,
    layout: &Layout,
    how: &Decode<'_>,
) -> Result<Option<Vec<Grid<u8>>>> {
    let images = native_planes_at(bytes, header, layout, how, &[how.scales], Scans::Needed)?;
    Ok(images.and_then(|mut images| images.pop()))
}

/// Decodes all planes with the native decoder at each of these scales in one pass, or returns `None` if that does not
/// support the file.
fn native_planes_at(
    bytes: &[u8],
    header: &Header,
    layout: &Layout,
    how: &Decode<'_>,
    scales: &[Scales],
    followed: Scans,
) -> Result<Option<Vec<Vec<Grid<u8>>>>> {
    if !layout.is_decodable(header) {
        return Ok(None);
    }
    let sizes: Vec<_> = scales.iter().map(sizes).collect();
    let interrupted = || how.interrupt.interrupted();
    let request = native::Request {
        followed,
        ..request(header, how, &sizes, &interrupted)
    };
    let Some(components) = unless_unsupported(native::components(bytes, &request))? else {
        return Ok(None);
    };
    let components: Vec<Vec<_>> = (components.into_iter())
        .map(|planes| {
            let component =
                |component: native::Scaled| Ok((component.side, grid(component.plane)?));
            planes.into_iter().map(component).collect::<Result<_>>()
        })
        .collect::<Result<_>>()?;
    let of_sizes = |sizes: &[u8; 2]| {
        let planes = components.iter().enumerate().filter_map(|(index, planes)| {
            let (_, grid) = planes
                .iter()
                .find(|(side, _)| *side == sizes[index.min(1)])?;
            Some(grid.clone())
        });
        planes.collect()
    };
    Ok(Some(sizes.iter().map(of_sizes).collect()))
}

/// Converts a plane of the native decoder to a grid.
fn grid(plane: andon_jpeg::Plane) -> Result<Grid<u8>> {
    Grid::from_samples(plane.width, plane.height, plane.samples)
}

/// Returns the number of samples per block side, for luma and for chroma.
fn sizes(scales: &Scales) -> [u8; 2] {
    [scales.luma.0, scales.chroma.0]
}

fn request<'a>(
    header: &Header,
    how: &Decode<'a>,
    sizes: &'a [[u8; 2]],
    interrupted: &'a dyn Fn() -> bool,
) -> native::Request<'a> {
    native::Request {
        sizes,
        followed: Scans::Needed,
        scans: most_scans(header, how.limits),
        memory: how.limits.memory,
        interrupted,
        cores: how.cores,
    }
}

/// Converts the native decoder's result. Returns `None` if the decoder does not support the file.
fn unless_unsupported<T>(result: andon_jpeg::Result<T>) -> Result<Option<T>> {
    match result {
        Err(andon_jpeg::Error::Unsupported(_)) => Ok(None),
        result => result.map(Some).map_err(error),
    }
}

/// Makes an index of the file. Returns `None` for files that cannot have one, including damaged ones; decoding reports
/// their damage.
///
/// # Errors
/// `Unsupported` for sampling factors that do not divide the largest ones; `Limit`, `Interrupted`.
pub(crate) fn index(bytes: &[u8], header: &Header, how: &Decode<'_>) -> Result<Option<Vec<u8>>> {
    let layout = layout(header)?;
    guard::size(header.width, header.height, how.limits)?;
    guard::check_interrupt(how.interrupt)?;
    if !layout.is_decodable(header) {
        return Ok(None);
    }
    let interrupted = || how.interrupt.interrupted();
    let index = native::index(bytes, &request(header, how, &[], &interrupted));
    match unless_unsupported(index) {
        Err(Error::Broken { .. }) => Ok(None),
        index => index,
    }
}

/// Returns the smallest part that contains `request` and can be decoded with the index. `size` is that of the image in
/// px. Returns `None` if there is no such part, or the index belongs to another file.
pub(crate) fn part(bytes: &[u8], index: &[u8], request: Area, size: (u32, u32)) -> Option<Area> {
    let andon_jpeg::Area { x, y, w, h } = Index::of(index, bytes)?.part(area(request), size)?;
    Some(Area { x, y, w, h })
}

/// Converts an area to the type of the native decoder.
fn area(Area { x, y, w, h }: Area) -> andon_jpeg::Area {
    andon_jpeg::Area { x, y, w, h }
}

/// Decodes a part of the image with its index.
///
/// # Errors
/// Those of `decode`, and `Internal` if the index belongs to another file.
pub(crate) fn decode_part(
    bytes: &[u8],
    header: &Header,
    how: &Decode<'_>,
    index: &[u8],
    part: Area,
) -> Result<Image> {
    let layout = layout(header)?;
    guard::size(header.width, header.height, how.limits)?;
    guard::check_interrupt(how.interrupt)?;
    let metadata = metadata(bytes, header, how)?;
    let foreign = || Error::Internal("a JPEG's index is not its own".to_owned());
    let index = Index::of(index, bytes).ok_or_else(foreign)?;
    let (sizes, interrupted) = ([sizes(&how.scales)], || how.interrupt.interrupted());
    let request = request(header, how, &sizes, &interrupted);
    let planes = native::decode_part(bytes, &index, area(part), &request);
    let planes = unless_unsupported(planes)?.ok_or_else(foreign)?;
    let grids = planes.into_iter().map(grid).collect::<Result<_>>()?;
    let frame = frame((part.w, part.h), &layout, how.scales, grids)?;
    let space = space(bytes, header, model(&layout));
    Ok(Image::read(frame, metadata, space))
}

/// Decodes the planes with libjpeg-turbo, all at the scale of luma. If a smaller scale was requested for chroma, the
/// chroma planes are downsampled afterwards.
fn turbo(
    bytes: &[u8],
    header: &Header,
    layout: &Layout,
    how: &Decode<'_>,
) -> Result<Vec<Grid<u8>>> {
    // libjpeg reads ahead to the end marker, and treats one that comes too early as the end of all scans. With
    // arithmetic coding it continues with zeros after it.
    let completed_file = completed(bytes);
    let needs_end = header.holds_coefficients() || header.arithmetic;
    if needs_end && matches!(completed_file, Cow::Owned(_)) {
        return Err(Error::broken(super::NAME, "it ends early"));
    }
    turbo_as(&completed_file, header, layout, how, false)
}

/// Decodes a file that has an end marker with libjpeg-turbo. If `lenient`, decodes the available part of any file.
fn turbo_as(
    bytes: &[u8],
    header: &Header,
    layout: &Layout,
    how: &Decode<'_>,
    lenient: bool,
) -> Result<Vec<Grid<u8>>> {
    let scale = how.scales.luma;
    if !matches!(scale.0, 1 | 2 | 4 | 8) || !scale.0.is_multiple_of(how.scales.chroma.0) {
        return Err(Error::Internal(format!(
            "a JPEG was asked for at {}/8 and its chroma at {}/8",
            scale.0, how.scales.chroma.0
        )));
    }
    let (width, height) = (scale.of(header.width), scale.of(header.height));
    let model = model(layout);
    let sizes = (0..model.planes()).map(|index| model.plane_size(index, width, height));
    let result: u64 = sizes
        .clone()
        .map(|(w, h)| u64::from(w) * u64::from(h))
        .sum();
    let scratch = scratch_bytes(header);
    guard::at_most(
        Bound::MEMORY,
        result.saturating_add(scratch),
        how.limits.memory,
    )?;

    let mut grids: Vec<Grid<u8>> = sizes.map(|(w, h)| Grid::filled(w, h, 0)).collect();
    let reading = ffi::Reading {
        bytes,
        header,
        colour: layout.colour,
        lenient,
        raw: layout.raw,
        eighths: scale.0,
        scans: most_scans(header, how.limits),
        memory: how.limits.memory - result,
        interrupt: how.interrupt,
    };
    ffi::read(&reading, &mut grids)?;
    // 255 means no ink, with or without Adobe's marker; browsers and Pillow always interpret it like this.
    if model == Model::Cmyk {
        for sample in grids.iter_mut().flat_map(Grid::samples_mut) {
            *sample = 255 - *sample;
        }
    }
    let ratio = u32::from(scale.0 / how.scales.chroma.0);
    if ratio > 1 && matches!(model, Model::YCbCr { .. }) {
        for chroma in &mut grids[1..] {
            *chroma = downsample(chroma, ratio);
        }
    }
    Ok(grids)
}

/// Downsamples a plane by averaging squares of `ratio` × `ratio` samples, which are cut off at the right and bottom
/// edges.
fn downsample(plane: &Grid<u8>, ratio: u32) -> Grid<u8> {
    let (width, height) = (
        plane.width().div_ceil(ratio),
        plane.height().div_ceil(ratio),
    );
    let mut thin = Grid::filled(width, height, 0);
    let mut sums = vec![0u32; width as usize];
    for y in 0..height {
        let rows = y * ratio..((y + 1) * ratio).min(plane.height());
        sums.fill(0);
        for row in rows.clone() {
            let squares = plane.row(row).chunks(ratio as usize);
            for (sum, square) in sums.iter_mut().zip(squares) {
                *sum += square.iter().map(|&sample| u32::from(sample)).sum::<u32>();
            }
        }
        for (x, (sample, sum)) in (0..).zip(thin.row_mut(y).iter_mut().zip(&sums)) {
            let across = ratio.min(plane.width() - x * ratio);
            let count = across * (rows.end - rows.start);
            // The mean of u8 samples fits a u8.
            *sample = ((sum + count / 2) / count) as u8;
        }
    }
    thin
}

/// Returns the maximum number of scans that are decoded. With runs of empty blocks, a scan of a few hundred bytes can
/// cover a hundred megapixels, so the limit falls with the image's size. Usual encoders write about ten scans.
fn most_scans(header: &Header, limits: &Limits) -> u32 {
    let pixels = u64::from(header.width) * u64::from(header.height);
    let affordable = (SCANNED_PIXELS / pixels.max(1)).max(SCANS_IN_ANY_CASE);
    // At most `limits.scans`, a u32.
    affordable.min(limits.scans.into()) as u32
}

/// Maximum number of pixels that all scans cover together: one or two seconds of work.
const SCANNED_PIXELS: u64 = 2_400_000_000;
/// Number of scans that is allowed for every image size: twice as many as any usual encoder writes.
const SCANS_IN_ANY_CASE: u64 = 20;

/// Returns the memory in bytes to reserve in case libjpeg-turbo decodes the file, at any scale: enough for all
/// coefficients if there are multiple scans. Returns 0 if the native decoder supports the file's layout, and there is
/// only one scan or the native decoder is certain to suffice.
pub(crate) fn turbo_bytes(bytes: &[u8], header: &Header, layout: &Layout) -> u64 {
    if !layout.is_decodable(header) {
        return scratch_bytes(header);
    }
    let coefficients = header.coefficient_bytes();
    // Missing or repeated scans can be found only by walking through the file after the header. That takes a tenth of
    // the decoding time of a small image, and is skipped if the coefficients are small anyway.
    let in_one = !header.holds_coefficients();
    let excluded = header.progressive && coefficients > WORTH_A_WALK && native::is_whole(bytes);
    if in_one || excluded {
        0
    } else {
        // The native decoder may decode the file after all. It stores 8 bytes more for each block.
        coefficients + coefficients / 16
    }
}

/// Bytes of coefficients above which [`turbo_bytes`] checks the whole file for missing or repeated scans, because the
/// memory that this may save is worth the time. It is the size for 22 megapixels with subsampled chroma.
const WORTH_A_WALK: u64 = 64 << 20;

/// Returns the memory in bytes that libjpeg-turbo allocates in addition to the planes.
pub(crate) fn scratch_bytes(header: &Header) -> u64 {
    if header.holds_coefficients() {
        header.coefficient_bytes()
    } else {
        BASE_BYTES
    }
}

/// Bytes of tables, one row of MCUs and libjpeg's memory pools: measured, and rounded up generously.
const BASE_BYTES: u64 = 1 << 20;

fn metadata(bytes: &[u8], header: &Header, how: &Decode<'_>) -> Result<Metadata> {
    if !how.keep_metadata {
        return Ok(Metadata::default());
    }
    let icc: usize = header.icc.iter().map(|chunk| chunk.2.len()).sum();
    let resources: usize = header.resources.iter().map(Range::len).sum();
    for length in [icc, resources] {
        guard::metadata(length, how.limits.metadata_bytes)?;
    }
    let at = |range: &Range<usize>| bytes.get(range.clone()).unwrap_or_default();
    let resources: Vec<u8> = header.resources.iter().flat_map(at).copied().collect();
    let block = |range: &Option<Range<usize>>| range.as_ref().map(|range| at(range).to_vec());
    Ok(Metadata {
        icc: header.icc_profile(bytes).map(Into::into),
        exif: block(&header.exif),
        iptc: segments::iptc(&resources).map(<[u8]>::to_vec),
        xmp: block(&header.xmp),
    })
}

#[cfg(any(test, feature = "compare"))]
pub(crate) mod compare;
#[cfg(test)]
mod damage;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use andon_pixels::{Alone, Never};

    use super::*;

    /// Returns the path, bytes, header and layout of every sample JPEG that the native decoder supports.
    pub(super) fn samples() -> Vec<(String, Vec<u8>, Header, Layout)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/jpeg");
        let files = std::fs::read_dir(folder).expect("the samples folder");
        let mut samples = Vec::new();
        for path in files.map(|entry| entry.expect("an entry").path()) {
            if path.extension().is_none_or(|extension| extension != "jpg") {
                continue;
            }
            let bytes = std::fs::read(&path).expect("a sample");
            let header = Header::read(&bytes).expect("a header");
            let layout = Layout::of(&header).expect("a layout");
            if layout.is_decodable(&header) {
                samples.push((path.display().to_string(), bytes, header, layout));
            }
        }
        assert!(samples.len() > 15, "only {} samples", samples.len());
        samples
    }

    pub(super) fn how(luma: Scale, chroma: Scale, limits: &Limits) -> Decode<'_> {
        Decode {
            scales: Scales { luma, chroma },
            limits,
            interrupt: &Never,
            cores: &Alone,
            keep_metadata: false,
        }
    }

    #[test]
    fn large_images_may_have_fewer_scans() {
        let limits = Limits::default();
        let most = |width, height| {
            let mut header = Header::default();
            (header.width, header.height) = (width, height);
            most_scans(&header, &limits)
        };
        assert_eq!(most(4000, 3000), limits.scans);
        assert_eq!(most(10_000, 6_000), 40);
        assert_eq!(most(65_500, 65_500), 20);
    }

    #[test]
    fn at_an_eighth_and_in_full_our_planes_are_libjpegs_bit_for_bit() {
        let limits = Limits::default();
        for scale in [Scale::EIGHTH, Scale::FULL] {
            for (name, bytes, header, layout) in samples() {
                let how = how(scale, scale, &limits);
                let ours = native_planes(&bytes, &header, &layout, &how).expect("decodes");
                let theirs = turbo(&bytes, &header, &layout, &how).expect("decodes");
                assert!(ours.expect("ours to decode") == theirs, "{name}");
            }
        }
    }

    #[test]
    fn at_a_quarter_and_a_half_our_planes_are_near_libjpegs() {
        let limits = Limits::default();
        for scale in [Scale::QUARTER, Scale::HALF] {
            for (name, bytes, header, layout) in samples() {
                let how = how(scale, scale, &limits);
                let ours = native_planes(&bytes, &header, &layout, &how)
                    .expect("decodes")
                    .expect("ours");
                let theirs = turbo(&bytes, &header, &layout, &how).expect("decodes");
                for (index, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
                    assert_eq!(
                        (ours.width(), ours.height()),
                        (theirs.width(), theirs.height())
                    );
                    let pairs = ours.samples().iter().zip(theirs.samples());
                    let sum: u64 = pairs.map(|(&a, &b)| u64::from(a.abs_diff(b))).sum();
                    let mean = sum as f64 / ours.samples().len() as f64;
                    // The native decoder's planes are sharper than averages of the full-size samples.
                    assert!(
                        mean < 6.0,
                        "{name} at {}/8: plane {index} is {mean} off",
                        scale.0
                    );
                }
            }
        }
    }

    #[test]
    fn scans_with_restart_intervals_that_end_within_rows_are_libjpegs_bit_for_bit() {
        let limits = Limits::default();
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jpeg");
        for name in ["progressive-restart.jpg", "restart-5.jpg", "restart-29.jpg"] {
            let bytes = std::fs::read(fixtures.join(name)).expect("a fixture");
            let header = Header::read(&bytes).expect("a header");
            let layout = Layout::of(&header).expect("a layout");
            for scale in [Scale::EIGHTH, Scale::FULL] {
                let how = how(scale, scale, &limits);
                let ours = native_planes(&bytes, &header, &layout, &how).expect("decodes");
                let theirs = turbo(&bytes, &header, &layout, &how).expect("decodes");
                assert!(ours == Some(theirs), "{name} at {scale:?}");
            }
        }
    }

    #[test]
    fn libjpeg_thins_chroma_to_the_sizes_that_were_asked_for() {
        let limits = Limits::default();
        for (name, bytes, header, layout) in samples() {
            let how = how(Scale::FULL, Scale::HALF, &limits);
            let Model::YCbCr { sub, .. } = model(&layout) else {
                continue;
            };
            if sub.h > 2 || sub.v > 2 {
                continue;
            }
            let planes = turbo(&bytes, &header, &layout, &how).expect("decodes");
            let model = Model::ycbcr(how.scales.subsampling(sub));
            for (index, plane) in planes.iter().enumerate() {
                let size = model.plane_size(index, header.width, header.height);
                assert_eq!((plane.width(), plane.height()), size, "{name}");
            }
        }
    }
}
