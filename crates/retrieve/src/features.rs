//! What the ranker sees of a candidate: one line a feature. The same code serves training and answering.
//!
//! Values are f32; 0 stands for "nothing". The order is that of the model file: a test fails when they differ.

use knowing_model::{NodeFlags, NodeKind};
use knowing_search::Field;

use crate::candidates::Channel;
use crate::evidence::{Evidence, Scene};
use crate::query::Side;

macro_rules! features {
    ($it:ident, $scene:ident; $($name:literal $value:expr;)*) => {
        pub const NAMES: &[&str] = &[$($name,)*];

        /// The features of a candidate, in the order of `NAMES`.
        pub(crate) fn of($it: &Evidence, $scene: &Scene) -> Vec<f32> {
            vec![$(Value::number($value),)*]
        }
    };
}

features! { it, scene;
    // Words: each side's score by the best of that side, some also raw, and the place in its list.
    "whole" share(it, scene, Side::Whole);
    "whole_raw" it.scores[Side::Whole as usize];
    "whole_rank" rank(it.ranks[Side::Whole as usize]);
    "whole_per_mass" ratio(it.scores[Side::Whole as usize], scene.mass);
    "subject" share(it, scene, Side::Subject);
    "subject_raw" it.scores[Side::Subject as usize];
    "subject_rank" rank(it.ranks[Side::Subject as usize]);
    "body" share(it, scene, Side::Body);
    "body_rank" rank(it.ranks[Side::Body as usize]);
    "history" share(it, scene, Side::History);
    "history_raw" it.scores[Side::History as usize];
    "history_rank" rank(it.ranks[Side::History as usize]);
    "names" share(it, scene, Side::Names);
    "names_rank" rank(it.ranks[Side::Names as usize]);
    "prose" share(it, scene, Side::Prose);
    "prose_rank" rank(it.ranks[Side::Prose as usize]);
    "code" share(it, scene, Side::Code);
    "code_rank" rank(it.ranks[Side::Code as usize]);
    "neighbours" share(it, scene, Side::Neighbours);
    "neighbours_rank" rank(it.ranks[Side::Neighbours as usize]);
    // Each field's part of the whole-task score, by the best score and by the best part.
    "part_name" part(it, scene, Field::Name);
    "part_owner" part(it, scene, Field::Owner);
    "part_path" part(it, scene, Field::Path);
    "part_signature" part(it, scene, Field::Signature);
    "part_doc" part(it, scene, Field::Doc);
    "part_body" part(it, scene, Field::Body);
    "part_history" part(it, scene, Field::History);
    "best_name" best_part(it, scene, Field::Name);
    "best_owner" best_part(it, scene, Field::Owner);
    "best_path" best_part(it, scene, Field::Path);
    "best_signature" best_part(it, scene, Field::Signature);
    "best_doc" best_part(it, scene, Field::Doc);
    // How much of the task it says, and of itself the task says.
    "covered" ratio(it.covered, scene.mass);
    "covered_by_names" ratio(it.covered_by_names, scene.mass);
    "covered_by_body" ratio(it.covered_by_body, scene.mass);
    "subject_covered" ratio(it.subject_covered, scene.subject_mass);
    "n_matched" log(it.n_matched);
    "name_said" it.name_said;
    "name_parts" it.name_parts;
    "name_said_in_subject" it.name_said_in_subject;
    "name_said_by_idf" it.name_said_by_idf;
    "name_rarest" it.name_rarest;
    "owner_said" it.owner_said;
    "owner_said_by_idf" it.owner_said_by_idf;
    "file_said" it.file_said;
    "file_said_by_idf" it.file_said_by_idf;
    "scope_said" it.scope_said;
    "rarest" it.rarest;
    "rare_covered" it.rare_covered;
    // Names as the task writes them.
    "identified_in_subject" it.identified.subject;
    "identified_in_backticks" it.identified.backtick;
    "identified_in_prose" it.identified.prose;
    "identified_in_code" it.identified.code;
    "identified_in_trace" it.identified.trace;
    "identified_called" it.identified.called;
    "identified_count" log(it.identified.count);
    "identified_segments" it.identified.segments;
    "owner_identified" it.identified.owner;
    "owner_identified_in_prose" it.identified.owner_in_prose;
    "namesakes" log(it.namesakes);
    "file_named" it.file_named;
    "module_segments" it.module_segments;
    "frame" it.frame_depth.map_or(0.0, |depth| 1.0 / (1.0 + f64::from(depth)));
    "message_said" it.message_said;
    "raises" it.raises;
    // Channels and their fusion.
    "fused" ratio(it.fused, scene.best_fused);
    "fused_raw" it.fused;
    "tiered" rank(it.places[Channel::Tiered as usize].map(|it| it.0));
    "identifiers" rank(it.places[Channel::Identifiers as usize].map(|it| it.0));
    "path_context" rank(it.places[Channel::PathContext as usize].map(|it| it.0));
    "in_file_list" it.places[Channel::Files as usize].is_some();
    "in_expansion" it.places[Channel::Expansion as usize].is_some();
    // The company it keeps.
    "file_best" it.file.best;
    "file_sum" it.file.sum;
    "file_members" log(it.file.n_members);
    "rank_in_file" it.file.rank;
    "file_rank" it.file.group_rank;
    "owner_best" it.owner.best;
    "owner_sum" it.owner.sum;
    "owner_members" log(it.owner.n_members);
    "rank_in_owner" it.owner.rank;
    "owner_rank" it.owner.group_rank;
    "package_sum" it.package.sum;
    "package_rank" it.package.group_rank;
    "namesakes_found" log(it.namesake.n_members);
    "rank_of_namesakes" it.namesake.rank;
    "namesakes_sum" it.namesake.sum;
    "file_own" whole(it.file_own, scene);
    "owner_own" whole(it.owner_own, scene);
    "test_caller" whole(it.test_caller, scene);
    "test_callers" log(it.n_test_callers);
    "caller" whole(it.caller, scene);
    "callee" whole(it.callee, scene);
    "callees_hit" log(it.n_callees_hit);
    // What it is.
    "is_function" it.kind == NodeKind::Function;
    "is_method" it.kind == NodeKind::Method || it.kind == NodeKind::Constructor || it.kind == NodeKind::Property;
    "is_type" it.kind.is_type_like();
    "is_value" matches!(it.kind, NodeKind::Const | NodeKind::Var | NodeKind::Field | NodeKind::EnumMember);
    "is_file" it.kind == NodeKind::File;
    "is_test" it.is_test;
    "path_says_test" it.path_says_test;
    "is_sideline" it.is_sideline;
    "is_stand_in" it.is_stand_in;
    "is_private" it.is_private;
    "is_dunder" it.is_dunder;
    "is_deprecated" it.flags.contains(NodeFlags::DEPRECATED);
    "is_exported" it.flags.contains(NodeFlags::EXPORTED);
    "is_abstract" it.flags.contains(NodeFlags::ABSTRACT);
    "depth" it.depth;
    "lines" log(it.n_lines);
    "tokens" log(it.n_tokens);
    "doc_tokens" log(it.n_doc_tokens);
    // When and how often it changed.
    "commits" log(it.n_commits);
    "age" it.age_days.map_or(0.0, |days| 1.0 / (1.0 + days / 30.0));
    "file_commits" log(it.file_commits);
    "file_age" it.file_age_days.map_or(0.0, |days| 1.0 / (1.0 + days / 30.0));
    // Where it stands in the graph.
    "callers" log(it.n_callers);
    "callees" log(it.n_callees);
    "members" log(it.n_members);
    "tests" log(it.n_tests);
    "inbound" log(it.n_inbound);
    "walk" it.walk;
    "walk_rank" rank(it.walk_rank);
    "hops" it.hops.map_or(0.0, |hops| 1.0 / (1.0 + f64::from(hops)));
    "authority" it.standing.authority;
    "hub" it.standing.hub;
    "calls_best" it.near.calls;
    "called_by_best" it.near.called_by;
    "member_of_best" it.near.member_of;
    "contains_best" it.near.contains;
    "relative_of_best" it.near.relative;
    "near_identified" it.near.of_identified;
    "inflow_calls" inflow(it, scene, 0);
    "inflow_references" inflow(it, scene, 1);
    "inflow_overrides" inflow(it, scene, 2);
    "inflow_extends" inflow(it, scene, 3);
    "inflow_contains" inflow(it, scene, 4);
    "inflow_calls_member" inflow(it, scene, 5);
    "inflow_calls_raw" log(it.inflow[0]);
    "inflow_references_raw" log(it.inflow[1]);
    "inflow_extends_raw" log(it.inflow[3]);
    "inflow_calls_member_raw" log(it.inflow[5]);
    // The task and the snapshot, so that the trees can adapt by themselves.
    "task_words" log(scene.n_words);
    "task_identifiers" log(scene.n_identifiers);
    "task_frames" log(scene.n_frames);
    "task_has_code" scene.has_code;
    "task_speaks_of_tests" scene.speaks_of_tests;
    "task_mends" scene.intent.mends;
    "task_adds" scene.intent.adds;
    "task_asks" scene.intent.asks;
    "task_tidies" scene.intent.tidies;
    "documents" log(scene.n_documents);
}

