//! What does this expression stand for? The part that all languages share: local names and their flow, chains,
//! results that nobody declared, and where to stop.
//!
//! Answers are a function of the facts alone. A memo lives as long as one file is resolved; results that nobody
//! declared are followed `MAX_LEVEL` callables deep, and the level is part of the memo's key, so that the order in which
//! things are asked cannot matter.

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Expr, ExprId, ImportKind, ReturnKind, TypeId, Value as Bound};
use knowing_model::facts::{FileFacts, Import, Modifiers, Str};
use rustc_hash::FxHashMap;

use crate::languages::nominal::members::Known;
use crate::languages::ruby::{Side, Stop};
use crate::languages::typescript::types::Aliases;
use crate::languages::{CallSite, Given, Payload, Space};
use crate::names::Name;
use crate::overloads;
use crate::scopes::{Entry, Item, Scope};
use crate::value::Value;
use crate::world::{Def, ModuleId, World};

/// How many callables deep undeclared results and field values are followed.
const MAX_LEVEL: u8 = 3;
/// How deep expressions may nest before nothing is known of them; keeps the stack bounded.
const MAX_DEPTH: u32 = 120;
/// How much one call site may cost.
const MAX_STEPS: u32 = 3_000;

/// Where an expression is looked at from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Frame {
    pub(crate) file: u32,
    /// The type of `self`, when it is known to be more exact than the method's owner.
    pub(crate) receiver: Option<Def>,
    level: u8,
}

impl Frame {
    pub(crate) fn of_file(file: u32) -> Frame {
        Frame { file, receiver: None, level: 0 }
    }

    /// The same question, asked in another file.
    pub(crate) fn in_file(frame: Frame, file: u32) -> Frame {
        Frame { file, ..frame }
    }
}

/// All that the meaning of a type's name can depend on outside of types.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TopType {
    pub(crate) file: u32,
    /// The namespace around, none for the top; outer none where the place is not known.
    pub(crate) namespace: Option<Option<Str>>,
    pub(crate) name: Name,
    pub(crate) arity: Option<usize>,
}

pub(crate) struct Evaluator<'w> {
    pub(crate) world: &'w World<'w>,
    memo: FxHashMap<(Frame, ExprId), Value>,
    /// The same of the file in work, seen from itself: most of what is asked.
    own: Vec<Option<Value>>,
    own_frame: Frame,
    results: FxHashMap<(Def, Option<Def>, u8), Value>,
    depth: u32,
    steps: u32,
    /// What the top of a file or module binds names to, as far as it was asked for outside of any search.
    top_names: FxHashMap<(u32, Name, Space), Value>,
    /// What the module of an import means, by where the import stands in memory; where that hangs on nothing else.
    modules: FxHashMap<usize, Value>,
    /// Types by simple name, as they are seen from outside of all types; for languages with namespaces in files.
    pub(crate) top_types: FxHashMap<TopType, Value>,
    /// Where Ruby looks for members of a type.
    pub(crate) ruby_stops: FxHashMap<(Def, Side), Vec<Stop>>,
    pub(crate) ts_aliases: Aliases,
    /// What types have, as far as it was asked for, as Java and as Kotlin see it.
    pub(crate) java_members: Known,
    pub(crate) kotlin_members: Known,
    /// Modules that are being searched through their wildcards, so that circles end.
    searched: Vec<(ModuleId, Name, Space)>,
}

