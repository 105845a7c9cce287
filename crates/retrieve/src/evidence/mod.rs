//! What is known of a candidate: everything the features are made of, measured once.

mod company;
mod words;

use knowing_graph::{NodeIndex, Standing, Walked};
use knowing_model::{EdgeKind, NodeFlags, NodeKind};
use knowing_search::{
    DocIndex, Evaluation, Field, FileIndex, N_FIELDS, Searcher as _, Tokenizer, with_tokenizer,
};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::candidates::{Candidate, N_CHANNELS};
use crate::channels::{Channels, Harvest, N_WAYS};
use crate::fuse::fused_score;
use crate::noise;
use crate::params::Part;
use crate::query::{N_SIDES, Side};

use company::{Group, Near, Support, groups, nearness, supports};
use words::{
    Identified, Intent, Said, Terms, coverage, file_stem, identified, intent, said, scope_said, terms_of,
};

/// What holds for the whole run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    pub(crate) best: [f64; N_SIDES],
    /// The largest part of each field among the candidates.
    pub(crate) best_parts: [f64; N_FIELDS],
    pub(crate) best_fused: f64,
    pub(crate) best_inflow: [f64; N_WAYS],
    pub(crate) n_documents: f64,
    pub(crate) n_words: f64,
    pub(crate) n_identifiers: f64,
    pub(crate) n_frames: f64,
    pub(crate) has_code: bool,
    pub(crate) speaks_of_tests: bool,
    /// Sum of idf over the terms of the whole task and of its subject.
    pub(crate) mass: f64,
    pub(crate) subject_mass: f64,
    /// What kind of request it is, by its words.
    pub(crate) intent: Intent,
}

#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    pub(crate) node: NodeIndex,
    pub(crate) kind: NodeKind,
    pub(crate) flags: NodeFlags,
    pub(crate) scores: [f64; N_SIDES],
    pub(crate) ranks: [Option<u32>; N_SIDES],
    pub(crate) parts: [f64; N_FIELDS],
    pub(crate) places: [Option<(u32, f64)>; N_CHANNELS],
    pub(crate) fused: f64,
    /// Share of the task's idf that stands in any field; in name, owner or path; in the body.
    pub(crate) covered: f64,
    pub(crate) covered_by_names: f64,
    pub(crate) covered_by_body: f64,
    pub(crate) subject_covered: f64,
    pub(crate) n_matched: f64,
    /// Share of its name's and its owner's parts that the task says.
    pub(crate) name_said: f64,
    pub(crate) name_parts: f64,
    pub(crate) name_said_in_subject: f64,
    /// The same by idf, and the idf of the rarest part that is said.
    pub(crate) name_said_by_idf: f64,
    pub(crate) name_rarest: f64,
    pub(crate) owner_said: f64,
    pub(crate) owner_said_by_idf: f64,
    /// Share of the file name's parts that the task says.
    pub(crate) file_said: f64,
    pub(crate) file_said_by_idf: f64,
    /// Share of the scope's parts (`fix(scope): ...`) that stand in its path or name.
    pub(crate) scope_said: f64,
    /// The idf of the rarest term it has, and the share of the task's five rarest known terms.
    pub(crate) rarest: f64,
    pub(crate) rare_covered: f64,
    /// Whole-task score of its file's own top level, and of its owner.
    pub(crate) file_own: f64,
    pub(crate) owner_own: f64,
    /// Best whole-task score among callers that are tests, other callers, callees; and how many tests among the hits
    /// call it.
    pub(crate) test_caller: f64,
    pub(crate) n_test_callers: f64,
    pub(crate) caller: f64,
    pub(crate) callee: f64,
    pub(crate) n_callees_hit: f64,
    /// Of the whole file: days since its last change, and most commits of one of its symbols.
    pub(crate) file_age_days: Option<f64>,
    pub(crate) file_commits: f64,
    pub(crate) identified: Identified,
    /// Nodes of the same terminal name.
    pub(crate) namesakes: f64,
    pub(crate) file_named: bool,
    pub(crate) module_segments: f64,
    pub(crate) frame_depth: Option<u32>,
    /// Best share of an error message's idf in its body.
    pub(crate) message_said: f64,
    pub(crate) raises: bool,
    pub(crate) file: Group,
    pub(crate) owner: Group,
    pub(crate) package: Group,
    /// Candidates of the same terminal name.
    pub(crate) namesake: Group,
    pub(crate) path_says_test: bool,
    pub(crate) is_test: bool,
    pub(crate) is_sideline: bool,
    pub(crate) is_stand_in: bool,
    pub(crate) is_private: bool,
    pub(crate) is_dunder: bool,
    pub(crate) depth: f64,
    pub(crate) n_lines: f64,
    pub(crate) n_tokens: f64,
    pub(crate) n_doc_tokens: f64,
    pub(crate) n_commits: f64,
    pub(crate) age_days: Option<f64>,
    pub(crate) n_callers: f64,
    pub(crate) n_callees: f64,
    pub(crate) n_members: f64,
    pub(crate) n_tests: f64,
    pub(crate) n_inbound: f64,
    pub(crate) confidence: f64,
    pub(crate) walk: f64,
    pub(crate) walk_rank: Option<u32>,
    pub(crate) hops: Option<u8>,
    pub(crate) standing: Standing,
    pub(crate) near: Near,
    /// What leads to it from the matches, by way.
    pub(crate) inflow: [f64; N_WAYS],
}

