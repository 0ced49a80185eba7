//! Purging: marks that declare older entries dead if they match.
//!
//! A purge does not search for its entries. It adds one mark with the next *generation* number, and every look-up, in
//! memory or on disk, compares the entry it finds with the marks. That makes a purge of a million variants as quick as
//! that of a single key, and effective at once. Generations, not clocks, decide what is older. An entry carries the
//! generation at which its making *began*, so an image that was made from the old source and stored a moment after the
//! purge is dead, too.

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
    /// Every result made from this source. It is compared with the whole [`Entry::source`], and with further sources that
    /// [`Entry::tags`] name.
    Source(String),
    /// Every result of which one of these sources begins with these bytes. To select a folder, end the prefix with `/`.
    Prefix(String),
    /// Every result that has this tag among its [`Entry::tags`].
    Tag(String),
    /// Every result.
    Everything,
}

/// A position in the order of purges. It is taken before a result's source is read, and handed back with the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    pub(crate) generation: u64,
    /// Number of the last purge in the shared store's log that was known. 0 without a store.
    pub(crate) position: u64,
}

/// The effect of a purge: which tiers and nodes it reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Purged {
    /// Number of entries that were removed from memory. Those on disk are dead as well. They are found and removed
    /// later, and not counted.
    pub from_memory: u64,
    /// Whether there is a disk tier.
    pub has_disk: bool,
    /// Whether the purge will survive a restart. If not, the disk is failing: the purge stays in force, is kept in
    /// memory, and is saved as soon as the disk recovers.
    pub survives_restart: bool,
    /// Whether the nodes that share the store will learn of the purge, or `None` without a store. If not, it is in
    /// force on this node only.
    pub reaches_nodes: Option<bool>,
}

/// Most marks that are kept. If there are more, a single mark that kills everything replaces them, so that memory is
/// bounded even if keys are purged one by one while the disk is not available.
const MOST_MARKS: usize = 100_000;

/// All marks in force.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    inner: RwLock<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// The newest generation assigned.
    generation: u64,
    /// Results begun before this generation are refused, because the marks they would have to be compared with are
    /// gone.
    floor: u64,
    rules: Rules,
    /// Marks that are not on disk yet, oldest first. Always empty without a disk tier.
    unsaved: Vec<Mark>,
    keeps_unsaved: bool,
}

/// What is purged, and since when. The numbers are generations, or those of another sequence, depending on the owner.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    everything: u64,
    keys: HashMap<Key, u64>,
    sources: HashMap<String, u64>,
    tags: HashMap<String, u64>,
    prefixes: HashMap<Box<[u8]>, u64>,
    /// Number of prefixes of each length. A source is looked up once per length.
    lengths: BTreeMap<usize, usize>,
}

/// A selector and the generation of its purge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) generation: u64,
    pub(crate) selector: Selector,
}

