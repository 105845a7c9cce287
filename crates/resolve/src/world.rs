//! All facts of a snapshot behind one set of numbers: declarations, names, scopes, modules.

mod renewed;

use std::collections::BTreeMap;
use std::sync::Arc;

use knowing_model::facts::{Decl, DeclId, FileFacts, Modifiers, Str};
use knowing_model::name::{container_of, is_code};
use knowing_model::{ContainerClass, NodeFlags, NodeKind};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::again::keys::{self, Door};
use crate::again::{Reach, reads};
use crate::hierarchy::Hierarchy;
use crate::languages::programs::Programs;
use crate::languages::{self, Modules, Rules};
use crate::links::Offers;
use crate::names::{FileNames, Name, Names};
use crate::routes::Routes;
use crate::scopes::Scopes;
use crate::tables::OwnTables;
use crate::{Input, InputFile};

pub(crate) use renewed::Update;

/// A declaration of any file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Def(pub(crate) u32);

/// A module of the project: a file, a directory, or a part of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ModuleId(pub(crate) u32);

pub(crate) struct World<'a> {
    pub(crate) input: Input<'a>,
    pub(crate) names: Names<'a>,
    /// Each file's texts as names.
    file_names: FileNames,
    pub(crate) scopes: Vec<Arc<Scopes>>,
    numbering: Numbering,
    pub(crate) modules: Modules,
    pub(crate) hierarchy: Hierarchy,
    pub(crate) routes: Routes,
    pub(crate) offers: Offers,
    pub(crate) programs: Programs,
    /// Whether it is noted what the parts of tables hang on, so that the next run can keep them.
    pub(crate) records: bool,
}

/// What all files are made of together: as long as no file says anything else to others, it is the same.
pub(crate) struct Common {
    numbering: Numbering,
    modules: Modules,
    hierarchy: Hierarchy,
    routes: Routes,
    offers: Offers,
    programs: Programs,
}

/// Files and declarations as numbers, and back.
#[derive(Default)]
struct Numbering {
    /// Number of each file's first declaration.
    first_def: Vec<u32>,
    file_of_def: Vec<u32>,
    /// How many come before those of prose.
    n_but_prose: u32,
    /// What is asked of each file by itself.
    files: Vec<OfFile>,
    languages: Vec<String>,
    /// By the hash of the path.
    file_by_path: FxHashMap<u64, u32>,
    /// Callable members of types, by name: what an unknown receiver could mean.
    members_by_name: MembersByName,
    /// Of each declaration whether it has the file's name in its symbol, because other files of the directory declare the
    /// same.
    repeated: Vec<bool>,
    /// Of each declaration what `World::digest` says: it is asked for of the ends of all edges.
    digests: Vec<u64>,
}

/// What is asked of a file again and again: to look into its facts is to miss the cache.
#[derive(Clone, Copy)]
struct OfFile {
    rules: &'static dyn Rules,
    /// Its place among the languages.
    language: u32,
    n_decls: u32,
    is_prose: bool,
}

impl OfFile {
    fn new(facts: &FileFacts, languages: &mut Vec<String>) -> OfFile {
        let place = languages.iter().position(|it| *it == facts.language);
        let language = place.unwrap_or(languages.len()) as u32;
        if place.is_none() {
            languages.push(facts.language.clone());
        }
        let rules = languages::rules_of(&facts.language);
        OfFile { rules, language, n_decls: facts.decls.len() as u32, is_prose: is_prose(facts) }
    }
}

impl Numbering {
    /// From what is known: which file stands at which path, and the numbering of a run with, for each file of now, its place
    /// there when it is the same version.
    fn new(
        input: Input<'_>,
        scopes: &[Arc<Scopes>],
        file_by_path: Option<FxHashMap<u64, u32>>,
        before: Option<(&Numbering, &[Option<u32>])>,
    ) -> Numbering {
        let by_path = || scopes.iter().zip(0..).map(|(it, file)| (it.hash(), file)).collect();
        let mut numbering =
            Numbering { file_by_path: file_by_path.unwrap_or_else(by_path), ..Numbering::default() };
        numbering.languages = before.map(|it| it.0.languages.clone()).unwrap_or_default();
        for (file, InputFile { facts, .. }) in input.files.iter().enumerate() {
            let known = before.and_then(|(before, same)| Some(before.files[same[file]? as usize]));
            numbering.files.push(known.unwrap_or_else(|| OfFile::new(facts, &mut numbering.languages)));
        }
        numbering.number();
        numbering
    }

