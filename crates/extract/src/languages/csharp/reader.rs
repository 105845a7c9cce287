//! The walk: what each node kind means, and the context around it.

use knowing_model::Range;
use knowing_model::facts::{DeclId, ReferenceRole, TypeId};
use rustc_hash::FxHashMap;

use super::bindings::Locals;
use super::kinds::{Field, Kind};
use super::written::Naming;
use crate::engine::build::Builder;
use crate::engine::tree::Node;
use crate::engine::walk::{Step, Visitor, walk};

pub(super) fn read(builder: &mut Builder<'_>) {
    let Some(root) = builder.tree.root() else { return };
    let tree = builder.tree;
    let mut reader = Reader {
        b: builder,
        locals: Locals::default(),
        generics: Locals::default(),
        types: FxHashMap::default(),
        declarators: FxHashMap::default(),
        spine: Vec::new(),
    };
    let block = reader.b.tree.range(root);
    let context = Context { decl: None, place: Place::Namespace, block };
    walk(tree, &mut reader, context);
    reader.finish();
}

/// What holds around a node.
#[derive(Clone, Copy)]
pub(super) struct Context {
    /// The innermost declaration; a namespace is none.
    pub(super) decl: Option<DeclId>,
    pub(super) place: Place,
    /// The innermost block, which bindings are visible in.
    pub(super) block: Range,
}

/// What kind of list of declarations a node stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Namespace,
    Type { is_interface: bool },
    Body,
}

