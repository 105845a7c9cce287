//! Macros: `#define` with the calls in it, and functions that macros make, tests among them.

use knowing_model::facts::{
    Argument, Call, CallForm, DeclId, Expr, Impl, Modifiers, Namespace, ReferenceRole, ReferenceTarget, Str,
    Type,
};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::declarators::Declared;
use super::functions::Head;
use super::kinds::{Field, Kind};
use super::reader::{Context, Place, Reader};
use crate::engine::build::NewDecl;
use crate::engine::signature::{Comments, signature};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// How a test macro names its test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TestForm {
    /// `TEST(Suite, Name)`
    Suite,
    /// `TEST_F(Fixture, Name)`: the test is a member of the fixture.
    Fixture,
    /// `BOOST_AUTO_TEST_CASE(name)`
    Name,
    /// `BOOST_FIXTURE_TEST_CASE(name, Fixture)`
    NameFixture,
    /// `TEST_CASE("what it does", "[tags]")`
    Title,
    /// `TEST_CASE_METHOD(Fixture, "what it does")`
    FixtureTitle,
}

fn test_form(name: &[u8]) -> Option<TestForm> {
    Some(match name {
        b"TEST" | b"GTEST_TEST" => TestForm::Suite,
        b"TEST_F" | b"TEST_P" | b"TYPED_TEST" | b"TYPED_TEST_P" => TestForm::Fixture,
        b"START_TEST"
        | b"TEST_BEGIN"
        | b"BOOST_AUTO_TEST_CASE"
        | b"BOOST_AUTO_TEST_CASE_TEMPLATE"
        | b"BOOST_PARAM_TEST_CASE" => TestForm::Name,
        b"BOOST_FIXTURE_TEST_CASE" => TestForm::NameFixture,
        b"TEST_CASE" | b"SCENARIO" | b"TEMPLATE_TEST_CASE" | b"DOCTEST_TEST_CASE" => TestForm::Title,
        b"TEST_CASE_METHOD" | b"TEST_CASE_FIXTURE" | b"SCENARIO_METHOD" => TestForm::FixtureTitle,
        _ => return None,
    })
}

struct TestName {
    name: Str,
    suite: Option<Str>,
    fixture: Option<Node>,
}

