//! Routes of all files: routers are joined to what they are mounted below, so that each route has its whole pattern.
//!
//! ```text
//! users.py    router = APIRouter(prefix="/users")     own prefix of a variable
//! main.py     app.include_router(router, prefix="/v1")    the variable below `app`, behind `/v1`
//! users.py    @router.get("/{id}")                    GET /v1/users/{id}
//! ```
//!
//! Made once, before files are resolved, because the prefix of a route stands in another file; a file asks for its own
//! routes and for those that its requests mean, and both are noted.

mod handed;
mod helpers;

use knowing_model::ContainerClass;
use knowing_model::facts::{DeclId, Expr, ExprId, HOLE, Handler, LENIENT, Mount, Route, Router, Str, Type};
use knowing_model::name::{container_of, in_file, is_code};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::InputFile;
use crate::again::keys::{self, Door, mix};
use crate::again::{Moves, Notary, reads};
use crate::emit::End;
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::languages::Space;
use crate::value::Value;
use crate::world::{Def, Update, World};

use helpers::Helpers;

/// Prefixes that one router may stand behind, and how many routers may stand in each other.
const MAX_PREFIXES: usize = 16;
const MAX_DEPTH: usize = 12;

#[derive(Default)]
pub(crate) struct Routes {
    files: FxHashMap<u32, Vec<Placed>>,
    /// By method and pattern without the names of parameters.
    by_key: FxHashMap<String, Vec<(u32, u32)>>,
    /// As `by_key`, of what descriptions promise.
    contracts: FxHashMap<String, Vec<(u32, u32)>>,
    /// Keys of what was looked up for all of that, where it is noted.
    reads: Vec<u32>,
}

/// A route under its whole name.
#[derive(Debug)]
pub(crate) struct Placed {
    /// `GET /users/{id}`, with what tells it from others of the same name.
    pub(crate) symbol: String,
    /// The same without that.
    pub(crate) name: String,
    /// Which of the file's facts it is.
    pub(crate) fact: u32,
    pub(crate) handler: Option<End>,
}

/// A router, whichever file speaks of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Key {
    Def(Def),
    Parameter(Def, u8),
    Result(Def),
    File(u32),
    /// An application by its place among all.
    Application(u32),
}

#[derive(Default)]
struct Mounts {
    /// Where applications start: framework and directory.
    applications: Vec<(String, String)>,
    /// Patterns that do not stand behind the prefix of an application.
    except: FxHashMap<Key, Vec<String>>,
    own: FxHashMap<Key, String>,
    /// The parent (none for the top), the prefix, and whether it replaces the router's own.
    below: FxHashMap<Key, Vec<(Option<Key>, String, bool)>>,
    /// Types that serve by a router which they hold.
    serving: FxHashSet<Def>,
}

impl Routes {
    pub(crate) fn new(world: &World<'_>) -> Routes {
        if !world.records {
            return Routes::of_files(world);
        }
        let (routes, reads) = reads::recorded(keys::ALL_FILES, &world.names, || Routes::of_files(world));
        Routes { reads, ..routes }
    }

    /// As `new`, from those of the run before.
    pub(crate) fn renewed(self, world: &World<'_>, update: &Update<'_>) -> Routes {
        let has_routes = |it: InputFile<'_>| !it.facts.routes.is_empty() || !it.facts.mounts.is_empty();
        let notes = |it: &u32| world.rules(*it).notes_parts();
        let is_noted = (0..world.n_files() as u32)
            .filter(|it| has_routes(world.input.files[*it as usize]))
            .all(|it| notes(&it));
        if !is_noted || update.versions(world).any(has_routes) || update.concerns(&self.reads) {
            return Routes::new(world);
        }
        self.moved(&update.moves).unwrap_or_else(|| Routes::new(world))
    }

