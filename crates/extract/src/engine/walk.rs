//! One walk over a flat tree, in source order, with a context that holds for the nodes below.

use super::tree::{Node, Tree};

pub(crate) trait Visitor {
    /// What holds around a node: scope, declaration, block ...
    type Context: Copy;

    fn enter(&mut self, node: Node, context: Self::Context) -> Step<Self::Context>;

    /// Whether a limit was reached, so that the walk ends.
    fn is_full(&self) -> bool;
}

pub(crate) enum Step<C> {
    /// Go on with what is below.
    Into,
    /// Leave out what is below.
    Over,
    /// Go on with what is below, in another context.
    Within(C),
}

/// A loop, not a recursion: the tree may be deeper than the stack.
pub(crate) fn walk<V: Visitor>(tree: &Tree, visitor: &mut V, context: V::Context) {
    let mut context = context;
    let mut outer: Vec<(Node, V::Context)> = Vec::new();
    let mut node = Node(0);
    while node.index() < tree.len() && !visitor.is_full() {
        while let Some(&(end, before)) = outer.last()
            && end <= node
        {
            context = before;
            outer.pop();
        }
        node = match visitor.enter(node, context) {
            Step::Into => Node(node.0 + 1),
            Step::Over => tree.after(node),
            Step::Within(inner) => {
                outer.push((tree.after(node), context));
                context = inner;
                Node(node.0 + 1)
            }
        };
    }
}
