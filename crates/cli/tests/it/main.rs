//! The one end-to-end test binary: terminal sessions on real repositories.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should fail where it stands")]

mod acceptance;
mod agents;
mod answers;
mod bad_input;
mod bad_places;
mod context;
mod crash;
mod diff;
mod docs;
mod errors;
mod export;
mod freshness;
mod index;
mod lookup;
mod malformed;
mod mcp;
mod pages;
mod proofs;
mod protocol;
mod refusals;
mod safety;
mod sdk;
mod serving;
mod session;
mod shells;
mod snapshots;
mod supply_chain;
mod system;
mod test_scope;
mod tidy;
mod tools;
mod upkeep;
mod worktrees;
