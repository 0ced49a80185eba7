//! Benchmark with images on which other programs failed, and with damaged copies of them: does the server survive?
//!
//! Every distinct image below a folder (test suites of other projects have many such images) is requested in several
//! forms, and so are copies with a little damage. Every response has to be complete and to arrive within 2 s, and its
//! status must not be a server error (5xx). The resident memory must stay within 512 MiB, and at the end the server
//! must have no more open files than before.

mod damage;
mod images;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::Serialize;

use crate::goals::{self, Goal, Strictness};
use crate::http::client::Connection;
use crate::http::server::{ResultCaching, Server};
use crate::photos::Folder;
use crate::{proc, raw};
use images::{ImageFile, Images};

/// Options of `./dev bench corpus`.
#[derive(Args)]
pub(crate) struct CorpusArgs {
    /// Folder of images, good and bad, searched recursively.
    folder: PathBuf,
    /// Number of damaged copies of each image.
    #[arg(long, default_value_t = 8)]
    damaged: u64,
    /// Number of clients, each in a closed loop.
    #[arg(long, default_value_t = 4)]
    clients: usize,
    #[command(flatten)]
    pub(crate) strictness: Strictness,
}

/// URL prefixes of the forms in which each image is requested. The empty one requests the original.
const FORMS: [&str; 4] = [
    "/small_light(dw=300,dh=300,of=jpg)",
    "/small_light(sx=1,sy=1,sw=64,sh=64,cw=90,ch=90,of=png)",
    "/small_light(dw=120,dh=80,da=s,of=webp,q=80)",
    "",
];

/// URL prefix of the form in which damaged copies are requested.
const DAMAGED_FORM: &str = FORMS[0];

/// The results of one run of this benchmark, saved under `runs/`.
#[derive(Serialize)]
pub(crate) struct Run {
    machine: raw::Machine,
    images: usize,
    /// Number of images of each file format, recognised by their first bytes.
    kinds: BTreeMap<&'static str, usize>,
    damaged_copies: u64,
    requests: u64,
    /// Number of responses by HTTP status.
    statuses: BTreeMap<u16, u64>,
    /// The requests that took longest, slowest first.
    slowest: Vec<Slow>,
    /// Requests without a complete response or with a 5xx.
    failures: Vec<Failure>,
    /// Resident memory of the server in bytes: at the start, at its peak and at the end.
    resident: [u64; 3],
    /// Number of files that the server has open: at the start and at the end.
    open_files: [usize; 2],
    pub(crate) goals: Vec<Goal>,
}

#[derive(Clone, Serialize)]
struct Slow {
    milliseconds: f64,
    image: String,
    form: &'static str,
}

#[derive(Serialize)]
struct Failure {
    image: String,
    form: &'static str,
    /// Seed of the damage. `None` for an undamaged image.
    damage: Option<u64>,
    what: String,
}

/// Runs the benchmark, prints the results and returns them.
pub(crate) fn run(args: &CorpusArgs, photos: &Folder) -> Result<Run> {
    let machine = raw::Machine::here()?;
    let images = Images::below(&args.folder)?;
    ensure!(
        !images.all.is_empty(),
        "{} holds no images",
        args.folder.display()
    );
    println!(
        "{} distinct images in {}",
        images.all.len(),
        args.folder.display()
    );

    let server = Server::configured(&images.served, ResultCaching::Nothing, "")?;
    let good = photos.names.first().context("a photo")?;
    let good = images.serve("good.jpg", &photos.read(good)?)?;
    let expected = ask_for(&server, &good)?;
    let resident = server.rss()?;
    let open_files = open_files(&server)?;
    let tally = drive(&server, &images, args);
    let again = ask_for(&server, &good)?;
    let peak = proc::status_bytes(&server.pid().to_string(), "VmHWM")?;
    // The server may notice a moment later that the clients have closed their connections.
    thread::sleep(std::time::Duration::from_secs(1));

    let mut run = Run {
        machine,
        images: images.all.len(),
        kinds: images.kinds(),
        damaged_copies: images.all.len() as u64 * args.damaged,
        requests: tally.statuses.values().sum(),
        statuses: tally.statuses,
        slowest: tally.slowest,
        failures: tally.failures,
        resident: [resident, peak, server.rss()?],
        open_files: [open_files, self::open_files(&server)?],
        goals: Vec::new(),
    };
    run.goals = run.goals(again == expected);
    run.print();
    Ok(run)
}

/// Requests a file in the form `DAMAGED_FORM` and returns the body. Any status but 200 is an error.
fn ask_for(server: &Server, name: &str) -> Result<Vec<u8>> {
    Connection::open(server)?.get(&format!("{DAMAGED_FORM}/{name}"))
}

fn open_files(server: &Server) -> Result<usize> {
    Ok(std::fs::read_dir(format!("/proc/{}/fd", server.pid()))?.count())
}