    /// Where the sections of prose may be others.
    fn number_again(&mut self, input: Input<'_>) {
        for (of_file, file) in self.files.iter_mut().zip(input.files) {
            of_file.n_decls = file.facts.decls.len() as u32;
        }
        self.number();
    }

    /// In the order of files, prose behind all others: its sections come and go without anybody else being called otherwise.
    fn number(&mut self) {
        self.first_def = vec![0; self.files.len()];
        self.file_of_def.clear();
        for wanted in [false, true] {
            self.n_but_prose = self.file_of_def.len() as u32;
            for (file, of_file) in self.files.iter().enumerate().filter(|it| it.1.is_prose == wanted) {
                let first = self.file_of_def.len();
                self.first_def[file] = first as u32;
                self.file_of_def.resize(first + of_file.n_decls as usize, file as u32);
            }
        }
    }
}

/// Whether a file has sections and mentions what stands in others, and nothing else that tables of all files are made of. All
/// fields are named, so that whoever adds one has to say which kind it is.
pub(crate) fn is_prose(facts: &FileFacts) -> bool {
    let FileFacts {
        language,
        decls,
        // The file by itself, and what stands inside of it.
        flags: _,
        partial: _,
        n_lines: _,
        doc: _,
        strings: _,
        types: _,
        exprs: _,
        calls: _,
        references: _,
        sites: _,
        arguments: _,
        links: _,
        is_private: _,
        // What others can see.
        namespace,
        namespaces,
        condition,
        impls,
        bindings,
        imports,
        modules,
        returns,
        exports,
        manifest,
        offers,
        routes,
        mounts,
        owner_rules,
        constants,
        versions,
    } = facts;
    let is_named = namespace.is_some() || !namespaces.is_empty() || condition.is_some();
    let has_code = !impls.is_empty() || !bindings.is_empty() || !returns.is_empty() || !constants.is_empty();
    let is_module = !imports.is_empty() || !modules.is_empty() || exports.is_some() || !offers.is_empty();
    let is_served = !routes.is_empty() || !mounts.is_empty();
    let is_project = manifest.is_some() || !owner_rules.is_empty() || !versions.is_empty();
    let is_more = is_code(language) || is_named || has_code || is_module || is_served || is_project;
    !is_more && decls.iter().all(|it| it.kind == NodeKind::DocSection)
}

