//! What programs said: error messages to look for among string literals, and the names of exceptions.

use rustc_hash::FxHashSet;

use super::identifiers::spans;
use super::lines::{Kind, Line};

/// Messages and exceptions in order, each once.
#[derive(Default)]
pub(super) struct Said {
    pub(super) messages: Vec<String>,
    pub(super) exceptions: Vec<String>,
    known: FxHashSet<(bool, String)>,
}

/// Longer texts are dumps.
const MAX_MESSAGE: usize = 400;

impl Said {
    pub(super) fn message(&mut self, text: &str) {
        let text = without_quotes(text.trim());
        if text.len() < 3 || !text.contains(char::is_alphabetic) {
            return;
        }
        let text: String = text.chars().take(MAX_MESSAGE).collect();
        if self.known.insert((true, text.clone())) {
            self.messages.push(text);
        }
    }

    /// The terminal name is kept: `django.db.utils.OperationalError` is `OperationalError`.
    pub(super) fn exception(&mut self, name: &str) {
        let name = name.rsplit(['.', ':', '$']).next().unwrap_or(name);
        if !name.is_empty() && self.known.insert((false, name.to_owned())) {
            self.exceptions.push(name.to_owned());
        }
    }

    /// `a.b.SomeError: message`, or the name alone.
    pub(super) fn exception_line(&mut self, text: &str) -> bool {
        let text = text.strip_prefix("Error: ").unwrap_or(text);
        let end = text.find(|it: char| !(it.is_alphanumeric() || "._$".contains(it))).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let last = name.rsplit(['.', '$']).next().unwrap_or(name);
        let is_class =
            last.len() > 3 && last.starts_with(char::is_uppercase) && last.contains(char::is_lowercase);
        let rest = rest.trim_start();
        if !is_class || !(rest.is_empty() || rest.starts_with(':')) {
            return false;
        }
        // A lone capital word is as likely prose.
        if rest.is_empty() && !is_exception_name(name) {
            return false;
        }
        self.exception(name);
        self.message(rest.trim_start_matches(':'));
        true
    }

    /// `a.b.DoesNotExist` at the end of a Python trace, where no other line is a dotted name alone.
    pub(super) fn exception_alone(&mut self, text: &str) -> bool {
        let is_dotted =
            text.contains('.') && text.bytes().all(|it| it.is_ascii_alphanumeric() || b"._".contains(&it));
        let is_class =
            text.rsplit('.').next().is_some_and(|it| it.starts_with(|it: char| it.is_ascii_uppercase()));
        if is_dotted && is_class {
            self.exception(text);
        }
        is_dotted && is_class
    }

    /// `message (NameError)` at the end of a Ruby frame.
    pub(super) fn ruby(&mut self, text: &str) {
        match text.strip_suffix(')').and_then(|it| it.rsplit_once(" (")) {
            Some((message, name)) => {
                self.exception(name);
                self.message(message);
            }
            None => self.message(text),
        }
    }
}

/// Takes quotes off when they stand around the whole text.
fn without_quotes(text: &str) -> &str {
    let mut letters = text.chars();
    match (letters.next(), letters.next_back()) {
        (Some(first @ ('`' | '"' | '\'')), Some(last))
            if first == last && !letters.as_str().contains(first) =>
        {
            letters.as_str().trim()
        }
        _ => text,
    }
}

/// `KeyError`, `a.b.TimeoutException`, `DeprecationWarning`.
pub(super) fn is_exception_name(name: &str) -> bool {
    let last = name.rsplit(['.', ':', '$']).next().unwrap_or(name);
    name.bytes().all(|it| it.is_ascii_alphanumeric() || b"._:$".contains(&it))
        && last.starts_with(|it: char| it.is_ascii_uppercase())
        && ["Error", "Exception", "Warning", "Fault", "Failure", "Interrupt", "Exit"]
            .iter()
            .any(|it| last.len() > it.len() && last.ends_with(it))
}

