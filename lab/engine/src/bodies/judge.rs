//! Compares each variant's replies with the baseline's, as the variant's `expect` demands.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{DecodedImage, size, ssim};
use crate::analysis::{Counted, WorkJudgement};
use crate::record::{Decoded, Findings, Header, Likeness, Reply, Run, SavedBodies};
use crate::scenario::{BodyCheck, Expect, SizeCheck};

/// The result of decoding and comparing replies.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// One judgement per variant and URL. The baseline's own replies are judged too (broken images, wrong sizes).
    pub work: Vec<WorkJudgement>,
    /// The most frequent reply of each variant and URL, for response previews: index of the variant, index of the URL,
    /// reply.
    pub typical: Vec<(u32, u32, Reply)>,
    /// The findings about all bodies that had to be examined.
    pub findings: Findings,
    /// Hashes of bodies that should have been examined, but are neither saved nor known from earlier findings.
    pub missing: BTreeSet<String>,
}

/// Judges all replies of a run by their saved bodies or, if those are gone, by earlier findings about them. Bodies that
/// are neither saved nor known are compared by hash alone.
///
/// The reference for each URL is the baseline's most frequent reply. The baseline's other replies are compared with it,
/// too.
#[must_use]
pub fn judge(run: &Run, saved_bodies: &SavedBodies) -> Judged {
    let replies = replies(run);
    let mut decoded = DecodedBodies {
        saved_bodies,
        images: VecDeque::new(),
        findings: Findings::default(),
        missing: BTreeSet::new(),
    };
    if run.header.scenario.check.body == BodyCheck::Decode {
        let images = replies.values().flatten().map(|(reply, _)| reply);
        let images = images.filter(|reply| is_image(reply));
        let hashes: BTreeSet<&str> = images.map(|reply| reply.hash.as_str()).collect();
        decoded.decode_all(&hashes.into_iter().collect::<Vec<_>>());
    }
    let mut judgement = Judged::default();
    for ((variant, url), own_replies) in &replies {
        let name = url_name(run, *variant, *url);
        let reference = replies.get(&(0, *url));
        let mut side =
            |counts: &[ReplyCount]| Side::of(&mut decoded, run, *variant, &name, reference, counts);
        let (own_side, baseline) = match (*variant, reference) {
            (0, _) | (_, None) => (side(own_replies), Side::default()),
            (_, Some(baseline)) => (side(own_replies), side(baseline)),
        };
        judgement.work.push(WorkJudgement {
            variant: *variant,
            url: name,
            same: own_side.counted.wrong + baseline.counted.wrong == 0,
            detail: describe(&own_side, &baseline),
            replies: own_side.counted,
            baseline: baseline.counted,
        });
        judgement
            .typical
            .push((*variant, *url, own_replies[0].0.clone()));
    }
    (judgement.findings, judgement.missing) = (decoded.findings, decoded.missing);
    judgement
}

/// A distinct reply and how often it came.
type ReplyCount = (Reply, u64);

/// Returns the distinct replies of each variant and URL over all blocks that count, the most frequent first.
fn replies(run: &Run) -> BTreeMap<(u32, u32), Vec<ReplyCount>> {
    let mut counts: BTreeMap<(u32, u32), BTreeMap<&Reply, u64>> = BTreeMap::new();
    for block in run.blocks.iter().filter(|block| block.counts()) {
        for body in &block.load.bodies {
            let of_url = counts.entry((block.variant, body.url)).or_default();
            *of_url.entry(&body.reply).or_default() += body.count;
        }
    }
    let sorted = |replies: BTreeMap<&Reply, u64>| {
        let replies = replies.into_iter();
        let mut replies: Vec<ReplyCount> = replies
            .map(|(reply, count)| (reply.clone(), count))
            .collect();
        replies.sort_by(|(a, many), (b, more)| (more, b).cmp(&(many, a)));
        replies
    };
    let counts = counts.into_iter();
    counts
        .map(|(key, replies)| (key, sorted(replies)))
        .collect()
}

/// Summary of the judged replies of one side of a comparison: the variant's or the baseline's.
#[derive(Default)]
struct Side {
    counted: Counted,
    distinct: usize,
    /// The details of the comparison for the most frequent correct reply.
    right: Option<String>,
    /// What is wrong with the most frequent wrong reply.
    wrong: Option<String>,
}