impl<'a> World<'a> {
    /// None when it is not wanted any more.
    pub(crate) fn new(
        input: Input<'a>,
        own: OwnTables<'a>,
        records: bool,
        is_wanted: &(dyn Fn() -> bool + Sync),
    ) -> Option<World<'a>> {
        let mut own = own;
        own.names.forget_asked();
        let numbering = Numbering::new(input, &own.scopes, None, None);
        let mut world = World::numbered(input, own, numbering, records);
        let (modules, (repeated, members_by_name)) = rayon::join(
            || Modules::new(&world),
            || rayon::join(|| repeated(&world), || MembersByName::new(&world)),
        );
        world.modules = modules;
        (world.numbering.repeated, world.numbering.members_by_name) = (repeated, members_by_name);
        world.numbering.digests = digests(&world);
        if !is_wanted() {
            return None;
        }
        world.hierarchy = Hierarchy::of_parts(&world);
        let (of_files, offers) = rayon::join(|| Hierarchy::of_files(&world), || Offers::new(&world));
        world.hierarchy = std::mem::take(&mut world.hierarchy).with_files(&world, of_files);
        world.offers = offers;
        world.routes = Routes::new(&world);
        world.programs = Programs::new(&world);
        Some(world)
    }

    /// Without any table of all files.
    fn numbered(input: Input<'a>, own: OwnTables<'a>, numbering: Numbering, records: bool) -> World<'a> {
        let OwnTables { names, file_names, scopes } = own;
        World {
            input,
            names,
            file_names,
            scopes,
            numbering,
            modules: Modules::default(),
            hierarchy: Hierarchy::default(),
            routes: Routes::default(),
            offers: Offers::default(),
            programs: Programs::default(),
            records,
        }
    }

    /// Where what is common to all files is known, and no change reaches further than `reach`.
    pub(crate) fn with(
        input: Input<'a>,
        own: OwnTables<'a>,
        common: Common,
        reach: Reach,
        records: bool,
    ) -> World<'a> {
        let OwnTables { names, file_names, scopes } = own;
        let Common { mut numbering, modules, hierarchy, routes, offers, programs } = common;
        if reach >= Reach::Sections {
            numbering.number_again(input);
        }
        let mut world = World {
            input,
            names,
            file_names,
            scopes,
            numbering,
            modules,
            hierarchy,
            routes,
            offers,
            programs,
            records,
        };
        if reach >= Reach::Sections {
            let n_defs = world.n_defs();
            world.numbering.repeated.resize(n_defs, false);
            world.numbering.digests = digests(&world);
        }
        if reach >= Reach::Mentions {
            world.offers = Offers::new(&world);
        }
        world
    }

    /// What the next run can go on with.
    pub(crate) fn into_parts(self) -> (OwnTables<'a>, Common) {
        let World {
            names, file_names, scopes, numbering, modules, hierarchy, routes, offers, programs, ..
        } = self;
        let common = Common { numbering, modules, hierarchy, routes, offers, programs };
        (OwnTables { names, file_names, scopes }, common)
    }

    /// Runs what finds something out for a file; with the keys of what it looked up, where those are to be noted.
    pub(crate) fn noted<T>(&self, file: u32, run: impl FnOnce() -> T) -> (T, Vec<u32>) {
        match self.records {
            true => reads::recorded(self.file_hash(file), &self.names, run),
            false => (run(), Vec::new()),
        }
    }

    pub(crate) fn n_files(&self) -> usize {
        self.input.files.len()
    }

    /// All that a file says. Where only some of it matters, `decl`, `Scopes::find` and `found_in` are the finer doors:
    /// whoever comes through this one depends on every line of the file.
    pub(crate) fn facts(&self, file: u32) -> &'a FileFacts {
        let hash = self.file_hash(file);
        reads::note_in(hash, Door::File, hash, None);
        self.found_in(file)
    }

    /// What hangs on something that was looked up in a file: the expressions and types of a declaration, binding or
    /// import, the declarations around it, the `impl` block it stands in. Nothing may be looked for in it.
    pub(crate) fn found_in(&self, file: u32) -> &'a FileFacts {
        self.input.files[file as usize].facts
    }

    pub(crate) fn language(&self, file: u32) -> &'a str {
        let hash = self.file_hash(file);
        reads::note_in(hash, Door::Top, hash, None);
        &self.found_in(file).language
    }

    pub(crate) fn flags(&self, file: u32) -> NodeFlags {
        let hash = self.file_hash(file);
        reads::note_in(hash, Door::Top, hash, None);
        self.found_in(file).flags
    }

    /// Of a file's path: the same in every run.
    pub(crate) fn file_hash(&self, file: u32) -> u64 {
        self.scopes[file as usize].hash()
    }

    /// Names that a file says it offers.
    pub(crate) fn exports(&self, file: u32) -> Option<&'a [Str]> {
        let hash = self.file_hash(file);
        reads::note_in(hash, Door::Top, hash, None);
        self.found_in(file).exports.as_deref()
    }

    pub(crate) fn path(&self, file: u32) -> &'a str {
        self.input.files[file as usize].path
    }

    pub(crate) fn file_at(&self, path: &str) -> Option<u32> {
        let hash = keys::file(path);
        reads::note(Door::Path, hash, None);
        self.numbering.file_by_path.get(&hash).copied()
    }

    /// Files of these languages, in their order.
    pub(crate) fn files_of(&self, languages: &[&str]) -> Vec<u32> {
        let Numbering { files, languages: all, .. } = &self.numbering;
        let is_wanted: Vec<bool> = all.iter().map(|it| languages.contains(&it.as_str())).collect();
        let wanted = (0..).zip(files).filter(|it| is_wanted[it.1.language as usize]);
        wanted.map(|it| it.0).collect()
    }

    /// Files of whose declarations tables may be made.
    pub(crate) fn files_but_prose(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.numbering.files).filter(|it| !it.1.is_prose).map(|it| it.0)
    }

    pub(crate) fn rules(&self, file: u32) -> &'static dyn Rules {
        self.numbering.files[file as usize].rules
    }

    pub(crate) fn name(&self, file: u32, text: Str) -> Name {
        self.file_names[file as usize][text.index()]
    }

    pub(crate) fn text(&self, name: Name) -> &'a str {
        self.names.text(name)
    }

    pub(crate) fn def(&self, file: u32, decl: DeclId) -> Def {
        Def(self.numbering.first_def[file as usize] + decl.0)
    }

    /// The declarations of a file.
    pub(crate) fn defs_of(&self, file: u32) -> impl Iterator<Item = Def> {
        let (first, end) = self.def_range(file);
        (first.0..end.0).map(Def)
    }

    /// The first declaration of a file, and one past its last.
    pub(crate) fn def_range(&self, file: u32) -> (Def, Def) {
        let first = self.numbering.first_def[file as usize];
        (Def(first), Def(first + self.numbering.files[file as usize].n_decls))
    }

    pub(crate) fn n_defs(&self) -> usize {
        self.numbering.file_of_def.len()
    }

    /// All that tables may be made of.
    pub(crate) fn all_but_prose(&self) -> impl Iterator<Item = Def> {
        (0..self.numbering.n_but_prose).map(Def)
    }

    pub(crate) fn file_of(&self, def: Def) -> u32 {
        self.numbering.file_of_def[def.0 as usize]
    }

    /// File, position in it, and the declaration itself.
    pub(crate) fn decl(&self, def: Def) -> (u32, DeclId, &'a Decl) {
        let file = self.file_of(def);
        let id = DeclId(def.0 - self.numbering.first_def[file as usize]);
        let scopes = &self.scopes[file as usize];
        reads::note_in(scopes.hash(), Door::Decl, scopes.hash_of(id), None);
        (file, id, self.found_in(file).decl(id))
    }

    /// The same in every run: of the file's path and the symbol path.
    pub(crate) fn hash(&self, def: Def) -> u64 {
        let file = self.file_of(def) as usize;
        self.scopes[file].hash_of(DeclId(def.0 - self.numbering.first_def[file]))
    }

    /// As `hash`, and of the rest that makes it the symbol it is.
    pub(crate) fn digest(&self, def: Def) -> u64 {
        self.numbering.digests[def.0 as usize]
    }

    /// Whether other files of its directory declare the same.
    pub(crate) fn is_repeated(&self, def: Def) -> bool {
        self.numbering.repeated.get(def.0 as usize) == Some(&true)
    }

    pub(crate) fn kind(&self, def: Def) -> NodeKind {
        self.decl(def).2.kind
    }

    pub(crate) fn owner(&self, def: Def) -> Option<Def> {
        let (file, _, decl) = self.decl(def);
        decl.owner.map(|it| self.def(file, it))
    }

    /// Whether production code must not be bound to it without importing it: tests, mocks, fixtures.
    pub(crate) fn is_test_code(&self, def: Def) -> bool {
        let (file, _, decl) = self.decl(def);
        let hash = self.file_hash(file);
        reads::note_in(hash, Door::Top, hash, None);
        decl.flags.contains(NodeFlags::TEST) || self.found_in(file).flags.contains(NodeFlags::TEST)
    }

    pub(crate) fn members_named(&self, name: Name) -> &[Def] {
        reads::note(Door::Members, 0, Some(name));
        self.numbering.members_by_name.get(name)
    }
}

