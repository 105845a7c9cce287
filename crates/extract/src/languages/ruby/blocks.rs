//! Blocks and lambdas: what they are the body of, and what their parameters get.

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Expr, ExprId, Value};

use super::comments::Comment;
use super::kinds::{Field, Kind};
use super::reader::{Context, Level, Reader};
use crate::engine::build::NewDecl;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// What a block is, when it is more than a piece of the code around it.
#[derive(Clone, Copy)]
pub(super) enum Role {
    /// The inside of a declaration.
    Body { decl: DeclId, level: Level },
    /// A group of examples.
    Group(usize),
    /// Runs as if it stood in the body around it: `included do`.
    Same,
    /// Runs with another `self`: `instance_eval`, `Class.new`.
    Elsewhere,
}

/// Methods that give their block one element after the other.
const EACH: [&str; 50] = [
    "all?",
    "any?",
    "collect",
    "collect_concat",
    "count",
    "cycle",
    "delete_if",
    "detect",
    "drop_while",
    "each",
    "each_child",
    "each_entry",
    "each_value",
    "each_with_index",
    "each_with_object",
    "filter",
    "filter!",
    "filter_map",
    "find",
    "find_all",
    "find_each",
    "find_index",
    "flat_map",
    "group_by",
    "index_by",
    "index_with",
    "keep_if",
    "map",
    "map!",
    "max_by",
    "min_by",
    "minmax_by",
    "none?",
    "one?",
    "partition",
    "reject",
    "reject!",
    "reverse_each",
    "select",
    "select!",
    "sort_by",
    "sort_by!",
    "sum",
    "take_while",
    "tally_by",
    "to_h",
    "to_set",
    "uniq",
    "uniq!",
    "with_index",
];

/// Methods that give their block what they are called on.
const ITSELF: [&str; 3] = ["tap", "then", "yield_self"];

impl Reader<'_, '_> {
    pub(super) fn block(&mut self, node: Node, cx: Context) -> Step<Context> {
        let role = self.blocks.get(&node).copied();
        let end = self.b.tree.end(node);
        let inner = match role {
            Some(Role::Body { decl, level }) => {
                let is_type = level == Level::Body;
                Context {
                    decl: Some(decl),
                    type_: if is_type { Some(decl) } else { cx.type_ },
                    function: if is_type { None } else { Some(decl) },
                    level,
                    certain_to: end,
                    in_block: false,
                    ..cx
                }
            }
            Some(Role::Group(group)) => {
                Context { group: Some(group), certain_to: end.min(cx.certain_to), in_block: true, ..cx }
            }
            Some(Role::Same) => Context { certain_to: end.min(cx.certain_to), ..cx },
            Some(Role::Elsewhere) => Context {
                type_: None,
                level: Level::Top,
                certain_to: end.min(cx.certain_to),
                in_block: true,
                ..cx
            },
            None => Context { certain_to: end.min(cx.certain_to), in_block: true, ..cx },
        };
        self.enter_scope(node, inner);
        let of_declaration = match role {
            Some(Role::Body { decl, level }) if level != Level::Body => Some(decl),
            _ => None,
        };
        self.block_parameters(node, of_declaration, inner);
        if let Some(id) = of_declaration {
            let body =
                if self.kind(node) == Kind::Lambda { self.child(node, Field::Body) } else { Some(node) };
            if let Some(body) = body {
                self.body_results(body, id);
            }
        }
        Step::Within(inner)
    }

    fn block_parameters(&mut self, node: Node, of: Option<DeclId>, cx: Context) {
        let Some(list) = self.child(node, Field::Parameters) else { return };
        let visible = self.b.tree.range(node);
        let comment = Comment::default();
        if of.is_some() {
            self.parameters(list, of, visible, &comment, cx);
            return;
        }
        let first = self.first_child(list);
        let n_parameters = self.children(list).count();
        if let Some(first) = first
            && self.kind(first) == Kind::Identifier
            && let Some(value) = self.first_given(node, n_parameters)
        {
            let name = self.b.name(first);
            self.b.consume(first);
            self.bind_name(name, Value::Expr(value), visible, visible.to, cx);
            for other in self.children(list).skip(1) {
                self.bind_unknown(other, node, cx);
            }
            return;
        }
        self.parameters(list, None, visible, &comment, cx);
        for other in self.children(list) {
            if self.kind(other) == Kind::DestructuredParameter {
                self.bind_unknown(other, node, cx);
            }
        }
    }

    fn bind_unknown(&mut self, parameter: Node, block: Node, cx: Context) {
        let visible = self.b.tree.range(block);
        for node in self.b.tree.subtree(parameter) {
            let is_name = self.kind(node) == Kind::Identifier && self.locals.scope_of(node).is_some();
            if is_name && self.field(node) != Field::Value {
                let name = self.b.name(node);
                self.bind_name(name, Value::Unknown, visible, visible.to, cx);
            }
        }
    }

    /// What the first parameter of a block gets, by the call that the block is given to.
    pub(super) fn first_given(&mut self, block: Node, n_parameters: usize) -> Option<ExprId> {
        let call = self.b.tree.parent(block).filter(|it| self.kind(*it) == Kind::Call)?;
        let method = self.child(call, Field::Method)?;
        let text = self.b.text(method);
        let receiver = self.child(call, Field::Receiver);
        match receiver {
            Some(receiver) if ITSELF.contains(&&*text) && self.arguments(call).is_empty() => {
                Some(self.expr(receiver))
            }
            Some(receiver) if EACH.contains(&&*text) => {
                let several = n_parameters > 1
                    && !matches!(&*text, "each_with_index" | "each_with_object" | "with_index");
                if several {
                    return None;
                }
                let of = self.expr(receiver);
                Some(self.b.expr(Expr::Element { of }))
            }
            _ => {
                let of = self.callee(call)?;
                Some(self.b.expr(Expr::Enter { of }))
            }
        }
    }

    /// `name = ->(x) { ... }`, `lambda { ... }`, `proc { ... }`: a function of that name. The block or lambda node.
    pub(super) fn lambda_of(&self, value: Node) -> Option<Node> {
        match self.kind(value) {
            Kind::Lambda => Some(value),
            Kind::Call => {
                let method = self.child(value, Field::Method)?;
                let is_maker = match self.child(value, Field::Receiver) {
                    None => matches!(self.b.bytes(method), b"lambda" | b"proc"),
                    Some(receiver) => self.is(receiver, "Proc") && self.is(method, "new"),
                };
                if is_maker { self.child(value, Field::Block) } else { None }
            }
            _ => None,
        }
    }

    pub(super) fn named_lambda(
        &mut self,
        node: Node,
        left: Node,
        lambda: Node,
        cx: Context,
    ) -> Option<DeclId> {
        let name = self.b.name(left);
        let body = self.child(lambda, Field::Body);
        let signature = self.head_up_to(node, body.or(Some(lambda)));
        let id = self.b.declare(NewDecl {
            owner: cx.decl,
            name,
            kind: NodeKind::Function,
            node,
            name_position: self.b.tree.position(left),
            signature,
        })?;
        let comment = self.comment_above(node);
        self.described(id, &comment);
        self.b.consume(left);
        self.blocks.insert(lambda, Role::Body { decl: id, level: cx.level });
        Some(id)
    }
}
