//! Names that lead from file to file without an import: what configuration files, schemas and documents say of each other
//! and of code.

use std::collections::{BTreeMap, BTreeSet};

use knowing_model::facts::{Certainty, FileFacts, Handler, LinkEnd, OwnerRule};
use knowing_model::name::{Case, is_suffix};
use knowing_model::{ContainerClass, EdgeKind, NodeKind, Position, Provenance, package_of};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::again::keys::{self, Door, mix};
use crate::again::{Notary, reads};
use crate::emit::{Emitter, End, Outside};
use crate::languages::ExternalName;
use crate::world::{Def, Update, World};

/// What all files offer and mention, made once.
#[derive(Default)]
pub(crate) struct Offers {
    /// By space and name.
    offered: BTreeMap<String, BTreeMap<String, Vec<Def>>>,
    /// Declarations of code with the hash of their bare name, for names that some file mentions; sorted.
    mentioned: Vec<(u64, Def)>,
    /// Directories that some file speaks of, each with a file of it.
    directories: BTreeMap<String, u32>,
    has_owners: bool,
    /// Names and directories that files speak of, whether or not there are such.
    wanted: FxHashSet<String>,
    wanted_directories: FxHashSet<String>,
}

/// Bare names of code, and directories, that a file speaks of.
pub(crate) fn mentioned(facts: &FileFacts) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let (mut wanted, mut directories) = (BTreeSet::new(), BTreeSet::new());
    for end in facts.links.iter().flat_map(|it| [it.from, it.to]) {
        match end {
            LinkEnd::Symbol(text) => drop(wanted.insert(last_segment(facts.text(text)))),
            LinkEnd::Directory(text) => drop(directories.insert(facts.text(text))),
            _ => {}
        }
    }
    (wanted, directories)
}

/// Remote calls by service and method, without the package.
const RPC: &str = "rpc";
/// All remote calls of a service, without the package.
const RPC_SERVICE: &str = "rpc-service";

impl Offers {
    pub(crate) fn new(world: &World<'_>) -> Offers {
        let mut offers = Offers::default();
        let mut wanted: FxHashSet<&str> = FxHashSet::default();
        let mut directories: FxHashSet<&str> = FxHashSet::default();
        for file in 0..world.n_files() as u32 {
            let facts = world.found_in(file);
            for it in &facts.offers {
                let space = entry_of(&mut offers.offered, facts.text(it.space));
                entry_of(space, facts.text(it.name)).push(world.def(file, it.decl));
            }
            let (of_code, of_directories) = mentioned(facts);
            wanted.extend(of_code);
            directories.extend(of_directories);
            offers.has_owners |= !facts.owner_rules.is_empty();
        }
        offers.wanted = wanted.into_iter().map(str::to_owned).collect();
        offers.wanted_directories = directories.into_iter().map(str::to_owned).collect();
        offers.place(world);
        if !offers.wanted.is_empty() {
            (0..world.n_files() as u32).for_each(|it| offers.declare(world, it));
        }
        offers.mentioned.sort_unstable();
        offers
    }

    /// Finds the first file of each directory that is spoken of.
    fn place(&mut self, world: &World<'_>) {
        self.directories.clear();
        if self.wanted_directories.is_empty() {
            return;
        }
        for file in 0..world.n_files() as u32 {
            let directory = package_of(ContainerClass::File, world.path(file));
            if self.wanted_directories.contains(directory) && !self.directories.contains_key(directory) {
                self.directories.insert(directory.to_owned(), file);
            }
        }
    }

    /// Adds what a file declares under names that are spoken of.
    fn declare(&mut self, world: &World<'_>, file: u32) {
        let facts = world.found_in(file);
        if !is_code(&facts.language) {
            return;
        }
        for (index, decl) in (0..).zip(&facts.decls) {
            let name = facts.text(decl.name);
            if self.wanted.contains(name) {
                let def = world.def(file, knowing_model::facts::DeclId(index));
                self.mentioned.push((keys::name(name), def));
            }
        }
    }

