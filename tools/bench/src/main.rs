//! Measures Andon against its peers on the same photos and in one process: `./dev bench`.

mod animation;
mod compare;
mod corpus;
mod encode;
mod engines;
mod frames;
mod goals;
mod http;
mod jpeg;
mod memory;
mod memory_wall;
mod overload;
mod peers;
mod photos;
mod proc;
mod quality;
mod raw;
mod reference;
mod rejections;
mod resize;
mod score;
mod stats;
mod table;
mod tiles;
mod work;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use engines::{Contestant, Format};

#[derive(Parser)]
#[command(
    name = "./dev bench",
    about = "Andon against libvips, ImageMagick and GD"
)]
struct Cli {
    #[command(subcommand)]
    task: Option<Task>,
    #[command(flatten)]
    compare: CompareArgs,
    /// Folder of JPEG photos.
    #[arg(long, global = true, default_value = "samples/large")]
    photos: PathBuf,
    /// Folder for the raw results.
    #[arg(long, global = true, default_value = "runs")]
    runs: PathBuf,
    /// Prefix of the raw results' file names: the date.
    #[arg(long, global = true, hide = true, default_value = "undated")]
    stamp: String,
}

#[derive(Args)]
struct CompareArgs {
    /// Fewer repeats: for a first look, not for results to publish.
    #[arg(long)]
    quick: bool,
    /// Only these longest sides (150, 400, 1200).
    #[arg(long, value_delimiter = ',')]
    only: Vec<u32>,
    /// Only this output format.
    #[arg(long)]
    format: Option<Format>,
    /// Only these contestants (Andon and libvips are always included, as libvips determines the size of all results).
    #[arg(long, value_delimiter = ',')]
    against: Vec<Contestant>,
    #[command(flatten)]
    strictness: goals::Strictness,
}

#[derive(Subcommand)]
enum Task {
    /// The server under a closed loop of ten connections: throughput, threads, memory, processes.
    Http(http::HttpArgs),
    /// Our JPEG decoder against libjpeg-turbo, both decoding to planes: time, memory, instructions.
    Jpeg(jpeg::JpegArgs),
    /// Our encoders against those of libvips: time, and bytes at equal quality.
    Encode(encode::EncodeArgs),
    /// How close results of the recipe option `score:` come to the requested SSIMULACRA2 score, in every format.
    Score(score::ScoreArgs),
    /// GIF to animated WebP with Andon and with libvips: frames per second, and memory for 10 and 1,000 frames.
    Animation(animation::AnimationArgs),
    /// Our resampling kernels against `fast_image_resize`: time and error.
    Resize(resize::ResizeArgs),
    /// Tiles of a JPEG of 100 megapixels, compared with decoding all of it.
    Tiles(tiles::TilesArgs),
    /// Clients that wait for their replies, on many distinct photos: is any request rejected?
    Rejections(rejections::RejectionsArgs),
    /// Ten times the load that the server can handle: goodput, latencies, rejections, recovery.
    Overload(overload::OverloadArgs),
    /// Large images for many clients under a memory limit: kills, peak memory, throughput.
    Memory(memory_wall::MemoryArgs),
    /// Every image below a folder, good, bad and damaged: does the server survive?
    Corpus(corpus::CorpusArgs),
    /// Measure the memory of one contestant alone (started by the comparison itself).
    #[command(hide = true)]
    Alone(memory::AloneArgs),
    /// Measure the memory of one contestant alone on one GIF (started by `animation` itself).
    #[command(hide = true)]
    AnimationAlone(animation::AloneArgs),
    /// Decode with one decoder alone (started by `jpeg` itself).
    #[command(hide = true)]
    JpegAlone(jpeg::JpegAloneArgs),
}

fn main() -> anyhow::Result<()> {
    // The same setting as in the `andon` binary, so that Andon is measured as it is shipped.
    andon_codecs::allocator::return_free_memory();
    let cli = Cli::parse();
    peers::init()?;
    let photos = photos::Folder::open(&cli.photos)?;
    match cli.task {
        None => {
            let setup = compare::Setup {
                sides: if cli.compare.only.is_empty() {
                    vec![150, 400, 1200]
                } else {
                    cli.compare.only
                },
                formats: cli
                    .compare
                    .format
                    .map_or(Format::ALL.to_vec(), |one| vec![one]),
                contestants: Contestant::selected(&cli.compare.against),
                rounds: if cli.compare.quick { 2 } else { 6 },
            };
            let run = compare::run(&setup, &photos)?;
            table::print(&run);
            goals::print(&run.goals);
            raw::save(&cli.runs, &cli.stamp, "bench", &run)?;
            cli.compare.strictness.judge(&run.goals)
        }
        Some(Task::Http(args)) => {
            let run = http::run(&args, &photos)?;
            raw::save(&cli.runs, &cli.stamp, args.kind(), &run)
        }
        Some(Task::Rejections(args)) => {
            let run = rejections::run(&args, &photos)?;
            raw::save(&cli.runs, &cli.stamp, "bench-rejections", &run)?;
            args.strictness.judge(&run.goals)
        }
        Some(Task::Overload(args)) => {
            let run = overload::run(&args, &photos)?;
            raw::save(&cli.runs, &cli.stamp, "bench-overload", &run)?;
            args.strictness.judge(&run.goals)
        }
        Some(Task::Memory(args)) => {
            let run = memory_wall::run(&args, &photos)?;
            raw::save(&cli.runs, &cli.stamp, "bench-memory", &run)?;
            args.strictness.judge(&run.goals)
        }
        Some(Task::Jpeg(args)) => {
            let run = jpeg::run(&args, &photos)?;
            raw::save(&cli.runs, &cli.stamp, args.kind(), &run)?;
            args.strictness.judge(&run.goals)
        }
        Some(Task::Corpus(args)) => {
            let run = corpus::run(&args, &photos)?;
            raw::save(&cli.runs, &cli.stamp, "bench-corpus", &run)?;
            args.strictness.judge(&run.goals)
        }
        Some(Task::Encode(args)) => {
            let run = encode::run(&args, &photos)?;
            raw::save(&cli.runs, &cli.stamp, "bench-encode", &run)?;
            args.strictness.judge(&run.goals)
        }
        Some(Task::Score(args)) => {
            let run = score::run(&args, &photos)?;
            raw::save(&cli.runs, &cli.stamp, "bench-score", &run)?;
            args.strictness.judge(&run.goals)
        }
        Some(Task::Animation(args)) => {
            let run = animation::run(&args, &photos)?;
            raw::save(&cli.runs, &cli.stamp, "bench-animation", &run)?;
            args.strictness.judge(&run.goals)
        }
        Some(Task::Resize(args)) => {
            let run = resize::run(&args, &photos)?;
            raw::save(&cli.runs, &cli.stamp, "bench-resize", &run)?;
            args.strictness.judge(&run.goals)
        }
        Some(Task::Tiles(args)) => {
            let run = tiles::run(&args, &photos)?;
            raw::save(&cli.runs, &cli.stamp, "bench-tiles", &run)?;
            args.strictness.judge(&run.goals)
        }
        Some(Task::AnimationAlone(args)) => animation::alone(&args),
        Some(Task::JpegAlone(args)) => jpeg::alone(&args),
        Some(Task::Alone(args)) => memory::alone(&args, &photos),
    }
}