pub(crate) struct Walks<'a> {
    pub(crate) walked: &'a Walked,
    pub(crate) standings: &'a FxHashMap<NodeIndex, Standing>,
}

pub(crate) fn gather(cx: Channels<'_>, harvest: &Harvest, walks: &Walks<'_>) -> (Scene, Vec<Evidence>) {
    let walk_ranks =
        walks.walked.scores.iter().zip(0..).map(|((node, score), rank)| (*node, (rank, *score))).collect();
    let gathering = Gathering {
        cx,
        harvest,
        walks,
        terms: terms_of(cx),
        walk_ranks,
        supports: supports(cx, harvest),
        scope: cx.task.scope.as_deref().map(knowing_search::tokens).unwrap_or_default(),
    };
    // What is known of one candidate depends on no other: threads take some each.
    let some = |candidates: &[Candidate]| with_tokenizer(|it| gathering.of(candidates, it));
    let parts: Vec<Vec<Evidence>> = harvest.candidates.list.par_chunks(AT_ONCE).map(some).collect();
    // What is known is large: there is room for all of it before it is moved.
    let mut list: Vec<Evidence> = Vec::with_capacity(harvest.candidates.list.len());
    parts.into_iter().for_each(|mut part| list.append(&mut part));
    groups(cx, &mut list, harvest.lexical.best[Side::Whole as usize]);
    nearness(cx, &mut list);
    let scene = scene(cx, harvest, &gathering.terms, &list);
    (scene, list)
}

/// Candidates that a thread takes at once.
const AT_ONCE: usize = 64;

/// What is the same for all candidates.
struct Gathering<'a> {
    cx: Channels<'a>,
    harvest: &'a Harvest,
    walks: &'a Walks<'a>,
    terms: Terms,
    walk_ranks: FxHashMap<NodeIndex, (u32, f64)>,
    supports: FxHashMap<NodeIndex, Support>,
    scope: Vec<String>,
}

