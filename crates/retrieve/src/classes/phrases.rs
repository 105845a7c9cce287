//! Finding phrases in a text on word borders, all in one pass.

use rustc_hash::FxHashMap;

/// Lower-case words of a text, each with whether it follows the word before it within one phrase.
pub(super) struct Words {
    list: Vec<(String, bool)>,
}

impl Words {
    /// Words are runs of letters and digits. White space, `-` and `_` join words to phrases; other marks end one.
    pub(super) fn of(lower: &str) -> Words {
        let mut list = Vec::new();
        let mut word = String::new();
        let mut joined = false;
        for it in lower.chars().chain([' ']) {
            if it.is_alphanumeric() {
                word.push(it);
                continue;
            }
            if !word.is_empty() {
                list.push((std::mem::take(&mut word), joined));
                joined = true;
            }
            joined &= it.is_whitespace() || it == '-' || it == '_';
        }
        Words { list }
    }
}

/// What was found of one class.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Found {
    pub(super) n_phrases: usize,
    pub(super) longest: usize,
}

struct Phrase {
    class: usize,
    /// After the first.
    rest: Vec<String>,
}

/// The phrases of several classes, by their first word; the longest first.
#[derive(Default)]
pub(super) struct Phrases {
    by_first: FxHashMap<String, Vec<usize>>,
    list: Vec<Phrase>,
}

impl Phrases {
    pub(super) fn of<'a>(classes: impl Iterator<Item = &'a [String]>) -> Phrases {
        let mut list: Vec<(String, Phrase)> = Vec::new();
        for (class, phrases) in classes.enumerate() {
            for phrase in phrases {
                let mut words = Words::of(phrase).list.into_iter().map(|(word, _)| word);
                if let Some(first) = words.next() {
                    list.push((first, Phrase { class, rest: words.collect() }));
                }
            }
        }
        // Invariant: stable, so that each entry of `by_first` has its longest phrases first.
        list.sort_by_key(|(_, it)| std::cmp::Reverse(it.rest.len()));
        let mut out = Phrases::default();
        for (first, phrase) in list {
            out.by_first.entry(first).or_default().push(out.list.len());
            out.list.push(phrase);
        }
        out
    }

    /// What each class has in the text. Of phrases that overlap, the first and then the longest counts.
    pub(super) fn find(&self, text: &Words, n_classes: usize) -> Vec<Found> {
        let mut found = vec![Found::default(); n_classes];
        let mut ends = vec![0; n_classes];
        let mut is_seen = vec![false; self.list.len()];
        for (at, (word, _)) in text.list.iter().enumerate() {
            for first in [Some(word.as_str()), singular(word)].into_iter().flatten() {
                for &index in self.by_first.get(first).into_iter().flatten() {
                    let phrase = &self.list[index];
                    // Only the last word of a phrase may be in the plural.
                    let is_first_plural = first.len() < word.len();
                    if ends[phrase.class] > at || is_first_plural && !phrase.rest.is_empty() {
                        continue;
                    }
                    let Some(end) = phrase.end(text, at) else { continue };
                    ends[phrase.class] = end;
                    if !is_seen[index] {
                        is_seen[index] = true;
                        let it = &mut found[phrase.class];
                        it.n_phrases += 1;
                        it.longest = it.longest.max(phrase.rest.len() + 1);
                    }
                }
            }
        }
        found
    }
}

impl Phrase {
    /// Where the phrase ends when its first word stands at `at`.
    fn end(&self, text: &Words, at: usize) -> Option<usize> {
        let end = at + 1 + self.rest.len();
        let words = text.list.get(at + 1..end)?;
        let fits = words.iter().zip(&self.rest).enumerate().all(|(index, ((word, joined), expected))| {
            let is_last = index + 1 == self.rest.len();
            *joined && (word == expected || is_last && singular(word) == Some(expected))
        });
        fits.then_some(end)
    }
}

/// "keys" is also "key"; short words and "class" are left alone.
fn singular(word: &str) -> Option<&str> {
    word.strip_suffix('s').filter(|it| it.len() >= 3 && !it.ends_with('s'))
}
