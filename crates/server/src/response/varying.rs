//! Headers that differ between replies with the same result or file; [`Varying::for_each`] lists them. The fast path
//! writes them as text, and every other reply gets them in its header map.

use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::time::Duration;

use hyper::header::{self, HeaderMap, HeaderName};

use super::cache_status::CacheStatus;

/// The headers of a reply that depend on how and when its result or file was obtained.
#[derive(Debug, Default)]
pub(crate) struct Varying<'a> {
    /// The header `Cache-Status`; `None` in replies for which nothing was looked up in the cache.
    pub(crate) cache_status: Option<CacheStatus>,
    /// Names and durations of the stages of the answer so far, for `Server-Timing`.
    pub(crate) stages: &'a [(&'static str, Duration)],
    /// The value of the header `Cache-Control`.
    pub(crate) cache_control: Option<String>,
    /// The value of the header `Age`, in seconds.
    pub(crate) age: Option<u64>,
}

impl Varying<'_> {
    /// Calls `take` with the name and the value of each header that the reply has.
    fn for_each(&self, mut take: impl FnMut(HeaderName, &dyn fmt::Display)) {
        if let Some(status) = &self.cache_status {
            take(HeaderName::from_static("cache-status"), status);
        }
        if !self.stages.is_empty() {
            let timing = Timing(self.stages);
            take(HeaderName::from_static("server-timing"), &timing);
        }
        if let Some(text) = &self.cache_control {
            take(header::CACHE_CONTROL, text);
        }
        if let Some(seconds) = &self.age {
            take(header::AGE, seconds);
        }
    }

    /// Sets the headers in a map.
    pub(crate) fn set(&self, headers: &mut HeaderMap) {
        self.for_each(|name, value| {
            let mut text = String::with_capacity(USUAL_VALUE);
            // Writing to a String cannot fail.
            let _ = write!(text, "{value}");
            super::set(headers, name, &text);
        });
    }

    /// Appends the headers to a head as HTTP/1 sends it.
    pub(crate) fn write(&self, head: &mut Vec<u8>) {
        self.for_each(|name, value| {
            // Writing to a Vec cannot fail.
            let _ = write!(head, "{}: {value}\r\n", name.as_str());
        });
    }
}

/// Displays the stages of an answer in the syntax of `Server-Timing`, in milliseconds.
struct Timing<'a>(&'a [(&'static str, Duration)]);

impl fmt::Display for Timing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (name, time)) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            // In whole numbers, because formatting a floating-point number takes longer than the rest of a hit's head.
            let tenths = (time.as_micros() + 50) / 100;
            write!(f, "{comma}{name};dur={}.{}", tenths / 10, tenths % 10)?;
        }
        Ok(())
    }
}

/// Capacity in bytes that suffices for most values of the headers in [`Varying`].
const USUAL_VALUE: usize = 64;
