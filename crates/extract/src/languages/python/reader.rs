//! The walk: what each node kind means, and the context around it.

use knowing_model::facts::{DeclId, Str, TypeId};
use knowing_model::{NodeFlags, NodeKind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::kinds::{Field, Kind};
use super::scopes::{ClassTraits, Scope, ScopeId, ScopeKind, Scopes};
use super::uses::{MaybePassed, MaybeUse};
use crate::engine::build::Builder;
use crate::engine::tree::Node;
use crate::engine::walk::{Step, Visitor, walk};

pub(super) fn read(builder: &mut Builder<'_>) {
    let Some(root) = builder.tree.root() else { return };
    let end = builder.source.len();
    let mut scopes = Scopes::default();
    let module = scopes.open(Scope {
        kind: ScopeKind::Module,
        parent: None,
        decl: None,
        end,
        receiver: None,
        class: ClassTraits::default(),
    });
    let context = Context {
        decl: None,
        function: None,
        scope: module,
        body_scope: module,
        certain_to: end,
        in_type: false,
        in_main: false,
    };
    let tree = builder.tree;
    let type_tests = builder.source.occurrences("isinstance");
    let mut reader = Reader {
        b: builder,
        scopes,
        module,
        members: FxHashMap::default(),
        lambdas: FxHashMap::default(),
        types: FxHashMap::default(),
        imported: FxHashMap::default(),
        uses: Vec::new(),
        passed: Vec::new(),
        entries: FxHashSet::default(),
        spine: Vec::new(),
        type_tests,
    };
    reader.b.facts.doc = reader.docstring(root);
    walk(tree, &mut reader, context);
    reader.finish();
}

/// What holds around a node.
#[derive(Clone, Copy)]
pub(super) struct Context {
    /// The innermost callable or type.
    pub(super) decl: Option<DeclId>,
    /// The callable whose results `return` and `yield` here give.
    pub(super) function: Option<DeclId>,
    pub(super) scope: ScopeId,
    /// The scope of the body of the declaration that was entered; its head belongs to `scope`.
    pub(super) body_scope: ScopeId,
    /// The end of the innermost block that may not run.
    pub(super) certain_to: u32,
    /// Names here are types, and were read as such.
    pub(super) in_type: bool,
    /// Below `if __name__ == "__main__"`.
    pub(super) in_main: bool,
}

pub(super) struct Reader<'b, 's> {
    pub(super) b: &'b mut Builder<'s>,
    pub(super) scopes: Scopes,
    pub(super) module: ScopeId,
    /// Members of classes: their fields, or none for what is defined with `def`.
    pub(super) members: FxHashMap<(DeclId, Str), Option<DeclId>>,
    /// Lambdas that have a name.
    pub(super) lambdas: FxHashMap<Node, DeclId>,
    /// Types that were read from expressions.
    pub(super) types: FxHashMap<Node, TypeId>,
    /// What names mean by imports, as a dotted path.
    pub(super) imported: FxHashMap<Str, String>,
    pub(super) uses: Vec<MaybeUse>,
    pub(super) passed: Vec<MaybePassed>,
    /// Where `isinstance` stands.
    pub(super) type_tests: Vec<u32>,
    /// Names called below `if __name__ == "__main__"`.
    pub(super) entries: FxHashSet<Str>,
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
            Kind::Attribute => self.attribute(node, cx),
            Kind::Call => self.call(node, cx),
            Kind::Subscript => self.subscript(node, cx),
            Kind::Block => self.block(node, cx),
            Kind::FunctionDefinition => self.function(node, cx),
            Kind::ClassDefinition => self.class(node, cx),
            Kind::Decorator => self.decorator(node),
            Kind::Lambda => self.lambda(node, cx),
            Kind::ListComprehension
            | Kind::SetComprehension
            | Kind::DictionaryComprehension
            | Kind::GeneratorExpression => self.comprehension(node, cx),
            Kind::Assignment => self.assignment(node, cx),
            Kind::AugmentedAssignment => self.augmented(node),
            Kind::NamedExpression => self.walrus(node, cx),
            Kind::ForStatement => self.for_loop(node, cx),
            Kind::AsPattern => self.as_pattern(node, cx),
            Kind::ExceptClause => self.except(node, cx),
            Kind::CaseClause => self.case(node, cx),
            Kind::IfStatement => self.if_statement(node, cx),
            Kind::ElifClause | Kind::WhileStatement => self.condition(node, cx),
            Kind::AssertStatement => self.assert(node, cx),
            Kind::ConditionalExpression => self.ternary(node, cx),
            Kind::BooleanOperator => self.conjunction(node, cx),
            Kind::ReturnStatement => self.returned(node, cx),
            Kind::Yield => self.yielded(node, cx),
            Kind::RaiseStatement => self.raised(node, cx),
            Kind::ImportStatement => self.import(node, cx),
            Kind::ImportFromStatement => self.import_from(node, cx),
            Kind::FutureImportStatement => Step::Over,
            Kind::GlobalStatement | Kind::NonlocalStatement => self.outer_names(node, cx),
            Kind::TypeAliasStatement => self.type_alias(node, cx),
            Kind::Type => Step::Within(Context { in_type: true, ..cx }),
            Kind::ArgumentList if self.parent_kind(node) == Kind::ClassDefinition => {
                Step::Within(Context { in_type: true, ..cx })
            }
            Kind::KeywordArgument if cx.in_type => Step::Within(Context { in_type: false, ..cx }),
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

    pub(super) fn is(&self, node: Node, text: &str) -> bool {
        self.b.bytes(node) == text.as_bytes()
    }

    /// The identifier at the begin of `a.b.c`; none when something else stands there.
    pub(super) fn root_of(&self, node: Node) -> Option<Node> {
        let mut node = node;
        loop {
            match self.kind(node) {
                Kind::Identifier => return Some(node),
                Kind::Attribute => node = self.child(node, Field::Object)?,
                _ => return None,
            }
        }
    }

    /// The last name of `a.b.c`, `c`, also when it is a member of something computed.
    pub(super) fn terminal(&self, node: Node) -> Option<Node> {
        match self.kind(node) {
            Kind::Identifier => Some(node),
            Kind::Attribute => self.child(node, Field::Attribute),
            _ => None,
        }
    }
}

impl Reader<'_, '_> {
    /// Bodies change the scope; blocks that may not run change how far a binding is certain.
    fn block(&mut self, node: Node, cx: Context) -> Step<Context> {
        let end = self.b.tree.end(node);
        match self.parent_kind(node) {
            Kind::FunctionDefinition => {
                let certain_to = self.scopes.at(cx.body_scope).end;
                Step::Within(Context { scope: cx.body_scope, certain_to, ..cx })
            }
            Kind::ClassDefinition => {
                Step::Within(Context { scope: cx.body_scope, certain_to: end, function: None, ..cx })
            }
            Kind::IfStatement
            | Kind::ElifClause
            | Kind::ElseClause
            | Kind::ForStatement
            | Kind::WhileStatement
            | Kind::TryStatement
            | Kind::ExceptClause
            | Kind::CaseClause => Step::Within(Context { certain_to: end, ..cx }),
            _ => Step::Into,
        }
    }

    fn if_statement(&mut self, node: Node, cx: Context) -> Step<Context> {
        self.narrow_if(node, cx);
        let condition = self.child(node, Field::Condition);
        let is_main = self.scopes.at(cx.scope).kind == ScopeKind::Module
            && condition.is_some_and(|it| {
                let text = self.b.text(it);
                text.contains("__name__") && text.contains("__main__")
            });
        if is_main { Step::Within(Context { in_main: true, ..cx }) } else { Step::Into }
    }

    /// What could only be decided with all of the file known.
    fn finish(&mut self) {
        self.finish_uses();
        self.finish_passed();
        self.setup_script();
        let offered: FxHashSet<Str> = self.b.facts.exports.iter().flatten().copied().collect();
        for decl in self.b.facts.decls.iter_mut().filter(|it| it.owner.is_none()) {
            if decl.kind == NodeKind::Function && self.entries.contains(&decl.name) {
                decl.flags.insert(NodeFlags::ENTRY);
            }
            if offered.contains(&decl.name) {
                decl.flags.insert(NodeFlags::EXPORTED);
            }
        }
    }
}
