//! What an object has to be, by where it stands: its keys are uses of members of that type.
//!
//! ```text
//! open({ retry: 1 })              what `open` takes
//! const it: Options = { retry }   what the name holds
//! this.options = { retry: 1 }     what it is assigned to
//! { options: { retry: 1 } }       the member of what is around it
//! <Shop retry={1} />              what the component takes
//! ```

use knowing_model::facts::{Expr, ExprId};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;

/// How many objects and lists are looked through.
const MAX_LEVELS: usize = 6;

/// Objects further behind in a call are data.
const MAX_ARGUMENTS: usize = 16;

impl Reader<'_, '_> {
    /// The keys of an object.
    pub(super) fn written_keys(&mut self, object: Node, cx: Context) {
        let Some(of) = self.expected(object, 0) else { return };
        for child in self.children(object) {
            let key = match self.kind(child) {
                Kind::Pair => self.child(child, Field::Key),
                Kind::MethodDefinition => self.child(child, Field::Name),
                Kind::ShorthandProperty => Some(child),
                _ => None,
            };
            let is_name = |it: &Node| {
                matches!(
                    self.kind(*it),
                    Kind::PropertyIdentifier | Kind::String | Kind::ShorthandProperty | Kind::Identifier
                )
            };
            if let Some(key) = key.filter(is_name) {
                self.written_key(of, key, cx);
            }
        }
    }

    /// The attributes of an element, by what its component takes.
    pub(super) fn written_attributes(&mut self, element: Node, component: ExprId, cx: Context) {
        let of = self.b.expr(Expr::Parameter { callee: component, argument: 0 });
        for attribute in self.children(element) {
            if self.kind(attribute) == Kind::JsxAttribute
                && let Some(key) = self.first_child(attribute)
                && self.kind(key) == Kind::PropertyIdentifier
            {
                self.written_key(of, key, cx);
            }
        }
    }

    fn written_key(&mut self, of: ExprId, key: Node, cx: Context) {
        let name = self.member_name(key);
        let member = self.b.expr(Expr::Member { of, name });
        self.refer_to_member(member, key, cx);
    }

    fn expected(&mut self, value: Node, level: usize) -> Option<ExprId> {
        if level > MAX_LEVELS {
            return None;
        }
        let parent = self.b.tree.parent(value)?;
        match self.kind(parent) {
            Kind::ParenthesizedExpression | Kind::SatisfiesExpression => self.expected(parent, level + 1),
            Kind::AsExpression => self.cast_of(parent).is_some().then(|| self.expr(parent)),
            Kind::Arguments => {
                let call = self.b.tree.parent(parent)?;
                let callee = match self.kind(call) {
                    Kind::CallExpression => self.function_of(call),
                    Kind::NewExpression => self.child(call, Field::Constructor),
                    _ => None,
                }?;
                let place = self.children(parent).take(MAX_ARGUMENTS).position(|it| it == value)?;
                let argument = u8::try_from(place).ok()?;
                let callee = self.expr(callee);
                Some(self.b.expr(Expr::Parameter { callee, argument }))
            }
            Kind::Pair => {
                let key = self.child(parent, Field::Key).filter(|it| *it != value)?;
                let of = self.expected(self.b.tree.parent(parent)?, level + 1)?;
                let name = self.member_name(key);
                Some(self.b.expr(Expr::Member { of, name }))
            }
            Kind::Array => {
                let of = self.expected(parent, level + 1)?;
                Some(self.b.expr(Expr::Element { of }))
            }
            Kind::VariableDeclarator => {
                self.child(parent, Field::Type)?;
                let name = self.child(parent, Field::Name).filter(|it| self.kind(*it) == Kind::Identifier)?;
                let (name, at) = (self.b.name(name), self.b.tree.end(parent));
                Some(self.b.expr(Expr::Name { name, at }))
            }
            Kind::AssignmentExpression => {
                let left = self.child(parent, Field::Left).filter(|it| *it != value)?;
                (self.kind(left) == Kind::MemberExpression).then(|| self.expr(left))
            }
            Kind::JsxExpression => {
                let attribute = self.b.tree.parent(parent)?;
                let key =
                    self.first_child(attribute).filter(|it| self.kind(*it) == Kind::PropertyIdentifier)?;
                let element = self.b.tree.parent(attribute)?;
                let component = self.child(element, Field::Name).filter(|it| self.is_component(*it))?;
                let callee = self.expr(component);
                let of = self.b.expr(Expr::Parameter { callee, argument: 0 });
                let name = self.b.name(key);
                Some(self.b.expr(Expr::Member { of, name }))
            }
            _ => None,
        }
    }
}
