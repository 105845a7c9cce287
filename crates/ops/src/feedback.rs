//! What people and agents say of symbols in answers: kept with the state of the package it was said of.

use knowing_model::package_of;
use knowing_retrieve::Task;
use knowing_store::{FeedbackRecord, FeedbackSource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{SymbolInfo, Tree, rounded};
use crate::context::check_task;
use crate::cx::{Cx, Opened};
use crate::error::{Error, ErrorKind, Result};
use crate::session::check_handle;

/// Say whether a symbol helped with a task, or ask what was said of it
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing feedback record Client.send --useful --task 'retry failed uploads'
  knowing feedback record Client.close --useful=false --note 'only closes the socket'
  knowing feedback query Client.send

What was said counts as long as the edges of the symbol's package are what they were.")]
pub struct Feedback {
    /// What to do
    #[arg(value_enum)]
    pub action: FeedbackAction,
    /// Its name or the end of it, a node id or `path:line`
    pub symbol: String,
    /// Whether it helped; with `record`
    #[arg(long, num_args = 0..=1, default_missing_value = "true", require_equals = true, value_name = "BOOL")]
    #[serde(default)]
    pub useful: Option<bool>,
    /// The task it was, or was not, useful for
    #[arg(long)]
    #[serde(default)]
    pub task: Option<String>,
    /// Why
    #[arg(long)]
    #[serde(default)]
    pub note: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FeedbackAction {
    Record,
    Query,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FeedbackReply {
    #[serde(flatten)]
    pub tree: Tree,
    pub symbol: SymbolInfo,
    /// `recorded`, or `known` when it was asked for.
    pub status: &'static str,
    /// Records that count, of each kind.
    pub useful: usize,
    pub not_useful: usize,
    /// What they would add to the score of the formula.
    pub score: f64,
    /// Records of a state of the package that is no more.
    pub expired: usize,
}

const MAX_NOTE: usize = 4 << 10;

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Feedback) -> Result<FeedbackReply> {
    check(arguments)?;
    if let Some(handle) = &cx.session {
        check_handle(handle)?;
    }
    let mut opened = cx.open()?;
    let (symbol, id, package) = {
        let view = opened.view()?;
        let at = view.lookup(&arguments.symbol)?[0];
        let symbol = view.symbol(at)?.symbol;
        (view.info(at)?, symbol.id, package_of(symbol.class, &symbol.container).to_owned())
    };
    let roots = opened.store.package_roots(&opened.snapshot)?;
    let root = roots.iter().find(|it| it.0 == package).map(|it| it.1).unwrap_or_default();
    let status = match arguments.action {
        FeedbackAction::Query => "known",
        FeedbackAction::Record => {
            record(cx, &mut opened, arguments, id, root)?;
            "recorded"
        }
    };
    let all = opened.store.feedback_of(opened.snapshot.repo, id)?;
    let (valid, expired): (Vec<&FeedbackRecord>, Vec<&FeedbackRecord>) =
        all.iter().partition(|it| it.package_root == root);
    let useful = valid.iter().filter(|it| it.useful).count();
    Ok(FeedbackReply {
        tree: opened.tree.clone(),
        symbol,
        status,
        useful,
        not_useful: valid.len() - useful,
        score: score(useful, valid.len()),
        expired: expired.len(),
    })
}

fn check(arguments: &Feedback) -> Result<()> {
    let task = arguments.task.as_deref().unwrap_or_default();
    check_task(task)?;
    if arguments.note.as_ref().is_some_and(|it| it.len() > MAX_NOTE) {
        let message = format!("the note has more than {MAX_NOTE} bytes");
        return Err(Error::new(ErrorKind::Usage, message, "say it in fewer words"));
    }
    match (arguments.action, arguments.useful) {
        (FeedbackAction::Record, None) => Err(Error::new(
            ErrorKind::Usage,
            "`useful` is missing: a record says whether the symbol helped",
            "give `--useful` or `--useful=false`",
        )),
        (FeedbackAction::Query, Some(_)) => Err(Error::new(
            ErrorKind::Usage,
            "`useful` says something, and `query` asks",
            "use `record` to say it",
        )),
        _ => Ok(()),
    }
}

fn record(
    cx: &Cx<'_>,
    opened: &mut Opened,
    arguments: &Feedback,
    symbol: knowing_model::NodeId,
    package_root: knowing_model::Hash,
) -> Result<()> {
    let (cluster, keywords) = subject(arguments.task.as_deref().unwrap_or_default());
    let record = FeedbackRecord {
        symbol,
        session: cx.session.clone().unwrap_or_default(),
        useful: arguments.useful == Some(true),
        source: FeedbackSource::Explicit,
        cluster,
        keywords,
        package_root,
        pack_root: None,
        note: arguments.note.clone().unwrap_or_default(),
        at: cx.environment.now,
    };
    Ok(opened.store.record_feedback(opened.snapshot.repo, &record)?)
}

/// What a task is about, and its words: names it spells out, else the first five of its words.
fn subject(task: &str) -> (String, String) {
    if task.trim().is_empty() {
        return (String::new(), String::new());
    }
    let keywords = Task::parse(task).keywords;
    let names: Vec<String> =
        keywords.exact.iter().chain(&keywords.compounds).map(|it| it.text.to_lowercase()).collect();
    let words: Vec<String> = keywords.components.iter().map(|it| it.text.to_lowercase()).collect();
    let cluster = match names.is_empty() {
        true => words.iter().take(5).cloned().collect::<Vec<_>>().join(" "),
        false => names.join(" "),
    };
    (cluster, names.into_iter().chain(words).collect::<Vec<_>>().join(" "))
}

fn score(useful: usize, all: usize) -> f64 {
    if all == 0 {
        return 0.0;
    }
    let share = useful as f64 / all as f64;
    rounded(if share > 0.5 { 0.25 * (2.0 * share - 1.0) } else { -0.05 * (1.0 - 2.0 * share) })
}
