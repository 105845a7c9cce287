//! From changed lines to tests: against the edges along which an effect travels, then by names and habits.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use knowing_graph::{Graph, Inheritance, KindSet, NodeIndex};
use knowing_model::{EdgeKind, NodeFlags, NodeKind};
use knowing_search::{FileIndex, Names};
use knowing_store::MinedCommit;

use crate::blast_radius::{leads_to, uses_of_values};
use crate::error::Result;
use crate::test_scope::changes::Change;
use crate::test_scope::evidence::{Evidence, TestEvidence, Together, Way};
use crate::test_scope::named::{NamedAfter, forms, stem, stems, words};
use crate::test_scope::programs::{Programs, Spoken, Starting};
use crate::test_scope::together::Past;
use crate::unresolved::UnresolvedSites;
use crate::view::View;

/// The tests of a change.
pub(crate) struct Scope {
    /// What is to be run first stands first.
    pub(crate) tests: Vec<(NodeIndex, Evidence)>,
    /// Of the repository.
    pub(crate) n_tests: usize,
    pub(crate) n_symbols: usize,
    pub(crate) uncovered: Vec<String>,
}

/// How far and by what to look.
pub(crate) struct Search<'a> {
    /// None: as far as it takes.
    pub(crate) depth: Option<u32>,
    /// Empty: all kinds.
    pub(crate) kinds: &'a [TestEvidence],
    /// What is known of the time before the change, newest first.
    pub(crate) commits: &'a [MinedCommit],
    /// The text of a file of the snapshot, where it can be read.
    pub(crate) text: &'a dyn Fn(&str) -> Option<Vec<u8>>,
}

/// Tests that are taken for one name: more of them would say nothing.
const MAX_BY_NAME: usize = 200;
/// The same where edges lead to tests too.
const MAX_MORE_BY_NAME: usize = 30;
/// Symbols whose names are looked up, the nearest first.
const MAX_NEAR: usize = 200;
/// Steps from the change at which calls of a name still say something.
const NAME_STEPS: u32 = 2;
/// Steps that are always gone.
const SURE_STEPS: u32 = 3;
/// Steps that are gone while there are less than `ENOUGH` tests.
const MOST_STEPS: u32 = 8;
const ENOUGH: usize = 25;
/// Tests more than `SURE_STEPS` away are left out where they make more than a twentieth of all, within these bounds.
const MANY: (usize, usize) = (30, 100);
/// Who uses a type, where that is all that is known.
const MAX_USERS: usize = 25;
/// Test files that import a changed file, whatever else is known: more of them say little.
const MAX_IMPORTING: usize = 3;
/// Changed files that names and habits are looked up for.
const MAX_SECOND: usize = 500;
/// Changed files that programs are looked up for.
const MAX_IN_PROGRAMS: usize = 50;

