//! The syntax tree as one flat list in source order, made in a single cursor walk.
//!
//! Asking tree-sitter for children and fields costs a call into C each time, and the same nodes are asked for many
//! times. Here a node is a number, its first child is the next number, and the node after its subtree is one look-up.

use knowing_model::{Position, Range};

use super::lines::Lines;
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

/// A node whose children are being read.
struct Open {
    index: u32,
    /// Where it ends.
    end: u32,
    /// Named children that were not met yet.
    n_unmet: usize,
}

impl Tree {
    /// Takes over a parsed tree.
    ///
    /// Most of the time goes into stepping from sibling to sibling. In a tree without errors a node is left when its
    /// last named child was met and nothing but tokens that are dropped can follow, which spares a third of the steps.
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
        let text = |range: Range| bytes.get(range.from as usize..range.to as usize).unwrap_or_default();
        let mut cursor = parsed.walk();
        let mut open: Vec<Open> = Vec::with_capacity(64);
        let mut row = 0;
        loop {
            let node = cursor.node();
            let (kind, is_named) = tables.kind(node.kind_id());
            if !is_sound && self.first_error.is_none() && (node.is_error() || node.is_missing()) {
                self.first_error = Some(number(node.start_position().row).saturating_add(1));
            }
            if is_named && let Some(parent) = open.last_mut() {
                parent.n_unmet = parent.n_unmet.saturating_sub(1);
            }
            if let Some(kind) = kind {
                if open.len() >= max_depth {
                    self.too_deep = true;
                } else {
                    let index = number(self.nodes.len());
                    let parent = open.last().map_or(0, |it| it.index);
                    let range = Range { from: number(node.start_byte()), to: number(node.end_byte()) };
                    row = self.lines.row_from(row, range.from);
                    let field = match self.nodes.get(parent as usize) {
                        Some(parent) if kind != ERROR => field_under(parent.kind, &cursor, tables),
                        _ => 0,
                    };
                    self.nodes.push(Flat { range, row, next: index + 1, parent, kind, field });
                    let n_unmet = node.named_child_count();
                    let may_hold = if !is_sound {
                        true
                    } else if n_unmet > 0 {
                        !(tables.is_closed)(kind, text(range))
                    } else {
                        node.child_count() > 0 && tables.has_token(text(range))
                    };
                    if may_hold && cursor.goto_first_child() {
                        open.push(Open { index, end: range.to, n_unmet });
                        continue;
                    }
                }
            }
            let mut end = None;
            loop {
                let all_met = is_sound
                    && open.last().is_none_or(|it| {
                        it.n_unmet == 0 && {
                            let from = end.unwrap_or_else(|| number(node.end_byte()));
                            !tables.has_token(text(Range { from, to: it.end }))
                        }
                    });
                if !all_met && cursor.goto_next_sibling() {
                    break;
                }
                let Some(closed) = open.pop() else {
                    return;
                };
                self.nodes[closed.index as usize].next = number(self.nodes.len());
                end = Some(closed.end);
                cursor.goto_parent();
            }
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

/// Asking for the field costs as much as all else that is asked of a node; many parents have none.
fn field_under(parent: u8, cursor: &tree_sitter::TreeCursor<'_>, tables: &Tables) -> u8 {
    let field = || cursor.field_id().map_or(0, |it| tables.field(it.get()));
    if tables.is_fieldless(parent) {
        debug_assert_eq!(field(), 0, "a parent of kind {parent} has a field");
        return 0;
    }
    field()
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
