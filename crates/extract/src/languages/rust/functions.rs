//! Functions, their parameters and what they give back.

use knowing_model::facts::{
    Binding, BindingTarget, DeclId, Expr, Modifiers, Parameter, ParameterKind, ReferenceRole,
    ReferenceTarget, Type, TypeId, Value,
};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::bindings::Scope;
use super::kinds::{Field, Kind};
use super::patterns::Given;
use super::reader::{Context, Place, Reader};
use super::types::Naming;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn function(&mut self, node: Node, cx: Context) -> Step<Context> {
        let marks = self.marks();
        let is_member = matches!(cx.place, Place::Impl | Place::Trait { .. });
        let kind = match is_member {
            _ if marks.is_test => NodeKind::Test,
            true => NodeKind::Method,
            false => NodeKind::Function,
        };
        let body = self.child(node, Field::Body);
        let end = body.map(|it| self.b.tree.start(it));
        let Some(id) = self.item(node, kind, cx, marks, end) else { return Step::Over };
        let type_parameters = self.type_parameters(node, Some(id));
        let visible = self.b.tree.range(body.unwrap_or(node));
        let has_receiver = match self.child(node, Field::Parameters) {
            Some(list) => self.parameters(list, id, Scope { decl: Some(id), visible }),
            None => false,
        };
        let result = self.child(node, Field::ReturnType).map(|it| self.result(it, id));
        let is_async = self.is_async(node);
        let is_main = cx.decl.is_none() && !is_member && self.b.str(self.b.facts.decl(id).name) == "main";
        let decl = self.b.decl_mut(id);
        decl.type_parameters = type_parameters;
        decl.type_ = result;
        if is_async {
            decl.flags.insert(NodeFlags::ASYNC);
            decl.modifiers.insert(Modifiers::ASYNC);
        }
        if is_member && !has_receiver {
            decl.modifiers.insert(Modifiers::STATIC);
        }
        if body.is_none() && matches!(cx.place, Place::Trait { .. }) {
            decl.flags.insert(NodeFlags::ABSTRACT);
        }
        if marks.is_test {
            decl.flags.insert(NodeFlags::TEST);
        }
        if is_main || marks.is_entry {
            decl.flags.insert(NodeFlags::ENTRY);
        }
        Step::Within(Context {
            decl: Some(id),
            implementation: None,
            place: Place::Body,
            in_test: cx.in_test || marks.is_cfg_test || marks.is_test,
            ..cx
        })
    }

    fn is_async(&self, node: Node) -> bool {
        let modifiers = self.child_of_kind(node, Kind::FunctionModifiers);
        modifiers.is_some_and(|it| self.b.bytes(it).split(u8::is_ascii_whitespace).any(|it| it == b"async"))
    }

    /// Whether there is a receiver.
    fn parameters(&mut self, list: Node, id: DeclId, scope: Scope) -> bool {
        self.b.consume(list);
        let mut has_receiver = false;
        for node in self.children(list) {
            match self.kind(node) {
                Kind::SelfParameter => {
                    has_receiver = true;
                    self.receiver(id, None, scope);
                }
                Kind::Parameter => has_receiver |= self.parameter(node, id, scope),
                Kind::Underscore | Kind::AttributeItem => {}
                Kind::VariadicParameter => {
                    let name = self.b.intern("...");
                    let parameter = Parameter { name, type_: None, default: None, kind: ParameterKind::Rest };
                    self.b.decl_mut(id).parameters.push(parameter);
                }
                // A type without a name, in traits of old.
                _ => {
                    let type_ = self.read_type(node, Naming::new(Some(id), ReferenceRole::Hint));
                    self.push_parameter(id, node, Some(type_));
                }
            }
        }
        has_receiver
    }

    fn receiver(&mut self, id: DeclId, type_: Option<TypeId>, scope: Scope) {
        let name = self.b.intern("self");
        let parameter = Parameter { name, type_, default: None, kind: ParameterKind::Receiver };
        self.b.decl_mut(id).parameters.push(parameter);
        self.b.bind(Binding {
            decl: scope.decl,
            target: BindingTarget::Name(name),
            value: Value::Receiver,
            visible: scope.visible,
            certain_to: scope.visible.to,
        });
    }

    fn parameter(&mut self, node: Node, id: DeclId, scope: Scope) -> bool {
        let naming = Naming::new(Some(id), ReferenceRole::Hint);
        let type_ = self.child(node, Field::Type).map(|it| self.read_type(it, naming));
        let Some(pattern) = self.child(node, Field::Pattern) else { return false };
        if self.kind(pattern) == Kind::SelfWord {
            self.receiver(id, type_, scope);
            return true;
        }
        self.push_parameter(id, pattern, type_);
        self.pattern(pattern, type_.map_or(Given::Unknown, Given::Type), scope);
        false
    }

    /// The name is that of the pattern as it is written, without `mut` and `ref`.
    fn push_parameter(&mut self, id: DeclId, pattern: Node, type_: Option<TypeId>) {
        let mut named = pattern;
        while matches!(self.kind(named), Kind::MutPattern | Kind::RefPattern)
            && let Some(inner) = self.first_child(named)
        {
            named = inner;
        }
        let name = if self.kind(named) == Kind::Identifier { self.b.name(named) } else { self.b.intern("_") };
        let parameter = Parameter { name, type_, default: None, kind: ParameterKind::Plain };
        self.b.decl_mut(id).parameters.push(parameter);
    }

    /// The result, and the error type when it is written.
    fn result(&mut self, node: Node, id: DeclId) -> TypeId {
        let type_ = self.read_type(node, Naming::new(Some(id), ReferenceRole::Hint));
        if let Some(error) = self.error_of(type_)
            && let Some(named) = self.error_node(node)
        {
            let position = self.b.tree.position(self.last_segment(named));
            self.refer(Some(id), ReferenceTarget::Type(error), ReferenceRole::Raise, position);
        }
        type_
    }

    /// `E` of `Result<T, E>`, also in a box.
    fn error_of(&self, result: TypeId) -> Option<TypeId> {
        let arguments_of = |type_: TypeId, name: &str| match self.b.facts.type_(type_) {
            Type::Named { segments, arguments, .. } => {
                segments.last().filter(|it| self.b.str(**it) == name).map(|_| arguments.as_slice())
            }
            _ => None,
        };
        let &[_, error] = arguments_of(result, "Result")? else { return None };
        let error = match arguments_of(error, "Box") {
            Some(&[boxed]) => boxed,
            _ => error,
        };
        match self.b.facts.type_(error) {
            Type::Named { .. } => Some(error),
            Type::Bounds(bounds) => bounds.first().copied(),
            _ => None,
        }
    }

    /// Where `E` of `Result<T, E>` stands.
    fn error_node(&self, result: Node) -> Option<Node> {
        let argument = |node: Node, index: usize| {
            let arguments = self.child(node, Field::TypeArguments)?;
            self.children(arguments).nth(index)
        };
        let mut error = argument(result, 1)?;
        if self.is(self.last_segment(error), "Box") {
            error = argument(error, 0)?;
        }
        while self.kind(error) == Kind::BoundedType {
            error = self.first_child(error)?;
        }
        Some(error)
    }

    pub(super) fn closure(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(list) = self.child(node, Field::Parameters) else { return Step::Into };
        self.b.consume(list);
        let visible = Range { from: self.b.tree.end(list), to: self.b.tree.end(node) };
        let scope = Scope { decl: cx.decl, visible };
        let n_parameters = self.children(list).count();
        for (index, parameter) in self.children(list).enumerate() {
            if self.kind(parameter) == Kind::Parameter {
                let naming = Naming::new(cx.decl, ReferenceRole::Type);
                let type_ = self.child(parameter, Field::Type).map(|it| self.read_type(it, naming));
                if let Some(pattern) = self.child(parameter, Field::Pattern) {
                    self.pattern(pattern, type_.map_or(Given::Unknown, Given::Type), scope);
                }
            } else {
                let given = self.closure_argument(node, index, n_parameters, cx);
                self.pattern(parameter, given, scope);
            }
        }
        Step::Into
    }

    /// What a closure gets when it is handed to a method of iterators, options and the like: an element, or the error.
    fn closure_argument(&mut self, closure: Node, index: usize, n_parameters: usize, cx: Context) -> Given {
        if let Some(receiver) = self.error_receiver(closure, n_parameters) {
            let of = self.expr(receiver, cx.decl);
            let (name, field) = (self.b.intern("Err"), self.b.intern("0"));
            let at = self.b.tree.start(closure);
            let variant = self.b.type_(Type::Named { segments: vec![name], arguments: Vec::new(), at });
            return Given::Expr(self.b.expr(Expr::Payload { of, variant, field }));
        }
        let Some(receiver) = self.element_receiver(closure, index, n_parameters) else {
            return Given::Unknown;
        };
        let of = self.expr(receiver, cx.decl);
        let element = self.b.expr(Expr::Element { of });
        if n_parameters == 2 && self.is_retain(closure) {
            // Maps hand over key and value.
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            return Given::Expr(self.b.expr(Expr::Item { of: element, index }));
        }
        Given::Expr(element)
    }

    /// The result whose error a closure gets.
    fn error_receiver(&self, closure: Node, n_parameters: usize) -> Option<Node> {
        let (receiver, method) = self.method_around(closure)?;
        let fits = matches!(
            self.b.bytes(method),
            b"map_err" | b"or_else" | b"unwrap_or_else" | b"inspect_err" | b"is_err_and"
        );
        (fits && n_parameters == 1).then_some(receiver)
    }

    fn element_receiver(&self, closure: Node, index: usize, n_parameters: usize) -> Option<Node> {
        let (receiver, method) = self.method_around(closure)?;
        let fits = match self.b.bytes(method) {
            b"map"
            | b"filter"
            | b"for_each"
            | b"any"
            | b"all"
            | b"find"
            | b"filter_map"
            | b"flat_map"
            | b"and_then"
            | b"inspect"
            | b"position"
            | b"rposition"
            | b"take_while"
            | b"skip_while"
            | b"map_while"
            | b"is_some_and"
            | b"is_none_or"
            | b"is_ok_and"
            | b"find_map"
            | b"partition"
            | b"min_by_key"
            | b"max_by_key"
            | b"sort_by_key"
            | b"sort_unstable_by_key"
            | b"sort_by_cached_key"
            | b"try_for_each"
            | b"dedup_by_key"
            | b"partition_point"
            | b"binary_search_by"
            | b"binary_search_by_key"
            | b"map_or"
            | b"map_or_else" => n_parameters == 1 && self.is_last_argument(closure),
            b"min_by" | b"max_by" | b"sort_by" | b"sort_unstable_by" | b"reduce" | b"dedup_by" => {
                n_parameters == 2
            }
            b"retain" | b"retain_mut" => true,
            b"fold" | b"try_fold" | b"rfold" => n_parameters == 2 && index == 1,
            _ => false,
        };
        fits.then_some(receiver)
    }

    /// The receiver and the name of the method whose argument a node is.
    fn method_around(&self, argument: Node) -> Option<(Node, Node)> {
        let call = self.parent(self.parent(argument)?)?;
        if self.kind(call) != Kind::CallExpression {
            return None;
        }
        let mut function = self.child(call, Field::Function)?;
        if self.kind(function) == Kind::GenericFunction {
            function = self.child(function, Field::Function)?;
        }
        if self.kind(function) != Kind::FieldExpression {
            return None;
        }
        Some((self.child(function, Field::Value)?, self.child(function, Field::Member)?))
    }

    fn is_last_argument(&self, node: Node) -> bool {
        self.parent(node).is_some_and(|list| self.b.tree.after(node) == self.b.tree.after(list))
    }

    fn is_retain(&self, closure: Node) -> bool {
        self.method_around(closure).is_some_and(|(_, method)| self.b.bytes(method).starts_with(b"retain"))
    }
}
