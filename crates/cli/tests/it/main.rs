//! The one end-to-end test binary: terminal sessions on real repositories.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should fail where it stands")]

mod acceptance;
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
mod mcp;
mod proofs;
mod safety;
mod session;
mod snapshots;
mod system;
mod tidy;
mod upkeep;
mod worktrees;
