//! How URLs of the image components of Next.js and Vercel are recognised in logs.

use crate::forms::{Form, Room};

const LENIENT: &str = "device_sizes = []\nimage_sizes = []\nqualities = []\nremote_patterns = [{ hostname = \"**\" }]\n";

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "Next.js",
        dialect: "next",
        order: (0, 0),
        prefix_key: Some("prefix"),
        lenient: LENIENT,
        room: Room::OnePath,
        pattern: "/?",
        look: |cut| cut.endpoint("/_next/image", &["url", "w", "q"]),
    },
    Form {
        name: "Vercel",
        dialect: "next",
        order: (1, 0),
        prefix_key: Some("vercel_prefix"),
        lenient: LENIENT,
        room: Room::OnePath,
        pattern: "/?",
        look: |cut| cut.endpoint("/_vercel/image", &["url", "w", "q"]),
    },
];