    fn moved(self, moves: &Moves) -> Option<Routes> {
        let Routes { files, by_key, contracts, reads } = self;
        let mut moved = Routes { reads, ..Routes::default() };
        let mut is_there = true;
        let placed = |(file, mut placed): (u32, Vec<Placed>)| {
            for handler in placed.iter_mut().filter_map(|it| it.handler.as_mut()) {
                *handler = match *handler {
                    End::Def(def) => End::Def(moves.def(def)?),
                    End::File(file) => End::File(moves.file(file)?),
                    other => other,
                };
            }
            Some((moves.file(file)?, placed))
        };
        moved.files.extend(files.into_iter().filter_map(|it| {
            let placed = placed(it);
            is_there &= placed.is_some();
            placed
        }));
        for (tables, moved) in [(by_key, &mut moved.by_key), (contracts, &mut moved.contracts)] {
            moved.extend(tables.into_iter().map(|(key, mut places)| {
                for (file, _) in &mut places {
                    let now = moves.file(*file);
                    is_there &= now.is_some();
                    *file = now.unwrap_or_default();
                }
                (key, places)
            }));
        }
        is_there.then_some(moved)
    }

    fn of_files(world: &World<'_>) -> Routes {
        let files: Vec<u32> = (0..world.n_files() as u32)
            .filter(|it| !world.found_in(*it).routes.is_empty() || !world.found_in(*it).mounts.is_empty())
            .collect();
        let mounts = Mounts::new(world, &files);
        let mut routes = Routes::default();
        let mut helpers = Helpers::new(world, &mounts, &files);
        let mut handed: FxHashMap<u32, Vec<Placed>> = FxHashMap::default();
        for file in &files {
            let placed = helpers.placed(world, &mounts, *file);
            if !placed.is_empty() {
                handed.insert(*file, placed);
            }
        }
        for file in &files {
            let mut ev = Evaluator::new(world);
            let mut placed = Vec::new();
            for (fact, route) in (0..).zip(&world.found_in(*file).routes) {
                if route.through.is_none() && !helpers.is_used(*file, fact) {
                    place(&mut ev, &mounts, *file, fact, route, &mut placed);
                }
            }
            placed.extend(handed.remove(file).unwrap_or_default());
            placed.sort_by_key(|it| it.fact);
            if !placed.is_empty() {
                routes.files.insert(*file, placed);
            }
        }
        routes.tell_apart(world);
        routes
    }

