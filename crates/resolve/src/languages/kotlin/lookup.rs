//! Names of types, values and functions, from where they stand outwards; extensions.

use std::sync::Arc;

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, ParameterKind, Value as Bound};

use super::super::java::Java;
use super::super::nominal::generics::{self, Site};
use super::super::nominal::{Dialect, lambdas, members, packages};
use super::{Kotlin, tables};
use crate::evaluate::{Evaluator, Frame};
use crate::languages::{Fit, Given, Rules, Space};
use crate::names::Name;
use crate::scopes::{Item, Scope};
use crate::value::{External, Origin, Value};
use crate::world::{Def, ModuleId, World, is_companion};

impl Kotlin {
    /// A name that nothing around it declares: imports, the package, wildcards, what needs no import, packages.
    pub(super) fn top(&self, ev: &mut Evaluator<'_>, frame: Frame, name: Name, space: Space) -> Value {
        let world = ev.world;
        let facts = world.found_in(frame.file);
        let scopes = &world.scopes[frame.file as usize];
        for entry in scopes.find(Scope::TOP, name) {
            let Item::Import(index) = entry.item else { continue };
            match ev.imported(frame, &facts.imports[index as usize], space) {
                Value::Missing | Value::Unknown | Value::Overloads(_) => {}
                found => return found,
            }
        }
        let package = world.modules.jvm.packages.of_file(frame.file);
        match self.declared_in(ev, frame, package, name, space) {
            Value::Missing | Value::Overloads(_) => {}
            found => return found,
        }
        let mut outside: Vec<External> = Vec::new();
        for (_, import) in scopes.wildcards() {
            let import = &facts.imports[*import as usize];
            match self.offered(ev, frame, import, name, space) {
                Value::Missing | Value::Overloads(_) => {}
                found => return found,
            }
            if let Value::External(external) = self.imported_module(ev, frame, import) {
                outside.push(external.member(name));
            }
        }
        let text = world.text(name);
        if let Some((_, path)) = tables::TYPES.iter().find(|(it, _)| *it == text)
            && let Some(external) = self.standard(ev).external(path)
        {
            return Value::External(external);
        }
        if let Some(known) = outside.iter().find(|it| self.standard(ev).is_known(it)) {
            return Value::External(known.clone());
        }
        let is_type = text.starts_with(|it: char| it.is_uppercase());
        match &outside[..] {
            [one] if is_type => Value::External(one.clone()),
            [_, ..] if is_type => Value::ExternalResult,
            _ => Java.top(ev, frame, name, space),
        }
    }

    /// What a package declares under a name: a type, a variable, functions.
    pub(super) fn declared_in(
        &self,
        ev: &Evaluator<'_>,
        frame: Frame,
        package: ModuleId,
        name: Name,
        space: Space,
    ) -> Value {
        let world = ev.world;
        let jvm = &world.modules.jvm;
        if let Some(type_) = jvm.packages.type_named(world, frame.file, package, name) {
            return Value::Def(type_);
        }
        if space != Space::Value {
            return Value::Missing;
        }
        let all = jvm.packages.members(package, name);
        if let Some(variable) = all.iter().find(|it| members::is_field(world.kind(**it))) {
            return Value::Def(*variable);
        }
        let functions: Vec<Def> = all.iter().copied().filter(|it| world.kind(*it).is_callable()).collect();
        if functions.is_empty() { Value::Missing } else { members::overloads(functions) }
    }

    pub(super) fn package_member(
        &self,
        ev: &Evaluator<'_>,
        frame: Frame,
        package: ModuleId,
        name: Name,
        space: Space,
    ) -> Value {
        match self.declared_in(ev, frame, package, name, space) {
            Value::Missing => Java.package_member(ev, frame, package, name),
            found => found,
        }
    }

