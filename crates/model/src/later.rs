//! Lists of a file's facts that are read when somebody first looks at them.
//!
//! What a file says to others (declarations, imports, types) is needed of all files whenever tables are made of them; what
//! stands inside of its callables only of those files that are resolved. Where an update resolves two files of twenty
//! thousand, the inside of all others is never decoded.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::facts::{Argument, Call, Expr, Reference, Site};

/// What stands inside of the callables of one file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Inside {
    pub exprs: Vec<Expr>,
    pub calls: Vec<Call>,
    pub references: Vec<Reference>,
    pub sites: Vec<Site>,
    pub arguments: Vec<Argument>,
}

/// The inside of a file, read by the first who asks.
pub(crate) type Unread = Arc<LazyLock<Inside, Box<dyn FnOnce() -> Inside + Send>>>;

/// One list of the inside; nobody can tell whether it was there from the begin.
pub struct Later<T: 'static>(State<T>);

enum State<T: 'static> {
    Here(Vec<T>),
    Unread(Unread, fn(&Inside) -> &Vec<T>),
}

impl<T> Later<T> {
    pub(crate) fn unread(inside: &Unread, list: fn(&Inside) -> &Vec<T>) -> Later<T> {
        Later(State::Unread(inside.clone(), list))
    }
}

impl<T> Deref for Later<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        match &self.0 {
            State::Here(list) => list,
            State::Unread(inside, list) => list(inside),
        }
    }
}

impl<T: Clone> DerefMut for Later<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        if let State::Unread(inside, list) = &self.0 {
            self.0 = State::Here(list(inside).clone());
        }
        match &mut self.0 {
            State::Here(list) => list,
            State::Unread(..) => unreachable!("it was just read"),
        }
    }
}

impl<T> Default for Later<T> {
    fn default() -> Later<T> {
        Later(State::Here(Vec::new()))
    }
}

impl<T: Clone> Clone for Later<T> {
    fn clone(&self) -> Later<T> {
        match &self.0 {
            State::Here(list) => Later(State::Here(list.clone())),
            State::Unread(inside, list) => Later(State::Unread(inside.clone(), *list)),
        }
    }
}

impl<T: PartialEq> PartialEq for Later<T> {
    fn eq(&self, other: &Later<T>) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Later<T> {}

impl<T: fmt::Debug> fmt::Debug for Later<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Serialize> Serialize for Later<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(to)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Later<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Later<T>, D::Error> {
        Ok(Later(State::Here(Vec::deserialize(from)?)))
    }
}

impl<'a, T> IntoIterator for &'a Later<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T: Clone> IntoIterator for &'a mut Later<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::facts::{ExprId, FileFacts, TypeId};

    #[test]
    fn the_inside_is_read_once_and_by_whoever_looks_at_it() {
        static N_READ: AtomicU32 = AtomicU32::new(0);
        let expr = Expr::TypePath(TypeId(3));
        let mut facts = FileFacts::default();
        facts.read_inside_later(Box::new(move || {
            N_READ.fetch_add(1, Ordering::Relaxed);
            Inside { exprs: vec![expr], ..Inside::default() }
        }));
        let copy = facts.clone();
        assert_eq!((facts.decls.len(), N_READ.load(Ordering::Relaxed)), (0, 0));
        assert_eq!((facts.expr(ExprId(0)), facts.calls.len(), copy.exprs.len()), (expr, 0, 1));
        facts.exprs.push(Expr::Root);
        assert_eq!((facts.exprs.len(), copy.exprs.len(), N_READ.load(Ordering::Relaxed)), (2, 1, 1));
        let mut here = FileFacts::default();
        here.exprs.push(expr);
        assert_eq!(here, copy);
    }
}
