//! What is known of types of a standard library: what is above them, what some of their methods give, and what lambdas
//! get that are passed to them. A table in text, read once a run:
//!
//! ```text
//! java.util.List : Collection<0>       a type and what is above it, with its own type arguments by number
//! java.lang.String! : Comparable       a final type: nothing is below it
//!   get = 0                            what a method gives
//!   map (0) = Stream<@>                what a lambda gets; `@` is what it gives
//!   filter (0) = .                     `.` is the receiver itself
//!   of = List<$0>                      `$0` is the first argument
//!   collect = $0<0>                    the first argument with other type arguments
//! java.util.function.Function (0) = 1  a type that a lambda may stand for
//! box int Integer                      conversions that are tried last
//! ```
//!
//! A type is written by its last name inside of the table. What is not in the table gives a value that nobody can name.

use knowing_model::facts::Expr;
use rustc_hash::FxHashMap;

use super::generics::Site;
use super::{Dialect, lambdas};
use crate::evaluate::Evaluator;
use crate::names::{Name, Names};
use crate::value::{Arguments, External, Origin, Value};

#[derive(Default)]
pub(crate) struct Standard {
    rows: Vec<Row>,
    by_path: FxHashMap<Box<[Name]>, u32>,
    by_text: FxHashMap<&'static str, u32>,
    boxes: Vec<(u32, u32)>,
}

struct Row {
    external: External,
    above: Vec<(u32, Vec<Shape>)>,
    methods: FxHashMap<Name, Method>,
    function: Option<Method>,
    is_final: bool,
}

#[derive(Clone, Default)]
struct Method {
    lambda: Vec<Shape>,
    result: Option<Shape>,
}

#[derive(Clone, PartialEq, Debug)]
enum Shape {
    /// A type argument of the receiver.
    Own(usize),
    Itself,
    /// What the lambda among the arguments gives.
    Lambda,
    Given(usize),
    Refilled(usize, Vec<Shape>),
    Named(u32, Vec<Shape>),
    Array(Box<Shape>),
}

