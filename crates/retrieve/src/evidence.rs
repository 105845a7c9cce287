//! What is known of a candidate: everything the features are made of, measured once.

use knowing_graph::{NodeIndex, Standing, Walked};
use knowing_model::{ContainerClass, EdgeKind, NodeFlags, NodeKind, package_of};
use knowing_search::{
    DocIndex, Evaluation, Field, FileIndex, N_FIELDS, Prepared, Searcher as _, Tokenizer, with_tokenizer,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::candidates::N_CHANNELS;
use crate::channels::{Channels, Harvest, N_WAYS};
use crate::fuse::fused_score;
use crate::noise;
use crate::params::Part;
use crate::query::{N_SIDES, Side};
use crate::task::{Identifier, Place};

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

/// What a task wants, told from its first words.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Intent {
    pub(crate) mends: bool,
    pub(crate) adds: bool,
    pub(crate) asks: bool,
    pub(crate) tidies: bool,
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

/// How the task's identifiers name it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Identified {
    pub(crate) subject: bool,
    pub(crate) backtick: bool,
    pub(crate) prose: bool,
    pub(crate) code: bool,
    pub(crate) trace: bool,
    pub(crate) called: bool,
    pub(crate) count: f64,
    /// Most segments of one identifier that agree.
    pub(crate) segments: f64,
    pub(crate) owner: bool,
    pub(crate) owner_in_prose: bool,
}

/// How the candidates that share its file, owner or package fare.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Group {
    /// The best whole-task score among the others and itself, and the sum of the three best, each by the best of all.
    pub(crate) best: f64,
    pub(crate) sum: f64,
    pub(crate) n_members: f64,
    /// Its own rank inside, by whole-task score.
    pub(crate) rank: f64,
    /// Rank of the group by sum.
    pub(crate) group_rank: f64,
}

/// Relations to the ten best by whole-task words.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Near {
    pub(crate) calls: f64,
    pub(crate) called_by: f64,
    pub(crate) member_of: f64,
    pub(crate) contains: f64,
    pub(crate) relative: f64,
    pub(crate) of_identified: f64,
}

pub(crate) struct Walks<'a> {
    pub(crate) walked: &'a Walked,
    pub(crate) standings: &'a FxHashMap<NodeIndex, Standing>,
}

/// The terms of the task as the index knows them.
struct Terms {
    idf: Vec<f64>,
    in_subject: Vec<bool>,
    position: FxHashMap<String, usize>,
    /// The rarest terms that the index knows.
    is_rare: Vec<bool>,
    n_rare: f64,
    /// Positions of each message's terms, and their sum of idf.
    messages: Vec<(Vec<bool>, f64)>,
}

pub(crate) fn gather(
    cx: Channels<'_>,
    harvest: &Harvest,
    prepared: &Prepared<'_>,
    walks: &Walks<'_>,
) -> (Scene, Vec<Evidence>) {
    with_tokenizer(|tokenizer| gather_with(cx, harvest, prepared, walks, tokenizer))
}

