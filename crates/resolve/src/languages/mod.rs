//! What each language means by its names: modules, imports, member order, the standard library.

pub(crate) mod cpp;
pub(crate) mod csharp;
pub(crate) mod go;
pub(crate) mod java;
pub(crate) mod kotlin;
pub(crate) mod nominal;
pub(crate) mod php;
pub(crate) mod programs;
pub(crate) mod python;
pub(crate) mod ruby;
pub(crate) mod rust;
pub(crate) mod typescript;

use knowing_model::NodeKind;
use knowing_model::facts::{BaseRole, DeclId, ExprId, Import, Literal, TypeId};

use crate::again::{FileDigest, Notary};
use crate::derive::DerivedEdge;
use crate::evaluate::{Evaluator, Frame};
use crate::names::Name;
use crate::value::{External, Value};
use crate::world::{Def, Update, World};

use self::cpp::CppUnits;
use self::csharp::CsharpNamespaces;
use self::go::{Fulfilments, GoPackages};
use self::java::Jvm;
use self::php::PhpNames;
use self::python::PythonModules;
use self::ruby::RubyModules;
use self::rust::RustCrates;
use self::typescript::TypeScriptModules;

/// Where each language finds its modules, packages and types by name: made once, before anything is resolved.
#[derive(Default)]
pub(crate) struct Modules {
    pub(crate) cpp: CppUnits,
    pub(crate) csharp: CsharpNamespaces,
    pub(crate) go: GoPackages,
    pub(crate) jvm: Jvm,
    pub(crate) php: PhpNames,
    pub(crate) python: PythonModules,
    pub(crate) ruby: RubyModules,
    pub(crate) rust: RustCrates,
    pub(crate) typescript: TypeScriptModules,
}

impl Modules {
    pub(crate) fn new(world: &World<'_>) -> Modules {
        Modules::with_go(world, GoPackages::new(world))
    }

    fn with_go(world: &World<'_>, go: GoPackages) -> Modules {
        let has = |languages: &[&str]| !world.files_of(languages).is_empty();
        Modules {
            cpp: CppUnits::new(world),
            csharp: CsharpNamespaces::new(world),
            go,
            jvm: if has(&["java", "kotlin"]) { Jvm::new(world) } else { Jvm::default() },
            php: PhpNames::new(world),
            python: PythonModules::new(world),
            ruby: RubyModules::new(world),
            rust: if has(&["rust"]) { RustCrates::new(world) } else { RustCrates::default() },
            typescript: TypeScriptModules::new(world),
        }
    }

    /// As `new`, from the tables of the run before.
    pub(crate) fn renewed(self, world: &World<'_>, update: &Update<'_>) -> Modules {
        Modules::with_go(world, self.go.renewed(world, update))
    }

    /// What the tables of languages that note their look-ups answer. Go's are asked by themselves, package by package.
    pub(crate) fn answers(&self, world: &World<'_>, notary: &mut Notary<'_>) {
        self.cpp.answers(world, notary);
        self.csharp.answers(world, notary);
        self.jvm.packages.answers(world, notary);
        self.php.answers(notary);
        self.python.answers(notary);
        self.ruby.answers(world, notary);
        self.rust.answers(world, notary);
        self.typescript.answers(world, notary);
    }

    /// Types that are declared in several places and are one for member lookup (partial, reopened, merged), each with
    /// all its parts in the order of files and lines. A declaration stands in one group at most.
    pub(crate) fn types_in_parts(&self) -> Vec<Vec<Def>> {
        [
            self.csharp.types_in_parts(),
            self.jvm.packages.types_in_parts(),
            self.ruby.types_in_parts(),
            self.typescript.types_in_parts(),
        ]
        .concat()
    }
}