impl<'w> Evaluator<'w> {
    pub(crate) fn new(world: &'w World<'w>) -> Evaluator<'w> {
        Evaluator {
            world,
            memo: FxHashMap::default(),
            own: Vec::new(),
            own_frame: Frame::of_file(0),
            results: FxHashMap::default(),
            depth: 0,
            steps: 0,
            top_names: FxHashMap::default(),
            modules: FxHashMap::default(),
            top_types: FxHashMap::default(),
            ruby_stops: FxHashMap::default(),
            ts_aliases: Aliases::default(),
            java_members: Known::default(),
            kotlin_members: Known::default(),
            searched: Vec::new(),
        }
    }

    /// One that is asked for most expressions of a file.
    pub(crate) fn of_file(world: &'w World<'w>, file: u32) -> Evaluator<'w> {
        let own = vec![None; world.found_in(file).exprs.len()];
        Evaluator { own, own_frame: Frame::of_file(file), ..Evaluator::new(world) }
    }

    /// Where the value of an expression of the file in work is remembered.
    fn own_slot(&mut self, frame: Frame, expr: ExprId) -> Option<&mut Option<Value>> {
        if frame == self.own_frame { self.own.get_mut(expr.index()) } else { None }
    }

    /// To be called before each call site or reference.
    pub(crate) fn begin(&mut self) {
        self.steps = 0;
    }

    /// One step deeper, or not at all when it is deep or long enough; `leave` follows.
    pub(crate) fn enter(&mut self) -> bool {
        let room = self.has_room();
        if room {
            self.depth += 1;
            self.steps += 1;
        }
        room
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// A name at the top of a file or module (`place`), remembered. Inside of a search nothing is: what it finds there
    /// depends on which modules it came through.
    pub(crate) fn top_name(
        &mut self,
        place: u32,
        name: Name,
        space: Space,
        find: impl FnOnce(&mut Evaluator<'w>) -> Value,
    ) -> Value {
        if !self.searched.is_empty() {
            return find(self);
        }
        if let Some(value) = self.top_names.get(&(place, name, space)) {
            return value.clone();
        }
        let value = find(self);
        if self.is_settling() {
            self.top_names.insert((place, name, space), value.clone());
        }
        value
    }

    /// What the module of an import means, remembered.
    pub(crate) fn module_of(
        &mut self,
        import: &Import,
        find: impl FnOnce(&mut Evaluator<'w>) -> Value,
    ) -> Value {
        let place = std::ptr::from_ref(import).addr();
        if let Some(value) = self.modules.get(&place) {
            return value.clone();
        }
        let value = find(self);
        self.modules.insert(place, value.clone());
        value
    }

    /// Whether what was found now can be remembered: inside of a search it depends on which modules it came through.
    pub(crate) fn is_settling(&self) -> bool {
        self.searched.is_empty() && self.has_room()
    }

    /// Whether what was found is what there is: a search that had to end early may find less, and is not remembered.
    pub(crate) fn has_room(&self) -> bool {
        self.depth < MAX_DEPTH && self.steps < MAX_STEPS
    }

    /// As `enter`, and not twice into the same search of a module.
    pub(crate) fn enter_module(&mut self, module: ModuleId, name: Name, space: Space) -> bool {
        if self.searched.contains(&(module, name, space)) || !self.enter() {
            return false;
        }
        self.searched.push((module, name, space));
        true
    }

    pub(crate) fn leave_module(&mut self) {
        self.searched.pop();
        self.leave();
    }

    /// What an expression names or holds. Declarations come as themselves: `settled` gives what they hold.
    pub(crate) fn expr(&mut self, frame: Frame, decl: Option<DeclId>, expr: ExprId) -> Value {
        self.expr_in(frame, decl, expr, Space::Value)
    }

    pub(crate) fn expr_in(
        &mut self,
        frame: Frame,
        decl: Option<DeclId>,
        expr: ExprId,
        space: Space,
    ) -> Value {
        if space == Space::Value {
            let known = match self.own_slot(frame, expr) {
                Some(own) => own.as_ref(),
                None => self.memo.get(&(frame, expr)),
            };
            if let Some(value) = known {
                return value.clone();
            }
        }
        if !self.enter() {
            return Value::Unknown;
        }
        let value = self.expr_uncached(frame, decl, expr, space);
        self.leave();
        if space == Space::Value {
            match self.own_slot(frame, expr) {
                Some(own) => *own = Some(value.clone()),
                None => drop(self.memo.insert((frame, expr), value.clone())),
            }
        }
        value
    }

    fn expr_uncached(&mut self, frame: Frame, decl: Option<DeclId>, expr: ExprId, space: Space) -> Value {
        let world = self.world;
        let rules = world.rules(frame.file);
        match world.found_in(frame.file).expr(expr) {
            Expr::Name { name, at } => self.name(frame, decl, world.name(frame.file, name), at, space),
            Expr::Member { of, name } => {
                let of = self.settled_expr(frame, decl, of);
                self.member(frame, &of, world.name(frame.file, name))
            }
            Expr::Scoped { of, name } => {
                let of = match world.found_in(frame.file).expr(of) {
                    Expr::Name { .. } | Expr::Scoped { .. } => self.expr_in(frame, decl, of, Space::Type),
                    _ => self.expr(frame, decl, of),
                };
                let name = world.name(frame.file, name);
                of.map(|it| rules.scoped(self, frame, it, name, space))
            }
            Expr::TypePath(type_) | Expr::Instance(type_) => self.typed(frame, decl, type_),
            Expr::Call { callee } => {
                let target = self.callee(frame, decl, callee);
                self.called(frame, &target, CallSite { callee, decl })
            }
            Expr::Index { of } => {
                let of = self.settled_expr(frame, decl, of);
                of.map(|it| rules.indexed(self, frame, it))
            }
            Expr::Element { of } => {
                let of = self.settled_expr(frame, decl, of);
                self.element(frame, &of)
            }
            Expr::Await { of } => {
                let of = self.settled_expr(frame, decl, of);
                of.map(|it| match it {
                    Value::Awaitable(inner) => (**inner).clone(),
                    Value::ExternalResult => Value::ExternalResult,
                    it => rules.awaited(self, frame, it),
                })
            }
            Expr::Try { of } => {
                let of = self.settled_expr(frame, decl, of);
                of.map(|it| rules.tried(self, frame, it))
            }
            Expr::Enter { of } => {
                let of = self.settled_expr(frame, decl, of);
                of.map(|it| rules.entered(self, frame, it))
            }
            Expr::Item { of, index } => {
                let of = self.settled_expr(frame, decl, of);
                of.map(|it| rules.item(self, it, index))
            }
            Expr::Payload { of, variant, field } => {
                let of = self.settled_expr(frame, decl, of);
                let field = world.name(frame.file, field);
                rules.payload(self, frame, Payload { decl, of: &of, variant, field })
            }
            Expr::Either { one, other } => {
                let one = self.settled_expr(frame, decl, one);
                let other = self.settled_expr(frame, decl, other);
                Value::join([one, other])
            }
            Expr::Super { .. } => match self.enclosing_type(frame, decl) {
                Some(class) => Value::Super(class),
                None => Value::Unknown,
            },
            Expr::Literal(literal) => rules.literal(self, literal),
            // What it gives is only looked at by who calls it.
            Expr::Lambda { .. } => Value::Function(Value::Unknown.into()),
            Expr::Given { callee, argument, parameter } => {
                rules.given(self, frame, Given { decl, callee, argument, parameter })
            }
            Expr::Generic { of, .. } => self.expr_in(frame, decl, of, space),
            Expr::Parameter { callee, argument } => {
                rules.for_parameter(self, frame, CallSite { callee, decl }, argument)
            }
            Expr::Root | Expr::Unknown => Value::Unknown,
        }
    }

    /// What a call calls: a method, where the language tells `of.name()` from the field `of.name`; of several callables
    /// of one name the one that takes what is passed.
    pub(crate) fn callee(&mut self, frame: Frame, decl: Option<DeclId>, callee: ExprId) -> Value {
        // Not remembered: the same expression may be read as a field elsewhere.
        if !self.enter() {
            return Value::Unknown;
        }
        let rules = self.world.rules(frame.file);
        let value = self.called_by_name(frame, decl, callee);
        let value = value.map(|it| rules.called_with(self, frame, it, CallSite { callee, decl }));
        let value = value.map(|it| match it {
            Value::Overloads(all) => {
                let rules = self.world.rules(frame.file);
                match rules.meant(self, frame, CallSite { callee, decl }, all) {
                    Some(value) => value,
                    None => overloads::choose(self, frame, decl, callee, all),
                }
            }
            other => other.clone(),
        });
        self.leave();
        value
    }

    fn called_by_name(&mut self, frame: Frame, decl: Option<DeclId>, callee: ExprId) -> Value {
        let world = self.world;
        let rules = world.rules(frame.file);
        match world.found_in(frame.file).expr(callee) {
            Expr::Generic { of, .. } => self.called_by_name(frame, decl, of),
            Expr::Member { of, name } if rules.has_methods_apart() => {
                let of = self.settled_expr(frame, decl, of);
                let name = world.name(frame.file, name);
                of.map(|it| match it {
                    Value::Nothing | Value::Unknown => Value::Unknown,
                    it => rules.method(self, frame, it, name),
                })
            }
            Expr::Name { name, at } => {
                let name = world.name(frame.file, name);
                match rules.called_name(self, frame, decl, name, at) {
                    Some(value) => value,
                    None => self.expr(frame, decl, callee),
                }
            }
            _ => self.expr(frame, decl, callee),
        }
    }

    pub(crate) fn settled_expr(&mut self, frame: Frame, decl: Option<DeclId>, expr: ExprId) -> Value {
        let value = self.expr(frame, decl, expr);
        let rules = self.world.rules(frame.file);
        if let (Value::Def(def), Expr::Member { of, .. }) =
            (&value, self.world.found_in(frame.file).expr(expr))
            && let Some(held) = rules.held_by(self, frame, CallSite { callee: of, decl }, *def)
        {
            return held;
        }
        self.settled(frame, &value)
    }

    /// What a declaration holds: the value of a variable or field, the result of a property. Others as they are.
    pub(crate) fn settled(&mut self, frame: Frame, value: &Value) -> Value {
        value.map(|it| match it {
            Value::Def(def) => match self.world.kind(*def) {
                NodeKind::Var | NodeKind::Const | NodeKind::Field => self.held(frame, *def),
                NodeKind::Property => self.result_of(*def, frame),
                NodeKind::EnumMember => match self.world.owner(*def) {
                    Some(owner) => Value::instance(owner),
                    None => Value::Unknown,
                },
                _ => it.clone(),
            },
            other => other.clone(),
        })
    }

    fn held(&mut self, frame: Frame, def: Def) -> Value {
        let world = self.world;
        let (file, id, decl) = world.decl(def);
        if let Some(type_) = decl.type_ {
            let inner = Frame { file, receiver: frame.receiver, level: frame.level };
            return self.typed(inner, decl.owner, type_);
        }
        if world.rules(file).is_object(self, def) {
            return Value::Def(def);
        }
        if frame.level >= MAX_LEVEL {
            return Value::Unknown;
        }
        let inner = Frame { file, receiver: frame.receiver, level: frame.level + 1 };
        let facts = world.found_in(file);
        let mut values = Vec::new();
        if let Some(value) = decl.value {
            values.push(self.settled_expr(inner, decl.owner, value));
        }
        for binding in world.scopes[file as usize].field_bindings(id) {
            let binding = &facts.bindings[binding as usize];
            values.push(self.bound(inner, binding.decl, binding.value));
        }
        Value::join(values)
    }

    fn bound(&mut self, frame: Frame, decl: Option<DeclId>, value: Bound) -> Value {
        match value {
            Bound::Type(type_) | Bound::Narrowed(type_) => self.typed(frame, decl, type_),
            Bound::Expr(expr) => self.settled_expr(frame, decl, expr),
            Bound::Receiver => match decl {
                Some(method) => {
                    let method = self.world.def(frame.file, method);
                    self.world.rules(frame.file).receiver(self, frame, method)
                }
                None => Value::Unknown,
            },
            Bound::ReceiverType => match self.enclosing_type(frame, decl) {
                Some(class) => Value::Def(class),
                None => Value::Unknown,
            },
            Bound::Unknown => Value::Unknown,
            Bound::Decl(id) => Value::Def(self.world.def(frame.file, id)),
        }
    }

    pub(crate) fn typed(&mut self, frame: Frame, decl: Option<DeclId>, type_: TypeId) -> Value {
        if !self.enter() {
            return Value::Unknown;
        }
        let value = self.world.rules(frame.file).typed(self, frame, decl, type_);
        self.leave();
        value
    }

    /// The innermost type around a declaration, itself left out when it is a callable; the receiver where it is known.
    pub(crate) fn enclosing_type(&self, frame: Frame, decl: Option<DeclId>) -> Option<Def> {
        let facts = self.world.found_in(frame.file);
        let mut at = decl;
        while let Some(id) = at {
            let decl = facts.decl(id);
            if decl.kind.is_type_like() && decl.kind != NodeKind::Module {
                return Some(self.world.def(frame.file, id));
            }
            at = decl.owner;
        }
        None
    }

    /// What a name means at an offset, from the innermost scope outwards.
    pub(crate) fn name(
        &mut self,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        at: u32,
        space: Space,
    ) -> Value {
        let world = self.world;
        let rules = world.rules(frame.file);
        let facts = world.found_in(frame.file);
        if let Some(value) = rules.special_name(self, frame, decl, name, space) {
            return value;
        }
        let mut innermost = true;
        let mut scope = decl;
        while let Some(id) = scope {
            let kind = facts.decl(id).kind;
            if kind == NodeKind::Module {
                break;
            }
            let callable = !kind.is_type_like();
            if callable || (innermost && rules.type_body_is_scope()) {
                let entries = world.scopes[frame.file as usize].find(Scope::of(Some(id)), name);
                let flow = if innermost { Some(at) } else { None };
                if let Some(value) = self.bound_here(frame, entries, flow, at, space) {
                    return value;
                }
                for (at, import) in world.scopes[frame.file as usize].wildcards() {
                    if *at == Scope::of(Some(id)) {
                        match rules.offered(self, frame, &facts.imports[*import as usize], name, space) {
                            Value::Missing | Value::Unknown => {}
                            value => return value,
                        }
                    }
                }
            }
            // A member that is defined outside of its type sees the type all the same.
            let own = (!callable).then(|| world.def(frame.file, id));
            let outer = match facts.decl(id).implementation {
                Some(_) if rules.has_bare_members() => {
                    world.hierarchy.owner_type(world, world.def(frame.file, id))
                }
                _ => None,
            };
            for type_ in own.into_iter().chain(outer) {
                match rules.bare_member(self, frame, type_, name, space) {
                    Value::Missing => {}
                    value => return value,
                }
            }
            innermost = false;
            scope = facts.decl(id).owner;
        }
        if scope.is_none() && rules.has_blocks_at_top() {
            let entries = world.scopes[frame.file as usize].find(Scope::TOP, name);
            let of_blocks: Vec<Entry> = entries.iter().copied().filter(|it| is_of_block(facts, it)).collect();
            let flow = innermost.then_some(at);
            if let Some(value) = self.bound_here(frame, &of_blocks, flow, at, space) {
                return value;
            }
        }
        if scope.is_none() && (innermost && rules.binds_whole_callable() || rules.top_is_scope()) {
            // Code at the top of a file sees what was bound before it.
            let entries = world.scopes[frame.file as usize].find(Scope::TOP, name);
            let flow = innermost.then_some(at);
            if entries.iter().any(|it| matches!(it.item, Item::Binding(_)))
                && let Some(value) = self.bound_here(frame, entries, flow, at, space)
            {
                return value;
            }
        }
        rules.free_name(self, frame, scope, name, space)
    }

    /// The flow of a name through one scope: the last binding before `flow` that surely holds, and those after it
    /// that may. Without `flow` (seen from an inner callable) any of them.
    fn bound_here(
        &mut self,
        frame: Frame,
        entries: &[Entry],
        flow: Option<u32>,
        at: u32,
        space: Space,
    ) -> Option<Value> {
        if entries.is_empty() {
            return None;
        }
        let world = self.world;
        let facts = world.found_in(frame.file);
        let whole = world.rules(frame.file).binds_whole_callable();
        let mut values = Vec::new();
        for entry in entries.iter().rev() {
            match entry.item {
                Item::Binding(index) => {
                    let binding = &facts.bindings[index as usize];
                    let fits = match (space, binding.value) {
                        (Space::Value, _) => true,
                        (space, Bound::Decl(decl)) => fits(facts.decl(decl).kind, space),
                        (Space::Type | Space::Macro, _) => false,
                    };
                    if !fits {
                        continue;
                    }
                    let seen = match flow {
                        Some(_) => binding.visible.contains(at),
                        None => whole || binding.visible.contains(at),
                    };
                    if seen {
                        values.push(self.bound(frame, binding.decl, binding.value));
                        if (flow.is_some() || !whole) && at < binding.certain_to {
                            break;
                        }
                    }
                }
                Item::Decl(decl) => {
                    let is_seen = facts.decl(decl).visible.is_none_or(|it| it.contains(at));
                    if is_seen && fits(facts.decl(decl).kind, space) {
                        values.push(Value::Def(world.def(frame.file, decl)));
                        if flow.is_some_and(|it| entry.from < it) || !whole {
                            break;
                        }
                    }
                }
                Item::Import(index) => {
                    let import = &facts.imports[index as usize];
                    if import.visible.contains(at) || flow.is_none() {
                        let value = self.imported(frame, import, space);
                        if value != Value::Missing {
                            values.push(value);
                        }
                    }
                }
                Item::Module(_) => {}
            }
        }
        if values.is_empty() {
            // Bound here, but later: in a loop, say. It is this scope's name all the same.
            return (whole && space == Space::Value).then_some(Value::Unknown);
        }
        Some(Value::join(values))
    }

    pub(crate) fn imported(&mut self, frame: Frame, import: &Import, space: Space) -> Value {
        if !self.enter() {
            return Value::Unknown;
        }
        let value = match import.kind {
            ImportKind::Wildcard => Value::Unknown,
            _ => self.world.rules(frame.file).imported_value(self, frame, import, space),
        };
        self.leave();
        value
    }

    /// `of.name` over all alternatives. Where one has the member and another does not, the other is doubt.
    pub(crate) fn member(&mut self, frame: Frame, of: &Value, name: Name) -> Value {
        let rules = self.world.rules(frame.file);
        if !self.enter() {
            return Value::Unknown;
        }
        let value = of.map(|it| match it {
            Value::Nothing | Value::Unknown => Value::Unknown,
            it => rules.member(self, frame, it, name),
        });
        self.leave();
        value
    }

    pub(crate) fn called(&mut self, frame: Frame, callee: &Value, site: CallSite) -> Value {
        let rules = self.world.rules(frame.file);
        if !self.enter() {
            return Value::Unknown;
        }
        let value = callee.map(|it| rules.called(self, frame, it, site));
        self.leave();
        value
    }

    pub(crate) fn element(&mut self, frame: Frame, of: &Value) -> Value {
        let rules = self.world.rules(frame.file);
        of.map(|it| rules.element(self, frame, it))
    }

    /// What a callable gives: its declared type, else what its returns say, up to `MAX_LEVEL` callables deep.
    pub(crate) fn result_of(&mut self, def: Def, frame: Frame) -> Value {
        let world = self.world;
        let (file, id, decl) = world.decl(def);
        let receiver = frame.receiver;
        if let Some(type_) = decl.type_ {
            let value = self.typed(Frame { file, receiver, level: frame.level }, Some(id), type_);
            return wrapped(value, decl.modifiers);
        }
        if frame.level >= MAX_LEVEL {
            return Value::Unknown;
        }
        let level = frame.level + 1;
        let key = (def, receiver, level);
        if let Some(value) = self.results.get(&key) {
            return value.clone();
        }
        if !self.enter() {
            return Value::Unknown;
        }
        // A callable that calls itself learns nothing from that.
        self.results.insert(key, Value::Unknown);
        let inner = Frame { file, receiver, level };
        let facts = world.found_in(file);
        let generator = decl.modifiers.contains(Modifiers::GENERATOR);
        let mut values = Vec::new();
        for at in world.scopes[file as usize].returns(id) {
            let it = facts.returns[at as usize];
            if generator == (it.kind == ReturnKind::Yield) {
                values.push(self.settled_expr(inner, Some(id), it.expr));
            }
        }
        self.leave();
        let value = if values.is_empty() { Value::Unknown } else { Value::join(values) };
        let value = if generator && value.is_known() { Value::Iterable(value.into()) } else { value };
        let value = wrapped(value, decl.modifiers);
        self.results.insert(key, value.clone());
        value
    }

    pub(crate) fn with_receiver(frame: Frame, receiver: Option<Def>) -> Frame {
        Frame { receiver, ..frame }
    }
}

/// Whether something bound at the top of a file is known in a part of it only.
fn is_of_block(facts: &FileFacts, entry: &Entry) -> bool {
    match entry.item {
        Item::Binding(_) => true,
        Item::Decl(decl) => facts.decl(decl).visible.is_some(),
        Item::Import(index) => facts.imports[index as usize].visible.from > 0,
        Item::Module(_) => false,
    }
}

/// Whether a declaration of this kind lives in the name space asked for.
pub(crate) fn fits(kind: NodeKind, space: Space) -> bool {
    match space {
        Space::Macro => kind == NodeKind::Macro,
        Space::Type => kind.is_type_like(),
        Space::Value => !matches!(kind, NodeKind::Macro),
    }
}

/// What calling an `async` callable gives has to be awaited.
pub(crate) fn wrapped(value: Value, modifiers: Modifiers) -> Value {
    let generator = modifiers.contains(Modifiers::GENERATOR);
    if modifiers.contains(Modifiers::ASYNC) && !generator && value != Value::Unknown {
        return Value::Awaitable(value.into());
    }
    value
}