impl Side {
    fn of(
        decoded: &mut DecodedBodies<'_>,
        run: &Run,
        variant: u32,
        url: &str,
        reference: Option<&Vec<ReplyCount>>,
        counts: &[ReplyCount],
    ) -> Self {
        let expect = run.header.variants[variant as usize].expect;
        let mut side = Self {
            distinct: counts.len(),
            ..Self::default()
        };
        for (reply, count) in counts {
            side.counted.all += count;
            let verdict = match (decoded.problem(&run.header, reply, url), reference) {
                (Some(problem), _) => Err(problem),
                (None, None) => Err("the baseline has no reply for this URL".to_owned()),
                (None, Some(all)) if variant == 0 && all[0].0 == *reply => {
                    Ok(format!("{} B {}", reply.length, reply.media_type))
                }
                (None, Some(_)) if is_image(reply) != is_image(&counts[0].0) => Err(format!(
                    "{} B {}, where others are {}",
                    reply.length, reply.media_type, counts[0].0.media_type
                )),
                (None, Some(all)) => decoded.pair(&all[0].0, reply, expect),
            };
            match verdict {
                Ok(figures) => _ = side.right.get_or_insert(figures),
                Err(problem) => {
                    side.counted.wrong += count;
                    side.wrong.get_or_insert(problem);
                }
            }
        }
        side
    }
}

fn is_image(reply: &Reply) -> bool {
    reply.media_type.starts_with("image/")
}

/// Describes what is wrong on either side, and with what share of its replies. If nothing is wrong, returns the details
/// of the comparison.
fn describe(variant: &Side, baseline: &Side) -> String {
    let share = |side: &Side, whose: &str| {
        let problem = side.wrong.as_ref()?;
        let Counted { all, wrong } = side.counted;
        Some(match wrong == all {
            true => problem.clone(),
            false => format!("{wrong} of {all} replies{whose}: {problem}"),
        })
    };
    let problems = share(variant, "").into_iter();
    let problems = problems.chain(share(baseline, " of the baseline"));
    let problems: Vec<String> = problems.collect();
    match (&*problems, variant.distinct) {
        ([], 1) => variant.right.clone().unwrap_or_default(),
        ([], distinct) => {
            let figures = variant.right.as_deref().unwrap_or_default();
            format!("{figures} ({distinct} distinct replies)")
        }
        (problems, _) => problems.join("; "),
    }
}

fn url_name(run: &Run, variant: u32, url: u32) -> String {
    let block = run.blocks.iter().find(|block| block.variant == variant);
    let url = block.and_then(|block| block.load.urls.get(url as usize));
    url.map_or_else(String::new, |url| url.url.clone())
}

/// Findings about bodies, and the most recently decoded images.
///
/// A run may have tens of thousands of distinct bodies. Findings are small, so all of them are kept; pixels are kept
/// for a few images only.
struct DecodedBodies<'a> {
    saved_bodies: &'a SavedBodies,
    /// The images that were compared most recently, with the hashes of their bodies.
    images: VecDeque<(String, DecodedImage)>,
    findings: Findings,
    missing: BTreeSet<String>,
}

