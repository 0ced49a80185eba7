//! The subject of tuning: a configuration, and the images to request from it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use andon_lab::experiment::Error;
use andon_lab::scenario::{UrlEntry, urls};
use andon_lab::stats::Random;
use andon_pixels::{Encode, Frame, Grid, Image, Model, Never, Plane, Subsampling};
use anyhow::{Context, bail};
use toml::{Table, Value};

use super::Args;

/// A configuration with absolute paths, so that a server can be started with it in any folder, and the requests for it.
pub(super) struct Subject {
    /// The server's program.
    pub(super) program: PathBuf,
    /// Describes where the configuration and its images come from.
    pub(super) description: String,
    /// The user's configuration with absolute paths, or `None` without `--config`.
    pub(super) user_config: Option<Table>,
    /// The configuration that servers are started with: the user's, or the default one, without listen addresses and
    /// without a disk tier. If another folder of images was given, or images were generated, it is the only origin.
    pub(super) config: Table,
    /// Environment variables that the configuration names.
    pub(super) inherit: Vec<String>,
    /// The URLs of the load.
    pub(super) urls: Vec<UrlEntry>,
}

impl Subject {
    /// Prepares the user's configuration and images. Without either, images are generated below `folder`.
    pub(super) fn of(args: &Args, program: PathBuf, folder: &Path) -> anyhow::Result<Self> {
        let user_config = args.config.as_deref();
        let user_config = user_config.map(|file| read(file, &program)).transpose()?;
        let mut config = user_config.clone().unwrap_or_default();
        let mut description = match &args.config {
            Some(file) => file.display().to_string(),
            None => "the defaults".to_owned(),
        };
        if let Some(dir) = &args.dir {
            let dir = std::path::absolute(dir)?;
            description += &format!(", images of {}", dir.display());
            config.insert("origin".into(), folder_origin(&dir));
        } else if args.config.is_none() {
            description += &format!(", {IMAGES} images made up for this");
            let images = folder.join("images");
            make_images(&images)?;
            config.insert("origin".into(), folder_origin(&images));
        }
        // The trials set the listen address and, where they need one, the disk tier.
        config.remove("listen");
        config.remove("tls");
        for (table, key) in [("metrics", "listen"), ("cache", "disk")] {
            if let Some(Value::Table(table)) = config.get_mut(table) {
                table.remove(key);
            }
        }
        let mut inherit = Vec::new();
        named_variables(&Value::Table(config.clone()), &mut inherit);
        let urls = match &args.urls {
            Some(file) => urls::read(file).map_err(Error::from)?,
            None => default_urls(&config)?,
        };
        Ok(Self {
            program,
            description,
            user_config,
            config,
            inherit,
            urls,
        })
    }

    /// Returns the configured value at a path such as `cache.memory`.
    pub(super) fn get(&self, path: &str) -> Option<&Value> {
        let mut words = path.split('.');
        let first = self.config.get(words.next()?)?;
        words.try_fold(first, |value, word| value.as_table()?.get(word))
    }
}

/// Reads a configuration that the server accepts, and makes its paths absolute.
fn read(file: &Path, program: &Path) -> anyhow::Result<Table> {
    let mut command = Command::new(program);
    let output = command.args(["config", "check"]).arg(file).output();
    let output = output.with_context(|| program.display().to_string())?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("{}", message.trim().trim_start_matches("andon: "));
    }
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let mut config: Table = toml::from_str(&text)?;
    let file = std::path::absolute(file)?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    for value in config.iter_mut().map(|(_, value)| value) {
        make_whole(value, folder);
    }
    Ok(config)
}

