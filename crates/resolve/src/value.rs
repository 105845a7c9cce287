//! What an expression can stand for, as far as names and types tell.

use std::sync::Arc;

use crate::names::Name;
use crate::world::{Def, ModuleId};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    /// Nothing is known.
    Unknown,
    /// Looked for where it must be, and not there.
    Missing,
    /// `None`, `()`: known to be nothing one can call.
    Nothing,
    /// A declaration itself: a class, a function, a field, a module-level variable.
    Def(Def),
    /// A value of a project type, with its written type arguments.
    Instance(Def, Arguments),
    /// A module of the project.
    Module(ModuleId),
    /// Something outside by its name.
    External(External),
    /// A value of a named type from outside.
    ExternalInstance(External, Arguments),
    /// What something outside gave: a value of a type nobody here can name.
    ExternalResult,
    /// A value that fulfils these interfaces: a type parameter, `dyn A + B`.
    Bounded(Arguments),
    Tuple(Arguments),
    /// What can be iterated over, and what that gives.
    Iterable(Arc<Value>),
    /// A function value without a declaration, and what it gives.
    Function(Arc<Value>),
    /// What has to be awaited, and then gives this.
    Awaitable(Arc<Value>),
    /// Members are looked for behind this class in its method order.
    Super(Def),
    /// Callables of one name in one type: which of them is meant depends on what it is called with.
    Overloads(Arc<[Def]>),
    /// One of several; `Unknown` among them makes what is found uncertain.
    OneOf(Arguments),
}

pub(crate) type Arguments = Arc<[Value]>;

/// A thing outside the repository, by path: `os path join`, `std collections HashMap new`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct External {
    pub(crate) origin: Origin,
    pub(crate) path: Arc<[Name]>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Origin {
    StandardLibrary,
    ThirdParty,
}

impl External {
    pub(crate) fn new(origin: Origin, path: &[Name]) -> External {
        External { origin, path: path.into() }
    }

    pub(crate) fn member(&self, name: Name) -> External {
        let path = self.path.iter().copied().chain([name]).collect();
        External { origin: self.origin, path }
    }

    pub(crate) fn last(&self) -> Option<Name> {
        self.path.last().copied()
    }
}

impl Value {
    /// No arguments, as most values have. Each thread shares its own: nothing is allocated, and threads do not wait for each
    /// other's counts.
    pub(crate) fn none() -> Arguments {
        thread_local! {
            static NONE: Arguments = Arc::from([]);
        }
        NONE.with(Arc::clone)
    }

    pub(crate) fn arguments(values: Vec<Value>) -> Arguments {
        if values.is_empty() { Value::none() } else { values.into() }
    }

    pub(crate) fn instance(def: Def) -> Value {
        Value::Instance(def, Value::none())
    }

    pub(crate) fn is_known(&self) -> bool {
        !matches!(self, Value::Unknown | Value::Missing | Value::Nothing)
    }

    /// The value of the first of several branches that is known, or all of them when they differ. `Nothing` is
    /// dropped where there is anything else; `Unknown` stays beside what is known, as doubt.
    pub(crate) fn join(values: impl IntoIterator<Item = Value>) -> Value {
        let mut kept: Vec<Value> = Vec::new();
        let mut nothing = false;
        let mut doubt = false;
        for value in values {
            match value {
                Value::OneOf(parts) => {
                    for part in parts.iter() {
                        if *part == Value::Unknown {
                            doubt = true;
                        } else if !kept.contains(part) {
                            kept.push(part.clone());
                        }
                    }
                }
                Value::Nothing => nothing = true,
                Value::Unknown | Value::Missing => doubt = true,
                value if kept.contains(&value) => {}
                value => kept.push(value),
            }
        }
        // More than a handful of alternatives is no knowledge.
        if kept.len() > 8 {
            return Value::Unknown;
        }
        match (kept.len(), doubt) {
            (0, true) => Value::Unknown,
            (0, false) if nothing => Value::Nothing,
            (0, false) => Value::Unknown,
            (1, false) => kept.remove(0),
            (_, doubt) => {
                if doubt {
                    kept.push(Value::Unknown);
                }
                Value::OneOf(kept.into())
            }
        }
    }

    /// The alternatives, one for most values.
    pub(crate) fn parts(&self) -> &[Value] {
        match self {
            Value::OneOf(parts) => parts,
            one => std::slice::from_ref(one),
        }
    }

    /// Applies `f` to each alternative.
    pub(crate) fn map(&self, mut f: impl FnMut(&Value) -> Value) -> Value {
        match self {
            Value::OneOf(parts) => Value::join(parts.iter().map(f)),
            one => f(one),
        }
    }

    /// The `index`-th written type argument.
    pub(crate) fn argument(&self, index: usize) -> Value {
        match self {
            Value::Instance(_, arguments)
            | Value::ExternalInstance(_, arguments)
            | Value::Tuple(arguments) => arguments.get(index).cloned().unwrap_or(Value::Unknown),
            _ => Value::Unknown,
        }
    }
}
