//! Everything a user or agent can ask: one file an operation, plain data in and out.
//!
//! An operation is a struct of arguments and a reply. The command line, help, schemas and documentation come from these
//! two and from the list below; adding an operation is one file and one line.

mod answer;
mod audit_supply_chain;
mod blast_radius;
mod callees;
mod callers;
mod clock;
mod context;
mod context_for_files;
mod context_for_pr;
mod context_for_task;
mod cross_repo_callers;
mod cx;
mod decode;
mod diff;
mod error;
mod events;
mod export;
mod feedback;
mod flow_between;
mod freshness;
mod fsck;
mod gc;
mod gc_heads;
mod index_repo;
mod lookup;
mod nearest;
mod owners;
mod pack;
mod page;
mod params;
mod place;
mod plan_turn;
mod pr_impact;
mod prove;
mod prove_absent;
mod proving;
mod query;
mod reference;
mod registry;
mod repo_graph;
mod reset;
pub mod resources;
mod routes;
mod semantic_diff;
mod session;
mod snapshot_diff;
mod snapshots;
mod stale_edges;
mod stats;
mod status;
mod test_scope;
mod tool;
mod trace_dataflow;
mod unresolved;
mod untrack_repo;
mod vacuum;
mod verify;
mod view;
mod why;
mod work_state;

pub use answer::{Link, SCHEMA, SymbolInfo, Tree};
pub use audit_supply_chain::{
    AuditFormat, AuditSupplyChain, AuditSupplyChainReply, AuditedFile, AuditedPackage, CapabilityPath,
    CapabilityStep, Finding, UnreadFile, Verdict,
};
pub use blast_radius::{BlastRadius, BlastRadiusReply, Impact, PathStep, Risk};
pub use callees::{Callees, CalleesReply};
pub use callers::{Callers, CallersReply, Neighbour};
pub use context::{
    BatchReply, Context, ContextOptions, ContextReply, DetailChoice, FormatChoice, PackReply, RankerChoice,
};
pub use context_for_files::ContextForFiles;
pub use context_for_pr::ContextForPr;
pub use context_for_task::ContextForTask;
pub use cross_repo_callers::{CrossRepoCallers, CrossRepoCallersReply, RemoteCaller};
pub use cx::{Cx, Environment};
pub use decode::{Decode, DecodeReply};
pub use error::{Candidate, Error, ErrorKind, Result};
pub use events::{EdgeEvent, Events, EventsReply};
pub use export::{Export, ExportFormat, ExportReply};
pub use feedback::{Feedback, FeedbackAction, FeedbackReply};
pub use flow_between::{FlowBetween, FlowBetweenReply, FlowPath, FlowStep};
pub use freshness::{StalePolicy, TreeChoice};
pub use fsck::{Fsck, FsckCounts, FsckFinding, FsckReply};
pub use gc::{Gc, SweptReply};
pub use index_repo::{IndexReply, IndexRepo, PhaseReport};
pub use knowing_index::{Phase, Progress, Silent};
pub use owners::{Owners, OwnersReply};
pub use pack::Pack;
pub use page::{MAX_TOKENS, Page, Paging, USUAL_TOKENS};
pub use params::{ParamsReply, ShowParams};
pub use plan_turn::{PlanTurn, PlanTurnReply, Suggestion};
pub use pr_impact::{ImpactedSymbol, PrImpact, PrImpactReply};
pub use prove::{Prove, ProveReply};
pub use prove_absent::ProveAbsent;
pub use query::{Direction, FoundSymbol, Query, QueryReply};
pub use registry::Registry;
pub use repo_graph::{Level, RepoGraph, RepoGraphReply, RepoItem, RepoLink};
pub use reset::Reset;
pub use routes::{RemoteAsker, RouteInfo, Routes, RoutesReply};
pub use semantic_diff::{SemanticDiff, SemanticDiffReply, SymbolChange};
pub use session::{SessionInfo, session_info};
pub use snapshot_diff::{Diff, DiffCounts, DiffEdge, DiffReply, KnownAs, ModifiedNode, MovedNode, Side};
pub use snapshots::{SnapshotAction, SnapshotInfo, Snapshots, SnapshotsReply};
pub use stale_edges::{StaleEdges, StaleEdgesReply, StaleFile};
pub use stats::{Stats, StatsReply};
pub use status::{Status, StatusReply};
pub use test_scope::{
    TestEvidence, TestFunction, TestOutput, TestPackage, TestRun, TestScope, TestScopeReply,
};
pub use tool::{Tool, tools, without_repetition};
pub use trace_dataflow::{TraceDataflow, TraceDataflowReply};
pub use unresolved::{UnresolvedSite, UnresolvedSites};
pub use untrack_repo::UntrackRepo;
pub use vacuum::{Vacuum, VacuumReply};
pub use verify::{Verify, VerifyReply};
pub use why::{Why, WhyReply};