/// All words of a table, so that they are names even where no file uses them.
pub(crate) fn words(table: &'static str) -> impl Iterator<Item = &'static str> {
    table
        .split(|it: char| !(it.is_ascii_alphanumeric() || it == '_'))
        .filter(|it| it.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_'))
}

/// How far types are followed upwards.
const MAX_ABOVE: u32 = 12;

impl Standard {
    pub(crate) fn new(names: &Names<'_>, tables: &[&'static str]) -> Standard {
        let mut standard = Standard::default();
        let lines = || tables.iter().flat_map(|it| it.lines()).filter(|it| !it.trim().is_empty());
        let is_type = |line: &&'static str| !line.starts_with([' ', '#']) && !line.starts_with("box ");
        for line in lines().filter(is_type) {
            standard.declare(names, line);
        }
        let mut current = None;
        for line in lines().filter(|it| !it.starts_with('#')) {
            if let Some(pair) = line.strip_prefix("box ") {
                let mut both = pair.split_whitespace().filter_map(|it| standard.named(it));
                if let (Some(one), Some(other)) = (both.next(), both.next()) {
                    standard.boxes.push((one, other));
                }
            } else if line.starts_with(' ') {
                if let Some(current) = current {
                    standard.add_methods(names, current, line.trim());
                }
            } else {
                current = standard.complete(line);
            }
        }
        standard
    }

    fn declare(&mut self, names: &Names<'_>, line: &'static str) {
        let path = path_of(line);
        let segments: Option<Vec<Name>> = path.split('.').map(|it| names.find(it)).collect();
        let Some(segments) = segments else { return };
        if self.by_path.contains_key(&segments[..]) {
            // A later table adds to a type.
            return;
        }
        let id = self.rows.len() as u32;
        let is_final = line[path.len()..].starts_with('!') || !path.contains('.');
        let external = External::new(Origin::StandardLibrary, &segments);
        self.rows.push(Row {
            external,
            above: Vec::new(),
            methods: FxHashMap::default(),
            function: None,
            is_final,
        });
        self.by_path.insert(segments.into(), id);
        self.by_text.insert(path, id);
        if let Some((_, last)) = path.rsplit_once('.') {
            self.by_text.entry(last).or_insert(id);
        }
    }

    /// What is above a type, and what function it is.
    fn complete(&mut self, line: &'static str) -> Option<u32> {
        let path = path_of(line);
        let id = *self.by_text.get(path)?;
        let rest = line[path.len()..].trim_start_matches('!');
        let (function, above) = rest.split_once(':').unwrap_or((rest, ""));
        let above: Vec<(u32, Vec<Shape>)> = split_list(above)
            .into_iter()
            .filter_map(|it| match self.shape(it) {
                Some(Shape::Named(id, arguments)) => Some((id, arguments)),
                _ => None,
            })
            .collect();
        let function = function.contains('(').then(|| self.method(function));
        let row = &mut self.rows[id as usize];
        if !above.is_empty() {
            row.above = above;
        }
        if function.is_some() {
            row.function = function;
        }
        Some(id)
    }

    fn add_methods(&mut self, names: &Names<'_>, id: u32, line: &'static str) {
        let end = line.find(['(', '=']).unwrap_or(line.len());
        let method = self.method(&line[end..]);
        for name in line[..end].split([',', ' ']).filter_map(|it| names.find(it.trim())) {
            self.rows[id as usize].methods.insert(name, method.clone());
        }
    }

    /// `(0, 1) = Stream<@>`.
    fn method(&self, text: &str) -> Method {
        let (lambda, result) = text.split_once('=').unwrap_or((text, ""));
        let lambda = lambda.trim().trim_start_matches('(').trim_end_matches(')');
        Method {
            lambda: split_list(lambda).into_iter().filter_map(|it| self.shape(it)).collect(),
            result: self.shape(result.trim()),
        }
    }

    fn shape(&self, text: &str) -> Option<Shape> {
        let text = text.trim();
        if let Some(of) = text.strip_suffix("[]") {
            return Some(Shape::Array(Box::new(self.shape(of)?)));
        }
        match text {
            "" => None,
            "." => Some(Shape::Itself),
            "@" => Some(Shape::Lambda),
            _ => {
                if let Some(place) = text.strip_prefix('$') {
                    let Some((place, arguments)) = place.split_once('<') else {
                        return place.parse().ok().map(Shape::Given);
                    };
                    let arguments = split_list(arguments.trim_end_matches('>'));
                    let arguments = arguments.into_iter().filter_map(|it| self.shape(it)).collect();
                    return place.parse().ok().map(|it| Shape::Refilled(it, arguments));
                }
                if let Ok(place) = text.parse() {
                    return Some(Shape::Own(place));
                }
                let (name, arguments) = text.split_once('<').unwrap_or((text, ""));
                let arguments = arguments.strip_suffix('>').unwrap_or(arguments);
                let arguments = split_list(arguments).into_iter().filter_map(|it| self.shape(it)).collect();
                Some(Shape::Named(self.named(name)?, arguments))
            }
        }
    }

    fn named(&self, text: &str) -> Option<u32> {
        self.by_text.get(text).copied()
    }
}

/// The path at the begin of a line that declares a type.
fn path_of(line: &'static str) -> &'static str {
    let end = line.find([' ', ':', '(', '!']).unwrap_or(line.len());
    &line[..end]
}

/// Parts between commas that stand in no brackets.
fn split_list(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut depth, mut from) = (0_i32, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' => depth -= 1,
            b',' if depth == 0 => {
                out.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    out.push(&text[from..]);
    out.retain(|it| !it.trim().is_empty());
    out
}

/// Questions.
impl Standard {
    pub(crate) fn external(&self, path: &str) -> Option<External> {
        self.named(path).map(|it| self.rows[it as usize].external.clone())
    }

    pub(crate) fn instance(&self, path: &str, arguments: Arguments) -> Value {
        self.external(path).map_or(Value::ExternalResult, |it| Value::ExternalInstance(it, arguments))
    }

    fn row(&self, external: &External) -> Option<u32> {
        self.by_path.get(&external.path[..]).copied()
    }

    pub(crate) fn is_known(&self, external: &External) -> bool {
        self.row(external).is_some()
    }

    pub(crate) fn is_final(&self, external: &External) -> bool {
        self.row(external).is_some_and(|it| self.rows[it as usize].is_final)
    }

    /// What a constant of a type is a value of: `Duration.ZERO`.
    pub(crate) fn constant(&self, type_: &External, name: Name) -> Option<Value> {
        let method = self.rows[self.row(type_)? as usize].methods.get(&name)?;
        method.result.as_ref().map(|it| self.plain(it, &Value::Unknown, &Value::none()))
    }

    /// Whether a type or one above it is known to have a method.
    pub(crate) fn declares(&self, external: &External, name: Name) -> bool {
        self.row(external).is_some_and(|it| self.find(it, &Value::none(), name, 0).is_some())
    }

    /// Whether one type is another or below it; none when one of them is not in the table.
    pub(crate) fn is_below(&self, below: &External, above: &External) -> Option<bool> {
        if below.path == above.path {
            return Some(true);
        }
        let (below, above) = (self.row(below)?, self.row(above)?);
        Some(self.reaches(below, above, 0))
    }

    fn reaches(&self, from: u32, to: u32, depth: u32) -> bool {
        from == to
            || depth < MAX_ABOVE
                && self.rows[from as usize].above.iter().any(|(it, _)| self.reaches(*it, to, depth + 1))
    }

    /// The other side of a conversion between a plain value and an object.
    pub(crate) fn boxed(&self, external: &External) -> Option<&External> {
        let row = self.row(external)?;
        let found = self.boxes.iter().find_map(|(one, other)| match row {
            it if it == *one => Some(*other),
            it if it == *other => Some(*one),
            _ => None,
        });
        found.map(|it| &self.rows[it as usize].external)
    }

    /// A type argument of a type above: what iterating over an `ArrayList<T>` gives is asked of its `Iterable`.
    pub(crate) fn argument_above(
        &self,
        of: &External,
        arguments: &Arguments,
        above: &str,
        place: usize,
    ) -> Value {
        let (Some(row), Some(above)) = (self.row(of), self.named(above)) else { return Value::Unknown };
        self.arguments_at(row, arguments, above, 0)
            .and_then(|it| it.get(place).cloned())
            .unwrap_or(Value::Unknown)
    }

    fn arguments_at(&self, row: u32, arguments: &Arguments, above: u32, depth: u32) -> Option<Arguments> {
        if row == above {
            return Some(arguments.clone());
        }
        if depth > MAX_ABOVE {
            return None;
        }
        self.rows[row as usize].above.iter().find_map(|(it, shapes)| {
            let passed = self.pass(shapes, arguments);
            self.arguments_at(*it, &passed, above, depth + 1)
        })
    }

    fn pass(&self, shapes: &[Shape], arguments: &Arguments) -> Arguments {
        shapes.iter().map(|it| self.plain(it, &Value::Unknown, arguments)).collect::<Vec<_>>().into()
    }

    /// A method of a type or of one above it, and the type arguments there.
    fn find(&self, row: u32, arguments: &Arguments, name: Name, depth: u32) -> Option<(&Method, Arguments)> {
        let it = &self.rows[row as usize];
        if let Some(method) = it.methods.get(&name) {
            return Some((method, arguments.clone()));
        }
        if depth > MAX_ABOVE {
            return None;
        }
        it.above.iter().find_map(|(above, shapes)| {
            let passed = self.pass(shapes, arguments);
            self.find(*above, &passed, name, depth + 1)
        })
    }

    /// The method an external path names, at a receiver or at the type it is a static member of.
    fn method_at(&self, method: &External, receiver: &Value) -> Option<(&Method, Arguments)> {
        let (name, type_) = method.path.split_last()?;
        let at_receiver = match receiver {
            Value::ExternalInstance(external, arguments) => {
                self.row(external).and_then(|it| self.find(it, arguments, *name, 0))
            }
            _ => None,
        };
        at_receiver.or_else(|| self.find(*self.by_path.get(type_)?, &Value::none(), *name, 0))
    }

    /// What calling a method from outside gives.
    pub(crate) fn called(
        &self,
        ev: &mut Evaluator<'_>,
        dialect: &dyn Dialect,
        method: &External,
        receiver: &Value,
        site: Site<'_>,
    ) -> Value {
        let Some((found, arguments)) = self.method_at(method, receiver) else { return Value::ExternalResult };
        match &found.result {
            Some(shape) => self.make(ev, dialect, shape, receiver, &arguments, site),
            None => Value::ExternalResult,
        }
    }

    /// Whether a method from outside is known to pass something to a lambda.
    pub(crate) fn takes_lambda(&self, method: &External, receiver: &Value) -> bool {
        self.method_at(method, receiver).is_some_and(|(it, _)| !it.lambda.is_empty())
    }

    /// Parameter number `place` of a lambda that is passed to a method from outside.
    pub(crate) fn lambda_parameter(&self, method: &External, receiver: &Value, place: u8) -> Value {
        let Some((found, arguments)) = self.method_at(method, receiver) else { return Value::Unknown };
        found.lambda.get(usize::from(place)).map_or(Value::Unknown, |it| self.plain(it, receiver, &arguments))
    }

    /// Parameter number `place` of a lambda that stands for a value of this type.
    pub(crate) fn function_parameter(&self, type_: &External, arguments: &Arguments, place: u8) -> Value {
        let function = self.row(type_).and_then(|it| self.rows[it as usize].function.as_ref());
        let shape = function.and_then(|it| it.lambda.get(usize::from(place)));
        shape.map_or(Value::Unknown, |it| self.plain(it, &Value::Unknown, arguments))
    }

    pub(crate) fn function_arity(&self, type_: &External) -> Option<u8> {
        let function = self.rows[self.row(type_)? as usize].function.as_ref()?;
        u8::try_from(function.lambda.len()).ok()
    }

    /// A shape that needs nothing from the call.
    fn plain(&self, shape: &Shape, receiver: &Value, arguments: &Arguments) -> Value {
        match shape {
            Shape::Own(place) => arguments.get(*place).cloned().unwrap_or(Value::Unknown),
            Shape::Itself => receiver.clone(),
            Shape::Lambda | Shape::Given(_) | Shape::Refilled(..) => Value::Unknown,
            Shape::Named(id, shapes) => Value::ExternalInstance(
                self.rows[*id as usize].external.clone(),
                Value::arguments(shapes.iter().map(|it| self.plain(it, receiver, arguments)).collect()),
            ),
            Shape::Array(of) => Value::Iterable(self.plain(of, receiver, arguments).into()),
        }
    }

    fn make(
        &self,
        ev: &mut Evaluator<'_>,
        dialect: &dyn Dialect,
        shape: &Shape,
        receiver: &Value,
        arguments: &Arguments,
        site: Site<'_>,
    ) -> Value {
        match shape {
            Shape::Lambda => {
                let functions = |it: &&knowing_model::facts::Argument| {
                    matches!(
                        ev.world.found_in(site.frame.file).expr(it.value),
                        Expr::Lambda { .. } | Expr::Scoped { .. } | Expr::Member { .. }
                    )
                };
                let function = site.arguments.iter().rev().find(functions).map(|it| it.value);
                match function {
                    Some(function) => lambdas::gives(ev, dialect, site.frame, site.decl, function),
                    None => Value::Unknown,
                }
            }
            Shape::Given(place) => match site.arguments.get(*place) {
                Some(argument) => ev.settled_expr(site.frame, site.decl, argument.value),
                None => Value::Unknown,
            },
            Shape::Refilled(place, shapes) => {
                let given = self.make(ev, dialect, &Shape::Given(*place), receiver, arguments, site);
                let inner =
                    shapes.iter().map(|it| self.make(ev, dialect, it, receiver, arguments, site)).collect();
                let inner = Value::arguments(inner);
                given.map(|it| match it {
                    Value::ExternalInstance(external, _) => {
                        Value::ExternalInstance(external.clone(), inner.clone())
                    }
                    _ => Value::ExternalResult,
                })
            }
            Shape::Named(id, shapes) => {
                let inner: Vec<Value> =
                    shapes.iter().map(|it| self.make(ev, dialect, it, receiver, arguments, site)).collect();
                Value::ExternalInstance(self.rows[*id as usize].external.clone(), Value::arguments(inner))
            }
            Shape::Array(of) => Value::Iterable(self.make(ev, dialect, of, receiver, arguments, site).into()),
            Shape::Own(_) | Shape::Itself => self.plain(shape, receiver, arguments),
        }
    }
}