impl Scope {
    pub(crate) fn of(view: &View<'_>, changes: &[Change], search: &Search<'_>) -> Result<Scope> {
        let (graph, names) = (view.graph(), view.names()?);
        let test_files: BTreeSet<FileIndex> = view
            .files()?
            .iter()
            .filter(|it| it.flags.contains(NodeFlags::TEST))
            .filter_map(|it| names.find_file(&it.path))
            .collect();
        let may = |kind: TestEvidence| search.kinds.is_empty() || search.kinds.contains(&kind);
        let named = may(TestEvidence::Named).then(|| NamedAfter::new(names, &test_files));
        let past = may(TestEvidence::Together).then(|| Past::new(search.commits.iter()));
        let mut walk =
            Walk { graph, names, test_files: &test_files, depth: search.depth, found: BTreeMap::new() };
        let n_tests = graph.nodes().iter().filter(|it| it.kind() == NodeKind::Test).count();
        let common = Common::of(graph, names);
        let mut programs = may(TestEvidence::Program).then(|| Programs::of(&walk));
        let mut n_symbols = 0;
        let mut uncovered = Vec::new();
        for (at, change) in changes.iter().enumerate() {
            let Some(file) = change.file else {
                uncovered.push(change.path.clone());
                continue;
            };
            let touched = walk.touched(file, change.lines.as_deref());
            n_symbols += touched.len();
            let mut is_covered = walk.own(at, file, &touched, change.lines.is_some());
            let mut near: Vec<Front> = touched.iter().copied().map(Front::at).collect();
            let mut far = Vec::new();
            let named_here = touched.iter().flat_map(|it| forms(names.name(it.0)));
            let spoken: BTreeSet<String> =
                named_here.chain(change.words.iter().cloned()).filter(|it| common.is_telling(it)).collect();
            if may(TestEvidence::Calls) {
                let reached = walk.reached(&touched, &mut near);
                let (taken, rest) = walk.within_reason(reached, n_tests, &spoken);
                is_covered |= walk.take(at, &taken);
                far = rest;
            }
            if may(TestEvidence::Name) {
                is_covered |= walk.by_name(view, at, &near, is_covered)?;
            }
            if may(TestEvidence::Imports) {
                // Lines outside of every symbol, or nobody knows which: who imports the file may notice.
                let is_all_there_is = !is_covered && (change.lines.is_none() || touched.is_empty());
                is_covered |= walk.importing(at, file, is_all_there_is) && is_all_there_is;
            }
            let mut is_named = is_covered;
            if let Some(named) = named.as_ref().filter(|_| at < MAX_SECOND) {
                is_named |= walk.named_after(at, file, &touched, named);
            }
            if let Some(past) = past.as_ref().filter(|_| at < MAX_SECOND) {
                is_named |= walk.together(at, file, &touched, past, true);
            }
            if let Some(past) = past.as_ref().filter(|_| !is_named && at < MAX_SECOND) {
                is_named |= walk.together(at, file, &touched, past, false);
            }
            if let Some(programs) = programs.as_mut().filter(|_| at < MAX_IN_PROGRAMS) {
                let said: BTreeSet<String> =
                    walk.said(&touched).chain(change.words.iter().cloned()).collect();
                let said = Spoken { changed: &said, around: &change.around };
                let starting = programs.starting(&walk, file, &touched, &said, search.text);
                let (is_found, is_known) = walk.start(at, &starting, n_tests, is_covered);
                is_named |= is_found;
                is_covered |= is_known;
            }
            if !is_named && may(TestEvidence::Calls) {
                // Better many tests than none: those that are far, else those of anything in the file.
                if far.is_empty() && touched.is_empty() {
                    far = walk.reached(&walk.touched(file, None), &mut Vec::new());
                }
                is_covered |= walk.take(at, &far);
            }
            walk.count_words(at, &spoken);
            if !is_covered {
                uncovered.push(change.path.clone());
            }
        }
        let mut tests: Vec<(NodeIndex, Evidence)> = walk.found.into_iter().collect();
        let place = |it: NodeIndex| (names.path_of(it.0).to_owned(), names.lines(it.0), it);
        tests.sort_by_cached_key(|it| (Reverse(it.1.weight()), place(it.0)));
        Ok(Scope { tests, n_tests, n_symbols, uncovered })
    }
}

/// How many tests have a word in their names.
struct Common {
    n_tests: BTreeMap<String, usize>,
    most: usize,
}

impl Common {
    fn of(graph: &Graph, names: &Names) -> Common {
        let tests = (0..).zip(graph.nodes()).filter(|it| it.1.kind() == NodeKind::Test);
        let mut common = Common { n_tests: BTreeMap::new(), most: 0 };
        let mut n_all = 0;
        for (node, _) in tests {
            n_all += 1;
            let own: BTreeSet<String> = forms(names.symbol(node)).collect();
            own.into_iter().for_each(|it| *common.n_tests.entry(it).or_default() += 1);
        }
        common.most = (n_all / 20).max(20);
        common
    }

