//! Purging: a purge adds a mark, and every older entry that matches the mark counts as purged.
//!
//! A purge does not search for the entries that it removes. It adds one mark with the next *generation* number, and
//! every look-up, in memory or on disk, compares the entry it finds with the marks. That makes a purge of a million
//! variants as quick as that of a single key, and effective at once. Generations, not clocks, decide which entries are
//! older. An entry carries the generation at which its making *began*, so an image that was made from the old source
//! and stored a moment after the purge is purged, too.

use std::collections::{BTreeMap, HashMap};
use std::sync::RwLock;

use crate::entry::{Entry, Stored};
use crate::key::Key;
use crate::locks::Shared;

/// What a purge removes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Selector {
    /// The result with this key.
    Key(Key),
    /// Every result made from this source. The source is compared with the whole [`Entry::source`], and with the
    /// further sources that [`Entry::tags`] name.
    Source(String),
    /// Every result that has a source, as for [`Selector::Source`], that begins with these bytes. To select a folder,
    /// end the prefix with `/`.
    Prefix(String),
    /// Every result that has this tag among its [`Entry::tags`].
    Tag(String),
    /// Every result.
    Everything,
}

/// Records which purges had happened when the making of a result began. Callers take it before they read the source and
/// store the result with it, so that a purge after that moment also applies to the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    pub(crate) generation: u64,
    /// Number of the last purge that this node had read from the shared store's purge log. 0 without a store.
    pub(crate) position: u64,
}

/// The effect of a purge: which tiers and nodes it reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Purged {
    /// Number of entries that were removed from memory. Entries on disk are purged as well, but they are found and
    /// removed later, and not counted.
    pub from_memory: u64,
    /// Whether there is a disk tier.
    pub has_disk: bool,
    /// Whether the purge will survive a restart. If not, the disk is failing: the purge stays in force in memory, and
    /// is saved as soon as the disk recovers.
    pub survives_restart: bool,
    /// Whether the nodes that share the store will learn of the purge, or `None` without a store. If not, it is in
    /// force on this node only.
    pub reaches_nodes: Option<bool>,
}

/// Maximum number of purge marks in memory. If there are more, one mark that purges everything replaces all of them. So
/// memory is bounded even if keys are purged one by one while the disk is unavailable.
const MOST_MARKS: usize = 100_000;

/// All purges in force, as marks. Look-ups compare each entry that they find with them.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    inner: RwLock<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Generation number of the newest purge.
    generation: u64,
    /// Lowest generation at which the making of a result may have begun for it to be stored. The purge marks before it
    /// were dropped, so older results cannot be compared with them.
    floor: u64,
    rules: Rules,
    /// Purge marks that are not on disk yet, oldest first. Always empty without a disk tier.
    unsaved: Vec<Mark>,
    /// Whether there is a disk tier, to which purge marks have to be saved.
    is_durable: bool,
}

/// The number of the newest purge of each selector. The numbers are generations for [`Marks`], and positions in the
/// shared log for the store that nodes share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    everything: u64,
    keys: HashMap<Key, u64>,
    sources: HashMap<String, u64>,
    tags: HashMap<String, u64>,
    prefixes: HashMap<Box<[u8]>, u64>,
    /// For each length in bytes, the number of `prefixes` that are this long. To find out whether one of them matches a
    /// source, as many of its first bytes are looked up in `prefixes`, once for each length.
    lengths: BTreeMap<usize, usize>,
}

/// A purge mark: what a purge removes, and the generation number of the purge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) generation: u64,
    pub(crate) selector: Selector,
}

impl Marks {
    /// Creates an empty set of purge marks. `is_durable` says whether there is a disk tier, which saves the marks that
    /// [`Marks::unsaved`] returns.
    pub(crate) fn new(is_durable: bool) -> Self {
        let inner = Inner {
            is_durable,
            ..Inner::default()
        };
        Self {
            inner: RwLock::new(inner),
        }
    }

