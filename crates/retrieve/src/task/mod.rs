//! What a task says: one line or a long issue with code, tracebacks and noise, read once into plain data.
//!
//! ```text
//! text --> lines --> traces    frames, messages, exceptions
//!                --> kinds     prose, code, trace, noise
//!                --> names     identifiers, imports, paths, keywords
//! ```
//!
//! Reading never fails and takes time linear in the text: whatever is not understood is prose, and prose
//! without a telling word gives empty sets.

mod code;
mod frames;
mod identifiers;
mod imports;
mod keywords;
mod lines;
mod messages;
mod noise;
mod paths;
mod shapes;
mod words;

#[cfg(test)]
mod tests;

pub use frames::Frame;
pub use identifiers::{Identifier, Place};
pub use keywords::{Keyword, KeywordSet};
pub use paths::PathMention;

use lines::{Kind, Line};

/// A task, understood. Every field is plain data, in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Task {
    /// The whole task without URLs, versions, hashes, templates and environment listings.
    pub text: String,
    /// The first meaningful line, without a `fix(scope): ` before it.
    pub subject: String,
    /// `scope` of a `fix(scope): ` or `scope: ` before the subject.
    pub scope: Option<String>,
    /// What is neither subject, code nor trace.
    pub prose: String,
    pub code: String,
    pub trace: String,
    pub keywords: KeywordSet,
    pub identifiers: Vec<Identifier>,
    /// Modules and names of import statements, split into segments.
    pub imported: Vec<Vec<String>>,
    pub paths: Vec<PathMention>,
    /// Stack frames; within each trace the innermost is last.
    pub frames: Vec<Frame>,
    /// What programs said: texts to look for among string literals.
    pub messages: Vec<String>,
    /// Terminal names of exceptions and errors.
    pub exceptions: Vec<String>,
    pub speaks_of_tests: bool,
    pub speaks_of_documents: bool,
    pub speaks_of_overloads: bool,
    /// Asks in few words how something works, or wants something that is not there yet; does not say what is wrong.
    pub wants_a_whole: bool,
    pub n_words: usize,
    /// More than a paragraph: an issue rather than an instruction.
    pub is_long: bool,
}

/// A paragraph has fewer words than this.
const LONG_WORDS: usize = 80;

impl Task {
    /// Reads any text at all; what is not understood is prose.
    pub fn parse(text: &str) -> Task {
        let text = noise::without_markup(text);
        let raw: Vec<&str> = text.lines().collect();
        let traces = frames::read(&raw);
        let mut lines = lines::classify(&raw, &traces.is_trace);
        let lines::Subject { opening, scope, text: subject } = lines::take_subject(&mut lines);

        let mut identifiers = identifiers::Collector::default();
        identifiers.prose(&subject, Place::Subject);
        for line in &lines {
            match line.kind {
                Kind::Prose => identifiers.prose(&line.text, Place::Prose),
                Kind::Code => identifiers.code(&line.text, Place::Code),
                Kind::Trace => identifiers.prose(&line.text, Place::Trace),
                Kind::Blank => {}
            }
        }
        let identifiers = identifiers.finish();

        let paths = paths::read(&raw, &subject, &lines);
        let (messages, exceptions) = messages::read(&subject, &lines, traces.messages, traces.exceptions);
        let imported = imports::read(&subject, &lines);
        let prose = joined(&lines, Kind::Prose);
        let whole = whole(scope.as_deref(), &subject, &lines);
        let keywords = keywords::of(&keywords::Sources {
            scope: scope.as_deref(),
            subject: &subject,
            prose: &prose,
            identifiers: &identifiers,
            frames: &traces.frames,
            paths: &paths,
            messages: &messages,
        });
        let n_words = whole.split_whitespace().count();
        let says = |it: fn(&str) -> bool| {
            [&opening, &subject, &prose]
                .into_iter()
                .any(|text| keywords::words(text).any(|word| it(&word.to_lowercase())))
        };
        let speaks_of_tests = says(words::speaks_of_tests);
        let speaks_of_documents = says(words::speaks_of_documents);
        let speaks_of_overloads = says(words::speaks_of_overloads);
        let is_long = n_words > LONG_WORDS;
        let wants_a_whole = !is_long && wants_a_whole(&opening, &subject);
        Task {
            subject,
            scope,
            prose,
            code: joined(&lines, Kind::Code),
            trace: joined(&lines, Kind::Trace),
            keywords,
            identifiers,
            imported,
            paths,
            frames: traces.frames,
            messages,
            exceptions,
            speaks_of_tests,
            speaks_of_documents,
            speaks_of_overloads,
            wants_a_whole,
            n_words,
            is_long,
            text: whole,
        }
    }
}

fn wants_a_whole(opening: &str, subject: &str) -> bool {
    let says = |it: fn(&str) -> bool| {
        let words = [opening, subject].into_iter().flat_map(|it| it.split(|it: char| !it.is_alphanumeric()));
        words.filter(|it| !it.is_empty()).any(|word| it(&word.to_lowercase()))
    };
    subject.contains('?') || says(words::asks) || (says(words::adds) && !says(words::complains))
}

fn joined(lines: &[Line], kind: Kind) -> String {
    let mut out = String::new();
    for line in lines.iter().filter(|it| it.kind == kind) {
        push_line(&mut out, &line.text);
    }
    out
}

fn whole(scope: Option<&str>, subject: &str, lines: &[Line]) -> String {
    let mut out = String::new();
    if let Some(scope) = scope {
        out.push_str(scope);
        out.push_str(": ");
    }
    out.push_str(subject);
    for line in lines.iter().filter(|it| it.kind != Kind::Blank) {
        push_line(&mut out, &line.text);
    }
    out
}

fn push_line(out: &mut String, line: &str) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(line);
}
