//! Annotations as values: instances, aliases, the special forms of `typing`.

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, TypeId};

use super::{Python, builtin_type};
use crate::evaluate::{Evaluator, Frame};
use crate::value::{External, Value};

impl Python {
    pub(super) fn instance_of(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        entity: &Value,
        arguments: &[TypeId],
    ) -> Value {
        let world = ev.world;
        match entity {
            Value::Def(def) if world.kind(*def) == NodeKind::TypeAlias => {
                let (file, _, alias) = world.decl(*def);
                match alias.type_ {
                    Some(type_) => ev.typed(Frame::in_file(frame, file), alias.owner, type_),
                    None => ev.settled(frame, entity),
                }
            }
            Value::Def(def) if world.kind(*def).is_type_like() => {
                let arguments: Vec<Value> = arguments.iter().map(|it| ev.typed(frame, decl, *it)).collect();
                Value::Instance(*def, arguments.into())
            }
            Value::External(external) => {
                let text = external.last().map_or("", |it| world.text(it));
                let first = external.path.first().map_or("", |it| world.text(*it));
                if matches!(first, "typing" | "typing_extensions" | "collections" | "types" | "builtins") {
                    return self.special_form(ev, frame, decl, external, text, arguments);
                }
                let arguments: Vec<Value> = arguments.iter().map(|it| ev.typed(frame, decl, *it)).collect();
                Value::ExternalInstance(external.clone(), arguments.into())
            }
            Value::Nothing => Value::Nothing,
            _ => Value::Unknown,
        }
    }

    fn special_form(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        external: &External,
        text: &str,
        arguments: &[TypeId],
    ) -> Value {
        let mut values = arguments.iter().map(|it| ev.typed(frame, decl, *it)).collect::<Vec<_>>();
        match text {
            "Optional" => Value::join(values.into_iter().chain([Value::Nothing])),
            "Union" => Value::join(values),
            "Annotated" | "ClassVar" | "Final" | "Required" | "NotRequired" | "ReadOnly" | "TypeGuard" => {
                if values.is_empty() {
                    Value::Unknown
                } else {
                    values.swap_remove(0)
                }
            }
            "Type" | "type" => match values.first() {
                Some(Value::Instance(class, _)) => Value::Def(*class),
                Some(Value::ExternalInstance(class, _)) => Value::External(class.clone()),
                _ => Value::Unknown,
            },
            "Self" => match ev.enclosing_type(frame, decl) {
                Some(owner) => match frame.receiver {
                    Some(exact) if ev.world.hierarchy.is_below(exact, owner) => Value::instance(exact),
                    _ => Value::instance(owner),
                },
                None => Value::Unknown,
            },
            "Any" | "object" | "TypeVar" | "Callable" | "Literal" | "NoReturn" | "Never" => Value::Unknown,
            "Iterator"
            | "Iterable"
            | "Generator"
            | "AsyncIterator"
            | "AsyncIterable"
            | "AsyncGenerator"
            | "ContextManager"
            | "AbstractContextManager" => match values.first() {
                Some(first) => Value::Iterable(first.clone().into()),
                None => Value::Unknown,
            },
            "Awaitable" => values.first().map_or(Value::Unknown, |it| Value::Awaitable(it.clone().into())),
            "Coroutine" => values.last().map_or(Value::Unknown, |it| Value::Awaitable(it.clone().into())),
            "Tuple" | "tuple" if !values.is_empty() => Value::Tuple(values.into()),
            "List" => Value::ExternalInstance(builtin_type(ev, "list"), values.into()),
            "Dict" => Value::ExternalInstance(builtin_type(ev, "dict"), values.into()),
            "Set" => Value::ExternalInstance(builtin_type(ev, "set"), values.into()),
            _ => Value::ExternalInstance(external.clone(), values.into()),
        }
    }
}