impl Gathering<'_> {
    fn of(&self, candidates: &[Candidate], tokenizer: &mut Tokenizer) -> Vec<Evidence> {
        let mut evaluation = Evaluation::default();
        let mut files: FxHashMap<Option<FileIndex>, OfFile> = FxHashMap::default();
        let one = |it| self.of_one(it, tokenizer, &mut evaluation, &mut files);
        candidates.iter().map(one).collect()
    }

    fn of_one(
        &self,
        candidate: &Candidate,
        tokenizer: &mut Tokenizer,
        evaluation: &mut Evaluation,
        files: &mut FxHashMap<Option<FileIndex>, OfFile>,
    ) -> Evidence {
        let Gathering { cx, harvest, walks, terms, walk_ranks, supports, scope } = self;
        let cx = *cx;
        let node = candidate.node;
        let record = cx.graph.node(node);
        let doc = cx.document(node);
        match doc {
            Some(doc) => cx.prepared.evaluate(doc, evaluation),
            None => evaluation.clear(),
        }
        let mut scores = [0.0; N_SIDES];
        scores.copy_from_slice(&evaluation.views[..N_SIDES]);
        if cx.query.is_prose {
            scores[Side::Prose as usize] = scores[Side::Whole as usize];
        }
        let covered = coverage(evaluation, terms);
        let name = cx.names.name(node.0);
        let symbol = cx.names.symbol(node.0);
        let path = cx.names.path_of(node.0);
        let file = cx.names.file(node.0);
        let (first, last) = cx.names.lines(node.0);
        let of_name = said(tokenizer, name, terms);
        let of_file = files.entry(file).or_insert_with(|| self.of_file(file, tokenizer));
        let support = supports.get(&node).copied().unwrap_or_default();
        let owner = symbol.rsplit('.').nth(1).unwrap_or_default();
        let of_owner = said(tokenizer, owner, terms);
        let lengths = doc.map(|it| cx.search.lengths(it)).unwrap_or_default();
        let walk = walk_ranks.get(&node);
        Evidence {
            node,
            kind: record.kind(),
            flags: record.flags(),
            scores,
            ranks: std::array::from_fn(|side| harvest.lexical.rank(Side::ALL[side], node)),
            parts: evaluation.parts,
            places: candidate.places,
            fused: fused_score(candidate, &cx.params.channels),
            covered: covered.whole,
            covered_by_names: covered.names,
            covered_by_body: covered.body,
            subject_covered: covered.subject,
            n_matched: covered.n_matched,
            name_said: of_name.share,
            name_parts: of_name.n_tokens,
            name_said_in_subject: of_name.in_subject,
            name_said_by_idf: of_name.by_idf,
            name_rarest: of_name.rarest,
            owner_said: of_owner.share,
            owner_said_by_idf: of_owner.by_idf,
            file_said: of_file.stem.share,
            file_said_by_idf: of_file.stem.by_idf,
            scope_said: scope_said(tokenizer, scope, path, symbol),
            rarest: covered.rarest,
            rare_covered: covered.rare,
            file_own: of_file.own,
            owner_own: owner_own(cx, harvest, node),
            test_caller: support.test_caller,
            n_test_callers: support.n_test_callers,
            caller: support.caller,
            callee: support.callee,
            n_callees_hit: support.n_callees_hit,
            file_age_days: None,
            file_commits: 0.0,
            identified: identified(cx, node.0, name, symbol),
            namesakes: cx.names.n_namesakes(node.0) as f64,
            file_named: of_file.is_named,
            module_segments: of_file.module_segments,
            frame_depth: harvest.frames.iter().find(|it| it.node == node).map(|it| it.depth),
            message_said: covered.message,
            raises: raises(cx, node),
            file: Group::default(),
            owner: Group::default(),
            package: Group::default(),
            namesake: Group::default(),
            path_says_test: of_file.says_test,
            is_test: record.flags().contains(NodeFlags::TEST) || record.kind() == NodeKind::Test,
            is_sideline: of_file.is_sideline,
            is_stand_in: noise::is_stand_in(cx.names, node),
            is_private: name.starts_with('_') && !name.starts_with("__"),
            is_dunder: name.starts_with("__"),
            depth: symbol.split('.').count() as f64,
            n_lines: f64::from(last - first.min(last)) + 1.0,
            n_tokens: f64::from(lengths[Field::Body as usize]),
            n_doc_tokens: f64::from(lengths[Field::Doc as usize]),
            n_commits: doc
                .filter(|_| cx.on(Part::History))
                .map_or(0.0, |it| f64::from(cx.search.n_commits(it))),
            age_days: doc.filter(|_| cx.on(Part::Recency)).and_then(|it| age_days(cx, it)),
            n_callers: count(cx.graph.incoming_of(node, EdgeKind::Calls)),
            n_callees: count(cx.graph.outgoing_of(node, EdgeKind::Calls)),
            n_members: count(cx.graph.outgoing_of(node, EdgeKind::Contains)),
            n_tests: count(cx.graph.incoming_of(node, EdgeKind::Tests)),
            n_inbound: count(cx.graph.incoming(node)),
            confidence: confidence(cx, node),
            walk: walk.map_or(0.0, |it| it.1),
            walk_rank: walk.map(|it| it.0),
            hops: walks.walked.hops(node),
            standing: walks.standings.get(&node).copied().unwrap_or_default(),
            near: Near::default(),
            inflow: harvest.inflow.sums(node),
        }
    }

    fn of_file(&self, file: Option<FileIndex>, tokenizer: &mut Tokenizer) -> OfFile {
        let Gathering { cx, harvest, terms, .. } = self;
        let path = file.map_or("", |it| cx.names.path(it));
        OfFile {
            own: file.map_or(0.0, |it| file_own(*cx, harvest, it)),
            stem: said(tokenizer, file_stem(path), terms),
            is_named: file.is_some_and(|it| harvest.mentions.is_named(it)),
            module_segments: file.map_or(0.0, |it| f64::from(harvest.mentions.module_segments(cx.names, it))),
            says_test: noise::says_test(path),
            is_sideline: noise::is_sideline(path),
        }
    }
}

