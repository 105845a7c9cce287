//! Our sites against the truth's mentions, place by place.
//!
//! A site of ours is *right* when the truth mentions, at the same place, a symbol that is defined on the name line of
//! the node we name. What else counts as the same thing (`Judge::is_same`):
//! - a class and its constructor, whichever of them either side names;
//! - declarations of one name in one owner that are parts of one thing: overload signatures and their implementation
//!   (where the language has one implementation for all), accessor pairs, conditional definitions;
//! - any of a symbol's definitions, where the truth has several;
//! - an associated type where an implementation states it and where its interface declares it.
//!
//! Where the truth ends at a variable, parameter or field, it does not say what is called: such a site is counted as
//! *through a value* and is neither right nor wrong. Where it mentions nothing, or a module where we call, it has
//! *no truth*. So has `{ name }`, a variable and a member at once, where the truth speaks of the variable alone. The
//! closing tag of an element is no use.

use std::collections::BTreeMap;

use knowing_model::facts::{DeclId, ReferenceRole};
use knowing_model::{EdgeKind, NodeKind, Position, Provenance};
use rustc_hash::{FxHashMap, FxHashSet};

use super::ours::{OurNode, Ours, Said, Target};
use super::truth::{Mention, Shape, Truth, TruthSymbol};

/// How the edges of one kind and provenance fare.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Judged {
    pub(crate) right: u64,
    pub(crate) wrong: u64,
    pub(crate) through_value: u64,
    pub(crate) no_truth: u64,
}

impl Judged {
    pub(crate) fn precision(self) -> Option<f64> {
        let all = self.right + self.wrong;
        (all > 0).then(|| self.right as f64 / all as f64)
    }
}

/// How many of the truth's sites we have, by whom, and why the others are missing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Recalled {
    pub(crate) resolved: u64,
    pub(crate) inferred: u64,
    pub(crate) missed: BTreeMap<&'static str, u64>,
}

impl Recalled {
    pub(crate) fn all(&self) -> u64 {
        self.resolved + self.inferred + self.missed.values().sum::<u64>()
    }

    /// By resolved edges alone, and by all.
    pub(crate) fn recall(&self) -> Option<(f64, f64)> {
        let all = self.all();
        let share = |it: u64| it as f64 / all as f64;
        (all > 0).then(|| (share(self.resolved), share(self.resolved + self.inferred)))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) language: String,
    pub(crate) n_files: u64,
    /// Where our call sites go: resolved, inferred, external, or a reason.
    pub(crate) sites: BTreeMap<&'static str, u64>,
    pub(crate) calls: BTreeMap<&'static str, Judged>,
    /// Callables passed as values: `calls` edges at places that are no calls.
    pub(crate) handed_over: Judged,
    pub(crate) references: BTreeMap<&'static str, Judged>,
    pub(crate) call_recall: Recalled,
    /// By what is referred to: type, callable, value.
    pub(crate) reference_recall: BTreeMap<&'static str, Recalled>,
    pub(crate) wrong: Vec<Finding>,
    /// Edges of ours where the compiler says nothing.
    pub(crate) unjudged: Vec<Finding>,
    pub(crate) missed: Vec<Finding>,
    pub(crate) missed_references: Vec<Finding>,
}

/// One site, for people to look at.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Finding {
    /// What it is about: findings of the same subject are alike.
    pub(crate) subject: String,
    pub(crate) why: String,
    pub(crate) path: String,
    pub(crate) position: Position,
}

pub(crate) fn compare(ours: &Ours, truth: &Truth) -> Comparison {
    let mut judge = Judge { ours, truth, out: Comparison::default() };
    let mut languages: BTreeMap<&str, u64> = BTreeMap::new();
    for path in truth.mentions.keys() {
        let Some(file) = ours.file(path) else { continue };
        let language = ours.files[file as usize].facts.language.as_str();
        *languages.entry(language).or_default() += 1;
    }
    let language = languages.into_iter().max_by_key(|it| it.1).map(|it| it.0).unwrap_or_default();
    judge.out.language = language.to_owned();
    for path in truth.mentions.keys() {
        let Some(file) = ours.file(path) else { continue };
        if ours.files[file as usize].facts.language == language {
            judge.out.n_files += 1;
            judge.file(file, path);
        }
    }
    judge.out.wrong.sort();
    judge.out.unjudged.sort();
    judge.out.missed.sort();
    judge.out.missed_references.sort();
    judge.out
}