impl Marks {
    /// Creates an empty list of marks. `durable` tells whether a disk tier will collect them through
    /// [`Marks::unsaved`].
    pub(crate) fn new(durable: bool) -> Self {
        let inner = Inner {
            keeps_unsaved: durable,
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

    /// Calls `then` if the entry is not purged. No purge can take effect in between.
    pub(crate) fn if_alive<T>(
        &self,
        key: &Key,
        stored: &Stored,
        then: impl FnOnce() -> T,
    ) -> Option<T> {
        let inner = self.inner.reading();
        (!inner.kill(key, &stored.entry, stored.generation)).then(then)
    }

    pub(crate) fn kill(&self, key: &Key, stored: &Stored) -> bool {
        self.if_alive(key, stored, || ()).is_none()
    }

    /// Returns whether an entry may be stored: it is not purged, and no mark is forgotten that it would have to be
    /// compared with.
    pub(crate) fn admits(&self, key: &Key, stored: &Stored) -> bool {
        let inner = self.inner.reading();
        stored.generation >= inner.floor && !inner.kill(key, &stored.entry, stored.generation)
    }

    /// Returns the number of marks in force.
    pub(crate) fn len(&self) -> usize {
        self.inner.reading().len()
    }

    pub(crate) fn generation(&self) -> u64 {
        self.inner.reading().generation
    }

    /// Adds the generation and marks that were read from disk. Purges made before that are renumbered to come after
    /// them, so too much may be killed, but never too little.
    pub(crate) fn adopt(&self, generation: u64, marks: Vec<Mark>) {
        let mut inner = self.inner.writing();
        let early = std::mem::take(&mut inner.unsaved);
        inner.generation = inner.generation.max(generation);
        for mark in marks {
            inner.apply(mark);
        }
        for mark in early {
            inner.add(mark.selector);
        }
    }

    /// Returns the marks that are not on disk yet.
    pub(crate) fn unsaved(&self) -> Vec<Mark> {
        self.inner.reading().unsaved.clone()
    }

    /// Records that the disk has all marks up to this generation.
    pub(crate) fn saved(&self, up_to: u64) {
        self.inner
            .writing()
            .unsaved
            .retain(|mark| mark.generation > up_to);
    }

    /// Returns the newest generation, and all marks in force.
    pub(crate) fn all(&self) -> (u64, Vec<Mark>) {
        let inner = self.inner.reading();
        let marks = inner.rules.all();
        (inner.generation, marks)
    }

    /// Forgets the marks up to this generation, because nothing they kill is stored any more. Results begun before it
    /// are refused from now on.
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
        if self.keeps_unsaved {
            self.unsaved.push(mark.clone());
        }
        self.apply(mark);
    }

    fn apply(&mut self, mark: Mark) {
        self.generation = self.generation.max(mark.generation);
        self.rules.add(mark);
    }

    fn kill(&self, key: &Key, entry: &Entry, generation: u64) -> bool {
        // An entry from beyond the newest generation is from marks that were lost: nobody can say
        // what has been purged since.
        generation > self.generation || self.rules.kill(key, entry, generation)
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
                // Older marks can kill nothing that this one does not.
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

    /// Returns whether a rule newer than `since` matches this entry.
    pub(crate) fn kill(&self, key: &Key, entry: &Entry, since: u64) -> bool {
        let newer = |mark: Option<&u64>| mark.is_some_and(|mark| *mark > since);
        let is_below = |source: &str| {
            let mut lengths = self.lengths.range(..=source.len());
            lengths.any(|(length, _)| newer(self.prefixes.get(&source.as_bytes()[..*length])))
        };
        let names_sources = !self.sources.is_empty() || !self.prefixes.is_empty();
        self.everything > since
            || newer(self.keys.get(key))
            || (!self.tags.is_empty() && entry.tags.iter().any(|tag| newer(self.tags.get(tag))))
            || names_sources
                && (entry.sources())
                    .any(|source| newer(self.sources.get(source)) || is_below(source))
    }

    /// Returns all rules in force.
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
            assert!(!marks.kill(&mine, &stored));
            marks.add(selector.clone());
            assert_eq!(marks.kill(&mine, &stored), dead, "{selector:?}");
            assert!(
                !marks.kill(&mine, &entry(&marks, "a/b.jpg", &["cats"])),
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
        assert!(marks.kill(&Key::of(&["k"]), &stored));
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
        assert!(!marks.kill(&key, &early));
        assert!(marks.admits(&key, &between));
        assert_eq!(marks.len(), 1);
        assert!(marks.kill(&key, &purged) && !marks.admits(&key, &purged));
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
        assert!(marks.kill(&Key::of(&["k"]), &stored));
        let stored = Stored {
            generation: 41,
            ..entry(&marks, "a", &["old"])
        };
        assert!(!marks.kill(&Key::of(&["k"]), &stored));
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
        assert!(marks.kill(&Key::of(&["k"]), &stored));
    }
}