pub(super) struct Reader<'b, 's> {
    pub(super) b: &'b mut Builder<'s>,
    pub(super) locals: Locals,
    /// Type parameters, by the declarations that have them.
    pub(super) generics: Locals,
    /// Types that were read, by their outermost node.
    pub(super) types: FxHashMap<Node, TypeId>,
    /// Fields by where their names and values stand.
    pub(super) declarators: FxHashMap<Node, DeclId>,
    /// Nodes of a chain of members and calls, while it is followed.
    pub(super) spine: Vec<Node>,
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
        let within = || Step::Within(Context { block: self.b.tree.range(node), ..cx });
        match self.kind(node) {
            Kind::Identifier => self.identifier(node, cx),
            Kind::MemberAccess => self.member_access(node, cx),
            Kind::ConditionalAccess => self.conditional_access(node, cx),
            Kind::GenericName => self.generic_name(node, cx),
            Kind::Invocation => self.invocation(node, cx),
            Kind::ObjectCreation => self.creation(node, cx),
            Kind::ImplicitObject => self.implicit_creation(node, cx),
            Kind::ConstructorInitializer => self.constructor_initializer(node, cx),
            Kind::WithExpression => self.with_expression(node, cx),
            Kind::Block
            | Kind::SwitchBody
            | Kind::ForStatement
            | Kind::UsingStatement
            | Kind::FixedStatement => within(),
            Kind::WhileStatement | Kind::SwitchArm | Kind::ArrowClause => within(),
            Kind::QueryExpression => within(),
            Kind::ForeachStatement => self.foreach_statement(node, cx),
            Kind::CatchClause => self.catch_clause(node, cx),
            Kind::VariableDeclaration => self.local_variables(node, cx),
            Kind::VariableDeclarator => self.declarator(node, cx),
            Kind::DeclarationExpression => self.declaration_expression(node, cx),
            Kind::Assignment => self.assignment(node, cx),
            Kind::IfStatement => self.narrowed_branch(node, cx),
            Kind::IsPattern => self.is_pattern(node, cx),
            Kind::SwitchStatement | Kind::SwitchExpression => Step::Into,
            Kind::DeclarationPattern
            | Kind::RecursivePattern
            | Kind::VarPattern
            | Kind::ListPattern
            | Kind::OrPattern
            | Kind::AndPattern
            | Kind::NegatedPattern
            | Kind::ParenthesizedPattern
            | Kind::ConstantPattern
            | Kind::TypePattern => self.switched_pattern(node, cx),
            Kind::FromClause | Kind::JoinClause | Kind::LetClause | Kind::JoinInto => {
                self.query_clause(node, cx)
            }
            Kind::Lambda | Kind::AnonymousMethod => self.lambda(node, cx),
            Kind::ThrowStatement | Kind::ThrowExpression => self.throw(node, cx),
            Kind::MethodDeclaration => self.method(node, cx),
            Kind::ConstructorDeclaration => self.constructor(node, cx),
            Kind::DestructorDeclaration => self.destructor(node, cx),
            Kind::OperatorDeclaration | Kind::ConversionOperator => self.operator(node, cx),
            Kind::LocalFunction => self.local_function(node, cx),
            Kind::PropertyDeclaration | Kind::IndexerDeclaration | Kind::EventDeclaration => {
                self.property(node, cx)
            }
            Kind::AccessorDeclaration => self.accessor(node, cx),
            Kind::FieldDeclaration | Kind::EventField => self.fields(node, cx),
            Kind::EnumMember => self.enum_member(node, cx),
            Kind::ClassDeclaration
            | Kind::StructDeclaration
            | Kind::RecordDeclaration
            | Kind::InterfaceDeclaration
            | Kind::EnumDeclaration => self.type_declaration(node, cx),
            Kind::DelegateDeclaration => self.delegate(node, cx),
            Kind::NamespaceDeclaration | Kind::FileScopedNamespace => self.namespace(node),
            Kind::UsingDirective => self.using_directive(node, cx),
            Kind::ExternAlias | Kind::Modifier | Kind::ImplicitType | Kind::GotoStatement => Step::Over,
            Kind::LabeledStatement => self.after_first(node),
            Kind::PreprocIf | Kind::PreprocElif | Kind::PreprocIfAttribute => self.condition(node),
            Kind::AttributeList | Kind::GlobalAttribute => Step::Into,
            Kind::Attribute => self.attribute_in_place(node, cx),
            Kind::AttributeArgument | Kind::Argument => self.named_argument(node),
            Kind::AnonymousObject => Step::Into,
            Kind::PredefinedType
            | Kind::QualifiedName
            | Kind::AliasQualifiedName
            | Kind::NullableType
            | Kind::ArrayType
            | Kind::PointerType
            | Kind::TupleType
            | Kind::RefType
            | Kind::ScopedType
            | Kind::FunctionPointerType => self.type_in_body(node, cx),
            _ => Step::Into,
        }
    }
}

/// Small kinds.
impl Reader<'_, '_> {
    fn type_in_body(&mut self, node: Node, cx: Context) -> Step<Context> {
        self.read_type(node, Naming::new(cx.decl, ReferenceRole::Type));
        Step::Over
    }

    /// A label is no value.
    fn after_first(&mut self, node: Node) -> Step<Context> {
        if let Some(label) = self.first_child(node) {
            self.b.consume(label);
        }
        Step::Into
    }

    /// Symbols of `#if` are no values; both branches are read.
    fn condition(&mut self, node: Node) -> Step<Context> {
        if let Some(condition) = self.child(node, Field::Condition) {
            self.b.consume(condition);
        }
        Step::Into
    }

    /// `name: value`, `Name = value`.
    fn named_argument(&mut self, node: Node) -> Step<Context> {
        if let Some(name) = self.child(node, Field::Name) {
            self.b.consume(name);
        }
        Step::Into
    }

    /// What could only be decided with all of the file known.
    fn finish(&mut self) {
        self.b.mark_overloads();
        // Types and expressions are read when a declaration or a call is met, before the walk comes to them.
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

    pub(super) fn last_child(&self, node: Node) -> Option<Node> {
        self.children(node).last()
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

    pub(super) fn has_modifier(&self, node: Node, word: &str) -> bool {
        self.children(node).any(|it| self.kind(it) == Kind::Modifier && self.is(it, word))
    }
}