struct Judge<'a> {
    ours: &'a Ours,
    truth: &'a Truth,
    out: Comparison,
}

enum Verdict {
    Right,
    Wrong,
    ThroughValue,
    NoTruth,
}

impl Judge<'_> {
    fn file(&mut self, file: u32, path: &str) {
        let facts = &self.ours.files[file as usize].facts;
        let mut call_sites: FxHashMap<Position, Option<DeclId>> = FxHashMap::default();
        let mut handed_over: FxHashSet<Position> = FxHashSet::default();
        for call in &facts.calls {
            call_sites.insert(call.position, call.decl);
            handed_over.extend(call.passed.iter().map(|it| it.position));
        }
        let mut seen: FxHashSet<Position> = FxHashSet::default();
        for call in &facts.calls {
            if seen.insert(call.position) {
                self.call_site(file, path, call.position);
            }
        }
        for reference in &facts.references {
            if reference.role != ReferenceRole::Decorator && seen.insert(reference.position) {
                self.reference_site(file, path, reference.position);
            }
        }
        let mut handed_over: Vec<Position> = handed_over.into_iter().collect();
        handed_over.sort_unstable();
        for position in handed_over {
            if !call_sites.contains_key(&position) {
                self.handed_over(file, path, position);
            }
        }
        let imports: FxHashSet<u32> = facts.imports.iter().map(|it| it.position.line).collect();
        let mentions = self.truth.mentions[path].chunk_by(|a, b| a.position == b.position);
        for mentions in mentions {
            let position = mentions[0].position;
            // Later signatures of one function are mentions of the first to some tools.
            let declares = |it: &u32| self.ours.node(*it).span.name.column == position.column;
            if self.ours.on_line(file, position.line).iter().any(declares) {
                continue;
            }
            if self.is_after(file, position, "</") {
                continue;
            }
            match call_sites.get(&position) {
                Some(decl) => self.recall_call(file, path, mentions, Some(*decl)),
                None if imports.contains(&position.line) => {}
                None if self.looks_like_call(file, mentions) => self.recall_call(file, path, mentions, None),
                None if !self.truth.is_sample => self.recall_reference(file, path, mentions),
                None => {}
            }
        }
    }

    fn call_site(&mut self, file: u32, path: &str, position: Position) {
        let said = self.ours.said(file, position);
        let calls: Vec<Said> = said.iter().copied().filter(|it| it.kind == EdgeKind::Calls).collect();
        let listed = !self.truth.is_sample || !self.truth.at(path, position).is_empty();
        let Some(first) = calls.first() else {
            // An edge keeps some of its places only.
            *self.out.sites.entry("place not kept").or_default() += u64::from(listed);
            return;
        };
        let outcome = match first.target {
            Target::Own(_) if first.provenance == Provenance::AstResolved => "resolved",
            Target::Own(_) => "inferred",
            Target::Outside => "external",
            Target::Unresolved(reason) => reason.name(),
        };
        *self.out.sites.entry(outcome).or_default() += u64::from(listed);
        for call in calls {
            let Target::Own(target) = call.target else { continue };
            let verdict = self.verdict(path, position, target);
            self.note(&verdict, path, position, target, call.provenance.name());
            count(self.out.calls.entry(call.provenance.name()).or_default(), &verdict);
        }
    }

    fn handed_over(&mut self, file: u32, path: &str, position: Position) {
        for said in self.ours.said(file, position) {
            if let (EdgeKind::Calls, Target::Own(target)) = (said.kind, said.target) {
                let verdict = self.verdict(path, position, target);
                self.note(&verdict, path, position, target, "handed over");
                count(&mut self.out.handed_over, &verdict);
            }
        }
    }

    fn reference_site(&mut self, file: u32, path: &str, position: Position) {
        for said in self.ours.said(file, position) {
            if let (EdgeKind::References, Target::Own(target)) = (said.kind, said.target) {
                if self.ours.node(target).decl.is_none() {
                    continue;
                }
                let verdict = self.verdict(path, position, target);
                self.note(&verdict, path, position, target, "reference");
                count(self.out.references.entry(said.provenance.name()).or_default(), &verdict);
            }
        }
    }

    fn note(&mut self, verdict: &Verdict, path: &str, position: Position, target: u32, what: &str) {
        if matches!(verdict, Verdict::Right | Verdict::ThroughValue) {
            return;
        }
        let truth = self.truth.at(path, position).first().map(|it| self.truth.symbol(*it));
        let instead = match truth {
            Some(symbol) => match symbol.places.first() {
                Some(place) => format!("{}:{}", place.path, place.line),
                None => format!("outside: {}", symbol.name),
            },
            None => String::new(),
        };
        let node = self.ours.node(target);
        let subject = format!("{} ({}:{})", node.path, self.path(node), node.span.name.line);
        let finding = |why: String| Finding { subject, why, path: path.to_owned(), position };
        match verdict {
            Verdict::Wrong => self.out.wrong.push(finding(format!("{what}; in truth {instead}"))),
            _ if self.truth.is_sample => {}
            _ => self.out.unjudged.push(finding(what.to_owned())),
        }
    }

    fn verdict(&self, path: &str, position: Position, target: u32) -> Verdict {
        let mentions = self.truth.at(path, position);
        if mentions.is_empty() {
            return Verdict::NoTruth;
        }
        let symbols = || mentions.iter().map(|it| self.truth.symbol(*it));
        if symbols().any(|it| self.is_same(it, target)) {
            return Verdict::Right;
        }
        // A module cannot be called, and a local name that is defined nowhere says nothing.
        let silent = |it: &TruthSymbol| match it.shape {
            Shape::Module => true,
            Shape::Local => it.places.is_empty(),
            _ => false,
        };
        if symbols().all(silent) {
            return Verdict::NoTruth;
        }
        let is_local = |it: &TruthSymbol| it.shape == Shape::Local;
        let kind = self.ours.node(target).kind;
        if matches!(kind, NodeKind::Field | NodeKind::Property | NodeKind::Method)
            && symbols().all(is_local)
            && self.ours.file(path).is_some_and(|it| self.is_shorthand(it, position))
        {
            return Verdict::NoTruth;
        }
        let is_value = |it: &TruthSymbol| match it.shape {
            Shape::Local => !self.is_callable_here(it),
            Shape::Value => !it.places.is_empty() && !self.is_callable_here(it),
            Shape::Callable => !it.places.is_empty() && self.is_read_like_a_field(it),
            _ => false,
        };
        // A value where we say a value too is a plain mistake.
        let callable = self.ours.node(target).kind;
        if (callable.is_callable() || callable.is_type_like()) && symbols().all(is_value) {
            return Verdict::ThroughValue;
        }
        Verdict::Wrong
    }

    fn recall_call(&mut self, file: u32, path: &str, mentions: &[Mention], seen: Option<Option<DeclId>>) {
        let position = mentions[0].position;
        let wanted: Vec<&TruthSymbol> = mentions
            .iter()
            .map(|it| self.truth.symbol(*it))
            .filter(|it| self.is_callable(it) && self.is_ours(it))
            .collect();
        let Some(first) = wanted.first() else { return };
        let name = first.name.clone();
        let place = first.places.first().map(|it| format!("{}:{}", it.path, it.line)).unwrap_or_default();
        let said = self.ours.said(file, position);
        let calls = || said.iter().filter(|it| it.kind == EdgeKind::Calls);
        let right = calls().find(|it| match it.target {
            Target::Own(target) => wanted.iter().any(|it| self.is_same(it, target)),
            _ => false,
        });
        if let Some(right) = right {
            match right.provenance {
                Provenance::AstInferred => self.out.call_recall.inferred += 1,
                _ => self.out.call_recall.resolved += 1,
            }
            return;
        }
        let why = match (seen, calls().next().map(|it| it.target)) {
            (_, Some(Target::Own(_))) => "wrong target",
            (_, Some(Target::Outside)) => "said to be external",
            (_, Some(Target::Unresolved(reason))) => reason.name(),
            (None, None) => "call not seen",
            (Some(decl), None) => {
                let kept = wanted
                    .iter()
                    .any(|it| self.nodes_of(it).into_iter().any(|it| self.ours.is_crowded(file, decl, it)));
                if kept {
                    self.out.call_recall.resolved += 1;
                    return;
                }
                "no edge"
            }
        };
        *self.out.call_recall.missed.entry(why).or_default() += 1;
        let subject = format!("{} ({place})", short(&name));
        self.out.missed.push(Finding { subject, why: why.to_owned(), path: path.to_owned(), position });
    }

    fn recall_reference(&mut self, file: u32, path: &str, mentions: &[Mention]) {
        let position = mentions[0].position;
        let Some((symbol, node)) = mentions.iter().find_map(|it| {
            let symbol = self.truth.symbol(*it);
            let node = self.nodes_of(symbol).into_iter().next()?;
            (symbol.shape != Shape::Module).then_some((symbol, node))
        }) else {
            return;
        };
        let kind = self.ours.node(node).kind;
        let class = match kind {
            kind if kind.is_type_like() => "types",
            kind if kind.is_callable() => "callables",
            _ => "values",
        };
        let right = self.ours.said(file, position).iter().find(|it| match it.target {
            Target::Own(target) => self.is_same(symbol, target),
            _ => false,
        });
        // An edge keeps some of its places only.
        let is_kept = right.is_none() && {
            let decl = self.ours.around(file, position.line);
            self.nodes_of(symbol).into_iter().any(|it| self.ours.is_crowded(file, decl, it))
        };
        let recalled = self.out.reference_recall.entry(class).or_default();
        match right.map(|it| it.provenance) {
            Some(Provenance::AstInferred) => recalled.inferred += 1,
            Some(_) => recalled.resolved += 1,
            None if is_kept => recalled.resolved += 1,
            None => {
                let why = if self.ours.said(file, position).is_empty() { "no edge" } else { "other edge" };
                *recalled.missed.entry(why).or_default() += 1;
                let subject = format!("{class}: {}", short(&symbol.name));
                let why = why.to_owned();
                self.out.missed_references.push(Finding { subject, why, path: path.to_owned(), position });
            }
        }
    }

    /// What stands on the line before a place, and from there on.
    fn around(&self, file: u32, position: Position) -> Option<(&str, &str)> {
        let line = self.ours.files[file as usize].text.lines().nth(position.line as usize - 1)?;
        line.split_at_checked(position.column as usize)
    }

    fn is_after(&self, file: u32, position: Position, text: &str) -> bool {
        self.around(file, position).is_some_and(|it| it.0.trim_end().ends_with(text))
    }

    /// `name` of `{ name }`, of several lines too.
    fn is_shorthand(&self, file: u32, position: Position) -> bool {
        let Some((before, rest)) = self.around(file, position) else { return false };
        let after =
            rest.trim_start_matches(|it: char| it.is_alphanumeric() || "_$".contains(it)).trim_start();
        let before = before.trim_end();
        (before.is_empty() || before.ends_with(['{', ',']))
            && (after.is_empty() || after.starts_with([',', '}']))
    }

    /// Whether the text at a place is a call that extraction did not see: the name of a callable, then `(`.
    fn looks_like_call(&self, file: u32, mentions: &[Mention]) -> bool {
        let callable = mentions.iter().any(|it| {
            let symbol = self.truth.symbol(*it);
            matches!(symbol.shape, Shape::Callable | Shape::Any)
                && self.is_ours(symbol)
                && self.is_callable(symbol)
        });
        if !callable {
            return false;
        }
        let Some((before, rest)) = self.around(file, mentions[0].position) else { return false };
        let begin = before.trim_start();
        if begin.starts_with('@') || begin.starts_with("#[") {
            return false;
        }
        let after = rest.trim_start_matches(|it: char| it.is_alphanumeric() || "_$?!".contains(it));
        after.len() < rest.len() && after.trim_start().starts_with('(')
    }

    fn is_ours(&self, symbol: &TruthSymbol) -> bool {
        symbol.places.iter().any(|it| self.ours.file(&it.path).is_some())
    }

    fn is_callable(&self, symbol: &TruthSymbol) -> bool {
        match symbol.shape {
            Shape::Callable => !self.is_read_like_a_field(symbol),
            // `Duration(x)` converts where the language has no constructors.
            Shape::Type => self.out.language != "go",
            Shape::Constructor | Shape::Any => true,
            Shape::Value | Shape::Local => self.is_callable_here(symbol),
            Shape::Module => false,
        }
    }

    fn is_callable_here(&self, symbol: &TruthSymbol) -> bool {
        self.nodes_of(symbol).into_iter().any(|it| {
            let kind = self.ours.node(it).kind;
            kind.is_callable() || kind.is_type_like()
        })
    }

    /// A property is a method to some and a field to those who use it.
    fn is_read_like_a_field(&self, symbol: &TruthSymbol) -> bool {
        let nodes = self.nodes_of(symbol);
        !nodes.is_empty()
            && nodes.iter().all(|it| {
                let kind = self.ours.node(*it).kind;
                !kind.is_callable() && !kind.is_type_like() && kind != NodeKind::EnumMember
            })
    }

    /// Our nodes that stand exactly where the truth defines a symbol.
    fn nodes_of(&self, symbol: &TruthSymbol) -> Vec<u32> {
        let mut nodes = Vec::new();
        for place in &symbol.places {
            let Some(file) = self.ours.file(&place.path) else { continue };
            nodes.extend(self.ours.on_line(file, place.line).iter().copied().filter(|it| {
                place.column.is_none_or(|column| self.ours.node(*it).span.name.column == column)
            }));
        }
        nodes
    }

    fn is_same(&self, symbol: &TruthSymbol, target: u32) -> bool {
        let node = self.ours.node(target);
        if node.decl.is_none() {
            return false;
        }
        if self.states_associated_type(node) && symbol.name.ends_with(&format!("#{}#", node.name)) {
            return true;
        }
        symbol.places.iter().any(|place| {
            let Some(file) = self.ours.file(&place.path) else { return false };
            if file == node.file && place.line == node.span.name.line {
                return true;
            }
            if file != node.file {
                let there = self.ours.on_line(file, place.line).iter().map(|it| self.ours.node(*it));
                return there.into_iter().any(|it| constructs_elsewhere(node, it));
            }
            let inside = node.span.first_line <= place.line && place.line <= node.span.last_line;
            if symbol.shape == Shape::Constructor && node.kind.is_type_like() && inside {
                return true;
            }
            self.ours.on_line(file, place.line).iter().any(|other| {
                let there = self.ours.node(*other);
                self.constructs(there, target) || self.constructs(node, *other) || self.is_part(node, there)
            })
        })
    }

    /// `type Output = T;` in an implementation of an interface.
    fn states_associated_type(&self, node: &OurNode) -> bool {
        let facts = &self.ours.files[node.file as usize].facts;
        let implementation = node.decl.and_then(|it| facts.decl(it).implementation);
        node.kind == NodeKind::TypeAlias
            && implementation.is_some_and(|it| facts.impls[it.index()].interface.is_some())
    }

    /// Whether `constructor` makes values of the type `class`, given by its node number.
    fn constructs(&self, constructor: &OurNode, class: u32) -> bool {
        let named = ["__init__", "__new__", "constructor", "initialize", "<init>"];
        let is = constructor.kind == NodeKind::Constructor || named.contains(&constructor.name.as_str());
        is && self.ours.owner(constructor) == Some(class)
    }

    fn is_part(&self, one: &OurNode, other: &OurNode) -> bool {
        let one_implementation = matches!(self.out.language.as_str(), "python" | "typescript" | "javascript");
        let plain = |it: &OurNode| {
            let path = it.path.split('#').next().unwrap_or_default().to_owned();
            match path.find('(') {
                Some(at) if one_implementation => path[..at].to_owned(),
                _ => path,
            }
        };
        one.name == other.name && plain(one) == plain(other)
    }

    fn path(&self, node: &OurNode) -> &str {
        &self.ours.files[node.file as usize].path
    }
}

/// Whether a constructor that stands outside of its class, in another file, makes values of that class.
fn constructs_elsewhere(constructor: &OurNode, class: &OurNode) -> bool {
    let plain = constructor.path.split('(').next().unwrap_or_default();
    constructor.kind == NodeKind::Constructor
        && class.kind.is_type_like()
        && plain.rsplit_once('.').is_some_and(|(owner, _)| owner == class.path)
}

fn count(judged: &mut Judged, verdict: &Verdict) {
    match verdict {
        Verdict::Right => judged.right += 1,
        Verdict::Wrong => judged.wrong += 1,
        Verdict::ThroughValue => judged.through_value += 1,
        Verdict::NoTruth => judged.no_truth += 1,
    }
}

/// A symbol's own part of its name, without scheme, package and version.
fn short(name: &str) -> &str {
    let parts: Vec<&str> = name.splitn(5, ' ').collect();
    parts.get(4).copied().unwrap_or(name)
}
