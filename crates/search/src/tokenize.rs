//! From text to tokens: one way for documents and for queries.
//!
//! ```text
//! HTTPServer_v2  ->  parts http, server, v, 2  ->  tokens http, server, httpserverv2
//! "the servers"  ->  server
//! ```
//!
//! A word is a run of letters, digits and `_`. It is cut at snake, camel and digit borders; each part gives its English
//! stem, and a word of several parts also gives itself, lower-case and without `_`. There is no syntax: any text has
//! tokens or none.

use std::cell::RefCell;

use rust_stemmers::{Algorithm, Stemmer};

use crate::dictionary::Dictionary;
use crate::recent::Recent;
use crate::stop_words::is_stop_word;

/// Cuts text into tokens. Keep one for each worker: source repeats its words, and the tokens of those that were met are
/// remembered.
pub struct Tokenizer {
    words: Dictionary,
    /// Where the tokens of each word begin in `word_tokens`, and the end of the last.
    starts: Vec<u32>,
    word_tokens: Vec<u32>,
    parts: Dictionary,
    part_tokens: Vec<Option<u32>>,
    tokens: Dictionary,
    stemmer: Stemmer,
    /// Words and parts in lower case are made here.
    lower: Lower,
    /// By token, all zero between uses: room that is worth keeping.
    pub(crate) scratch: Vec<u32>,
    pub(crate) recent: Recent,
}

/// Tokens by number.
pub(crate) struct TokensOfWord<'t> {
    pub(crate) tokens: &'t [u32],
    /// How many there are in all: numbers are smaller.
    pub(crate) n_tokens: usize,
}

/// What the text is, which decides what stands for letters in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKind {
    Prose,
    /// `\n` is no letter `n` there, nor is the `f` before a quote a word.
    Source,
}

/// Tokens of a text, in order.
pub fn tokens(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    with_tokenizer(|it| it.each(text, |token| out.push(token.to_owned())));
    out
}

/// Runs with this thread's tokenizer, which remembers the words of earlier questions. What it remembers changes no token.
pub fn with_tokenizer<T>(run: impl FnOnce(&mut Tokenizer) -> T) -> T {
    thread_local! {
        static OWN: RefCell<Tokenizer> = RefCell::new(Tokenizer::new());
    }
    OWN.with(|own| match own.try_borrow_mut() {
        Ok(mut tokenizer) => {
            tokenizer.forget_if_full();
            run(&mut tokenizer)
        }
        // Asked for inside of itself.
        Err(_) => run(&mut Tokenizer::new()),
    })
}

/// Lower-case parts of an identifier, as they are written: `HTTPServer_v2` gives http, server, v, 2.
pub fn parts(identifier: &str) -> Vec<String> {
    let mut out = Vec::new();
    each_word(identifier, TextKind::Prose, |word| each_part(word, |it| out.push(it.to_lowercase())));
    out
}

/// Longer tokens are left out: nobody asks for them.
const MAX_TOKEN: usize = 64;
/// Longer words are no words (keys, encoded data); cutting them would give hundreds of meaningless tokens.
const MAX_WORD: usize = 256;
/// Bounds of what is remembered; one django has 70,000 words of 800 kB.
const MAX_WORDS: usize = 1 << 18;
const MAX_BYTES: usize = 1 << 23;

impl Tokenizer {
    #[expect(clippy::new_without_default, reason = "a tokenizer is made on purpose: it is worth keeping")]
    pub fn new() -> Tokenizer {
        Tokenizer {
            words: Dictionary::default(),
            starts: vec![0],
            word_tokens: Vec::new(),
            parts: Dictionary::default(),
            part_tokens: Vec::new(),
            tokens: Dictionary::default(),
            stemmer: Stemmer::create(Algorithm::English),
            lower: Lower::default(),
            scratch: Vec::new(),
            recent: Recent::default(),
        }
    }

    pub fn each(&mut self, text: &str, mut visit: impl FnMut(&str)) {
        self.forget_if_full();
        each_word(text, TextKind::Prose, |word| {
            for at in self.range_of(word) {
                visit(self.tokens.text(self.word_tokens[at]));
            }
        });
    }

