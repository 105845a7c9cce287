//! Runs operations for clients: on threads of their own, stopped when nobody waits, indexing first what never was.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use knowing_ops::{Cx, Environment, Error, ErrorKind, Paging, Result, StalePolicy, TreeChoice};
use rmcp::RoleServer;
use rmcp::model::JsonObject;
use rmcp::service::RequestContext;
use serde_json::Value;

use crate::Options;
use crate::http::Gone;
use crate::indexing::{self, Indexing, Run, Teller};

/// How long a question may take. One that waits for an index run is told so, and the run goes on.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long what was told last may take to be sent.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What operations of a server run in.
#[derive(Clone)]
pub(crate) struct Runner {
    pub(crate) options: Arc<Options>,
    pub(crate) indexing: Indexing,
}

/// What a request wants to have done.
pub(crate) struct Wanted {
    /// The repository it names, to tell others that ask for the same.
    pub(crate) repo: Option<String>,
    /// Whose state an answer may rest on.
    pub(crate) session: Option<String>,
    /// It is there to index, however long that takes.
    pub(crate) is_index: bool,
}

impl Runner {
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        wanted: Wanted,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&mut Cx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let environment = environment(self.options.database.clone())?;
        let repo = wanted.repo.or_else(|| self.options.repo.clone());
        let run = Run::new(&environment.working_directory, repo.as_deref());
        let mut teller = Teller::new(self.indexing.clone(), Arc::clone(&run));
        let token = context.meta.get_progress_token();
        let telling =
            token.map(|token| tokio::spawn(indexing::forward(teller.channel(), context.peer.clone(), token)));
        let is_told = telling.is_some();
        let (repo, session, indexing) = (self.options.repo.clone(), wanted.session, self.indexing.clone());
        let own = Arc::clone(&run);
        let mut working = tokio::task::spawn_blocking(move || {
            let mut cx = Cx {
                environment,
                repo,
                tree: TreeChoice::default(),
                stale: StalePolicy::default(),
                session,
                paging: Paging::default(),
                progress: &teller,
                output: &mut io::sink(),
            };
            let done = work(&mut cx);
            indexing.end(&own);
            match done {
                // What is missing or held is what another call is making.
                Err(error) if matches!(error.kind, ErrorKind::NoIndex | ErrorKind::Busy) => {
                    Err(indexing.of_others(&own).map_or(error, |it| it.being_indexed()))
                }
                done => done,
            }
        });
        let mut gone = Gone::of(context);
        loop {
            tokio::select! {
                done = &mut working => {
                    if let Some(telling) = telling {
                        // What was told arrives before the answer.
                        let _ = tokio::time::timeout(LAST_WORDS, telling).await;
                    }
                    return done.unwrap_or_else(|error| Err(fault(&error.to_string())));
                }
                () = taken_back(context, &mut gone) => {
                    run.stop();
                    // Who takes a question back wants to hear no more of it.
                    telling.inspect(|it| it.abort());
                    return Err(Error::new(ErrorKind::Timeout, "cancelled", "ask again"));
                }
                () = tokio::time::sleep(PATIENCE) => match run.is_indexing() {
                    true if is_told || wanted.is_index => {}
                    true => return Err(run.being_indexed()),
                    false if wanted.is_index => {}
                    false => {
                        run.stop();
                        let message = format!("there is no answer after {} s", PATIENCE.as_secs());
                        return Err(Error::new(ErrorKind::Timeout, message, "ask for less: a lower depth or limit"));
                    }
                },
            }
        }
    }
}

/// Until the client says that it does not want the answer any more, or goes.
async fn taken_back(context: &RequestContext<RoleServer>, gone: &mut Option<Gone>) {
    tokio::select! {
        () = context.ct.cancelled() => {}
        () = Gone::wait(gone) => {}
    }
}

/// A tool; what was never indexed is indexed first, where it lies on this machine.
pub(crate) fn tool(name: &str, arguments: JsonObject, indexing: &Indexing, cx: &mut Cx<'_>) -> Result<Value> {
    if WITHOUT_INDEX.contains(&name) {
        return knowing_ops::run_tool(name, arguments, cx);
    }
    indexed(cx, indexing, &arguments, |cx, arguments| knowing_ops::run_tool(name, arguments.clone(), cx))
}

/// Asks; where the answer is that nothing is indexed, indexes and asks again.
pub(crate) fn indexed<T>(
    cx: &mut Cx<'_>,
    indexing: &Indexing,
    arguments: &JsonObject,
    ask: impl Fn(&mut Cx<'_>, &JsonObject) -> Result<T>,
) -> Result<T> {
    let repo = cx.repo.clone();
    let error = match ask(cx, arguments) {
        Err(error) if error.kind == ErrorKind::NoIndex => error,
        answered => return answered,
    };
    let own = Run::new(&cx.environment.working_directory, cx.repo.as_deref());
    if let Some(other) = indexing.of_others(&own) {
        return Err(other.being_indexed());
    }
    match knowing_ops::run_tool("index_repo", JsonObject::new(), cx) {
        Ok(_) => {
            cx.repo = repo;
            ask(cx, arguments)
        }
        // A name and no place: what was asked for says more.
        Err(again) if again.kind == ErrorKind::BadInput => Err(error),
        Err(again) => Err(again),
    }
}

/// They are about what is stored, and nothing is.
const WITHOUT_INDEX: &[&str] = &["fsck", "index_repo", "untrack_repo"];

/// Anew for each call: it holds the time.
fn environment(database: Option<PathBuf>) -> Result<Environment> {
    Environment::of_process(database).map_err(|error| {
        let message = format!("there is no working directory: {error}");
        Error::new(ErrorKind::Io, message, "start the server in a directory that exists")
    })
}

fn fault(what: &str) -> Error {
    let message = format!("the operation failed: {what}");
    Error::new(ErrorKind::Internal, message, "this is a bug: please report it")
}