/// Results that all clients collect.
#[derive(Default)]
struct Tally {
    statuses: BTreeMap<u16, u64>,
    slowest: Vec<Slow>,
    failures: Vec<Failure>,
}

/// How many of the slowest requests are kept.
const SLOWEST: usize = 20;

fn drive(server: &Server, images: &Images, args: &CorpusArgs) -> Tally {
    let next = AtomicUsize::new(0);
    let tally = Mutex::new(Tally::default());
    thread::scope(|scope| {
        for _ in 0..args.clients {
            scope.spawn(|| {
                let mut client = Client {
                    server,
                    connection: None,
                    tally: &tally,
                };
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(image) = images.all.get(number) else {
                        return;
                    };
                    client.try_all(images, image, args.damaged);
                    if number.is_multiple_of(500) {
                        println!("{number} of {}", images.all.len());
                    }
                }
            });
        }
    });
    tally.into_inner().unwrap_or_else(PoisonError::into_inner)
}

struct Client<'a> {
    server: &'a Server,
    connection: Option<Connection>,
    tally: &'a Mutex<Tally>,
}

impl Client<'_> {
    fn try_all(&mut self, images: &Images, image: &ImageFile, copies: u64) {
        for form in FORMS {
            let url = format!("{form}/{}", image.name);
            self.try_one(image, form, None, &url);
        }
        for seed in 0..copies {
            let name = format!("{}.{seed}", image.name);
            let bytes = damage::damaged(&image.bytes, image.number * copies + seed);
            match images.serve(&name, &bytes) {
                Ok(name) => {
                    let url = format!("{DAMAGED_FORM}/{name}");
                    self.try_one(image, DAMAGED_FORM, Some(seed), &url);
                    images.withdraw(&name);
                }
                Err(error) => self.fail(image, DAMAGED_FORM, Some(seed), format!("{error:#}")),
            }
        }
    }

    fn try_one(&mut self, image: &ImageFile, form: &'static str, damage: Option<u64>, url: &str) {
        let start = Instant::now();
        let result = match self.connection.take() {
            Some(connection) => Ok(connection),
            None => Connection::open(self.server),
        }
        .and_then(|mut connection| {
            let reply = connection.ask(url)?;
            self.connection = Some(connection);
            Ok(reply)
        });
        let milliseconds = start.elapsed().as_secs_f64() * 1e3;
        match result {
            Ok(reply) => {
                self.note(reply.status, milliseconds, image, form);
                if reply.status >= 500 {
                    let body = String::from_utf8_lossy(&reply.body);
                    let description = format!("{}: {}", reply.status, body.trim());
                    self.fail(image, form, damage, description);
                }
            }
            Err(error) => self.fail(image, form, damage, format!("{error:#}")),
        }
    }

    fn note(&self, status: u16, milliseconds: f64, image: &ImageFile, form: &'static str) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        *tally.statuses.entry(status).or_default() += 1;
        tally.slowest.push(Slow {
            milliseconds,
            image: image.path.clone(),
            form,
        });
        tally
            .slowest
            .sort_by(|a, b| b.milliseconds.total_cmp(&a.milliseconds));
        tally.slowest.truncate(SLOWEST);
    }

    fn fail(
        &self,
        image: &ImageFile,
        form: &'static str,
        damage: Option<u64>,
        description: String,
    ) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.failures.push(Failure {
            image: image.path.clone(),
            form,
            damage,
            what: description,
        });
    }
}

impl Run {
    fn goals(&self, good_is_good: bool) -> Vec<Goal> {
        let slowest = self
            .slowest
            .first()
            .map_or(f64::NAN, |one| one.milliseconds);
        let more_files = self.open_files[1] as f64 - self.open_files[0] as f64;
        vec![
            Goal::at_most(
                "5xx and broken replies",
                self.failures.len() as f64,
                0.0,
                "replies",
            ),
            Goal::at_most("the slowest reply", slowest / 1e3, 2.0, "s"),
            Goal::at_most(
                "resident at most",
                self.resident[1] as f64 / MIB,
                512.0,
                "MiB",
            ),
            Goal::at_most("open files more than before", more_files, 0.0, "files"),
            Goal::at_least(
                "a good photo is answered as before",
                f64::from(good_is_good),
                1.0,
                "replies",
            ),
        ]
    }

    fn print(&self) {
        println!("\n{} requests", self.requests);
        for (status, count) in &self.statuses {
            println!("{status}  {count}");
        }
        for slow in self.slowest.iter().take(5) {
            println!("{:7.0} ms  {}/{}", slow.milliseconds, slow.form, slow.image);
        }
        for failure in self.failures.iter().take(20) {
            let Failure {
                image,
                form,
                damage,
                what: description,
            } = failure;
            let damage = damage.map_or(String::new(), |seed| format!(" damaged {seed}"));
            println!("{form}/{image}{damage}: {description}");
        }
        goals::print(&self.goals);
    }
}

const MIB: f64 = 1024.0 * 1024.0;