impl Reader<'_, '_> {
    pub(super) fn macro_definition(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Over };
        let value = self.child(node, Field::Value);
        if value.is_none() && self.is_guard(node, name) {
            return Step::Over;
        }
        let parameters = self.child(node, Field::Parameters);
        if let Some(value) = value.filter(|_| parameters.is_none() && self.has_overloads) {
            self.note_namespaces(node, name, value);
        }
        let end = match value.map(|it| self.b.tree.range(it)) {
            // Short values say what the macro is; long ones are code.
            Some(it) if parameters.is_some() || it.to - it.from > 80 => it.from,
            Some(it) => it.to,
            None => self.b.tree.end(parameters.unwrap_or(name)),
        };
        let space = Context { decl: None, place: Place::Namespace, is_hidden: false, template: None, ..cx };
        let head = Head { node, kind: NodeKind::Macro, end: Some(end) };
        let Some(id) = self.declare(name, head, space) else { return Step::Over };
        let mut names = Vec::new();
        let parameters: Vec<Node> = parameters.into_iter().flat_map(|it| self.children(it)).collect();
        for parameter in parameters {
            names.push(self.b.name(parameter));
        }
        if let Some(value) = value {
            self.macro_body(value, id, &names);
        }
        Step::Over
    }

    /// `#define SHOP_BEGIN namespace shop { inline namespace v1 {` is noted as `SHOP_BEGIN=shop`, `#define SHOP_END } }` as
    /// `SHOP_END=}`. Which files use them is known by [`Reader::note_lone_macros`].
    fn note_namespaces(&mut self, node: Node, name: Node, value: Node) {
        let Some(opened) = opened_by(self.b.source.bytes(self.b.tree.range(value))) else { return };
        let text = format!("{}={opened}", String::from_utf8_lossy(self.b.bytes(name)));
        let name = self.b.intern(&text);
        self.b.facts.namespaces.push(Namespace { name, range: self.b.tree.range(node) });
    }

    /// Macros that stand on a line alone: they may open and close namespaces, which other files define.
    pub(super) fn note_lone_macros(&mut self) {
        let mut from = 0;
        let mut is_continued = false;
        let whole = Range { from: 0, to: self.b.source.len() };
        for line in self.b.source.bytes(whole).split_inclusive(|it| *it == b'\n') {
            let word = line.trim_ascii();
            if !is_continued && is_constant_case(word) {
                let begin = from + (line.len() - line.trim_ascii_start().len()) as u32;
                let name = self.b.intern(String::from_utf8_lossy(word));
                let range = Range { from: begin, to: begin + word.len() as u32 };
                self.b.facts.namespaces.push(Namespace { name, range });
            }
            is_continued = word.ends_with(b"\\");
            from += line.len() as u32;
        }
    }

    /// `#ifndef SHOP_H`, `#define SHOP_H`.
    fn is_guard(&self, node: Node, name: Node) -> bool {
        let Some(parent) = self.parent(node).filter(|it| self.kind(*it) == Kind::PreprocIfdef) else {
            return false;
        };
        let around = self.child(parent, Field::Name);
        around.is_some_and(|it| self.b.bytes(it) == self.b.bytes(name))
            && self.b.bytes(parent).starts_with(b"#ifndef")
    }

    /// Names before a bracket are calls, except the macro's own parameters; a lone name is what the macro stands for.
    fn macro_body(&mut self, value: Node, id: DeclId, parameters: &[Str]) {
        let range = self.b.tree.range(value);
        let text = self.b.source.bytes(range);
        let mut at = 0;
        let is_name = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
        let is_alone = !text.is_empty() && text.trim_ascii().iter().all(|it| is_name(*it));
        while at < text.len() {
            match text[at] {
                b'"' | b'\'' => at = after_quote(text, at),
                b'/' if text[at..].starts_with(b"/*") => {
                    at = memchr::memmem::find(&text[at..], b"*/").map_or(text.len(), |it| at + it + 2);
                }
                b'/' if text[at..].starts_with(b"//") => return,
                byte if byte.is_ascii_digit() => {
                    while at < text.len() && is_name(text[at]) {
                        at += 1;
                    }
                }
                byte if is_name(byte) => {
                    let from = at;
                    while at < text.len() && is_name(text[at]) {
                        at += 1;
                    }
                    self.macro_word(value, id, (from, at), (parameters, is_alone));
                }
                _ => at += 1,
            }
        }
    }

    fn macro_word(
        &mut self,
        value: Node,
        id: DeclId,
        (from, to): (usize, usize),
        (parameters, is_alone): (&[Str], bool),
    ) {
        let range = self.b.tree.range(value);
        let text = self.b.source.bytes(range);
        let word = &text[from..to];
        let before = text[..from].trim_ascii_end();
        let is_member = before.ends_with(b".") || before.ends_with(b"->") || before.ends_with(b"::");
        let is_pasted = before.ends_with(b"#") || text[to..].trim_ascii_start().starts_with(b"#");
        let rest = text[to..].trim_ascii_start();
        let is_called = rest.first() == Some(&b'(');
        if is_member || is_pasted || is_keyword(word) || !(is_called || is_alone) {
            return;
        }
        let at = range.from + u32::try_from(from).unwrap_or(0);
        let name = self.b.intern_name(String::from_utf8_lossy(word));
        if parameters.contains(&name) {
            return;
        }
        let position = self.b.position_at(value, at);
        let callee = self.b.expr(Expr::Name { name, at });
        if is_called {
            let (n_arguments, spread) = n_arguments(rest);
            if self.has_overloads {
                for place in 0..n_arguments {
                    let value = self.b.expr(Expr::Unknown);
                    let spread = spread && place + 1 == n_arguments;
                    self.b.argument(Argument { callee, value, name: None, spread });
                }
            }
            self.b.call(Call {
                decl: Some(id),
                callee,
                position,
                n_arguments,
                spread,
                passed: Vec::new(),
                form: CallForm::InMacro,
            });
        } else {
            self.refer(Some(id), ReferenceTarget::Expr(callee), ReferenceRole::Value, position);
        }
    }

    /// `TEST(Suite, Name) { ... }`, `DEFINE_COMMAND(name) { ... }`: a function that a macro makes.
    pub(super) fn macro_function(
        &mut self,
        node: Node,
        declared: Declared,
        cx: Context,
    ) -> Option<Step<Context>> {
        let macro_name = declared.name;
        if self.kind(macro_name) != Kind::Identifier {
            return None;
        }
        let list = declared.function.and_then(|it| self.child(it, Field::Parameters))?;
        let body = self.child(node, Field::Body)?;
        let arguments: Vec<Node> = self.children(list).collect();
        let form = test_form(self.b.bytes(macro_name));
        if form.is_none() {
            // Parameters of a function have names or are of several words; what a macro is given has neither.
            let is_bare = |it: &Node| {
                self.kind(*it) == Kind::ParameterDeclaration && self.child(*it, Field::Declarator).is_none()
            };
            if !is_constant_case(self.b.bytes(macro_name))
                || arguments.is_empty()
                || !arguments.iter().all(is_bare)
            {
                return None;
            }
        }
        let id = match form {
            Some(form) => self.test(node, body, (form, &arguments), cx)?,
            None => {
                let name = self.b.name(*arguments.first()?);
                self.made_by_macro((node, body), NodeKind::Function, name, cx)?
            }
        };
        self.b.consume(macro_name);
        if let Some(function) = declared.function {
            self.b.consume(function);
        }
        self.macro_use(macro_name, arguments.len(), Some(id));
        self.decl_of.insert(body, id);
        Some(Step::Within(Context {
            decl: Some(id),
            place: Place::Body,
            block: self.b.tree.range(node),
            ..cx
        }))
    }

    /// `TEST_CASE("...") { ... }`, and in C any such macro: to the parser a call without an end, and a block after it.
    pub(super) fn top_statement(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(call) = self.first_child(node).filter(|it| self.kind(*it) == Kind::CallExpression) else {
            return Step::Into;
        };
        let Some(name) = self.child(call, Field::Function) else { return Step::Into };
        let body = self.b.tree.after(node);
        if body.index() >= self.b.tree.len() || self.kind(body) != Kind::CompoundStatement {
            return Step::Into;
        }
        let Some(list) = self.child(call, Field::Arguments) else { return Step::Into };
        let arguments: Vec<Node> = self.children(list).collect();
        let id = match test_form(self.b.bytes(name)) {
            Some(form) => self.test(node, body, (form, &arguments), cx),
            None => match arguments.first() {
                Some(first)
                    if is_constant_case(self.b.bytes(name)) && self.kind(*first) == Kind::Identifier =>
                {
                    let made = self.b.name(*first);
                    self.made_by_macro((node, body), NodeKind::Function, made, cx)
                }
                _ => None,
            },
        };
        let Some(id) = id else { return Step::Into };
        self.macro_use(name, arguments.len(), Some(id));
        self.decl_of.insert(body, id);
        Step::Over
    }

    fn test(
        &mut self,
        node: Node,
        body: Node,
        (form, arguments): (TestForm, &[Node]),
        cx: Context,
    ) -> Option<DeclId> {
        let TestName { name, suite, fixture } = self.test_name(form, arguments)?;
        let id = self.made_by_macro((node, body), NodeKind::Test, name, cx)?;
        self.b.decl_mut(id).flags.insert(NodeFlags::TEST);
        if let Some(suite) = suite {
            self.b.decl_mut(id).path = suite;
        }
        if let Some(fixture) = fixture {
            let segment = self.b.name(fixture);
            let at = self.b.tree.start(fixture);
            let type_ = self.b.type_(Type::Named { segments: vec![segment], arguments: Vec::new(), at });
            let position = self.b.tree.position(fixture);
            let range = self.b.tree.range(fixture);
            let implementation = self.b.implement(Impl {
                owner: cx.decl,
                type_,
                interface: None,
                type_parameters: Vec::new(),
                range,
                position,
            });
            let decl = self.b.decl_mut(id);
            decl.implementation = Some(implementation);
            decl.path = segment;
        }
        Some(id)
    }

    fn test_name(&mut self, form: TestForm, arguments: &[Node]) -> Option<TestName> {
        let first = *arguments.first()?;
        let second = arguments.get(1).copied();
        Some(match form {
            // Smaller frameworks have no suites.
            TestForm::Suite if second.is_none() => {
                TestName { name: self.b.name(first), suite: None, fixture: None }
            }
            TestForm::Suite => {
                TestName { name: self.b.name(second?), suite: Some(self.b.name(first)), fixture: None }
            }
            TestForm::Fixture => TestName { name: self.b.name(second?), suite: None, fixture: Some(first) },
            TestForm::Name => TestName { name: self.b.name(first), suite: None, fixture: None },
            TestForm::NameFixture => TestName { name: self.b.name(first), suite: None, fixture: second },
            TestForm::Title => TestName { name: self.title(first), suite: None, fixture: None },
            TestForm::FixtureTitle => {
                TestName { name: self.title(second?), suite: None, fixture: Some(first) }
            }
        })
    }

    fn title(&mut self, node: Node) -> Str {
        let text = self.b.text(node);
        // Pieces of a string on several lines are one title.
        let text = text.replace(['"', '.', '\\'], " ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.b.intern_name(text.into())
    }

    fn made_by_macro(
        &mut self,
        (node, body): (Node, Node),
        kind: NodeKind,
        name: Str,
        cx: Context,
    ) -> Option<DeclId> {
        let range = Range { from: self.b.tree.start(node), to: self.b.tree.start(body) };
        let text = self.b.source.slice(range);
        let signature = signature(text.trim_end(), Comments::Slashes).into_owned();
        let signature = self.b.intern(signature);
        let name_position = self.b.tree.position(node);
        let id = self.b.declare(NewDecl { owner: cx.decl, name, kind, node, name_position, signature })?;
        let doc = self.doc_before(range.from);
        let (last_line, to) = (self.b.tree.last_line(body), self.b.tree.end(body));
        let decl = self.b.decl_mut(id);
        decl.doc = doc;
        decl.span.last_line = last_line;
        decl.range.to = to;
        decl.modifiers.insert(Modifiers::PUBLIC);
        Some(id)
    }

    fn macro_use(&mut self, name: Node, n_arguments: usize, decl: Option<DeclId>) {
        let callee = self.expr(name, decl);
        let position = self.b.tree.position(name);
        let n_arguments = u8::try_from(n_arguments).unwrap_or(u8::MAX);
        let form = CallForm::Plain;
        self.b.call(Call { decl, callee, position, n_arguments, spread: false, passed: Vec::new(), form });
    }
}