    /// Routes that a file registers.
    pub(crate) fn of_file(&self, world: &World<'_>, file: u32) -> &[Placed] {
        reads::note(Door::Routes, world.file_hash(file), None);
        self.files.get(&file).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn placed(&self, file: u32, index: u32) -> &Placed {
        &self.files[&file][index as usize]
    }

    /// The route that a request means, when there is one alone; one that is only promised, where none is served.
    pub(crate) fn meant(&self, method: &str, pattern: &str) -> Option<(u32, u32)> {
        let contract = || {
            let key = key_of(method, pattern);
            match self.contracts.get(&key).map(Vec::as_slice) {
                Some([one]) => Some(*one),
                _ => None,
            }
        };
        self.served(method, pattern).or_else(contract).or_else(|| self.fitting(method, pattern))
    }

    /// The route that answers a path with values in it: `/users/5` is `/users/{id}`. Of those that fit, the one with the
    /// fewest parameters; none where there are several.
    fn fitting(&self, method: &str, path: &str) -> Option<(u32, u32)> {
        const MAX_SEGMENTS: usize = 8;
        let segments: Vec<&str> = path.split('/').collect();
        let values: Vec<usize> = (0..segments.len()).filter(|it| !segments[*it].is_empty()).collect();
        if values.len() > MAX_SEGMENTS {
            return None;
        }
        let replaced = |places: &[usize]| {
            let of = |at: usize| if places.contains(&at) { "{}" } else { segments[at] };
            (0..segments.len()).map(of).collect::<Vec<_>>().join("/")
        };
        let singles = values.iter().map(|it| vec![*it]);
        let pairs = values.iter().flat_map(|one| {
            values.iter().filter(move |other| *other > one).map(move |other| vec![*one, *other])
        });
        for choice in [singles.collect::<Vec<_>>(), pairs.collect()] {
            let mut found: Vec<(u32, u32)> =
                choice.iter().filter_map(|it| self.served(method, &replaced(it))).collect();
            found.dedup();
            match found[..] {
                [] => {}
                [one] => return Some(one),
                _ => return None,
            }
        }
        None
    }

    /// The route of code under a method and pattern, when there is one alone.
    pub(crate) fn served(&self, method: &str, pattern: &str) -> Option<(u32, u32)> {
        [method, "ANY"].into_iter().find_map(|method| {
            let key = key_of(method, pattern);
            reads::note(Door::RouteKey, keys::name(&key), None);
            match self.by_key.get(&key).map(Vec::as_slice) {
                Some([one]) => Some(*one),
                _ => None,
            }
        })
    }

    pub(crate) fn answers(&self, world: &World<'_>, notary: &mut Notary<'_>) {
        let end = |it: End| match it {
            End::Def(def) => mix(1, world.digest(def)),
            End::File(file) => mix(2, world.file_hash(file)),
            _ => 3,
        };
        for (file, placed) in self.sorted() {
            let answer = placed.iter().fold(0, |state, it| {
                let state = keys::text(mix(state, u64::from(it.fact)), &it.symbol);
                mix(state, it.handler.map_or(0, end))
            });
            notary.push(Door::Routes, world.file_hash(file), None, answer);
            for it in placed {
                let key = key_text(&it.name);
                let answer = keys::text(world.file_hash(file), &it.symbol);
                notary.push(Door::RouteKey, keys::name(&key), None, answer);
            }
        }
    }

    fn sorted(&self) -> Vec<(u32, &[Placed])> {
        let mut files: Vec<(u32, &[Placed])> =
            self.files.iter().map(|(file, it)| (*file, it.as_slice())).collect();
        files.sort_unstable_by_key(|it| it.0);
        files
    }

    /// Gives every route of a container its own symbol.
    fn tell_apart(&mut self, world: &World<'_>) {
        let mut files: Vec<u32> = self.files.keys().copied().collect();
        files.sort_unstable();
        // Directories hold the routes of all their files.
        let mut first: FxHashMap<(&str, String), u32> = FxHashMap::default();
        let mut repeated: FxHashSet<(&str, String)> = FxHashSet::default();
        for file in &files {
            let (class, holder) = container_of(&world.found_in(*file).language, world.path(*file));
            if class != ContainerClass::Dir {
                continue;
            }
            for it in &self.files[file] {
                let key = (holder, it.name.clone());
                if *first.entry(key.clone()).or_insert(*file) != *file {
                    repeated.insert(key);
                }
            }
        }
        for file in &files {
            let (class, holder) = container_of(&world.found_in(*file).language, world.path(*file));
            let mut n_of: FxHashMap<String, u32> = FxHashMap::default();
            for (index, it) in (0..).zip(self.files.get_mut(file).into_iter().flatten()) {
                let n = n_of.entry(it.name.clone()).or_default();
                *n += 1;
                let in_dir = class == ContainerClass::Dir && repeated.contains(&(holder, it.name.clone()));
                let base = if in_dir { in_file(&it.name, world.path(*file)) } else { it.name.clone() };
                it.symbol = if *n == 1 { base } else { format!("{base}#{n}") };
                let is_contract = world.found_in(*file).routes[it.fact as usize].handler == Handler::Contract;
                let by_key = if is_contract { &mut self.contracts } else { &mut self.by_key };
                by_key.entry(key_text(&it.name)).or_default().push((*file, index));
            }
        }
    }
}

fn place(
    ev: &mut Evaluator<'_>,
    mounts: &Mounts,
    file: u32,
    fact: u32,
    route: &Route,
    placed: &mut Vec<Placed>,
) {
    let world = ev.world;
    let facts = world.found_in(file);
    ev.begin();
    let key = match route.router {
        Router::Application(name) => mounts.application(facts.text(name), world.path(file)),
        router => key(ev, file, route.decl, router),
    };
    if !route.verified && !key.is_some_and(|it| mounts.knows(world, it)) {
        return;
    }
    let own = route.pattern.and_then(|it| filled(ev, file, route.decl, facts.text(it)));
    let handler = handler(ev, file, route);
    let prefixes = match key {
        Some(key) => mounts.prefixes(world, key),
        None => vec![String::new()],
    };
    let method = facts.text(route.method);
    for prefix in prefixes {
        let whole = own.as_ref().and_then(|own| match (route.router, key) {
            (Router::Application(name), Some(key)) => {
                let is_templated =
                    route.decl.is_some_and(|it| mounts.is_templated(world, world.def(file, it)));
                let except = mounts.except.get(&key).map_or(&[][..], Vec::as_slice);
                match facts.text(name) {
                    "mvc" if is_templated => None,
                    "mvc" => by_convention(&prefix, own),
                    _ if except.iter().any(|it| it.trim_end_matches('/') == own.trim_end_matches('/')) => {
                        Some(own.clone())
                    }
                    name => Some(joined(&versioned(&prefix, name), own)),
                }
            }
            _ => Some(joined(&prefix, own)),
        });
        if whole.is_none()
            && own.is_some()
            && matches!(route.router, Router::Application(_))
            && !route.verified
        {
            continue;
        }
        let pattern = match whole {
            Some(whole) if whole.starts_with('/') => whole,
            Some(whole) => format!("/{whole}"),
            None => "?".to_owned(),
        };
        let name = knowing_model::name::bounded(&format!("{method} {pattern}")).into_owned();
        if placed.iter().any(|it| it.name == name && it.fact == fact) {
            continue;
        }
        placed.push(Placed { symbol: String::new(), name, fact, handler });
        if own.is_none() {
            return;
        }
    }
}

/// A pattern with the texts of the constants that it names; none when one is not known.
fn filled(ev: &mut Evaluator<'_>, file: u32, decl: Option<DeclId>, pattern: &str) -> Option<String> {
    filled_within(ev, file, decl, pattern, 0)
}

fn filled_within(
    ev: &mut Evaluator<'_>,
    file: u32,
    decl: Option<DeclId>,
    pattern: &str,
    depth: usize,
) -> Option<String> {
    if !pattern.contains(HOLE) {
        return Some(pattern.to_owned());
    }
    let mut out = String::new();
    for (at, part) in pattern.split(HOLE).enumerate() {
        if at % 2 == 0 {
            out.push_str(part);
            continue;
        }
        let (part, is_lenient) = match part.strip_prefix(LENIENT) {
            Some(part) => (part, true),
            None => (part, false),
        };
        match constant(ev, file, decl, ExprId(part.parse().ok()?), depth) {
            Some(text) => out.push_str(&text),
            None if is_lenient => {}
            None => return None,
        }
    }
    while out.contains("//") {
        out = out.replace("//", "/");
    }
    Some(out)
}

/// The text of the constant that an expression names, which may be made of others.
fn constant(
    ev: &mut Evaluator<'_>,
    file: u32,
    decl: Option<DeclId>,
    expr: ExprId,
    depth: usize,
) -> Option<String> {
    let value = ev.expr(Frame::of_file(file), decl, expr);
    let (Value::Def(def) | Value::Instance(def, _)) = value else { return None };
    let world = ev.world;
    let (of, id, _) = world.decl(def);
    let facts = world.facts(of);
    let constant = facts.constants.iter().find(|it| it.decl == id)?;
    let text = facts.text(constant.text);
    match text.contains(HOLE) {
        true if depth < MAX_DEPTH => filled_within(ev, of, Some(id), text, depth + 1),
        true => None,
        false => Some(text.to_owned()),
    }
}

/// `{controller=Home}/{action=Index}/{id?}` with what `/Home/Index` says; what may be left out is.
fn by_convention(template: &str, pattern: &str) -> Option<String> {
    let (controller, action) = pattern.trim_start_matches('/').split_once('/')?;
    let mut parts = Vec::new();
    for segment in template.trim_matches('/').split('/') {
        match segment.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
            Some(inner) => match inner.split(['=', ':', '?']).next().unwrap_or_default() {
                "controller" => parts.push(controller.to_owned()),
                "action" => parts.push(action.to_owned()),
                "area" => return None,
                _ if inner.contains(['?', '=', '*']) => {}
                name => parts.push(format!("{{{name}}}")),
            },
            None => parts.push(segment.to_owned()),
        }
    }
    Some(format!("/{}", parts.join("/")))
}

