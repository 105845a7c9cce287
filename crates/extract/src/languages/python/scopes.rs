//! Which names a scope binds.
//!
//! A name that is assigned anywhere in a function is local in all of it, so whether a use means something outside is
//! known at the end of the file only. Class scopes are not seen from the functions inside.

use knowing_model::facts::{DeclId, Str};
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ScopeId(u32);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ScopeKind {
    Module,
    Class,
    /// A function or a lambda.
    Function,
    Comprehension,
}

/// What a name stands for in a scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bound {
    Variable,
    /// A function, a class or an import.
    Symbol,
    /// `global x`.
    Global,
    /// `nonlocal x`.
    Nonlocal,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    pub(super) kind: ScopeKind,
    pub(super) parent: Option<ScopeId>,
    /// The declaration whose body it is, or that it stands in.
    pub(super) decl: Option<DeclId>,
    /// Where names of it end.
    pub(super) end: u32,
    /// The name of the first parameter of a method, and the class.
    pub(super) receiver: Option<(Str, DeclId)>,
    /// What matters about the class, in class scopes.
    pub(super) class: ClassTraits,
}

#[derive(Clone, Copy, Default, Debug)]
pub(super) struct ClassTraits {
    pub(super) is_enum: bool,
    /// Its methods named `test...` are tests.
    pub(super) has_tests: bool,
}

#[derive(Default)]
pub(super) struct Scopes {
    list: Vec<Scope>,
    names: FxHashMap<(u32, Str), Bound>,
}

impl Scopes {
    pub(super) fn open(&mut self, scope: Scope) -> ScopeId {
        self.list.push(scope);
        ScopeId(u32::try_from(self.list.len() - 1).unwrap_or(u32::MAX))
    }

    pub(super) fn at(&self, id: ScopeId) -> Scope {
        self.list[id.0 as usize]
    }

    /// From here on `name` is the instance (or the class) that the scope's method was called on.
    pub(super) fn set_receiver(&mut self, scope: ScopeId, name: Str, class: DeclId) {
        self.list[scope.0 as usize].receiver = Some((name, class));
    }

    pub(super) fn bound(&self, scope: ScopeId, name: Str) -> Option<Bound> {
        self.names.get(&(scope.0, name)).copied()
    }

    /// A symbol stays one when the name is assigned too (`try: import x`, `except: x = None`).
    pub(super) fn bind(&mut self, scope: ScopeId, name: Str, bound: Bound) {
        let slot = self.names.entry((scope.0, name)).or_insert(bound);
        if bound == Bound::Symbol {
            *slot = bound;
        }
    }

    /// The scope in which an assignment binds: comprehensions have only their own targets.
    pub(super) fn assigned_in(&self, from: ScopeId, name: Str) -> ScopeId {
        let mut scope = from;
        while self.at(scope).kind == ScopeKind::Comprehension
            && let Some(parent) = self.at(scope).parent
        {
            scope = parent;
        }
        match self.bound(scope, name) {
            Some(Bound::Global) => ScopeId(0),
            Some(Bound::Nonlocal) => self.outer_function(scope, name).unwrap_or(scope),
            _ => scope,
        }
    }

    fn outer_function(&self, from: ScopeId, name: Str) -> Option<ScopeId> {
        let mut scope = self.at(from).parent;
        while let Some(id) = scope {
            let is_binder = matches!(self.bound(id, name), Some(Bound::Variable | Bound::Symbol));
            if self.at(id).kind == ScopeKind::Function && is_binder {
                return Some(id);
            }
            scope = self.at(id).parent;
        }
        None
    }

    /// Whether a name, used in a scope, is a variable of a function around it.
    pub(super) fn is_local_variable(&self, from: ScopeId, name: Str) -> bool {
        let mut scope = Some(from);
        while let Some(id) = scope {
            let it = self.at(id);
            let is_seen = it.kind != ScopeKind::Class || id == from;
            match self.bound(id, name) {
                Some(Bound::Global) => return false,
                Some(Bound::Symbol) if is_seen => return false,
                Some(Bound::Variable) if is_seen => {
                    return matches!(it.kind, ScopeKind::Function | ScopeKind::Comprehension);
                }
                _ => scope = it.parent,
            }
        }
        false
    }

    /// The class whose method has this name as its receiver, here or around.
    pub(super) fn receiver(&self, from: ScopeId, name: Str) -> Option<DeclId> {
        let mut scope = Some(from);
        while let Some(id) = scope {
            let it = self.at(id);
            match it.receiver {
                Some((receiver, class)) if receiver == name => return Some(class),
                _ if self.bound(id, name).is_some() => return None,
                _ => scope = it.parent,
            }
        }
        None
    }
}