fn gather_with(
    cx: Channels<'_>,
    harvest: &Harvest,
    prepared: &Prepared<'_>,
    walks: &Walks<'_>,
    tokenizer: &mut Tokenizer,
) -> (Scene, Vec<Evidence>) {
    let terms = terms_of(cx, prepared);
    let walk_ranks: FxHashMap<NodeIndex, (u32, f64)> =
        walks.walked.scores.iter().zip(0..).map(|((node, score), rank)| (*node, (rank, *score))).collect();
    let mut evaluation = Evaluation::default();
    let supports = supports(cx, harvest);
    let mut files: FxHashMap<FileIndex, f64> = FxHashMap::default();
    let mut owners: FxHashMap<NodeIndex, f64> = FxHashMap::default();
    let scope: Vec<String> = cx.task.scope.as_deref().map(knowing_search::tokens).unwrap_or_default();
    let mut list = Vec::with_capacity(harvest.candidates.len());
    for candidate in &harvest.candidates.list {
        let node = candidate.node;
        let record = cx.graph.node(node);
        let doc = cx.search.document(record.id());
        match doc {
            Some(doc) => prepared.evaluate(doc, &mut evaluation),
            None => evaluation.clear(N_SIDES),
        }
        let mut scores = [0.0; N_SIDES];
        scores.copy_from_slice(&evaluation.views[..N_SIDES]);
        if cx.query.is_prose {
            scores[Side::Prose as usize] = scores[Side::Whole as usize];
        }
        let covered = coverage(&evaluation, &terms);
        let name = cx.names.name(node.0);
        let symbol = cx.names.symbol(node.0);
        let path = cx.names.path_of(node.0);
        let file = cx.names.file(node.0);
        let (first, last) = cx.names.lines(node.0);
        let said = said(tokenizer, name, &terms);
        let file_own = file.map_or(0.0, |it| *files.entry(it).or_insert_with(|| file_own(cx, prepared, it)));
        let support = supports.get(&node).copied().unwrap_or_default();
        let owner = symbol.rsplit('.').nth(1).unwrap_or_default();
        let of_owner = self::said(tokenizer, owner, &terms);
        let of_stem = self::said(tokenizer, file_stem(path), &terms);
        let lengths = doc.map(|it| cx.search.lengths(it)).unwrap_or_default();
        let walk = walk_ranks.get(&node);
        list.push(Evidence {
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
            name_said: said.share,
            name_parts: said.n_tokens,
            name_said_in_subject: said.in_subject,
            name_said_by_idf: said.by_idf,
            name_rarest: said.rarest,
            owner_said: of_owner.share,
            owner_said_by_idf: of_owner.by_idf,
            file_said: of_stem.share,
            file_said_by_idf: of_stem.by_idf,
            scope_said: scope_said(tokenizer, &scope, path, symbol),
            rarest: covered.rarest,
            rare_covered: covered.rare,
            file_own,
            owner_own: owner_own(cx, prepared, &mut owners, node),
            test_caller: support.test_caller,
            n_test_callers: support.n_test_callers,
            caller: support.caller,
            callee: support.callee,
            n_callees_hit: support.n_callees_hit,
            file_age_days: None,
            file_commits: 0.0,
            identified: identified(cx, node.0, name, symbol),
            namesakes: cx.names.n_namesakes(node.0) as f64,
            file_named: file.is_some_and(|it| harvest.mentions.is_named(it)),
            module_segments: file.map_or(0.0, |it| f64::from(harvest.mentions.module_segments(it))),
            frame_depth: harvest.frames.iter().find(|it| it.node == node).map(|it| it.depth),
            message_said: covered.message,
            raises: raises(cx, node),
            file: Group::default(),
            owner: Group::default(),
            package: Group::default(),
            namesake: Group::default(),
            path_says_test: noise::says_test(path),
            is_test: record.flags().contains(NodeFlags::TEST) || record.kind() == NodeKind::Test,
            is_sideline: noise::is_sideline(path),
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
        });
    }
    groups(cx, &mut list, harvest.lexical.best[Side::Whole as usize]);
    nearness(cx, &mut list);
    let scene = scene(cx, harvest, &terms, &list);
    (scene, list)
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

fn terms_of(cx: Channels<'_>, prepared: &Prepared<'_>) -> Terms {
    let list = &cx.query.terms;
    let position: FxHashMap<String, usize> =
        list.iter().zip(0..).map(|((term, _), at)| (term.clone(), at)).collect();
    let idf: Vec<f64> = prepared.idfs();
    let mut messages = Vec::new();
    const MAX_MESSAGES: usize = 8;
    for message in cx.task.messages.iter().take(MAX_MESSAGES) {
        let mut of_message = vec![false; list.len()];
        for token in knowing_search::tokens(message) {
            if let Some(&at) = position.get(token.as_str()) {
                of_message[at] = true;
            }
        }
        let mass: f64 = of_message.iter().zip(&idf).filter(|it| *it.0).map(|it| it.1).sum();
        if mass > 0.0 {
            messages.push((of_message, mass));
        }
    }
    const N_RARE: usize = 5;
    let mut order: Vec<usize> = (0..idf.len()).filter(|&at| idf[at] > 0.0).collect();
    order.sort_by(|&a, &b| idf[b].total_cmp(&idf[a]).then(a.cmp(&b)));
    order.truncate(N_RARE);
    let mut is_rare = vec![false; idf.len()];
    order.iter().for_each(|&at| is_rare[at] = true);
    Terms {
        in_subject: list.iter().map(|it| it.1.subject > 0).collect(),
        position,
        n_rare: order.len().max(1) as f64,
        is_rare,
        idf,
        messages,
    }
}

#[derive(Default)]
struct Coverage {
    whole: f64,
    names: f64,
    body: f64,
    subject: f64,
    message: f64,
    n_matched: f64,
    rarest: f64,
    rare: f64,
}

fn coverage(evaluation: &Evaluation, terms: &Terms) -> Coverage {
    const NAMES: u8 = 1 << Field::Name as u8 | 1 << Field::Owner as u8 | 1 << Field::Path as u8;
    const BODY: u8 = 1 << Field::Body as u8 | 1 << Field::Doc as u8;
    let mut coverage = Coverage::default();
    let mut in_messages = vec![0.0; terms.messages.len()];
    for &(term, mask) in &evaluation.matched {
        let idf = terms.idf[term];
        coverage.whole += idf;
        coverage.n_matched += 1.0;
        coverage.rarest = f64::max(coverage.rarest, idf);
        if terms.is_rare[term] {
            coverage.rare += 1.0 / terms.n_rare;
        }
        if mask & NAMES != 0 {
            coverage.names += idf;
        }
        if mask & BODY != 0 {
            coverage.body += idf;
            for (sum, (of_message, _)) in in_messages.iter_mut().zip(&terms.messages) {
                if of_message[term] {
                    *sum += idf;
                }
            }
        }
        if terms.in_subject[term] {
            coverage.subject += idf;
        }
    }
    let shares = in_messages.iter().zip(&terms.messages).map(|(sum, (_, mass))| sum / mass);
    coverage.message = shares.fold(0.0, f64::max);
    coverage
}

/// How much of a name the task says.
#[derive(Clone, Copy, Default)]
struct Said {
    n_tokens: f64,
    share: f64,
    in_subject: f64,
    by_idf: f64,
    rarest: f64,
}

fn said(tokenizer: &mut Tokenizer, name: &str, terms: &Terms) -> Said {
    let (mut n_said, mut n_in_subject, mut said_idf, mut idf) = (0.0, 0.0, 0.0, 0.0);
    let mut said = Said::default();
    tokenizer.each(name, |token| {
        said.n_tokens += 1.0;
        match terms.position.get(token) {
            Some(&at) => {
                n_said += 1.0;
                n_in_subject += f64::from(u8::from(terms.in_subject[at]));
                said_idf += terms.idf[at];
                idf += terms.idf[at];
                said.rarest = f64::max(said.rarest, terms.idf[at]);
            }
            // What the task does not say weighs as much as a word that is neither rare nor common.
            None => idf += UNSAID_IDF,
        }
    });
    if said.n_tokens > 0.0 {
        said.share = n_said / said.n_tokens;
        said.in_subject = n_in_subject / said.n_tokens;
        said.by_idf = said_idf / idf.max(f64::MIN_POSITIVE);
    }
    said
}

const UNSAID_IDF: f64 = 4.0;

fn scope_said(tokenizer: &mut Tokenizer, scope: &[String], path: &str, symbol: &str) -> f64 {
    if scope.is_empty() {
        return 0.0;
    }
    let mut own = FxHashSet::default();
    for text in [path, symbol] {
        tokenizer.each(text, |token| {
            own.insert(token.to_owned());
        });
    }
    scope.iter().filter(|it| own.contains(*it)).count() as f64 / scope.len() as f64
}

/// The whole-task score of a file's own top level.
fn file_own(cx: Channels<'_>, prepared: &Prepared<'_>, file: FileIndex) -> f64 {
    let mut nodes = cx.names.in_file(file).iter().map(|&it| cx.graph.node(NodeIndex(it)));
    let top_level = nodes.find(|it| it.kind() == NodeKind::File);
    let doc = top_level.and_then(|it| cx.search.document(it.id()));
    doc.map_or(0.0, |it| whole(prepared, it))
}

fn whole(prepared: &Prepared<'_>, doc: DocIndex) -> f64 {
    prepared.score(doc, Side::Whole as usize)
}

/// The whole-task score of the type or module it stands in.
fn owner_own(
    cx: Channels<'_>,
    prepared: &Prepared<'_>,
    owners: &mut FxHashMap<NodeIndex, f64>,
    node: NodeIndex,
) -> f64 {
    let Some(owner) = cx.graph.outgoing_of(node, EdgeKind::MemberOf).first().map(|it| it.other()) else {
        return 0.0;
    };
    let score =
        |_: &NodeIndex| cx.search.document(cx.graph.node(owner).id()).map_or(0.0, |doc| whole(prepared, doc));
    *owners.entry(owner).or_insert_with_key(score)
}

/// What the words of callers and callees say for it.
#[derive(Clone, Copy, Default)]
struct Support {
    test_caller: f64,
    n_test_callers: f64,
    caller: f64,
    callee: f64,
    n_callees_hit: f64,
}

/// For each candidate; callers are found from the matches, which call few, and callees from the candidates.
fn supports(cx: Channels<'_>, harvest: &Harvest) -> FxHashMap<NodeIndex, Support> {
    let mut supports: FxHashMap<NodeIndex, Support> =
        harvest.candidates.list.iter().map(|it| (it.node, Support::default())).collect();
    for &(caller, score) in &harvest.lexical.whole {
        let is_test = cx.graph.node(caller).flags().contains(NodeFlags::TEST);
        for edge in cx.graph.outgoing_of(caller, EdgeKind::Calls) {
            let Some(support) = supports.get_mut(&edge.other()) else { continue };
            if is_test {
                support.test_caller = support.test_caller.max(score);
                support.n_test_callers += 1.0;
            } else {
                support.caller = support.caller.max(score);
            }
        }
    }
    let scores: FxHashMap<NodeIndex, f64> = harvest.lexical.whole.iter().copied().collect();
    for candidate in &harvest.candidates.list {
        let Some(support) = supports.get_mut(&candidate.node) else { continue };
        for edge in cx.graph.outgoing_of(candidate.node, EdgeKind::Calls) {
            if let Some(&score) = scores.get(&edge.other()) {
                support.callee = support.callee.max(score);
                support.n_callees_hit += 1.0;
            }
        }
    }
    supports
}

fn intent(subject: &str) -> Intent {
    let mut intent = Intent { asks: subject.trim_end().ends_with('?'), ..Intent::default() };
    for (at, word) in subject.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).enumerate()
    {
        let word = word.to_lowercase();
        intent.mends |= matches!(
            word.as_str(),
            "fix"
                | "fixed"
                | "fixes"
                | "bug"
                | "error"
                | "crash"
                | "crashes"
                | "fails"
                | "incorrect"
                | "wrong"
                | "broken"
                | "regression"
                | "raises"
                | "not"
                | "doesn"
        );
        if at < 3 {
            intent.adds |= matches!(
                word.as_str(),
                "add"
                    | "added"
                    | "adds"
                    | "implement"
                    | "implemented"
                    | "support"
                    | "allow"
                    | "allowed"
                    | "create"
                    | "write"
                    | "build"
                    | "introduce"
                    | "feat"
                    | "enable"
                    | "make"
                    | "made"
            );
            intent.tidies |= matches!(
                word.as_str(),
                "refactor"
                    | "refactored"
                    | "rename"
                    | "renamed"
                    | "remove"
                    | "removed"
                    | "move"
                    | "moved"
                    | "simplify"
                    | "simplified"
                    | "cleanup"
                    | "clean"
                    | "use"
                    | "used"
                    | "improve"
                    | "improved"
            );
            intent.asks |=
                matches!(word.as_str(), "how" | "where" | "what" | "which" | "find" | "trace" | "explain");
        }
    }
    intent
}

fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    match stem {
        // The directory is what such a file is called after.
        "__init__" | "mod" | "lib" | "index" | "main" => path.rsplit('/').nth(1).unwrap_or(stem),
        _ => stem,
    }
}

fn identified(cx: Channels<'_>, node: u32, name: &str, symbol: &str) -> Identified {
    let mut found = Identified::default();
    let owner = symbol.rsplit('.').nth(1).unwrap_or_default();
    for identifier in &cx.task.identifiers {
        if !owner.is_empty() && identifier.segments.iter().any(|it| it == owner) {
            found.owner = true;
            found.owner_in_prose |=
                matches!(identifier.place, Place::Subject | Place::Backtick | Place::Prose);
        }
        if identifier.segments.last().is_none_or(|it| it != name) {
            continue;
        }
        count_identifier(&mut found, identifier, crate::channels::agreeing(cx, node, identifier));
    }
    found
}

fn count_identifier(found: &mut Identified, identifier: &Identifier, agreeing: usize) {
    match identifier.place {
        Place::Subject => found.subject = true,
        Place::Backtick => found.backtick = true,
        Place::Prose => found.prose = true,
        Place::Code => found.code = true,
        Place::Trace => found.trace = true,
    }
    found.called |= identifier.called;
    found.count += identifier.count as f64;
    found.segments = f64::max(found.segments, agreeing as f64);
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

fn groups(cx: Channels<'_>, list: &mut [Evidence], best: f64) {
    let scale = if best > 0.0 { best } else { 1.0 };
    let files = numbered(list, |it| cx.names.file(it.node.0));
    let owners = numbered(list, |it| {
        let symbol = cx.names.symbol(it.node.0);
        let owner = symbol.rsplit_once('.').map_or("", |it| it.0);
        // A type stands with its members.
        (cx.names.file(it.node.0), if it.kind.is_type_like() { symbol } else { owner })
    });
    let packages = numbered(list, |it| package_of(ContainerClass::File, cx.names.path_of(it.node.0)));
    let namesakes = numbered(list, |it| cx.names.name(it.node.0));
    let [of_files, of_owners, of_packages, of_names] =
        [&files, &owners, &packages, &namesakes].map(|numbers| group(list, scale, numbers));
    let n_files = files.iter().max().map_or(0, |it| it + 1);
    let mut lives: Vec<(f64, Option<f64>)> = vec![(0.0, None); n_files];
    for (it, &file) in list.iter().zip(&files) {
        let (n_commits, age) = &mut lives[file];
        *n_commits = n_commits.max(it.n_commits);
        *age = match (*age, it.age_days) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
    for (at, it) in list.iter_mut().enumerate() {
        (it.file, it.owner, it.package) = (of_files[at], of_owners[at], of_packages[at]);
        it.namesake = of_names[at];
        (it.file_commits, it.file_age_days) = lives[files[at]];
    }
}

/// The number of each candidate's group, by first mention.
fn numbered<'a, K: std::hash::Hash + Eq>(
    list: &'a [Evidence],
    key: impl Fn(&'a Evidence) -> K,
) -> Vec<usize> {
    let mut numbers: FxHashMap<K, usize> = FxHashMap::default();
    let mut number = |it| {
        let next = numbers.len();
        *numbers.entry(key(it)).or_insert(next)
    };
    list.iter().map(&mut number).collect()
}

fn group(list: &[Evidence], scale: f64, numbers: &[usize]) -> Vec<Group> {
    let score = |it: usize| list[it].scores[Side::Whole as usize] / scale;
    let n_groups = numbers.iter().max().map_or(0, |it| it + 1);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); n_groups];
    numbers.iter().enumerate().for_each(|(at, &number)| members[number].push(at));
    let mut groups = vec![Group::default(); list.len()];
    let mut sums: Vec<(f64, usize)> = Vec::with_capacity(n_groups);
    for (number, of_group) in members.iter_mut().enumerate() {
        of_group.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then(list[a].node.cmp(&list[b].node)));
        let sum: f64 = of_group.iter().take(3).map(|&it| score(it)).sum();
        for (rank, &at) in of_group.iter().enumerate() {
            groups[at] = Group {
                best: score(of_group[0]),
                sum,
                n_members: of_group.len() as f64,
                rank: rank as f64,
                group_rank: 0.0,
            };
        }
        sums.push((sum, number));
    }
    sums.sort_by(|a, b| {
        b.0.total_cmp(&a.0).then_with(|| list[members[a.1][0]].node.cmp(&list[members[b.1][0]].node))
    });
    for (rank, (_, number)) in sums.into_iter().enumerate() {
        members[number].iter().for_each(|&at| groups[at].group_rank = rank as f64);
    }
    groups
}

