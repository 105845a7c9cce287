//! Runs a `spec.md`: a heading, a snippet, and the facts that the snippet must yield.
//!
//! A block of facts is complete for every first word that stands in it: if it has one `call`, it has all of them, so a
//! surplus fact fails as a missing one does. `no call` says that there is none. The order of lines and the amount of
//! white space do not matter.
//!
//! With `UPDATE_EXPECT=1` the blocks are rewritten in place; an empty block then receives every fact.

use std::{collections::BTreeSet, fmt::Write, fs, ops::Range, path::Path};

/// One snippet and what is said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The nearest heading above.
    pub heading: String,
    /// The first word after the fence, such as `python`.
    pub language: String,
    /// From `path=pkg/mod.py` after the language.
    pub path: Option<String>,
    pub source: String,
    /// The 1-based line of the snippet's fence.
    pub line: usize,
    /// The lines of the block of facts with their 1-based line numbers; blank lines are left out.
    pub expected: Vec<(usize, String)>,
    /// Where the block's lines stand, as 0-based line numbers.
    block: Range<usize>,
}

/// Checks every case of a spec; fails once, with all differences.
#[track_caller]
pub fn check_spec(text: &str, path: &Path, actual: impl FnMut(&Case) -> Vec<String>) {
    let outcome = compare(text, path, actual).unwrap_or_else(|problem| panic!("{problem}"));
    if outcome.report.is_empty() {
        return;
    }
    if std::env::var_os("UPDATE_EXPECT").is_some_and(|it| it == "1") {
        fs::write(path, outcome.updated).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    panic!("{}\nrun with UPDATE_EXPECT=1 to accept what is there", outcome.report);
}

/// The cases of a spec, or what is wrong with its form.
pub fn parse(text: &str, path: &Path) -> Result<Vec<Case>, String> {
    let lines: Vec<&str> = text.lines().collect();
    let at = |line: usize, problem: &str| format!("{}:{line}: {problem}", path.display());
    let mut cases = Vec::new();
    let mut heading = String::new();
    let mut open_case: Option<Case> = None;
    let mut next = 0;
    while next < lines.len() {
        let (number, line) = (next + 1, lines[next]);
        next += 1;
        if line.starts_with('#') {
            heading = line.trim_start_matches('#').trim().to_owned();
        }
        let fence = line.len() - line.trim_start_matches('`').len();
        if fence < 3 {
            continue;
        }
        let closes =
            |it: &&str| it.trim_end().len() >= fence && it.trim_end().bytes().all(|byte| byte == b'`');
        let n_inside =
            lines[next..].iter().position(closes).ok_or_else(|| at(number, "a fence without an end"))?;
        let block = next..next + n_inside;
        next = block.end + 1;
        let mut info = line[fence..].split_whitespace();
        let language = info.next().unwrap_or_default();
        if language == "facts" {
            let mut case = open_case.take().ok_or_else(|| at(number, "facts without a snippet"))?;
            case.expected = block.clone().map(|it| (it + 1, folded(lines[it]))).collect();
            case.expected.retain(|(_, line)| !line.is_empty());
            case.block = block;
            cases.push(case);
            continue;
        }
        if let Some(case) = open_case {
            return Err(at(case.line, "a snippet without facts"));
        }
        let source = lines[block.clone()].iter().fold(String::new(), |source, line| source + line + "\n");
        open_case = Some(Case {
            heading: heading.clone(),
            language: language.to_owned(),
            path: info.find_map(|it| it.strip_prefix("path=")).map(str::to_owned),
            source,
            line: number,
            expected: Vec::new(),
            block,
        });
    }
    match open_case {
        Some(case) => Err(at(case.line, "a snippet without facts")),
        None if cases.is_empty() => Err(at(1, "no case at all")),
        None => Ok(cases),
    }
}

/// All differences as text, empty when there are none, and the spec as it would be without them.
struct Outcome {
    report: String,
    updated: String,
}

fn compare(text: &str, path: &Path, mut actual: impl FnMut(&Case) -> Vec<String>) -> Result<Outcome, String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut outcome = Outcome { report: String::new(), updated: String::new() };
    let mut copied = 0;
    for case in parse(text, path)? {
        let facts = actual(&case);
        let difference = difference(&case, &facts);
        push_lines(&mut outcome.updated, &lines[copied..case.block.start]);
        copied = case.block.end;
        if difference.is_empty() {
            push_lines(&mut outcome.updated, &lines[case.block]);
            continue;
        }
        push_lines(&mut outcome.updated, &rewritten(&case, &facts));
        let place = format!("{}:{}", path.display(), case.line);
        writeln!(outcome.report, "{place}: {}\n{difference}", case.heading).expect("a string takes all");
    }
    push_lines(&mut outcome.updated, &lines[copied..]);
    Ok(outcome)
}

fn push_lines(text: &mut String, lines: &[impl AsRef<str>]) {
    for line in lines {
        text.push_str(line.as_ref());
        text.push('\n');
    }
}

/// Lines `- missing` and `+ surplus`, in the order of their text.
fn difference(case: &Case, facts: &[String]) -> String {
    let words = words_of(case);
    if words.is_empty() {
        return format!("  the block of facts at line {} is empty\n", case.block.start + 1);
    }
    let mut expected: Vec<(&str, Option<usize>)> = case
        .expected
        .iter()
        .filter(|(_, line)| absent_word(line).is_none())
        .map(|(number, line)| (line.as_str(), Some(*number)))
        .collect();
    let facts: Vec<String> = facts.iter().map(|it| folded(it)).collect();
    let mut surplus: Vec<&str> =
        facts.iter().map(String::as_str).filter(|it| words.contains(first_word(it))).collect();
    surplus.sort_unstable();
    expected.retain(|(line, _)| match surplus.binary_search(line) {
        Ok(found) => {
            surplus.remove(found);
            false
        }
        Err(_) => true,
    });
    expected.extend(surplus.iter().map(|line| (*line, None)));
    expected.sort();
    let mut text = String::new();
    for (line, number) in expected {
        match number {
            Some(number) => writeln!(text, "  - {line}    (line {number})"),
            None => writeln!(text, "  + {line}"),
        }
        .expect("a string takes all");
    }
    text
}

/// The facts that the block would hold: those of its words, in the order they came.
fn rewritten(case: &Case, facts: &[String]) -> Vec<String> {
    let words = words_of(case);
    let kept = |it: &&String| words.is_empty() || words.contains(first_word(it));
    let mut lines: Vec<String> = facts.iter().filter(kept).map(|it| it.trim_end().to_owned()).collect();
    for word in words {
        if !lines.iter().any(|it| first_word(it) == word) {
            lines.push(format!("no {word}"));
        }
    }
    lines
}

/// The words for which the block is complete.
fn words_of(case: &Case) -> BTreeSet<&str> {
    case.expected.iter().map(|(_, line)| absent_word(line).unwrap_or_else(|| first_word(line))).collect()
}

/// The `call` of `no call`.
fn absent_word(line: &str) -> Option<&str> {
    line.strip_prefix("no ").filter(|it| !it.contains(' '))
}

fn first_word(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

fn folded(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