/// Joins what the traces said with what subject and lines quote.
pub(super) fn read(
    subject: &str,
    lines: &[Line],
    messages: Vec<String>,
    exceptions: Vec<String>,
) -> (Vec<String>, Vec<String>) {
    let mut said = Said::default();
    for it in messages {
        said.message(&it);
    }
    for it in exceptions {
        said.exception(&it);
    }
    prose(subject, &mut said);
    for line in lines {
        match line.kind {
            Kind::Prose => prose(&line.text, &mut said),
            Kind::Code => {
                errors(line.text.trim(), &mut said);
                named(&line.text, &mut said);
            }
            Kind::Trace | Kind::Blank => {}
        }
    }
    (said.messages, said.exceptions)
}

fn prose(text: &str, said: &mut Said) {
    for (span, is_code) in spans(text) {
        named(span, said);
        if !is_code {
            quoted(span, said);
        } else if n_words(span) >= 3 && !is_exception_talk(span) {
            said.message(span);
        }
    }
    errors(text, said);
}

fn n_words(text: &str) -> usize {
    text.split_whitespace().filter(|it| it.contains(char::is_alphabetic)).count()
}

/// Begins with the name of an exception: its message is already taken.
fn is_exception_talk(text: &str) -> bool {
    text.split_once(": ").is_some_and(|(name, _)| is_exception_name(name))
}

/// `SomeError` anywhere, and the message after `SomeError: `.
fn named(text: &str, said: &mut Said) {
    let mut rest = text;
    while let Some(start) = rest.find(|it: char| it.is_ascii_alphabetic()) {
        let tail = &rest[start..];
        let end =
            tail.find(|it: char| !(it.is_ascii_alphanumeric() || "._".contains(it))).unwrap_or(tail.len());
        let (name, after) = tail.split_at(end);
        let name = name.trim_end_matches('.');
        if is_exception_name(name) {
            said.exception(name);
            if let Some(message) = after.strip_prefix(": ") {
                said.message(message);
                return;
            }
        }
        rest = after;
    }
}

/// `error: ...`, `error[E0277]: ...`, `fatal: ...` near the front of a line.
fn errors(text: &str, said: &mut Said) {
    let lower: String = text.chars().take(200).collect::<String>().to_ascii_lowercase();
    for opening in ["error: ", "error[", "fatal: ", "exception value: "] {
        let Some(at) = lower.find(opening) else { continue };
        let is_front = at == 0 || lower[..at].ends_with([' ', '`', ':', '"', '*', '\'']);
        if !is_front {
            continue;
        }
        let message = match opening {
            "error[" => text[at..].split_once("]: ").map(|(_, it)| it),
            _ => Some(&text[at + opening.len()..]),
        };
        if let Some(message) = message {
            let end = message.find('`').filter(|_| text[..at].ends_with('`')).unwrap_or(message.len());
            // "Error: /a/b" says nothing to look for.
            if n_words(&message[..end]) >= 2 {
                said.message(&message[..end]);
            }
            return;
        }
    }
}

/// Quoted text of three words or more on one line.
fn quoted(text: &str, said: &mut Said) {
    let mut open: Option<(usize, char)> = None;
    let mut before = ' ';
    let mut letters = text.char_indices().peekable();
    while let Some((at, it)) = letters.next() {
        match open {
            None => {
                let close = match it {
                    '"' => Some('"'),
                    '“' => Some('”'),
                    '«' => Some('»'),
                    // An apostrophe stands within or after a word.
                    '\'' if !before.is_alphanumeric() => Some('\''),
                    _ => None,
                };
                if let Some(close) = close {
                    open = Some((at + it.len_utf8(), close));
                }
            }
            Some((from, close)) if it == close => {
                let ends_word =
                    close != '\'' || letters.peek().is_none_or(|(_, next)| !next.is_alphanumeric());
                if ends_word {
                    let inner = &text[from..at];
                    if n_words(inner) >= 3 {
                        said.message(inner);
                    }
                    open = None;
                }
            }
            Some(_) => {}
        }
        before = it;
    }
}
