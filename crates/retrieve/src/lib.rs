//! From a task to the symbols that matter: ranked, explained, packed into a budget.

pub mod classes;
pub mod task;
