//! Reads the overlay images of a conversion job from a folder or from the origins of a configuration.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use andon_batch::Overlays;
use andon_dialects::{ImageRequest, Source};
use andon_pixels::OverlaySource;
use andon_recipe::{Effect, Recipe, Step};
use andon_server::{Config, Resolver};
use anyhow::{Context, bail};

/// Reads the overlay images with these names. A name that begins with a slash, or is a URL, refers to an image in the
/// origins of `config`. All others are files in `folder` or, without it, in the configuration's `material_dir`.
pub(super) fn read(
    folder: Option<&Path>,
    config: Option<&Config>,
    names: Vec<String>,
) -> anyhow::Result<Overlays> {
    let (mut files, mut of_origins) = (BTreeMap::new(), Vec::new());
    for name in names {
        match (folder, config) {
            (Some(folder), _) if Source::of_overlay(&name).is_none() => {
                let file = in_folder(folder, &name)?;
                files.insert(name, file);
            }
            (_, Some(_)) => of_origins.push(name),
            _ if Source::of_overlay(&name).is_some() => bail!(
                "`{name}` is laid over the images: name the configuration whose origins have it with --config, or give the \
                 name of a file in the folder of --overlays"
            ),
            _ => bail!("`{name}` is laid over the images; name its folder with --overlays"),
        }
    }
    if let (Some(config), false) = (config, of_origins.is_empty()) {
        files.extend(from_origins(config, of_origins)?);
    }
    Ok(Overlays::new(files))
}

fn in_folder(folder: &Path, name: &str) -> anyhow::Result<Vec<u8>> {
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_));
    if !Path::new(name).components().all(inside) {
        bail!("`{name}` is not below the folder {}", folder.display());
    }
    let path = folder.join(name);
    std::fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))
}

/// Reads overlay images from the origins, as a server with this configuration would.
fn from_origins(config: &Config, names: Vec<String>) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let step = |name: &String| {
        let args = vec![name.clone(), "0".to_owned(), "0".to_owned()];
        Effect::new(Effect::OVER, args).map(Step::Effect)
    };
    let steps: Vec<Step> = names.iter().map(step).collect::<Result<_, _>>()?;
    let request = ImageRequest::image(Source::Path(String::new()), Recipe::from(steps));
    let overlays = Resolver::new(config, andon_codecs::ALL)?.read_overlays(&request)?;
    let load = |name: String| {
        let file = overlays.load(&name)?;
        Ok((name, file))
    };
    names.into_iter().map(load).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_outside_the_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let read = |folder, name: &str| read(folder, None, vec![name.to_owned()]).map(drop);
        let outside = read(Some(folder.path()), "../a.png").unwrap_err();
        assert!(outside.to_string().contains("`../a.png`"), "{outside}");
        let missing = read(Some(folder.path()), "a.png").unwrap_err();
        assert!(missing.to_string().contains("a.png"), "{missing}");
        let nowhere = read(None, "a.png").unwrap_err();
        assert!(nowhere.to_string().contains("--overlays"), "{nowhere}");
        for name in ["/brand/a.png", "https://cdn.example.com/a.png"] {
            let error = read(Some(folder.path()), name).unwrap_err().to_string();
            assert!(
                error.contains(name) && error.contains("--config"),
                "{error}"
            );
        }
    }
}