    pub(crate) fn ticket(&self) -> Ticket {
        Ticket {
            generation: self.inner.reading().generation,
            position: 0,
        }
    }

    /// Puts a purge in force.
    pub(crate) fn add(&self, selector: Selector) {
        self.inner.writing().add(selector);
    }

    /// Calls `then` if no purge applies to the entry, and returns its result. No purge can take effect during the call.
    pub(crate) fn if_alive<T>(
        &self,
        key: &Key,
        stored: &Stored,
        then: impl FnOnce() -> T,
    ) -> Option<T> {
        let inner = self.inner.reading();
        (!inner.kills(key, &stored.entry, stored.generation)).then(then)
    }

    /// Returns whether the entry is purged.
    pub(crate) fn kills(&self, key: &Key, stored: &Stored) -> bool {
        self.if_alive(key, stored, || ()).is_none()
    }

    /// Returns whether an entry may be stored: it is not purged, and all purge marks that it has to be compared with
    /// still exist.
    pub(crate) fn admits(&self, key: &Key, stored: &Stored) -> bool {
        let inner = self.inner.reading();
        stored.generation >= inner.floor && !inner.kills(key, &stored.entry, stored.generation)
    }

    /// Returns the number of purge marks in force.
    pub(crate) fn len(&self) -> usize {
        self.inner.reading().len()
    }

    pub(crate) fn generation(&self) -> u64 {
        self.inner.reading().generation
    }

    /// Adds the generation and the purge marks that were read from disk. Purges that were requested before this call
    /// get higher generations than the ones read, so too many entries may be purged, but never too few.
    pub(crate) fn adopt(&self, generation: u64, marks: Vec<Mark>) {
        let mut inner = self.inner.writing();
        let early_marks = std::mem::take(&mut inner.unsaved);
        inner.generation = inner.generation.max(generation);
        for mark in marks {
            inner.apply(mark);
        }
        for mark in early_marks {
            inner.add(mark.selector);
        }
    }

    /// Returns the purge marks that are not saved on disk yet.
    pub(crate) fn unsaved(&self) -> Vec<Mark> {
        self.inner.reading().unsaved.clone()
    }

    /// Records that the purge marks up to this generation are on disk now, so that they are no longer among the unsaved
    /// ones.
    pub(crate) fn saved(&self, up_to: u64) {
        self.inner
            .writing()
            .unsaved
            .retain(|mark| mark.generation > up_to);
    }

    /// Returns the generation number of the newest purge, and one mark for each purge in force.
    pub(crate) fn all(&self) -> (u64, Vec<Mark>) {
        let inner = self.inner.reading();
        let marks = inner.rules.all();
        (inner.generation, marks)
    }

    /// Drops the purge marks up to this generation. The caller must have removed all stored entries that they purge.
    /// From then on, a result whose making began before this generation is not stored.
    pub(crate) fn forget(&self, up_to: u64) {
        let mut inner = self.inner.writing();
        inner.floor = inner.floor.max(up_to);
        inner.rules.forget(up_to);
    }
}

impl Inner {
    fn len(&self) -> usize {
        self.rules.len()
    }

    fn add(&mut self, selector: Selector) {
        self.generation += 1;
        let selector = if self.len().max(self.unsaved.len()) >= MOST_MARKS {
            tracing::warn!("{MOST_MARKS} purges are waiting: purging everything instead");
            Selector::Everything
        } else {
            selector
        };
        let mark = Mark {
            generation: self.generation,
            selector,
        };
        if mark.selector == Selector::Everything {
            self.unsaved.clear();
        }
        if self.is_durable {
            self.unsaved.push(mark.clone());
        }
        self.apply(mark);
    }

    fn apply(&mut self, mark: Mark) {
        self.generation = self.generation.max(mark.generation);
        self.rules.add(mark);
    }