    /// Some tests have it, and not all kinds of them.
    fn is_telling(&self, word: &str) -> bool {
        word.len() > 2 && self.n_tests.get(word).is_some_and(|it| *it <= self.most)
    }
}

pub(super) struct Walk<'a> {
    pub(super) graph: &'a Graph,
    pub(super) names: &'a Names,
    pub(super) test_files: &'a BTreeSet<FileIndex>,
    depth: Option<u32>,
    found: BTreeMap<NodeIndex, Evidence>,
}

/// How far the walk is.
#[derive(Clone, Copy)]
struct Front {
    node: NodeIndex,
    /// The changed symbol it comes from.
    start: NodeIndex,
    depth: u32,
    /// Somewhere on the way only the use of a type is known.
    by_type: bool,
}

impl Front {
    fn at(node: NodeIndex) -> Front {
        Front { node, start: node, depth: 0, by_type: false }
    }

    fn way(&self) -> Way {
        Way { steps: self.depth, start: self.start, by_type: self.by_type }
    }
}

impl Walk<'_> {
    /// The innermost symbols of a file that hold changed lines; all of them when the lines are not known.
    fn touched(&self, file: FileIndex, lines: Option<&[(u32, u32)]>) -> Vec<NodeIndex> {
        let nodes = self.names.in_file(file).iter().map(|&it| NodeIndex(it));
        let symbols = nodes.filter(|it| self.graph.node(*it).kind() != NodeKind::File);
        let Some(lines) = lines else { return symbols.collect() };
        let overlaps = |it: &NodeIndex| {
            let (first, last) = self.names.lines(it.0);
            lines.iter().any(|&(from, to)| first <= to && from <= last)
        };
        let holding: BTreeSet<NodeIndex> = symbols.filter(overlaps).collect();
        let is_owner = |it: &NodeIndex| {
            let members = self.graph.outgoing_of(*it, EdgeKind::Contains);
            members.iter().any(|edge| holding.contains(&edge.other()))
        };
        holding.iter().copied().filter(|it| !is_owner(it)).collect()
    }

    /// Tests in the changed file itself.
    fn own(&mut self, at: usize, file: FileIndex, touched: &[NodeIndex], are_lines_known: bool) -> bool {
        if !self.test_files.contains(&file) && !touched.iter().any(|it| self.is_runnable(*it)) {
            return false;
        }
        let own = self.tests_in(file);
        for &node in &own {
            let is_itself = are_lines_known && touched.contains(&node);
            let changed = &mut self.evidence(node, at).changed;
            *changed = Some(changed.unwrap_or(false) || is_itself);
        }
        !own.is_empty()
    }

    /// Tests, by how far they are. `near` is given who is so near to the change that calls of their names say something.
    fn reached(&self, touched: &[NodeIndex], near: &mut Vec<Front>) -> Vec<Front> {
        let mut inheritance = Inheritance::new(self.graph);
        let mut reached: Vec<Front> = Vec::new();
        let mut seen: BTreeSet<NodeIndex> = touched.iter().copied().collect();
        let mut open: VecDeque<Front> = touched.iter().copied().map(Front::at).collect();
        while let Some(front) = open.pop_front() {
            let Front { node, depth, mut by_type, .. } = front;
            if self.is_runnable(node) {
                reached.push(front);
                continue;
            }
            let mut next = self.concerned(node, &mut inheritance);
            // What the runner calls before each test, nobody else does: the tests beside it are meant.
            if next.is_empty() && depth > 0 && self.is_in_tests(node) {
                let beside = self.beside(node).into_iter().filter(|it| seen.insert(*it));
                reached.extend(beside.map(|node| Front { node, ..front }));
            }
            let is_far = match self.depth {
                Some(most) => depth >= most,
                None => depth >= MOST_STEPS,
            };
            if is_far {
                continue;
            }
            if next.is_empty() {
                // Nobody is known to call it, so that it is called for what it is part of: by a framework, by the language,
                // through a table. Who uses the type may notice.
                next = self.users_of_owner(node, &mut inheritance);
                by_type = true;
            }
            next.retain(|it| seen.insert(*it));
            for node in next {
                // A route is no code: who asks for it is as near to the handler as who calls it.
                match self.graph.node(node).kind() {
                    NodeKind::RouteHandler => open.push_front(Front { node, by_type, ..front }),
                    _ => {
                        let front = Front { node, depth: depth + 1, by_type, ..front };
                        if !by_type && front.depth <= NAME_STEPS && !self.is_in_tests(node) {
                            near.push(front);
                        }
                        open.push_back(front);
                    }
                }
            }
        }
        reached
    }

    /// Those of the first steps, those of more steps as long as they are few, and of the others those whose names speak of
    /// what changed; and the rest.
    fn within_reason(
        &self,
        mut reached: Vec<Front>,
        n_tests: usize,
        spoken: &BTreeSet<String>,
    ) -> (Vec<Front>, Vec<Front>) {
        reached.sort_by_key(|it| it.depth);
        if self.depth.is_some() {
            return (reached, Vec::new());
        }
        let most = (n_tests / 20).clamp(MANY.0, MANY.1);
        let up_to = |depth: u32| reached.partition_point(|it| it.depth <= depth);
        let is_taken =
            |depth: &u32| *depth == SURE_STEPS || up_to(*depth - 1) < ENOUGH && up_to(*depth) <= most;
        let n_taken = (SURE_STEPS..=MOST_STEPS).take_while(is_taken).map(up_to).max().unwrap_or(0);
        let mut rest = reached.split_off(n_taken);
        let n_words = |it: &Front| self.n_words(it.node, spoken);
        rest.sort_by_cached_key(|it| (Reverse(n_words(it)), it.depth));
        let room = most.saturating_sub(reached.len());
        let n_speaking = rest.iter().take(room).take_while(|it| n_words(it) > 0).count();
        reached.extend(rest.drain(..n_speaking));
        (reached, rest)
    }

    fn said(&self, touched: &[NodeIndex]) -> impl Iterator<Item = String> {
        touched.iter().flat_map(|it| stems(self.names.name(it.0)))
    }

    /// Tests that start a program, the best first: those that speak of what changed, and where nothing better is known the
    /// others too, as long as they are few. Whether any were found, and whether a way to the change is known.
    fn start(&mut self, at: usize, starting: &[Starting], n_tests: usize, is_covered: bool) -> (bool, bool) {
        let most = if is_covered { MANY.0 } else { (n_tests / 20).clamp(MANY.0, MANY.1) };
        let taken = starting.iter().take(most).take_while(|it| it.start.score > 0 || !is_covered);
        let mut found = (false, false);
        for it in taken {
            found = (true, found.1 || it.start.steps.is_some());
            self.evidence(it.test, at).add_start(it.start);
        }
        found
    }

    fn n_words(&self, test: NodeIndex, spoken: &BTreeSet<String>) -> usize {
        let own: BTreeSet<String> = words(self.names.symbol(test.0)).into_iter().collect();
        own.iter().filter(|it| spoken.contains(*it) || spoken.contains(stem(it))).count()
    }

    fn take(&mut self, at: usize, reached: &[Front]) -> bool {
        for it in reached {
            self.evidence(it.node, at).add_calls(it.way());
        }
        !reached.is_empty()
    }

    /// None of a type that is used everywhere.
    pub(super) fn users_of_owner(
        &self,
        node: NodeIndex,
        inheritance: &mut Inheritance<'_>,
    ) -> Vec<NodeIndex> {
        if !self.graph.node(node).kind().is_callable() {
            return Vec::new();
        }
        let owners = self.graph.outgoing_of(node, EdgeKind::MemberOf).iter().map(|it| it.other());
        let owners: Vec<NodeIndex> = owners.filter(|it| self.graph.node(*it).kind().is_type_like()).collect();
        let users: Vec<NodeIndex> =
            owners.into_iter().flat_map(|it| self.concerned(it, inheritance)).collect();
        if users.len() > MAX_USERS { Vec::new() } else { users }
    }

    /// Who may notice a change of a node.
    pub(super) fn concerned(&self, node: NodeIndex, inheritance: &mut Inheritance<'_>) -> Vec<NodeIndex> {
        use EdgeKind::{Calls, Inherits, MemberOf, Tests};
        let graph = self.graph;
        let kind = graph.node(node).kind();
        // Who starts a program is evidence of its own.
        let follow = leads_to(kind, KindSet::all().without(EdgeKind::ExecutesProcess));
        let mut incoming = follow.incoming.union(KindSet::of(&[Tests]));
        if kind.is_value() {
            incoming = incoming.union(uses_of_values());
        }
        let mut next: Vec<NodeIndex> = Vec::new();
        next.extend(
            graph.incoming(node).iter().filter(|it| incoming.contains(it.kind())).map(|it| it.other()),
        );
        next.extend(
            graph.outgoing(node).iter().filter(|it| follow.outgoing.contains(it.kind())).map(|it| it.other()),
        );
        if incoming.contains(Inherits) {
            next.extend(inheritance.inheritors_of(node));
        }
        if kind == NodeKind::Constructor {
            // Who constructs a type calls its constructor.
            let types = graph.outgoing_of(node, MemberOf).iter().map(|it| it.other());
            next.extend(types.flat_map(|it| graph.incoming_of(it, Calls)).map(|it| it.other()));
        }
        next.sort_unstable();
        next.dedup();
        next
    }

    /// Tests that stand in a node.
    pub(super) fn members(&self, node: NodeIndex) -> Vec<NodeIndex> {
        let members = self.graph.outgoing_of(node, EdgeKind::Contains).iter().map(|it| it.other());
        members.filter(|it| self.is_runnable(*it)).collect()
    }

    /// Tests of the same type, else of the same file.
    pub(super) fn beside(&self, node: NodeIndex) -> Vec<NodeIndex> {
        let owners: Vec<NodeIndex> =
            self.graph.outgoing_of(node, EdgeKind::MemberOf).iter().map(|it| it.other()).collect();
        let members = owners.iter().flat_map(|it| self.graph.outgoing_of(*it, EdgeKind::Contains));
        let members: Vec<NodeIndex> =
            members.map(|it| it.other()).filter(|it| self.is_runnable(*it)).collect();
        if !owners.is_empty() {
            return members;
        }
        let Some(file) = self.names.file(node.0) else { return Vec::new() };
        self.in_file(file).filter(|it| self.is_runnable(*it)).collect()
    }

    /// Tests with calls that could not be resolved and may mean what changed, or who is near to it.
    fn by_name(&mut self, view: &View<'_>, at: usize, near: &[Front], is_covered: bool) -> Result<bool> {
        let most = if is_covered { MAX_MORE_BY_NAME } else { MAX_BY_NAME };
        let mut is_found = false;
        let callables = near.iter().filter(|it| self.graph.node(it.node).kind().is_callable());
        for front in callables.take(MAX_NEAR) {
            let callers = UnresolvedSites::callers_of(view, front.node)?;
            let tests: Vec<NodeIndex> = callers.into_iter().filter(|it| self.is_runnable(*it)).collect();
            if tests.len() > most {
                continue;
            }
            for node in tests {
                is_found = true;
                self.evidence(node, at).add_by_name(Way { steps: front.depth + 1, ..front.way() });
            }
        }
        Ok(is_found)
    }

    /// Tests of test files that import a file; of many such files only when nothing else is known.
    fn importing(&mut self, at: usize, file: FileIndex, is_all_there_is: bool) -> bool {
        let own: Vec<NodeIndex> = self.in_file(file).collect();
        let importers: BTreeSet<FileIndex> = own
            .iter()
            .flat_map(|it| self.graph.incoming_of(*it, EdgeKind::Imports))
            .filter_map(|it| self.names.file(it.other().0))
            .filter(|it| self.test_files.contains(it) && *it != file)
            .collect();
        let is_few = is_all_there_is || importers.len() <= MAX_IMPORTING;
        let tests: Vec<NodeIndex> = importers.into_iter().flat_map(|it| self.tests_in(it)).collect();
        for &node in &tests {
            if is_few || self.found.contains_key(&node) {
                self.evidence(node, at).is_importing = true;
            }
        }
        !tests.is_empty()
    }

    /// Tests of files that are named after a file, or after a type of it that changed.
    fn named_after(
        &mut self,
        at: usize,
        file: FileIndex,
        touched: &[NodeIndex],
        named: &NamedAfter<'_>,
    ) -> bool {
        let owners = touched.iter().flat_map(|it| self.graph.outgoing_of(*it, EdgeKind::MemberOf));
        let types: BTreeSet<NodeIndex> = touched
            .iter()
            .copied()
            .chain(owners.map(|it| it.other()))
            .filter(|it| self.graph.node(*it).kind().is_type_like())
            .collect();
        let types: Vec<&str> = types.into_iter().map(|it| self.names.name(it.0)).collect();
        let tests: Vec<NodeIndex> =
            named.of(file, &types).into_iter().flat_map(|it| self.tests_in(it)).collect();
        for &node in &tests {
            self.evidence(node, at).is_named_after = true;
        }
        !tests.is_empty()
    }

    /// Tests of files that changed with a file before.
    fn together(
        &mut self,
        at: usize,
        file: FileIndex,
        touched: &[NodeIndex],
        past: &Past<'_>,
        by_habit: bool,
    ) -> bool {
        let symbols: BTreeSet<&str> = touched.iter().map(|it| self.names.name(it.0)).collect();
        let path = self.names.path(file);
        let mut is_found = false;
        for companion in past.companions(path, &symbols, by_habit, self.names, self.test_files) {
            for node in self.tests_in(companion.file) {
                let as_itself = companion.touched.get(self.names.name(node.0)).copied().unwrap_or(0);
                let together = &mut self.evidence(node, at).together;
                is_found = true;
                let known = together.unwrap_or_default();
                *together = Some(Together {
                    times: known.times.max(companion.times),
                    as_itself: known.as_itself.max(as_itself),
                });
            }
        }
        is_found
    }

    /// Which of the tests of a change are called like what changed, or like what its lines speak of.
    fn count_words(&mut self, at: usize, spoken: &BTreeSet<String>) {
        let nodes: Vec<NodeIndex> =
            self.found.iter().filter(|it| it.1.change == at).map(|it| *it.0).collect();
        for node in nodes {
            let n_words = self.n_words(node, spoken);
            let evidence = self.evidence(node, at);
            evidence.n_words = evidence.n_words.max(n_words);
        }
    }

    fn evidence(&mut self, node: NodeIndex, change: usize) -> &mut Evidence {
        self.found.entry(node).or_insert_with(|| Evidence { change, ..Evidence::default() })
    }

    pub(super) fn tests_in(&self, file: FileIndex) -> Vec<NodeIndex> {
        self.in_file(file).filter(|it| self.is_runnable(*it)).collect()
    }

    pub(super) fn in_file(&self, file: FileIndex) -> impl Iterator<Item = NodeIndex> + '_ {
        self.names.in_file(file).iter().map(|&it| NodeIndex(it))
    }

    pub(super) fn is_runnable(&self, node: NodeIndex) -> bool {
        self.graph.node(node).kind() == NodeKind::Test
    }

    pub(super) fn is_in_tests(&self, node: NodeIndex) -> bool {
        self.graph.node(node).flags().contains(NodeFlags::TEST)
            || self.names.file(node.0).is_some_and(|it| self.test_files.contains(&it))
    }
}
