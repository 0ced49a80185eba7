//! Measures the image quality of Andon's and of sharp's results. The reference is a full decode, resized with Lanczos3
//! in floats.

use std::fs;

use anyhow::Result;
use serde::Serialize;

use super::load::{Peer, url};
use super::photo_sets::{self, Set};
use super::sharp::Sharp;
use crate::http::client::Connection;
use crate::http::server::{ResultCaching, Server};
use crate::peers;
use crate::quality::psnr;
use crate::reference;
use crate::stats::mean;

/// Quality of one server's results: the mean size of the files and their mean PSNR, over all photos.
#[derive(Serialize)]
pub(super) struct Quality {
    pub(super) bytes: f64,
    /// Mean PSNR in dB.
    pub(super) psnr: f64,
}

/// Returns the quality of Andon's results, and that of sharp's.
pub(super) fn compare(set: &Set, side: u32) -> Result<(Quality, Quality)> {
    let folder = photo_sets::folder()?;
    let andon = Server::start(&folder, ResultCaching::Nothing)?;
    let sharp = Sharp::start(&folder)?;
    let mut results = [const { (Vec::new(), Vec::new()) }; 2];
    for name in &set.names[..set.distinct] {
        let full = peers::decode(&fs::read(folder.join(name))?)?;
        for (at, peer, address) in [
            (0, Peer::Andon, andon.address()),
            (1, Peer::Sharp, sharp.address()),
        ] {
            let body = Connection::to(address)?.get(&url(peer, side, name))?;
            let image = peers::decode(&body)?;
            let perfect = reference::resize(&full, image.width, image.height);
            results[at].0.push(body.len() as f64);
            results[at].1.push(psnr(&perfect, &image));
        }
    }
    andon.stop()?;
    let [first, second] = results.map(|(bytes, psnr)| Quality {
        bytes: mean(bytes),
        psnr: mean(psnr),
    });
    Ok((first, second))
}