    /// A member by the type's name: of an object, of a companion, a nested type, a static of Java.
    pub(super) fn static_member(&self, ev: &Evaluator<'_>, type_: Def, name: Name, space: Space) -> Value {
        let world = ev.world;
        if space == Space::Type {
            return members::nested_type(world, type_, name).map_or(Value::Missing, Value::Def);
        }
        let companions = || companions(world, type_);
        let field = members::field(world, type_, name)
            .or_else(|| companions().find_map(|it| members::field(world, it, name)))
            .or_else(|| members::nested_type(world, type_, name))
            .or_else(|| companions().find_map(|it| members::nested_type(world, it, name)));
        if let Some(found) = field {
            return Value::Def(found);
        }
        let mut found = members::methods(world, self, type_, name);
        if found.is_empty() {
            found = self.companion_methods(ev, type_, name);
        }
        if found.is_empty() { Value::Missing } else { members::overloads(found) }
    }

    pub(super) fn companion_methods(&self, ev: &Evaluator<'_>, type_: Def, name: Name) -> Vec<Def> {
        companions(ev.world, type_).flat_map(|it| members::methods(ev.world, self, it, name)).collect()
    }

    /// Methods of a name that a type has, else those of its companions.
    pub(super) fn called_member(&self, ev: &mut Evaluator<'_>, type_: Def, name: Name) -> Option<Value> {
        let known = ev.kotlin_members.called.get(&(type_, name)).cloned();
        let found = known.unwrap_or_else(|| {
            let own = self.methods(ev, type_, name);
            let found = own.or_else(|| members::some(self.companion_methods(ev, type_, name)));
            ev.kotlin_members.called.insert((type_, name), found.clone());
            found
        });
        found.map(Value::Overloads)
    }

    /// All methods of a name that a type has; none where there is none.
    pub(super) fn methods(&self, ev: &mut Evaluator<'_>, type_: Def, name: Name) -> Option<Arc<[Def]>> {
        let world = ev.world;
        let known = ev.kotlin_members.methods.entry((type_, name));
        known.or_insert_with(|| members::some(members::methods(world, self, type_, name))).clone()
    }

    /// A parameter of the constructor that is no property: seen in what initialises the type.
    pub(super) fn constructor_parameter(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        type_: Def,
        name: Name,
    ) -> Option<Value> {
        let world = ev.world;
        let (file, id, _) = world.decl(type_);
        let entries = world.scopes[file as usize].find(Scope::of(Some(id)), name);
        let bound = entries.iter().find_map(|it| match it.item {
            Item::Binding(index) => Some(&world.found_in(file).bindings[index as usize]),
            _ => None,
        })?;
        match bound.value {
            Bound::Type(type_) => Some(ev.typed(Frame::in_file(frame, file), Some(id), type_)),
            _ => None,
        }
    }

    /// `x.name` for a `getName()` or `isName()` of Java.
    pub(super) fn by_getter(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        of: &Value,
        type_: Def,
        name: Name,
    ) -> Option<Value> {
        let world = ev.world;
        let text = world.text(name);
        let mut capital = text.chars();
        let first = capital.next()?.to_uppercase();
        let getter = format!("get{first}{}", capital.as_str());
        let names = [world.names.find(&getter), text.starts_with("is").then_some(name)];
        for name in names.into_iter().flatten() {
            let found = members::methods(world, self, type_, name);
            if let Some(method) = found.iter().find(|it| world.decl(**it).2.parameters.is_empty()) {
                let site = Site { frame, decl: None, arguments: &[] };
                return Some(generics::result(ev, self, site, *method, of));
            }
        }
        None
    }

    /// What a property holds is called, or something that is not of the project.
    pub(super) fn held_or_outside(&self, ev: &Evaluator<'_>, type_: Def, name: Name) -> Value {
        let world = ev.world;
        if let Some(field) = members::field(world, type_, name) {
            return Value::Def(field);
        }
        let (_, _, decl) = world.decl(type_);
        let is_data = world.text(name) == "copy" || world.text(name).starts_with("component");
        if decl.kind == NodeKind::Class && is_data {
            return Value::Nothing;
        }
        if decl.kind == NodeKind::Enum {
            return Java.implied(ev, type_, name);
        }
        members::outside(ev, self, type_, name)
    }