/// The prefix of an application for what stands behind the `:` of its name.
fn versioned(prefix: &str, name: &str) -> String {
    let Some((before, default)) = prefix.split_once("{version=") else { return prefix.to_owned() };
    let version = match name.split_once(':').map_or("", |it| it.1) {
        "" => default.trim_end_matches('}'),
        own => own,
    };
    match version {
        // No version, and no segment for it.
        "-" => before.rsplit_once('/').map_or(String::new(), |it| it.0.to_owned()),
        version => format!("{before}{version}"),
    }
}

fn handler(ev: &mut Evaluator<'_>, file: u32, route: &Route) -> Option<End> {
    let frame = Frame::of_file(file);
    let world = ev.world;
    match route.handler {
        Handler::Decl(decl) => Some(End::Def(world.def(file, decl))),
        Handler::Value(expr) => {
            let value = ev.expr(frame, route.decl, expr);
            callable(ev, &value)
        }
        Handler::Method { of, name, file: holder } => {
            if !is_code(&world.found_in(file).language) {
                return by_whole_name(ev, file, of, name);
            }
            let mut class = ev.expr_in(frame, route.decl, of, Space::Type);
            if !matches!(class, Value::Def(_)) {
                class = ev.expr(frame, route.decl, of);
            }
            let (Value::Def(class) | Value::Instance(class, _)) = class else {
                let holder = world.file_at(world.found_in(file).text(holder?))?;
                return held_by(world, holder, world.found_in(file).text(name));
            };
            let (of, name) = (Value::instance(class), world.name(file, name));
            let rules = world.rules(file);
            let value = match rules.has_methods_apart() {
                true => rules.method(ev, frame, &of, name),
                false => ev.member(frame, &of, name),
            };
            callable(ev, &value).or(Some(End::Def(class)))
        }
        // Joined when all routes are known.
        Handler::Contract => None,
        Handler::Made { by, with } => {
            let passed = with.map(|it| ev.expr(frame, route.decl, it));
            let is_function = |it: &Value| match it {
                Value::Def(def) => world.kind(*def).is_callable(),
                Value::Overloads(_) => true,
                _ => false,
            };
            if let Some(passed) = passed.as_ref().filter(|it| is_function(it)) {
                return callable(ev, passed);
            }
            let by = ev.callee(frame, route.decl, by);
            let made = callable(ev, &by).or_else(|| callable(ev, &passed?));
            made.or(Some(route.decl.map_or(End::File(file), |it| End::Def(world.def(file, it)))))
        }
        Handler::Inline => Some(route.decl.map_or(End::File(file), |it| End::Def(world.def(file, it)))),
    }
}