/// What all candidates of a file share.
struct OfFile {
    own: f64,
    stem: Said,
    is_named: bool,
    module_segments: f64,
    says_test: bool,
    is_sideline: bool,
}

fn scene(cx: Channels<'_>, harvest: &Harvest, terms: &Terms, list: &[Evidence]) -> Scene {
    let mut best_parts = [0.0; N_FIELDS];
    for it in list {
        for (best, part) in best_parts.iter_mut().zip(it.parts) {
            *best = f64::max(*best, part);
        }
    }
    // A candidate that no view listed may still be the best of a side.
    let mut best = harvest.lexical.best;
    for it in list {
        for (best, score) in best.iter_mut().zip(it.scores) {
            *best = f64::max(*best, score);
        }
    }
    Scene {
        best,
        best_parts,
        best_inflow: harvest.inflow.best,
        best_fused: list.iter().map(|it| it.fused).fold(0.0, f64::max),
        n_documents: cx.search.n_documents() as f64,
        n_words: cx.task.n_words as f64,
        n_identifiers: cx.task.identifiers.len() as f64,
        n_frames: cx.task.frames.len() as f64,
        has_code: !cx.task.code.is_empty(),
        speaks_of_tests: cx.task.speaks_of_tests,
        mass: terms.idf.iter().sum(),
        subject_mass: terms.idf.iter().zip(&terms.in_subject).filter(|it| *it.1).map(|it| it.0).sum(),
        intent: intent(&cx.task.subject),
    }
}

/// The whole-task score of a file's own top level.
fn file_own(cx: Channels<'_>, harvest: &Harvest, file: FileIndex) -> f64 {
    let mut nodes = cx.names.in_file(file).iter().map(|&it| NodeIndex(it));
    let top_level = nodes.find(|&it| cx.graph.node(it).kind() == NodeKind::File);
    top_level.map_or(0.0, |it| harvest.lexical.score(cx, it))
}

/// The whole-task score of the type or module it stands in.
fn owner_own(cx: Channels<'_>, harvest: &Harvest, node: NodeIndex) -> f64 {
    let owner = cx.graph.outgoing_of(node, EdgeKind::MemberOf).first();
    owner.map_or(0.0, |it| harvest.lexical.score(cx, it.other()))
}

/// Whether it raises an exception that the task names.
fn raises(cx: Channels<'_>, node: NodeIndex) -> bool {
    let thrown = cx.graph.outgoing_of(node, EdgeKind::Throws);
    thrown.iter().any(|it| cx.task.exceptions.iter().any(|name| name == cx.names.name(it.other().0)))
}

fn count(edges: &[knowing_graph::EdgeRecord]) -> f64 {
    edges.len() as f64
}

fn confidence(cx: Channels<'_>, node: NodeIndex) -> f64 {
    let best = cx.graph.incoming(node).iter().map(|it| it.confidence_bp).max();
    best.map_or(0.5, |it| f64::from(it) / 10_000.0)
}

/// Age against the snapshot's commit, so that the same snapshot ranks the same on any day.
fn age_days(cx: Channels<'_>, doc: DocIndex) -> Option<f64> {
    let changed = cx.search.last_commit(doc)?;
    Some((cx.search.commit_time() - changed).max(0) as f64 / 86_400.0)
}
