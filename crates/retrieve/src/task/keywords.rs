//! The words to look names up by, in three tiers: what was meant exactly, names of several parts, single words.

use rustc_hash::FxHashSet;

use super::frames::Frame;
use super::identifiers::{Identifier, Place, is_camel, is_snake, spans};
use super::noise::is_version;
use super::paths::PathMention;
use super::words as lists;

/// One keyword; the lower-case form is made once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyword {
    pub text: String,
    pub lower: String,
}

/// The keywords of a task, each tier without repetitions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeywordSet {
    /// Text in backticks.
    pub exact: Vec<Keyword>,
    /// Names of several parts and pairs of words in both spellings. None of `exact`.
    pub compounds: Vec<Keyword>,
    /// Words and parts of compounds: the noun of the request first, then the longest first.
    pub components: Vec<Keyword>,
}

impl KeywordSet {
    pub fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.compounds.is_empty() && self.components.is_empty()
    }
}

/// What keywords are made from.
pub(super) struct Sources<'a> {
    pub(super) scope: Option<&'a str>,
    pub(super) subject: &'a str,
    pub(super) prose: &'a str,
    pub(super) identifiers: &'a [Identifier],
    pub(super) frames: &'a [Frame],
    pub(super) paths: &'a [PathMention],
    pub(super) messages: &'a [String],
}

/// Pairs of words beyond the subject's; later ones of a long text only dilute.
const MAX_PROSE_PAIRS: usize = 60;
/// Names that stand only in code blocks.
const MAX_CODE_NAMES: usize = 100;

pub(super) fn of(sources: &Sources<'_>) -> KeywordSet {
    let mut exact = Tier::default();
    for text in [sources.subject, sources.prose] {
        for line in text.lines() {
            for (span, _) in spans(line).into_iter().filter(|(_, is_code)| *is_code) {
                exact.backtick(span);
            }
        }
    }

    let (verb_noun, noun_index) = priority_noun(sources.subject);
    let mut compounds = Tier { known: exact.known.clone(), ..Tier::default() };
    if let Some(noun) = verb_noun.filter(|it| is_compound(it) && it.chars().all(is_name_character)) {
        compounds.add(noun);
    }
    let mut n_code = 0;
    for it in sources.identifiers {
        if it.place == Place::Code {
            n_code += 1;
            if n_code > MAX_CODE_NAMES {
                continue;
            }
        }
        compounds.identifier(it);
    }
    for frame in sources.frames {
        if let Some(function) = &frame.function {
            compounds.add(function);
            compounds.add(last_part(function));
        }
    }
    for path in sources.paths {
        let name = path.path.rsplit('/').next().unwrap_or(&path.path);
        compounds.add(name);
        let stem = name.split('.').next().unwrap_or(name);
        if stem.len() >= 4 && !lists::is_stop_word(&stem.to_lowercase()) {
            compounds.add(stem);
        }
    }
    pairs(sources.subject, usize::MAX, &mut compounds);
    pairs(sources.prose, MAX_PROSE_PAIRS, &mut compounds);

    let mut components = Tier::default();
    if let Some(noun) = verb_noun {
        components.component(noun);
    }
    let n_first = if noun_index { components.list.len() } else { 0 };
    for text in [sources.scope.unwrap_or_default(), sources.subject, sources.prose] {
        for word in words(text) {
            components.component(word);
        }
    }
    for compound in exact.list.iter().chain(&compounds.list) {
        components.component(&compound.text);
    }
    for path in sources.paths {
        components.component(&path.path);
    }
    for message in sources.messages {
        for word in words(message) {
            components.component(word);
        }
    }
    let n_own = components.list.len();
    for index in 0..n_own {
        let lower = components.list[index].lower.clone();
        for other in lists::abbreviations(&lower) {
            components.add(other);
        }
    }
    // Invariant: stable, so that words of one length stay in the order of the text.
    components.list[n_first..].sort_by_key(|it| std::cmp::Reverse(it.lower.chars().count()));
    KeywordSet { exact: exact.list, compounds: compounds.list, components: components.list }
}

/// Words of prose: runs of letters, digits and `_`, without the apostrophe's tail ("don't" is "don").
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !(it.is_alphanumeric() || it == '_')).filter(|it| !it.is_empty())
}

/// Longer words are data.
const MAX_WORD: usize = 80;

#[derive(Default)]
struct Tier {
    list: Vec<Keyword>,
    known: FxHashSet<String>,
}

impl Tier {
    fn add(&mut self, text: &str) {
        if text.is_empty() || text.len() > 200 {
            return;
        }
        let lower = text.to_lowercase();
        if self.known.insert(lower.clone()) {
            self.list.push(Keyword { text: text.to_owned(), lower });
        }
    }