    /// As `new`, from those of the run before.
    pub(crate) fn renewed(self, world: &World<'_>, update: &Update<'_>) -> Offers {
        let nothing = FileFacts::default();
        let says = |it: &FileFacts| !it.offers.is_empty() || !it.owner_rules.is_empty();
        let is_same = |(was, is): (Option<&FileFacts>, Option<&FileFacts>)| {
            let (was, is) = (was.unwrap_or(&nothing), is.unwrap_or(&nothing));
            !says(was) && !says(is) && mentioned(was) == mentioned(is)
        };
        if !update.versions_in_pairs(world).all(is_same) {
            return Offers::new(world);
        }
        let mut offers = self;
        let moves = &update.moves;
        // Those that offer something have not changed.
        for defs in offers.offered.values_mut().flat_map(BTreeMap::values_mut) {
            defs.retain_mut(|it| moves.def(*it).map(|now| *it = now).is_some());
        }
        let is_kept = |it: Def| moves.is_kept(moves.file_then(it));
        offers.mentioned.retain_mut(|(_, it)| is_kept(*it) && moves.def(*it).map(|now| *it = now).is_some());
        let n_kept = offers.mentioned.len();
        update.came.iter().for_each(|it| offers.declare(world, *it));
        offers.mentioned[n_kept..].sort_unstable();
        // Two runs that are in order.
        offers.mentioned.sort();
        if !update.keeps_paths() {
            offers.place(world);
        }
        offers
    }

    pub(crate) fn answers(&self, world: &World<'_>, notary: &mut Notary<'_>) {
        let offered =
            self.offered.iter().flat_map(|(space, all)| all.iter().map(move |it| (space, it.0, it.1)));
        for (space, name, defs) in offered {
            let mut answer = notary.all(defs);
            if space == RPC {
                // Which of them is meant hangs on the packages of all.
                let whole = defs.iter().map(|it| whole_rpc(world, *it).map_or(0, keys::name));
                answer = whole.fold(answer, mix);
            }
            notary.push(Door::Offered, offer_key(space, name), None, answer);
        }
        let mut services: BTreeMap<&str, u64> = BTreeMap::new();
        for (service, call) in self.calls() {
            let state = services.entry(service).or_default();
            *state = keys::text(*state, call);
        }
        for (service, answer) in services {
            notary.push(Door::Offered, offer_key(RPC_SERVICE, service), None, answer);
        }
        for same in self.mentioned.chunk_by(|one, other| one.0 == other.0) {
            let answer = same.iter().fold(0, |state, it| mix(state, notary.def(it.1)));
            notary.push(Door::Mentioned, same[0].0, None, answer);
        }
        for directory in self.directories.keys() {
            notary.push(Door::Directory, keys::file(directory), None, 1);
        }
        if self.has_owners {
            let files: Vec<u32> = (0..world.n_files() as u32).collect();
            let answer = notary.files(&files);
            notary.push(Door::Paths, 0, None, answer);
        }
    }

    /// The own file's first, else the only one of the directory, else the only one.
    fn find(&self, world: &World<'_>, file: u32, space: &str, name: &str) -> Option<Def> {
        reads::note(Door::Offered, offer_key(space, name), None);
        let all = self.offered.get(space)?.get(name)?;
        if space == RPC && all.len() > 1 {
            return one_copy(world, all);
        }
        if let Some(own) = all.iter().find(|it| world.file_of(**it) == file) {
            return Some(*own);
        }
        let directory = |file: u32| package_of(ContainerClass::File, world.path(file));
        let near: Vec<Def> =
            all.iter().copied().filter(|it| directory(world.file_of(*it)) == directory(file)).collect();
        match (near.as_slice(), all.as_slice()) {
            ([one], _) | ([], [one]) => Some(*one),
            _ => None,
        }
    }

    /// Remote calls: service and name.
    fn calls(&self) -> impl Iterator<Item = (&str, &str)> {
        self.offered.get(RPC).into_iter().flat_map(|it| it.keys()).filter_map(|it| it.split_once('.'))
    }