/// The method of a class that a file of configuration names in full, or the class.
fn by_whole_name(ev: &mut Evaluator<'_>, file: u32, of: ExprId, name: Str) -> Option<End> {
    let world = ev.world;
    let facts = world.found_in(file);
    let Expr::TypePath(type_) = facts.expr(of) else { return None };
    let Type::Named { segments, .. } = facts.type_(type_) else { return None };
    let whole: Vec<&str> = segments.iter().map(|it| facts.text(*it)).collect();
    let class = world.modules.php.class(world, file, &whole.join("\\"))?;
    let holder = world.file_of(class);
    let value = world.rules(holder).method(
        ev,
        Frame::of_file(holder),
        &Value::instance(class),
        world.name(file, name),
    );
    callable(ev, &value).or(Some(End::Def(class)))
}

/// The method of a name in the class that a file holds, or the class.
fn held_by(world: &World<'_>, file: u32, name: &str) -> Option<End> {
    let facts = world.facts(file);
    let find = |fits: &dyn Fn(&knowing_model::facts::Decl) -> bool| {
        let at = facts.decls.iter().position(fits)?;
        Some(End::Def(world.def(file, DeclId(at as u32))))
    };
    find(&|it| it.kind.is_callable() && facts.text(it.name) == name)
        .or_else(|| find(&|it| it.kind == knowing_model::NodeKind::Class))
}

fn callable(ev: &mut Evaluator<'_>, value: &Value) -> Option<End> {
    match value {
        Value::Def(def) => {
            let kind = ev.world.kind(*def);
            (kind.is_callable() || kind.is_type_like() || is_held(kind)).then_some(End::Def(*def))
        }
        Value::Overloads(all) => all.first().map(|it| End::Def(*it)),
        // An instance of a class of views, or of a handler.
        Value::Instance(def, _) => Some(End::Def(*def)),
        _ => None,
    }
}