/// Whether a declaration is a callable member of a type.
pub(crate) fn is_member(rules: &dyn Rules, facts: &FileFacts, decl: &Decl) -> bool {
    let of_type = decl.implementation.is_some()
        || decl.owner.is_some_and(|it| {
            let owner = facts.decl(it).kind;
            owner.is_type_like() && (owner != NodeKind::Module || rules.has_member_modules())
        });
    let is_called = decl.kind.is_callable() || decl.kind == NodeKind::Property && rules.calls_properties();
    of_type && is_called
}

/// Whether a declaration is an object whose members are used by the name of the type around it: whoever knows that type
/// knows of it too.
pub(crate) fn is_companion(decl: &Decl) -> bool {
    decl.kind == NodeKind::Class && decl.modifiers.contains(Modifiers::CLASS_METHOD)
}

/// Of all declarations, by their numbers.
fn digests(world: &World<'_>) -> Vec<u64> {
    let mut digests = vec![0; world.n_defs()];
    (0..world.n_files() as u32).for_each(|it| digest_file(world, it, &mut digests));
    digests
}

fn digest_file(world: &World<'_>, file: u32, digests: &mut [u64]) {
    let scopes = &world.scopes[file as usize];
    let (first, end) = world.def_range(file);
    let own = &mut digests[first.0 as usize..end.0 as usize];
    for ((digest, id), decl) in own.iter_mut().zip(0..).zip(&world.found_in(file).decls) {
        let about = u64::from(decl.kind.id()) << 1 | u64::from(world.is_repeated(Def(first.0 + id)));
        *digest = keys::mix(scopes.hash_of(DeclId(id)), about);
    }
}