    /// Names of the remote calls of a service.
    fn calls_of(&self, service: &str) -> Vec<&str> {
        reads::note(Door::Offered, offer_key(RPC_SERVICE, service), None);
        self.calls().filter(|it| it.0 == service).map(|it| it.1).collect()
    }

    /// The only declaration of production code that ends in a name.
    fn symbol(&self, world: &World<'_>, text: &str) -> Option<Def> {
        let hash = keys::name(last_segment(text));
        reads::note(Door::Mentioned, hash, None);
        let begin = self.mentioned.partition_point(|it| it.0 < hash);
        let all = self.mentioned[begin..].iter().take_while(|it| it.0 == hash).map(|it| it.1);
        let mut fitting = all.filter(|it| {
            let (file, _, decl) = world.decl(*it);
            !world.is_test_code(*it) && is_suffix(world.found_in(file).text(decl.path), text, Case::Exact)
        });
        let one = fitting.next()?;
        fitting.next().is_none().then_some(one)
    }
}

/// Of the copies of one schema that services keep, the one that lies highest: those who serve and those who ask meet there.
/// None where they are not of one package.
fn one_copy(world: &World<'_>, all: &[Def]) -> Option<Def> {
    let name = whole_rpc(world, *all.first()?);
    if all.iter().any(|it| whole_rpc(world, *it) != name) {
        return None;
    }
    let place = |def: &Def| {
        let path = world.path(world.file_of(*def));
        (path.matches('/').count(), path)
    };
    all.iter().copied().min_by_key(place)
}

/// The name of a remote call with its package.
fn whole_rpc<'a>(world: &World<'a>, def: Def) -> Option<&'a str> {
    let (of, id, _) = world.decl(def);
    let facts = world.found_in(of);
    let mut own = facts.offers.iter().filter(|it| it.decl == id);
    own.find(|it| facts.text(it.space) == "protobuf-rpc").map(|it| facts.text(it.name))
}

/// As `entry().or_default()`, without a copy of a key that is there.
fn entry_of<'m, T: Default>(map: &'m mut BTreeMap<String, T>, key: &str) -> &'m mut T {
    if !map.contains_key(key) {
        map.insert(key.to_owned(), T::default());
    }
    map.get_mut(key).expect("it was there, or was just put in")
}

fn is_code(language: &str) -> bool {
    knowing_model::name::is_code(language)
}

fn offer_key(space: &str, name: &str) -> u64 {
    keys::text(keys::name(space), name)
}

fn last_segment(text: &str) -> &str {
    text.rsplit(['.', ':', '#', '/']).next().unwrap_or(text)
}

