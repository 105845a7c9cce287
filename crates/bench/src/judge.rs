//! How a ranked list is judged: `judge` of the yardsticks' `score.py`, rule by rule. A test compares the two.
//!
//! *Strict* counts each true symbol once: same last name, same owner where both have one, same file where the truth names
//! one. *Lenient* is the public rule of the benchmark behind the seeds, for comparison only.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

const EXTENSIONS: [&str; 10] =
    [".go.", ".py.", ".ts.", ".tsx.", ".js.", ".jsx.", ".rs.", ".java.", ".cs.", ".rb."];

/// A name and, where it is known, its file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) file: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Judged {
    pub(crate) p10_lenient: f64,
    pub(crate) r10: f64,
    pub(crate) mrr: f64,
    pub(crate) ndcg10: f64,
    pub(crate) acc10: f64,
    pub(crate) any10: f64,
    /// None when the truth names no file.
    pub(crate) file_r10: Option<f64>,
    /// All true files among the first five files of the list.
    pub(crate) file_acc5: Option<f64>,
}

pub(crate) fn judge(results: &[Named], truth: &[Named]) -> Judged {
    const K: usize = 10;
    let top: Vec<Named> =
        results.iter().take(K).map(|it| Named { name: bare(&it.name), ..it.clone() }).collect();
    let lenient_hits =
        top.iter().filter(|it| truth.iter().any(|truth| lenient(&it.name, &truth.name))).count();
    let mut used = BTreeSet::new();
    let mut hits = Vec::new();
    for it in &top {
        let hit = (0..truth.len()).find(|at| !used.contains(at) && is_strict_hit(it, &truth[*at]));
        hits.push(hit.is_some());
        used.extend(hit);
    }
    let gain = |rank: usize| 1.0 / ((rank + 2) as f64).log2();
    let ideal: f64 = (0..K.min(truth.len())).map(gain).sum();
    let gained: f64 = hits.iter().enumerate().filter(|it| *it.1).map(|it| gain(it.0)).sum();
    // A truth whose file is empty names none.
    let files: BTreeSet<&str> =
        truth.iter().filter_map(|it| it.file.as_deref()).filter(|it| !it.is_empty()).collect();
    let found: BTreeSet<&str> = top.iter().filter_map(|it| it.file.as_deref()).collect();
    let mut first: Vec<&str> = Vec::new();
    for file in results.iter().filter_map(|it| it.file.as_deref()) {
        if first.len() < 5 && !first.contains(&file) {
            first.push(file);
        }
    }
    let with_files = |value: f64| (!files.is_empty()).then_some(value);
    Judged {
        p10_lenient: lenient_hits as f64 / K as f64,
        r10: used.len() as f64 / truth.len() as f64,
        mrr: hits.iter().position(|it| *it).map_or(0.0, |rank| 1.0 / (rank + 1) as f64),
        ndcg10: gained / ideal,
        acc10: f64::from(u8::from(used.len() == truth.len())),
        any10: f64::from(u8::from(!used.is_empty())),
        file_r10: with_files(files.intersection(&found).count() as f64 / files.len().max(1) as f64),
        file_acc5: with_files(f64::from(u8::from(files.iter().all(|it| first.contains(it))))),
    }
}

/// Whether a result is a true symbol; its name is bare.
pub(crate) fn is_strict_hit(result: &Named, truth: &Named) -> bool {
    strict(&result.name, &truth.name, result.file.as_deref(), truth.file.as_deref())
}

fn norm(name: &str) -> String {
    let name = name.trim().trim_end_matches('.').trim_end_matches('(').replace("::", ".").replace('#', ".");
    let name = name.split_once("://").map_or(name.as_str(), |it| it.1);
    for extension in EXTENSIONS {
        if let Some(at) = name.rfind(extension) {
            return name[at + extension.len()..].to_owned();
        }
    }
    if let Some(at) = name.rfind('/') {
        let last = &name[at + 1..];
        return last.split_once('.').map_or(last, |it| it.1).to_owned();
    }
    let parts: Vec<&str> = name.split('.').collect();
    let first_type = parts.iter().position(|it| it.chars().next().is_some_and(char::is_uppercase));
    match first_type {
        Some(at) => parts[at..].join("."),
        None => parts.last().copied().unwrap_or_default().to_owned(),
    }
}

fn lenient(result: &str, truth: &str) -> bool {
    let (result, truth) = (norm(result).to_lowercase(), norm(truth).to_lowercase());
    if result.is_empty() || truth.is_empty() {
        return false;
    }
    let ends = |one: &str, other: &str| one.ends_with(&format!(".{other}"));
    if result == truth || ends(&result, &truth) || ends(&truth, &result) {
        return true;
    }
    let (results, truths): (Vec<&str>, Vec<&str>) = (result.split('.').collect(), truth.split('.').collect());
    let owners_meet =
        || results[..results.len() - 1].iter().any(|it| truths[..truths.len() - 1].contains(it));
    if results.last() == truths.last() && (results.len() == 1 || truths.len() == 1 || owners_meet()) {
        return true;
    }
    let within = |one: &str, other: &str| format!(".{one}.").contains(&format!(".{other}."));
    within(&result, &truth) || within(&truth, &result)
}

fn strict(result: &str, truth: &str, result_file: Option<&str>, truth_file: Option<&str>) -> bool {
    let (result_file, truth_file) =
        (result_file.filter(|it| !it.is_empty()), truth_file.filter(|it| !it.is_empty()));
    if let (Some(one), Some(other)) = (result_file, truth_file)
        && one != other
    {
        return false;
    }
    let result = if result.contains('/') || truth_file.is_none() { norm(result) } else { result.to_owned() };
    let truth = if truth_file.is_some() { truth.to_owned() } else { norm(truth) };
    let plain =
        |it: &str| it.replace("::", ".").replace('#', ".").to_lowercase().trim_matches('.').to_owned();
    let (result, truth) = (plain(&result), plain(&truth));
    let (mut results, mut truths) = (result.rsplit('.'), truth.rsplit('.'));
    if results.next() != truths.next() {
        return false;
    }
    match (results.next(), truths.next()) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    }
}

/// Without what tells overloads and repeated definitions apart: `f(int,T)`, `f#2`.
pub(crate) fn bare(name: &str) -> String {
    let mut rest = name;
    if let Some(at) = rest.rfind('#')
        && at + 1 < rest.len()
        && rest[at + 1..].chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '.' | '-'))
    {
        rest = &rest[..at];
    }
    if let Some(at) = opening_of_last_brackets(rest) {
        rest = &rest[..at];
    }
    rest.to_owned()
}

/// Where the brackets begin that end a name, at most two levels deep.
fn opening_of_last_brackets(name: &str) -> Option<usize> {
    if !name.ends_with(')') {
        return None;
    }
    let mut depth = 0;
    for (at, character) in name.char_indices().rev() {
        match character {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth > 2 {
            return None;
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}
