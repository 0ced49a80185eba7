//! `andon-lab null`: a responder that does no work, to measure load clients against.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use andon_lab::load::Endpoint;
use andon_lab::load::null::{NullConfig, NullResponder};
use anyhow::Context;

use andon_terminal::interrupt;
use andon_terminal::print;

/// Serve a fixed response, to measure the load generator's own ceiling
///
/// Runs until Ctrl-C. Accepts any path and any headers, but no request bodies. Connections are kept alive unless the
/// client asks to close them.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// Address to listen on
    #[arg(short, long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Size of each response body in bytes
    #[arg(short, long, value_name = "BYTES", default_value_t = 4096)]
    body: usize,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let stop = interrupt::flag().context("cannot listen for signals")?;
    let listen = Endpoint::Tcp(args.listen);
    let responder = NullResponder::listen(&listen, NullConfig::plain(args.body))
        .with_context(|| format!("cannot listen on {}", args.listen))?;
    print(format!("http://{}/\n", responder.endpoint()).as_bytes())?;
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK);
    }
    Ok(ExitCode::SUCCESS)
}

/// Interval at which the command checks whether it was interrupted.
const LOOK: Duration = Duration::from_millis(100);

const AFTER: &str = "\
Examples:
  andon-lab null
  andon-lab null --listen 127.0.0.1:9000 --body 65536
  andon-lab bench http://127.0.0.1:9000/ -c 10 -n 100000";
