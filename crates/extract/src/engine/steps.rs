//! The nodes of a parsed tree one after the other (`steps.c` says why not by tree-sitter's cursor).

#![expect(unsafe_code, reason = "C is called")]

use std::marker::PhantomData;

use tree_sitter::Tree;
use tree_sitter::ffi::TSTree;

/// A node, as it stands in `steps.c`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub(crate) struct Met {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) n_named_children: u32,
    /// How many of the nodes that were gone into ended before this one, innermost first.
    pub(crate) n_closed: u32,
    pub(crate) kind: u16,
    /// 0 for none.
    pub(crate) field: u16,
    pub(crate) is_missing: bool,
}

#[repr(C)]
struct Raw {
    _private: [u8; 0],
}

unsafe extern "C" {
    fn knowing_steps_new(tree: *const TSTree, is_dropped: *const u8, n_kinds: u32, met: *mut Met)
    -> *mut Raw;
    fn knowing_steps_next(steps: *mut Raw, into: bool, met: *mut Met) -> bool;
    fn knowing_steps_delete(steps: *mut Raw);
}

pub(crate) struct Steps<'t> {
    raw: *mut Raw,
    met: Met,
    /// The tree and the table are read at every step.
    _of: PhantomData<(&'t Tree, &'t [bool])>,
}

impl<'t> Steps<'t> {
    /// At the root. Nodes of a kind that `is_dropped`, by the grammar's numbers, are left out with all below them unless they
    /// are missing.
    pub(crate) fn new(tree: &'t Tree, is_dropped: &'t [bool]) -> Steps<'t> {
        let mut met = Met::default();
        let n_kinds = u32::try_from(is_dropped.len()).unwrap_or(u32::MAX);
        let raw_tree = tree.root_node().into_raw().tree;
        // SAFETY: tree and table outlive the steps, and a `bool` is a byte that is 0 or 1.
        let raw = unsafe { knowing_steps_new(raw_tree, is_dropped.as_ptr().cast(), n_kinds, &raw mut met) };
        Steps { raw, met, _of: PhantomData }
    }

    /// The node that was met last.
    pub(crate) fn met(&self) -> Met {
        self.met
    }

    /// Goes to the next node: below the one that was met last if that is gone `into`. False when there is none.
    pub(crate) fn next(&mut self, into: bool) -> bool {
        // SAFETY: made by `new`, and gone only in `drop`.
        unsafe { knowing_steps_next(self.raw, into, &raw mut self.met) }
    }
}

impl Drop for Steps<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and let go once.
        unsafe { knowing_steps_delete(self.raw) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::LANGUAGES;

    fn by_cursor(tree: &Tree, is_dropped: &[bool]) -> Vec<(usize, Met)> {
        let mut all = Vec::new();
        let mut cursor = tree.walk();
        loop {
            let node = cursor.node();
            let number = |it: usize| u32::try_from(it).unwrap();
            let is_dropped =
                is_dropped.get(usize::from(node.kind_id())).is_some_and(|it| *it) && !node.is_missing();
            if !is_dropped {
                let met = Met {
                    from: number(node.start_byte()),
                    to: number(node.end_byte()),
                    n_named_children: number(node.named_child_count()),
                    n_closed: 0,
                    kind: node.kind_id(),
                    field: cursor.field_id().map_or(0, |it| it.get()),
                    is_missing: node.is_missing(),
                };
                all.push((cursor.depth() as usize, met));
            }
            if !is_dropped && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return all;
                }
            }
        }
    }

    fn by_steps(tree: &Tree, is_dropped: &[bool]) -> Vec<(usize, Met)> {
        let mut all = Vec::new();
        let mut steps = Steps::new(tree, is_dropped);
        let mut depth = 0;
        loop {
            depth -= steps.met().n_closed as usize;
            all.push((depth, Met { n_closed: 0, ..steps.met() }));
            depth += 1;
            if !steps.next(true) {
                assert_eq!(
                    steps.met().n_closed as usize,
                    depth,
                    "all that was gone into is closed at the end"
                );
                return all;
            }
        }
    }

    /// On what specifications show, and on their prose, which is code of no language.
    #[test]
    fn steps_are_those_of_the_cursor() {
        let languages = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/languages");
        let mut n_met = 0;
        for language in LANGUAGES {
            let tables = language.tables();
            let mut parser = tree_sitter::Parser::new();
            parser.set_language(&tables.grammar).unwrap();
            for folder in std::fs::read_dir(&languages).unwrap() {
                let Ok(spec) = std::fs::read_to_string(folder.unwrap().path().join("spec.md")) else {
                    continue;
                };
                let is_own = spec.contains(&format!("```{}", language.name));
                for piece in spec.split("```").step_by(if is_own { 1 } else { 16 }) {
                    let tree = parser.parse(piece.split_once('\n').map_or(piece, |it| it.1), None).unwrap();
                    for is_dropped in [&tables.is_dropped[..], &[]] {
                        let met = by_steps(&tree, is_dropped);
                        assert_eq!(met, by_cursor(&tree, is_dropped), "{} {piece}", language.name);
                        n_met += met.len();
                    }
                }
            }
        }
        assert!(n_met > 10_000, "{n_met}");
    }
}