impl Emitter<'_> {
    pub(crate) fn links(&mut self) {
        let facts = self.world.facts(self.file);
        for link in &facts.links {
            let (provenance, confidence_bp) = match link.certainty {
                Certainty::Declared => (Provenance::Declared, 10_000),
                Certainty::Pattern if link.kind == EdgeKind::ConsumesEndpoint => {
                    (Provenance::AstInferred, 6_000)
                }
                Certainty::Pattern => (Provenance::AstInferred, 7_000),
                Certainty::SurePattern => (Provenance::AstInferred, 9_000),
                Certainty::Mentioned => (Provenance::DocMention, 6_000),
                Certainty::Quoted => (Provenance::DocMention, 8_500),
            };
            if let (LinkEnd::Decl(type_), LinkEnd::Offered { space, name }) = (link.from, link.to)
                && facts.text(space) == RPC_SERVICE
            {
                self.served_elsewhere(self.world.def(self.file, type_), facts.text(name), link.position);
                continue;
            }
            let (Some(from), Some(to)) = (self.link_end(link.from), self.link_end(link.to)) else { continue };
            if from != to {
                self.stated(from, to, link.kind, provenance, confidence_bp, link.position);
            }
        }
        if !facts.owner_rules.is_empty() {
            self.owners(&facts.owner_rules);
        }
    }

    pub(crate) fn routes(&mut self) {
        let facts = self.world.facts(self.file);
        if facts.routes.is_empty() {
            return;
        }
        for (index, it) in (0..).zip(self.world.routes.of_file(self.world, self.file)) {
            if facts.routes[it.fact as usize].handler == Handler::Contract
                && let Some((method, pattern)) = it.name.split_once(' ')
                && let Some((file, place)) = self.world.routes.served(method, pattern)
            {
                let (from, to) = (End::Route(self.file, index), End::Route(file, place));
                let position = facts.routes[it.fact as usize].position;
                self.draft(from, to, EdgeKind::References, Provenance::Declared, position);
            }
            if let Some(handler) = it.handler {
                let position = facts.routes[it.fact as usize].position;
                let route = End::Route(self.file, index);
                self.draft(route, handler, EdgeKind::HandlesRoute, Provenance::AstInferred, position);
            }
        }
    }

    /// Methods of a type that serve the calls of a service and stand in other files than the type.
    fn served_elsewhere(&mut self, type_: Def, service: &str, position: Position) {
        let world = self.world;
        for call in world.offers.calls_of(service) {
            let Some(name) = world.names.find(call) else { continue };
            let Some(to) = world.offers.find(world, self.file, RPC, &format!("{service}.{call}")) else {
                continue;
            };
            for method in world.hierarchy.impl_members(type_, name) {
                if world.file_of(*method) != self.file {
                    let (from, to) = (End::Def(*method), End::Def(to));
                    self.stated(from, to, EdgeKind::ImplementsRpc, Provenance::AstInferred, 7_000, position);
                }
            }
        }
    }

    fn link_end(&mut self, end: LinkEnd) -> Option<End> {
        let world = self.world;
        let facts = world.facts(self.file);
        Some(match end {
            LinkEnd::File => End::File(self.file),
            LinkEnd::Decl(decl) => End::Def(world.def(self.file, decl)),
            LinkEnd::Path(path) => End::File(world.file_at(facts.text(path))?),
            LinkEnd::Directory(path) => {
                let path = facts.text(path);
                reads::note(Door::Directory, keys::file(path), None);
                End::Directory(*world.offers.directories.get(path)?)
            }
            LinkEnd::Outside { kind, container, name } => {
                self.outside_of(kind, facts.text(container), facts.text(name))
            }
            LinkEnd::Offered { space, name } => {
                let (space, name) = (facts.text(space), facts.text(name));
                End::Def(world.offers.find(world, self.file, space, name)?)
            }
            LinkEnd::Program(text) => world.programs.find(world, self.file, facts.text(text))?,
            LinkEnd::Symbol(text) => End::Def(world.offers.symbol(world, facts.text(text))?),
            LinkEnd::Route { method, pattern } => {
                let (method, pattern) = (facts.text(method), facts.text(pattern));
                // `//host/path`: a host is part of the name of what lies outside.
                let (host, pattern) = match pattern.strip_prefix("//").and_then(|it| it.split_once('/')) {
                    Some((host, _)) => (format!("{host}/"), &pattern[2 + host.len()..]),
                    None => (String::new(), pattern),
                };
                match world.routes.meant(method, pattern) {
                    Some((file, index)) => End::Route(file, index),
                    None => self.outside_of(NodeKind::Endpoint, "", &format!("{host}{method} {pattern}")),
                }
            }
        })
    }

    fn outside_of(&mut self, kind: NodeKind, container: &str, symbol: &str) -> End {
        let repo = match kind {
            NodeKind::EnvVar => "env",
            NodeKind::Process => "process",
            NodeKind::Topic => "topic",
            NodeKind::Flag => "flag",
            NodeKind::Owner => "owner",
            NodeKind::Service => "service",
            NodeKind::Endpoint => "endpoint",
            NodeKind::Image => "image",
            _ => "external",
        };
        let name = ExternalName { repo, container: container.to_owned(), symbol: symbol.to_owned() };
        self.outside(Outside { name, kind })
    }

    /// Every file that a rule fits is owned by whom the last such rule names.
    fn owners(&mut self, rules: &[OwnerRule]) {
        let world = self.world;
        let facts = world.facts(self.file);
        // Of several such files one counts.
        let places = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"];
        let first = places.iter().find(|it| world.file_at(it).is_some());
        if first.is_some_and(|it| *it != world.path(self.file)) {
            return;
        }
        reads::note(Door::Paths, 0, None);
        let mut owner_ends: FxHashMap<&str, End> = FxHashMap::default();
        let patterns: Vec<Pattern> = rules.iter().map(|it| Pattern::new(facts.text(it.pattern))).collect();
        for file in 0..world.n_files() as u32 {
            let path = world.input.files[file as usize].path;
            let Some(at) = patterns.iter().rposition(|it| it.fits(path)) else { continue };
            for owner in &rules[at].owners {
                let owner = facts.text(*owner);
                let end = match owner_ends.get(owner) {
                    Some(end) => *end,
                    None => {
                        let end = self.outside_of(NodeKind::Owner, "", owner);
                        owner_ends.insert(owner, end);
                        end
                    }
                };
                let (kind, provenance) = (EdgeKind::OwnedBy, Provenance::Codeowners);
                self.stated(End::File(file), end, kind, provenance, 10_000, rules[at].position);
            }
        }
    }

    fn stated(
        &mut self,
        from: End,
        to: End,
        kind: EdgeKind,
        provenance: Provenance,
        confidence_bp: u16,
        position: Position,
    ) {
        self.push_draft(from, to, kind, provenance, confidence_bp, position);
    }
}