/// Makes paths absolute. They are relative to the file that they are written in, and the experiment's file is in
/// another folder.
fn make_whole(value: &mut Value, folder: &Path) {
    match value {
        Value::Table(table) => {
            for (key, value) in table.iter_mut() {
                match PATHS.contains(&key.as_str()) {
                    true => join(value, folder),
                    false => make_whole(value, folder),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| make_whole(item, folder)),
        _ => {}
    }
}

/// Makes a path, or each path of a list, absolute. A table that stands in the place of a path is searched for path keys
/// instead.
fn join(value: &mut Value, folder: &Path) {
    match value {
        Value::String(path) => *path = folder.join(&*path).to_string_lossy().into_owned(),
        Value::Array(paths) => paths.iter_mut().for_each(|path| join(path, folder)),
        other => make_whole(other, folder),
    }
}

/// Configuration keys whose values [`make_whole`] turns into absolute paths.
const PATHS: [&str; 5] = ["root", "material_dir", "ca", "path", "read"];

/// Collects the values of all keys that end in `_env`.
fn named_variables(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                match value {
                    Value::String(name) if key.ends_with("_env") => into.push(name.clone()),
                    value => named_variables(value, into),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| named_variables(item, into)),
        _ => {}
    }
}

fn folder_origin(folder: &Path) -> Value {
    let root = Value::String(folder.to_string_lossy().into_owned());
    let fs = Value::Table(Table::from_iter([("root".to_owned(), root)]));
    Value::Array(vec![Value::Table(Table::from_iter([(
        "fs".to_owned(),
        fs,
    )]))])
}

/// Returns two sizes of each of a few images in the first folder that the configuration serves.
fn default_urls(config: &Table) -> anyhow::Result<Vec<UrlEntry>> {
    let origins = config.get("origin").and_then(Value::as_array);
    let folder = origins.into_iter().flatten().find_map(|origin| {
        let root = origin.get("fs")?.get("root")?.as_str()?;
        let prefix = origin.get("prefix").and_then(Value::as_str).unwrap_or("");
        Some((PathBuf::from(root), prefix.trim_end_matches('/').to_owned()))
    });
    let Some((root, prefix)) = folder else {
        bail!(
            "the configuration serves no folder whose images could be asked for: give URLs with -L"
        );
    };
    let mut images = Vec::new();
    collect(&root, "", 3, &mut images);
    images.sort();
    if images.is_empty() {
        bail!(
            "{}: no image found there: give URLs with -L",
            root.display()
        );
    }
    // The chosen images are spread over the folder, because neighbours may resemble each other.
    let step = images.len().div_ceil(MOST_FOUND);
    let urls = images.iter().step_by(step).flat_map(|name| {
        ["dw=250,dh=250", "dw=800,dh=800"].map(|size| UrlEntry {
            path: format!("/small_light({size},q=85){prefix}{name}"),
            ..UrlEntry::default()
        })
    });
    Ok(urls.collect())
}

/// Collects the paths of images below a folder, as far as their names need no escaping. `parent` is the path so far,
/// `depth` the number of levels still to descend.
fn collect(folder: &Path, parent: &str, depth: u32, into: &mut Vec<String>) {
    let plain = |name: &str| {
        let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        !name.starts_with('.') && name.bytes().all(fine)
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else {
            continue;
        };
        if into.len() >= MOST_SEEN || !plain(&name) {
            continue;
        }
        let path = format!("{parent}/{name}");
        if entry.path().is_dir() {
            if depth > 0 {
                collect(&entry.path(), &path, depth - 1, into);
            }
        } else if is_image(&name) {
            into.push(path);
        }
    }
}

fn is_image(name: &str) -> bool {
    let end = name.rsplit('.').next().unwrap_or_default();
    ["jpg", "jpeg", "png", "webp"].contains(&end.to_ascii_lowercase().as_str())
}

/// Generates JPEGs of a few megapixels that are as smooth and as noisy as photos.
fn make_images(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    let jpeg = andon_codecs::ALL
        .iter()
        .find(|codec| codec.name() == "jpeg")
        .and_then(|codec| codec.encoder())
        .context("no JPEG codec")?;
    for number in 0..IMAGES {
        let how = Encode {
            quality: Some(90),
            ..Encode::default()
        };
        let file = jpeg.encode(&Image::still(image(number)?), &how, &Never)?;
        fs::write(folder.join(format!("{number}.jpg")), file)?;
    }
    Ok(())
}

fn image(number: u64) -> anyhow::Result<Frame> {
    let (width, height) = (1920, 1280);
    let sub = Subsampling::C420;
    let mut random = Random::new(number + 1);
    let planes = (0..3).map(|plane| {
        let (width, height) = if plane == 0 {
            (width, height)
        } else {
            sub.chroma_size(width, height)
        };
        let waves: Vec<[f64; 4]> = (0..12)
            .map(|octave| {
                let finer = 1.6_f64.powi(octave);
                let mut turn = || random.unit() * 2.0 - 1.0;
                [
                    turn() * 9.0 * finer,
                    turn() * 9.0 * finer,
                    turn() * 7.0,
                    90.0 / finer,
                ]
            })
            .collect();
        let mut samples = Vec::with_capacity((width * height) as usize);
        for y in 0..height {
            for x in 0..width {
                let (u, v) = (
                    f64::from(x) / f64::from(width),
                    f64::from(y) / f64::from(height),
                );
                let wave = |[a, b, c, strong]: &[f64; 4]| (a * u + b * v + c).sin() * strong;
                let smooth: f64 = waves.iter().map(wave).sum();
                let grain = (random.unit() - 0.5) * 12.0;
                samples.push((128.0 + smooth * 0.5 + grain).clamp(0.0, 255.0) as u8);
            }
        }
        Ok(Plane::U8(Grid::from_samples(width, height, samples)?))
    });
    let planes = planes.collect::<anyhow::Result<_>>()?;
    Ok(Frame::new(Model::ycbcr(sub), width, height, planes, None)?)
}

/// The number of images to generate.
const IMAGES: u64 = 4;

/// The maximum number of images found in the folder that are requested.
const MOST_FOUND: usize = 8;

/// The maximum number of images collected, as a folder may hold millions.
const MOST_SEEN: usize = 2000;
