//! What one file answers by itself: keys and digests of the answers.

use std::sync::Arc;

use super::digest::FileDigest;
use super::keys::{self, Door, mix};
use crate::languages;
use crate::world::{is_companion, is_member};
use knowing_model::facts::{Binding, BindingTarget, DeclId, FileFacts, Import, ImportKind};

/// Answers under their keys, in ascending order of keys.
#[derive(Clone, Default)]
pub(crate) struct Answers(Arc<[(u32, u64)]>);

impl Answers {
    /// Answers under one key are joined in the order in which they come.
    pub(super) fn new(mut answers: Vec<(u32, u64)>) -> Answers {
        answers.sort_by_key(|it| it.0);
        answers.dedup_by(|later, first| {
            let is_same = later.0 == first.0;
            if is_same {
                first.1 = mix(first.1, later.1);
            }
            is_same
        });
        Answers(answers.into())
    }

    pub(super) fn as_slice(&self) -> &[(u32, u64)] {
        &self.0
    }

    pub(crate) fn into_inner(self) -> Arc<[(u32, u64)]> {
        self.0
    }

    /// Tells the keys to which `self` and `other`, which is in this very order, give different answers.
    pub(super) fn differences(&self, other: &[(u32, u64)], tell: &mut impl FnMut(u32)) {
        if std::ptr::eq(self.as_slice(), other) {
            return;
        }
        let (mut one, mut two) = (self.as_slice(), other);
        while let (Some(first), Some(second)) = (one.first(), two.first()) {
            if first == second {
                (one, two) = (&one[1..], &two[1..]);
            } else if first.0 <= second.0 {
                tell(first.0);
                one = &one[1..];
            } else {
                tell(second.0);
                two = &two[1..];
            }
        }
        one.iter().chain(two).for_each(|it| tell(it.0));
    }
}

/// What a version of a file answers, other than `Door::File` and `Door::Word`.
pub(super) fn provided(digest: &FileDigest<'_>) -> Answers {
    provided_less(digest, |_| false)
}

/// As `provided`, without the bindings that are `hidden`.
pub(super) fn provided_less(digest: &FileDigest<'_>, hidden: impl Fn(&Binding) -> bool) -> Answers {
    let facts = digest.facts;
    let rules = languages::rules_of(&facts.language);
    let mut provided = Provided { digest, answers: Vec::new(), in_scopes: Vec::new() };
    provided.top();
    for (index, decl) in (0..).zip(&facts.decls) {
        let header = mix(digest.of(decl), digest.decl(DeclId(index)));
        let hash = keys::decl(digest.file, facts.text(decl.path));
        provided.push(Door::Decl, hash, header);
        if decl.implementation.is_none() {
            provided.in_scope(decl.owner, facts.text(decl.name), decl.range.from, header);
        }
        if let Some(owner) = decl.owner.filter(|_| is_companion(decl)) {
            let hash = keys::decl(digest.file, facts.text(facts.decl(owner).path));
            provided.push(Door::Decl, hash, header);
        }
        if is_member(rules, facts, decl) {
            let answer = mix(hash, u64::from(decl.kind.id()));
            provided.push_named(Door::Members, 0, facts.text(decl.name), answer);
        }
    }
    for binding in facts.bindings.iter().filter(|it| !hidden(it)) {
        match binding.target {
            BindingTarget::Name(name) => {
                let from = binding.visible.from;
                provided.in_scope(binding.decl, facts.text(name), from, digest.of(binding));
            }
            BindingTarget::Field(field) => {
                let hash = keys::decl(digest.file, facts.text(facts.decl(field).path));
                provided.push(Door::Decl, hash, digest.of(binding));
            }
        }
    }
    for module in &facts.modules {
        provided.in_scope(module.owner, facts.text(module.name), 0, digest.of(module));
    }
    for import in &facts.imports {
        if let Some(name) = bound_by(facts, import) {
            let namespace = digest.of(&facts.namespace_at(import.visible.from));
            provided.in_scope(import.decl, name, import.visible.from, mix(digest.of(import), namespace));
        }
    }
    for given in &facts.returns {
        let hash = keys::decl(digest.file, facts.text(facts.decl(given.decl).path));
        provided.push(Door::Body, hash, digest.of(given));
    }
    // What a scope binds a name to is read in the order in which it begins to hold.
    provided.in_scopes.sort_by_key(|it| (it.0, it.1));
    provided.answers.extend(provided.in_scopes.iter().map(|it| (it.0, it.2)));
    Answers::new(provided.answers)
}

fn bound_by<'a>(facts: &'a FileFacts, import: &Import) -> Option<&'a str> {
    match import.kind {
        ImportKind::Module { alias } | ImportKind::Member { alias, .. } => Some(facts.text(alias)),
        ImportKind::TopModule => import.module.first().map(|it| facts.text(*it)),
        ImportKind::Wildcard => None,
    }
}

fn named(door: Door, of: u64, name: &str) -> u32 {
    keys::cut(mix(keys::through(door, of), keys::name(name)))
}

struct Provided<'d> {
    digest: &'d FileDigest<'d>,
    answers: Vec<(u32, u64)>,
    /// Key, where it begins to hold, answer.
    in_scopes: Vec<(u32, u32, u64)>,
}

impl Provided<'_> {
    fn push(&mut self, door: Door, of: u64, answer: u64) {
        self.answers.push((keys::cut(keys::through(door, of)), answer));
    }

    fn push_named(&mut self, door: Door, of: u64, name: &str, answer: u64) {
        self.answers.push((named(door, of, name), answer));
    }

    fn in_scope(&mut self, scope: Option<DeclId>, name: &str, from: u32, answer: u64) {
        let digest = self.digest;
        let scope = scope
            .map_or(digest.file, |it| keys::decl(digest.file, digest.facts.text(digest.facts.decl(it).path)));
        self.in_scopes.push((named(Door::Scope, scope, name), from, answer));
    }

    fn top(&mut self) {
        let digest = self.digest;
        let facts = digest.facts;
        self.push(Door::Top, digest.file, digest.of(&facts.exports));
        for import in facts.imports.iter().filter(|it| it.kind == ImportKind::Wildcard) {
            self.push(Door::Top, digest.file, digest.of(import));
        }
    }
}