/// What the shared evaluator asks of a language. Values are what `value.rs` says; `Unknown` is always a right answer,
/// a wrong one never is. A file without code has rules that know nothing: the defaults.
#[expect(unused_variables, reason = "the defaults know nothing, whatever is asked")]
pub(crate) trait Rules: Sync {
    /// A name that no enclosing callable binds: what the module (`decl`, none for the file) or the prelude says.
    fn free_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        space: Space,
    ) -> Value {
        Value::Unknown
    }

    /// A word with a meaning of its own where it stands: `Self`, `crate`, a type parameter.
    fn special_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        space: Space,
    ) -> Option<Value> {
        None
    }

    /// What a wildcard import makes of a name; `Missing` when it does not bring it.
    fn offered(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        import: &Import,
        name: Name,
        space: Space,
    ) -> Value {
        Value::Missing
    }

    /// Where a call of this value goes when it is an instance.
    fn call_operator(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        Value::Unknown
    }

    /// The file a module or declaration stands in.
    fn file_of(&self, ev: &Evaluator<'_>, value: &Value) -> Option<u32> {
        match value {
            Value::Def(def) => Some(ev.world.file_of(*def)),
            _ => None,
        }
    }

    /// Any file of the directory that a module is, where modules are directories.
    fn directory_of(&self, ev: &Evaluator<'_>, value: &Value) -> Option<u32> {
        None
    }

    /// Whether calling this converts a value to a type: a use of the type, and no call.
    fn is_conversion(&self, ev: &Evaluator<'_>, callee: &Value) -> bool {
        false
    }

    /// Whether a name bound anywhere in a callable is that callable's name everywhere in it (no block scopes).
    fn binds_whole_callable(&self) -> bool {
        true
    }

    /// Whether blocks and nameless functions at the top of a file have names of their own.
    fn has_blocks_at_top(&self) -> bool {
        false
    }

    /// Whether a variable or field is an object with members of its own, and so its own value.
    fn is_object(&self, ev: &Evaluator<'_>, def: Def) -> bool {
        false
    }

    /// Whether code that stands directly in a type sees the type's members by their bare names.
    fn type_body_is_scope(&self) -> bool {
        false
    }

    /// Whether a base of this role is named in the body of a type, where what the type declares is seen.
    fn writes_inside(&self, role: BaseRole) -> bool {
        false
    }

    /// Whether types of the language may be declared in several parts.
    fn has_types_in_parts(&self) -> bool {
        false
    }

    /// Whether the language's tables note what is asked of them (`reads::note`) and say what they answer
    /// (`Modules::answers`). Else a change of what they are made of concerns every file of the language.
    fn notes_tables(&self) -> bool {
        false
    }

    /// Whether the shape of a file (`again/shape.rs`) says all that tables take from it. A change of any other file reaches
    /// everything.
    fn has_shape(&self) -> bool {
        true
    }

    /// Whether all that is found out for a file is noted, also what is asked before files are resolved: where imports lead,
    /// what overrides what. Else that is found out anew at every run.
    fn notes_parts(&self) -> bool {
        false
    }

    /// A digest of what the tables take from a file, where they do not note what is asked: everything, unless a language
    /// knows better.
    fn tables(&self, file: &FileDigest<'_>) -> u64 {
        file.as_written()
    }

    /// What a bare name means in the body of a type's members: a member of that type, inherited ones too. Asked for
    /// each type around the code, from the innermost outwards; `Missing` sends the search further out.
    fn bare_member(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        type_: Def,
        name: Name,
        space: Space,
    ) -> Value {
        Value::Missing
    }

    /// Whether code at the top of a file has variables, which callables below it may see.
    fn top_is_scope(&self) -> bool {
        false
    }

    /// Whether reading a property is calling it, so that what it gives is not what is called.
    fn calls_properties(&self) -> bool {
        false
    }

    /// Whether a module has members that values get, as a type has.
    fn has_member_modules(&self) -> bool {
        false
    }

    /// Whether a decorator is a call in the body of what it decorates.
    fn decorates_from_inside(&self) -> bool {
        false
    }

    /// Whether this word stands for the receiver itself, whose members are known or not, but never guessed.
    fn names_receiver(&self, word: &str) -> bool {
        false
    }

    /// What an import binds its name to.
    fn imported_value(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import, space: Space) -> Value {
        Value::Unknown
    }

    /// Files that an import brings names of into reach, without loading any of them by itself.
    fn reached_files(&self, ev: &Evaluator<'_>, frame: Frame, import: &Import) -> Vec<u32> {
        Vec::new()
    }

    /// The files an import loads.
    fn imported_module(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import) -> Value {
        Value::Unknown
    }

    /// The variable that a written type names where it does not name the type itself: `Alias = Other`.
    fn alias_in_type(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
    ) -> Option<Def> {
        None
    }

    /// What a written type names: the type itself.
    fn type_entity(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
    ) -> Value {
        Value::Unknown
    }

    /// What a written type says a value is: an instance of it.
    fn typed(&self, ev: &mut Evaluator<'_>, frame: Frame, decl: Option<DeclId>, type_: TypeId) -> Value {
        Value::Unknown
    }

    /// The type that an `impl` block, or a receiver, is for.
    fn implemented(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
    ) -> Value {
        self.type_entity(ev, frame, decl, type_)
    }

    /// The instance a method is called on, seen from inside.
    fn receiver(&self, ev: &mut Evaluator<'_>, frame: Frame, method: Def) -> Value {
        Value::Unknown
    }

    /// `of.name`, one alternative at a time. Gives declarations, not yet what they hold.
    fn member(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name) -> Value {
        Value::Unknown
    }

    /// Whether fields and methods have names of their own, so that `of.name()` never calls what a field holds.
    fn has_methods_apart(&self) -> bool {
        false
    }

    /// What `of.name()` calls, one alternative at a time; asked where methods are apart.
    fn method(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name) -> Value {
        self.member(ev, frame, of, name)
    }

    /// What a bare name means that is called, where callables have names of their own; none to look it up as any other.
    fn called_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        at: u32,
    ) -> Option<Value> {
        None
    }

    /// What a lambda gets as its parameter, by the call it is passed to.
    fn given(&self, ev: &mut Evaluator<'_>, frame: Frame, given: Given) -> Value {
        Value::Unknown
    }

    /// What a parameter of the called takes, or puts out.
    fn for_parameter(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite, argument: u8) -> Value {
        Value::Unknown
    }

    /// Of several callables of one name those that a call means, where the language has rules of its own.
    fn meant(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite, all: &[Def]) -> Option<Value> {
        None
    }

    /// What a field or property holds in what `of` (`CallSite::callee`) stands for, where that says more than its own
    /// declaration: type arguments.
    fn held_by(&self, ev: &mut Evaluator<'_>, frame: Frame, of: CallSite, def: Def) -> Option<Value> {
        None
    }

    /// Whether a value can be passed where `target` is asked for; what tells overloads apart.
    fn fits(&self, ev: &mut Evaluator<'_>, frame: Frame, value: &Value, target: &Value) -> Fit {
        Fit::Unknown
    }

    /// How many parameters a lambda has that can be passed where `target` is asked for.
    fn lambda_arity(&self, ev: &mut Evaluator<'_>, frame: Frame, target: &Value) -> Option<u8> {
        None
    }

    /// Whether a call of this declaration is a call of it, and not of what it holds.
    fn is_called(&self, world: &World<'_>, def: Def) -> bool {
        let kind = world.kind(def);
        kind.is_callable()
            || kind.is_type_like()
            || kind == NodeKind::EnumMember
            || kind == NodeKind::Property && self.calls_properties()
    }

    /// Whether a member that is defined outside of its type sees the type's members by their bare names.
    fn has_bare_members(&self) -> bool {
        false
    }

    /// What a call calls whose callee was found to be `value`, where that is not all: the constructors of a type, what
    /// is found by the arguments.
    fn called_with(&self, ev: &mut Evaluator<'_>, frame: Frame, value: &Value, site: CallSite) -> Value {
        value.clone()
    }

    /// Where what is only declared is defined, as the file `from` has it linked.
    fn definition(&self, world: &World<'_>, from: u32, def: Def) -> Def {
        def
    }

    /// Whether a member overrides one of the same name of a type above.
    fn overrides(&self, world: &World<'_>, below: Def, above: Def) -> bool {
        true
    }

    /// Whether what a type extends and what it fulfils are written alike.
    fn lists_bases_together(&self) -> bool {
        false
    }

    /// Whether a type has no members but those that are declared: then one that is missing is nowhere else.
    fn has_closed_types(&self) -> bool {
        false
    }

    /// `of::name`, one alternative at a time.
    fn scoped(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name, space: Space) -> Value {
        Value::Unknown
    }

    /// What calling gives, one alternative at a time.
    fn called(&self, ev: &mut Evaluator<'_>, frame: Frame, callee: &Value, site: CallSite) -> Value {
        Value::Unknown
    }

    /// What iterating gives.
    fn element(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        Value::Unknown
    }

    /// What an index in brackets gives.
    fn indexed(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        Value::Unknown
    }

    /// Item `index` of a destructured value.
    fn item(&self, ev: &mut Evaluator<'_>, of: &Value, index: u32) -> Value {
        match of {
            Value::Tuple(items) => items.get(index as usize).cloned().unwrap_or(Value::Unknown),
            _ => Value::Unknown,
        }
    }

    /// What `with of as` binds.
    fn entered(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        Value::Unknown
    }

    /// What awaiting a value gives that is neither the result of an `async` callable nor from outside.
    fn awaited(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        Value::Unknown
    }

    /// `of?`.
    fn tried(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        Value::Unknown
    }

    /// A field of what a pattern matched.
    fn payload(&self, ev: &mut Evaluator<'_>, frame: Frame, payload: Payload<'_>) -> Value {
        Value::Unknown
    }

    fn literal(&self, ev: &Evaluator<'_>, literal: Literal) -> Value {
        Value::Unknown
    }

    /// Members that values of standard types have: too common to guess an owner by.
    fn is_common_member(&self, name: &str) -> bool {
        true
    }

    /// First part, container and symbol of an external's name.
    fn external_name(&self, ev: &Evaluator<'_>, external: &External) -> ExternalName {
        ExternalName { repo: "external", container: "?".into(), symbol: String::new() }
    }
}

