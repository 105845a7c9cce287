//! The walk: what each node kind means, and the context around it.

use knowing_model::Range;
use knowing_model::facts::{DeclId, Str, TypeId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::documentation::Documentation;
use super::kinds::{Field, Kind};
use super::scopes::{Scope, ScopeId, ScopeKind, Scopes, This};
use super::uses::{MaybePassed, MaybeUse};
use super::variables::PendingField;
use crate::engine::build::Builder;
use crate::engine::tree::Node;
use crate::engine::walk::{Step, Visitor, walk};

pub(super) fn read(builder: &mut Builder<'_>) {
    if builder.tree.root().is_none() {
        return;
    }
    let range = Range { from: 0, to: builder.source.len() };
    let mut scopes = Scopes::default();
    let top = scopes.open(Scope {
        kind: ScopeKind::Module,
        parent: None,
        decl: None,
        is_whole: true,
        range,
        this: This::Unknown,
    });
    let context = Context { decl: None, function: None, scope: top, certain_to: range.to, is_ambient: false };
    let tree = builder.tree;
    let type_tests = narrowing_words(builder);
    let mut reader = Reader {
        b: builder,
        scopes,
        top,
        members: FxHashMap::default(),
        declared: FxHashSet::default(),
        pending_fields: Vec::new(),
        decorators: FxHashMap::default(),
        loads: FxHashSet::default(),
        exported_methods: Vec::new(),
        functions: FxHashMap::default(),
        objects: FxHashMap::default(),
        symbols: FxHashMap::default(),
        imported: FxHashMap::default(),
        signatures: FxHashSet::default(),
        properties: FxHashMap::default(),
        uses: Vec::new(),
        passed: Vec::new(),
        spine: Vec::new(),
        type_tests,
        is_module: false,
        documentation: Documentation::default(),
    };
    reader.file_doc();
    walk(tree, &mut reader, context);
    reader.finish();
}

fn narrowing_words(builder: &Builder<'_>) -> Vec<u32> {
    let mut words = builder.source.occurrences("instanceof");
    words.extend(builder.source.occurrences("typeof"));
    words.extend(builder.source.occurrences("isArray"));
    words.sort_unstable();
    words
}

/// What holds around a node.
#[derive(Clone, Copy)]
pub(super) struct Context {
    /// The innermost declaration that has code: callable, type, variable at the top.
    pub(super) decl: Option<DeclId>,
    /// The callable whose results `return` and `yield` here give.
    pub(super) function: Option<DeclId>,
    pub(super) scope: ScopeId,
    /// The end of the innermost block that may not run.
    pub(super) certain_to: u32,
    /// Below `declare`: everything is offered.
    pub(super) is_ambient: bool,
}

pub(super) struct Reader<'b, 's> {
    pub(super) b: &'b mut Builder<'s>,
    pub(super) scopes: Scopes,
    pub(super) top: ScopeId,
    /// Members of classes, objects and functions: their fields, or none for what has code.
    pub(super) members: FxHashMap<(DeclId, Str), Option<DeclId>>,
    /// Names that a class body declares somewhere, so that `this.x = ...` before it makes no second field.
    pub(super) declared: FxHashSet<(DeclId, Str)>,
    pub(super) pending_fields: Vec<PendingField>,
    /// Decorators that stand before a member of a class.
    pub(super) decorators: FxHashMap<Node, Vec<Node>>,
    /// Calls of `require` and `import` whose imports are noted.
    pub(super) loads: FxHashSet<Node>,
    /// Methods of `module.exports = {...}`, which the file offers by their names.
    pub(super) exported_methods: Vec<Node>,
    /// Functions and classes without a name of their own that got one.
    pub(super) functions: FxHashMap<Node, DeclId>,
    /// Objects whose members are those of a declaration.
    pub(super) objects: FxHashMap<Node, DeclId>,
    /// Declarations by scope and name: what members can be added to.
    pub(super) symbols: FxHashMap<(ScopeId, Str), DeclId>,
    /// What names mean by imports: module and member.
    pub(super) imported: FxHashMap<Str, (String, Option<String>)>,
    /// Callables without a body.
    pub(super) signatures: FxHashSet<DeclId>,
    /// What components take, where the type of the whole says it.
    pub(super) properties: FxHashMap<DeclId, TypeId>,
    pub(super) uses: Vec<MaybeUse>,
    pub(super) passed: Vec<MaybePassed>,
    /// Nodes of a chain of members and calls, while it is followed.
    pub(super) spine: Vec<Node>,
    /// Where `instanceof`, `typeof` and `isArray` stand.
    pub(super) type_tests: Vec<u32>,
    /// Whether it has imports or exports of its own.
    pub(super) is_module: bool,
    pub(super) documentation: Documentation,
}

impl Visitor for Reader<'_, '_> {
    type Context = Context;

    fn is_full(&self) -> bool {
        self.b.is_full()
    }

    fn enter(&mut self, node: Node, cx: Context) -> Step<Context> {
        match self.kind(node) {
            Kind::Identifier | Kind::ShorthandProperty => self.identifier(node, cx),
            Kind::MemberExpression => self.member_expression(node, cx),
            Kind::CallExpression => self.call(node, cx),
            Kind::NewExpression => self.new_expression(node, cx),
            Kind::StatementBlock | Kind::SwitchBody => self.block(node, cx),
            Kind::ForStatement => self.for_statement(node, cx),
            Kind::ForInStatement => self.for_in(node, cx),
            Kind::CatchClause => self.catch(node, cx),
            Kind::FunctionDeclaration | Kind::GeneratorFunctionDeclaration | Kind::FunctionSignature => {
                self.function_declaration(node, cx)
            }
            Kind::FunctionExpression | Kind::GeneratorFunction | Kind::ArrowFunction => {
                self.function_value(node, cx)
            }
            Kind::ClassDeclaration | Kind::AbstractClassDeclaration | Kind::Class => self.class(node, cx),
            Kind::MethodDefinition | Kind::MethodSignature | Kind::AbstractMethodSignature => {
                self.method(node, cx)
            }
            Kind::PublicFieldDefinition | Kind::FieldDefinition => self.field_definition(node, cx),
            Kind::ClassHeritage => self.heritage(node, cx),
            Kind::Decorator => self.decorator(node),
            Kind::InterfaceDeclaration => self.interface(node, cx),
            Kind::TypeAliasDeclaration => self.type_alias(node, cx),
            Kind::EnumDeclaration => self.enumeration(node, cx),
            Kind::InternalModule | Kind::Module => self.namespace(node, cx),
            Kind::AmbientDeclaration => self.ambient(cx),
            Kind::VariableDeclarator => self.declarator(node, cx),
            Kind::AssignmentExpression => self.assignment(node, cx),
            Kind::Object => self.object(node, cx),
            Kind::IfStatement => self.if_statement(node, cx),
            Kind::WhileStatement => self.while_statement(node, cx),
            Kind::TernaryExpression => self.ternary(node, cx),
            Kind::BinaryExpression => self.binary(node, cx),
            Kind::ReturnStatement => self.returned(node, cx),
            Kind::YieldExpression => self.yielded(node, cx),
            Kind::ThrowStatement => self.thrown(node, cx),
            Kind::ImportStatement => self.import(node, cx),
            Kind::ImportAlias => self.import_alias(node, cx),
            Kind::ExportStatement => self.export(node, cx),
            Kind::JsxOpeningElement | Kind::JsxSelfClosingElement => self.element(node, cx),
            Kind::JsxClosingElement => Step::Over,
            Kind::AsExpression | Kind::SatisfiesExpression => self.cast(node, cx),
            Kind::SubscriptExpression => self.subscript(node, cx),
            Kind::TypeArguments => self.type_arguments(node, cx),
            Kind::TypeAnnotation
            | Kind::TypeParameters
            | Kind::TypePredicateAnnotation
            | Kind::AssertsAnnotation
            | Kind::FormalParameters
            | Kind::IndexSignature
            | Kind::CallSignature
            | Kind::ConstructSignature => self.below_head(node, cx),
            Kind::Other if self.b.is_consumed(node) => Step::Over,
            Kind::ObjectType | Kind::UnionType | Kind::IntersectionType | Kind::ParenthesizedType => {
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

    /// The text between two offsets.
    pub(super) fn between(&self, from: u32, to: u32) -> &'s [u8] {
        self.b.source.bytes(Range { from, to })
    }

    /// The identifier (or `this`) at the begin of `a.b.c`; none when something else stands there.
    pub(super) fn root_of(&self, node: Node) -> Option<Node> {
        let mut node = node;
        loop {
            match self.kind(node) {
                Kind::Identifier | Kind::This | Kind::ShorthandProperty => return Some(node),
                Kind::MemberExpression => node = self.child(node, Field::Object)?,
                Kind::NonNullExpression => node = self.first_child(node)?,
                _ => return None,
            }
        }
    }

    /// The last name of `a.b.c`, `c`, also when it is a member of something computed.
    pub(super) fn terminal(&self, node: Node) -> Option<Node> {
        let mut node = node;
        loop {
            match self.kind(node) {
                Kind::Identifier | Kind::ShorthandProperty | Kind::Super | Kind::This => return Some(node),
                Kind::MemberExpression => return self.child(node, Field::Property),
                Kind::NonNullExpression | Kind::ParenthesizedExpression | Kind::InstantiationExpression => {
                    node = self.first_child(node)?;
                }
                _ => return None,
            }
        }
    }

    /// What stands inside of parentheses, casts and assertions.
    pub(super) fn unwrapped(&self, node: Node) -> Node {
        let mut node = node;
        loop {
            let inner = match self.kind(node) {
                Kind::ParenthesizedExpression
                | Kind::AsExpression
                | Kind::SatisfiesExpression
                | Kind::NonNullExpression => self.first_child(node),
                Kind::AssignmentExpression => self.child(node, Field::Right),
                Kind::CallExpression if self.is_freeze(node) => {
                    let arguments = self.child(node, Field::Arguments);
                    arguments.and_then(|it| self.first_child(it))
                }
                _ => None,
            };
            match inner {
                Some(inner) => node = inner,
                None => return node,
            }
        }
    }

    /// `Object.freeze({...})` and the like give what they get.
    fn is_freeze(&self, call: Node) -> bool {
        let function = self.child(call, Field::Function);
        function.is_some_and(|it| self.is(it, "Object.freeze") || self.is(it, "markRaw"))
    }

    pub(super) fn is_function(&self, node: Node) -> bool {
        matches!(self.kind(node), Kind::ArrowFunction | Kind::FunctionExpression | Kind::GeneratorFunction)
    }
}

impl Reader<'_, '_> {
    /// Types in the head of a declaration were read there; defaults of parameters are code.
    fn below_head(&mut self, node: Node, _: Context) -> Step<Context> {
        if self.kind(node) == Kind::FormalParameters { Step::Into } else { Step::Over }
    }

    /// A block has names of its own; the body of a function has those of the function.
    fn block(&mut self, node: Node, cx: Context) -> Step<Context> {
        let end = self.b.tree.end(node);
        match self.parent_kind(node) {
            Kind::FunctionDeclaration
            | Kind::GeneratorFunctionDeclaration
            | Kind::FunctionExpression
            | Kind::GeneratorFunction
            | Kind::ArrowFunction
            | Kind::MethodDefinition => Step::Within(Context { certain_to: end, ..cx }),
            Kind::CatchClause | Kind::ForInStatement | Kind::ForStatement => {
                Step::Within(Context { certain_to: end, ..cx })
            }
            Kind::InternalModule | Kind::Module | Kind::AmbientDeclaration => Step::Into,
            _ => Step::Within(self.inner_block(node, cx)),
        }
    }

    pub(super) fn inner_block(&mut self, node: Node, cx: Context) -> Context {
        let range = self.b.tree.range(node);
        let scope = self.scopes.open(Scope {
            kind: ScopeKind::Block,
            parent: Some(cx.scope),
            decl: cx.decl,
            is_whole: false,
            range,
            this: This::Inherited,
        });
        Context { scope, certain_to: range.to, ..cx }
    }

    /// What could only be decided with all of the file known.
    fn finish(&mut self) {
        self.finish_fields();
        self.finish_uses();
        self.finish_passed();
        self.finish_overloads();
        self.finish_exports();
        self.b.facts.imports.sort_by_key(|it| it.position);
    }
}
