//! Tests of confined folders and their files.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::SystemTime;

use andon_pixels::buffers::Buffer;

use super::*;
use crate::origins::file::{MOST_AT_ONCE, SETTLED};

/// Creates a folder `root` with `a.jpg` and `inside/b.jpg`, next to a file `secret` that must not be readable
/// through it.
fn house() -> (tempfile::TempDir, Root) {
    let house = tempfile::tempdir().unwrap();
    let root = house.path().join("root");
    std::fs::create_dir_all(root.join("inside")).unwrap();
    std::fs::write(root.join("a.jpg"), "a").unwrap();
    std::fs::write(root.join("inside/b.jpg"), "b").unwrap();
    std::fs::write(house.path().join("secret"), "secret").unwrap();
    let opened = Root::open(&root).unwrap();
    (house, opened)
}

fn text(root: &Root, path: &str) -> Result<String, Error> {
    match root.entry(path, Blocking::Allowed)? {
        Entry::File(file) => {
            let bytes = file.read(1 << 20, Blocking::Allowed)?;
            Ok(String::from_utf8(bytes.into_vec()).unwrap())
        }
        Entry::Folder => Ok("folder".to_owned()),
    }
}

#[test]
fn files_are_those_of_the_folder_that_is_at_the_path_now() {
    let (house, root) = house();
    let (new, old) = (house.path().join("new"), house.path().join("old"));
    let at = house.path().join("root");
    for (name, put_in_place) in [
        (
            "renamed.jpg",
            &(|| {
                std::fs::rename(&at, &old).unwrap();
                std::fs::rename(&new, &at).unwrap();
            }) as &dyn Fn(),
        ),
        ("made-again.jpg", &|| {
            std::fs::remove_dir_all(&at).unwrap();
            assert!(matches!(text(&root, "x"), Err(Error::Missing { .. })));
            std::fs::rename(&new, &at).unwrap();
        }),
        ("linked.jpg", &|| {
            std::fs::remove_dir_all(&at).unwrap();
            symlink(&new, &at).unwrap();
        }),
    ] {
        std::fs::create_dir(&new).unwrap();
        std::fs::write(new.join(name), name).unwrap();
        assert!(matches!(text(&root, name), Err(Error::Missing { .. })));
        put_in_place();
        assert_eq!(text(&root, name).unwrap(), name);
        assert!(root.names("", 9).unwrap().contains(&name.to_owned()));
    }
}

#[test]
fn a_file_that_both_folders_have_is_that_of_the_one_that_is_there_now() {
    let (house, mut root) = house();
    let (new, at) = (house.path().join("new"), house.path().join("root"));
    std::fs::create_dir(&new).unwrap();
    std::fs::write(new.join("a.jpg"), "new").unwrap();
    assert_eq!(text(&root, "a.jpg").unwrap(), "a");
    std::fs::rename(&at, house.path().join("old")).unwrap();
    std::fs::rename(&new, &at).unwrap();
    let status = Status::of(&rustix::fs::stat(house.path().join("old/a.jpg")).unwrap());
    root.folder.set_due();
    assert!(!root.is_still("a.jpg", &status));
    let refused = root.entry("a.jpg", Blocking::Refused);
    assert!(refused.is_err_and(|error| Blocking::Refused.ends_with(&error)));
    assert_eq!(text(&root, "a.jpg").unwrap(), "new");
    assert!(!root.folder.is_due());
}

#[test]
fn the_same_file_by_a_link_out_of_the_folder_is_not_there_any_more() {
    let (house, root) = house();
    let Entry::File(opened) = root.entry("inside/b.jpg", Blocking::Allowed).unwrap() else {
        panic!("a file");
    };
    let soon = SystemTime::now() + SETTLED;
    let status = opened.status(soon).expect("it is as old");
    let (inside, outside) = (
        house.path().join("root/inside"),
        house.path().join("outside"),
    );
    std::fs::rename(&inside, &outside).unwrap();
    symlink(&outside, &inside).unwrap();
    let by_link = rustix::fs::stat(inside.join("b.jpg")).unwrap();
    assert_eq!(Status::of(&by_link), status);
    assert!(!root.is_still("inside/b.jpg", &status));
    let root = root.following_outside_links(true);
    if root.entry("inside/b.jpg", Blocking::Refused).is_ok() {
        assert!(root.is_still("inside/b.jpg", &status));
    }
}

