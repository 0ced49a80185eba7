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
    /// What was found about the bodies that had to be looked at.
    pub findings: Findings,
    /// Hashes of bodies that should have been looked at, but are neither saved nor known from earlier findings.
    pub missing: BTreeSet<String>,
}

/// Judges all replies of a run by their saved bodies or, if those are gone, by earlier findings about them. Bodies that
/// are neither saved nor known are compared by hash alone.
///
/// The reference for each URL is the baseline's most frequent reply. The baseline's other replies are compared with it,
/// too.
#[must_use]
pub fn judge(run: &Run, kept: &SavedBodies) -> Judged {
    let replies = replies(run);
    let mut looked = DecodedBodies {
        kept,
        pictures: VecDeque::new(),
        findings: Findings::default(),
        missing: BTreeSet::new(),
    };
    if run.header.scenario.check.body == BodyCheck::Decode {
        let images = replies.values().flatten().map(|(reply, _)| reply);
        let images = images.filter(|reply| is_image(reply));
        let hashes: BTreeSet<&str> = images.map(|reply| reply.hash.as_str()).collect();
        looked.decode_all(&hashes.into_iter().collect::<Vec<_>>());
    }
    let mut judged = Judged::default();
    for ((variant, url), own) in &replies {
        let name = url_name(run, *variant, *url);
        let reference = replies.get(&(0, *url));
        let mut side = |seen: &[Seen]| Side::of(&mut looked, run, *variant, &name, reference, seen);
        let (own_side, baseline) = match (*variant, reference) {
            (0, _) | (_, None) => (side(own), Side::default()),
            (_, Some(baseline)) => (side(own), side(baseline)),
        };
        judged.work.push(WorkJudgement {
            variant: *variant,
            url: name,
            same: own_side.counted.wrong + baseline.counted.wrong == 0,
            detail: told(&own_side, &baseline),
            replies: own_side.counted,
            baseline: baseline.counted,
        });
        judged.typical.push((*variant, *url, own[0].0.clone()));
    }
    (judged.findings, judged.missing) = (looked.findings, looked.missing);
    judged
}

/// A distinct reply and how often it came.
type Seen = (Reply, u64);