    /// `x.toLong()`, where `x` is an `Int`: these are types like others.
    pub(super) fn plain_member(&self, ev: &Evaluator<'_>, of: &Value, name: Name) -> Option<Value> {
        let world = ev.world;
        let Value::ExternalInstance(external, _) = of else { return None };
        let [plain] = external.path[..] else { return None };
        let (type_, _) = tables::TYPES.iter().find(|(_, path)| *path == world.text(plain))?;
        let path = [world.names.find("kotlin")?, world.names.find(type_)?, name];
        Some(Value::External(External::new(Origin::StandardLibrary, &path)))
    }

    /// Functions of the project that extend what a call is made on, as far as they are in sight.
    pub(super) fn extensions(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        of: &Value,
        name: Name,
    ) -> Option<Value> {
        let mut found: Vec<Def> = Vec::new();
        for &def in self.functions_in_sight(ev, frame, name).iter() {
            let Some(receiver) = receiver_type(ev.world, def) else { continue };
            let (file, id, _) = ev.world.decl(def);
            let target = ev.typed(Frame::in_file(frame, file), Some(id), receiver);
            let is_certain = matches!(self.fits(ev, frame, of, &target), Fit::Exact | Fit::Plain);
            if is_certain && !found.contains(&def) {
                found.push(def);
            }
        }
        (!found.is_empty()).then(|| members::overloads(found))
    }

    /// Functions of files that a name can mean here, remembered.
    fn functions_in_sight(&self, ev: &mut Evaluator<'_>, frame: Frame, name: Name) -> Arc<[Def]> {
        if let Some(known) = ev.kotlin_members.in_sight.get(&(frame.file, name)) {
            return known.clone();
        }
        let found: Arc<[Def]> = self.find_functions_in_sight(ev, frame, name).into();
        if ev.is_settling() {
            ev.kotlin_members.in_sight.insert((frame.file, name), found.clone());
        }
        found
    }

    /// Imported ones, those of the package, those of wildcards.
    fn find_functions_in_sight(&self, ev: &mut Evaluator<'_>, frame: Frame, name: Name) -> Vec<Def> {
        let world = ev.world;
        let facts = world.found_in(frame.file);
        let scopes = &world.scopes[frame.file as usize];
        let mut found: Vec<Def> = Vec::new();
        for entry in scopes.find(Scope::TOP, name) {
            if let Item::Import(index) = entry.item
                && let Value::Overloads(all) =
                    ev.imported(frame, &facts.imports[index as usize], Space::Value)
            {
                found.extend(all.iter());
            }
        }
        if !found.is_empty() {
            return self.nearest(ev, frame, found);
        }
        let jvm = &world.modules.jvm;
        let package = jvm.packages.of_file(frame.file);
        let is_function = |it: &&Def| world.kind(**it).is_callable();
        found.extend(jvm.packages.members(package, name).iter().filter(is_function));
        for (_, import) in scopes.wildcards() {
            match self.imported_module(ev, frame, &facts.imports[*import as usize]) {
                Value::Module(package) => {
                    found.extend(jvm.packages.members(package, name).iter().filter(is_function));
                }
                Value::Def(type_) => {
                    if let Value::Overloads(all) = self.static_member(ev, type_, name, Space::Value) {
                        found.extend(all.iter());
                    }
                }
                _ => {}
            }
        }
        self.nearest(ev, frame, found)
    }

    /// Of functions that take the same, as several platforms have them, the one that is nearest.
    fn nearest(&self, ev: &Evaluator<'_>, frame: Frame, all: Vec<Def>) -> Vec<Def> {
        if all.len() < 2 {
            return all;
        }
        let world = ev.world;
        let is_same = |one: Def, other: Def| {
            members::overrides(world, one, other, &[]) && {
                let extended = |it: Def| receiver_type(world, it).map(|type_| (world.file_of(it), type_));
                match (extended(one), extended(other)) {
                    (Some(one), Some(other)) => members::same_text(world, one, other),
                    (one, other) => one.is_none() && other.is_none(),
                }
            }
        };
        let near = |it: Def| packages::near(world.path(frame.file), world.path(world.file_of(it)));
        let mut kept: Vec<Def> = Vec::new();
        for def in all {
            match kept.iter_mut().find(|it| is_same(**it, def)) {
                Some(known) if near(def) > near(*known) => *known = def,
                Some(_) => {}
                None => kept.push(def),
            }
        }
        kept
    }

