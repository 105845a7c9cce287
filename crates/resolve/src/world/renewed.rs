//! The world of a run from that of the run before: what no change concerns is taken over under the numbers of now.
//!
//! ```text
//! numbers and what hangs on them alone    made anew for files and directories in which something changed
//! tables of languages                     Go's package by package; the others, where there are files of them, anew
//! what differs so far                     ledger: keys under which tables answer something else
//! hierarchy, file by file                 of files that changed, or looked up such a key
//! what differs now, and all the rest      offers and routes where a change concerns them
//! ```

use knowing_model::facts::{Decl, FileFacts};
use knowing_model::name::container_of;
use knowing_model::{ContainerClass, NodeFlags};
use rustc_hash::FxHashSet;

use super::{Common, MembersByName, Numbering, World, members_of, repeat_within};
use crate::again::{Changes, Keys, Ledger, Moves, Notary, Numbered, Previous, Table, keys};
use crate::again::{hierarchy_of_all, hierarchy_of_file, of_all, tables};
use crate::hierarchy::Hierarchy;
use crate::names::Name;
use crate::tables::OwnTables;
use crate::world::Def;
use crate::{Input, InputFile};

/// What differs from the run before, as far as it is known.
pub(crate) struct Update<'a> {
    pub(crate) moves: Moves,
    /// Files of now that were not there in this version, in ascending order.
    pub(crate) came: Vec<u32>,
    /// Files of then that are not there in that version, in ascending order, and what they said.
    pub(crate) went: Vec<(u32, InputFile<'a>)>,
    pub(crate) keys: Keys,
}

impl Update<'_> {
    /// Whether something that was looked up is answered otherwise.
    pub(crate) fn concerns(&self, reads: &[u32]) -> bool {
        self.keys.meet(reads)
    }

    /// Whether files stand where they stood, and nowhere else.
    pub(crate) fn keeps_paths(&self) -> bool {
        self.came.len() == self.went.len() && self.went.iter().all(|it| self.moves.file(it.0).is_some())
    }

    /// What files said that are there in another version, and those files.
    pub(crate) fn replaced(&self) -> impl Iterator<Item = (&InputFile<'_>, u32)> {
        self.went.iter().filter_map(|(then, file)| Some((file, self.moves.file(*then)?)))
    }

    /// Whether what is still there is test code where it was, and nowhere else.
    pub(crate) fn tells_tests_as_before(&self, world: &World<'_>) -> bool {
        self.went.iter().all(|(then, before)| {
            let Some(file) = self.moves.file(*then) else { return true };
            let now = world.found_in(file);
            let is_test = |facts: &FileFacts| facts.flags.contains(NodeFlags::TEST);
            let is_same = |(def, decl): (Def, &Decl)| {
                let now = self.moves.def(def).map(|it| world.decl(it).2);
                now.is_none_or(|it| {
                    it.flags.contains(NodeFlags::TEST) == decl.flags.contains(NodeFlags::TEST)
                })
            };
            is_test(before.facts) == is_test(now)
                && self.moves.defs_then(*then).zip(&before.facts.decls).all(is_same)
        })
    }

    /// What was said and what is said at each path where that is not the same version.
    pub(crate) fn versions_in_pairs<'u>(
        &'u self,
        world: &'u World<'_>,
    ) -> impl Iterator<Item = (Option<&'u FileFacts>, Option<&'u FileFacts>)> {
        let was = self.went.iter().map(|(then, file)| {
            let now = self.moves.file(*then).map(|it| world.found_in(it));
            (Some(file.facts), now)
        });
        let replaced: FxHashSet<u32> = self.replaced().map(|it| it.1).collect();
        let new = self.came.iter().filter(move |it| !replaced.contains(it));
        was.chain(new.map(|it| (None, Some(world.found_in(*it)))))
    }

    /// Facts of all versions that came or went.
    pub(crate) fn versions<'u>(&'u self, world: &'u World<'_>) -> impl Iterator<Item = InputFile<'u>> {
        let came = self.came.iter().map(|it| world.input.files[*it as usize]);
        came.chain(self.went.iter().map(|it| it.1))
    }
}