impl DecodedBodies<'_> {
    /// Returns what is wrong with a reply by itself, if anything: a broken image or a wrong size.
    fn problem(&mut self, header: &Header, reply: &Reply, url: &str) -> Option<String> {
        let check = &header.scenario.check;
        if check.body != BodyCheck::Decode || !is_image(reply) {
            return None;
        }
        let size = match self.decoded(&reply.hash)? {
            Decoded::Image { width, height } => (width, height),
            Decoded::Broken(why) => {
                return Some(format!("{} B {}: {why}", reply.length, reply.media_type));
            }
        };
        let wrong = match check.size {
            SizeCheck::Any => None,
            SizeCheck::Url => {
                let (width, height) = size::requested_size(url);
                let over = width.is_some_and(|w| size.0 > w) || height.is_some_and(|h| size.1 > h);
                over.then(|| "larger than the URL asks for".to_owned())
            }
            SizeCheck::Exactly(w, h) => {
                let differs = (w != 0 && w != size.0) || (h != 0 && h != size.1);
                differs.then(|| format!("not {w}x{h}"))
            }
        };
        wrong.map(|than| format!("the image is {}x{}, {than}", size.0, size.1))
    }

    /// Compares a variant's reply with the baseline's. Returns the details of the comparison as a text; `Err` if the
    /// replies differ or cannot be compared.
    fn pair(&mut self, baseline: &Reply, reply: &Reply, expect: Expect) -> Result<String, String> {
        let lengths = format!("{} B and {} B", baseline.length, reply.length);
        if baseline.status != reply.status {
            return Err(format!("status {} and {}", baseline.status, reply.status));
        }
        if expect == Expect::Any {
            return Ok(format!("{lengths}, not compared"));
        }
        if !reply.hash.is_empty() && baseline.hash == reply.hash {
            return Ok(format!("same bytes, {} B", reply.length));
        }
        if expect == Expect::SameBytes {
            return Err(format!("{lengths}, other bytes"));
        }
        let Some(likeness) = self.likeness(&baseline.hash, &reply.hash) else {
            return Err(format!(
                "{lengths}, not kept, so that they cannot be compared"
            ));
        };
        let likeness = match likeness {
            Likeness::SamePixels => return Ok(format!("same pixels, {lengths}")),
            Likeness::Ssim(likeness) => likeness,
            Likeness::OtherSize => {
                let sizes = [baseline, reply].map(|reply| self.size(&reply.hash));
                return Err(format!("{} px, {lengths}", sizes.join(" and ")));
            }
            Likeness::NoImages => {
                return Err(format!(
                    "{lengths}, other bytes, and no images that could be compared"
                ));
            }
        };
        let figures = format!("{lengths}, SSIM {likeness:.4}");
        match expect {
            Expect::Ssim(least) if likeness >= least => Ok(figures),
            Expect::Ssim(least) => Err(format!("{figures} < {least}")),
            Expect::SamePixels | Expect::SameBytes | Expect::Any => {
                Err(format!("{figures}, other pixels"))
            }
        }
    }

    fn size(&mut self, hash: &str) -> String {
        match self.decoded(hash) {
            Some(Decoded::Image { width, height }) => format!("{width}x{height}"),
            Some(Decoded::Broken(_)) | None => "another size".to_owned(),
        }
    }

    /// Returns the result of decoding this body, now or earlier; `None` if the body is not saved and there is no
    /// finding about it.
    fn decoded(&mut self, hash: &str) -> Option<Decoded> {
        if let Some(decoded) = self.findings.decoded(hash) {
            return Some(decoded.clone());
        }
        let earlier_finding = || self.saved_bodies.findings.as_ref()?.decoded(hash).cloned();
        let body = self.saved_bodies.bodies.get(hash);
        let decoded = body.map(|body| decode(body)).or_else(earlier_finding);
        match &decoded {
            Some(decoded) => self.findings.note_decoded(hash, decoded.clone()),
            None => _ = self.missing.insert(hash.to_owned()),
        }
        decoded
    }

    /// Returns how alike two bodies of different bytes are; `None` if that cannot be told.
    fn likeness(&mut self, one: &str, other: &str) -> Option<Likeness> {
        if let Some(likeness) = self.findings.likeness(one, other) {
            return Some(likeness);
        }
        let pair = (self.decoded(one), self.decoded(other));
        let likeness = match pair {
            (Some(Decoded::Broken(_)), _) | (_, Some(Decoded::Broken(_))) => {
                Some(Likeness::NoImages)
            }
            _ => self.compare(one, other).or_else(|| {
                let earlier_finding = self.saved_bodies.findings.as_ref();
                earlier_finding.and_then(|earlier_finding| earlier_finding.likeness(one, other))
            }),
        };
        match likeness {
            Some(likeness) => self.findings.note_likeness(one, other, likeness),
            None => self.missing.extend([one.to_owned(), other.to_owned()]),
        }
        likeness
    }

    /// Compares the images in two bodies; `None` if one of the bodies is not saved.
    fn compare(&mut self, one: &str, other: &str) -> Option<Likeness> {
        for hash in [one, other] {
            self.cache_image(hash);
        }
        let image = |hash: &str| {
            let mut images = self.images.iter();
            images.find_map(|(key, image)| (key == hash).then_some(image))
        };
        Some(likeness_of(image(one)?, image(other)?))
    }

    /// Decodes the image in a body, unless its pixels are still cached. The image used least recently is dropped from
    /// the cache.
    fn cache_image(&mut self, hash: &str) {
        let at = self.images.iter().position(|(key, _)| key == hash);
        let image = match at.and_then(|at| self.images.remove(at)) {
            Some((_, image)) => Some(image),
            None => {
                let body = self.saved_bodies.bodies.get(hash);
                body.and_then(|body| DecodedImage::decode(body).ok())
            }
        };
        if let Some(image) = image {
            self.images.truncate(CACHED_IMAGES - 1);
            self.images.push_front((hash.to_owned(), image));
        }
    }

    /// Decodes the saved bodies with these hashes on all cores, and records the findings.
    fn decode_all(&mut self, hashes: &[&str]) {
        let next = AtomicUsize::new(0);
        let bodies = &self.saved_bodies.bodies;
        let work = || {
            let mut results = Vec::new();
            while let Some(&hash) = hashes.get(next.fetch_add(1, Ordering::Relaxed)) {
                results.extend(bodies.get(hash).map(|body| (hash, decode(body))));
            }
            results
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..cores.min(hashes.len()))
                .map(|_| scope.spawn(work))
                .collect();
            for thread in threads {
                let results = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
                for (hash, decoded) in results {
                    self.findings.note_decoded(hash, decoded);
                }
            }
        });
    }
}

/// Number of images whose pixels are cached between comparisons: the baseline's reply to a URL, and a few of the
/// replies compared with it.
const CACHED_IMAGES: usize = 4;

/// Returns the result of decoding a body.
fn decode(body: &[u8]) -> Decoded {
    match DecodedImage::decode(body) {
        Ok(image) => Decoded::Image {
            width: image.width,
            height: image.height,
        },
        Err(why) => Decoded::Broken(why),
    }
}

fn likeness_of(first: &DecodedImage, second: &DecodedImage) -> Likeness {
    if first.rgb == second.rgb && first.width == second.width {
        return Likeness::SamePixels;
    }
    ssim(first, second).map_or(Likeness::OtherSize, Likeness::Ssim)
}
