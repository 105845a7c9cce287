//! Names of types, values and methods, from where they stand outwards.

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, ImportKind};

use super::super::nominal::{Dialect, members, packages};
use super::{Java, tables};
use crate::evaluate::{Evaluator, Frame};
use crate::languages::{Rules, Space};
use crate::names::Name;
use crate::scopes::{Item, Scope};
use crate::value::{External, Origin, Value};
use crate::world::{Def, ModuleId};

impl Java {
    /// A name that no type around it declares: imports, the package, wildcards, `java.lang`, packages.
    pub(in crate::languages) fn top(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        name: Name,
        space: Space,
    ) -> Value {
        let world = ev.world;
        let facts = world.found_in(frame.file);
        let scopes = &world.scopes[frame.file as usize];
        for entry in scopes.find(Scope::TOP, name) {
            let found = match entry.item {
                Item::Import(index) => ev.imported(frame, &facts.imports[index as usize], space),
                Item::Decl(decl) => Value::Def(world.def(frame.file, decl)),
                _ => continue,
            };
            let is_wanted = match &found {
                // `import static a.B.c` may bring a method that shares its name with a type.
                Value::Def(def) => space == Space::Value || world.kind(*def).is_type_like(),
                Value::External(_) => true,
                _ => false,
            };
            if is_wanted {
                return found;
            }
        }
        let packages = &world.modules.jvm.packages;
        if let Some(def) = packages.type_named(world, frame.file, packages.of_file(frame.file), name) {
            return Value::Def(def);
        }
        let mut outside: Vec<External> = Vec::new();
        for (_, import) in scopes.wildcards() {
            let import = &facts.imports[*import as usize];
            match self.offered(ev, frame, import, name, space) {
                Value::Missing => {}
                found => return found,
            }
            if let Value::External(external) = self.imported_module(ev, frame, import) {
                outside.push(external.member(name));
            }
        }
        if let Some(known) = outside.iter().find(|it| self.standard(ev).is_known(it)) {
            return Value::External(known.clone());
        }
        let text = world.text(name);
        if world.names.is_any_word(name, tables::JAVA_LANG)
            && let (Some(java), Some(lang)) = (world.names.find("java"), world.names.find("lang"))
        {
            return Value::External(External::new(Origin::StandardLibrary, &[java, lang, name]));
        }
        let is_type = text.starts_with(|it: char| it.is_uppercase());
        match &outside[..] {
            [one] if is_type => Value::External(one.clone()),
            [_, ..] if is_type => Value::ExternalResult,
            _ if space == Space::Value && !is_type => self.package(ev, name),
            _ => Value::Missing,
        }
    }

    /// A name that may begin a package path: `org` in `org.junit.Assert.fail()`.
    fn package(&self, ev: &Evaluator<'_>, name: Name) -> Value {
        if let Some(package) = ev.world.modules.jvm.packages.child(packages::ROOT, name) {
            return Value::Module(package);
        }
        match ev.world.text(name) {
            "java" | "javax" => Value::External(External::new(Origin::StandardLibrary, &[name])),
            "com" | "org" | "net" | "io" | "jakarta" => {
                Value::External(External::new(Origin::ThirdParty, &[name]))
            }
            _ => Value::Missing,
        }
    }

    /// What a whole path means: a package, a type, or something outside.
    pub(in crate::languages) fn path(&self, ev: &mut Evaluator<'_>, frame: Frame, path: &[Name]) -> Value {
        let world = ev.world;
        let packages = &world.modules.jvm.packages;
        let mut package = packages::ROOT;
        for (at, name) in path.iter().enumerate() {
            if let Some(type_) = packages.type_named(world, frame.file, package, *name) {
                let mut type_ = type_;
                for inner in &path[at + 1..] {
                    match members::nested_type(world, type_, *inner) {
                        Some(found) => type_ = found,
                        None => return Value::Missing,
                    }
                }
                return Value::Def(type_);
            }
            match packages.child(package, *name) {
                Some(child) => package = child,
                None => return self.outside(ev, path),
            }
        }
        Value::Module(package)
    }

