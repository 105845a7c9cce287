//! What class-based languages share: types by package and name, members through the hierarchy, type arguments, and what
//! is known of the types of a standard library.
//!
//! ```text
//! packages   packages (namespaces) and what they declare at their top
//! members    fields, methods, constructors, nested types: own, of what is extended, of interfaces
//! generics   type parameters and what they stand for at a receiver or a call
//! lambdas    what lambdas get and give, by the types they are passed for
//! standard   types of the standard library, by a table in text
//! fits       whether a value can be passed for a parameter
//! ```
//!
//! A language brings its own [`Standard`] and says where it is by [`Dialect`]; everything else are functions that its
//! rules call.

pub(crate) mod fits;
pub(crate) mod generics;
pub(crate) mod lambdas;
pub(crate) mod members;
pub(crate) mod packages;
pub(crate) mod standard;

pub(crate) use packages::Packages;
pub(crate) use standard::Standard;

use super::Rules;
use crate::evaluate::Evaluator;

/// What the shared functions need to know of a language.
pub(crate) trait Dialect: Rules {
    fn standard<'w>(&self, ev: &Evaluator<'w>) -> &'w Standard;

    /// The name of constructors.
    fn constructor_name(&self) -> &'static str {
        "<init>"
    }

    /// The type above all others, as a path of names joined with `.`.
    fn root_type(&self) -> &'static str;

    /// Types of values that no type parameter stands for.
    fn plain_types(&self) -> &'static [&'static str] {
        &[]
    }

    /// What every type has from the root.
    fn root_members(&self) -> &'static [&'static str];
}
