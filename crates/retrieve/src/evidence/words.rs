//! What the task's words say of a candidate: how much of the task it says, and how much of its names the task says.

use knowing_search::{Evaluation, Field, Tokenizer};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::channels::Channels;
use crate::task::{Identifier, Place};

/// What a task wants, told from its first words.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Intent {
    pub(crate) mends: bool,
    pub(crate) adds: bool,
    pub(crate) asks: bool,
    pub(crate) tidies: bool,
}

/// How the task's identifiers name it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Identified {
    pub(crate) subject: bool,
    pub(crate) backtick: bool,
    pub(crate) prose: bool,
    pub(crate) code: bool,
    pub(crate) trace: bool,
    pub(crate) called: bool,
    pub(crate) count: f64,
    /// Most segments of one identifier that agree.
    pub(crate) segments: f64,
    pub(crate) owner: bool,
    pub(crate) owner_in_prose: bool,
}

/// The terms of the task as the index knows them.
pub(super) struct Terms {
    pub(super) idf: Vec<f64>,
    pub(super) in_subject: Vec<bool>,
    pub(super) position: FxHashMap<String, usize>,
    /// The rarest terms that the index knows.
    pub(super) is_rare: Vec<bool>,
    pub(super) n_rare: f64,
    /// Positions of each message's terms, and their sum of idf.
    pub(super) messages: Vec<(Vec<bool>, f64)>,
}

pub(super) fn terms_of(cx: Channels<'_>) -> Terms {
    let list = &cx.query.terms;
    let position: FxHashMap<String, usize> =
        list.iter().zip(0..).map(|((term, _), at)| (term.clone(), at)).collect();
    let idf: Vec<f64> = cx.prepared.idfs();
    let mut messages = Vec::new();
    const MAX_MESSAGES: usize = 8;
    for message in cx.task.messages.iter().take(MAX_MESSAGES) {
        let mut of_message = vec![false; list.len()];
        for token in knowing_search::tokens(message) {
            if let Some(&at) = position.get(token.as_str()) {
                of_message[at] = true;
            }
        }
        let mass: f64 = of_message.iter().zip(&idf).filter(|it| *it.0).map(|it| it.1).sum();
        if mass > 0.0 {
            messages.push((of_message, mass));
        }
    }
    const N_RARE: usize = 5;
    let mut order: Vec<usize> = (0..idf.len()).filter(|&at| idf[at] > 0.0).collect();
    order.sort_by(|&a, &b| idf[b].total_cmp(&idf[a]).then(a.cmp(&b)));
    order.truncate(N_RARE);
    let mut is_rare = vec![false; idf.len()];
    order.iter().for_each(|&at| is_rare[at] = true);
    Terms {
        in_subject: list.iter().map(|it| it.1.subject > 0).collect(),
        position,
        n_rare: order.len().max(1) as f64,
        is_rare,
        idf,
        messages,
    }
}

#[derive(Default)]
pub(super) struct Coverage {
    pub(super) whole: f64,
    pub(super) names: f64,
    pub(super) body: f64,
    pub(super) subject: f64,
    pub(super) message: f64,
    pub(super) n_matched: f64,
    pub(super) rarest: f64,
    pub(super) rare: f64,
}

pub(super) fn coverage(evaluation: &Evaluation, terms: &Terms) -> Coverage {
    const NAMES: u8 = 1 << Field::Name as u8 | 1 << Field::Owner as u8 | 1 << Field::Path as u8;
    const BODY: u8 = 1 << Field::Body as u8 | 1 << Field::Doc as u8;
    let mut coverage = Coverage::default();
    let mut in_messages = vec![0.0; terms.messages.len()];
    for &(term, mask) in &evaluation.matched {
        let idf = terms.idf[term];
        coverage.whole += idf;
        coverage.n_matched += 1.0;
        coverage.rarest = f64::max(coverage.rarest, idf);
        if terms.is_rare[term] {
            coverage.rare += 1.0 / terms.n_rare;
        }
        if mask & NAMES != 0 {
            coverage.names += idf;
        }
        if mask & BODY != 0 {
            coverage.body += idf;
            for (sum, (of_message, _)) in in_messages.iter_mut().zip(&terms.messages) {
                if of_message[term] {
                    *sum += idf;
                }
            }
        }
        if terms.in_subject[term] {
            coverage.subject += idf;
        }
    }
    let shares = in_messages.iter().zip(&terms.messages).map(|(sum, (_, mass))| sum / mass);
    coverage.message = shares.fold(0.0, f64::max);
    coverage
}

