//! The comparison: each variant's replies with the baseline's, by what the variant's `expect` says.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Picture, size, ssim};
use crate::analysis::WorkJudgement;
use crate::record::{Arm, Header, Reply, Run};
use crate::scenario::{BodyCheck, Expect, SizeCheck};

/// What decoding and comparing gave.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// One per variant and URL, the baseline's own too (broken pictures, wrong sizes).
    pub work: Vec<WorkJudgement>,
    /// The most frequent reply of each variant and URL, for contact sheets: variant, URL's index, reply.
    pub typical: Vec<(u32, u32, Reply)>,
}

/// Judges all replies of a run. `bodies` holds the distinct ones by their hash; what is missing there (too
/// large, or not kept) is compared by its hash alone.
#[must_use]
pub fn judge(run: &Run, bodies: &BTreeMap<String, Bytes>) -> Judged {
    let typical = typical(run);
    let mut looked = Looked {
        bodies,
        pictures: BTreeMap::new(),
    };
    let mut judged = Judged::default();
    for ((variant, url), reply) in &typical {
        let name = url_name(run, *variant, *url);
        let problem = looked.alone(&run.header, reply, &name);
        let verdict = match (problem, *variant) {
            (Some(problem), _) => Err(problem),
            (None, 0) => Ok(format!("{} B {}", reply.length, reply.media_type)),
            (None, variant) => match typical.get(&(0, *url)) {
                Some(baseline) => looked.pair(
                    baseline,
                    reply,
                    run.header.variants[variant as usize].expect,
                ),
                None => Err("the baseline has no reply for this URL".to_owned()),
            },
        };
        judged.work.push(WorkJudgement {
            variant: *variant,
            url: name,
            same: verdict.is_ok(),
            detail: verdict.unwrap_or_else(|problem| problem),
        });
        judged.typical.push((*variant, *url, reply.clone()));
    }
    judged
}

/// The most frequent reply of each variant and URL over all blocks that count.
fn typical(run: &Run) -> BTreeMap<(u32, u32), Reply> {
    let mut counts: BTreeMap<(u32, u32), BTreeMap<&Reply, u64>> = BTreeMap::new();
    let blocks = run
        .blocks
        .iter()
        .filter(|block| block.counts() && block.arm != Arm::Again);
    for block in blocks {
        for seen in &block.load.bodies {
            let of_url = counts.entry((block.variant, seen.url)).or_default();
            *of_url.entry(&seen.reply).or_default() += seen.count;
        }
    }
    let most = |replies: BTreeMap<&Reply, u64>| {
        let most = replies.into_iter().max_by_key(|(_, count)| *count);
        most.map(|(reply, _)| reply.clone())
    };
    counts
        .into_iter()
        .filter_map(|(key, replies)| Some((key, most(replies)?)))
        .collect()
}

fn url_name(run: &Run, variant: u32, url: u32) -> String {
    let block = run.blocks.iter().find(|block| block.variant == variant);
    let url = block.and_then(|block| block.load.urls.get(url as usize));
    url.map_or_else(String::new, |url| url.url.clone())
}

/// Bodies, decoded at most once each.
struct Looked<'a> {
    bodies: &'a BTreeMap<String, Bytes>,
    pictures: BTreeMap<String, Result<Picture, String>>,
}

impl Looked<'_> {
    /// What is wrong with a reply by itself.
    fn alone(&mut self, header: &Header, reply: &Reply, url: &str) -> Option<String> {
        let check = &header.scenario.check;
        if check.body != BodyCheck::Decode || !reply.media_type.starts_with("image/") {
            return None;
        }
        let picture = match self.picture(&reply.hash)? {
            Ok(picture) => picture,
            Err(why) => return Some(format!("{} B {}: {why}", reply.length, reply.media_type)),
        };
        let size = (picture.width, picture.height);
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
        wrong.map(|than| format!("the picture is {}x{}, {than}", size.0, size.1))
    }

    /// How a variant's reply compares with the baseline's.
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
        let pictures = (
            self.picture(&baseline.hash).cloned(),
            self.picture(&reply.hash),
        );
        let (Some(Ok(first)), Some(Ok(second))) = pictures else {
            return Err(format!(
                "{lengths}, other bytes, and no pictures that could be compared"
            ));
        };
        if first.rgb == second.rgb && first.width == second.width {
            return Ok(format!("same pixels, {lengths}"));
        }
        let Some(likeness) = ssim(&first, second) else {
            return Err(format!(
                "{}x{} and {}x{} px, {lengths}",
                first.width, first.height, second.width, second.height
            ));
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

    fn picture(&mut self, hash: &str) -> Option<&Result<Picture, String>> {
        if !self.pictures.contains_key(hash) {
            let decoded = Picture::decode(self.bodies.get(hash)?);
            self.pictures.insert(hash.to_owned(), decoded);
        }
        self.pictures.get(hash)
    }
}
