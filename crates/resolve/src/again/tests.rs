//! Random edits of real code: what is resolved again, together with what is kept, equals a full run.
//!
//! `KNOWING_CASES=1000` tries that many histories of edits; a few are tried otherwise.

use std::cell::Cell;
use std::collections::BTreeMap;

use knowing_model::facts::FileFacts;
use knowing_model::{Unit, UnitLayer};
use knowing_testkit::edits::{Dice, Sources, cases, corpus, edit, mixture};

use crate::{Input, InputFile, Previous, Record, Resolution, Tables, resolve_while};

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
    /// For one run to go on with.
    tables: Cell<Tables>,
}

fn units_of(resolution: &Resolution, inputs: &[InputFile<'_>]) -> Units {
    let path = |file: Option<u32>| file.map_or("", |it| inputs[it as usize].path).to_owned();
    let units = resolution.units.iter();
    units.map(|it| ((path(it.file), it.layer as u8), written(it, resolution))).collect()
}

/// The next state, from the one before, and how many files were resolved for it.
fn step(before: Option<&State>, sources: &Sources) -> (State, usize) {
    step_with(before, sources, Tables::default())
}

/// As `step`, with what the run before had in memory.
fn step_on(before: &State, sources: &Sources) -> (State, usize) {
    step_with(Some(before), sources, before.tables.take())
}

fn step_with(before: Option<&State>, sources: &Sources, mut tables: Tables) -> (State, usize) {
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
    let resolution = resolve_while(&input, previous.as_ref(), &mut tables, &|| true).unwrap();
    let mut units = units_of(&resolution, &inputs);
    let n_resolved = resolution.n_resolved;
    if resolution.keeps_packages {
        let key = (String::new(), UnitLayer::Resolved as u8);
        units.extend(before.unwrap().units.get(&key).map(|it| (key, it.clone())));
    }
    for (file, layer) in &resolution.kept {
        let key = (inputs[*file as usize].path.to_owned(), *layer as u8);
        let unit = before.unwrap().units[&key].clone();
        assert!(units.insert(key, unit).is_none(), "a unit is kept or made anew, not both");
    }
    (State { record: resolution.record, units, files, tables: tables.into() }, n_resolved)
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
fn n2_r7_resolving_again_equals_resolving_all() {
    let corpus = corpus();
    let (mut n_resolved, mut n_files) = (0, 0);
    for case in cases(15) {
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
            let (carried, n_carried) = step_on(&state, &files);
            check(
                &carried.units,
                &full.units,
                &format!("case {case}, step {number}, carried on, {edited:#?}"),
            );
            assert_eq!(carried.record, full.record, "case {case}, step {number}, carried on");
            assert_eq!(n, n_carried, "case {case}, step {number}");
            state = carried;
        }
    }
    // Not a matter of right or wrong, but the point of it.
    assert!(n_resolved * 2 < n_files, "{n_resolved} of {n_files} files were resolved again");
}

#[test]
fn n2_nothing_is_looked_at_when_nothing_changed() {
    let corpus = corpus();
    for (case, projects) in (0..).zip(&corpus) {
        let files = mixture(projects, &mut Dice(case));
        let (state, n_files) = step(None, &files);
        let (again, n_resolved) = step(Some(&state), &files);
        check(&again.units, &state.units, &format!("case {case}"));
        assert_eq!(again.record, state.record, "case {case}");
        assert!(n_files > 0 && n_resolved == 0, "case {case}");
    }
}

#[test]
fn a_record_is_read_as_it_was_written_and_damage_is_noticed() {
    let files: Sources =
        [("a.py", "from b import C\nC().run()\n"), ("b.py", "class C:\n  def run(self): pass\n")]
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
            .into();
    let (state, _) = step(None, &files);
    let mut bytes = Vec::new();
    state.record.encode(&mut bytes);
    assert_eq!(Record::decode(&bytes), Some(state.record));
    for end in 0..bytes.len() {
        assert_eq!(Record::decode(&bytes[..end]), None, "cut at {end}");
    }
}

#[test]
fn n2_a_relation_that_several_files_state_is_kept_by_the_first_of_them() {
    let resolvers = "import { later } from './code';\nexport const resolvers = { Mutation: { later } };\n";
    let files = |names: &[&str]| -> Sources {
        let schema =
            "import gql from 'graphql-tag';\nexport const types = gql`type Mutation { later: Int }`;\n";
        let fixed = [("schema.ts", schema), ("code.ts", "export function later() {}\n")];
        let stating = names.iter().map(|it| (*it, resolvers));
        fixed.into_iter().chain(stating).map(|(path, text)| (path.to_owned(), text.to_owned())).collect()
    };
    let stated_by = |state: &State| -> Vec<String> {
        let says_it = |lines: &[String]| lines.iter().any(|it| it.starts_with("HandlesRoute"));
        state.units.iter().filter(|it| says_it(it.1)).map(|it| it.0.0.clone()).collect()
    };
    let (one, _) = step(None, &files(&["m.ts"]));
    assert_eq!(stated_by(&one), ["m.ts"]);
    let (two, _) = step(Some(&one), &files(&["b.ts", "m.ts", "z.ts"]));
    assert_eq!(stated_by(&two), ["b.ts"]);
    let (three, _) = step(Some(&two), &files(&["m.ts", "z.ts"]));
    assert_eq!(stated_by(&three), ["m.ts"]);
    check(&three.units, &step(None, &files(&["m.ts", "z.ts"])).0.units, "one is gone");
}
