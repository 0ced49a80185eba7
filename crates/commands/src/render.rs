//! `andon render`: makes the image that the server would send for a URL.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use andon_dialects::{Ask, Part};
use andon_pixels::{Alone, Never};
use andon_recipe::FormatName;
use andon_server::media_type;
use andon_server::rendering::{Ingredients, Planned};
use anyhow::Context;

use crate::format_of::format_of;
use crate::place::{self, Place};
use andon_terminal::print;

/// Make the image for a URL path, without a server
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The path as it would stand in the URL
    #[arg(value_name = "URL-PATH")]
    target: String,
    #[command(flatten)]
    place: Place,
    /// Where to write the image; its extension is the format where the URL names none. - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

const AFTER: &str = "\
Examples:
  andon render '/small_light(dw=300,dh=300,da=s,cw=300,ch=300)/a.jpg' --root ~/photos -o square.jpg
  andon render '/resize/w/150/h/150/a.jpg' --config andon.toml -o - | file -";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let (resolver, engine, background) = args.place.open()?;
    let mut request = resolver.read(&place::target(&args.target))?;
    let promised = args.output.to_str().map_or(Ok(None), format_of)?;
    let is_open = !request.is_file() && !request.style.exact;
    request.change_output(|output| {
        output.without_accept();
        if is_open && output.format.is_none() {
            output.format = promised.and_then(|name| FormatName::new(name).ok());
        }
        background.complete(output);
    });
    for note in &request.notes {
        eprintln!("note: {note}");
    }
    let file = resolver.open(&request)?;
    let contents = file.read()?;
    let image = if !request.is_file() || media_type::is_image(andon_codecs::ALL, &contents.source) {
        let ingredients = Ingredients {
            request: Arc::new(request),
            negotiated: false,
            path: file.path,
            source: contents.source,
            overlays: contents.overlays,
        };
        let ask = ingredients.request.ask.clone();
        let planned = Planned::new(&engine, ingredients, None)?;
        match ask {
            Ask::Describe(document) => {
                let part = |recipe| {
                    let planned = Planned::new(&engine, planned.part(recipe), None)?;
                    planned.check_cpu(&engine)?;
                    let result = planned.render(&engine, None, &Alone, &Never)?;
                    Ok::<_, anyhow::Error>(Part {
                        media_type: result.media_type,
                        body: result.body.into(),
                    })
                };
                let parts: Vec<Part> = document
                    .parts(planned.about(&[]).recipe)
                    .into_iter()
                    .map(part)
                    .collect::<Result<_, _>>()?;
                let text = document.write(&planned.about(&parts));
                return write(&args.output, text.as_bytes());
            }
            _ => {
                planned.check_cpu(&engine)?;
                let result = planned.render(&engine, None, &Alone, &Never)?;
                for note in &result.notes {
                    eprintln!("note: {note}");
                }
                result.body
            }
        }
    } else {
        contents.source
    };
    let image = &image[..];
    let actual = andon_codecs::ALL.iter().find(|codec| codec.sniff(image));
    let output = args.output.display();
    match (promised, actual.map(|codec| codec.name())) {
        (Some(promised), Some(actual)) if promised != actual => eprintln!(
            "warning: {output} is written as {actual}, not {promised}; name the format in the URL (of={promised})"
        ),
        (None, Some(actual)) if args.output != Path::new("-") => {
            eprintln!("note: {output} is written as {actual}; its extension names no format");
        }
        _ => {}
    }
    write(&args.output, image)
}

fn write(output: &Path, image: &[u8]) -> anyhow::Result<()> {
    if output == Path::new("-") {
        return print(image);
    }
    std::fs::write(output, image).with_context(|| format!("cannot write {}", output.display()))
}
