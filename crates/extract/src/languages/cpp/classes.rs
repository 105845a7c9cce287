//! Structs, classes, unions and enums, and what stands in them.

use knowing_model::NodeKind;
use knowing_model::facts::{Base, BaseRole, Modifiers, ReferenceRole};

use super::functions::Head;
use super::kinds::{Field, Kind};
use super::reader::{Access, Context, Place, Reader};
use super::types::Naming;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn class(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(body) = self.child(node, Field::Body) else {
            // `struct x;` says that there is one, `struct x *y` uses it.
            if cx.place == Place::Body {
                self.read_type(node, Naming::new(cx.decl, ReferenceRole::Type));
            }
            return Step::Over;
        };
        let given = self.given_names.get(&node).copied();
        let Some(name) = self.child(node, Field::Name).or(given) else {
            // Members of what has no name are members of what is around.
            return Step::Into;
        };
        let kind = if self.kind(node) == Kind::ClassSpecifier { NodeKind::Class } else { NodeKind::Struct };
        let end = Some(self.b.tree.start(body));
        let head = Head { node, kind, end };
        let implementation = self.implementation(name, cx);
        let Some(id) = self.declare(name, head, cx) else { return Step::Over };
        self.b.consume(name);
        let bases = match self.child_of_kind(node, Kind::BaseClassClause) {
            Some(clause) => self.bases(clause, id),
            None => Vec::new(),
        };
        let type_parameters = self.template_parameters(cx);
        let decl = self.b.decl_mut(id);
        decl.bases = bases;
        decl.type_parameters = type_parameters;
        if let Some((implementation, path)) = implementation {
            // `struct Shop::Shelf { ... };`
            decl.implementation = Some(implementation);
            decl.path = path;
        }
        if kind == NodeKind::Class {
            self.access.insert(id, Access::Restricted);
        }
        Step::Within(Context {
            decl: Some(id),
            place: Place::Class,
            block: self.b.tree.range(body),
            template: None,
            ..cx
        })
    }

    fn bases(&mut self, clause: Node, id: knowing_model::facts::DeclId) -> Vec<Base> {
        self.b.consume(clause);
        let naming = Naming { outermost: false, ..Naming::new(Some(id), ReferenceRole::Type) };
        let mut bases = Vec::new();
        for node in self.children(clause) {
            if matches!(
                self.kind(node),
                Kind::TypeIdentifier | Kind::QualifiedIdentifier | Kind::TemplateType | Kind::DependentType
            ) {
                let type_ = self.read_type(node, naming);
                let position = self.b.tree.position(self.last_name(node));
                bases.push(Base { type_, role: BaseRole::Extends, position });
            }
        }
        bases
    }

    pub(super) fn access_specifier(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(class) = cx.decl.filter(|_| cx.place == Place::Class) {
            let is_public = self.b.bytes(node).starts_with(b"public");
            self.access.insert(class, if is_public { Access::Public } else { Access::Restricted });
        }
        Step::Over
    }

    pub(super) fn enumeration(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(body) = self.child(node, Field::Body) else {
            if cx.place == Place::Body {
                self.read_type(node, Naming::new(cx.decl, ReferenceRole::Type));
            }
            return Step::Over;
        };
        if let Some(base) = self.child(node, Field::Base) {
            self.b.consume(base);
        }
        let given = self.given_names.get(&node).copied();
        let Some(name) = self.child(node, Field::Name).or(given) else {
            return Step::Within(Context { place: Place::Class, ..cx });
        };
        let head = Head { node, kind: NodeKind::Enum, end: Some(self.b.tree.start(body)) };
        let Some(id) = self.declare(name, head, cx) else { return Step::Over };
        self.b.consume(name);
        Step::Within(Context { decl: Some(id), place: Place::Class, template: None, ..cx })
    }

    /// Members of an enum are names of the scope around it, if it is no `enum class`.
    pub(super) fn enumerator(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Into };
        let head = Head { node, kind: NodeKind::EnumMember, end: None };
        let Some(id) = self.declare(name, head, cx) else { return Step::Over };
        self.b.consume(name);
        let owner = cx.decl.map(|it| self.b.facts.decl(it).signature);
        let is_scoped = owner.is_some_and(|it| {
            let text = self.b.str(it);
            text.starts_with("enum class") || text.starts_with("enum struct")
        });
        let decl = self.b.decl_mut(id);
        decl.modifiers = if is_scoped { Modifiers::default() } else { Modifiers::PUBLIC };
        Step::Within(Context { decl: Some(id), place: Place::Body, ..cx })
    }
}
