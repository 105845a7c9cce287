//! The lexical index, asked from every side of the task in one pass.

use knowing_graph::NodeIndex;
use knowing_model::{NodeFlags, NodeKind};
use knowing_search::{Answer, Hit};
use rustc_hash::FxHashMap;

use super::Channels;
use crate::candidates::{Candidates, Channel, Found};
use crate::noise;
use crate::params::Part;
use crate::query::{N_SIDES, Side};

/// The hits of every side, as nodes, best first.
#[derive(Default)]
pub(crate) struct Lexical {
    hits: Vec<Vec<(NodeIndex, f64)>>,
    /// The score of the best hit of every side, foreign ones included.
    pub(crate) best: [f64; N_SIDES],
    ranks: Vec<FxHashMap<NodeIndex, u32>>,
    /// Scores of all hits of the whole task, tests included.
    pub(crate) whole: Vec<(NodeIndex, f64)>,
    /// Of every document, for the whole task.
    scores: Vec<f64>,
}

impl Lexical {
    pub(super) fn ask(cx: Channels<'_>) -> Lexical {
        let params = &cx.params.channels;
        let Answer { hits: answers, scores } = cx.prepared.answer(params.asked_hits);
        let mut best = [0.0; N_SIDES];
        let mut hits = Vec::with_capacity(N_SIDES);
        let mut whole = Vec::new();
        for (side, answer) in answers.iter().enumerate() {
            best[side] = answer.first().map_or(0.0, |it| it.score);
            let node = |hit: &Hit| Some((cx.node(hit.document)?, hit.score));
            if side == Side::Whole as usize {
                whole = answer.iter().filter_map(node).collect();
            }
            let own = answer.iter().filter_map(node).filter(|it| !noise::is_foreign(cx.graph, it.0));
            hits.push(mostly_code(cx, own));
        }
        if cx.query.is_prose && hits.len() > Side::Prose as usize {
            hits[Side::Prose as usize] = hits[Side::Whole as usize].clone();
            best[Side::Prose as usize] = best[Side::Whole as usize];
        }
        let ranks = hits
            .iter()
            .map(|it| it.iter().zip(0..).map(|((node, _), rank)| (*node, rank)).collect())
            .collect();
        Lexical { hits, best, ranks, whole, scores }
    }

    /// Hits in order of their score.
    pub(crate) fn of(&self, side: Side) -> &[(NodeIndex, f64)] {
        self.hits.get(side as usize).map_or(&[], Vec::as_slice)
    }

    /// The score of any node for the whole task.
    pub(crate) fn score(&self, cx: Channels<'_>, node: NodeIndex) -> f64 {
        cx.document(node).and_then(|it| self.scores.get(it.0 as usize)).copied().unwrap_or(0.0)
    }

    pub(crate) fn rank(&self, side: Side, node: NodeIndex) -> Option<u32> {
        self.ranks.get(side as usize)?.get(&node).copied()
    }

    pub(super) fn whole_for_fusion(&self, cx: Channels<'_>) -> impl Iterator<Item = Found> {
        self.of(Side::Whole).iter().take(cx.params.channels.fused_hits).map(|it| Found::plain(it.0))
    }

    /// Every side brings its best.
    pub(super) fn add(&self, cx: Channels<'_>, candidates: &mut Candidates) {
        let params = &cx.params.channels;
        let sides = [
            (Side::Whole, Channel::Bm25, params.whole_hits, None),
            (Side::Subject, Channel::Subject, params.subject_hits, Some(Part::Subject)),
            (Side::Body, Channel::Body, params.body_hits, Some(Part::Body)),
            (Side::History, Channel::History, params.history_hits, Some(Part::History)),
            (Side::Names, Channel::Names, params.names_hits, None),
            (Side::Prose, Channel::Prose, params.prose_hits, None),
            (Side::Code, Channel::Code, params.code_hits, None),
        ];
        for (side, channel, limit, part) in sides {
            if part.is_none_or(|it| cx.on(it)) {
                candidates.add(channel, self.of(side).iter().take(limit).map(|it| Found::plain(it.0)));
            }
        }
    }
}

/// Tests and sections of documents say the words of what they are about, and there are many of them: unless the task
/// speaks of such, only so many stay.
fn mostly_code(cx: Channels<'_>, hits: impl Iterator<Item = (NodeIndex, f64)>) -> Vec<(NodeIndex, f64)> {
    let params = &cx.params.channels;
    let limit = |is_asked_for: bool, limit: usize| if is_asked_for { usize::MAX } else { limit };
    let mut tests_left = limit(cx.task.speaks_of_tests, params.max_tests);
    let mut sections_left = limit(cx.task.speaks_of_documents, params.max_sections);
    let keep = |it: &(NodeIndex, f64)| {
        let node = cx.graph.node(it.0);
        let left = match node.kind() {
            NodeKind::DocSection => &mut sections_left,
            _ if node.flags().contains(NodeFlags::TEST) => &mut tests_left,
            _ => return true,
        };
        let is_kept = *left > 0;
        *left = left.saturating_sub(1);
        is_kept
    };
    hits.filter(keep).take(params.whole_hits).collect()
}