#[test]
fn a_file_is_in_the_same_state_until_it_or_its_rights_are_changed() {
    let change: [&dyn Fn(&Path); 5] = [
        &|file| std::fs::write(file, "A").unwrap(),
        &|file| std::fs::set_permissions(file, PermissionsExt::from_mode(0o200)).unwrap(),
        &|file| std::fs::remove_file(file).unwrap(),
        &|file| std::fs::rename(file.with_file_name("inside/b.jpg"), file).unwrap(),
        &|file| {
            std::fs::remove_file(file).unwrap();
            std::fs::create_dir(file).unwrap();
        },
    ];
    for change in change {
        let (house, root) = house();
        let file = house.path().join("root/a.jpg");
        let Entry::File(opened) = root.entry("a.jpg", Blocking::Allowed).unwrap() else {
            panic!("a file");
        };
        let soon = SystemTime::now() + SETTLED;
        assert_eq!(opened.status(soon - 2 * SETTLED), None);
        let status = opened.status(soon).expect("it is as old");
        // Not every file system can tell what it has in memory.
        if root.entry("/a.jpg", Blocking::Refused).is_ok() {
            assert!(root.is_still("/a.jpg", &status));
        }
        // The system's clock for files ticks every few milliseconds.
        let ticked = || {
            let beside = file.with_file_name("tick");
            std::fs::write(&beside, "").unwrap();
            let Ok(Entry::File(beside)) = root.entry("tick", Blocking::Allowed) else {
                panic!("a file");
            };
            beside.changed_ns > status.changed_ns
        };
        while !ticked() {}
        change(&file);
        assert!(!root.is_still("/a.jpg", &status));
    }
}

#[test]
fn files_inside_are_read() {
    let (_house, root) = house();
    for (path, expected) in [
        ("a.jpg", "a"),
        ("/a.jpg", "a"),
        ("inside/b.jpg", "b"),
        ("inside/../a.jpg", "a"),
        ("inside", "folder"),
        ("", "folder"),
    ] {
        assert_eq!(text(&root, path).unwrap(), expected, "{path}");
    }
}

#[test]
fn nothing_outside_is_reached_by_any_spelling() {
    let (house, root) = house();
    let absolute = house.path().join("secret").display().to_string();
    for path in [
        "../secret",
        "inside/../../secret",
        "..\\secret",
        "a.jpg\0.png",
        &absolute,
        &"x".repeat(5000),
    ] {
        let result = text(&root, path);
        assert!(
            matches!(result, Err(Error::Missing { .. })),
            "{path}: {result:?}"
        );
    }
}

#[test]
fn links_that_lead_out_are_named_and_followed_only_where_that_is_allowed() {
    let (house, root) = house();
    let inside = house.path().join("root");
    symlink("../secret", inside.join("relative-link")).unwrap();
    symlink(house.path().join("secret"), inside.join("absolute-link")).unwrap();
    symlink("..", inside.join("up")).unwrap();
    symlink("/proc/self/root", inside.join("magic")).unwrap();
    for path in [
        "relative-link",
        "absolute-link",
        "up/secret",
        "magic/etc/hostname",
    ] {
        let result = text(&root, path);
        assert!(
            matches!(
                result,
                Err(Error::Withheld {
                    why: Withheld::OutsideLink,
                    ..
                })
            ),
            "{path}: {result:?}"
        );
    }
    let root = root.following_outside_links(true);
    for path in ["relative-link", "absolute-link", "up/secret"] {
        assert_eq!(text(&root, path).unwrap(), "secret", "{path}");
    }
    let absolute = house.path().join("secret").display().to_string();
    for path in [
        "../secret",
        "inside/../../secret",
        "magic/etc/hostname",
        &absolute,
    ] {
        assert!(text(&root, path).is_err(), "{path}");
    }
}