fn is_held(kind: knowing_model::NodeKind) -> bool {
    use knowing_model::NodeKind::{Const, Field, Property, Var};
    matches!(kind, Var | Const | Field | Property)
}

fn key(ev: &mut Evaluator<'_>, file: u32, decl: Option<DeclId>, router: Router) -> Option<Key> {
    let frame = Frame::of_file(file);
    let world = ev.world;
    match router {
        Router::Root => None,
        Router::File => Some(Key::File(file)),
        Router::Decl(id) => Some(Key::Def(world.def(file, id))),
        // Found by where a file lies, and by who takes it.
        Router::Application(_) | Router::Handed(..) => None,
        Router::Parameter(id, index) => Some(Key::Parameter(world.def(file, id), index)),
        Router::Result(id) => Some(Key::Result(world.def(file, id))),
        Router::Value(expr) => {
            let value = ev.expr(frame, decl, expr);
            value_key(ev, file, &value)
        }
        Router::ParameterOf(expr, index) => match ev.expr(frame, decl, expr) {
            Value::Def(def) => Some(Key::Parameter(def, index)),
            Value::Overloads(all) if all.len() == 1 => Some(Key::Parameter(all[0], index)),
            Value::Module(module) => {
                let value = Value::Module(module);
                value_key(ev, file, &value)
            }
            _ => None,
        },
        Router::ResultOf(expr) => match ev.callee(frame, decl, expr) {
            Value::Def(def) => Some(Key::Result(def)),
            Value::Overloads(all) if all.len() == 1 => Some(Key::Result(all[0])),
            _ => None,
        },
        Router::Module(text) => {
            let text = world.found_in(file).text(text);
            if text.starts_with('@') {
                return world.file_at(&in_bundle(world, text)?).map(Key::File);
            }
            if let Some(path) = text.strip_prefix('/').or(text.contains('/').then_some(text)) {
                // Modules of JavaScript are written without what their files end in.
                let endings = ["", ".js", ".ts", "/index.js", "/index.ts", ".mjs", ".cjs"];
                return endings.iter().find_map(|it| world.file_at(&format!("{path}{it}"))).map(Key::File);
            }
            let path: Option<Vec<_>> = text.split('.').map(|it| world.names.find(it)).collect();
            let module = world.modules.python.absolute(world, file, &path?)?;
            world.modules.python.file(module).map(Key::File)
        }
    }
}

fn value_key(ev: &mut Evaluator<'_>, file: u32, value: &Value) -> Option<Key> {
    match value {
        Value::Def(def) => Some(Key::Def(*def)),
        Value::Module(_) => ev.world.rules(file).file_of(ev, value).map(Key::File),
        _ => None,
    }
}

impl Mounts {
    fn new(world: &World<'_>, files: &[u32]) -> Mounts {
        let mut mounts = Mounts::default();
        for file in files {
            for mount in &world.found_in(*file).mounts {
                if let (Router::Decl(_), Some(Router::Decl(of))) = (mount.child, mount.parent) {
                    mounts.serving.insert(world.def(*file, of));
                }
            }
        }
        for file in files {
            let mut ev = Evaluator::new(world);
            for mount in &world.found_in(*file).mounts {
                mounts.add(&mut ev, *file, mount);
            }
        }
        handed::mount(world, &mut mounts, files);
        mounts
    }

    fn add(&mut self, ev: &mut Evaluator<'_>, file: u32, mount: &Mount) {
        ev.begin();
        if matches!(mount.parent, Some(Router::Handed(..))) {
            return;
        }
        let text = ev.world.found_in(file).text(mount.prefix);
        // What is computed cannot be told; what stands below is still known.
        let prefix = filled(ev, file, mount.decl, text);
        if let Router::Application(name) = mount.child {
            return self.start(ev.world, file, name, prefix.unwrap_or_default(), mount);
        }
        let prefix = prefix.unwrap_or_default();
        let Some(parent) = mount.parent else {
            if let Some(child) = key(ev, file, mount.decl, mount.child) {
                self.own.entry(child).or_insert(prefix);
            }
            return;
        };
        let children = self.children(ev, file, mount);
        let parent = key(ev, file, mount.decl, parent);
        for child in children {
            self.put(child, parent, &prefix, mount.replaces);
        }
    }

