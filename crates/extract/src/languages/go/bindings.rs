//! Names of functions' insides: `:=`, `var`, `range`, `select`, type switches; and which names are local at a place.
//!
//! A variable has the type it was declared with for as long as it can be seen, so that assignments bind nothing.

use knowing_model::Range;
use knowing_model::facts::{Binding, BindingTarget, Expr, ExprId, ReferenceRole, Str, Value};
use rustc_hash::FxHashMap;

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::types::Naming;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// Names by where they can be seen. The walk goes through the file once, so what has ended does not come back.
#[derive(Default)]
pub(super) struct Locals {
    by_name: FxHashMap<Str, Vec<Range>>,
}

impl Locals {
    pub(super) fn add(&mut self, name: Str, visible: Range) {
        self.by_name.entry(name).or_default().push(visible);
    }

    pub(super) fn contains(&mut self, name: Str, at: u32) -> bool {
        let Some(ranges) = self.by_name.get_mut(&name) else { return false };
        while ranges.last().is_some_and(|it| it.to <= at) {
            ranges.pop();
        }
        ranges.iter().rev().any(|it| it.contains(at))
    }
}

impl Reader<'_, '_> {
    /// Binds a name, unless it is `_`.
    pub(super) fn bind_name(&mut self, name: Node, value: Value, visible: Range, cx: Context) {
        if self.kind(name) != Kind::Identifier || self.is(name, "_") {
            return;
        }
        self.b.consume(name);
        let name = self.b.name(name);
        self.bind_str(name, value, visible, cx);
    }

    pub(super) fn bind_str(&mut self, name: Str, value: Value, visible: Range, cx: Context) {
        self.locals.add(name, visible);
        let target = BindingTarget::Name(name);
        self.b.bind(Binding { decl: cx.decl, target, value, visible, certain_to: visible.to });
    }

    /// From the end of a statement to the end of the block it stands in.
    pub(super) fn visible_after(&self, node: Node, cx: Context) -> Range {
        let from = self.b.tree.end(node);
        Range { from, to: cx.block.to.max(from) }
    }

    /// `a, b := x, y` and `a, b := f()`.
    pub(super) fn short_declaration(&mut self, node: Node, cx: Context) -> Step<Context> {
        let (Some(left), Some(right)) = (self.child(node, Field::Left), self.child(node, Field::Right))
        else {
            return Step::Into;
        };
        let visible = self.visible_after(node, cx);
        let names: Vec<Node> = self.children(left).collect();
        let values: Vec<Node> = self.children(right).collect();
        for (index, name) in names.iter().enumerate() {
            if let Some(function) = values.get(index).filter(|_| names.len() == values.len())
                && self.kind(*function) == Kind::FuncLiteral
                && self.local_function(*name, *function, visible, cx)
            {
                continue;
            }
            let value = self.value_of(index, names.len(), &values, cx);
            self.bind_name(*name, value, visible, cx);
        }
        Step::Into
    }

    /// The value that name `index` of `n` gets from what stands on the right.
    pub(super) fn value_of(&mut self, index: usize, n: usize, values: &[Node], cx: Context) -> Value {
        if values.len() == n {
            return Value::Expr(self.expr(values[index], cx.decl));
        }
        let [only] = values else { return Value::Unknown };
        let mut plain = *only;
        while self.kind(plain) == Kind::ParenthesizedExpression
            && let Some(inner) = self.first_child(plain)
        {
            plain = inner;
        }
        let of = self.expr(plain, cx.decl);
        match self.kind(plain) {
            Kind::CallExpression => {
                let index = u32::try_from(index).unwrap_or(u32::MAX);
                Value::Expr(self.b.expr(Expr::Item { of, index }))
            }
            // `v, ok := m[k]`, `v, ok := x.(T)`, `v, ok := <-c`.
            _ if index == 0 => Value::Expr(of),
            _ => Value::Unknown,
        }
    }

    /// `for k, v := range x`: what a range gives is key and value, or one thing alone.
    pub(super) fn range_clause(&mut self, node: Node, cx: Context) -> Step<Context> {
        let (Some(left), Some(right)) = (self.child(node, Field::Left), self.child(node, Field::Right))
        else {
            return Step::Into;
        };
        if !self.between(left, right).starts_with(b":=") {
            return Step::Into;
        }
        let visible = self.visible_after(node, cx);
        let of = self.expr(right, cx.decl);
        let element = self.b.expr(Expr::Element { of });
        for (index, name) in self.children(left).enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let item = self.b.expr(Expr::Item { of: element, index });
            self.bind_name(name, Value::Expr(item), visible, cx);
        }
        Step::Into
    }

    /// `case v, ok := <-c:`.
    pub(super) fn receive_statement(&mut self, node: Node, cx: Context) -> Step<Context> {
        let (Some(left), Some(right)) = (self.child(node, Field::Left), self.child(node, Field::Right))
        else {
            return Step::Into;
        };
        if !self.between(left, right).starts_with(b":=") {
            return Step::Into;
        }
        let visible = self.visible_after(node, cx);
        let of = self.expr(right, cx.decl);
        for (index, name) in self.children(left).enumerate() {
            let value = if index == 0 { Value::Expr(of) } else { Value::Unknown };
            self.bind_name(name, value, visible, cx);
        }
        Step::Into
    }

    /// `switch v := x.(type)`: in each case `v` is of the case's type, or what `x` is where there are several.
    pub(super) fn type_switch(&mut self, node: Node, cx: Context) -> Step<Context> {
        let inner = Context { block: self.b.tree.range(node), ..cx };
        let alias = self.child(node, Field::Alias).and_then(|it| self.first_child(it));
        let value = self.child(node, Field::Value);
        if let (Some(alias), Some(value)) = (alias, value) {
            let whole = self.expr(value, cx.decl);
            self.b.consume(alias);
            for case in self.children(node) {
                if !matches!(self.kind(case), Kind::TypeCase | Kind::DefaultCase) {
                    continue;
                }
                let given = self.case_value(case, whole, cx);
                self.bind_case(alias, given, self.b.tree.range(case), cx);
            }
        }
        Step::Within(inner)
    }

    fn case_value(&mut self, case: Node, whole: ExprId, cx: Context) -> Value {
        let types = self.children_in(case, Field::Type);
        match types[..] {
            [only] if !self.is(only, "nil") => {
                Value::Narrowed(self.read_type(only, Naming::new(cx.decl, ReferenceRole::Type)))
            }
            _ => Value::Expr(whole),
        }
    }

    fn bind_case(&mut self, alias: Node, value: Value, visible: Range, cx: Context) {
        let name = self.b.name(alias);
        self.bind_str(name, value, visible, cx);
    }
}