    fn outside(&self, ev: &Evaluator<'_>, path: &[Name]) -> Value {
        let texts: Vec<&str> = path.iter().take(3).map(|it| ev.world.text(*it)).collect();
        let origin = match texts[..] {
            ["java", ..] => Origin::StandardLibrary,
            ["javax", second, ..] if tables::JAVAX.contains(&second) => Origin::StandardLibrary,
            _ => Origin::ThirdParty,
        };
        Value::External(External::new(origin, path))
    }

    pub(in crate::languages) fn package_member(
        &self,
        ev: &Evaluator<'_>,
        frame: Frame,
        package: ModuleId,
        name: Name,
    ) -> Value {
        let packages = &ev.world.modules.jvm.packages;
        if let Some(def) = packages.type_named(ev.world, frame.file, package, name) {
            return Value::Def(def);
        }
        if let Some(child) = packages.child(package, name) {
            return Value::Module(child);
        }
        // A type that is not there is made by a generator, or the package is split with one outside.
        let path: Vec<Name> = packages.path(package).iter().copied().chain([name]).collect();
        self.outside(ev, &path)
    }

    /// A member of a type by the type's name.
    pub(in crate::languages) fn static_member(
        &self,
        ev: &Evaluator<'_>,
        type_: Def,
        name: Name,
        space: Space,
    ) -> Value {
        let world = ev.world;
        if space == Space::Type {
            return members::nested_type(world, type_, name).map_or(Value::Missing, Value::Def);
        }
        let field = members::field(world, type_, name).or_else(|| members::nested_type(world, type_, name));
        if let Some(found) = field {
            return Value::Def(found);
        }
        match members::methods(world, self, type_, name) {
            found if found.is_empty() => Value::Missing,
            found => members::overloads(found),
        }
    }

    /// All methods of a name that a type has; none where there is none.
    pub(super) fn methods(&self, ev: &mut Evaluator<'_>, type_: Def, name: Name) -> Option<Value> {
        let world = ev.world;
        let known = ev
            .java_members
            .methods
            .entry((type_, name))
            .or_insert_with(|| members::some(members::methods(world, self, type_, name)));
        known.clone().map(Value::Overloads)
    }

    /// `Outer.super` in a class inside `Outer`; `Interface.super` for a method that the interface has.
    pub(in crate::languages) fn qualified_super(&self, ev: &Evaluator<'_>, _: Frame, type_: Def) -> Value {
        match ev.world.kind(type_) {
            NodeKind::Interface => Value::instance(type_),
            _ => Value::Super(type_),
        }
    }

    /// What a type has without declaring it: parts of records, what enums and records get from the language.
    pub(in crate::languages) fn implied(&self, ev: &Evaluator<'_>, type_: Def, name: Name) -> Value {
        let world = ev.world;
        let (file, _, decl) = world.decl(type_);
        if decl.parameters.iter().any(|it| world.name(file, it.name) == name)
            && let Some(field) = members::field(world, type_, name)
        {
            return Value::Def(field);
        }
        let base = match decl.kind {
            NodeKind::Enum if tables::ENUM.contains(&world.text(name)) => "java.lang.Enum",
            _ => return members::outside(ev, self, type_, name),
        };
        let external = self.standard(ev).external(base);
        external.map_or(Value::ExternalResult, |it| Value::External(it.member(name)))
    }

