//! Tests with clients that wait for each reply before their next request, on a simulated clock. Up to the number of
//! clients that the rules always admit, no client is rejected, however wrong the server's first predictions are.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use super::calibration::Calibration;
use super::queue::{Now, Queue, Rules, Turn};
use super::work::Work;
use crate::config::Config;
use crate::error::Cause;

/// A simulation of a server without threads or files, and of clients without sockets.
struct Loop {
    queue: Queue<Request>,
    calibration: Calibration,
    now: Now,
    threads: usize,
    busy: usize,
    reading: usize,
    to_read: VecDeque<(Turn, Request)>,
    events: BinaryHeap<Reverse<(Now, u64, Event)>>,
    next_event: u64,
    served: usize,
    rejected: Vec<(Now, Cause)>,
}

/// A simulated request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Request {
    is_icon: bool,
    file_bytes: u64,
    /// The time that processing the request really takes, which may differ from the planned time.
    takes: Duration,
    /// The time that processing takes according to the request's plan. Admission decides by this estimate.
    planned: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Read(Turn, Request),
    Done(u64, Request),
}

/// A mix of requests, and how wrong their plans are.
#[derive(Clone, Copy)]
struct Mix {
    /// One request in this many is for an icon; 0: none is.
    icons: u64,
    /// Ratio of planned to true time, of icons and of photos.
    planned: [f64; 2],
}

const NEVER: Now = Duration::from_secs(1_000_000);

impl Loop {
    fn new(threads: usize) -> Self {
        let rules = Rules {
            threads,
            ..Rules::of(&Config::default())
        };
        Self {
            queue: Queue::new(rules, u64::MAX),
            calibration: Calibration::default(),
            now: Duration::ZERO,
            threads,
            busy: 0,
            reading: 0,
            to_read: VecDeque::new(),
            events: BinaryHeap::new(),
            next_event: 0,
            served: 0,
            rejected: Vec::new(),
        }
    }

    /// Lets this many clients send requests until the clock shows `until`. A client that is rejected sends no more.
    fn run(&mut self, clients: usize, until: Now, mut next: impl FnMut() -> Request) {
        for _ in 0..clients {
            self.ask(next());
        }
        while let Some(Reverse((now, _, event))) = self.events.pop() {
            self.now = now;
            match event {
                Event::Read(turn, request) => {
                    self.reading -= 1;
                    self.join(turn, request);
                }
                Event::Done(id, request) => {
                    self.busy -= 1;
                    self.queue.done(id);
                    let Work { kind, nanos, .. } = work(&request);
                    self.calibration
                        .learn(kind, nanos, request.file_bytes, request.takes);
                    self.served += 1;
                    if now < until {
                        self.ask(next());
                    }
                }
            }
            self.start();
        }
    }

    fn ask(&mut self, request: Request) {
        let guess = self.calibration.guess(request.file_bytes);
        let deadline = self.now + Config::default().timeouts.request.0;
        match self.queue.expect(self.now, guess, deadline, None) {
            Ok(turn) => self.to_read.push_back((turn, request)),
            Err(refusal) => self.rejected.push((self.now, refusal.cause)),
        }
        self.start();
    }

    fn join(&mut self, turn: Turn, request: Request) {
        let price = self.calibration.price(&work(&request));
        let deadline = self.now + Config::default().timeouts.request.0;
        let alone = |_: &Request, _: &Request| false;
        let joined = self
            .queue
            .join(self.now, turn, price, deadline, request, alone);
        if let Err(refusal) = joined {
            self.rejected.push((self.now, refusal.cause));
        }
    }

    /// Starts all reads and jobs that can be started now.
    fn start(&mut self) {
        while self.reading < Config::default().limits.fetches
            && let Some((turn, request)) = self.to_read.pop_front()
        {
            self.reading += 1;
            // A millisecond, and a gigabyte per second.
            let takes = Duration::from_nanos(1_000_000 + request.file_bytes);
            self.after(takes, Event::Read(turn, request));
        }
        while self.busy < self.threads
            && let Some((id, request)) = self.queue.next(self.now)
        {
            self.busy += 1;
            self.after(request.takes, Event::Done(id, request));
        }
    }