/// Told from the few best outwards: they have far fewer edges than all candidates together.
fn nearness(cx: Channels<'_>, list: &mut [Evidence]) {
    const N_BEST: usize = 10;
    let mut order: Vec<usize> = (0..list.len()).collect();
    let whole = |it: &Evidence| it.scores[Side::Whole as usize];
    order.sort_by(|&a, &b| whole(&list[b]).total_cmp(&whole(&list[a])).then(list[a].node.cmp(&list[b].node)));
    let place: FxHashMap<NodeIndex, usize> = list.iter().zip(0..).map(|(it, at)| (it.node, at)).collect();
    let mut near = vec![Near::default(); list.len()];
    for (rank, &at) in order.iter().take(N_BEST).enumerate() {
        let worth = 1.0 / (1.0 + rank as f64);
        let best = list[at].node;
        // An edge into the best leaves its neighbour, and the other way round.
        let incoming = cx.graph.incoming(best).iter().map(|edge| (edge, true));
        let outgoing = cx.graph.outgoing(best).iter().map(|edge| (edge, false));
        for (edge, leaves_neighbour) in incoming.chain(outgoing) {
            let Some(&neighbour) = place.get(&edge.other()) else { continue };
            let near = &mut near[neighbour];
            let slot = match (edge.kind(), leaves_neighbour) {
                (EdgeKind::Calls, true) => &mut near.calls,
                (EdgeKind::Calls, false) => &mut near.called_by,
                (EdgeKind::MemberOf, true) => &mut near.member_of,
                (EdgeKind::Contains, true) => &mut near.contains,
                (EdgeKind::Overrides | EdgeKind::Extends | EdgeKind::Implements, _) => &mut near.relative,
                _ => continue,
            };
            *slot = f64::max(*slot, worth);
        }
    }
    // A hub touches everything.
    const MAX_EDGES: usize = 400;
    for it in list.iter().filter(|it| it.identified.count > 0.0 && it.namesakes <= 8.0) {
        let outgoing = cx.graph.outgoing(it.node).iter().take(MAX_EDGES);
        for edge in outgoing.chain(cx.graph.incoming(it.node).iter().take(MAX_EDGES)) {
            if let Some(&neighbour) = place.get(&edge.other())
                && edge.other() != it.node
            {
                near[neighbour].of_identified = 1.0;
            }
        }
    }
    list.iter_mut().zip(near).for_each(|(it, near)| it.near = near);
}