/// A pattern of a CODEOWNERS file, as gitignore has them.
struct Pattern {
    /// Fits below this directory alone.
    anchored: bool,
    /// Everything below fits, too.
    is_directory: bool,
    segments: Vec<String>,
}

impl Pattern {
    fn new(text: &str) -> Pattern {
        let is_directory = text.ends_with('/');
        let inner = text.trim_end_matches('/');
        let anchored = inner.contains('/');
        let segments = inner.trim_start_matches('/').split('/').map(str::to_owned).collect();
        Pattern { anchored, is_directory, segments }
    }

    fn fits(&self, path: &str) -> bool {
        let parts: Vec<&str> = path.split('/').collect();
        let starts = if self.anchored { 0..1 } else { 0..parts.len() };
        starts.into_iter().any(|at| self.fits_from(&self.segments, &parts[at..], 0))
    }

    fn fits_from(&self, segments: &[String], parts: &[&str], depth: usize) -> bool {
        let Some((first, rest)) = segments.split_first() else {
            // `docs/*` is what lies directly there; `docs` and `docs/` are all below.
            let is_star = self.segments.last().is_some_and(|it| it == "*") && self.anchored;
            return if self.is_directory { !parts.is_empty() } else { parts.is_empty() || !is_star };
        };
        if depth > 64 {
            return false;
        }
        if first == "**" {
            return (0..=parts.len()).any(|at| self.fits_from(rest, &parts[at..], depth + 1))
                && (!rest.is_empty() || !parts.is_empty());
        }
        match parts.split_first() {
            Some((part, others)) => {
                wild(first.as_bytes(), part.as_bytes()) && self.fits_from(rest, others, depth + 1)
            }
            None => false,
        }
    }
}

/// `*` stands for any text, `?` for one character.
fn wild(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        if at < pattern.len() && (pattern[at] == b'?' || pattern[at] == text[from]) && pattern[at] != b'*' {
            at += 1;
            from += 1;
        } else if at < pattern.len() && pattern[at] == b'*' {
            star = Some((at, from));
            at += 1;
        } else if let Some((place, begin)) = star {
            at = place + 1;
            from = begin + 1;
            star = Some((place, begin + 1));
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|it| *it == b'*')
}

/// A digest of a route's symbol: the same in every run.
pub(crate) fn route_digest(world: &World<'_>, file: u32, index: u32) -> u64 {
    mix(7, keys::text(world.file_hash(file), &world.routes.placed(file, index).symbol))
}
