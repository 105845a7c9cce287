//! Behaviour against repositories that the real git made.

mod changes;
mod history;
mod identity;
mod ignores;
mod modified;
mod objects;
mod open;
mod work_tree;

use crate::{Checkout, CommitId, Tree};
use knowing_testkit::Fixture;

#[track_caller]
fn open(repo: &Fixture) -> Checkout {
    Checkout::open(repo.path()).unwrap()
}

#[track_caller]
fn id(hex: &str) -> CommitId {
    CommitId::from_hex(hex).unwrap()
}

fn paths(tree: &Tree) -> Vec<&str> {
    tree.entries.iter().map(|it| it.path.as_str()).collect()
}