/// Which of a language's name spaces is looked in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Space {
    Type,
    Value,
    Macro,
}

/// The call whose result is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallSite {
    pub(crate) callee: ExprId,
    pub(crate) decl: Option<DeclId>,
}

/// A parameter of a lambda that is an argument of the call of `callee`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    pub(crate) decl: Option<DeclId>,
    pub(crate) callee: ExprId,
    pub(crate) argument: u8,
    pub(crate) parameter: u8,
}

/// How well a value suits a parameter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Fit {
    /// It is of the very type.
    Exact,
    /// As it is: the target is above its type.
    Plain,
    /// After a conversion that is tried last: boxing.
    Converted,
    No,
    Unknown,
}

/// `Some(x)` matched against `of`: `variant` is the written path, `field` is `0`.
#[derive(Clone, Copy)]
pub(crate) struct Payload<'a> {
    pub(crate) decl: Option<DeclId>,
    pub(crate) of: &'a Value,
    pub(crate) variant: TypeId,
    pub(crate) field: Name,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ExternalName {
    /// `stdlib` or `external`.
    pub(crate) repo: &'static str,
    pub(crate) container: String,
    pub(crate) symbol: String,
}

struct Plain;

impl Rules for Plain {
    fn notes_tables(&self) -> bool {
        true
    }
}

