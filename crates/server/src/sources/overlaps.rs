//! Overlay images that can also be requested as sources, because their folder overlaps with that of an origin.

use std::path::Path;

use crate::origins::Origins;

/// Overlaps of the folder of overlay images with the folders of origins.
#[derive(Debug)]
pub(super) struct Overlaps(Vec<Overlap>);

/// A folder that contains overlay images and sources.
#[derive(Debug, PartialEq, Eq)]
struct Overlap {
    /// The folder's path below the folder of overlay images, with a slash at its end; empty if it is that folder
    /// itself. Names of overlay images in the folder begin with it.
    name: String,
    /// The path of the folder when it is requested as sources: the origin's prefix and the folder's path below the
    /// origin's root, with a slash at the end. The name of an overlay image becomes the path of a source if this
    /// replaces `name` in it.
    path: String,
}

impl Overlaps {
    /// Finds the origins' folders that contain the folder of overlay images, or are inside it.
    pub(super) fn of(folder: Option<&Path>, origins: &Origins) -> Self {
        let Some(folder) = folder.and_then(|folder| folder.canonicalize().ok()) else {
            return Self(Vec::new());
        };
        let text = |path: &Path| match path.to_str() {
            Some("") => Some(String::new()),
            Some(path) => Some(format!("{path}/")),
            None => None,
        };
        let overlap = |(prefix, root): (&str, &Path)| {
            let root = root.canonicalize().ok()?;
            let (name, below) = match (folder.strip_prefix(&root), root.strip_prefix(&folder)) {
                (Ok(inside), _) => (String::new(), text(inside)?),
                (_, Ok(inside)) => (text(inside)?, String::new()),
                _ => return None,
            };
            let path = format!("{prefix}/{below}");
            Some(Overlap { name, path })
        };
        Self(origins.folders().filter_map(overlap).collect())
    }

    /// Returns the paths of the sources that an overlay image can be requested as.
    pub(super) fn paths_of(&self, name: &str) -> Vec<String> {
        let path = |overlap: &Overlap| {
            let rest = name.strip_prefix(&*overlap.name)?;
            Some(format!("{}{rest}", overlap.path))
        };
        self.0.iter().filter_map(path).collect()
    }
}