    /// Text in backticks is taken as it is, but for call brackets, which are no part of a name.
    fn backtick(&mut self, span: &str) {
        let text = span.trim();
        let text = text.strip_suffix("()").unwrap_or(text);
        let fits = !text.contains(char::is_whitespace) && text.chars().count() <= 100;
        let n_letters = text.chars().filter(|it| it.is_alphanumeric()).count();
        if fits && n_letters >= 2 && text.contains(char::is_alphabetic) && !is_version(text) {
            self.add(text);
        }
    }

    fn identifier(&mut self, it: &Identifier) {
        if it.segments.len() == 1 && !is_compound(&it.text) && !(it.called && it.place != Place::Code) {
            return;
        }
        self.add(&it.text);
        let last = it.segments.last().map_or("", String::as_str);
        if it.segments.len() > 1 && last.len() >= 3 && !lists::is_english(&last.to_lowercase()) {
            self.add(last);
        }
    }

    /// The word and the parts it is made of, less stop words.
    fn component(&mut self, text: &str) {
        if text.len() > MAX_WORD * 4 {
            return;
        }
        for name in words(text) {
            if lists::is_product(&name.to_lowercase()) {
                self.word(name);
                continue;
            }
            for part in parts(name) {
                self.word(part);
            }
        }
    }

    fn word(&mut self, word: &str) {
        let n_characters = word.chars().count();
        let fits = (2..=MAX_WORD).contains(&n_characters) && word.contains(char::is_alphabetic);
        if fits && !lists::is_stop_word(&word.to_lowercase()) {
            self.add(word);
        }
    }
}

fn is_name_character(it: char) -> bool {
    it.is_alphanumeric() || "_.:#".contains(it)
}

fn is_compound(text: &str) -> bool {
    text.contains(['.', ':', '#']) || is_snake(text) || is_camel(text)
}

fn last_part(name: &str) -> &str {
    name.rsplit(['.', ':', '#']).next().unwrap_or(name)
}

/// `HTTPServer_v2` is HTTP, Server, v2: acronyms stay whole, digits stay with their letters.
fn parts(name: &str) -> Vec<&str> {
    let mut out = Vec::new();
    for piece in name.split('_').filter(|it| !it.is_empty()) {
        let mut from = 0;
        let letters: Vec<(usize, char)> = piece.char_indices().collect();
        for (index, pair) in letters.windows(2).enumerate() {
            let [(_, before), (at, it)] = [pair[0], pair[1]];
            let next_is_lower = letters.get(index + 2).is_some_and(|(_, next)| next.is_lowercase());
            let starts_word = it.is_uppercase() && (!before.is_uppercase() || next_is_lower);
            // "APIs": the plural belongs to the acronym.
            let is_plural = next_is_lower && letters.len() == index + 3 && letters[index + 2].1 == 's';
            if starts_word && !(before.is_uppercase() && is_plural) && at > from {
                out.push(&piece[from..at]);
                from = at;
            }
        }
        out.push(&piece[from..]);
    }
    out
}

/// The noun the leading verb is about, and whether there is one.
fn priority_noun(subject: &str) -> (Option<&str>, bool) {
    let mut tokens =
        subject.split_whitespace().map(|it| it.trim_matches(|it: char| !(it.is_alphanumeric() || it == '_')));
    let opens = tokens.next().is_some_and(|it| lists::is_leading_verb(&it.to_lowercase()));
    if !opens {
        return (None, false);
    }
    let noun = tokens.find(|it| {
        let lower = it.to_lowercase();
        it.chars().count() >= 2 && it.contains(char::is_alphabetic) && !lists::is_stop_word(&lower)
    });
    (noun, noun.is_some())
}

/// Adjacent words as one name: "rate limiter" is `RateLimiter` and `rate_limiter`.
fn pairs(text: &str, limit: usize, compounds: &mut Tier) {
    let mut n_pairs = 0;
    for line in text.lines() {
        let mut before: Option<&str> = None;
        let mut end = 0;
        for word in words(line) {
            let start = word.as_ptr() as usize - line.as_ptr() as usize;
            let gap = &line[end..start];
            end = start + word.len();
            let is_adjacent = gap == " " || gap == "-";
            let word = Some(word).filter(|it| pairs_up(it));
            if let (Some(first), Some(second), true) = (before, word, is_adjacent)
                && first.len().max(second.len()) >= 4
            {
                if n_pairs == limit {
                    return;
                }
                n_pairs += 1;
                let (first, second) = (first.to_lowercase(), second.to_lowercase());
                compounds.add(&format!("{}{}", capitalised(&first), capitalised(&second)));
                compounds.add(&format!("{first}_{second}"));
            }
            before = word;
        }
    }
}

/// Plain words of three characters and more that say something.
fn pairs_up(word: &str) -> bool {
    let lower = word.to_lowercase();
    (3..=40).contains(&word.chars().count())
        && word.chars().all(char::is_alphanumeric)
        && word.starts_with(char::is_alphabetic)
        && !is_camel(word)
        && !lists::is_english(&lower)
        && !lists::is_action_verb(&lower)
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |it| it.to_uppercase().chain(letters).collect())
}
