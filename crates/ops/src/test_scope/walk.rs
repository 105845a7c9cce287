//! From changed lines to tests, against the edges along which an effect travels.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use knowing_graph::{Graph, Inheritance, KindSet, NodeIndex};
use knowing_model::{EdgeKind, NodeFlags, NodeKind};
use knowing_search::{FileIndex, Names};

use crate::blast_radius::leads_to;
use crate::error::Result;
use crate::test_scope::changes::Change;
use crate::unresolved::UnresolvedSites;
use crate::view::View;

/// The tests of a change.
pub(crate) struct Scope {
    pub(crate) tests: Vec<Test>,
    pub(crate) n_symbols: usize,
    pub(crate) uncovered: Vec<String>,
}

pub(crate) struct Test {
    pub(crate) node: NodeIndex,
    pub(crate) depth: u32,
    /// The changed symbol it reaches; none when it stands in, or imports, a changed file.
    pub(crate) start: Option<NodeIndex>,
    pub(crate) change: usize,
    /// It calls something of that name, and nobody knows on what.
    pub(crate) by_name: bool,
}

/// Tests that are taken for one name: more of them would say nothing.
const MAX_BY_NAME: usize = 200;

impl Scope {
    pub(crate) fn of(view: &View<'_>, changes: &[Change], depth: u32) -> Result<Scope> {
        let (graph, names) = (view.graph(), view.names()?);
        let test_files: BTreeSet<FileIndex> = view
            .files()?
            .iter()
            .filter(|it| it.flags.contains(NodeFlags::TEST))
            .filter_map(|it| names.find_file(&it.path))
            .collect();
        let mut walk = Walk { graph, names, test_files, max_depth: depth, found: BTreeMap::new() };
        let mut n_symbols = 0;
        let mut uncovered = Vec::new();
        for (at, change) in changes.iter().enumerate() {
            let Some(file) = change.file else {
                uncovered.push(change.path.clone());
                continue;
            };
            let touched = walk.touched(file, change.lines.as_deref());
            n_symbols += touched.len();
            if !walk.change(at, file, &touched, change.lines.is_none())
                && !walk.by_name(view, at, &touched)?
            {
                uncovered.push(change.path.clone());
            }
        }
        Ok(Scope { tests: walk.found.into_values().collect(), n_symbols, uncovered })
    }
}

struct Walk<'a> {
    graph: &'a Graph,
    names: &'a Names,
    test_files: BTreeSet<FileIndex>,
    max_depth: u32,
    found: BTreeMap<NodeIndex, Test>,
}

struct Front {
    node: NodeIndex,
    start: NodeIndex,
    depth: u32,
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

    /// Whether any test was found.
    fn change(&mut self, at: usize, file: FileIndex, touched: &[NodeIndex], is_whole: bool) -> bool {
        let mut is_covered = false;
        if self.test_files.contains(&file) || touched.iter().any(|it| self.is_runnable(*it)) {
            let own: Vec<NodeIndex> = self.in_file(file).filter(|it| self.is_runnable(*it)).collect();
            for node in own {
                is_covered = true;
                self.select(Test { node, depth: 0, start: None, change: at, by_name: false });
            }
        }
        is_covered |= self.walk(at, touched);
        // Lines outside of every symbol, or nobody knows which: who imports the file may notice.
        if !is_covered && (is_whole || touched.is_empty()) {
            is_covered = self.importing(at, file);
        }
        is_covered
    }