#[test]
fn names_are_those_of_a_folder_up_to_a_number() {
    let (_house, root) = house();
    let mut names = root.names("", 100).unwrap();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    assert_eq!(names, ["a.jpg", "inside"]);
    assert!(root.names("inside", 1).unwrap().len() <= 1);
    assert!(root.names("..", 100).is_err());
}

#[test]
fn links_that_stay_inside_are_followed() {
    let (house, root) = house();
    symlink("inside/b.jpg", house.path().join("root/link")).unwrap();
    assert_eq!(text(&root, "link").unwrap(), "b");
}

#[test]
fn a_pipe_is_no_file_and_nobody_waits_for_it() {
    let (house, root) = house();
    let pipe = house.path().join("root/pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        FileType::Fifo,
        Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    assert!(matches!(text(&root, "pipe"), Err(Error::Missing { .. })));
}

#[test]
fn a_file_over_the_limit_is_not_read() {
    let (_house, root) = house();
    let Entry::File(file) = root.entry("a.jpg", Blocking::Allowed).unwrap() else {
        panic!("a file")
    };
    assert!(matches!(
        file.read(0, Blocking::Allowed),
        Err(Error::Pixels(andon_pixels::Error::Limit {
            value: 1,
            limit: 0,
            ..
        }))
    ));
}

#[test]
fn a_file_that_changes_between_opening_and_reading_is_not_served() {
    let (house, root) = house();
    let Entry::File(file) = root.entry("a.jpg", Blocking::Allowed).unwrap() else {
        panic!("a file")
    };
    std::fs::write(house.path().join("root/a.jpg"), "longer").unwrap();
    assert!(matches!(
        file.read(1 << 20, Blocking::Allowed),
        Err(Error::Changing)
    ));
}

/// Reads `path` as a thread that must not wait does; `None` where it would have to wait.
fn at_once(root: &Root, path: &str) -> Option<Result<Buffer<u8>, Error>> {
    let read = root
        .entry(path, Blocking::Refused)
        .and_then(|entry| match entry {
            Entry::File(file) => file.read(MOST_AT_ONCE * 2, Blocking::Refused),
            Entry::Folder => Ok(b"folder".to_vec().into()),
        });
    match read {
        Err(error) if Blocking::Refused.ends_with(&error) => None,
        read => Some(read),
    }
}

#[test]
fn what_is_in_memory_is_the_same_without_waiting() {
    let (house, mut root) = house();
    let inside = house.path().join("root");
    let most: Vec<_> = (0..MOST_AT_ONCE).map(|at| (at % 251) as u8).collect();
    std::fs::write(inside.join("most"), &most).unwrap();
    std::fs::write(inside.join("more"), [most, vec![1]].concat()).unwrap();
    symlink("../secret", inside.join("out")).unwrap();
    for path in ["a.jpg", "inside/b.jpg", "inside", "most"] {
        let waited = match root.entry(path, Blocking::Allowed).unwrap() {
            Entry::File(file) => file.read(MOST_AT_ONCE, Blocking::Allowed).unwrap(),
            Entry::Folder => b"folder".to_vec().into(),
        };
        // Not every file system and kernel can tell.
        if let Some(read) = at_once(&root, path) {
            assert!(read.unwrap() == waited, "{path}");
        }
    }
    for path in ["more", "missing", "out", "../secret", "/proc/self/status"] {
        assert!(at_once(&root, path).is_none(), "{path}");
    }
    root.folder.set_asking();
    assert!(at_once(&root, "a.jpg").is_none());
}

#[test]
fn a_file_that_became_shorter_is_not_served_without_waiting_either() {
    let (house, root) = house();
    let path = house.path().join("root/a.jpg");
    std::fs::write(&path, "longer").unwrap();
    let Entry::File(file) = root.entry("a.jpg", Blocking::Allowed).unwrap() else {
        panic!("a file")
    };
    std::fs::write(&path, "short").unwrap();
    let read = file.read(100, Blocking::Refused);
    let refused = matches!(&read, Err(error) if Blocking::Refused.ends_with(error));
    assert!(refused, "{read:?}");
}