    fn after(&mut self, time: Duration, event: Event) {
        self.next_event += 1;
        let event = (self.now + time, self.next_event, event);
        self.events.push(Reverse(event));
    }
}

fn work(request: &Request) -> Work {
    Work {
        kind: match request.is_icon {
            true => ("png", "png"),
            false => ("jpeg", "jpeg"),
        },
        nanos: request.planned.as_nanos() as u64,
        decode_nanos: 0,
        peak_bytes: 1,
        source_bytes: request.file_bytes,
    }
}

impl Mix {
    /// Returns a generator of pseudo-random requests that are the same for the same `seed`: icons, and photos of 1 to
    /// 20 megapixels in seven widths. A sixth of the photos has 20 megapixels. Half of all photos take as long to
    /// decode as progressive JPEGs.
    fn requests(self, seed: u64) -> impl FnMut() -> Request {
        let mut dice = super::simulation::Dice(seed);
        move || {
            let is_icon = self.icons > 0 && dice.below(self.icons) == 0;
            let (file_bytes, micros) = if is_icon {
                (300 + dice.below(4000), 200 + dice.below(400))
            } else {
                let megapixels = match dice.below(6) {
                    0 => 20,
                    _ => 1 + dice.below(11),
                };
                let decode = megapixels * [2500, 6000][dice.below(2) as usize];
                (megapixels * 250_000, decode + 500 * (1 << dice.below(7)))
            };
            let takes = Duration::from_micros(micros);
            Request {
                is_icon,
                file_bytes,
                takes,
                planned: takes.mul_f64(self.planned[usize::from(!is_icon)]),
            }
        }
    }
}

const MIXES: [Mix; 4] = [
    // What the server was tested with when it rejected one request in a hundred.
    Mix {
        icons: 0,
        planned: [1.0, 1.0],
    },
    Mix {
        icons: 2,
        planned: [1.0, 1.0],
    },
    Mix {
        icons: 3,
        planned: [4.0, 0.25],
    },
    Mix {
        icons: 20,
        planned: [0.2, 4.0],
    },
];

#[test]
fn one_ten_and_thirty_two_clients_per_thread_are_never_rejected_by_a_fresh_server_nor_later() {
    for (number, mix) in MIXES.into_iter().enumerate() {
        for threads in [1, 2, 8] {
            for clients in [1, 10, 32] {
                let mut server = Loop::new(threads);
                let until = Duration::from_secs(30);
                server.run(clients * threads, until, mix.requests(number as u64));
                let case = format!("mix {number}, {threads} threads, {clients} clients each");
                assert_eq!(server.rejected, [], "{case}");
                assert!(server.served > 200, "{case}: {}", server.served);
            }
        }
    }
}

#[test]
fn a_single_thread_serves_the_clients_of_two() {
    for mix in MIXES {
        let mut server = Loop::new(1);
        server.run(64, Duration::from_secs(60), mix.requests(7));
        assert_eq!(server.rejected, []);
    }
}

#[test]
fn more_clients_are_served_while_their_wait_is_below_the_target() {
    let icons = Mix {
        icons: 1,
        planned: [1.0, 1.0],
    };
    let mut server = Loop::new(1);
    // Icons of 0.4 ms: 400 of them are 0.2 s of work, as far as a server knows that has worked on some.
    server.run(20, Duration::from_secs(1), icons.requests(1));
    server.run(400, Duration::from_secs(20), icons.requests(2));
    assert_eq!(server.rejected, []);
}

#[test]
fn clients_that_no_server_could_serve_in_time_are_rejected_at_once_and_the_others_are_served() {
    let mut server = Loop::new(1);
    server.run(1000, Duration::from_secs(60), MIXES[0].requests(3));
    assert!(server.rejected.len() > 500, "{}", server.rejected.len());
    // Once the burst of the beginning is done, those that are left keep it busy and are no longer too many.
    let burst = Config::default().max_wait.0 * 2;
    let late = |(now, _): &&(Now, Cause)| *now > burst;
    assert_eq!(server.rejected.iter().filter(late).count(), 0);
    assert!(server.served > 1000, "{}", server.served);
    assert_eq!(server.queue.backlog(NEVER), Duration::ZERO);
}
