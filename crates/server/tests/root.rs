//! Nothing outside of an origin's root is ever served, however it is spelled.

use std::os::unix::fs::symlink;

use crate::common::House;

/// The content of a file next to the root, in the server's folder.
const SECRET: &str = "the secret";

fn house() -> House {
    House::furnished("", |folder| {
        std::fs::write(folder.join("secret.jpg"), SECRET).unwrap();
        std::fs::create_dir(folder.join("root/inside")).unwrap();
        std::fs::write(folder.join("root/inside/b.txt"), "inside").unwrap();
        symlink("../secret.jpg", folder.join("root/link.jpg")).unwrap();
        symlink(folder, folder.join("root/house")).unwrap();
        symlink("..", folder.join("root/up")).unwrap();
        symlink("/proc/self/root", folder.join("root/magic")).unwrap();
        symlink("inside/b.txt", folder.join("root/good.txt")).unwrap();
        symlink("loop", folder.join("root/loop")).unwrap();
    })
}

#[test]
fn no_spelling_leaves_the_root() {
    let house = house();
    let absolute = house.folder.path().join("secret.jpg").display().to_string();
    let long = format!("/{}secret.jpg", "../".repeat(1000));
    for path in [
        "/../secret.jpg",
        "/..%2fsecret.jpg",
        "/..%2Fsecret.jpg",
        "/%2e%2e/secret.jpg",
        "/%2e%2e%2fsecret.jpg",
        "/%252e%252e/secret.jpg",
        "/%252e%252e%252fsecret.jpg",
        "/inside/../../secret.jpg",
        "/inside/..%2f..%2fsecret.jpg",
        "/..\\secret.jpg",
        "/..%5csecret.jpg",
        "/....//secret.jpg",
        "/..;/secret.jpg",
        "/..%00/secret.jpg",
        "/a.jpg%00../secret.jpg",
        "/..%c0%afsecret.jpg",
        "/%c0%ae%c0%ae/secret.jpg",
        "/./../secret.jpg",
        "//../secret.jpg",
        "/link.jpg",
        "/house/secret.jpg",
        "/up/secret.jpg",
        "/magic/etc/hostname",
        "/loop",
        "/etc/hostname",
        "//etc/hostname",
        "/%2fetc/hostname",
        "/file:///etc/hostname",
        &absolute,
        &long,
    ] {
        for target in [path.to_owned(), format!("/small_light(dw=10){path}")] {
            let reply = house.get(&target);
            assert!(
                matches!(reply.status, 400 | 404 | 415),
                "{target}: {} {}",
                reply.status,
                reply.text()
            );
            assert!(!reply.text().contains(SECRET), "{target}");
        }
    }
}

#[test]
fn links_that_stay_inside_are_followed() {
    assert_eq!(house().get("/good.txt").text(), "inside");
}

#[test]
fn no_reply_tells_where_the_root_is() {
    let house = house();
    let path = house.folder.path().display().to_string();
    for target in [
        "/missing",
        "/link.jpg",
        "/inside",
        "/small_light(dw=5)/inside",
    ] {
        assert!(!house.get(target).text().contains(&path), "{target}");
    }
}