    /// A type parameter of a declaration around.
    pub(in crate::languages) fn type_parameter(
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
            if let Some(found) =
                around.type_parameters.iter().find(|it| world.name(frame.file, it.name) == name)
            {
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

    /// A member of what fulfils some bounds: the first that has it.
    pub(in crate::languages) fn of_bounds(
        &self,
        bounds: &[Value],
        mut find: impl FnMut(&Value) -> Value,
    ) -> Value {
        let mut outside = Value::Unknown;
        for bound in bounds {
            let bound = match bound {
                Value::Def(def) => Value::instance(*def),
                Value::External(external) => Value::ExternalInstance(external.clone(), Value::none()),
                Value::Bounded(_) => bound.clone(),
                _ => continue,
            };
            match find(&bound) {
                found @ (Value::Def(_) | Value::Overloads(_)) => return found,
                found if !outside.is_known() => outside = found,
                _ => {}
            }
        }
        if bounds.is_empty() { Value::ExternalResult } else { outside }
    }

    /// `name(...)`: a method of the types around, from the innermost; then what is imported.
    pub(in crate::languages) fn bare_call(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
    ) -> Value {
        let world = ev.world;
        let facts = world.found_in(frame.file);
        let mut doubt = false;
        let mut outside: Option<Value> = None;
        let mut at = decl;
        while let Some(id) = at {
            let around = facts.decl(id);
            if around.kind.is_type_like() {
                let type_ = world.def(frame.file, id);
                if let Some(found) = self.methods(ev, type_, name) {
                    // A class that is extended between here and there may have one of the same name.
                    return if doubt { Value::OneOf([found, Value::Unknown].into()) } else { found };
                }
                match self.implied(ev, type_, name) {
                    Value::Missing => {}
                    found @ Value::Def(_) => return found,
                    found => {
                        let is_known = match &found {
                            Value::External(external) => {
                                let (_, type_path) = external.path.split_last().unwrap_or((&name, &[]));
                                let type_ = External::new(external.origin, type_path);
                                self.standard(ev).declares(&type_, name)
                            }
                            _ => false,
                        };
                        let extends = members::extends_outside(ev, self, type_);
                        if is_known {
                            return found;
                        }
                        doubt |= extends;
                        outside = outside.or(Some(found));
                    }
                }
            }
            at = around.owner;
        }
        if let Some(found) = self.imported_method(ev, frame, name) {
            return found;
        }
        outside.unwrap_or(Value::Missing)
    }

    /// Static imports: single ones first, all of a name together; then wildcards.
    fn imported_method(&self, ev: &mut Evaluator<'_>, frame: Frame, name: Name) -> Option<Value> {
        let world = ev.world;
        let facts = world.found_in(frame.file);
        let scopes = &world.scopes[frame.file as usize];
        let mut found: Vec<Def> = Vec::new();
        let mut outside: Option<Value> = None;
        for entry in scopes.find(Scope::TOP, name) {
            let Item::Import(index) = entry.item else { continue };
            let import = &facts.imports[index as usize];
            if !matches!(import.kind, ImportKind::Member { .. }) {
                continue;
            }
            match self.imported_module(ev, frame, import) {
                Value::Def(type_) => found.extend(members::methods(world, self, type_, name)),
                Value::External(external) if is_type(ev, &external) => {
                    outside = Some(Value::External(external.member(name)));
                }
                _ => {}
            }
        }
        if found.is_empty() && outside.is_none() {
            for (_, import) in scopes.wildcards() {
                match self.imported_module(ev, frame, &facts.imports[*import as usize]) {
                    Value::Def(type_) => found.extend(members::methods(world, self, type_, name)),
                    Value::External(external) if is_type(ev, &external) => {
                        let several = outside.is_some();
                        let member = Value::External(external.member(name));
                        outside = Some(if several { Value::ExternalResult } else { member });
                    }
                    _ => {}
                }
            }
        }
        if found.is_empty() { outside } else { Some(members::overloads(found)) }
    }
}

/// Whether a path outside ends in a type, by the way it is written.
fn is_type(ev: &Evaluator<'_>, external: &External) -> bool {
    external.last().is_some_and(|it| ev.world.text(it).starts_with(|it: char| it.is_uppercase()))
}
