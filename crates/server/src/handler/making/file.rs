//! A file of a folder as it is: nothing is made, and nothing kept.

use super::Maker;
use crate::body::{Body, MOST_WHOLE, PIECE, Pieces};
use crate::conditional::Validators;
use crate::error::Error;
use crate::media_type;
use crate::resolver::{Begun, Found};

/// A file as it is.
pub(in crate::handler) struct Served {
    pub(in crate::handler) body: Body,
    pub(in crate::handler) media_type: &'static str,
    pub(in crate::handler) validators: Validators,
}

impl Maker {
    /// A file of a folder as it is: in pieces, unless it is small.
    pub(in crate::handler) async fn serve(&self, found: Found) -> Result<Served, Error> {
        if found.size() <= MOST_WHOLE {
            let _hold = self.fetcher.hold(found.size_to_read()).await;
            let (found, read) = self.read(found).await?;
            return Ok(Served {
                media_type: media_type::of(self.codecs, &found.path, &read.source),
                validators: found.validators,
                body: read.source.into(),
            });
        }
        let Begun {
            path,
            validators,
            file,
            beginning,
        } = self.fetcher.run(move || found.begin(PIECE)).await?;
        Ok(Served {
            media_type: media_type::of(self.codecs, &path, &beginning),
            validators,
            body: Body::Pieces(Pieces::of(file, beginning, self.fetcher.clone())),
        })
    }
}