    /// The tokens of a word, by numbers that hold until `forget_if_full`.
    pub(crate) fn tokens_of(&mut self, word: &str) -> TokensOfWord<'_> {
        let range = self.range_of(word);
        TokensOfWord { tokens: &self.word_tokens[range], n_tokens: self.tokens.len() }
    }

    pub(crate) fn text(&self, token: u32) -> &str {
        self.tokens.text(token)
    }

    pub(crate) fn forget_if_full(&mut self) {
        if self.words.len() > MAX_WORDS || self.words.n_bytes() > MAX_BYTES {
            *self = Tokenizer::new();
        }
    }

    /// Where the tokens of a word stand.
    fn range_of(&mut self, word: &str) -> std::ops::Range<usize> {
        let number = match self.words.find(word) {
            Some(known) => known as usize,
            None => self.learn(word),
        };
        self.starts[number] as usize..self.starts[number + 1] as usize
    }

    #[cold]
    fn learn(&mut self, word: &str) -> usize {
        let (number, _) = self.words.intern(word);
        self.cut(word);
        let end = u32::try_from(self.word_tokens.len()).expect("what is remembered is bounded");
        self.starts.push(end);
        number as usize
    }

    fn cut(&mut self, word: &str) {
        let mut lower = std::mem::take(&mut self.lower);
        if word.len() <= MAX_WORD && !is_stop_word(lower.word(word)) {
            let mut n_parts = 0;
            each_part(word, |_| n_parts += 1);
            each_part(word, |part| {
                let token = self.token_of_part(lower.part(part), n_parts == 1);
                self.word_tokens.extend(token);
            });
            if n_parts > 1 {
                lower.word.retain(|it| it != '_');
                let token = self.stem(&lower.word);
                self.word_tokens.extend(token);
            }
        }
        self.lower = lower;
    }

    fn token_of_part(&mut self, lower: &str, is_whole: bool) -> Option<u32> {
        let mut characters = lower.chars();
        let single = characters.next().filter(|_| characters.next().is_none());
        if single.is_some_and(|it| !is_whole || it.is_numeric()) {
            return None;
        }
        let (number, is_new) = self.parts.intern(lower);
        if is_new {
            let token = if is_stop_word(lower) { None } else { self.stem(lower) };
            self.part_tokens.push(token);
        }
        self.part_tokens[number as usize]
    }

    /// The token of a lower-case text.
    fn stem(&mut self, text: &str) -> Option<u32> {
        if text.len() > MAX_TOKEN {
            return None;
        }
        let is_word = text.len() >= 3 && text.bytes().all(|it| it.is_ascii_lowercase());
        let (token, _) = match is_word && may_have_stem(text.as_bytes()) {
            true => self.tokens.intern(&self.stemmer.stem(text)),
            false => self.tokens.intern(text),
        };
        Some(token)
    }
}

/// Whether a lower-case word ends as a word that is cut may end; any other is its own stem. Stemming is most of what a new
/// word costs.
fn may_have_stem(word: &[u8]) -> bool {
    const ENDS: &[&[u8]] = &[
        b"s", b"e", b"y", b"i", b"ed", b"ing", b"ion", b"ism", b"al", b"ll", b"ful", b"er", b"ator", b"ant",
        b"ent", b"ic",
    ];
    ENDS.iter().any(|it| word.ends_with(it))
}

/// Lower-case texts in memory that is kept.
#[derive(Default)]
struct Lower {
    word: String,
    part: String,
}

impl Lower {
    fn word(&mut self, word: &str) -> &str {
        set_lower(&mut self.word, word);
        &self.word
    }

    fn part(&mut self, part: &str) -> &str {
        set_lower(&mut self.part, part);
        &self.part
    }
}

fn set_lower(out: &mut String, text: &str) {
    out.clear();
    match text.is_ascii() {
        true => {
            out.push_str(text);
            out.make_ascii_lowercase();
        }
        // What a letter becomes may depend on those around it.
        false => out.push_str(&text.to_lowercase()),
    }
}

const SEPARATOR: u8 = 0;
const WORD: u8 = 1;
const BEYOND_ASCII: u8 = 2;
const CLASSES: [u8; 256] = {
    let mut classes = [SEPARATOR; 256];
    let mut byte = 0;
    while byte < 256 {
        let it = byte as u8;
        classes[byte] = match it {
            b'_' => WORD,
            _ if it.is_ascii_alphanumeric() => WORD,
            0x80.. => BEYOND_ASCII,
            _ => SEPARATOR,
        };
        byte += 1;
    }
    classes
};