/// How much of a name the task says.
#[derive(Clone, Copy, Default)]
pub(super) struct Said {
    pub(super) n_tokens: f64,
    pub(super) share: f64,
    pub(super) in_subject: f64,
    pub(super) by_idf: f64,
    pub(super) rarest: f64,
}

pub(super) fn said(tokenizer: &mut Tokenizer, name: &str, terms: &Terms) -> Said {
    let (mut n_said, mut n_in_subject, mut said_idf, mut idf) = (0.0, 0.0, 0.0, 0.0);
    let mut said = Said::default();
    tokenizer.each(name, |token| {
        said.n_tokens += 1.0;
        match terms.position.get(token) {
            Some(&at) => {
                n_said += 1.0;
                n_in_subject += f64::from(u8::from(terms.in_subject[at]));
                said_idf += terms.idf[at];
                idf += terms.idf[at];
                said.rarest = f64::max(said.rarest, terms.idf[at]);
            }
            // What the task does not say weighs as much as a word that is neither rare nor common.
            None => idf += UNSAID_IDF,
        }
    });
    if said.n_tokens > 0.0 {
        said.share = n_said / said.n_tokens;
        said.in_subject = n_in_subject / said.n_tokens;
        said.by_idf = said_idf / idf.max(f64::MIN_POSITIVE);
    }
    said
}

const UNSAID_IDF: f64 = 4.0;

pub(super) fn scope_said(tokenizer: &mut Tokenizer, scope: &[String], path: &str, symbol: &str) -> f64 {
    if scope.is_empty() {
        return 0.0;
    }
    let mut own = FxHashSet::default();
    for text in [path, symbol] {
        tokenizer.each(text, |token| {
            own.insert(token.to_owned());
        });
    }
    scope.iter().filter(|it| own.contains(*it)).count() as f64 / scope.len() as f64
}

pub(super) fn intent(subject: &str) -> Intent {
    let mut intent = Intent { asks: subject.trim_end().ends_with('?'), ..Intent::default() };
    for (at, word) in subject.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).enumerate()
    {
        let word = word.to_lowercase();
        intent.mends |= matches!(
            word.as_str(),
            "fix"
                | "fixed"
                | "fixes"
                | "bug"
                | "error"
                | "crash"
                | "crashes"
                | "fails"
                | "incorrect"
                | "wrong"
                | "broken"
                | "regression"
                | "raises"
                | "not"
                | "doesn"
        );
        if at < 3 {
            intent.adds |= matches!(
                word.as_str(),
                "add"
                    | "added"
                    | "adds"
                    | "implement"
                    | "implemented"
                    | "support"
                    | "allow"
                    | "allowed"
                    | "create"
                    | "write"
                    | "build"
                    | "introduce"
                    | "feat"
                    | "enable"
                    | "make"
                    | "made"
            );
            intent.tidies |= matches!(
                word.as_str(),
                "refactor"
                    | "refactored"
                    | "rename"
                    | "renamed"
                    | "remove"
                    | "removed"
                    | "move"
                    | "moved"
                    | "simplify"
                    | "simplified"
                    | "cleanup"
                    | "clean"
                    | "use"
                    | "used"
                    | "improve"
                    | "improved"
            );
            intent.asks |=
                matches!(word.as_str(), "how" | "where" | "what" | "which" | "find" | "trace" | "explain");
        }
    }
    intent
}

pub(super) fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    match stem {
        // The directory is what such a file is called after.
        "__init__" | "mod" | "lib" | "index" | "main" => path.rsplit('/').nth(1).unwrap_or(stem),
        _ => stem,
    }
}

pub(super) fn identified(cx: Channels<'_>, node: u32, name: &str, symbol: &str) -> Identified {
    let mut found = Identified::default();
    let owner = symbol.rsplit('.').nth(1).unwrap_or_default();
    for identifier in &cx.task.identifiers {
        if !owner.is_empty() && identifier.segments.iter().any(|it| it == owner) {
            found.owner = true;
            found.owner_in_prose |=
                matches!(identifier.place, Place::Subject | Place::Backtick | Place::Prose);
        }
        if identifier.segments.last().is_none_or(|it| it != name) {
            continue;
        }
        count_identifier(&mut found, identifier, crate::channels::agreeing(cx, node, identifier));
    }
    found
}

fn count_identifier(found: &mut Identified, identifier: &Identifier, agreeing: usize) {
    match identifier.place {
        Place::Subject => found.subject = true,
        Place::Backtick => found.backtick = true,
        Place::Prose => found.prose = true,
        Place::Code => found.code = true,
        Place::Trace => found.trace = true,
    }
    found.called |= identifier.called;
    found.count += identifier.count as f64;
    found.segments = f64::max(found.segments, agreeing as f64);
}
