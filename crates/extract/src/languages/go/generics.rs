//! Type parameters.

use knowing_model::Range;
use knowing_model::facts::{DeclId, ReferenceRole, TypeParameter};

use super::kinds::{Field, Kind};
use super::reader::Reader;
use super::types::Naming;
use crate::engine::tree::Node;

impl Reader<'_, '_> {
    /// `[K comparable, V any]` of a function or type; the names are known in all of it.
    pub(super) fn type_parameters(&mut self, node: Node, decl: Option<DeclId>) -> Vec<TypeParameter> {
        let Some(list) = self.child(node, Field::TypeParameters) else { return Vec::new() };
        self.b.consume(list);
        let visible = self.b.tree.range(node);
        let declarations: Vec<Node> =
            self.children(list).filter(|it| self.kind(*it) == Kind::TypeParameterDeclaration).collect();
        for declaration in &declarations {
            for name in self.children_in(*declaration, Field::Name) {
                self.known_parameter(name, visible);
            }
        }
        let mut parameters = Vec::new();
        for declaration in declarations {
            let naming = Naming::new(decl, ReferenceRole::Type);
            let bounds: Vec<_> = match self.child(declaration, Field::Type) {
                Some(it) if self.is(it, "any") => Vec::new(),
                Some(it) => vec![self.read_type(it, naming)],
                None => Vec::new(),
            };
            for name in self.children_in(declaration, Field::Name) {
                parameters.push(TypeParameter { name: self.b.name(name), bounds: bounds.clone() });
            }
        }
        parameters
    }

    pub(super) fn known_parameter(&mut self, name: Node, visible: Range) -> knowing_model::facts::Str {
        let name = self.b.name(name);
        self.generics.add(name, visible);
        name
    }
}
