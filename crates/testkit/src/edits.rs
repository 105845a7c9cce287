//! Random edits of real code: the projects of the resolution specifications, and a crate of ours.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::{spec, split_files};

/// A small generator, so that every run tries the same edits.
#[derive(Clone, Copy, Debug)]
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.roll(of.len())]
    }
}

/// Texts by path.
pub type Sources = BTreeMap<String, String>;

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../resolve/src")
}

fn files_below(directory: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(directory)
        .expect("the sources are there")
        .map(|it| it.expect("the sources are there").path())
        .collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() { files_below(&entry, found) } else { found.push(entry) }
    }
}

/// The numbers of the histories to try: `KNOWING_CASES` says how many, or which (`126..127`); else a few.
pub fn cases(few: u64) -> Range<u64> {
    let asked = std::env::var("KNOWING_CASES").unwrap_or_default();
    let (from, to) = asked.split_once("..").unwrap_or(("0", &asked));
    from.parse().unwrap_or(0)..to.parse().unwrap_or(few)
}

/// The projects of each language's specification of resolution, and the crate that resolves.
pub fn corpus() -> Vec<Vec<Sources>> {
    let mut languages = Vec::new();
    let mut paths = Vec::new();
    files_below(&sources(), &mut paths);
    for path in paths.iter().filter(|it| it.extension().is_some_and(|it| it == "md")) {
        let text = fs::read_to_string(path).expect("the sources are there");
        let project = |source: &str| -> Sources {
            split_files(source).into_iter().map(|(path, text)| (path.to_owned(), text)).collect()
        };
        languages.push(
            spec::parse(&text, path)
                .expect("specifications are well-formed")
                .iter()
                .map(|it| project(&it.source))
                .collect(),
        );
    }
    let own = paths.iter().filter(|it| it.extension().is_some_and(|it| it == "rs"));
    let own = own.filter(|it| !it.ends_with("tables.rs")).map(|it| {
        let path = it.strip_prefix(sources()).ok().and_then(Path::to_str).expect("found below, in UTF-8");
        (format!("src/{path}"), fs::read_to_string(it).expect("the sources are there"))
    });
    let manifest = ("Cargo.toml".to_owned(), "[package]\nname = \"resolve\"\n".to_owned());
    languages.push(vec![own.chain([manifest]).collect()]);
    languages
}

/// Some projects of one language over each other, so that names meet that have never met.
pub fn mixture(projects: &[Sources], dice: &mut Dice) -> Sources {
    let mut files = Sources::new();
    for _ in 0..1 + dice.roll(8) {
        files.extend(dice.pick(projects).clone());
    }
    files
}

/// Changes one file: its lines, a word, its path; or adds or removes some.
pub fn edit(files: &mut Sources, projects: &[Sources], dice: &mut Dice) {
    let paths: Vec<String> = files.keys().cloned().collect();
    let path = dice.pick(&paths).clone();
    let other = files[dice.pick(&paths)].clone();
    match dice.roll(12) {
        0 if files.len() > 1 => {
            files.remove(&path);
        }
        1 => files.extend(dice.pick(projects).clone()),
        2 => {
            let text = files.remove(&path).expect("a path of the list");
            let (directory, name) = path.rsplit_once('/').unwrap_or(("", &path));
            let moved = ["moved", directory, ""][dice.roll(3)];
            let name = if dice.roll(2) == 0 { format!("a{name}") } else { name.to_owned() };
            files.insert(if moved.is_empty() { name } else { format!("{moved}/{name}") }, text);
        }
        _ => {
            let text = files.get_mut(&path).expect("a path of the list");
            *text = edited(text, &other, dice);
        }
    }
}

fn edited(text: &str, other: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let others: Vec<&str> = other.lines().collect();
    if lines.is_empty() || others.is_empty() {
        return other.to_owned();
    }
    let at = dice.roll(lines.len());
    let n = 1 + dice.roll(6.min(lines.len() - at));
    match dice.roll(7) {
        0 => {
            lines.drain(at..at + n);
        }
        1 => lines.insert(at, ""),
        2 => {
            let cut: Vec<&str> = lines.drain(at..at + n).collect();
            let to = dice.roll(lines.len() + 1);
            lines.splice(to..to, cut);
        }
        3 => {
            let from = dice.roll(others.len());
            let n = 1 + dice.roll(8.min(others.len() - from));
            lines.splice(at..at, others[from..from + n].iter().copied());
        }
        _ => return renamed(text, other, dice),
    }
    lines.join("\n") + "\n"
}

fn words(text: &str) -> Vec<(usize, &str)> {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    let mut words = Vec::new();
    for part in text.split(|it| !is_part(it)).filter(|it| !it.is_empty()) {
        words.push((part.as_ptr() as usize - text.as_ptr() as usize, part));
    }
    words
}

/// One word becomes another one of the project.
fn renamed(text: &str, other: &str, dice: &mut Dice) -> String {
    let (words, others) = (words(text), words(other));
    if words.is_empty() || others.is_empty() {
        return text.to_owned();
    }
    let (at, word) = *dice.pick(&words);
    let (_, by) = *dice.pick(&others);
    format!("{}{by}{}", &text[..at], &text[at + word.len()..])
}