    fn kills(&self, key: &Key, entry: &Entry, generation: u64) -> bool {
        // Purges that were lost have assigned this generation, so it is unknown what has been purged since.
        generation > self.generation || self.rules.kills(key, entry, generation)
    }
}

impl Rules {
    pub(crate) fn len(&self) -> usize {
        let everything = usize::from(self.everything > 0);
        everything + self.keys.len() + self.sources.len() + self.tags.len() + self.prefixes.len()
    }

    pub(crate) fn add(&mut self, mark: Mark) {
        let Mark {
            generation,
            selector,
        } = mark;
        let newest = match selector {
            Selector::Key(key) => self.keys.entry(key).or_default(),
            Selector::Source(source) => self.sources.entry(source).or_default(),
            Selector::Tag(tag) => self.tags.entry(tag).or_default(),
            Selector::Prefix(prefix) => {
                let prefix: Box<[u8]> = prefix.into_bytes().into();
                if !self.prefixes.contains_key(&prefix) {
                    *self.lengths.entry(prefix.len()).or_default() += 1;
                }
                self.prefixes.entry(prefix).or_default()
            }
            Selector::Everything => {
                // Older marks purge nothing that this one does not.
                self.keys.clear();
                self.sources.clear();
                self.tags.clear();
                self.prefixes.clear();
                self.lengths.clear();
                &mut self.everything
            }
        };
        *newest = generation.max(*newest);
    }

    /// Returns whether a purge numbered higher than `since` matches this entry.
    pub(crate) fn kills(&self, key: &Key, entry: &Entry, since: u64) -> bool {
        let is_newer = |mark: Option<&u64>| mark.is_some_and(|mark| *mark > since);
        let is_below = |source: &str| {
            let mut lengths = self.lengths.range(..=source.len());
            lengths.any(|(length, _)| is_newer(self.prefixes.get(&source.as_bytes()[..*length])))
        };
        let names_sources = !self.sources.is_empty() || !self.prefixes.is_empty();
        self.everything > since
            || is_newer(self.keys.get(key))
            || (!self.tags.is_empty() && entry.tags.iter().any(|tag| is_newer(self.tags.get(tag))))
            || names_sources
                && (entry.sources())
                    .any(|source| is_newer(self.sources.get(source)) || is_below(source))
    }

    /// Returns one purge mark for each rule in force.
    fn all(&self) -> Vec<Mark> {
        let mut marks = Vec::with_capacity(self.len());
        let mut push = |selector, generation: &u64| {
            marks.push(Mark {
                generation: *generation,
                selector,
            });
        };
        if self.everything > 0 {
            push(Selector::Everything, &self.everything);
        }
        self.keys
            .iter()
            .for_each(|(key, g)| push(Selector::Key(*key), g));
        self.sources
            .iter()
            .for_each(|(text, g)| push(Selector::Source(text.clone()), g));
        self.tags
            .iter()
            .for_each(|(text, g)| push(Selector::Tag(text.clone()), g));
        for (bytes, g) in &self.prefixes {
            push(
                Selector::Prefix(String::from_utf8_lossy(bytes).into_owned()),
                g,
            );
        }
        marks
    }

