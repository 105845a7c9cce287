//! Everything a user or agent can ask: one file an operation, plain data in and out.
//!
//! An operation is a struct of arguments and a reply. The command line, help, schemas and documentation come from these
//! two and from the list below; adding an operation is one file and one line.

mod answer;
mod blast_radius;
mod callees;
mod callers;
mod cx;
mod error;
mod export;
mod index_repo;
mod lookup;
mod nearest;
mod place;
mod query;
mod registry;
mod stats;
mod unresolved;
mod view;

pub use answer::{Link, SCHEMA, SymbolInfo, Tree};
pub use blast_radius::{BlastRadius, BlastRadiusReply, Impact, PathStep, Risk};
pub use callees::{Callees, CalleesReply};
pub use callers::{Callers, CallersReply, Neighbour};
pub use cx::{Cx, Environment};
pub use error::{Candidate, Error, ErrorKind, Result};
pub use export::{Export, ExportFormat, ExportReply};
pub use index_repo::{IndexReply, IndexRepo, PhaseReport};
pub use knowing_index::{Phase, Progress, Silent};
pub use query::{Direction, Query, QueryReply};
pub use registry::Registry;
pub use stats::{Stats, StatsReply};
pub use unresolved::{UnresolvedSite, UnresolvedSites};

macro_rules! operations {
    ($($variant:ident $module:ident::$arguments:ident -> $reply:ident, $tool:literal;)*) => {
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
                match self {
                    $(Operation::$variant(arguments) => $module::run(cx, arguments).map(Reply::$variant),)*
                }
            }
        }

        /// All operations: name, schema of the arguments, schema of the reply.
        pub fn list() -> Vec<Listed> {
            vec![$(Listed {
                name: $tool,
                arguments: schemars::schema_for!($module::$arguments),
                reply: schemars::schema_for!($module::$reply),
            },)*]
        }
    };
}

operations! {
    Index index_repo::IndexRepo -> IndexReply, "index_repo";
    Stats stats::Stats -> StatsReply, "stats";
    Query query::Query -> QueryReply, "graph_query";
    Callers callers::Callers -> CallersReply, "callers";
    Callees callees::Callees -> CalleesReply, "callees";
    BlastRadius blast_radius::BlastRadius -> BlastRadiusReply, "blast_radius";
    Export export::Export -> ExportReply, "export";
}

/// A row of the list of operations.
#[derive(Clone, Debug)]
pub struct Listed {
    pub name: &'static str,
    pub arguments: schemars::Schema,
    pub reply: schemars::Schema,
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
