//! Why a symbol stands where it does in the answer to a task, or why it is missing: the same run as `context`.

use knowing_retrieve::{Channel, RankedSymbol, Ranker, Run, explain};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{SymbolInfo, Tree, rounded};
use crate::context::{Asked, ContextOptions, Engine, check_task};
use crate::cx::Cx;
use crate::error::Result;

/// Why a symbol is in the answer to a task, at which rank, or why not
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing why \"retry failed uploads\" --symbol Client.send
  knowing why \"slow joins\" --symbol Query.join --ranker formula --json")]
pub struct Why {
    /// The task, as it was given to `context`
    #[arg(allow_hyphen_values = true)]
    #[serde(alias = "task_description")]
    pub task: String,
    /// The symbol: a name, the end of one, a node id or `path:line`
    #[arg(long)]
    pub symbol: String,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ContextOptions,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WhyReply {
    #[serde(flatten)]
    pub tree: Tree,
    pub symbol: SymbolInfo,
    /// From 1; absent when it is no candidate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    pub candidates: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What the ranker gave, on its own scale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<f64>,
    pub ranker: &'static str,
    pub reasons: Vec<String>,
    /// The lists that have it, with its place in each.
    pub channels: Vec<ChannelPlace>,
    /// What the ranker saw, and what each gave to the score; the strongest first.
    pub features: Vec<FeaturePart>,
    /// Parts of the formula's score.
    pub components: Vec<NamedNumber>,
    pub keywords: Vec<String>,
    /// Concept classes that the task's words matched.
    pub classes: Vec<String>,
    pub walk: f64,
    /// Edges to the nearest seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<u8>,
    /// Whether it is in the pack of this budget and limit.
    pub packed: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChannelPlace {
    pub name: &'static str,
    /// From 1.
    pub rank: u32,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FeaturePart {
    pub name: &'static str,
    pub value: f64,
    /// What it gave to the score, on the ranker's scale.
    pub contribution: f64,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NamedNumber {
    pub name: &'static str,
    pub value: f64,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Why) -> Result<WhyReply> {
    check_task(&arguments.task)?;
    let asked = Asked::Task(arguments.task.clone());
    let wanted = arguments.options.wanted(&asked, None)?;
    let (opened, place) = cx.open_fresh()?;
    let engine = Engine::new(&opened, place)?;
    let view = opened.view()?;
    // Of overloads the first; each has a rank of its own and can be asked for by id.
    let node = view.lookup(&arguments.symbol)?[0];
    let run = engine.run(&asked, &wanted.settings);
    let answer = engine.answer(&asked, &wanted);
    let id = engine.sources().graph.node(node).id();
    let packed = answer.symbols.iter().any(|it| it.node_id == id);
    let rank = run.ranked.iter().position(|it| it.node == node);
    let found = rank.map(|at| &run.ranked[at]);
    let keywords = &run.task.keywords;
    let keywords = keywords.exact.iter().chain(&keywords.compounds).chain(&keywords.components);
    Ok(WhyReply {
        tree: engine.tree().clone(),
        symbol: view.info(node)?,
        rank: rank.map(|it| it + 1),
        candidates: run.n_candidates,
        score: found.map(|it| rounded(it.score)),
        raw: found.map(|it| rounded(it.raw)),
        ranker: wanted.settings.ranker.name(),
        reasons: found.map(knowing_retrieve::reasons::of).unwrap_or_default(),
        channels: found.map(channels).unwrap_or_default(),
        features: found.map(|it| features(it, wanted.settings.ranker)).unwrap_or_default(),
        components: found.map(components).unwrap_or_default(),
        keywords: keywords.map(|it| it.text.clone()).collect(),
        classes: run.concepts.clone(),
        walk: rounded(run.walked.score(node)),
        distance: run.walked.hops(node),
        packed,
        why_not: why_not(&engine, &run, node, found, packed),
    })
}

fn channels(it: &RankedSymbol) -> Vec<ChannelPlace> {
    let place =
        |channel: &Channel| Some(ChannelPlace { name: channel.name(), rank: it.rank_in(*channel)? + 1 });
    Channel::ALL.iter().filter_map(place).collect()
}

fn features(it: &RankedSymbol, ranker: Ranker) -> Vec<FeaturePart> {
    let mut parts: Vec<FeaturePart> = explain::contributions(it, ranker)
        .into_iter()
        .map(|(name, value, contribution)| FeaturePart {
            name,
            value: rounded(value),
            contribution: rounded(contribution),
        })
        .filter(|it| it.value != 0.0 || it.contribution != 0.0)
        .collect();
    parts.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()).then(a.name.cmp(b.name)));
    parts
}

fn components(it: &RankedSymbol) -> Vec<NamedNumber> {
    it.components
        .named()
        .into_iter()
        .map(|(name, value)| NamedNumber { name, value: rounded(value) })
        .collect()
}

fn why_not(
    engine: &Engine<'_>,
    run: &Run,
    node: knowing_graph::NodeIndex,
    found: Option<&RankedSymbol>,
    packed: bool,
) -> Option<String> {
    if packed {
        return None;
    }
    Some(match found {
        Some(_) => "it is ranked, and the budget, the limit or the cut-off leaves it out".to_owned(),
        None => explain::why_no_candidate(engine.sources(), run, node).to_owned(),
    })
}