impl<'a> World<'a> {
    /// As `new`, from what the run before made, where that noted what its parts hang on. Where it is
    /// better made anew, what is made of each file by itself is given back.
    pub(crate) fn renewed(
        input: Input<'a>,
        own: OwnTables<'a>,
        (common, ledger): (Common, &mut Ledger),
        changes: &Changes<'a>,
    ) -> Result<(World<'a>, Update<'a>), Box<OwnTables<'a>>> {
        let previous = changes.previous();
        let scopes = &own.scopes;
        let Common { numbering: before, modules, hierarchy, routes, offers, programs } = common;
        let came: Vec<u32> = (0..).zip(previous.same).filter(|it| it.1.is_none()).map(|it| it.0).collect();
        let is_there = |it: &u32| before.file_by_path.contains_key(&scopes[*it as usize].hash());
        // As many as before, and none at another path.
        let keeps_paths = previous.same.len() == before.first_def.len() && came.iter().all(is_there);
        let file_by_path = keeps_paths.then(|| before.file_by_path.clone());
        let numbering = Numbering::new(input, scopes, file_by_path, Some((&before, previous.same)));
        let then = |hash: u64| before.file_by_path.get(&hash).copied();
        let gone = previous.gone.iter().filter_map(|it| Some((then(keys::file(it.path))?, *it)));
        let mut went: Vec<(u32, InputFile<'a>)> = gone.collect();
        went.sort_unstable_by_key(|it| it.0);
        let replaced = came.iter().filter_map(|it| Some((then(scopes[*it as usize].hash())?, *it)));
        let replaced: Vec<(u32, u32)> = replaced.collect();
        let mut world = World::numbered(input, own, numbering, true);
        if world.repeat_again(&before, previous, &came, &went).is_none() || went.len() < previous.gone.len() {
            return Err(Box::new(world.into_parts().0));
        }
        world.digest_again(&before, previous, &came);
        let moves = Moves::new(before.numbered(), world.numbering.numbered(), previous.same, &replaced);
        let mut update = Update { moves, came, went, keys: changes.keys().clone() };
        let update_ = &update;
        let (modules, members) = rayon::join(
            || modules.renewed(&world, update_),
            || before.members_by_name.renewed(&world, update_),
        );
        world.modules = modules;
        world.numbering.members_by_name = members;

        world.hierarchy = Hierarchy::of_parts(&world);
        let mut notary = Notary::new(&world);
        tables(&mut notary, Some(&update));
        notary.tell(ledger);
        ledger.add_to(&mut update.keys);

        let of_parts = world.hierarchy.clone_parts();
        let (renewed, touched) = hierarchy.renewed(&world, &update, of_parts);
        world.hierarchy = renewed;
        let mut notary = Notary::new(&world);
        touched.iter().for_each(|it| hierarchy_of_file(&mut notary, *it));
        hierarchy_of_all(&mut notary);
        notary.tell(ledger);
        for (_, file) in update.went.iter().filter(|it| update.moves.file(it.0).is_none()) {
            ledger.set(Table::Hierarchy.unit(keys::file(file.path)), Vec::new());
        }
        ledger.add_to(&mut update.keys);

        world.offers = offers.renewed(&world, &update);
        world.routes = routes.renewed(&world, &update);
        world.programs = programs.renewed(&world, &update);
        let mut notary = Notary::new(&world);
        of_all(&mut notary);
        notary.tell(ledger);
        Ok((world, update))
    }

    /// None when something that stays as it was is called otherwise because of others.
    fn repeat_again(
        &mut self,
        before: &Numbering,
        previous: &Previous<'_>,
        came: &[u32],
        went: &[(u32, InputFile<'_>)],
    ) -> Option<()> {
        let mut repeated = vec![false; self.n_defs()];
        for (file, then) in (0..).zip(previous.same) {
            let Some(then) = then else { continue };
            let (first, end) = self.def_range(file);
            let (first, end) = (first.0 as usize, end.0 as usize);
            let begin = before.first_def[*then as usize] as usize;
            repeated[first..end].copy_from_slice(before.repeated.get(begin..begin + end - first)?);
        }
        let files = came.iter().map(|it| self.input.files[*it as usize]);
        let directories: FxHashSet<&str> = files
            .chain(went.iter().map(|it| it.1))
            .map(|it| container_of(&it.facts.language, it.path))
            .filter(|it| it.0 == ContainerClass::Dir)
            .map(|it| it.1)
            .collect();
        #[expect(clippy::iter_over_hash_type, reason = "each directory is one of its own")]
        for directory in directories {
            let files: Vec<u32> = self
                .files_in(directory)
                .filter(|it| {
                    let file = self.input.files[*it as usize];
                    container_of(&file.facts.language, file.path).0 == ContainerClass::Dir
                })
                .collect();
            let was: Vec<bool> = files
                .iter()
                .filter(|it| previous.same[**it as usize].is_some())
                .flat_map(|it| self.defs_of(*it))
                .map(|it| repeated[it.0 as usize])
                .collect();
            repeat_within(self, &files, &mut repeated);
            let kept = files.iter().filter(|it| previous.same[**it as usize].is_some());
            if !kept.flat_map(|it| self.defs_of(*it)).map(|it| repeated[it.0 as usize]).eq(was) {
                return None;
            }
        }
        self.numbering.repeated = repeated;
        Some(())
    }

    fn digest_again(&mut self, before: &Numbering, previous: &Previous<'_>, came: &[u32]) {
        let mut digests = vec![0; self.n_defs()];
        for (file, then) in (0..).zip(previous.same) {
            let Some(then) = then else { continue };
            let (first, end) = self.def_range(file);
            let (first, end) = (first.0 as usize, end.0 as usize);
            let begin = before.first_def[*then as usize] as usize;
            digests[first..end].copy_from_slice(&before.digests[begin..begin + end - first]);
        }
        came.iter().for_each(|it| super::digest_file(self, *it, &mut digests));
        self.numbering.digests = digests;
    }

    /// Files that stand directly in a directory.
    pub(crate) fn files_in(&self, directory: &str) -> impl Iterator<Item = u32> {
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        let first = self.input.files.partition_point(|it| it.path < prefix.as_str());
        let below = (first as u32..).zip(&self.input.files[first..]);
        below
            .map_while(move |(file, it)| Some((file, it.path.strip_prefix(&*prefix)?)))
            .filter(|it| !it.1.contains('/'))
            .map(|it| it.0)
    }
}

impl Numbering {
    fn numbered(&self) -> Numbered<'_> {
        Numbered { first_def: &self.first_def, file_of_def: &self.file_of_def, digests: &self.digests }
    }
}

impl MembersByName {
    fn renewed(self, world: &World<'_>, update: &Update<'_>) -> MembersByName {
        let moves = &update.moves;
        let kept = self.names.into_iter().zip(self.members).filter(|it| moves.is_kept(moves.file_then(it.1)));
        let mut all: Vec<(Name, Def)> = kept.filter_map(|(name, it)| Some((name, moves.def(it)?))).collect();
        let n_kept = all.len();
        all.extend(update.came.iter().flat_map(|it| members_of(world, *it)));
        all[n_kept..].sort_unstable();
        // Two runs that are in order.
        all.sort();
        MembersByName::of_sorted(all)
    }
}