    fn walk(&mut self, at: usize, touched: &[NodeIndex]) -> bool {
        let mut inheritance = Inheritance::new(self.graph);
        let mut is_covered = false;
        let mut seen: BTreeSet<NodeIndex> = touched.iter().copied().collect();
        let mut open: VecDeque<Front> =
            touched.iter().map(|it| Front { node: *it, start: *it, depth: 0 }).collect();
        while let Some(front) = open.pop_front() {
            if self.is_runnable(front.node) {
                is_covered = true;
                let Front { node, start, depth } = front;
                self.select(Test { node, depth, start: Some(start), change: at, by_name: false });
                continue;
            }
            let mut next = self.concerned(front.node, &mut inheritance);
            // What the runner calls before each test, nobody else does: the tests beside it are meant.
            if next.is_empty() && front.depth > 0 && self.is_in_tests(front.node) {
                for node in self.beside(front.node) {
                    is_covered = true;
                    let Front { start, depth, .. } = front;
                    self.select(Test { node, depth, start: Some(start), change: at, by_name: false });
                }
            }
            if front.depth >= self.max_depth {
                continue;
            }
            next.retain(|it| seen.insert(*it));
            let Front { start, depth, .. } = front;
            for node in next {
                // A route is no code: who asks for it is as near to the handler as who calls it.
                match self.graph.node(node).kind() {
                    NodeKind::RouteHandler => open.push_front(Front { node, start, depth }),
                    _ => open.push_back(Front { node, start, depth: depth + 1 }),
                }
            }
        }
        is_covered
    }

    /// Who may notice a change of a node.
    fn concerned(&self, node: NodeIndex, inheritance: &mut Inheritance<'_>) -> Vec<NodeIndex> {
        use EdgeKind::{AccessesField, Calls, Inherits, MemberOf, References, Tests};
        let graph = self.graph;
        let kind = graph.node(node).kind();
        let follow = leads_to(kind, KindSet::all());
        let mut incoming = follow.incoming.union(KindSet::of(&[Tests]));
        if matches!(
            kind,
            NodeKind::Var | NodeKind::Const | NodeKind::Field | NodeKind::Property | NodeKind::EnumMember
        ) {
            incoming = incoming.union(KindSet::of(&[References, AccessesField]));
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

    /// Tests of the same type, else of the same file.
    fn beside(&self, node: NodeIndex) -> Vec<NodeIndex> {
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

    /// Where no edge leads to a test: tests with calls that could not be resolved and may mean what changed.
    fn by_name(&mut self, view: &View<'_>, at: usize, touched: &[NodeIndex]) -> Result<bool> {
        let mut is_covered = false;
        for &start in touched.iter().filter(|it| self.graph.node(**it).kind().is_callable()) {
            let callers = UnresolvedSites::callers_of(view, start)?;
            let tests: Vec<NodeIndex> = callers.into_iter().filter(|it| self.is_runnable(*it)).collect();
            if tests.len() > MAX_BY_NAME {
                continue;
            }
            for node in tests {
                is_covered = true;
                self.select(Test { node, depth: 1, start: Some(start), change: at, by_name: true });
            }
        }
        Ok(is_covered)
    }

    /// Tests of test files that import a file.
    fn importing(&mut self, at: usize, file: FileIndex) -> bool {
        let own: Vec<NodeIndex> = self.in_file(file).collect();
        let importers: BTreeSet<FileIndex> = own
            .iter()
            .flat_map(|it| self.graph.incoming_of(*it, EdgeKind::Imports))
            .filter_map(|it| self.names.file(it.other().0))
            .filter(|it| self.test_files.contains(it) && *it != file)
            .collect();
        let tests: Vec<NodeIndex> = importers
            .into_iter()
            .flat_map(|it| self.in_file(it).filter(|it| self.is_runnable(*it)).collect::<Vec<_>>())
            .collect();
        for &node in &tests {
            self.select(Test { node, depth: 1, start: None, change: at, by_name: false });
        }
        !tests.is_empty()
    }

    fn in_file(&self, file: FileIndex) -> impl Iterator<Item = NodeIndex> + '_ {
        self.names.in_file(file).iter().map(|&it| NodeIndex(it))
    }

    fn is_runnable(&self, node: NodeIndex) -> bool {
        self.graph.node(node).kind() == NodeKind::Test
    }

    fn is_in_tests(&self, node: NodeIndex) -> bool {
        self.graph.node(node).flags().contains(NodeFlags::TEST)
            || self.names.file(node.0).is_some_and(|it| self.test_files.contains(&it))
    }

    /// Keeps the nearest.
    fn select(&mut self, test: Test) {
        match self.found.get(&test.node) {
            Some(known) if known.depth <= test.depth => {}
            _ => drop(self.found.insert(test.node, test)),
        }
    }
}