/// Words as they are written, in order.
pub(crate) fn each_word(text: &str, kind: TextKind, mut visit: impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let class_at = |at: usize| bytes.get(at).map_or(SEPARATOR, |&it| CLASSES[it as usize]);
    let mut at = 0;
    while at < bytes.len() {
        let from = at;
        loop {
            while class_at(at) == WORD {
                at += 1;
            }
            if class_at(at) != BEYOND_ASCII {
                break;
            }
            match text[at..].chars().next() {
                Some(it) if it.is_alphanumeric() => at += it.len_utf8(),
                _ => break,
            }
        }
        if at > from {
            let is_prefix =
                kind == TextKind::Source && at - from <= 2 && is_string_prefix(&bytes[from..], at - from);
            if !is_prefix {
                visit(&text[from..at]);
            }
        } else {
            at += match bytes[at] {
                b'\\' if kind == TextKind::Source => {
                    1 + usize::from(bytes.get(at + 1).is_some_and(is_escape))
                }
                byte if byte < 0x80 => 1,
                _ => text[at..].chars().next().map_or(1, char::len_utf8),
            };
        }
    }
}

/// `r"`, `b'`, `fr"`.
fn is_string_prefix(bytes: &[u8], length: usize) -> bool {
    let is_letter = |it: &u8| matches!(it | 0x20, b'r' | b'b' | b'f' | b'u' | b'c');
    matches!(bytes.get(length), Some(b'"' | b'\'')) && bytes[..length].iter().all(is_letter)
}

/// Letters that mean something else after a backslash, in strings or in regular expressions.
fn is_escape(byte: &u8) -> bool {
    matches!(
        byte,
        b'\\'
            | b'n'
            | b'r'
            | b't'
            | b'b'
            | b'f'
            | b'v'
            | b'x'
            | b'u'
            | b'd'
            | b's'
            | b'w'
            | b'D'
            | b'S'
            | b'W'
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Letter {
    Upper,
    Lower,
    Digit,
}

/// Parts of a word at snake, camel and digit borders, in order.
fn each_part(word: &str, mut visit: impl FnMut(&str)) {
    for piece in word.split('_').filter(|it| !it.is_empty()) {
        let mut from = 0;
        let mut before: Option<(usize, Letter)> = None;
        // Length in letters of the run of capitals that ends here.
        let mut n_upper = 0;
        for (at, character) in piece.char_indices() {
            let letter = letter_of(character);
            let border = match before {
                None => None,
                Some((_, one)) if one == letter => None,
                Some((last, Letter::Upper)) if letter == Letter::Lower => {
                    // The last capital begins a word (`HTTPServer`), unless but an `s` follows (`URLs`).
                    (n_upper > 1 && !is_plural(&piece[at..])).then_some(last)
                }
                Some(_) => Some(at),
            };
            if let Some(border) = border {
                visit(&piece[from..border]);
                from = border;
            }
            n_upper = if letter == Letter::Upper { n_upper + 1 } else { 0 };
            before = Some((at, letter));
        }
        visit(&piece[from..]);
    }
}

fn letter_of(character: char) -> Letter {
    match character {
        _ if character.is_numeric() => Letter::Digit,
        _ if character.is_uppercase() => Letter::Upper,
        _ => Letter::Lower,
    }
}

fn is_plural(rest: &str) -> bool {
    let mut characters = rest.chars();
    characters.next() == Some('s') && characters.next().is_none_or(|it| letter_of(it) != Letter::Lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_stemmed_is_its_own_stem() {
        let stemmer = Stemmer::create(Algorithm::English);
        let letters = || b'a'..=b'z';
        for before in ["", "b", "oxy", "gener", "relat", "sensibil"] {
            for (one, two) in letters().flat_map(|one| letters().map(move |two| (one, two))) {
                for three in letters() {
                    let word = format!("{before}{}{}{}", one as char, two as char, three as char);
                    let is_cut = stemmer.stem(&word) != word;
                    assert!(!is_cut || may_have_stem(word.as_bytes()), "{word}");
                }
            }
        }
    }
}
