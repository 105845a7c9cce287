//! Calls, values, fields, what is thrown, files that are included, what is started and read from the environment.

use knowing_model::Position;
use knowing_model::facts::{
    Argument, Call, CallForm, DeclId, Expr, ExprId, Import, ImportKind, Passed, Reference, ReferenceRole,
    ReferenceTarget, Site, SiteKind, Str,
};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// A level that no `use` has: the module is the path of a file.
const FILE_LEVEL: u8 = 1;

impl Reader<'_, '_> {
    pub(super) fn refer(
        &mut self,
        decl: Option<DeclId>,
        target: ReferenceTarget,
        role: ReferenceRole,
        position: Position,
    ) {
        self.b.reference(Reference { decl, target, role, position });
    }

    pub(super) fn function_call(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(function) = self.child(node, Field::Function) else { return Step::Into };
        let is_name = matches!(self.kind(function), Kind::Name | Kind::QualifiedName | Kind::RelativeName);
        let form = if is_name { CallForm::Plain } else { CallForm::Dynamic };
        let callee = self.expr(function, cx.decl);
        let last = self.last_name(function);
        if is_name {
            self.b.consume(function);
            self.titled_test(node, function, cx);
            self.maybe_site(node, last, cx);
        }
        let position = self.b.tree.position(last);
        self.emit_call(callee, self.child(node, Field::Arguments), position, form, cx);
        Step::Into
    }