    fn put(&mut self, child: Key, parent: Option<Key>, prefix: &str, replaces: bool) {
        if parent != Some(child) {
            self.below.entry(child).or_default().push((parent, prefix.to_owned(), replaces));
        }
    }

    /// What is mounted: a router, or that of the type of a value.
    fn children(&self, ev: &mut Evaluator<'_>, file: u32, mount: &Mount) -> Vec<Key> {
        let child = key(ev, file, mount.decl, mount.child);
        let mut all: Vec<Key> = child.into_iter().collect();
        if self.serving.is_empty() {
            return all;
        }
        let frame = Frame::of_file(file);
        let values = match mount.child {
            Router::Value(expr) => vec![ev.settled_expr(frame, mount.decl, expr)],
            Router::ResultOf(expr) => match ev.callee(frame, mount.decl, expr) {
                Value::Def(def) => vec![ev.result_of(def, frame)],
                Value::Overloads(defs) => defs.iter().map(|it| ev.result_of(*it, frame)).collect(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        for value in values {
            if let Value::Instance(type_, _) = value
                && self.serving.contains(&type_)
                && !all.contains(&Key::Def(type_))
            {
                all.push(Key::Def(type_));
            }
        }
        all
    }

    fn start(&mut self, world: &World<'_>, file: u32, name: Str, prefix: String, mount: &Mount) {
        let facts = world.found_in(file);
        let name = facts.text(name);
        let (name, stated) = match name.split_once('@') {
            Some((name, place)) if place.starts_with('@') => match in_bundle(world, place) {
                Some(place) => (name, Some(place)),
                None => return,
            },
            Some((name, place)) => (name, Some(place.to_owned())),
            None => (name, None),
        };
        let directory = stated.unwrap_or_else(|| {
            let directory = world.path(file).rsplit_once('/').map_or("", |it| it.0);
            // The configuration of Symfony lies beside its code.
            let top = directory.strip_suffix("/routes").unwrap_or(directory).strip_suffix("config");
            let top = top.filter(|_| name == "symfony:");
            top.map_or(directory, |it| it.trim_end_matches('/')).to_owned()
        });
        let name = name.to_owned();
        let known = self.applications.iter().position(|it| it.0 == name && it.1 == directory);
        let place = known.unwrap_or(self.applications.len());
        if known.is_none() {
            self.applications.push((name, directory));
        }
        let key = Key::Application(place as u32);
        self.below.entry(key).or_default().push((None, prefix, false));
        let except = mount.except.iter().map(|it| facts.text(*it).to_owned());
        self.except.entry(key).or_default().extend(except);
    }

    /// The application of a framework that starts nearest above a file.
    fn application(&self, name: &str, path: &str) -> Option<Key> {
        let framework = name.split_once(':').map_or_else(|| name.to_owned(), |it| format!("{}:", it.0));
        let is_above = |directory: &str| {
            directory.is_empty()
                || path.strip_prefix(directory).is_some_and(|it| it.is_empty() || it.starts_with('/'))
        };
        let all = (0..).zip(&self.applications);
        let above = all.filter(|(_, it)| it.0 == framework && is_above(&it.1));
        above.max_by_key(|(_, it)| it.1.len()).map(|(at, _)| Key::Application(at))
    }

    /// Whether a class or one above it says the path of its methods.
    fn is_templated(&self, world: &World<'_>, class: Def) -> bool {
        let is_own = |it: Def| self.own.contains_key(&Key::Def(it));
        let mut above = world.hierarchy.ancestors(class).iter();
        is_own(class) || above.any(|it| matches!(it, Ancestor::Project(base) if is_own(*base)))
    }

    fn knows(&self, world: &World<'_>, key: Key) -> bool {
        self.own.contains_key(&key)
            || matches!(key, Key::Def(def) if world.kind(def).is_type_like() && self.is_templated(world, def))
            || self.below.contains_key(&key)
            || matches!(key, Key::Def(def) | Key::Parameter(def, 0)
                if self.below.contains_key(&Key::File(world.file_of(def))))
    }

    fn prefixes(&self, world: &World<'_>, key: Key) -> Vec<String> {
        let mut found = Vec::new();
        self.collect(world, key, "", &mut vec![], &mut found);
        if found.is_empty() || found == [""] && !self.own.contains_key(&key) {
            found = vec![self.inherited(world, key)];
        }
        let mut seen = FxHashSet::default();
        found.retain(|it| seen.insert(it.clone()));
        found
    }

    /// The prefix of a router, or the one that a class takes over from those above it.
    fn inherited(&self, world: &World<'_>, key: Key) -> String {
        if let Some(own) = self.own.get(&key) {
            return own.clone();
        }
        let Key::Def(def) = key else { return String::new() };
        if !world.kind(def).is_type_like() {
            return String::new();
        }
        let above = world.hierarchy.ancestors(def).iter().find_map(|it| match it {
            Ancestor::Project(base) => self.own.get(&Key::Def(*base)),
            _ => None,
        });
        let (file, _, decl) = world.decl(def);
        let name = world.found_in(file).text(decl.name);
        let name = name.strip_suffix("Controller").unwrap_or(name);
        above.map(|it| it.replace("[controller]", name)).unwrap_or_default()
    }

    /// What stands before a router, outermost first, for each way to the top.
    fn collect(
        &self,
        world: &World<'_>,
        key: Key,
        behind: &str,
        way: &mut Vec<Key>,
        found: &mut Vec<String>,
    ) {
        if way.len() >= MAX_DEPTH || found.len() >= MAX_PREFIXES || way.contains(&key) {
            return;
        }
        let own = self.own.get(&key).map_or("", String::as_str);
        // A module that offers its router is mounted for it.
        let below = self.below.get(&key).or_else(|| match key {
            Key::Def(def) | Key::Parameter(def, 0) => self.below.get(&Key::File(world.file_of(def))),
            _ => None,
        });
        let Some(below) = below else {
            found.push(joined(own, behind));
            return;
        };
        way.push(key);
        for (parent, prefix, replaces) in below {
            let here = if *replaces { joined(prefix, behind) } else { joined(prefix, &joined(own, behind)) };
            match parent {
                Some(parent) => self.collect(world, *parent, &here, way, found),
                None => found.push(here),
            }
        }
        way.pop();
    }
}

/// `@ShopBundle/Resources/x` as a path: a bundle lies where its class does.
fn in_bundle(world: &World<'_>, written: &str) -> Option<String> {
    let (bundle, rest) = written.strip_prefix('@')?.split_once('/')?;
    let class = format!("{bundle}.php");
    reads::note(Door::Paths, keys::ALL_FILES, None);
    let mut holders = (0..world.n_files() as u32).filter_map(|it| {
        let (directory, name) = world.path(it).rsplit_once('/')?;
        (name == class).then_some(directory)
    });
    let one = holders.next()?;
    holders.next().is_none().then(|| format!("{one}/{rest}"))
}

/// Two parts of a pattern with one `/` between them.
fn joined(prefix: &str, pattern: &str) -> String {
    if prefix.is_empty() {
        return pattern.to_owned();
    }
    if pattern.is_empty() {
        return prefix.to_owned();
    }
    match (prefix.ends_with('/'), pattern.starts_with('/')) {
        (true, true) => format!("{}{pattern}", prefix.trim_end_matches('/')),
        (false, false) => format!("{prefix}/{pattern}"),
        _ => format!("{prefix}{pattern}"),
    }
}

fn key_text(name: &str) -> String {
    match name.split_once(' ') {
        Some((method, pattern)) => key_of(method, pattern),
        None => name.to_owned(),
    }
}

/// Method and pattern, parameters without their names, no slash at the end.
fn key_of(method: &str, pattern: &str) -> String {
    let mut key = format!("{method} ");
    for (at, segment) in pattern.trim_matches('/').split('/').enumerate() {
        if at > 0 {
            key.push('/');
        }
        match (segment.find('{'), segment.rfind('}')) {
            (Some(from), Some(to)) if from < to => {
                key.push_str(&segment[..from]);
                key.push_str("{}");
                key.push_str(&segment[to + 1..]);
            }
            _ => key.push_str(segment),
        }
    }
    key
}