    fn forget(&mut self, up_to: u64) {
        if self.everything <= up_to {
            self.everything = 0;
        }
        self.keys.retain(|_, g| *g > up_to);
        self.sources.retain(|_, g| *g > up_to);
        self.tags.retain(|_, g| *g > up_to);
        self.prefixes.retain(|_, g| *g > up_to);
        self.lengths = BTreeMap::new();
        let lengths: Vec<usize> = self.prefixes.keys().map(|prefix| prefix.len()).collect();
        for length in lengths {
            *self.lengths.entry(length).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::freshness::Stamp;

    fn entry(marks: &Marks, source: &str, tags: &[&str]) -> Stored {
        let entry = Entry {
            source: source.into(),
            tags: tags.iter().map(|tag| (*tag).into()).collect(),
            ..Entry::default()
        };
        Stored {
            entry: Arc::new(entry),
            stamp: Stamp {
                wall: 0,
                since_boot: 0,
                boot: 0,
            },
            generation: marks.ticket().generation,
            position: 0,
        }
    }

    #[test]
    fn each_selector_kills_what_it_names_and_nothing_else() {
        let (mine, other) = (Key::of(&["mine"]), Key::of(&["other"]));
        let prefix = |text: &str| Selector::Prefix(text.into());
        for (selector, dead) in [
            (Selector::Key(mine), true),
            (Selector::Key(other), false),
            (Selector::Source("a/b.jpg".into()), true),
            (Selector::Source("a/b".into()), false),
            (prefix(""), true),
            (prefix("a/"), true),
            (prefix("a/b.jpg"), true),
            (prefix("a/b.jpg2"), false),
            (prefix("b"), false),
            (Selector::Tag("cats".into()), true),
            (Selector::Tag("cat".into()), false),
            (Selector::Source("logos/c.png".into()), true),
            (Selector::Source("cats".into()), false),
            (prefix("logos/"), true),
            (prefix("source:"), false),
            (Selector::Everything, true),
        ] {
            let marks = Marks::new(false);
            let stored = entry(&marks, "a/b.jpg", &["cats", "2024", "source:logos/c.png"]);
            assert!(!marks.kills(&mine, &stored));
            marks.add(selector.clone());
            assert_eq!(marks.kills(&mine, &stored), dead, "{selector:?}");
            assert!(
                !marks.kills(&mine, &entry(&marks, "a/b.jpg", &["cats"])),
                "{selector:?}"
            );
        }
    }

    #[test]
    fn what_was_begun_before_a_purge_is_dead_however_late_it_is_stored() {
        let marks = Marks::new(false);
        let stored = entry(&marks, "a", &[]);
        marks.add(Selector::Source("b".into()));
        marks.add(Selector::Source("a".into()));
        assert!(marks.kills(&Key::of(&["k"]), &stored));
    }

    #[test]
    fn forgotten_marks_leave_a_floor() {
        let marks = Marks::new(false);
        let (key, early) = (Key::of(&["k"]), entry(&marks, "c", &[]));
        marks.add(Selector::Prefix("a".into()));
        let [between, purged] = ["c", "bc"].map(|source| entry(&marks, source, &[]));
        marks.add(Selector::Prefix("b".into()));
        marks.forget(between.generation);
        assert!(!marks.admits(&key, &early));
        assert!(!marks.kills(&key, &early));
        assert!(marks.admits(&key, &between));
        assert_eq!(marks.len(), 1);
        assert!(marks.kills(&key, &purged) && !marks.admits(&key, &purged));
    }

    #[test]
    fn purges_made_before_the_disk_was_there_come_after_all_it_remembers() {
        let marks = Marks::new(true);
        marks.add(Selector::Tag("early".into()));
        let remembered = Mark {
            generation: 40,
            selector: Selector::Tag("old".into()),
        };
        marks.adopt(41, vec![remembered]);
        let stored = Stored {
            generation: 41,
            ..entry(&marks, "a", &["early"])
        };
        assert!(marks.kills(&Key::of(&["k"]), &stored));
        let stored = Stored {
            generation: 41,
            ..entry(&marks, "a", &["old"])
        };
        assert!(!marks.kills(&Key::of(&["k"]), &stored));
        assert_eq!(marks.unsaved().len(), 1);
    }

    #[test]
    fn too_many_marks_become_one() {
        let marks = Marks::new(true);
        let stored = entry(&marks, "a", &[]);
        for n in 0..=MOST_MARKS {
            marks.add(Selector::Tag(n.to_string()));
        }
        assert_eq!((marks.len(), marks.unsaved().len()), (1, 1));
        assert!(marks.kills(&Key::of(&["k"]), &stored));
    }
}