    pub(super) fn member_call(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Into };
        self.expr(node, cx.decl);
        let arguments = self.child(node, Field::Arguments);
        let Some(callee) = arguments.and_then(|it| self.b.memo(it)) else { return Step::Into };
        let is_name = self.kind(name) == Kind::Name;
        if is_name {
            self.b.consume(name);
        }
        let form = if is_name { CallForm::Plain } else { CallForm::Dynamic };
        let position = self.b.tree.position(name);
        self.emit_call(callee, arguments, position, form, cx);
        Step::Into
    }

    pub(super) fn scoped_call(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Into };
        let callee = self.scoped_callee(node, cx.decl);
        let is_name = self.kind(name) == Kind::Name;
        if is_name {
            self.b.consume(name);
        }
        if let Some(scope) = self.child(node, Field::Scope)
            && self.kind(scope) == Kind::RelativeScope
        {
            self.b.consume(scope);
        }
        let form = if is_name { CallForm::Plain } else { CallForm::Dynamic };
        let position = self.b.tree.position(name);
        self.emit_call(callee, self.child(node, Field::Arguments), position, form, cx);
        Step::Into
    }

    /// `new T(...)`: a call of a member called as the class is.
    pub(super) fn creation(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some((type_, name_node)) = self.created_type(node, cx.decl) {
            let last = self.last_name(name_node);
            let of = self.b.expr(Expr::TypePath(type_));
            let name = self.b.name(last);
            let callee = self.b.expr(Expr::Scoped { of, name });
            let position = self.b.tree.position(last);
            self.emit_call(callee, self.child_of_kind(node, Kind::Arguments), position, CallForm::Plain, cx);
        }
        Step::Into
    }

    fn emit_call(
        &mut self,
        callee: ExprId,
        arguments: Option<Node>,
        position: Position,
        form: CallForm,
        cx: Context,
    ) {
        let mut n_arguments = 0_usize;
        let mut spread = false;
        let mut passed = Vec::new();
        for argument in arguments.into_iter().flat_map(|it| self.children(it)).collect::<Vec<_>>() {
            if self.kind(argument) != Kind::Argument {
                continue;
            }
            n_arguments += 1;
            let Some(value) = self.children(argument).last() else { continue };
            let is_spread = self.kind(value) == Kind::VariadicUnpacking;
            spread |= is_spread;
            let name = self.child(argument, Field::Name).filter(|it| *it != value);
            let name = name.map(|it| self.b.name(it));
            passed.extend(self.passed(value, cx));
            let value = self.expr(value, cx.decl);
            self.b.argument(Argument { callee, value, name, spread: is_spread });
        }
        self.b.call(Call {
            decl: cx.decl,
            callee,
            position,
            n_arguments: u8::try_from(n_arguments).unwrap_or(u8::MAX),
            spread,
            passed,
            form,
        });
    }

    /// `[$this, 'name']`: a method that is handed over.
    fn passed(&mut self, value: Node, cx: Context) -> Option<Passed> {
        if self.kind(value) != Kind::ArrayCreation {
            return None;
        }
        let mut parts = self.children(value).filter_map(|it| self.first_child(it));
        let (of, name, None) = (parts.next()?, parts.next()?, parts.next()) else { return None };
        if self.kind(of) != Kind::VariableName || self.kind(name) != Kind::String {
            return None;
        }
        let text = self.b.text(name).trim_matches(['\'', '"']).to_owned();
        let of = self.expr(of, cx.decl);
        let text = self.b.intern_name(text.into());
        let expr = self.b.expr(Expr::Member { of, name: text });
        Some(Passed { expr, position: self.b.tree.position(name) })
    }

    /// A bare name that the walk comes to: a constant.
    pub(super) fn name(&mut self, node: Node, cx: Context) -> Step<Context> {
        if self.field(node) != Field::Name && !self.is_keyword_like(node) {
            let expr = self.expr(node, cx.decl);
            let position = self.b.tree.position(self.last_name(node));
            self.refer(cx.decl, ReferenceTarget::Expr(expr), ReferenceRole::Value, position);
        }
        Step::Over
    }

    fn is_keyword_like(&self, node: Node) -> bool {
        let parent = self.parent(node).map(|it| self.kind(it));
        matches!(
            parent,
            Some(
                Kind::VariableName | Kind::NamespaceName | Kind::Attribute | Kind::UseList | Kind::NamedLabel
            )
        )
    }

    pub(super) fn member_access(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name).filter(|it| self.kind(*it) == Kind::Name) else {
            return Step::Into;
        };
        self.b.consume(name);
        let is_own = self.child(node, Field::Object).is_some_and(|it| self.is(it, "$this"));
        let expr = self.expr(node, cx.decl);
        let role = if is_own { ReferenceRole::Field } else { ReferenceRole::Value };
        let position = self.b.tree.position(name);
        self.refer(cx.decl, ReferenceTarget::Expr(expr), role, position);
        Step::Into
    }

    pub(super) fn class_member(&mut self, node: Node, cx: Context) -> Step<Context> {
        let mut parts = self.children(node);
        let (Some(scope), Some(name)) = (parts.next(), parts.next()) else { return Step::Into };
        let expr = self.class_member_expr(node, cx.decl);
        self.b.consume(name);
        if matches!(
            self.kind(scope),
            Kind::RelativeScope | Kind::Name | Kind::QualifiedName | Kind::RelativeName
        ) {
            self.b.consume(scope);
        }
        if !self.is(name, "class") {
            let is_own = matches!(self.b.bytes(scope), b"self" | b"static");
            let role = if is_own { ReferenceRole::Field } else { ReferenceRole::Value };
            let position = self.b.tree.position(name);
            self.refer(cx.decl, ReferenceTarget::Expr(expr), role, position);
        }
        Step::Into
    }

    pub(super) fn throw(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(thrown) = self.first_child(node) else { return Step::Into };
        let created = match self.kind(thrown) {
            Kind::ObjectCreation => self.created_type(thrown, cx.decl),
            _ => None,
        };
        let (target, position) = match created {
            Some((type_, name)) => (ReferenceTarget::Type(type_), self.b.tree.position(self.last_name(name))),
            None => (ReferenceTarget::Expr(self.expr(thrown, cx.decl)), self.b.tree.position(thrown)),
        };
        self.refer(cx.decl, target, ReferenceRole::Raise, position);
        Step::Into
    }

    /// `require 'a.php'`, `require __DIR__ . '/a.php'`.
    pub(super) fn include(&mut self, node: Node, cx: Context) -> Step<Context> {
        let literal = self.b.tree.subtree(node).filter(|it| self.kind(*it) == Kind::String).last();
        if let Some(path) = literal.and_then(|it| self.string_value(it)) {
            let position = self.b.tree.position(node);
            self.b.import(Import {
                decl: cx.decl,
                module: vec![path],
                level: FILE_LEVEL,
                kind: ImportKind::Wildcard,
                reexport: false,
                visible: cx.callable,
                position,
            });
        }
        Step::Into
    }

    fn string_value(&mut self, node: Node) -> Option<Str> {
        if !matches!(self.kind(node), Kind::String | Kind::Encapsed) {
            return None;
        }
        let text = self.b.text(node);
        let text = text.trim_matches(['\'', '"']).to_owned();
        (!text.contains('$')).then(|| self.b.intern(text))
    }

    fn maybe_site(&mut self, call: Node, function: Node, cx: Context) {
        let kind = match self.b.bytes(function) {
            b"getenv" | b"env" => SiteKind::ReadsEnv,
            b"exec" | b"shell_exec" | b"system" | b"passthru" | b"proc_open" | b"popen" => {
                SiteKind::StartsProcess
            }
            _ => return,
        };
        let position = self.b.tree.position(function);
        let argument = self.child(call, Field::Arguments).and_then(|it| self.first_child(it));
        let value = argument.and_then(|it| self.children(it).last());
        let mut name = value.and_then(|it| self.string_value(it));
        if kind == SiteKind::StartsProcess
            && let Some(text) = name
        {
            let program = self.b.str(text).split_whitespace().next().unwrap_or_default().to_owned();
            name = (!program.is_empty()).then(|| self.b.intern(program));
        }
        self.b.site(Site { decl: cx.decl, kind, name, position });
    }

    pub(super) fn shell_command(&mut self, node: Node, cx: Context) -> Step<Context> {
        let text = self.b.text(node);
        let program = text.trim_matches('`').split_whitespace().next().unwrap_or_default();
        let name = (!program.is_empty() && !program.contains('$')).then(|| program.to_owned());
        let name = name.map(|it| self.b.intern(it));
        let position = self.b.tree.position(node);
        self.b.site(Site { decl: cx.decl, kind: SiteKind::StartsProcess, name, position });
        Step::Into
    }
}
