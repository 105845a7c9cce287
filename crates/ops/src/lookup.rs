//! What a text means: a node id, a qualified name, a place, or the end of a name.

use knowing_graph::NodeIndex;
use knowing_model::name::{Case, SymbolForm, SymbolQuery, is_suffix, without_suffix};
use knowing_model::{EdgeKind, NodeKind, Symbol};
use knowing_store::SymbolRow;

use crate::error::{Candidate, Error, ErrorKind, Result};
use crate::nearest::nearest;
use crate::view::View;

/// How many candidates an ambiguous text lists.
const MAX_CANDIDATES: usize = 20;
/// How many names are offered for one that is not found.
const MAX_NEAREST: usize = 5;

impl View<'_> {
    /// The one symbol a text means. Several nodes only when they are overloads of one name, all of them meant.
    pub(crate) fn lookup(&self, text: &str) -> Result<Vec<NodeIndex>> {
        let found = self.code_before_tests(self.matches(text)?);
        match found.len() {
            0 => Err(self.not_found(text)?),
            1 => Ok(found),
            _ => {
                if self.are_overloads(&found)? {
                    return Ok(found);
                }
                Err(self.ambiguous(text, &found)?)
            }
        }
    }

    /// Tests are often called after what they test: a suite `cart` must not make a function `cart` ambiguous.
    fn code_before_tests(&self, mut found: Vec<NodeIndex>) -> Vec<NodeIndex> {
        let is_test = |it: &NodeIndex| self.graph().node(*it).kind() == NodeKind::Test;
        if !found.iter().all(is_test) {
            found.retain(|it| !is_test(it));
        }
        found
    }

    /// These, and for a constructor its type too: who constructs a type calls its constructor.
    pub(crate) fn with_constructed(&self, found: &[NodeIndex]) -> Vec<NodeIndex> {
        let graph = self.graph();
        let types = found
            .iter()
            .filter(|&&it| graph.node(it).kind() == NodeKind::Constructor)
            .flat_map(|&it| graph.outgoing_of(it, EdgeKind::MemberOf))
            .map(|edge| edge.other());
        found.iter().copied().chain(types).collect()
    }

    /// All nodes a text may mean, by the first rule that finds any, in canonical order.
    pub(crate) fn matches(&self, text: &str) -> Result<Vec<NodeIndex>> {
        let SymbolQuery { form, kind } = SymbolQuery::parse(text);
        let mut found = match &form {
            SymbolForm::Id(digits) => {
                let mut found: Vec<NodeIndex> = self.graph().find_prefix(digits).collect();
                if found.len() != 1 {
                    found = self.ending_with(digits, kind)?;
                }
                found
            }
            SymbolForm::Qualified(name) => self.known(self.reader().symbols_by_qname(name)?),
            SymbolForm::Position { path, line, column } => self.around(path, *line, *column)?,
            SymbolForm::Suffix(suffix) => self.ending_with(suffix, kind)?,
        };
        if let Some(kind) = kind {
            found.retain(|&it| self.graph().node(it).kind() == kind);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// By exact case before any case; code before the files and packages that hold it, and both before virtual things.
    fn ending_with(&self, suffix: &str, kind: Option<NodeKind>) -> Result<Vec<NodeIndex>> {
        let mut rows = self.reader().symbols_ending_with(suffix, Case::Ignored)?;
        rows.retain(|it| kind.is_none_or(|kind| it.symbol.kind == kind));
        for rank in [Rank::Code, Rank::Place, Rank::Virtual] {
            for case in [Case::Exact, Case::Ignored] {
                let fits = |it: &&SymbolRow| {
                    Rank::of(&it.symbol) == rank && is_suffix(&path_of(&it.symbol), suffix, case)
                };
                let found = self.known(rows.iter().filter(fits).cloned().collect());
                if !found.is_empty() {
                    return Ok(found);
                }
            }
        }
        Ok(Vec::new())
    }

    /// The innermost symbol around a position; the file itself where there is none.
    fn around(&self, path: &str, line: u32, column: Option<u32>) -> Result<Vec<NodeIndex>> {
        let Some(path) = self.file_meant(path)? else { return Ok(Vec::new()) };
        let column = column.unwrap_or(u32::MAX);
        let mut symbols = self.reader().symbols_in_file(&path)?;
        // Who edits a file means its lines as they are now.
        if let Some(anchors) = self.anchors(&path) {
            for it in &mut symbols {
                let (symbol, span) = (&it.symbol.symbol, &mut it.span);
                let found = anchors.declaration(&symbol.path, symbol.kind, (span.first_line, span.last_line));
                span.name.line = anchors.line(span.name.line);
                (span.first_line, span.last_line) = (found.first_line, found.last_line);
            }
        }
        let innermost = symbols
            .into_iter()
            .filter(|it| it.span.first_line <= line && line <= it.span.last_line)
            // Of several on one line, the one whose name stands last before the column.
            .min_by_key(|it| {
                let is_file = it.symbol.symbol.kind == NodeKind::File;
                let begins_after = it.span.name.line == line && it.span.name.column > column;
                let extent = it.span.last_line - it.span.first_line;
                (is_file, begins_after, extent, u32::MAX - it.span.name.column, it.symbol.symbol.id)
            });
        Ok(innermost.and_then(|it| self.graph().of_sym(it.symbol.sym)).into_iter().collect())
    }

    /// A path from the top, from the working directory, or the end of just one path.
    fn file_meant(&self, path: &str) -> Result<Option<String>> {
        let path = path.strip_prefix("./").unwrap_or(path);
        let files = self.files()?;
        let from_here = format!("{}{path}", self.prefix());
        for wanted in [from_here.as_str(), path] {
            if files.iter().any(|it| it.path == wanted) {
                return Ok(Some(wanted.to_owned()));
            }
        }
        let ending = format!("/{path}");
        let mut fitting = files.into_iter().filter(|it| it.path.ends_with(&ending));
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => Ok(Some(only.path)),
            _ => Ok(None),
        }
    }

    /// The nodes of rows; rows of other snapshots have none here.
    fn known(&self, rows: Vec<SymbolRow>) -> Vec<NodeIndex> {
        rows.into_iter().filter_map(|it| self.graph().of_sym(it.sym)).collect()
    }

    fn are_overloads(&self, found: &[NodeIndex]) -> Result<bool> {
        let mut symbols = Vec::new();
        for &at in found {
            symbols.push(self.symbol(at)?.symbol);
        }
        let first = without_suffix(&symbols[0].path);
        Ok(symbols.iter().all(|it| {
            it.container == symbols[0].container
                && it.repo == symbols[0].repo
                && it.kind == symbols[0].kind
                && without_suffix(&it.path) == first
        }))
    }

    pub(crate) fn ambiguous(&self, text: &str, found: &[NodeIndex]) -> Result<Error> {
        let mut infos = Vec::new();
        for &at in found {
            infos.push(self.info(at)?);
        }
        infos.sort_by(|a, b| (&a.qualified_name, a.kind, &a.id).cmp(&(&b.qualified_name, b.kind, &b.id)));
        let candidates = infos
            .iter()
            .take(MAX_CANDIDATES)
            .map(|it| Candidate {
                name: it.qualified_name.clone(),
                kind: Some(it.kind.to_owned()),
                location: it.location(),
                id: Some(it.id.clone()),
            })
            .collect();
        let message = format!("`{text}` may mean {} symbols", found.len());
        let hint = "give more of the name, its kind as `name@kind`, or a node id";
        let mut error = Error::new(ErrorKind::Ambiguous, message, hint).with_candidates(candidates);
        error.total = Some(found.len());
        Ok(error)
    }

    fn terminal_names(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        self.each_symbol(|at, row| {
            if !self.graph().node(at).is_virtual() {
                names.push(row.symbol.name.to_string());
            }
        })?;
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    pub(crate) fn not_found(&self, text: &str) -> Result<Error> {
        let wanted = match SymbolQuery::parse(text).form {
            SymbolForm::Suffix(it) | SymbolForm::Qualified(it) => it,
            SymbolForm::Id(it) => it,
            SymbolForm::Position { path, .. } => path,
        };
        let is_path = wanted.contains('/');
        let last = wanted.rsplit(['.', '/', '#', ':']).find(|it| !it.is_empty()).unwrap_or(&wanted);
        let names = if is_path {
            self.files()?.into_iter().map(|it| it.path).collect()
        } else {
            self.terminal_names()?
        };
        let wanted = if is_path { &wanted } else { last };
        let near = nearest(wanted, names.iter().map(String::as_str), MAX_NEAREST);
        let hint = match near.first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => "list what there is with `knowing query '*'`".to_owned(),
        };
        let candidates = near.into_iter().map(Candidate::named).collect();
        let message = format!("no symbol matches `{text}`");
        Ok(Error::new(ErrorKind::NotFound, message, hint).with_candidates(candidates))
    }
}

/// What a name alone is taken to mean first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rank {
    Code,
    /// Files and packages: a package `cart` must not make a function `cart` ambiguous.
    Place,
    Virtual,
}

impl Rank {
    fn of(symbol: &Symbol) -> Rank {
        match symbol.kind {
            _ if symbol.is_virtual() => Rank::Virtual,
            NodeKind::File | NodeKind::Package => Rank::Place,
            _ => Rank::Code,
        }
    }
}

/// `container.symbol`.
fn path_of(symbol: &Symbol) -> String {
    let name = symbol.qualified_name();
    match name.split_once("://") {
        Some((_, path)) => path.to_owned(),
        None => name,
    }
}
