//! Purging: marks that say "what is older than this, and matches, is dead".
//!
//! A purge does not look for its entries. It adds one mark with the next *generation* number, and
//! every look-up, in either tier, compares the entry it found with the marks. That makes a purge of a
//! million variants as quick as one of a single key, and effective at once. Generations, not clocks,
//! say what is older: an entry carries the generation at which its making *began*, so an image made
//! from the old source and stored a moment after the purge is dead too.

use std::collections::{BTreeMap, HashMap};
use std::sync::RwLock;

use crate::entry::{Entry, Stored};
use crate::key::Key;
use crate::locks::Shared;

/// What a purge removes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Selector {
    /// One result.
    Key(Key),
    /// Every result made from this source, compared with [`Entry::source`] as a whole.
    Source(String),
    /// Every result whose [`Entry::source`] begins with these bytes; end it with `/` to mean a folder.
    Prefix(String),
    /// Every result with this one among its [`Entry::tags`].
    Tag(String),
    /// Every result.
    Everything,
}

/// A place in the order of purges: taken before a result's source is read, given back with the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    pub(crate) generation: u64,
    /// Where the log of the shared store was read to; 0 without one.
    pub(crate) position: u64,
}

/// How far a purge reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Purged {
    /// Entries in memory that were removed. Those on disk are dead as well; they are found and removed
    /// later, and not counted.
    pub from_memory: u64,
    /// Is there a disk tier?
    pub has_disk: bool,
    /// Whether a restart will remember it. If not, the disk fails; it is kept in memory, in
    /// force, and saved as soon as the disk is well again.
    pub survives_restart: bool,
    /// Whether the nodes that share the store will learn of it; `None` without a store. If not, it is in force here
    /// alone.
    pub reaches_nodes: Option<bool>,
}

/// More marks than this and they are folded into one that kills everything: memory has a ceiling even
/// if somebody purges key by key while the disk is away.
const MOST_MARKS: usize = 100_000;

/// All marks in force.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    inner: RwLock<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// The newest generation given out.
    generation: u64,
    /// Results begun before this are refused: the marks that would have judged them are gone.
    floor: u64,
    rules: Rules,
    /// Not yet on disk, oldest first. Empty for ever without a disk tier.
    unsaved: Vec<Mark>,
    keeps_unsaved: bool,
}

/// What is purged, and since when: numbers in whatever order is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    everything: u64,
    keys: HashMap<Key, u64>,
    sources: HashMap<String, u64>,
    tags: HashMap<String, u64>,
    prefixes: HashMap<Box<[u8]>, u64>,
    /// How many prefixes there are of each length: a source is looked up once per length.
    lengths: BTreeMap<usize, usize>,
}

/// A selector and the generation it is in force from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) generation: u64,
    pub(crate) selector: Selector,
}

impl Marks {
    /// `durable`: a disk tier will collect the marks through [`Marks::unsaved`].
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

    /// Calls `then` if the entry is alive, while no purge can come in between.
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

    /// Whether a result begun with this generation may still be stored.
    pub(crate) fn judges(&self, generation: u64) -> bool {
        generation >= self.inner.reading().floor
    }

    /// How many marks there are to compare with.
    pub(crate) fn len(&self) -> usize {
        self.inner.reading().len()
    }

    pub(crate) fn generation(&self) -> u64 {
        self.inner.reading().generation
    }

    /// Takes in what a disk remembered. Purges made before it was there now count as made after
    /// everything it remembers: too much may die, never too little.
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

    /// What the disk does not have yet.
    pub(crate) fn unsaved(&self) -> Vec<Mark> {
        self.inner.reading().unsaved.clone()
    }

    /// The disk now has all up to this generation.
    pub(crate) fn saved(&self, up_to: u64) {
        self.inner
            .writing()
            .unsaved
            .retain(|mark| mark.generation > up_to);
    }

    /// Every mark in force, and the newest generation.
    pub(crate) fn all(&self) -> (u64, Vec<Mark>) {
        let inner = self.inner.reading();
        let marks = inner.rules.all();
        (inner.generation, marks)
    }

    /// Forgets the marks up to this generation, because nothing they kill is stored any more. Results
    /// still being made from before are refused from now on.
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

    /// Is there a rule about this entry that came after `since`?
    pub(crate) fn kill(&self, key: &Key, entry: &Entry, since: u64) -> bool {
        let newer = |mark: Option<&u64>| mark.is_some_and(|mark| *mark > since);
        let source = entry.source.as_bytes();
        self.everything > since
            || newer(self.keys.get(key))
            || newer(self.sources.get(&entry.source))
            || (!self.tags.is_empty() && entry.tags.iter().any(|tag| newer(self.tags.get(tag))))
            || self
                .lengths
                .range(..=source.len())
                .any(|(length, _)| newer(self.prefixes.get(&source[..*length])))
    }

    /// Every rule in force.
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
            (Selector::Everything, true),
        ] {
            let marks = Marks::new(false);
            let stored = entry(&marks, "a/b.jpg", &["cats", "2024"]);
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
        let early = marks.ticket();
        marks.add(Selector::Prefix("a".into()));
        let between = marks.ticket();
        marks.add(Selector::Prefix("b".into()));
        marks.forget(between.generation);
        assert!(!marks.judges(early.generation));
        assert!(marks.judges(between.generation));
        assert_eq!(marks.len(), 1);
        let stored = Stored {
            generation: between.generation,
            ..entry(&marks, "bc", &[])
        };
        assert!(marks.kill(&Key::of(&["k"]), &stored));
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
