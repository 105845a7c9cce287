//! From a task to the symbols that matter: ranked, explained, packed into a budget.
//!
//! Read `pipeline.rs` first: it is the table of contents. `params.rs` has every number, `features.rs` what the learned
//! ranker sees, `channels/` where candidates come from.

mod around;
mod candidates;
mod channels;
mod classes;
mod evidence;
pub mod explain;
pub mod features;
mod fuse;
mod model;
mod noise;
mod order;
mod owners;
mod pack;
mod params;
mod pipeline;
mod query;
pub mod ranker;
pub mod reasons;
mod score;
mod seeds;
pub mod task;

pub use around::{for_changes, for_files};
pub use candidates::Channel;
pub use pack::{OnDisk, Packing, Texts, pack};
pub use params::{Params, Part, Ranker, Switches};
pub use pipeline::{RankedSymbol, Run, Settings, Sources, for_task};
pub use score::Components;
pub use task::Task;