    /// `a.b.f()`: a function or a type of a package.
    pub(super) fn called_in(&self, ev: &Evaluator<'_>, frame: Frame, package: ModuleId, name: Name) -> Value {
        let world = ev.world;
        let functions: Vec<Def> = world
            .modules
            .jvm
            .packages
            .members(package, name)
            .iter()
            .copied()
            .filter(|it| world.kind(*it).is_callable())
            .collect();
        if !functions.is_empty() {
            return members::overloads(functions);
        }
        match (self.package_member(ev, frame, package, name, Space::Type), world.names.find("<init>")) {
            (Value::Def(type_), Some(init)) => members::constructors(world, type_, init),
            (found, _) => found,
        }
    }

    /// `name(...)`: functions around, members of what `this` is, functions of files, types that are made.
    pub(super) fn bare_call(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        at: u32,
    ) -> Option<Value> {
        let world = ev.world;
        let facts = world.found_in(frame.file);
        let scopes = &world.scopes[frame.file as usize];
        let mut doubt = false;
        let mut outside: Option<Value> = None;
        let mut next = decl;
        while let Some(id) = next {
            let around = facts.decl(id);
            if around.kind.is_type_like() {
                let type_ = world.def(frame.file, id);
                if let Some(found) = self.called_member(ev, type_, name) {
                    return Some(if doubt { Value::OneOf([found, Value::Unknown].into()) } else { found });
                }
                if let Some(found) = self.extensions(ev, frame, &Value::instance(type_), name) {
                    return Some(found);
                }
                if members::extends_outside(ev, self, type_) {
                    doubt = true;
                    outside = outside.or_else(|| Some(members::outside(ev, self, type_, name)));
                }
            } else {
                let local: Vec<Def> = scopes
                    .find(Scope::of(Some(id)), name)
                    .iter()
                    .filter_map(|it| match it.item {
                        Item::Decl(decl) if facts.decl(decl).kind.is_callable() => {
                            Some(world.def(frame.file, decl))
                        }
                        _ => None,
                    })
                    .collect();
                if !local.is_empty() {
                    return Some(members::overloads(local));
                }
                match self.on_receiver(ev, frame, id, name, at) {
                    Value::Missing => {}
                    Value::Unknown => doubt = true,
                    found => return Some(found),
                }
                let is_variable = scopes.find(Scope::of(Some(id)), name).iter().any(|it| match it.item {
                    Item::Binding(index) => facts.bindings[index as usize].visible.contains(at),
                    _ => false,
                });
                if is_variable {
                    return None;
                }
            }
            next = around.owner;
        }
        let functions: Vec<Def> = self
            .functions_in_sight(ev, frame, name)
            .iter()
            .copied()
            .filter(|it| receiver_type(world, *it).is_none())
            .collect();
        if !functions.is_empty() {
            return Some(members::overloads(functions));
        }
        match ev.name(frame, decl, name, at, Space::Type) {
            Value::Def(type_) if world.kind(type_) == NodeKind::TypeAlias => {
                let init = world.names.find("<init>")?;
                let made = self.aliased(ev, frame, type_);
                return Some(made.map(|it| Java.method(ev, frame, it, init)));
            }
            Value::Def(type_) => {
                let init = world.names.find("<init>")?;
                return Some(members::constructors(world, type_, init));
            }
            // What is imported from outside may be a function: those have names in lower case.
            Value::External(external)
                if external.last().is_some_and(|it| !world.text(it).starts_with(char::is_lowercase)) =>
            {
                let init = world.names.find("<init>")?;
                return Some(Value::External(external.member(init)));
            }
            _ => {}
        }
        let imported = scopes.find(Scope::TOP, name).iter().find_map(|it| match it.item {
            Item::Import(index) => Some(&facts.imports[index as usize]),
            _ => None,
        });
        if let Some(import) = imported
            && let found @ Value::External(_) = ev.imported(frame, import, Space::Value)
        {
            return Some(found);
        }
        if let Some(outside) = outside {
            return Some(outside);
        }
        let kotlin = world.names.find("kotlin")?;
        let external = External::new(Origin::StandardLibrary, &[kotlin]);
        if self.standard(ev).declares(&external, name) {
            return Some(Value::External(external.member(name)));
        }
        // A property that holds a function, or one of the many functions that need no import.
        match ev.name(frame, decl, name, at, Space::Value) {
            Value::Missing | Value::Unknown => Some(Value::ExternalResult),
            _ => None,
        }
    }

