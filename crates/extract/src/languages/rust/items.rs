//! Items that are no functions: modules, types and their members, constants, macros.

use knowing_model::facts::{
    Base, BaseRole, DeclId, Modifiers, ModuleDecl, Parameter, ParameterKind, ReferenceRole, Str,
};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::attributes::Marks;
use super::kinds::{Field, Kind};
use super::reader::{Context, Place, Reader};
use super::types::Naming;
use crate::engine::build::NewDecl;
use crate::engine::signature::{Comments, signature};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// Longest value of a constant that its signature shows, in bytes.
const MAX_VALUE: u32 = 100;

/// How far a thing can be seen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Visibility {
    Private,
    /// `pub(crate)` and the like.
    Restricted,
    Public,
}

impl Reader<'_, '_> {
    /// What all items have in common; none when the limit is reached or the item has no name.
    pub(super) fn item(
        &mut self,
        node: Node,
        kind: NodeKind,
        cx: Context,
        marks: Marks,
        signature_end: Option<u32>,
    ) -> Option<DeclId> {
        let name_node = self.child(node, Field::Name)?;
        let name = self.b.name(name_node);
        let signature = self.head(node, signature_end);
        let new = NewDecl {
            owner: cx.decl,
            name,
            kind,
            node,
            name_position: self.b.tree.position(name_node),
            signature,
        };
        let id = self.b.declare(new)?;
        let doc = self.outer_doc(node);
        let visibility = self.visibility(node, cx);
        let decl = self.b.decl_mut(id);
        decl.doc = doc;
        decl.implementation = cx.implementation;
        if visibility >= Visibility::Restricted {
            decl.modifiers.insert(Modifiers::PUBLIC);
        }
        if visibility == Visibility::Public {
            decl.flags.insert(NodeFlags::EXPORTED);
        }
        if marks.is_deprecated {
            decl.flags.insert(NodeFlags::DEPRECATED);
        }
        if cx.in_test || marks.is_cfg_test {
            decl.flags.insert(NodeFlags::TEST);
        }
        self.decorated(id);
        Some(id)
    }

    /// The text from an item's begin to its body.
    fn head(&mut self, node: Node, end: Option<u32>) -> Str {
        let range = self.b.tree.range(node);
        let text = self.b.source.slice(Range { from: range.from, to: end.unwrap_or(range.to) });
        let text = text.trim_end().trim_end_matches([';', '{', '=', ',']);
        let signature = signature(text, Comments::Slashes);
        self.b.intern(signature)
    }

    pub(super) fn visibility(&self, node: Node, cx: Context) -> Visibility {
        if let Place::Trait { exported } | Place::Type { exported } = cx.place
            && !matches!(self.kind(node), Kind::FieldDeclaration)
        {
            return if exported { Visibility::Public } else { Visibility::Private };
        }
        match self.child_of_kind(node, Kind::VisibilityModifier) {
            None => Visibility::Private,
            Some(it) if self.is(it, "pub") => Visibility::Public,
            Some(_) => Visibility::Restricted,
        }
    }

    fn start_of_body(&self, node: Node) -> Option<u32> {
        self.child(node, Field::Body).map(|it| self.b.tree.start(it))
    }

    fn is_exported(&self, id: DeclId) -> bool {
        self.b.facts.decl(id).flags.contains(NodeFlags::EXPORTED)
    }

    pub(super) fn structure(&mut self, node: Node, cx: Context) -> Step<Context> {
        let marks = self.marks();
        let body = self.child(node, Field::Body);
        let tuple = body.filter(|it| self.kind(*it) == Kind::OrderedFieldDeclarationList);
        let end = if tuple.is_some() { None } else { self.start_of_body(node) };
        let Some(id) = self.item(node, NodeKind::Struct, cx, marks, end) else { return Step::Over };
        let parameters = self.type_parameters(node, Some(id));
        self.b.decl_mut(id).type_parameters = parameters;
        if let Some(tuple) = tuple {
            self.payload(tuple, id);
        }
        self.within_type(id, cx, marks)
    }

