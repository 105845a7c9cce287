//! Where types are written, and what naming one means.

use knowing_model::Range;
use knowing_model::facts::{
    Expr, Literal, Reference, ReferenceRole, ReferenceTarget, Str, Type, TypeId, Value,
};

use super::annotation::parse;
use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::uses::{MaybeUse, Used};
use crate::engine::tree::Node;

impl Reader<'_, '_> {
    /// A declared type; every type it names is a reference of `cx.decl`.
    pub(super) fn annotation(&mut self, node: Node, cx: Context, role: ReferenceRole) -> TypeId {
        let (type_, mentions) = parse(self.b, self.b.tree.range(node));
        for mention in mentions {
            let position = self.b.position_at(node, mention.at);
            let target = ReferenceTarget::Type(mention.type_);
            self.b.reference(Reference { decl: cx.decl, target, role, position });
        }
        type_
    }

    /// The type an expression names, where one is expected: `isinstance(x, T)`, `except T`, a base. Read once.
    pub(super) fn type_in_expression(&mut self, node: Node, cx: Context, besides: Besides) -> TypeId {
        if let Some(known) = self.types.get(&node) {
            return *known;
        }
        let (type_, mentions) = parse(self.b, self.b.tree.range(node));
        let type_ = self.tuple_as_union(type_);
        self.types.insert(node, type_);
        for mention in mentions {
            if besides == Besides::Itself && mention.type_ == type_ {
                continue;
            }
            let position = self.b.position_at(node, mention.at);
            let Some(name) = self.first_segment(mention.type_) else { continue };
            self.b.count();
            self.uses.push(MaybeUse {
                decl: cx.decl,
                scope: cx.scope,
                name,
                used: Used::Type(mention.type_),
                role: ReferenceRole::Type,
                position,
            });
        }
        // The names are used up, unless they stand in a call, which has values.
        let mut next = node;
        while next < self.b.tree.after(node) {
            let kind = self.kind(next);
            if matches!(kind, Kind::Identifier | Kind::Attribute) {
                self.b.consume(next);
            }
            next = if kind == Kind::Call { self.b.tree.after(next) } else { Node(next.0 + 1) };
        }
        type_
    }

    /// `(A, B)` in `except` and `isinstance` means either.
    fn tuple_as_union(&mut self, type_: TypeId) -> TypeId {
        match self.b.facts.type_(type_) {
            Type::Tuple(types) => {
                let types = types.clone();
                self.b.type_(Type::Union(types))
            }
            _ => type_,
        }
    }

    pub(super) fn first_segment(&self, type_: TypeId) -> Option<Str> {
        match self.b.facts.type_(type_) {
            Type::Named { segments, .. } => segments.first().copied(),
            _ => None,
        }
    }

    pub(super) fn last_segment(&self, type_: TypeId) -> Option<&str> {
        match self.b.facts.type_(type_) {
            Type::Named { segments, .. } => segments.last().map(|it| self.b.str(*it)),
            _ => None,
        }
    }

    pub(super) fn is_unknown(&self, type_: TypeId) -> bool {
        *self.b.facts.type_(type_) == Type::Unknown
    }

    /// `x = f()  # type: T`.
    pub(super) fn type_comment(&mut self, statement: Node, cx: Context) -> Option<TypeId> {
        let from = self.b.tree.end(statement);
        let rest = self.b.source.bytes(Range { from, to: self.b.source.len() });
        // Look for the comment before the end of the line: a line may be as long as the file.
        let comment = trim_blanks(rest).strip_prefix(b"#")?;
        let after = trim_blanks(trim_blanks(comment).strip_prefix(b"type:")?);
        let text = &after[..after.iter().position(|&it| it == b'\n').unwrap_or(after.len())];
        if text.starts_with(b"ignore") {
            return None;
        }
        let from = self.b.source.len() - u32::try_from(after.len()).ok()?;
        let to = from + u32::try_from(text.len()).ok()?;
        let (type_, mentions) = parse(self.b, Range { from, to });
        for mention in mentions {
            let position = self.b.position_at(statement, mention.at);
            let target = ReferenceTarget::Type(mention.type_);
            self.b.reference(Reference { decl: cx.decl, target, role: ReferenceRole::Hint, position });
        }
        Some(type_)
    }

    /// `cast(T, x)` of `typing` is a `T`.
    pub(super) fn cast_type(&mut self, call: Node, function: Node) -> Option<TypeId> {
        let name = self.terminal(function)?;
        if !self.is(name, "cast") || !self.is_typing(function) {
            return None;
        }
        let arguments = self.child(call, Field::Arguments)?;
        let type_ = self.first_child(arguments)?;
        Some(parse(self.b, self.b.tree.range(type_)).0)
    }

    pub(super) fn is_typing(&mut self, function: Node) -> bool {
        let Some(root) = self.root_of(function) else { return false };
        let name = self.b.name(root);
        self.imported
            .get(&name)
            .is_some_and(|it| matches!(it.split('.').next(), Some("typing" | "typing_extensions")))
    }

    /// What `**kwargs` and `*args` are.
    pub(super) fn rest_literal(&mut self, literal: Literal) -> Value {
        Value::Expr(self.b.expr(Expr::Literal(literal)))
    }
}

/// Whether the type itself is a reference, or only what it names besides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Besides {
    Nothing,
    Itself,
}

fn trim_blanks(text: &[u8]) -> &[u8] {
    let n_blank = text.iter().take_while(|it| matches!(it, b' ' | b'\t')).count();
    &text[n_blank..]
}
