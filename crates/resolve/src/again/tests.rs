//! Random edits of real code: what is resolved again, together with what is kept, equals a full run.
//!
//! `KNOWING_CASES=1000` tries that many histories of edits; a few are tried otherwise.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use knowing_model::facts::FileFacts;
use knowing_model::{Unit, UnitLayer};
use knowing_testkit::{spec, split_files};

use crate::{Input, InputFile, Previous, Record, Resolution, resolve};

/// A small generator, so that every run tries the same edits.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.roll(of.len())]
    }
}

type Sources = BTreeMap<String, String>;

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files_below(directory: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|it| it.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() { files_below(&entry, found) } else { found.push(entry) }
    }
}

/// The projects of every language's specification, and this crate itself.
fn corpus() -> Vec<Vec<Sources>> {
    let mut languages = Vec::new();
    let mut paths = Vec::new();
    files_below(&sources(), &mut paths);
    for path in paths.iter().filter(|it| it.ends_with("spec.md")) {
        let text = fs::read_to_string(path).unwrap();
        let project = |source: &str| -> Sources {
            split_files(source).into_iter().map(|(path, text)| (path.to_owned(), text)).collect()
        };
        languages.push(spec::parse(&text, path).unwrap().iter().map(|it| project(&it.source)).collect());
    }
    let own = paths.iter().filter(|it| it.extension().is_some_and(|it| it == "rs"));
    let own = own.filter(|it| !it.ends_with("tables.rs")).map(|it| {
        let path = it.strip_prefix(sources()).unwrap().to_str().unwrap();
        (format!("src/{path}"), fs::read_to_string(it).unwrap())
    });
    let manifest = ("Cargo.toml".to_owned(), "[package]\nname = \"resolve\"\n".to_owned());
    languages.push(vec![own.chain([manifest]).collect()]);
    languages
}

/// Some projects of one language over each other, so that names meet that have never met.
fn mixture(projects: &[Sources], dice: &mut Dice) -> Sources {
    let mut files = Sources::new();
    for _ in 0..1 + dice.roll(8) {
        files.extend(dice.pick(projects).clone());
    }
    files
}