    /// What stands in a type's body belongs to the type.
    fn within_type(&self, id: DeclId, cx: Context, marks: Marks) -> Step<Context> {
        Step::Within(Context {
            decl: Some(id),
            implementation: None,
            place: Place::Type { exported: self.is_exported(id) },
            in_test: cx.in_test || marks.is_cfg_test,
            ..cx
        })
    }

    pub(super) fn field_declaration(&mut self, node: Node, cx: Context) -> Step<Context> {
        let marks = self.marks();
        let Some(id) = self.item(node, NodeKind::Field, cx, marks, None) else { return Step::Over };
        self.declared_type(node, id);
        Step::Over
    }

    pub(super) fn enumeration(&mut self, node: Node, cx: Context) -> Step<Context> {
        let marks = self.marks();
        let end = self.start_of_body(node);
        let Some(id) = self.item(node, NodeKind::Enum, cx, marks, end) else { return Step::Over };
        let parameters = self.type_parameters(node, Some(id));
        self.b.decl_mut(id).type_parameters = parameters;
        self.within_type(id, cx, marks)
    }

    pub(super) fn variant(&mut self, node: Node, cx: Context) -> Step<Context> {
        let marks = self.marks();
        let Some(id) = self.item(node, NodeKind::EnumMember, cx, marks, None) else { return Step::Over };
        if let Some(body) = self.child(node, Field::Body) {
            self.payload(body, id);
        }
        Step::Within(Context { decl: Some(id), place: Place::Body, ..cx })
    }

    /// What a tuple struct or a variant carries.
    fn payload(&mut self, body: Node, id: DeclId) {
        self.b.consume(body);
        let naming = Naming::new(Some(id), ReferenceRole::Hint);
        let mut index = 0;
        for node in self.children(body) {
            let (name, type_) = match self.kind(node) {
                Kind::AttributeItem | Kind::VisibilityModifier => continue,
                Kind::FieldDeclaration => {
                    let parts = (self.child(node, Field::Name), self.child(node, Field::Type));
                    let (Some(name), Some(type_)) = parts else { continue };
                    (self.b.name(name), type_)
                }
                _ if self.field(node) == Field::Type => (self.digit(index), node),
                _ => continue,
            };
            index += 1;
            let type_ = Some(self.read_type(type_, naming));
            let parameter = Parameter { name, type_, default: None, kind: ParameterKind::Plain };
            self.b.decl_mut(id).parameters.push(parameter);
        }
    }

    fn declared_type(&mut self, node: Node, id: DeclId) {
        if let Some(type_) = self.child(node, Field::Type) {
            let type_ = self.read_type(type_, Naming::new(Some(id), ReferenceRole::Hint));
            self.b.decl_mut(id).type_ = Some(type_);
        }
    }

    pub(super) fn interface(&mut self, node: Node, cx: Context) -> Step<Context> {
        let marks = self.marks();
        let end = self.start_of_body(node);
        let Some(id) = self.item(node, NodeKind::Trait, cx, marks, end) else { return Step::Over };
        let parameters = self.type_parameters(node, Some(id));
        let mut bases = Vec::new();
        if let Some(bounds) = self.child(node, Field::Bounds) {
            self.b.consume(bounds);
            let naming = Naming { outermost: false, ..Naming::new(Some(id), ReferenceRole::Type) };
            for (node, type_) in self.bounds_list(bounds, naming) {
                let position = self.b.tree.position(self.last_segment(node));
                bases.push(Base { type_, role: BaseRole::Extends, position });
            }
        }
        let decl = self.b.decl_mut(id);
        decl.type_parameters = parameters;
        decl.bases = bases;
        decl.flags.insert(NodeFlags::ABSTRACT);
        let exported = self.is_exported(id);
        let in_test = cx.in_test || marks.is_cfg_test;
        Step::Within(Context {
            decl: Some(id),
            implementation: None,
            place: Place::Trait { exported },
            in_test,
            ..cx
        })
    }

