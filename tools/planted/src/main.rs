//! A server whose codecs fail as the files specify: `andon-planted CONFIG`.
//!
//! Tests and `./dev bench fuse` test worker processes with it. A file that begins with `PLANTED` names the fault that
//! its reader causes instead of reading, and SVGs are drawn without any of the guards of [`andon_codecs`].

#![forbid(unsafe_code)]

mod faults;
mod planted;
mod unguarded;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use andon_codecs::Fonts;
use andon_isolation::{Prepared, Program, Settings, Which};
use andon_pixels::Codec;
use andon_server::{Config, Inherited, Sandbox, Server};

fn main() -> ExitCode {
    let codecs = codecs();
    let arguments = std::env::args_os().skip(1);
    if let Some(ended) = andon_isolation::as_process(codecs, Fonts::adopt, arguments) {
        return ended.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    match serve(codecs) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("andon-planted: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the planted and the unguarded SVG codec, followed by all others except the guarded SVG codec.
fn codecs() -> &'static [&'static dyn Codec] {
    let mut codecs: Vec<&'static dyn Codec> = vec![&planted::Planted, &unguarded::Unguarded];
    codecs.extend(
        andon_codecs::ALL
            .iter()
            .filter(|codec| codec.name() != "svg"),
    );
    Box::leak(codecs.into_boxed_slice())
}

fn serve(codecs: &'static [&'static dyn Codec]) -> Result<(), Box<dyn Error>> {
    let file = std::env::args_os().nth(1).ok_or("name a configuration")?;
    let file = Path::new(&file);
    let config = Config::read(file)?;
    andon_server::install_log(config.log);
    let prepared = Prepared::new(Settings {
        program: Program::this(),
        ready: config.workers(),
        memory: config.limits.pixels().memory,
        kept: andon_server::kept_by_process(&config),
        shared: None,
        suspect: config.sandbox.suspect.0,
    })?;
    let _sandbox = Sandbox::enter(&config, Some(file))?;
    let codecs = andon_isolation::install(codecs, prepared.start(), Which::ThirdParty);
    andon_server::runtime(&config)?.block_on(async {
        let server = Server::bind(&config, codecs, Inherited::default()).await?;
        let addresses: Vec<String> = server.addresses().iter().map(ToString::to_string).collect();
        println!("listening on {}", addresses.join(" "));
        server.run(tokio::time::sleep(LONGEST)).await;
        Ok(())
    })
}

/// Maximum time for which the server runs.
const LONGEST: Duration = Duration::from_secs(3600);