fn edit(files: &mut Sources, projects: &[Sources], dice: &mut Dice) {
    let paths: Vec<String> = files.keys().cloned().collect();
    let path = dice.pick(&paths).clone();
    let other = files[dice.pick(&paths)].clone();
    match dice.roll(12) {
        0 if files.len() > 1 => {
            files.remove(&path);
        }
        1 => files.extend(dice.pick(projects).clone()),
        2 => {
            let text = files.remove(&path).unwrap();
            let (directory, name) = path.rsplit_once('/').unwrap_or(("", &path));
            let moved = ["moved", directory, ""][dice.roll(3)];
            let name = if dice.roll(2) == 0 { format!("a{name}") } else { name.to_owned() };
            files.insert(if moved.is_empty() { name } else { format!("{moved}/{name}") }, text);
        }
        _ => {
            let text = files.get_mut(&path).unwrap();
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

/// A unit in words that do not depend on any numbering.
fn written(unit: &Unit, resolution: &Resolution) -> Vec<String> {
    let name = |it: u32| {
        let symbol = &resolution.symbols[it as usize];
        format!("{}@{}", symbol.qualified_name(), symbol.kind.name())
    };
    let mut lines: Vec<String> = Vec::new();
    for node in &unit.nodes {
        let (span, flags) = (node.span, node.flags);
        lines.push(format!("node {} {span:?} {flags:?} {} {}", name(node.symbol), node.signature, node.doc));
    }
    for edge in &unit.edges {
        let ends = (name(edge.source), name(edge.target));
        let rest = (edge.provenance, edge.confidence_bp, edge.n_sites, &edge.sites);
        lines.push(format!("{:?} {ends:?} {rest:?}", edge.kind));
    }
    for site in &unit.unresolved {
        let candidates: Vec<String> = site.candidates.iter().map(|it| name(*it)).collect();
        let what = (site.n_arguments, site.position, site.reason, &site.name, &site.receiver);
        lines.push(format!("unresolved {} {what:?} {candidates:?}", name(site.source)));
    }
    lines.sort();
    lines
}

type Units = BTreeMap<(String, u8), Vec<String>>;

struct State {
    files: BTreeMap<String, (String, FileFacts)>,
    record: Record,
    units: Units,
}

fn units_of(resolution: &Resolution, inputs: &[InputFile<'_>]) -> Units {
    let path = |file: Option<u32>| file.map_or("", |it| inputs[it as usize].path).to_owned();
    let units = resolution.units.iter();
    units.map(|it| ((path(it.file), it.layer as u8), written(it, resolution))).collect()
}

/// The next state, from the one before, and how many files were resolved for it.
fn step(before: Option<&State>, sources: &Sources) -> (State, usize) {
    let mut files: BTreeMap<String, (String, FileFacts)> = BTreeMap::new();
    for (path, text) in sources {
        if knowing_extract::accepts(path).is_none() {
            continue;
        }
        let known = before.and_then(|it| it.files.get(path)).filter(|it| it.0 == *text);
        let facts = known.map_or_else(|| knowing_extract::extract(path, text.as_bytes()), |it| it.1.clone());
        files.insert(path.clone(), (text.clone(), facts));
    }
    let inputs: Vec<InputFile<'_>> =
        files.iter().map(|(path, (_, facts))| InputFile { path, facts }).collect();
    let input = Input { url: "repo", files: &inputs };
    let none = BTreeMap::new();
    let old = before.map_or(&none, |it| &it.files);
    let same: Vec<Option<u32>> = files
        .iter()
        .map(|(path, (text, _))| {
            let at = old.keys().position(|it| it == path)?;
            (old[path].0 == *text).then_some(at as u32)
        })
        .collect();
    let gone: Vec<InputFile<'_>> = old
        .iter()
        .filter(|(path, (text, _))| files.get(*path).is_none_or(|it| it.0 != *text))
        .map(|(path, (_, facts))| InputFile { path, facts })
        .collect();
    let previous = before.map(|it| Previous { record: &it.record, same: &same, gone: &gone });
    let resolution = resolve(&input, previous.as_ref());
    let mut units = units_of(&resolution, &inputs);
    let n_resolved =
        resolution.units.iter().filter(|it| it.file.is_some() && it.layer == UnitLayer::Resolved).count();
    for (file, layer) in &resolution.kept {
        let key = (inputs[*file as usize].path.to_owned(), *layer as u8);
        let unit = before.unwrap().units[&key].clone();
        assert!(units.insert(key, unit).is_none(), "a unit is kept or made anew, not both");
    }
    (State { record: resolution.record, units, files }, n_resolved)
}

#[track_caller]
fn check(found: &Units, expected: &Units, about: &str) {
    for (key, unit) in expected {
        let lines = found.get(key).map_or(&[][..], Vec::as_slice);
        let missing: Vec<&String> = unit.iter().filter(|it| !lines.contains(it)).collect();
        let surplus: Vec<&String> = lines.iter().filter(|it| !unit.contains(it)).collect();
        assert!(lines == unit, "{about}, {key:?}:\nmissing {missing:#?}\nsurplus {surplus:#?}");
    }
    assert!(found.len() == expected.len(), "{about}: surplus units");
}

#[test]
fn n2_resolving_again_equals_resolving_all() {
    let n_cases = std::env::var("KNOWING_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(15);
    let corpus = corpus();
    let (mut n_resolved, mut n_files) = (0, 0);
    for case in 0..n_cases {
        let mut dice = Dice(case);
        let projects = &corpus[case as usize % corpus.len()];
        let mut files = mixture(projects, &mut dice);
        let (mut state, _) = step(None, &files);
        for number in 0..12 {
            let before = files.clone();
            for _ in 0..1 + dice.roll(2) {
                edit(&mut files, projects, &mut dice);
            }
            let (next, n) = step(Some(&state), &files);
            let (full, all) = step(None, &files);
            n_resolved += n;
            n_files += all;
            let is_other = |(path, text): &(&String, &String)| before.get(*path) != Some(*text);
            let edited: Vec<_> = files.iter().filter(is_other).collect();
            check(
                &next.units,
                &full.units,
                &format!("case {case}, step {number}, {edited:#?}, before {before:#?}"),
            );
            assert_eq!(next.record, full.record, "case {case}, step {number}");
            state = next;
        }
    }
    // Not a matter of right or wrong, but the point of it.
    assert!(n_resolved * 2 < n_files, "{n_resolved} of {n_files} files were resolved again");
}

#[test]
fn a_record_is_read_as_it_was_written_and_damage_is_noticed() {
    let files: Sources =
        [("a.py", "from b import C\nC().run()\n"), ("b.py", "class C:\n  def run(self): pass\n")]
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
            .into();
    let (state, _) = step(None, &files);
    let bytes = state.record.encode();
    assert_eq!(Record::decode(&bytes), Some(state.record));
    for end in 0..bytes.len() {
        assert_eq!(Record::decode(&bytes[..end]), None, "cut at {end}");
    }
}