/// How many arguments stand between the bracket that a text begins with and the one that closes it.
fn n_arguments(text: &[u8]) -> (u8, bool) {
    let mut depth = 0_usize;
    let mut n_commas = 0_u8;
    let mut is_empty = true;
    let mut spread = false;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth <= 1 => break,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 1 => n_commas = n_commas.saturating_add(1),
            _ => {}
        }
        is_empty &= at == 0 || byte.is_ascii_whitespace();
        spread |= text[at..].starts_with(b"__VA_ARGS__");
    }
    if is_empty { (0, spread) } else { (n_commas.saturating_add(1), spread) }
}

fn after_quote(text: &[u8], at: usize) -> usize {
    let quote = text[at];
    let mut at = at + 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

fn is_keyword(word: &[u8]) -> bool {
    matches!(
        word,
        b"if"
            | b"while"
            | b"for"
            | b"switch"
            | b"return"
            | b"sizeof"
            | b"do"
            | b"else"
            | b"case"
            | b"defined"
            | b"typeof"
            | b"__typeof__"
            | b"__attribute__"
            | b"__extension__"
            | b"void"
            | b"int"
            | b"char"
            | b"long"
            | b"short"
            | b"unsigned"
            | b"signed"
            | b"float"
            | b"double"
            | b"const"
            | b"static"
            | b"static_cast"
            | b"reinterpret_cast"
            | b"const_cast"
            | b"dynamic_cast"
            | b"alignof"
            | b"catch"
            | b"__declspec"
            | b"asm"
            | b"__asm__"
            | b"decltype"
            | b"noexcept"
            | b"true"
            | b"false"
            | b"nullptr"
            | b"NULL"
            | b"inline"
            | b"extern"
            | b"struct"
            | b"_Pragma"
            | b"__pragma"
            | b"new"
    )
}

/// `LIKE_THIS`, as macros are written.
pub(super) fn is_constant_case(text: &[u8]) -> bool {
    text.len() > 1
        && text.iter().any(u8::is_ascii_uppercase)
        && text.iter().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || *it == b'_')
}

/// The namespaces that a macro's text opens and leaves open, those that are not inline; `}` when it closes some.
fn opened_by(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text).replace("\\\n", " ").replace("\\\r\n", " ");
    let text = text.trim();
    if text.is_empty() || text.len() > 500 {
        return None;
    }
    if text.chars().all(|it| it == '}' || it.is_whitespace()) {
        return Some("}".to_owned());
    }
    if !text.ends_with('{') || text.contains(['}', ';']) {
        return None;
    }
    let mut path: Vec<&str> = Vec::new();
    for head in text.split('{') {
        let mut words = head.split_whitespace();
        match words.next() {
            Some("namespace") => path.extend(words.next()),
            Some("inline" | "extern" | "export") | None => {}
            Some(_) => return None,
        }
    }
    Some(path.join("::"))
}