pub(crate) fn rules_of(language: &str) -> &'static dyn Rules {
    match language {
        "c" | "cpp" => &cpp::Cpp,
        "csharp" => &csharp::Csharp,
        "go" => &go::Go,
        "java" => &java::Java,
        "kotlin" => &kotlin::Kotlin,
        "php" => &php::Php,
        "python" => &python::Python,
        "ruby" => &ruby::Ruby,
        "rust" => &rust::Rust,
        "typescript" => &typescript::TypeScript,
        _ => &Plain,
    }
}

/// Words the rules look for, so that they are names even where no file uses them.
pub(crate) fn vocabulary() -> impl Iterator<Item = &'static str> {
    cpp::vocabulary()
        .chain(csharp::vocabulary())
        .chain(go::vocabulary())
        .chain(java::vocabulary())
        .chain(kotlin::vocabulary())
        .chain(php::vocabulary())
        .chain(python::vocabulary())
        .chain(ruby::vocabulary())
        .chain(rust::vocabulary())
        .chain(typescript::vocabulary())
}

/// Relations that follow from all files together by rules of one language.
#[derive(Default)]
pub(crate) struct Relations {
    go: Fulfilments,
}

impl Relations {
    pub(crate) fn new(world: &World<'_>) -> Relations {
        Relations { go: Fulfilments::new(world) }
    }

    /// As `new`, from those of the run before.
    pub(crate) fn renewed(self, world: &World<'_>, update: &Update<'_>) -> Relations {
        Relations { go: self.go.renewed(world, update) }
    }

    pub(crate) fn edges(&self) -> impl Iterator<Item = DerivedEdge> {
        self.go.edges()
    }
}
