//! How far the change of a file reaches: what tables of all files may take from one file, as one digest.
//!
//! Two versions of a file that have the same shape declare the same, in the same order, and say the same to others: what was
//! made of all files together with the one is what would be made with the other. What stands inside of callables is no part of
//! it, but for what they give back where that is not declared, what they put into fields, and what is declared in them.

use knowing_model::facts::{Binding, BindingTarget, DeclId};
use rustc_hash::FxHashSet;

use super::digest::FileDigest;
use super::keys::mix;
use super::provided::provided_less;
use crate::languages;
use crate::links::mentioned;
use crate::world::is_prose;

/// How far the change of a file may reach into what was made of all files together; each kind further than those before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Reach {
    /// Both versions have the same shape.
    Nothing,
    /// Prose has other sections: numbers behind those of all other declarations.
    Sections,
    /// Prose mentions other names.
    Mentions,
    Everything,
}

impl Reach {
    pub(super) fn of(before: &FileDigest<'_>, after: &FileDigest<'_>) -> Reach {
        let shape_before = shape(before);
        if shape_before.is_some() && shape_before == shape(after) {
            return Reach::Nothing;
        }
        let (old, new) = (before.facts, after.facts);
        if !is_prose(old) || !is_prose(new) || (&old.language, old.flags) != (&new.language, new.flags) {
            return Reach::Everything;
        }
        if mentioned(old) == mentioned(new) { Reach::Sections } else { Reach::Mentions }
    }
}

/// None where tables may look at all of the file: routers and handlers are found wherever they are made.
fn shape(digest: &FileDigest<'_>) -> Option<u64> {
    let facts = digest.facts;
    let has_shape = languages::rules_of(&facts.language).has_shape();
    if !has_shape || !facts.routes.is_empty() || !facts.mounts.is_empty() {
        return None;
    }
    let owners = facts.decls.iter().filter_map(|it| it.owner);
    let fields = facts.bindings.iter().filter(|it| matches!(it.target, BindingTarget::Field(_)));
    let open: FxHashSet<DeclId> =
        owners.chain(facts.returns.iter().map(|it| it.decl)).chain(fields.filter_map(|it| it.decl)).collect();
    // A local name that a type or a default of the callable could mean is told by those (`FileDigest::side`).
    let is_inside = |it: &Binding| {
        matches!(it.target, BindingTarget::Name(_))
            && it.decl.is_some_and(|it| !open.contains(&it) && facts.decl(it).kind.is_callable())
    };
    let answers = provided_less(digest, is_inside);
    let mut state = digest.of(&(&facts.impls, &facts.imports, &facts.modules, &facts.returns));
    state = mix(state, digest.of(&(&facts.exports, &facts.manifest, &facts.namespaces, &facts.links)));
    state = mix(state, digest.of(&(&facts.offers, &facts.owner_rules, &facts.constants)));
    state = (0..facts.decls.len() as u32).fold(state, |state, it| mix(state, digest.decl(DeclId(it))));
    let answers = answers.as_slice().iter();
    Some(answers.fold(state, |state, (key, answer)| mix(mix(state, u64::from(*key)), *answer)))
}
