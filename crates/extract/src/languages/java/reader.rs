//! The walk: what each node kind means, and the context around it.

use knowing_model::Range;
use knowing_model::facts::{DeclId, ExprId, Reference, ReferenceRole, ReferenceTarget, Str};
use rustc_hash::{FxHashMap, FxHashSet};

use super::kinds::{Field, Kind};
use crate::engine::build::Builder;
use crate::engine::tree::Node;
use crate::engine::walk::{Step, Visitor, walk};

pub(super) fn read(builder: &mut Builder<'_>) {
    let tree = builder.tree;
    let end = builder.source.len();
    let context = Context { decl: None, block_end: end, class: ClassTraits::default() };
    let mut reader = Reader {
        b: builder,
        locals: FxHashMap::default(),
        callees: FxHashMap::default(),
        owners: FxHashMap::default(),
        unread: FxHashSet::default(),
        spine: Vec::new(),
    };
    walk(tree, &mut reader, context);
    reader.finish();
}

/// What holds around a node.
#[derive(Clone, Copy)]
pub(super) struct Context {
    /// The innermost callable or type.
    pub(super) decl: Option<DeclId>,
    /// Where names that are bound here end.
    pub(super) block_end: u32,
    /// What matters about the innermost type.
    pub(super) class: ClassTraits,
}

#[derive(Clone, Copy, Default)]
pub(super) struct ClassTraits {
    pub(super) is_interface: bool,
    /// JUnit 3: its methods named `test...` are tests.
    pub(super) is_test_case: bool,
    /// TestNG: all its public methods are tests.
    pub(super) all_tests: bool,
}

pub(super) struct Reader<'b, 's> {
    pub(super) b: &'b mut Builder<'s>,
    /// Where a name is that of a local variable.
    pub(super) locals: FxHashMap<Str, Vec<Range>>,
    /// Callees of calls that lambdas are passed to.
    pub(super) callees: FxHashMap<Node, ExprId>,
    /// What lambdas with a name and bodies of enum members belong to.
    pub(super) owners: FxHashMap<Node, DeclId>,
    /// Types that were read in expressions, before the walk met them.
    pub(super) unread: FxHashSet<Node>,
    /// Nodes of a chain of members and calls, while it is followed.
    pub(super) spine: Vec<Node>,
}

impl Visitor for Reader<'_, '_> {
    type Context = Context;

    fn is_full(&self) -> bool {
        self.b.is_full()
    }

    fn enter(&mut self, node: Node, cx: Context) -> Step<Context> {
        match self.kind(node) {
            Kind::Identifier => self.identifier(node, cx),
            Kind::FieldAccess => self.field_access(node, cx),
            Kind::MethodInvocation => self.method_invocation(node, cx),
            Kind::ObjectCreation => self.object_creation(node, cx),
            Kind::ExplicitConstructorInvocation => self.explicit_constructor(node, cx),
            Kind::MethodReference => self.method_reference(node, cx),
            Kind::LambdaExpression => self.lambda(node, cx),
            Kind::ClassDeclaration
            | Kind::InterfaceDeclaration
            | Kind::EnumDeclaration
            | Kind::RecordDeclaration
            | Kind::AnnotationTypeDeclaration => self.type_declaration(node, cx),
            Kind::ClassBody => self.class_body(node, cx),
            Kind::MethodDeclaration
            | Kind::ConstructorDeclaration
            | Kind::CompactConstructor
            | Kind::AnnotationTypeElement => self.method(node, cx),
            Kind::FieldDeclaration | Kind::ConstantDeclaration => self.field_declaration(node, cx),
            Kind::EnumConstant => self.enum_constant(node, cx),
            Kind::LocalVariable => self.local_variable(node, cx),
            Kind::EnhancedFor => self.enhanced_for(node, cx),
            Kind::Resource => self.resource(node, cx),
            Kind::CatchClause => self.catch(node, cx),
            Kind::InstanceofExpression => self.instanceof(node, cx),
            Kind::TypePattern | Kind::RecordPatternComponent => self.type_pattern(node, cx),
            Kind::RecordPattern => self.record_pattern(node, cx),
            Kind::SwitchLabel => self.switch_label(node, cx),
            Kind::Block
            | Kind::ConstructorBody
            | Kind::ForStatement
            | Kind::TryWithResources
            | Kind::SwitchBlock
            | Kind::SwitchRule
            | Kind::StaticInitializer => Step::Within(Context { block_end: self.b.tree.end(node), ..cx }),
            Kind::ThrowStatement => self.throw(node, cx),
            Kind::Throws => self.throws(node, cx),
            Kind::PackageDeclaration => self.package(node),
            Kind::ImportDeclaration => self.import(node),
            Kind::ModuleDeclaration => Step::Over,
            Kind::Annotation | Kind::MarkerAnnotation => self.annotation(node, cx),
            Kind::FormalParameters | Kind::InferredParameters | Kind::ReceiverParameter => {
                self.parameters(node)
            }
            Kind::TypeIdentifier | Kind::ScopedType | Kind::GenericType | Kind::ArrayType => {
                if !self.b.is_consumed(node) || self.unread.remove(&node) {
                    self.type_at(node, cx, ReferenceRole::Type);
                }
                Step::Over
            }
            _ => Step::Into,
        }
    }
}

/// Short ways to the tree.
impl<'s> Reader<'_, 's> {
    pub(super) fn kind(&self, node: Node) -> Kind {
        Kind::from(self.b.tree.kind(node))
    }

    pub(super) fn field(&self, node: Node) -> Field {
        Field::from(self.b.tree.field(node))
    }

    pub(super) fn parent_kind(&self, node: Node) -> Kind {
        self.b.tree.parent(node).map_or(Kind::Other, |it| self.kind(it))
    }

    pub(super) fn child(&self, node: Node, field: Field) -> Option<Node> {
        self.b.tree.child(node, field)
    }

    pub(super) fn first_child(&self, node: Node) -> Option<Node> {
        self.b.tree.first_child(node)
    }

    pub(super) fn children(&self, node: Node) -> impl Iterator<Item = Node> + use<'s> {
        self.b.tree.children(node)
    }

    pub(super) fn child_of_kind(&self, node: Node, kind: Kind) -> Option<Node> {
        self.children(node).find(|it| self.kind(*it) == kind)
    }

    pub(super) fn is(&self, node: Node, text: &str) -> bool {
        self.b.bytes(node) == text.as_bytes()
    }

    pub(super) fn refer(&mut self, target: ReferenceTarget, role: ReferenceRole, at: Node, cx: Context) {
        let position = self.b.tree.position(at);
        self.b.reference(Reference { decl: cx.decl, target, role, position });
    }
}

impl Reader<'_, '_> {
    /// Parameters are bound by their method; what remains of them are annotations.
    fn parameters(&mut self, node: Node) -> Step<Context> {
        if self.kind(node) == Kind::FormalParameters { Step::Into } else { Step::Over }
    }

    fn finish(&mut self) {
        self.b.mark_overloads();
        // A call is entered before those it is made on.
        self.b.facts.calls.sort_by_key(|it| it.position);
        self.b.facts.bindings.sort_by_key(|it| it.visible.from);
        self.b.facts.references.sort_by_key(|it| it.position);
    }
}
