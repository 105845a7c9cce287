//! `FileFacts`: all that one file says by itself, before anything is resolved.
//!
//! Facts are a function of path, bytes and ruleset. Texts are interned per file (`Str` points into `strings`, in order
//! of first use), expressions and types are pools (`ExprId`, `TypeId`), so that a file's facts are a few flat vectors:
//! cheap to store, to load and to walk. Every list is in source order.
//!
//! ```text
//! def f(shop):                 decl 0  f, parameter shop
//!     cart = shop.open()       expr 0  Name shop   expr 1  Member open   expr 2  Call of 1
//!     cart.total()             binding cart = expr 2       calls: 1, then Member(Name cart, total)
//! ```

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

use crate::edge_kind::EdgeKind;
use crate::later::{Inside, Later};
use crate::node::NodeFlags;
use crate::node_kind::NodeKind;
use crate::span::{Position, Range, Span};
use crate::texts::Texts;

macro_rules! index_types {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index_types! {
    /// A text of this file.
    Str;
    /// A declaration of this file.
    DeclId;
    /// A written type of this file.
    TypeId;
    /// An expression of this file.
    ExprId;
    /// An `impl` block (or what a language has like it) of this file.
    ImplId;
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FileFacts {
    /// `python`, `rust` ...: the language whose rules read these facts.
    pub language: String,
    /// Marks that hold for the whole file: test, generated, vendored.
    pub flags: NodeFlags,
    /// Why something of the file is missing here.
    pub partial: Option<Partial>,
    pub n_lines: u32,
    /// The file's own documentation (module docstring, `//!`).
    pub doc: Option<Str>,
    /// Package clause or namespace, where the language has one.
    pub namespace: Option<Str>,
    pub strings: Texts,
    pub decls: Vec<Decl>,
    pub impls: Vec<Impl>,
    pub types: Vec<Type>,
    pub exprs: Later<Expr>,
    pub bindings: Vec<Binding>,
    pub calls: Later<Call>,
    pub references: Later<Reference>,
    pub imports: Vec<Import>,
    /// `mod name;`: modules that stand in files of their own.
    pub modules: Vec<ModuleDecl>,
    /// What functions without a declared result give back.
    pub returns: Vec<Return>,
    /// Names the file says it offers (`__all__`), where it does; `*` among them when some are computed.
    pub exports: Option<Vec<Str>>,
    pub sites: Later<Site>,
    /// What a project file (`Cargo.toml`, `pyproject.toml`) states.
    pub manifest: Option<Manifest>,
    /// Under which tags the file is part of its package, where it says so (`//go:build linux && !cgo`).
    pub condition: Option<Str>,
    /// What calls are made with, sorted by callee; only where the language tells callables of one name apart by it.
    pub arguments: Later<Argument>,
    /// Namespaces of parts of the file, outer ones first; where there are none, `namespace` holds for all of it.
    pub namespaces: Vec<Namespace>,
    /// Relations that the file states by itself: configuration, schemas, documents.
    pub links: Vec<Link>,
    /// Names by which other files can mean declarations of this one, where no import leads there.
    pub offers: Vec<Offer>,
    pub routes: Vec<Route>,
    pub mounts: Vec<Mount>,
    /// Who owns which paths; the last rule that fits holds.
    pub owner_rules: Vec<OwnerRule>,
    /// Its text may hold secrets and is not searched: names alone are kept.
    pub is_private: bool,
    /// Texts of constants that may be a part of a path, sorted by declaration: other files build patterns of them.
    pub constants: Vec<Constant>,
    /// Which versions a project file asks for of what it depends on.
    pub versions: Vec<AskedVersion>,
}

impl FileFacts {
    /// What stands inside of its callables, taken out of it.
    pub fn take_inside(&mut self) -> Inside {
        Inside {
            exprs: std::mem::take(&mut *self.exprs),
            calls: std::mem::take(&mut *self.calls),
            references: std::mem::take(&mut *self.references),
            sites: std::mem::take(&mut *self.sites),
            arguments: std::mem::take(&mut *self.arguments),
        }
    }

    /// Puts back what `take_inside` took.
    pub fn put_inside(&mut self, inside: Inside) {
        let Inside { exprs, calls, references, sites, arguments } = inside;
        (*self.exprs, *self.calls, *self.references) = (exprs, calls, references);
        (*self.sites, *self.arguments) = (sites, arguments);
    }

    /// Has what stands inside read by the first who looks at it.
    pub fn read_inside_later(&mut self, read: Box<dyn FnOnce() -> Inside + Send>) {
        let inside = Arc::new(LazyLock::new(read));
        self.exprs = Later::unread(&inside, |it| &it.exprs);
        self.calls = Later::unread(&inside, |it| &it.calls);
        self.references = Later::unread(&inside, |it| &it.references);
        self.sites = Later::unread(&inside, |it| &it.sites);
        self.arguments = Later::unread(&inside, |it| &it.arguments);
    }

    pub fn text(&self, it: Str) -> &str {
        self.strings.get(it.index()).expect("a text of this file")
    }

    pub fn decl(&self, it: DeclId) -> &Decl {
        &self.decls[it.index()]
    }

    pub fn expr(&self, it: ExprId) -> Expr {
        self.exprs[it.index()]
    }

    /// The name of the list whose members an expression is, one by one: `for _, x := range list`.
    pub fn list_of(&self, expr: ExprId) -> Option<Str> {
        let Expr::Item { of, .. } = self.expr(expr) else { return None };
        let Expr::Element { of } = self.expr(of) else { return None };
        match self.expr(of) {
            Expr::Name { name, .. } => Some(name),
            _ => None,
        }
    }

    pub fn type_(&self, it: TypeId) -> &Type {
        &self.types[it.index()]
    }

    /// The namespace around an offset, by its whole name.
    pub fn namespace_at(&self, offset: u32) -> Option<Str> {
        let inner = self.namespaces.iter().rev().find(|it| it.range.contains(offset));
        inner.map(|it| it.name).or(if self.namespaces.is_empty() { self.namespace } else { None })
    }

    /// What the call of `callee` is made with.
    pub fn arguments_of(&self, callee: ExprId) -> &[Argument] {
        let begin = self.arguments.partition_point(|it| it.callee < callee);
        let n = self.arguments[begin..].iter().take_while(|it| it.callee == callee).count();
        &self.arguments[begin..begin + n]
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Partial {
    pub reason: PartialReason,
    /// Line of the first trouble, where there is one.
    pub line: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum PartialReason {
    SyntaxError,
    InvalidUtf8,
    ParseTimeout,
    TooManyNodes,
    TooManyFacts,
    TooDeep,
    /// Read up to its line; what follows is over the limit of bytes.
    TooLarge,
}

impl PartialReason {
    pub fn name(self) -> &'static str {
        match self {
            PartialReason::SyntaxError => "syntax_error",
            PartialReason::InvalidUtf8 => "invalid_utf8",
            PartialReason::ParseTimeout => "parse_timeout",
            PartialReason::TooManyNodes => "too_many_nodes",
            PartialReason::TooManyFacts => "too_many_facts",
            PartialReason::TooDeep => "too_deep",
            PartialReason::TooLarge => "too_large",
        }
    }
}

/// A declaration that becomes a node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Decl {
    /// The declaration it stands in; its index is smaller.
    pub owner: Option<DeclId>,
    /// The `impl` block it stands in directly.
    pub implementation: Option<ImplId>,
    pub name: Str,
    /// Symbol path in the file, suffixes included; distinct together with `kind`.
    pub path: Str,
    pub kind: NodeKind,
    pub span: Span,
    /// Bytes of the whole declaration.
    pub range: Range,
    pub signature: Str,
    /// At most 800 characters.
    pub doc: Option<Str>,
    pub flags: NodeFlags,
    pub modifiers: Modifiers,
    pub type_parameters: Vec<TypeParameter>,
    /// Parameters of a callable, the receiver included; payload of a tuple struct or an enum member (fields without a
    /// name are called `0`, `1` ...).
    pub parameters: Vec<Parameter>,
    /// Result of a callable; declared type of a field, variable, constant; aliased type of a type alias.
    pub type_: Option<TypeId>,
    /// What a variable, constant or class field starts as, evaluated in the scope around the declaration.
    pub value: Option<ExprId>,
    pub bases: Vec<Base>,
    /// Where its bare name means it, when that is not all of what it stands in: the block around it, or nowhere for
    /// what is reached as a member only.
    pub visible: Option<Range>,
}

/// Language modifiers that matter to resolution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Modifiers(pub u16);

impl Modifiers {
    /// Belongs to the type, not to an instance (`@staticmethod`, an associated function without `self`).
    pub const STATIC: Modifiers = Modifiers(1);
    /// Its first parameter is the type itself (`@classmethod`).
    pub const CLASS_METHOD: Modifiers = Modifiers(2);
    /// Read like a field (`@property`).
    pub const PROPERTY: Modifiers = Modifiers(4);
    /// Yields values.
    pub const GENERATOR: Modifiers = Modifiers(8);
    /// One of several `@overload` signatures, without a body of its own; one of several callables of the same name
    /// where arguments tell them apart.
    pub const OVERLOAD: Modifiers = Modifiers(16);
    /// Its result is what its body awaits (`async`).
    pub const ASYNC: Modifiers = Modifiers(32);
    /// Visible outside its container (`pub`); Rust.
    pub const PUBLIC: Modifiers = Modifiers(64);
    /// Entered by `with` through what it yields (`@contextmanager`).
    pub const CONTEXT_MANAGER: Modifiers = Modifiers(128);
    /// Seen in its own file alone (`private`), where overloads are told apart.
    pub const PRIVATE: Modifiers = Modifiers(256);
    /// Only says that there is such a thing, which is defined elsewhere or nowhere: a prototype, `extern int x;`.
    pub const DECLARED: Modifiers = Modifiers(512);

    pub fn contains(self, other: Modifiers) -> bool {
        self.0 & other.0 == other.0
    }

    pub fn insert(&mut self, other: Modifiers) {
        self.0 |= other.0;
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TypeParameter {
    pub name: Str,
    pub bounds: Vec<TypeId>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Parameter {
    pub name: Str,
    pub type_: Option<TypeId>,
    pub default: Option<ExprId>,
    pub kind: ParameterKind,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum ParameterKind {
    Plain,
    /// `self`, `cls`, `&mut self`.
    Receiver,
    /// `*args`.
    Rest,
    /// `**kwargs`.
    KeywordRest,
    KeywordOnly,
}

/// A written super type.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Base {
    pub type_: TypeId,
    pub role: BaseRole,
    pub position: Position,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum BaseRole {
    Extends,
    Implements,
    /// Python's `metaclass=`.
    Metaclass,
    /// Ruby's `prepend`: comes before the type's own members.
    Prepended,
    /// Ruby's `extend`: gives members to the type itself, not to its values.
    Extended,
}

/// `impl Interface for Type { ... }`; a Go receiver later.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Impl {
    /// The module it stands in; none at the top of the file.
    pub owner: Option<DeclId>,
    pub type_: TypeId,
    pub interface: Option<TypeId>,
    pub type_parameters: Vec<TypeParameter>,
    pub range: Range,
    /// Where the interface's name stands, else the type's.
    pub position: Position,
}

/// A type as written. References, pointers and parentheses are looked through.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Type {
    /// `a.b.C[X, Y]`, `a::b::C<X, Y>`. A leading `::` gives an empty first segment. `at` is where it stands.
    Named {
        segments: Vec<Str>,
        arguments: Vec<TypeId>,
        at: u32,
    },
    /// `<T as Trait>::Item` gives of = T, interface = Trait, name = Item; `T::Item` is `Named`.
    Projection {
        of: TypeId,
        interface: Option<TypeId>,
        name: Str,
    },
    /// `A | B`.
    Union(Vec<TypeId>),
    Tuple(Vec<TypeId>),
    /// `[T]`, `[T; N]`.
    Sequence(TypeId),
    /// `dyn A + B`, `impl A + B`.
    Bounds(Vec<TypeId>),
    /// A function type and what it gives.
    Function(Option<TypeId>),
    /// Written, and nothing resolution understands.
    Unknown,
}

/// An expression, as far as resolution can use it. Parentheses, borrows, dereferences are looked through.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Expr {
    /// An identifier at an offset.
    Name {
        name: Str,
        at: u32,
    },
    /// `of.name`.
    Member {
        of: ExprId,
        name: Str,
    },
    /// `of::name`; a leading `::` has an `of` of `Root`.
    Scoped {
        of: ExprId,
        name: Str,
    },
    /// The root of absolute paths: leading `::`.
    Root,
    /// A type where a path begins: `<T as Trait>::f`, `Vec::<T>::new`.
    TypePath(TypeId),
    /// A value of a written type: struct literal, cast, `new T`.
    Instance(TypeId),
    /// What calling gives.
    Call {
        callee: ExprId,
    },
    /// `of[...]`.
    Index {
        of: ExprId,
    },
    /// What a `for` over it gives.
    Element {
        of: ExprId,
    },
    /// `await of`, `of.await`.
    Await {
        of: ExprId,
    },
    /// `of?`.
    Try {
        of: ExprId,
    },
    /// What `with of as` binds.
    Enter {
        of: ExprId,
    },
    /// Item `index` of a destructured tuple.
    Item {
        of: ExprId,
        index: u32,
    },
    /// A field of what a pattern matched: `Some(x)`, `Shape::Circle { radius }`, `Point(x, _)`.
    Payload {
        of: ExprId,
        variant: TypeId,
        field: Str,
    },
    /// One or the other: `a or b`, `x if c else y`, arms.
    Either {
        one: ExprId,
        other: ExprId,
    },
    /// `super()`, `super`.
    Super {
        at: u32,
    },
    Literal(Literal),
    Unknown,
    /// A lambda: how many parameters it has, and what it gives back where it gives something.
    Lambda {
        n_parameters: u8,
        result: Option<ExprId>,
    },
    /// What a lambda gets as its parameter number `parameter`, where it is argument number `argument` of the call of
    /// `callee`; or, where `argument` is `ITSELF`, stands for a value of the type of `callee`. Parameter `ITSELF` is what
    /// the lambda is applied to, where it is applied to something.
    Given {
        callee: ExprId,
        argument: u8,
        parameter: u8,
    },
    /// `of` with written type arguments: `of<A, B>`; the type is a tuple of them.
    Generic {
        of: ExprId,
        arguments: TypeId,
    },
    /// A value for parameter number `argument` of `callee`: what `out var x` gets, what an object that is passed has to be.
    Parameter {
        callee: ExprId,
        argument: u8,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Literal {
    None,
    Bool,
    Integer,
    Float,
    String,
    Bytes,
    Character,
    List,
    Tuple,
    Dictionary,
    Set,
    Generator,
    /// A lambda or closure.
    Function,
}

/// A name that stands for a value from some place on.
///
/// It is visible in `visible`, and surely what was last assigned up to `certain_to` (the end of the block it was bound
/// in); between there and the end it may hold or an earlier binding may.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Binding {
    /// The callable or type it stands in; none at the top of the file.
    pub decl: Option<DeclId>,
    pub target: BindingTarget,
    pub value: Value,
    pub visible: Range,
    pub certain_to: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum BindingTarget {
    Name(Str),
    /// `self.x = ...`: the field's declaration; `decl` is the method it stands in.
    Field(DeclId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Value {
    /// Declared.
    Type(TypeId),
    Expr(ExprId),
    /// Tested to be: `isinstance(x, T)`.
    Narrowed(TypeId),
    /// The instance a method was called on.
    Receiver,
    /// The type a class method was called on.
    ReceiverType,
    Unknown,
    /// A function or type declared inside of a callable, where only a block sees it. The declaration itself is no name
    /// of its owner's scope then.
    Decl(DeclId),
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Call {
    /// The innermost declaration with a node around it; none at the top of the file.
    pub decl: Option<DeclId>,
    pub callee: ExprId,
    /// Where the called name stands.
    pub position: Position,
    pub n_arguments: u8,
    /// Arguments are spread (`*args`), so that their number is a lower bound.
    pub spread: bool,
    /// Names and chains passed as values, which may be callbacks.
    pub passed: Vec<Passed>,
    pub form: CallForm,
}

/// In place of the number of an argument or a parameter, see `Expr::Given`.
pub const ITSELF: u8 = u8::MAX;

/// One argument of the call of `callee`; those of a call are in the order in which they are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Argument {
    pub callee: ExprId,
    pub value: ExprId,
    /// `name = value`.
    pub name: Option<Str>,
    /// Stands for any number of arguments: `*list`.
    pub spread: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Passed {
    pub expr: ExprId,
    pub position: Position,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum CallForm {
    Plain,
    /// `name!(...)`.
    Macro,
    /// Found in the unparsed body of a macro.
    InMacro,
    /// `getattr(...)(...)`, a call through a computed value.
    Dynamic,
}

/// A use that is no call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reference {
    /// The innermost declaration around it (for a decorator: the declaration it is applied to).
    pub decl: Option<DeclId>,
    pub target: ReferenceTarget,
    pub role: ReferenceRole,
    pub position: Position,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ReferenceTarget {
    Type(TypeId),
    Expr(ExprId),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum ReferenceRole {
    /// A type in a body or in a place that is no signature.
    Type,
    /// A type of a parameter, a result or a field.
    Hint,
    /// A constant, variable, function or type used as a value.
    Value,
    /// `self.x`: a field of the method's own type, read or written.
    Field,
    /// Decorator, attribute, derive.
    Decorator,
    /// Raised, thrown, or the error type of a result.
    Raise,
    /// What a longer chain begins with (`app` of `app.config.get()`): a use when it is a declaration, none when it is a
    /// module.
    Root,
}

/// One imported name; `from a import b, c` and `use a::{b, c}` give two.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Import {
    /// The declaration whose scope it binds in; none at the top of the file.
    pub decl: Option<DeclId>,
    /// Module path: `a.b` in `import a.b` and in `from a.b import c`, `crate::a` in `use crate::a::b`.
    pub module: Vec<Str>,
    /// Dots before the module path.
    pub level: u8,
    pub kind: ImportKind,
    /// Offered to others too (`pub use`, `import x as x` in a stub).
    pub reexport: bool,
    pub visible: Range,
    pub position: Position,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ImportKind {
    /// Binds `alias` to the module itself.
    Module { alias: Str },
    /// `import a.b.c`: binds the first segment alone, and loads all of it.
    TopModule,
    /// Binds `alias` to `name` of the module.
    Member { name: Str, alias: Str },
    /// All public names of the module.
    Wildcard,
}

/// A namespace of a part of a file, by its whole name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Namespace {
    pub name: Str,
    pub range: Range,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ModuleDecl {
    /// The inline module it stands in.
    pub owner: Option<DeclId>,
    pub name: Str,
    /// `#[path = "..."]`.
    pub file: Option<Str>,
    pub public: bool,
    /// Behind `#[cfg(test)]`.
    pub test: bool,
    pub position: Position,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Return {
    pub decl: DeclId,
    pub expr: ExprId,
    pub kind: ReturnKind,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum ReturnKind {
    Return,
    Yield,
}

/// Where a program reaches outside itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Site {
    pub decl: Option<DeclId>,
    pub kind: SiteKind,
    /// The literal name, or none when it is computed.
    pub name: Option<Str>,
    pub position: Position,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum SiteKind {
    ReadsEnv,
    StartsProcess,
}

/// What a project file says about packages, where their sources are and what they depend on.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// Name of the package it declares.
    pub package: Option<String>,
    /// Directories of workspace members, relative to the file, globs allowed; `!x` leaves one out.
    pub members: Vec<String>,
    pub dependencies: Vec<Dependency>,
    /// Directories, relative to the file, under which importable modules lie.
    pub source_roots: Vec<String>,
    pub targets: Vec<ManifestTarget>,
    /// Names of modules and the paths they stand for, relative to the file; `*` in both is the same text.
    pub aliases: Vec<PathAlias>,
    /// Project files, relative to this one or by package, whose statements hold here too.
    pub extends: Vec<String>,
    /// What stands for packages of a registry in all of the workspace.
    pub patches: Vec<Patch>,
}

/// A directory, relative to the file, in the place of a package.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Patch {
    pub package: String,
    pub path: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PathAlias {
    pub pattern: String,
    /// In order of preference.
    pub targets: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Dependency {
    /// The name code uses (`foo-bar` is imported as `foo_bar`).
    pub name: String,
    /// The package, when it is called otherwise.
    pub package: Option<String>,
    pub version: Option<String>,
    /// Directory relative to the file.
    pub path: Option<String>,
    /// Stated by the workspace root.
    pub from_workspace: bool,
    /// Stated in `[workspace.dependencies]`: a template for members, not a dependency of this package.
    pub for_workspace: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ManifestTarget {
    pub kind: TargetKind,
    pub name: Option<String>,
    /// Source file relative to the manifest.
    pub path: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum TargetKind {
    Library,
    Binary,
    Test,
    Example,
    Bench,
    BuildScript,
}

/// A relation between two things, at least one of which the file itself speaks of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Link {
    pub from: LinkEnd,
    pub to: LinkEnd,
    pub kind: EdgeKind,
    pub certainty: Certainty,
    pub position: Position,
}

/// How a relation is known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Certainty {
    /// The file states it.
    Declared,
    /// A recognised pattern in code.
    Pattern,
    /// As a pattern, and a sure one: environment, processes.
    SurePattern,
    /// A text names it.
    Mentioned,
    /// A text names it, written as code.
    Quoted,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum LinkEnd {
    /// This file.
    File,
    Decl(DeclId),
    /// The file at a path from the top of the repository.
    Path(Str),
    /// The directory at a path from the top of the repository; `.` is the top.
    Directory(Str),
    /// A thing without a place in the repository: what it is says the first part of its name.
    Outside {
        kind: NodeKind,
        container: Str,
        name: Str,
    },
    /// What a file offers under a name: this file, else the only one of the directory, else the only one there is.
    Offered {
        space: Str,
        name: Str,
    },
    /// A symbol of code by the end of its name, when there is one alone.
    Symbol(Str),
    /// A route by method and pattern, when there is one alone.
    Route {
        method: Str,
        pattern: Str,
    },
    /// A program of the project: `name`; `.`, that of the own package; `/path/from/top` or `path/from/somewhere/above` of a
    /// script or of a package that becomes one; `=/path/from/top` of a script that a project file names; `-m module`. There may
    /// be none.
    Program(Str),
}

/// A declaration and the name by which other files mean it. Spaces keep names of different things apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Offer {
    pub space: Str,
    pub name: Str,
    pub decl: DeclId,
}

/// One method and pattern that is answered by code.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Route {
    /// The declaration it is registered in; none at the top of the file.
    pub decl: Option<DeclId>,
    /// In capitals; `ANY` where all are answered.
    pub method: Str,
    /// What is written in this file, prefixes of this file joined, parameters as `{name}`; none when it is computed.
    pub pattern: Option<Str>,
    /// The pattern as written.
    pub written: Str,
    pub router: Router,
    /// The router is known to be one from this file alone.
    pub verified: bool,
    pub handler: Handler,
    pub position: Position,
    /// What the pattern is handed to: there is a route if that registers it.
    pub through: Option<Through>,
}

/// A callable that is handed a pattern, and the argument that it is. The router is the argument before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Through {
    pub callee: ExprId,
    pub argument: u8,
    /// What stands before the router in this file.
    pub prefix: Str,
}

/// What serves a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Handler {
    Decl(DeclId),
    /// A function or class.
    Value(ExprId),
    /// A method of the class that an expression names, or else of the class that a file holds.
    Method {
        of: ExprId,
        name: Str,
        file: Option<Str>,
    },
    /// What a call gives: the function that is passed to it, where it is one (`auth(show)`), else what is called
    /// (`makeShow(store)`).
    Made {
        by: ExprId,
        with: Option<ExprId>,
    },
    /// Without a name of its own.
    Inline,
    /// A promise: what serves it is registered elsewhere, under the same method and pattern.
    Contract,
}

/// What routes are registered with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Router {
    /// Nothing that could stand below something else.
    Root,
    /// What an expression names: a variable, a field.
    Value(ExprId),
    /// A parameter of a callable of this file, by its place behind the receiver.
    Parameter(DeclId, u8),
    /// What a callable of this file gives back.
    Result(DeclId),
    /// Parameter of the callable that an expression names.
    ParameterOf(ExprId, u8),
    /// What a call of the callable that an expression names gives.
    ResultOf(ExprId),
    /// All of this file.
    File,
    /// All of a module, by its dotted name.
    Module(Str),
    /// A class of this file: its methods register.
    Decl(DeclId),
    /// The application of a framework that a file belongs to: the one that starts nearest above it. What stands behind a
    /// `:` is a version. As a child it is the application that starts in this file.
    Application(Str),
    /// Where the callable that an expression names mounts its parameter.
    Handed(ExprId, u8),
}

/// A router below another one, or what a router has before all its patterns.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mount {
    pub decl: Option<DeclId>,
    pub child: Router,
    /// None: the prefix is the router's own, given when it was made.
    pub parent: Option<Router>,
    pub prefix: Str,
    /// The prefix stands in place of the router's own.
    pub replaces: bool,
    /// Patterns that do not stand behind the prefix.
    pub except: Vec<Str>,
    /// Paths that are handed over with a router: the argument and its text.
    pub handed: Vec<(u8, Str)>,
}

/// Stands around the number of an expression in a pattern or prefix: the text of the constant that it names.
pub const HOLE: char = '\u{1}';

/// Stands before the number in a hole that may be left empty where nothing is known of it.
pub const LENIENT: char = '~';

/// What a constant is set to, as a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Constant {
    pub decl: DeclId,
    pub text: Str,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AskedVersion {
    /// By ecosystem and name: `npm/react`.
    pub package: Str,
    /// As written: `^18.2`, `>= 2, < 3`.
    pub version: Str,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OwnerRule {
    pub pattern: Str,
    /// Nobody, where the rule takes paths out.
    pub owners: Vec<Str>,
    pub position: Position,
}
