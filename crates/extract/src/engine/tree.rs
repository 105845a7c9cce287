//! The syntax tree as one flat list in source order, made in a single walk.
//!
//! Asking tree-sitter for children and fields costs a call into C each time, and the same nodes are asked for many
//! times. Here a node is a number, its first child is the next number, and the node after its subtree is one look-up.

use knowing_model::{Position, Range};

use super::lines::Lines;
use super::steps::Steps;
use crate::language::{ERROR, Tables};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Node(pub(crate) u32);

impl Node {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// 24 bytes: a file has as many of these as it has words.
struct Flat {
    range: Range,
    row: u32,
    /// The node after the subtree.
    next: u32,
    parent: u32,
    kind: u8,
    field: u8,
}

#[derive(Default)]
pub(crate) struct Tree {
    nodes: Vec<Flat>,
    lines: Lines,
    /// Line of the first node the parser could not make sense of.
    pub(crate) first_error: Option<u32>,
    pub(crate) too_deep: bool,
}

impl Tree {
    /// Takes over a parsed tree.
    pub(crate) fn fill(
        &mut self,
        parsed: &tree_sitter::Tree,
        bytes: &[u8],
        tables: &Tables,
        max_depth: usize,
    ) {
        self.nodes.clear();
        self.lines.fill(bytes);
        self.first_error = None;
        self.too_deep = false;
        let is_sound = !parsed.root_node().has_error();
        let mut steps = Steps::new(parsed, &tables.is_dropped);
        // Nodes whose children are being met.
        let mut open: Vec<u32> = Vec::with_capacity(64);
        let mut row = 0;
        loop {
            let met = steps.met();
            for _ in 0..met.n_closed {
                self.close(open.pop());
            }
            let range = Range { from: met.from, to: met.to };
            let kind = tables.kind(met.kind);
            if !is_sound && self.first_error.is_none() && (met.is_missing || tables.is_error(met.kind)) {
                self.first_error = Some(self.lines.row_of(range.from).saturating_add(1));
            }
            let mut into = false;
            if let Some(kind) = kind {
                if open.len() >= max_depth {
                    self.too_deep = true;
                } else {
                    let index = number(self.nodes.len());
                    let parent = open.last().copied().unwrap_or(0);
                    row = self.lines.row_from(row, range.from);
                    let field = match self.nodes.get(parent as usize) {
                        Some(parent) if kind != ERROR => {
                            let field = tables.field(met.field);
                            let has_none = tables.is_fieldless(parent.kind);
                            debug_assert!(
                                !has_none || field == 0,
                                "a parent of kind {} has a field",
                                parent.kind
                            );
                            if has_none { 0 } else { field }
                        }
                        _ => 0,
                    };
                    self.nodes.push(Flat { range, row, next: index + 1, parent, kind, field });
                    let text = || bytes.get(range.from as usize..range.to as usize).unwrap_or_default();
                    into = !is_sound || met.n_named_children == 0 || !(tables.is_closed)(kind, text());
                    if into {
                        open.push(index);
                    }
                }
            }
            if !steps.next(into) {
                break;
            }
        }
        while let Some(last) = open.pop() {
            self.close(Some(last));
        }
    }

    /// All below a node was met.
    fn close(&mut self, node: Option<u32>) {
        let next = number(self.nodes.len());
        if let Some(node) = node.and_then(|it| self.nodes.get_mut(it as usize)) {
            node.next = next;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn root(&self) -> Option<Node> {
        (!self.nodes.is_empty()).then_some(Node(0))
    }

    pub(crate) fn kind(&self, node: Node) -> u8 {
        self.nodes[node.index()].kind
    }

    /// The field under which its parent has it; 0 for none.
    pub(crate) fn field(&self, node: Node) -> u8 {
        self.nodes[node.index()].field
    }

    pub(crate) fn range(&self, node: Node) -> Range {
        self.nodes[node.index()].range
    }

    pub(crate) fn start(&self, node: Node) -> u32 {
        self.range(node).from
    }

    pub(crate) fn end(&self, node: Node) -> u32 {
        self.range(node).to
    }

    pub(crate) fn position(&self, node: Node) -> Position {
        let Flat { range, row, .. } = self.nodes[node.index()];
        self.lines.position(row, range.from)
    }

    /// Where an offset at or after `node` stands.
    pub(crate) fn position_at(&self, node: Node, offset: u32) -> Position {
        self.lines.position(self.lines.row_from(self.nodes[node.index()].row, offset), offset)
    }

    /// A node that ends with a line break has its last line before it.
    pub(crate) fn last_line(&self, node: Node) -> u32 {
        let Flat { range, row, .. } = self.nodes[node.index()];
        let end = self.lines.position(self.lines.row_of(range.to), range.to);
        if end.column == 0 && end.line > row + 1 { end.line - 1 } else { end.line }
    }

    pub(crate) fn parent(&self, node: Node) -> Option<Node> {
        (node.0 != 0).then(|| Node(self.nodes[node.index()].parent))
    }

    /// The node after `node` and all below it; it may stand outside of the parent.
    pub(crate) fn after(&self, node: Node) -> Node {
        Node(self.nodes[node.index()].next)
    }

    pub(crate) fn children(&self, node: Node) -> Children<'_> {
        Children { tree: self, next: node.0 + 1, end: self.after(node).0 }
    }

    pub(crate) fn first_child(&self, node: Node) -> Option<Node> {
        self.children(node).next()
    }

    pub(crate) fn child(&self, node: Node, field: impl Into<FieldNumber>) -> Option<Node> {
        let FieldNumber(field) = field.into();
        self.children(node).find(|it| self.field(*it) == field)
    }

    /// `node` and all below it, in source order.
    pub(crate) fn subtree(&self, node: Node) -> impl Iterator<Item = Node> + use<> {
        (node.0..self.after(node).0).map(Node)
    }
}

/// A field of some language.
pub(crate) struct FieldNumber(pub(crate) u8);

pub(crate) struct Children<'t> {
    tree: &'t Tree,
    next: u32,
    end: u32,
}

impl Iterator for Children<'_> {
    type Item = Node;

    fn next(&mut self) -> Option<Node> {
        if self.next >= self.end {
            return None;
        }
        let node = Node(self.next);
        self.next = self.tree.after(node).0;
        Some(node)
    }
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