/// Symbols that several files of one directory declare: for other systems, or each for itself (`init`).
fn repeated(world: &World<'_>) -> Vec<bool> {
    let mut directories: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for file in 0..world.n_files() as u32 {
        let (class, holder) = container_of(&world.facts(file).language, world.path(file));
        if class == ContainerClass::Dir {
            directories.entry(holder).or_default().push(file);
        }
    }
    let mut repeated = vec![false; world.n_defs()];
    directories.into_values().for_each(|it| repeat_within(world, &it, &mut repeated));
    repeated
}

/// For the declarations of all files of one directory.
fn repeat_within(world: &World<'_>, files: &[u32], repeated: &mut [bool]) {
    let mut first: FxHashMap<(&str, NodeKind), Def> = FxHashMap::default();
    if files.len() > 1 {
        first.reserve(files.iter().map(|it| world.facts(*it).decls.len()).sum());
    }
    for file in files {
        let facts = world.facts(*file);
        let (begin, end) = world.def_range(*file);
        repeated[begin.0 as usize..end.0 as usize].fill(false);
        if files.len() == 1 {
            continue;
        }
        for (def, decl) in (begin.0..).map(Def).zip(&facts.decls) {
            let first = *first.entry((facts.text(decl.path), decl.kind)).or_insert(def);
            if world.file_of(first) != *file {
                [first, def].into_iter().for_each(|it| repeated[it.0 as usize] = true);
            }
        }
    }
}

/// Members in the order of their names, those of one name in the order of files.
#[derive(Default)]
struct MembersByName {
    names: Vec<Name>,
    members: Vec<Def>,
}

impl MembersByName {
    fn new(world: &World<'_>) -> MembersByName {
        let mut all: Vec<(Name, Def)> =
            (0..world.n_files() as u32).flat_map(|it| members_of(world, it)).collect();
        all.par_sort_unstable();
        MembersByName::of_sorted(all)
    }

    fn of_sorted(all: Vec<(Name, Def)>) -> MembersByName {
        let (names, members) = all.into_iter().unzip();
        MembersByName { names, members }
    }

    fn get(&self, name: Name) -> &[Def] {
        let begin = self.names.partition_point(|it| *it < name);
        let n = self.names[begin..].partition_point(|it| *it == name);
        &self.members[begin..begin + n]
    }
}

/// Callable members of the types of a file.
fn members_of<'a>(world: &'a World<'_>, file: u32) -> impl Iterator<Item = (Name, Def)> + 'a {
    let (facts, rules) = (world.facts(file), world.rules(file));
    let decls = (0..).zip(&facts.decls).filter(move |it| is_member(rules, facts, it.1));
    decls.map(move |(at, decl)| (world.name(file, decl.name), world.def(file, DeclId(at))))
}