macro_rules! operations {
    ($($variant:ident $module:ident::$arguments:ident -> $reply:ident, $name:literal $(, $access:ident)?;)*) => {
        /// One operation with its arguments.
        #[derive(Clone, Debug, clap::Subcommand)]
        pub enum Operation {
            $($variant($module::$arguments),)*
        }

        /// What an operation answers.
        #[derive(Clone, Debug, serde::Serialize)]
        #[serde(untagged)]
        pub enum Reply {
            $($variant($module::$reply),)*
        }

        impl Operation {
            pub fn run(&self, cx: &mut Cx<'_>) -> Result<Reply> {
                let done = match self {
                    $(Operation::$variant(arguments) => $module::run(cx, arguments).map(Reply::$variant),)*
                };
                done.map_err(|error| error.held_to(USUAL_TOKENS))
            }
        }

        /// All operations: name, schema of the arguments, schema of the reply.
        pub fn list() -> Vec<Listed> {
            vec![$(Listed {
                name: $name,
                access: access!($($access)?),
                arguments: schemars::schema_for!($module::$arguments),
                reply: tool::reply_schema::<$module::$reply>(),
            },)*]
        }

        /// Runs a tool with arguments in JSON, among which may be the repository.
        pub fn run_tool(
            name: &str,
            mut arguments: serde_json::Map<String, serde_json::Value>,
            cx: &mut Cx<'_>,
        ) -> Result<serde_json::Value> {
            let answered = (|| {
                tool::take_common(&mut arguments, cx)?;
                let (reply, access) = match name {
                    $($name if access!($($access)?).is_some() => {
                        tool::take_paging::<$module::$arguments>(&mut arguments, cx)?;
                        let reply = $module::run(cx, &tool::arguments(arguments)?)?;
                        (Reply::$variant(reply), access!($($access)?))
                    })*
                    _ => {
                        let hint = "ask for the list of tools";
                        return Err(Error::new(ErrorKind::Usage, format!("no tool is called `{name}`"), hint));
                    }
                };
                let reply = serde_json::to_value(reply).expect("replies have strings as keys");
                page::held(reply, access == Some(Access::Reads), cx.paging.max_tokens)
            })();
            answered.map_err(|error| error.held_to(cx.paging.max_tokens.unwrap_or(USUAL_TOKENS)))
        }
    };
}

macro_rules! access {
    () => {
        None::<Access>
    };
    (reads) => {
        Some(Access::Reads)
    };
    (writes) => {
        Some(Access::Writes)
    };
    (adds) => {
        Some(Access::Adds)
    };
    (destroys) => {
        Some(Access::Destroys)
    };
}