    /// A member of what an extension or a lambda is applied to; `Unknown` when that is something nobody knows.
    fn on_receiver(&self, ev: &mut Evaluator<'_>, frame: Frame, decl: DeclId, name: Name, at: u32) -> Value {
        let world = ev.world;
        let facts = world.found_in(frame.file);
        let scopes = &world.scopes[frame.file as usize];
        let mut bindings: Vec<u32> = Vec::new();
        for this in ["this", "<this>"] {
            let Some(this) = world.names.find(this) else { continue };
            for entry in scopes.find(Scope::of(Some(decl)), this) {
                let Item::Binding(index) = entry.item else { continue };
                // Which of them hold at a call of another name depends on where they stand.
                if world.facts(frame.file).bindings[index as usize].visible.contains(at) {
                    bindings.push(index);
                }
            }
        }
        // The innermost first.
        bindings.sort_by_key(|it| std::cmp::Reverse((facts.bindings[*it as usize].visible.from, *it)));
        let mut doubt = false;
        for index in bindings {
            let value = match facts.bindings[index as usize].value {
                Bound::Type(type_) => ev.typed(frame, Some(decl), type_),
                Bound::Expr(expr) => ev.settled_expr(frame, Some(decl), expr),
                _ => Value::Unknown,
            };
            let found = value.map(|it| match it {
                Value::Instance(type_, _) => match members::methods(world, self, *type_, name) {
                    found if found.is_empty() => Value::Missing,
                    found => members::overloads(found),
                },
                _ => Value::Missing,
            });
            if found.is_known() {
                return if doubt { Value::OneOf([found, Value::Unknown].into()) } else { found };
            }
            if let Some(found) = self.extensions(ev, frame, &value, name) {
                return found;
            }
            doubt |= !matches!(value, Value::Nothing | Value::Instance(..));
        }
        if doubt { Value::Unknown } else { Value::Missing }
    }

    /// What a lambda is applied to, by the type it is passed for; `Nothing` when that is known to be nothing.
    pub(super) fn applied_to(&self, ev: &mut Evaluator<'_>, frame: Frame, it: Given) -> Value {
        let world = ev.world;
        let receiver = lambdas::receiver_of(ev, frame, it.decl, it.callee);
        let callee = ev.callee(frame, it.decl, it.callee);
        callee.map(|target| match target {
            Value::Def(method) if world.kind(*method).is_callable() => {
                match lambdas::passed_for(ev, self, frame, it, *method, &receiver) {
                    Value::ExternalInstance(function, arguments) => {
                        let last = function.last().map_or("", |it| world.text(it));
                        match last.starts_with("Extension") {
                            true => arguments.first().cloned().unwrap_or(Value::Unknown),
                            false => Value::Nothing,
                        }
                    }
                    Value::Instance(..) => Value::Nothing,
                    _ => Value::Unknown,
                }
            }
            Value::External(external) if self.standard(ev).takes_lambda(external, &receiver) => {
                Value::Nothing
            }
            _ => Value::Unknown,
        })
    }

