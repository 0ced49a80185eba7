//! Results: their keys, the caches for them, and how they are made.
//!
//! The meaning of a target is remembered (`variant`), its result is looked up by key (`caching`), and made if the
//! look-up finds none (`making`).
//!
//! # Where a result is cached
//!
//! Every cache and table that a request passes, roughly in the order in which it passes them: name, content, bound,
//! file (below `crates/server/src/` unless it says otherwise). Tables are of one type, `andon_cache::Table`: exact in
//! its bound, evicted by SIEVE, and with a lifetime where one follows the bound (`negative` is `cache.negative`). Where
//! the figure says "(joins)", concurrent requests share one computation. A test compares the names with the code.
//!
//! ```text
//!  request ──► TargetCache     targets → request, key, response head     8192             results/variant.rs
//!                │ first time, or first after a purge: which recipe in whole pixels is it?
//!                │  FactsTable     source → size, format …; also on disk by [cache] memory results/caching/facts.rs
//!                │  headers        one per header being read (joins)                      results/making/resolving.rs
//!                ▼
//!              Cache.memory    key → result                              [cache] memory   crates/cache/src/tiered.rs
//!              Cache.disk      key → result; survives restarts           [cache] disk     crates/cache/src/disk/
//!                │ hit in a folder: is the file unchanged?
//!                │  checks         key → when it was last current        16384, 1 h       results/caching/mod.rs
//!                │ hit over a network: fresh, or stale while it is renewed
//!                │  renewing       key → "somebody renews it"            16384, negative  results/making/remote.rs
//!                │  failed_renewals key → "it has just failed"           16384, negative  results/making/remote.rs
//!                │ an unchanged file
//!                │  RecentFiles    the bytes of small files              8 MiB            results/served_file.rs
//!                │ miss
//!                ▼
//!              looks           path → size, identity; rejects early      8192             results/making/mod.rs
//!                │                 under overload
//!                ▼
//!              faults          flight → client's or image's error        16384, negative  results/making/result.rs
//!              postponed       key → "takes too long to write"           16384, till made results/making/postponed.rs
//!              flights         one per result being made (joins)                          results/making/mod.rs
//!              Cache.store     key → result, shared by nodes; races      [store]          crates/cache/src/store/
//!                │                 the making
//!                │  versions       key → version in the store            4096             crates/cache/src/store/mod.rs
//!                ▼
//!              fetches         one per source being fetched (joins)                       results/making/remote.rs
//!              KeptSources     sources fetched lately, a Cache of theirs [cache] sources  results/caching/kept_sources.rs
//!                │  faults         source → error of its origin          16384, negative  results/caching/kept_sources.rs
//!                │  pauses         origin → "asked to be left alone"     16384, its wish  results/caching/kept_sources.rs
//!              SourceCache     files that some request holds (joins)     held_bytes       sources/source_cache.rs
//!                │                 as they are:
//!                │  ends           where the image in a file ends (joins) 16384, 24 h     results/making/file.rs
//!                ▼
//!              measured        what recipes ask of pixels (joins)        16384, 24 h      results/making/measured.rs
//!              parts           source → bytes that its last part took    16384, 10 min    results/making/measured.rs
//!              indexes         where parts of a large JPEG begin (joins);                 results/making/measured.rs
//!                │                 kept in the Cache
//!                ▼
//!              frames          frames that further sizes begin with      [cache] frames   admission/frames.rs
//!              admission queue → shared decode (sizes of one image, joins) → worker thread
//!                                                                              │
//!              OverlayCache    state of an overlay image → decoded       [cache] overlays sources/overlay_cache.rs
//!                                  (joins)
//! ```
//!
//! A result's **key** is: origin, source path, revision, the recipe in whole pixels, and the other properties of the
//! request on which the result depends, such as whether its format was negotiated (`results/caching/name.rs` writes the
//! key, and a test freezes it); for results that may show text, also the name of the fonts. So equal requests share one
//! result, in whichever dialect and spelling they are written. If a client's headers (hints) have changed the recipe
//! that a URL states by itself, the key has the URL's tag, too: a purge by URL then removes that result, and no other
//! one. If pixels of the source decide the size (`trim`), key and ETag have the unresolved rules of the request in
//! place of the recipe in whole pixels. A request is resolved to whole pixels by the facts of its source that were seen
//! last, so a hit needs no source; a source whose size changes has other facts, and so its results have another key.
//! The **ETag** is: revision, recipe in whole pixels (and fonts), and the versions of the source and the overlay
//! images: date and length, or what the origin says (`request/conditional.rs`). Machines with the same configuration
//! and files have the same keys and tags. The revision counts changes of results: `andon_pixels::REVISION` and
//! `Format::revision`, held by golden tests over hashed results (`tests/revision.rs` in both crates). A purge by URL,
//! source, prefix or tag (`request/purge.rs`) becomes a rule in `crates/cache/src/purge.rs`; overlay images count as
//! sources.

pub(crate) mod caching;
pub(crate) mod head;
pub(crate) mod making;
pub(crate) mod served_file;
pub(crate) mod variant;
