//! The walk: what each node kind means, and the context around it.

use knowing_model::Range;
use knowing_model::facts::{Binding, BindingTarget, DeclId, ExprId, Str, TypeId, Value};
use rustc_hash::FxHashMap;

use super::kinds::{Field, Kind};
use crate::engine::build::Builder;
use crate::engine::tree::Node;
use crate::engine::walk::{Step, Visitor, walk};

pub(super) fn read(builder: &mut Builder<'_>) {
    let Some(root) = builder.tree.root() else { return };
    let tree = builder.tree;
    let mut reader = Reader {
        b: builder,
        types: FxHashMap::default(),
        spine: Vec::new(),
        set_fields: Vec::new(),
        titles: FxHashMap::default(),
    };
    let whole = reader.b.tree.range(root);
    let context = Context { decl: None, class: None, callable: whole, block: whole, in_closure: false };
    walk(tree, &mut reader, context);
    reader.finish();
}

/// What holds around a node.
#[derive(Clone, Copy)]
pub(super) struct Context {
    pub(super) decl: Option<DeclId>,
    /// The class whose members are read.
    pub(super) class: Option<DeclId>,
    /// The innermost callable, whose variables are seen in all of it.
    pub(super) callable: Range,
    /// The innermost block.
    pub(super) block: Range,
    /// In a closure, whose results are not those of what is around.
    pub(super) in_closure: bool,
}

/// `$this->name = value`, for the end.
pub(super) struct SetField {
    pub(super) class: DeclId,
    pub(super) name: Str,
    pub(super) value: ExprId,
    pub(super) decl: Option<DeclId>,
    pub(super) at: u32,
}

pub(super) struct Reader<'b, 's> {
    pub(super) b: &'b mut Builder<'s>,
    /// Types that were read, by their outermost node.
    pub(super) types: FxHashMap<Node, TypeId>,
    /// Nodes of a chain of members and calls, while it is followed.
    pub(super) spine: Vec<Node>,
    pub(super) set_fields: Vec<SetField>,
    /// Closures that are tests with a title.
    pub(super) titles: FxHashMap<Node, DeclId>,
}

impl Visitor for Reader<'_, '_> {
    type Context = Context;

    fn is_full(&self) -> bool {
        self.b.is_full()
    }

    fn enter(&mut self, node: Node, cx: Context) -> Step<Context> {
        if self.b.is_consumed(node) {
            return Step::Over;
        }
        match self.kind(node) {
            Kind::Compound | Kind::ColonBlock => {
                Step::Within(Context { block: self.b.tree.range(node), ..cx })
            }
            Kind::Name | Kind::QualifiedName | Kind::RelativeName => self.name(node, cx),
            Kind::FunctionCall => self.function_call(node, cx),
            Kind::MemberCall | Kind::NullsafeCall => self.member_call(node, cx),
            Kind::ScopedCall => self.scoped_call(node, cx),
            Kind::ObjectCreation => self.creation(node, cx),
            Kind::MemberAccess | Kind::NullsafeAccess => self.member_access(node, cx),
            Kind::ScopedProperty | Kind::ClassConstant => self.class_member(node, cx),
            Kind::Assignment => self.assignment(node, cx),
            Kind::Foreach => self.foreach(node, cx),
            Kind::CatchClause => self.catch_clause(node, cx),
            Kind::StaticVariable => self.static_variable(node, cx),
            Kind::If => self.narrowed_branch(node, cx),
            Kind::Return => self.returned(node, cx),
            Kind::Throw => self.throw(node, cx),
            Kind::AnonymousFunction | Kind::ArrowFunction => self.closure(node, cx),
            Kind::FunctionDefinition => self.function(node, cx),
            Kind::MethodDeclaration => self.method(node, cx),
            Kind::ClassDeclaration
            | Kind::InterfaceDeclaration
            | Kind::TraitDeclaration
            | Kind::EnumDeclaration
            | Kind::AnonymousClass => self.class(node, cx),
            Kind::PropertyDeclaration => self.properties(node, cx),
            Kind::ConstDeclaration => self.constants(node, cx),
            Kind::EnumCase => self.enum_case(node, cx),
            Kind::NamespaceDefinition => self.namespace(node),
            Kind::NamespaceUse => self.namespace_use(node),
            Kind::Include | Kind::IncludeOnce | Kind::Require | Kind::RequireOnce => self.include(node, cx),
            Kind::ShellCommand => self.shell_command(node, cx),
            Kind::Argument => self.named_argument(node),
            Kind::UseDeclaration | Kind::NamedLabel => Step::Over,
            Kind::NamedType
            | Kind::OptionalType
            | Kind::UnionType
            | Kind::IntersectionType
            | Kind::PrimitiveType => self.type_in_body(node, cx),
            _ => Step::Into,
        }
    }
}

impl Reader<'_, '_> {
    fn named_argument(&mut self, node: Node) -> Step<Context> {
        if let Some(name) = self.child(node, Field::Name) {
            self.b.consume(name);
        }
        Step::Into
    }

    /// Fields that methods set are bound to the fields' declarations.
    fn finish(&mut self) {
        for set in std::mem::take(&mut self.set_fields) {
            let field = self.b.facts.decls.iter().position(|it| {
                it.owner == Some(set.class)
                    && it.name == set.name
                    && it.kind == knowing_model::NodeKind::Field
            });
            let Some(field) = field.and_then(|it| u32::try_from(it).ok()) else { continue };
            self.b.bind(Binding {
                decl: set.decl,
                target: BindingTarget::Field(DeclId(field)),
                value: Value::Expr(set.value),
                visible: Range { from: set.at, to: set.at },
                certain_to: set.at,
            });
        }
        self.b.facts.references.sort_by_key(|it| it.position);
        self.b.facts.calls.sort_by_key(|it| it.position);
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

    pub(super) fn parent(&self, node: Node) -> Option<Node> {
        self.b.tree.parent(node)
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
}
