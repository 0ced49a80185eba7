//! Whatever an origin does, the answer is in time and whole or an error, nothing stays behind, and the
//! next good request is served. Alone in its program, because it counts file descriptors.

mod common;

use common::hostile::{Hostile, MISDEEDS};
use common::{House, sample};

fn keys(origin: &Hostile) -> String {
    format!(
        "[limits]\nsource_bytes = \"2MiB\"\n\
         [[origin]]\nprefix = \"/far\"\nhttp.base = \"{}\"\nallow = [\"127.0.0.1\"]\n\
         timeouts = {{ connect = \"400ms\", first_byte = \"400ms\", idle = \"400ms\", total = \"900ms\" }}\n",
        origin.base()
    )
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("Linux").count()
}

#[test]
fn no_misdeed_of_an_origin_gets_further_than_its_own_answer() {
    let image = std::fs::read(sample("jpeg/420.jpg")).expect("a sample");
    let origin = Hostile::start(image);
    let house = House::with(&keys(&origin));
    let good = || {
        let reply = house.get("/small_light(dw=10)/far/good.jpg");
        assert_eq!((reply.status, reply.size().0), (200, 10));
    };
    good();
    let open_before = open_files();

    for misdeed in MISDEEDS {
        for target in ["/small_light(dw=10)/far", "/far"] {
            let reply = house.get(&format!("{target}{}", misdeed.path));
            let what = format!("{target}{}: {}", misdeed.path, reply.text());
            assert!(
                misdeed.expected.contains(&reply.status),
                "{} {what}",
                reply.status
            );
            assert_eq!(reply.text().lines().count(), 1, "{what}");
            assert!(!reply.text().contains("127.0.0.1"), "{what}");
        }
        good();
    }

    // Connections are closed by tasks of their own, a moment after their answer.
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while open_files() > open_before {
        assert!(
            std::time::Instant::now() < patience,
            "{open_before} open files became {}",
            open_files()
        );
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