/// Returns the distinct replies of each variant and URL over all blocks that count, the most frequent first.
fn replies(run: &Run) -> BTreeMap<(u32, u32), Vec<Seen>> {
    let mut counts: BTreeMap<(u32, u32), BTreeMap<&Reply, u64>> = BTreeMap::new();
    for block in run.blocks.iter().filter(|block| block.counts()) {
        for seen in &block.load.bodies {
            let of_url = counts.entry((block.variant, seen.url)).or_default();
            *of_url.entry(&seen.reply).or_default() += seen.count;
        }
    }
    let sorted = |replies: BTreeMap<&Reply, u64>| {
        let replies = replies.into_iter();
        let mut replies: Vec<Seen> = replies
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

/// Judged replies of one side of a comparison: the variant's or the baseline's.
#[derive(Default)]
struct Side {
    counted: Counted,
    distinct: usize,
    /// The figures of the most frequent correct reply.
    right: Option<String>,
    /// What is wrong with the most frequent wrong reply.
    wrong: Option<String>,
}

impl Side {
    fn of(
        looked: &mut DecodedBodies<'_>,
        run: &Run,
        variant: u32,
        url: &str,
        reference: Option<&Vec<Seen>>,
        seen: &[Seen],
    ) -> Self {
        let expect = run.header.variants[variant as usize].expect;
        let mut side = Self {
            distinct: seen.len(),
            ..Self::default()
        };
        for (reply, count) in seen {
            side.counted.all += count;
            let verdict = match (looked.alone(&run.header, reply, url), reference) {
                (Some(problem), _) => Err(problem),
                (None, None) => Err("the baseline has no reply for this URL".to_owned()),
                (None, Some(all)) if variant == 0 && all[0].0 == *reply => {
                    Ok(format!("{} B {}", reply.length, reply.media_type))
                }
                (None, Some(_)) if is_image(reply) != is_image(&seen[0].0) => Err(format!(
                    "{} B {}, where others are {}",
                    reply.length, reply.media_type, seen[0].0.media_type
                )),
                (None, Some(all)) => looked.pair(&all[0].0, reply, expect),
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

/// Describes what is wrong on either side and with what share of its replies, or else the figures.
fn told(own: &Side, baseline: &Side) -> String {
    let share = |side: &Side, whose: &str| {
        let problem = side.wrong.as_ref()?;
        let Counted { all, wrong } = side.counted;
        Some(match wrong == all {
            true => problem.clone(),
            false => format!("{wrong} of {all} replies{whose}: {problem}"),
        })
    };
    let problems = share(own, "").into_iter();
    let problems = problems.chain(share(baseline, " of the baseline"));
    let problems: Vec<String> = problems.collect();
    match (&*problems, own.distinct) {
        ([], 1) => own.right.clone().unwrap_or_default(),
        ([], distinct) => {
            let figures = own.right.as_deref().unwrap_or_default();
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

/// What was found about bodies by decoding them, and the last few of the images.
///
/// A run may have tens of thousands of distinct bodies: what is found out about one is small and stays, its pixels do not.
struct DecodedBodies<'a> {
    kept: &'a SavedBodies,
    /// The images that were compared last, by the hashes of their bodies.
    pictures: VecDeque<(String, DecodedImage)>,
    findings: Findings,
    missing: BTreeSet<String>,
}

impl DecodedBodies<'_> {
    /// Returns what is wrong with a reply by itself, if anything: a broken image or a wrong size.
    fn alone(&mut self, header: &Header, reply: &Reply, url: &str) -> Option<String> {
        let check = &header.scenario.check;
        if check.body != BodyCheck::Decode || !is_image(reply) {
            return None;
        }
        let size = match self.decoded(&reply.hash)? {
            Decoded::Picture { width, height } => (width, height),
            Decoded::Broken(why) => {
                return Some(format!("{} B {}: {why}", reply.length, reply.media_type));
            }
        };
        let wrong = match check.size {
            SizeCheck::Any => None,
            SizeCheck::Url => {
                let (width, height) = size::asked(url);
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

    /// Compares a variant's reply with the baseline's. Returns the figures, or as `Err` how they differ.
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
            Likeness::NoPictures => {
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
            Some(Decoded::Picture { width, height }) => format!("{width}x{height}"),
            Some(Decoded::Broken(_)) | None => "another size".to_owned(),
        }
    }

    /// Returns the result of decoding this body, now or earlier; `None` if the body is not saved and nothing is known
    /// about it.
    fn decoded(&mut self, hash: &str) -> Option<Decoded> {
        if let Some(decoded) = self.findings.decoded(hash) {
            return Some(decoded.clone());
        }
        let before = || self.kept.findings.as_ref()?.decoded(hash).cloned();
        let body = self.kept.bodies.get(hash);
        let decoded = body.map(|body| decode(body)).or_else(before);
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
        let both = (self.decoded(one), self.decoded(other));
        let likeness = match both {
            (Some(Decoded::Broken(_)), _) | (_, Some(Decoded::Broken(_))) => {
                Some(Likeness::NoPictures)
            }
            _ => self.compared(one, other).or_else(|| {
                let before = self.kept.findings.as_ref();
                before.and_then(|before| before.likeness(one, other))
            }),
        };
        match likeness {
            Some(likeness) => self.findings.note_likeness(one, other, likeness),
            None => self.missing.extend([one.to_owned(), other.to_owned()]),
        }
        likeness
    }

    /// Compares the images in two bodies; `None` if one of the bodies is not saved.
    fn compared(&mut self, one: &str, other: &str) -> Option<Likeness> {
        for hash in [one, other] {
            self.remember(hash);
        }
        let image = |hash: &str| {
            let mut pictures = self.pictures.iter();
            pictures.find_map(|(own, image)| (own == hash).then_some(image))
        };
        Some(alike(image(one)?, image(other)?))
    }

    /// Decodes the image in a body, unless it is among the last that were. The oldest of them makes room.
    fn remember(&mut self, hash: &str) {
        let at = self.pictures.iter().position(|(own, _)| own == hash);
        let image = match at.and_then(|at| self.pictures.remove(at)) {
            Some((_, image)) => Some(image),
            None => {
                let body = self.kept.bodies.get(hash);
                body.and_then(|body| DecodedImage::decode(body).ok())
            }
        };
        if let Some(image) = image {
            self.pictures.truncate(PICTURES - 1);
            self.pictures.push_front((hash.to_owned(), image));
        }
    }

    /// Decodes the saved bodies with these hashes on all cores, and notes what is found.
    fn decode_all(&mut self, hashes: &[&str]) {
        let next = AtomicUsize::new(0);
        let bodies = &self.kept.bodies;
        let work = || {
            let mut found = Vec::new();
            while let Some(&hash) = hashes.get(next.fetch_add(1, Ordering::Relaxed)) {
                found.extend(bodies.get(hash).map(|body| (hash, decode(body))));
            }
            found
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..cores.min(hashes.len()))
                .map(|_| scope.spawn(work))
                .collect();
            for thread in threads {
                let found = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
                for (hash, decoded) in found {
                    self.findings.note_decoded(hash, decoded);
                }
            }
        });
    }
}

/// Images whose pixels are kept between comparisons: the baseline's reply to a URL, and some of the others.
const PICTURES: usize = 4;

/// Returns the result of decoding a body.
fn decode(body: &[u8]) -> Decoded {
    match DecodedImage::decode(body) {
        Ok(image) => Decoded::Picture {
            width: image.width,
            height: image.height,
        },
        Err(why) => Decoded::Broken(why),
    }
}

fn alike(first: &DecodedImage, second: &DecodedImage) -> Likeness {
    if first.rgb == second.rgb && first.width == second.width {
        return Likeness::SamePixels;
    }
    ssim(first, second).map_or(Likeness::OtherSize, Likeness::Ssim)
}