    /// `type A = B;`, and `type Item: Bound;` of a trait.
    pub(super) fn type_alias(&mut self, node: Node, cx: Context) -> Step<Context> {
        let marks = self.marks();
        let Some(id) = self.item(node, NodeKind::TypeAlias, cx, marks, None) else { return Step::Over };
        let parameters = self.type_parameters(node, Some(id));
        self.b.decl_mut(id).type_parameters = parameters;
        let naming = Naming::new(Some(id), ReferenceRole::Type);
        if let Some(type_) = self.child(node, Field::Type) {
            let type_ = self.read_type(type_, naming);
            self.b.decl_mut(id).type_ = Some(type_);
        } else if let Some(bounds) = self.child(node, Field::Bounds) {
            let bounds = self.bounds_list(bounds, naming).into_iter().map(|it| it.1).collect();
            let type_ = self.bounds_type(bounds);
            self.b.decl_mut(id).type_ = Some(type_);
        }
        Step::Over
    }

    pub(super) fn constant(&mut self, node: Node, cx: Context) -> Step<Context> {
        let marks = self.marks();
        let kind = if self.kind(node) == Kind::StaticItem { NodeKind::Var } else { NodeKind::Const };
        let value = self.child(node, Field::Value);
        let long = value.map(|it| self.b.tree.range(it)).filter(|it| it.to - it.from > MAX_VALUE);
        let Some(id) = self.item(node, kind, cx, marks, long.map(|it| it.from)) else { return Step::Over };
        self.declared_type(node, id);
        let expr = value.map(|it| self.expr(it, Some(id)));
        self.b.decl_mut(id).value = expr;
        let in_test = cx.in_test || marks.is_cfg_test;
        Step::Within(Context { decl: Some(id), implementation: None, place: Place::Body, in_test, ..cx })
    }

    pub(super) fn module(&mut self, node: Node, cx: Context) -> Step<Context> {
        let marks = self.marks();
        let Some(body) = self.child(node, Field::Body) else {
            self.module_file(node, cx, marks);
            return Step::Over;
        };
        let start = self.b.tree.start(body);
        let Some(id) = self.item(node, NodeKind::Module, cx, marks, Some(start)) else { return Step::Over };
        if let Some(inner) = self.inner_doc(start + 1) {
            let outer = self.b.facts.decl(id).doc;
            self.b.decl_mut(id).doc = outer.or(Some(inner));
        }
        Step::Within(Context {
            decl: Some(id),
            implementation: None,
            place: Place::Module,
            block: self.b.tree.range(body),
            in_test: cx.in_test || marks.is_cfg_test || self.is_inside_cfg_test(body),
            ..cx
        })
    }

    /// `mod name;`
    fn module_file(&mut self, node: Node, cx: Context, marks: Marks) {
        let Some(name) = self.child(node, Field::Name) else { return };
        let position = self.b.tree.position(name);
        let name = self.b.name(name);
        self.b.module(ModuleDecl {
            owner: cx.decl,
            name,
            file: marks.path,
            public: self.visibility(node, cx) == Visibility::Public,
            test: cx.in_test || marks.is_cfg_test,
            position,
        });
    }

    pub(super) fn macro_definition(&mut self, node: Node, cx: Context) -> Step<Context> {
        let marks = self.marks();
        let end = self.child(node, Field::Name).map(|it| self.b.tree.end(it));
        let Some(id) = self.item(node, NodeKind::Macro, cx, marks, end) else { return Step::Over };
        if marks.is_macro_export {
            self.b.decl_mut(id).flags.insert(NodeFlags::EXPORTED);
        }
        Step::Within(Context { decl: Some(id), implementation: None, place: Place::Body, ..cx })
    }
}
