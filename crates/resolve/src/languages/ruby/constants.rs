//! The tree of constants of a project: which classes, modules and values stand behind `A::B`, whoever opened them.
//!
//! A class that is opened in several files is one type. Classes that only tests make are one type per group of helpers,
//! and one per file of tests, because each of those may make its own `User`.

use knowing_model::NodeKind;
use knowing_model::facts::{BaseRole, DeclId, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use super::requires::{LoadPaths, is_test_path};
use super::tables;
use crate::again::keys::{self, Door};
use crate::again::{Notary, reads};
use crate::names::Name;
use crate::value::{External, Origin};
use crate::world::{Def, World};

/// A constant; the first is the top, where all begin.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Constant(u32);

pub(super) const TOP: Constant = Constant(0);

#[derive(Default)]
pub(crate) struct RubyModules {
    children: FxHashMap<(Constant, Name), Constant>,
    /// What each constant stands in, and its name.
    places: Vec<(Constant, Name)>,
    /// Of the names that lead to a constant, and of declarations: the same in every run.
    hashes: Vec<u64>,
    def_hashes: Vec<u64>,
    /// What each constant was made by, in the order of files and lines.
    made: Vec<Vec<Def>>,
    /// What each constant is to production code: a type rather than a value of its name, and the first of them. A module like
    /// `ActiveRecord` is opened in hundreds of files, and named in more.
    production: Vec<Option<Def>>,
    constant_of: FxHashMap<Def, Constant>,
    /// Parts of types that were opened in several places, the main one first.
    pub(super) groups: Vec<Vec<Def>>,
    whole: FxHashMap<Def, Def>,
    /// Places in `groups`, by first part.
    group_at: FxHashMap<Def, u32>,
    /// Types that the project only opens, by first part, and what they are outside.
    opened: FxHashMap<Def, External>,
    /// Methods and attributes by the type they are of (its first part) and name.
    members: FxHashMap<(Def, Name), Vec<Def>>,
    /// Names that some type has a method or an attribute of.
    member_names: FxHashSet<Name>,
    fields: FxHashMap<(Def, Name), Vec<Def>>,
    /// Functions at the top of files.
    functions: FxHashMap<Name, Vec<Def>>,
    pub(super) load_paths: LoadPaths,
    /// The name of the module that a concern gives to classes.
    pub(super) class_methods: Option<Name>,
}

impl RubyModules {
    pub(crate) fn new(world: &World<'_>) -> RubyModules {
        let mut modules = RubyModules::default();
        let files = world.files_of(&["ruby"]);
        if files.is_empty() {
            return modules;
        }
        modules.def_hashes = world.all_but_prose().map(|it| world.hash(it)).collect();
        modules.made.push(Vec::new());
        modules.hashes.push(1);
        // The top stands in itself and has no name that anyone asks for.
        modules.places.push((TOP, world.names.find("").unwrap_or(Name(0))));
        modules.load_paths = LoadPaths::new(world, &files);
        modules.class_methods = world.names.find("ClassMethods");
        modules.place(world, &files);
        modules.production = modules.made.iter().map(|it| first_of_production(world, it)).collect();
        modules.group(world);
        modules.collect_members(world, &files);
        let mut types: Vec<Def> = modules.constant_of.keys().map(|it| modules.whole(*it)).collect();
        types.sort_unstable();
        types.dedup();
        modules.opened = types.iter().filter_map(|it| Some((*it, modules.outside_of(world, *it)?))).collect();
        modules
    }

    pub(crate) fn types_in_parts(&self) -> &[Vec<Def>] {
        &self.groups
    }

    /// What is asked here, and what the answers are.
    pub(crate) fn answers(&self, world: &World<'_>, notary: &mut Notary<'_>) {
        let hash = |it: Constant| self.hashes[it.0 as usize];
        self.children.iter().for_each(|((of, name), child)| {
            notary.push(Door::Child, hash(*of), Some(*name), hash(*child));
        });
        for ((constant, made), first) in (0..).map(Constant).zip(&self.made).zip(&self.production) {
            let first = first.map_or(0, |it| notary.def(it));
            notary.push(Door::RubyMade, hash(constant), None, keys::mix(notary.all(made), first));
        }
        self.constant_of.iter().for_each(|(def, constant)| {
            notary.push(Door::RubyConstantOf, world.hash(*def), None, hash(*constant));
        });
        self.whole.iter().for_each(|(def, whole)| {
            notary.push(Door::RubyWhole, world.hash(*def), None, notary.def(*whole));
        });
        for group in &self.groups {
            notary.push(Door::RubyParts, world.hash(group[0]), None, notary.all(group));
        }
        self.opened.iter().for_each(|(def, external)| {
            notary.push(Door::RubyOpened, world.hash(*def), None, notary.external(external));
        });
        for (door, table) in [(Door::RubyMembers, &self.members), (Door::RubyFields, &self.fields)] {
            table.iter().for_each(|((of, name), all)| {
                notary.push(door, world.hash(*of), Some(*name), notary.all(all));
            });
        }
        self.member_names.iter().for_each(|it| notary.push(Door::RubyMembers, 0, Some(*it), 1));
        self.functions.iter().for_each(|(name, all)| {
            notary.push(Door::RubyFunctions, 0, Some(*name), notary.all(all));
        });
        self.load_paths.answers(notary);
    }

    fn note(&self, door: Door, def: Def, name: Option<Name>) {
        reads::note(door, self.def_hashes.get(def.0 as usize).copied().unwrap_or(0), name);
    }

    /// Whether any type of the project has a method or an attribute of this name: where none has, there is no need to ask
    /// each type above a receiver's.
    pub(super) fn is_member(&self, name: Name) -> bool {
        reads::note(Door::RubyMembers, 0, Some(name));
        self.member_names.contains(&name)
    }

    /// Methods and attributes of a type by name, of all its parts; by the first.
    pub(super) fn members(&self, of: Def, name: Name) -> &[Def] {
        self.note(Door::RubyMembers, of, Some(name));
        self.members.get(&(of, name)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn fields(&self, of: Def, name: Name) -> &[Def] {
        self.note(Door::RubyFields, of, Some(name));
        self.fields.get(&(of, name)).map_or(&[], Vec::as_slice)
    }

    /// Functions at the top of files.
    pub(super) fn functions(&self, name: Name) -> &[Def] {
        reads::note(Door::RubyFunctions, 0, Some(name));
        self.functions.get(&name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn whole(&self, def: Def) -> Def {
        self.note(Door::RubyWhole, def, None);
        self.whole.get(&def).copied().unwrap_or(def)
    }

    /// All parts of a type that was opened in several places, by its first.
    pub(super) fn groups_of(&self, whole: Def) -> Option<&[Def]> {
        self.note(Door::RubyParts, whole, None);
        let at = *self.group_at.get(&whole)?;
        Some(&self.groups[at as usize])
    }

    pub(super) fn constant_of(&self, def: Def) -> Option<Constant> {
        self.note(Door::RubyConstantOf, def, None);
        self.constant_of.get(&def).copied()
    }

    pub(super) fn child(&self, of: Constant, name: Name) -> Option<Constant> {
        reads::note(Door::Child, self.hashes[of.0 as usize], Some(name));
        self.children.get(&(of, name)).copied()
    }

    /// The names that lead to a constant.
    fn path(&self, constant: Constant) -> Vec<Name> {
        let mut path = Vec::new();
        let mut at = constant;
        while at != TOP {
            let (parent, name) = self.places[at.0 as usize];
            path.push(name);
            at = parent;
        }
        path.reverse();
        path
    }

    /// The outside class that the project only opens: it has members that nobody sees here.
    pub(super) fn opened_from_outside(&self, type_: Def) -> Option<&External> {
        self.note(Door::RubyOpened, type_, None);
        self.opened.get(&type_)
    }

    fn outside_of(&self, world: &World<'_>, type_: Def) -> Option<External> {
        let path = self.path(self.constant_of(type_)?);
        let root = world.text(*path.first()?);
        let origin = if tables::CORE.binary_search(&root).is_ok() {
            Origin::StandardLibrary
        } else if self.load_paths.is_outside(root) {
            Origin::ThirdParty
        } else {
            return None;
        };
        // What has a superclass here, or stands in a file of its name, was made here.
        let (file, _, decl) = world.decl(self.whole(type_));
        let stem = world.path(file).rsplit('/').next().unwrap_or_default().trim_end_matches(".rb");
        let is_made = decl.bases.iter().any(|it| it.role == BaseRole::Extends)
            || stem.replace('_', "").eq_ignore_ascii_case(world.found_in(file).text(decl.name));
        (!is_made || path.len() == 1).then(|| External::new(origin, &path))
    }

    /// Whether something of the project makes the constant, seen by a file or not.
    pub(super) fn is_made(&self, constant: Constant) -> bool {
        !self.made(constant).is_empty()
    }

    fn made(&self, constant: Constant) -> &[Def] {
        reads::note(Door::RubyMade, self.hashes[constant.0 as usize], None);
        &self.made[constant.0 as usize]
    }

    fn child_or_new(&mut self, world: &World<'_>, of: Constant, name: Name) -> Constant {
        let next = Constant(self.made.len() as u32);
        let found = *self.children.entry((of, name)).or_insert(next);
        if found == next {
            self.made.push(Vec::new());
            self.places.push((of, name));
            self.hashes.push(keys::mix(self.hashes[of.0 as usize], world.names.hash(name)));
        }
        found
    }

    /// What a constant is, seen from a file: production code sees no tests.
    pub(super) fn seen(&self, world: &World<'_>, constant: Constant, file: u32) -> Option<Def> {
        let made = self.made(constant);
        let is_test = |def: &Def| is_test_path(world, world.file_of(*def));
        let production = || self.production[constant.0 as usize].map(|it| self.whole(it));
        if !is_test_path(world, file) {
            return production();
        }
        let root = test_root(world.path(file));
        let is_near = |def: &Def| root.is_empty() || world.path(world.file_of(*def)).starts_with(root);
        let library = production().filter(is_near);
        // A test that opens a class of its library means that class.
        let own = made.iter().find(|it| world.file_of(**it) == file).map(|it| self.whole(*it));
        if let Some(found) = library.or(own) {
            return Some(found);
        }
        let shared: Vec<Def> = made
            .iter()
            .filter(|it| is_test(it) && !is_test_file(world.path(world.file_of(**it))))
            .map(|it| self.whole(*it))
            .collect();
        let near = shared.iter().find(|it| test_root(world.path(world.file_of(**it))) == root).copied();
        let only = || shared.first().filter(|first| shared.iter().all(|it| it == *first)).copied();
        near.or_else(production).or_else(only)
    }
}

fn first_of_production(world: &World<'_>, made: &[Def]) -> Option<Def> {
    let all = made.iter().copied().filter(|it| !is_test_path(world, world.file_of(*it)));
    all.min_by_key(|it| (!world.kind(*it).is_type_like(), *it))
}

/// Making the tree.
impl RubyModules {
    fn place(&mut self, world: &World<'_>, files: &[u32]) {
        /// `class A::B::C` waits for `A` this many times, before it is taken to be at the top.
        const ROUNDS: usize = 4;
        let mut waiting: Vec<Def> = Vec::new();
        for file in files {
            for (index, decl) in world.facts(*file).decls.iter().enumerate() {
                let text = world.found_in(*file).text(decl.name);
                let is_constant = decl.kind.is_type_like()
                    || matches!(decl.kind, NodeKind::Const | NodeKind::Function)
                        && text.starts_with(|it: char| it.is_uppercase());
                if is_constant {
                    waiting.push(world.def(*file, DeclId(index as u32)));
                }
            }
        }
        for round in 0..=ROUNDS {
            let mut left = Vec::new();
            for def in waiting {
                if !self.place_one(world, def, round == ROUNDS) {
                    left.push(def);
                }
            }
            waiting = left;
        }
        for made in &mut self.made {
            made.sort_unstable();
        }
    }

    fn place_one(&mut self, world: &World<'_>, def: Def, force: bool) -> bool {
        let (file, _, decl) = world.decl(def);
        let name = world.name(file, decl.name);
        let owner = decl.owner.map(|it| world.def(file, it)).filter(|it| world.kind(*it).is_type_like());
        let around = match owner {
            Some(owner) => match self.constant_of(owner) {
                Some(it) => it,
                None if force => TOP,
                None => return false,
            },
            None => TOP,
        };
        let written = if decl.kind.is_type_like() { decl.type_ } else { None };
        let parent = match written.map(|it| world.found_in(file).type_(it)) {
            Some(Type::Named { segments, .. }) => {
                let names: Vec<Name> = segments.iter().map(|it| world.name(file, *it)).collect();
                match self.prefix(world, &names[..names.len().saturating_sub(1)], owner, force) {
                    Some(it) => it,
                    None => return false,
                }
            }
            _ => around,
        };
        let constant = self.child_or_new(world, parent, name);
        self.made[constant.0 as usize].push(def);
        if decl.kind.is_type_like() {
            self.constant_of.insert(def, constant);
        }
        true
    }

    /// The constant that `A::B` before a name means, from inside of `owner` outwards.
    fn prefix(
        &mut self,
        world: &World<'_>,
        names: &[Name],
        owner: Option<Def>,
        force: bool,
    ) -> Option<Constant> {
        let (first, rest) = names.split_first()?;
        let mut at = if world.text(*first).is_empty() {
            TOP
        } else {
            let mut found = None;
            let mut around = owner;
            while let Some(type_) = around {
                let inside = self.constant_of(type_);
                found = inside.and_then(|it| self.child(it, *first));
                if found.is_some() {
                    break;
                }
                around = world.owner(type_);
            }
            match found.or_else(|| self.child(TOP, *first)) {
                Some(it) => it,
                None if force => self.child_or_new(world, TOP, *first),
                None => return None,
            }
        };
        for name in rest {
            at = match self.child(at, *name) {
                Some(it) => it,
                None if force => self.child_or_new(world, at, *name),
                None => return None,
            };
        }
        Some(at)
    }

    fn group(&mut self, world: &World<'_>) {
        for made in &self.made {
            let types: Vec<Def> = made.iter().copied().filter(|it| world.kind(*it).is_type_like()).collect();
            if types.len() < 2 {
                continue;
            }
            let mut groups: Vec<(GroupKey<'_>, Vec<Def>)> = Vec::new();
            for def in types {
                let key = group_key(world, def);
                match groups.iter_mut().find(|it| it.0 == key) {
                    Some(group) => group.1.push(def),
                    None => groups.push((key, vec![def])),
                }
            }
            for (_, mut parts) in groups {
                if parts.len() < 2 {
                    continue;
                }
                let main = main_part(world, &parts);
                parts.swap(0, main);
                parts[1..].sort_unstable();
                self.whole.extend(parts.iter().map(|it| (*it, parts[0])));
                self.group_at.insert(parts[0], self.groups.len() as u32);
                self.groups.push(parts);
            }
        }
    }

    fn collect_members(&mut self, world: &World<'_>, files: &[u32]) {
        for file in files {
            for (index, decl) in world.facts(*file).decls.iter().enumerate() {
                let def = world.def(*file, DeclId(index as u32));
                let name = world.name(*file, decl.name);
                let owner = world.owner(def).filter(|it| world.kind(*it).is_type_like());
                match (owner, decl.kind) {
                    (Some(owner), NodeKind::Field) => {
                        self.fields.entry((self.whole(owner), name)).or_default().push(def);
                    }
                    // A named lambda is no member.
                    (_, NodeKind::Function) if owner.is_some() => {}
                    (Some(owner), kind) if kind.is_callable() || kind == NodeKind::Property => {
                        self.members.entry((self.whole(owner), name)).or_default().push(def);
                    }
                    (None, NodeKind::Function) if decl.owner.is_none() => {
                        self.functions.entry(name).or_default().push(def);
                    }
                    _ => {}
                }
            }
        }
        self.member_names = self.members.keys().map(|it| it.1).collect();
    }
}

/// Which parts of a constant are one type.
#[derive(PartialEq, Eq)]
enum GroupKey<'a> {
    Production,
    /// Helpers of the tests below a directory.
    Shared(&'a str),
    TestFile(u32),
}

fn group_key<'a>(world: &World<'a>, def: Def) -> GroupKey<'a> {
    let file = world.file_of(def);
    let path = world.path(file);
    if !is_test_path(world, file) {
        GroupKey::Production
    } else if is_test_file(path) {
        GroupKey::TestFile(file)
    } else {
        GroupKey::Shared(test_root(path))
    }
}

/// A file of tests, which others do not load.
fn is_test_file(path: &str) -> bool {
    let stem = path.strip_suffix(".rb").unwrap_or(path);
    stem.ends_with("_test") || stem.ends_with("_spec")
}

/// The directory whose tests these are.
fn test_root(path: &str) -> &str {
    let mut at = 0;
    for segment in path.split('/') {
        if matches!(segment, "test" | "tests" | "spec" | "specs" | "features") {
            return path[..at].trim_end_matches('/');
        }
        at += segment.len() + 1;
    }
    path.rsplit_once('/').map_or("", |it| it.0)
}

/// The part in the file that is called as the class is; else one with a superclass; else the one with most lines.
fn main_part(world: &World<'_>, parts: &[Def]) -> usize {
    let rank = |def: &Def| {
        let (file, _, decl) = world.decl(*def);
        let stem = world.path(file).rsplit('/').next().unwrap_or_default().trim_end_matches(".rb");
        let name = world.found_in(file).text(decl.name);
        let is_named = stem.replace('_', "").eq_ignore_ascii_case(name);
        let n_lines = decl.span.last_line - decl.span.first_line;
        (!is_named, decl.bases.is_empty(), std::cmp::Reverse(n_lines), *def)
    };
    parts.iter().enumerate().min_by_key(|(_, it)| rank(it)).map_or(0, |(at, _)| at)
}
