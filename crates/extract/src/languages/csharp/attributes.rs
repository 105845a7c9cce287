//! What attributes say about a declaration: tests, entry points, and uses of attribute types.

use knowing_model::facts::{DeclId, ReferenceRole, ReferenceTarget, Type};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::written::Naming;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// What the attributes of a declaration say.
#[derive(Clone, Copy, Default)]
pub(super) struct Marks {
    pub(super) is_test: bool,
    pub(super) is_deprecated: bool,
}

impl Reader<'_, '_> {
    pub(super) fn marks(&self, declaration: Node) -> Marks {
        let mut marks = Marks::default();
        for attribute in self.attributes(declaration) {
            let Some(name) = self.child(attribute, Field::Name) else { continue };
            let name = self.b.bytes(self.last_name(name));
            let name = name.strip_suffix(b"Attribute").unwrap_or(name);
            marks.is_deprecated |= name == b"Obsolete";
            marks.is_test |= is_test_attribute(name);
        }
        marks
    }

    fn attributes(&self, declaration: Node) -> Vec<Node> {
        let lists = self.children(declaration).filter(|it| self.kind(*it) == Kind::AttributeList);
        lists.flat_map(|it| self.children(it)).filter(|it| self.kind(*it) == Kind::Attribute).collect()
    }

    /// Attributes are uses by what they stand on; their arguments are read on the way.
    pub(super) fn decorated(&mut self, declaration: Node, decl: DeclId) {
        for attribute in self.attributes(declaration) {
            self.attribute(attribute, Some(decl));
        }
    }

    fn attribute(&mut self, attribute: Node, decl: Option<DeclId>) {
        let Some(name) = self.child(attribute, Field::Name) else { return };
        let position = self.b.tree.position(self.last_name(name));
        let written = self.read_type(name, Naming::silent(decl, ReferenceRole::Type));
        // `[Fact]` names the type `FactAttribute`.
        let suffix = self.b.intern("Attribute");
        let type_ = self.b.type_(Type::Projection { of: written, interface: None, name: suffix });
        self.refer(decl, ReferenceTarget::Type(type_), ReferenceRole::Decorator, position);
    }

    /// An attribute of a parameter, an accessor or a whole assembly.
    pub(super) fn attribute_in_place(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(name) = self.child(node, Field::Name)
            && !self.b.is_consumed(name)
        {
            let position = self.b.tree.position(self.last_name(name));
            let written = self.read_type(name, Naming::silent(cx.decl, ReferenceRole::Type));
            let suffix = self.b.intern("Attribute");
            let type_ = self.b.type_(Type::Projection { of: written, interface: None, name: suffix });
            self.refer(cx.decl, ReferenceTarget::Type(type_), ReferenceRole::Type, position);
        }
        Step::Into
    }
}

/// xUnit, NUnit, MSTest, and what others derive from them: `[SkippableFact]`, `[DataTestMethod]`.
fn is_test_attribute(name: &[u8]) -> bool {
    name.ends_with(b"Fact")
        || name.ends_with(b"Theory")
        || name.ends_with(b"TestMethod")
        || matches!(name, b"Test" | b"TestCase" | b"TestCaseSource")
}