/// Whether the built-in ranker was trained on these; not between a change of them and the training after it.
pub fn fit_the_ranker() -> bool {
    crate::model::built_in().features() == NAMES
}

trait Value {
    fn number(self) -> f32;
}

impl Value for f64 {
    fn number(self) -> f32 {
        self as f32
    }
}

impl Value for bool {
    fn number(self) -> f32 {
        f32::from(u8::from(self))
    }
}

fn share(it: &Evidence, scene: &Scene, side: Side) -> f64 {
    ratio(it.scores[side as usize], scene.best[side as usize])
}

fn whole(score: f64, scene: &Scene) -> f64 {
    ratio(score, scene.best[Side::Whole as usize])
}

fn part(it: &Evidence, scene: &Scene, field: Field) -> f64 {
    ratio(it.parts[field as usize], scene.best[Side::Whole as usize])
}

fn best_part(it: &Evidence, scene: &Scene, field: Field) -> f64 {
    ratio(it.parts[field as usize], scene.best_parts[field as usize])
}

fn inflow(it: &Evidence, scene: &Scene, way: usize) -> f64 {
    ratio(it.inflow[way], scene.best_inflow[way])
}

fn ratio(value: f64, of: f64) -> f64 {
    if of > 0.0 { value / of } else { 0.0 }
}

/// The first place is 1, no place is 0.
fn rank(rank: Option<u32>) -> f64 {
    rank.map_or(0.0, |it| 1.0 / (1.0 + f64::from(it) / 4.0))
}

fn log(value: f64) -> f64 {
    libm::log1p(value)
}
