//! Which names a scope binds: files, namespaces, functions and blocks.
//!
//! `var` and functions are known before they stand, and closures are read before what they use, so whether a use means
//! something outside is known at the end of the file only.

use knowing_model::Range;
use knowing_model::facts::{DeclId, Str};
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct ScopeId(u32);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ScopeKind {
    /// The file or a namespace: its variables are declarations.
    Module,
    Class,
    Function,
    Block,
}

/// What a name stands for in a scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bound {
    /// A variable or parameter without a declared type.
    Variable,
    /// A variable or parameter whose type is declared: what is assigned says no more.
    Typed,
    /// A declaration or an import.
    Symbol,
}

/// What `this` is in a scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum This {
    /// What it is around: blocks and arrow functions.
    Inherited,
    /// The instance, class or object of this declaration.
    Of(DeclId),
    Unknown,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    pub(super) kind: ScopeKind,
    pub(super) parent: Option<ScopeId>,
    /// The declaration whose body it is, or that it stands in.
    pub(super) decl: Option<DeclId>,
    /// Whether it is all of that declaration's (or the file's) body, not a part of it.
    pub(super) is_whole: bool,
    pub(super) range: Range,
    pub(super) this: This,
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

    pub(super) fn bound(&self, scope: ScopeId, name: Str) -> Option<Bound> {
        self.names.get(&(scope.0, name)).copied()
    }

    pub(super) fn bind(&mut self, scope: ScopeId, name: Str, bound: Bound) {
        let slot = self.names.entry((scope.0, name)).or_insert(bound);
        if bound != Bound::Variable {
            *slot = bound;
        }
    }

    /// Where `var` binds.
    pub(super) fn function_around(&self, from: ScopeId) -> ScopeId {
        let mut scope = from;
        while self.at(scope).kind == ScopeKind::Block
            && let Some(parent) = self.at(scope).parent
        {
            scope = parent;
        }
        scope
    }

    /// The scope that binds a name used here, as far as it was read.
    pub(super) fn binder(&self, from: ScopeId, name: Str) -> Option<(ScopeId, Bound)> {
        let mut scope = Some(from);
        while let Some(id) = scope {
            if let Some(bound) = self.bound(id, name) {
                return Some((id, bound));
            }
            scope = self.at(id).parent;
        }
        None
    }

    /// Whether a name, used in a scope, is a variable of a function or block around it.
    pub(super) fn is_local_variable(&self, from: ScopeId, name: Str) -> bool {
        self.binder(from, name).is_some_and(|(_, it)| it != Bound::Symbol)
    }

    /// The function whose own variables these are: closures change what others see at another time.
    pub(super) fn frame_of(&self, from: ScopeId) -> ScopeId {
        let mut scope = from;
        while !matches!(self.at(scope).kind, ScopeKind::Function | ScopeKind::Module)
            && let Some(parent) = self.at(scope).parent
        {
            scope = parent;
        }
        scope
    }

    /// The declaration whose instance (or which itself) `this` is.
    pub(super) fn this(&self, from: ScopeId) -> Option<DeclId> {
        let mut scope = Some(from);
        while let Some(id) = scope {
            let it = self.at(id);
            match it.this {
                This::Of(decl) => return Some(decl),
                This::Unknown => return None,
                This::Inherited => scope = it.parent,
            }
        }
        None
    }
}