    pub(super) fn aliased(&self, ev: &mut Evaluator<'_>, frame: Frame, alias: Def) -> Value {
        let (file, _, decl) = ev.world.decl(alias);
        match decl.type_ {
            Some(type_) => ev.typed(Frame::in_file(frame, file), decl.owner, type_),
            None => Value::Unknown,
        }
    }

    /// Part number `index` of what is destructured: a pair, an entry of a map, a data class.
    pub(super) fn part(&self, ev: &mut Evaluator<'_>, of: &Value, index: u32) -> Value {
        let world = ev.world;
        match of {
            Value::ExternalInstance(external, arguments) => {
                let last = external.last().map_or("", |it| world.text(it));
                match last {
                    "Pair" | "Triple" | "Entry" => {
                        arguments.get(index as usize).cloned().unwrap_or(Value::Unknown)
                    }
                    "IndexedValue" if index == 1 => arguments.first().cloned().unwrap_or(Value::Unknown),
                    _ => Value::Unknown,
                }
            }
            Value::Instance(owner, _) => {
                let owner = *owner;
                let Some(init) = world.names.find("<init>") else { return Value::Unknown };
                let primary =
                    members::own(world, owner, init).find(|it| world.kind(*it) == NodeKind::Constructor);
                let Some(primary) = primary else { return Value::Unknown };
                let (file, id, decl) = world.decl(primary);
                match decl.parameters.get(index as usize).and_then(|it| it.type_) {
                    Some(type_) => {
                        let frame = Frame::of_file(file);
                        let known = generics::at_receiver(ev, frame, of, owner);
                        generics::written(ev, frame, Some(id), type_, &known)
                    }
                    None => Value::Unknown,
                }
            }
            _ => Value::Unknown,
        }
    }

    pub(super) fn array(&self, ev: &Evaluator<'_>, name: &str, arguments: &[Value]) -> Option<Value> {
        if name == "Array" {
            return arguments.first().map(|it| Value::Iterable(it.clone().into()));
        }
        let (_, element) = tables::ARRAYS.iter().find(|(it, _)| *it == name)?;
        Some(Value::Iterable(self.standard(ev).instance(element, Value::none()).into()))
    }

    pub(super) fn type_parameter(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
    ) -> Option<Value> {
        let world = ev.world;
        let facts = world.found_in(frame.file);
        let mut at = decl;
        while let Some(id) = at {
            let around = facts.decl(id);
            let found = around.type_parameters.iter().find(|it| world.name(frame.file, it.name) == name);
            if let Some(found) = found {
                if !ev.enter() {
                    return Some(Value::Unknown);
                }
                let bounds: Vec<Value> =
                    found.bounds.iter().map(|it| self.type_entity(ev, frame, Some(id), *it)).collect();
                ev.leave();
                return Some(Value::Bounded(bounds.into()));
            }
            at = around.owner;
        }
        None
    }
}

/// Objects whose members are used by the name of the type around them.
fn companions<'w>(world: &'w World<'_>, type_: Def) -> impl Iterator<Item = Def> + use<'w> {
    let all: Vec<Def> = members::with_ancestors(world, type_).collect();
    all.into_iter().flat_map(move |type_| {
        let (file, id, _) = world.decl(type_);
        let facts = world.found_in(file);
        let is_companion = move |at: &usize| {
            let decl = &facts.decls[*at];
            decl.owner == Some(id) && is_companion(decl)
        };
        let first = id.index();
        // What stands in a type comes after it.
        let end = facts.decls[first + 1..]
            .iter()
            .position(|it| it.range.from >= facts.decl(id).range.to)
            .map_or(facts.decls.len(), |it| first + 1 + it);
        (first + 1..end).filter(is_companion).map(move |at| world.def(file, DeclId(at as u32)))
    })
}

/// What a function extends.
fn receiver_type(world: &World<'_>, def: Def) -> Option<knowing_model::facts::TypeId> {
    let (_, _, decl) = world.decl(def);
    decl.parameters.iter().find(|it| it.kind == ParameterKind::Receiver)?.type_
}