// The command's variant, its arguments and reply, its name; and for tools of agents, what they do to what is stored.
operations! {
    Context context::Context -> ContextReply, "context";
    ContextForTask context_for_task::ContextForTask -> PackReply, "context_for_task", reads;
    ContextForFiles context_for_files::ContextForFiles -> PackReply, "context_for_files", reads;
    ContextForPr context_for_pr::ContextForPr -> PackReply, "context_for_pr", reads;
    Why why::Why -> WhyReply, "explain_symbol", reads;
    Index index_repo::IndexRepo -> IndexReply, "index_repo", writes;
    Stats stats::Stats -> StatsReply, "stats";
    Query query::Query -> QueryReply, "graph_query", reads;
    Callers callers::Callers -> CallersReply, "callers";
    Callees callees::Callees -> CalleesReply, "callees";
    Routes routes::Routes -> RoutesReply, "routes";
    Owners owners::Owners -> OwnersReply, "owners";
    BlastRadius blast_radius::BlastRadius -> BlastRadiusReply, "blast_radius", reads;
    Flow flow_between::FlowBetween -> FlowBetweenReply, "flow_between", reads;
    TestScope test_scope::TestScope -> TestScopeReply, "test_scope", reads;
    Dataflow trace_dataflow::TraceDataflow -> TraceDataflowReply, "trace_dataflow", reads;
    RepoGraph repo_graph::RepoGraph -> RepoGraphReply, "repo_graph", reads;
    CrossRepoCallers cross_repo_callers::CrossRepoCallers -> CrossRepoCallersReply, "cross_repo_callers", reads;
    Plan plan_turn::PlanTurn -> PlanTurnReply, "plan_turn", reads;
    Feedback feedback::Feedback -> FeedbackReply, "feedback", adds;
    Stale stale_edges::StaleEdges -> StaleEdgesReply, "stale_edges", reads;
    Status status::Status -> StatusReply, "status";
    Snapshots snapshots::Snapshots -> SnapshotsReply, "snapshots";
    Events events::Events -> EventsReply, "events";
    Diff snapshot_diff::Diff -> DiffReply, "snapshot_diff", reads;
    SemanticDiff semantic_diff::SemanticDiff -> SemanticDiffReply, "semantic_diff", reads;
    PrImpact pr_impact::PrImpact -> PrImpactReply, "pr_impact", reads;
    Prove prove::Prove -> ProveReply, "prove", reads;
    ProveAbsent prove_absent::ProveAbsent -> ProveReply, "prove_absent", reads;
    AuditSupplyChain audit_supply_chain::AuditSupplyChain -> AuditSupplyChainReply, "audit_supply_chain";
    Verify verify::Verify -> VerifyReply, "verify";
    Fsck fsck::Fsck -> FsckReply, "fsck", reads;
    Gc gc::Gc -> GcReply, "gc";
    Vacuum vacuum::Vacuum -> VacuumReply, "vacuum";
    Reset reset::Reset -> ResetReply, "reset";
    UntrackRepo untrack_repo::UntrackRepo -> UntrackRepoReply, "untrack_repo", destroys;
    Export export::Export -> ExportReply, "export";
    Pack pack::Pack -> PackReply, "pack";
    Decode decode::Decode -> DecodeReply, "decode";
    Params params::ShowParams -> ParamsReply, "params";
}

impl Reply {
    /// Done, and the answer is no: a program that asked wants to know without reading.
    pub fn is_negative(&self) -> bool {
        match self {
            Reply::Verify(it) => !it.holds,
            Reply::AuditSupplyChain(it) => it.suspicious > 0,
            Reply::Stale(it) => it.is_stale,
            Reply::Fsck(it) => it.total_errors > 0,
            _ => false,
        }
    }
}

/// A row of the list of operations.
#[derive(Clone, Debug)]
pub struct Listed {
    pub name: &'static str,
    /// None for what is a command only.
    pub access: Option<Access>,
    pub arguments: schemars::Schema,
    pub reply: schemars::Schema,
}

/// Whether a tool changes what is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    Reads,
    Writes,
    /// Every call adds something, the same one too.
    Adds,
    /// What it removes cannot be had back.
    Destroys,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_describes_itself_and_its_arguments() {
        for listed in list() {
            let schema = listed.arguments.as_value();
            assert!(schema["description"].is_string(), "{} has no description", listed.name);
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                assert!(property["description"].is_string(), "{}: {name} has no description", listed.name);
            }
            assert!(listed.reply.as_value()["properties"].is_object());
        }
    }
}
