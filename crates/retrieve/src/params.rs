//! Every number that can be tuned, and every part that can be switched off.

use knowing_model::{Hash, Hasher};
use serde::Serialize;

/// All numbers of retrieval. A changed one changes the digest, and with it every cache key.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Params {
    pub scoring: ScoringParams,
    pub channels: ChannelParams,
    pub seeds: SeedParams,
    pub walk: WalkParams,
    pub formula: FormulaParams,
    pub owners: OwnerParams,
    pub pack: PackParams,
}

/// BM25F (retrieval.md 2).
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ScoringParams {
    pub k1: f64,
    pub b: f64,
    /// name, owner, path, signature, doc, body, history, neighbours.
    pub field_weights: [f64; 8],
    /// Distinct terms of a task that are asked for; the rarest first.
    pub max_terms: usize,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ChannelParams {
    /// The constant of reciprocal rank fusion.
    pub rank_offset: f64,
    /// Fused candidates that seeds are taken from.
    pub n_fused: usize,
    /// Candidates that the ranker sees.
    pub max_candidates: usize,
    /// Hits that every lexical view is asked for, and tests and sections of documents among them that stay.
    pub asked_hits: usize,
    pub max_tests: usize,
    pub max_sections: usize,
    /// Hits that each lexical view adds to the candidates.
    pub whole_hits: usize,
    pub subject_hits: usize,
    pub body_hits: usize,
    pub history_hits: usize,
    pub names_hits: usize,
    pub prose_hits: usize,
    pub code_hits: usize,
    /// Hits of the whole task that count for fusion.
    pub fused_hits: usize,
    /// Files that are looked into for the rest of their symbols, and symbols taken of each.
    pub n_files: usize,
    pub per_file: usize,
    /// Best candidates whose surroundings join, and neighbours taken of each.
    pub n_expanded: usize,
    pub per_expanded: usize,
    /// Best of the walk that join, and of what the matches lead to.
    pub walked: usize,
    pub inflow: usize,
}

/// Mechanisms 1, 2, 4 and 5 of system.md 10.6.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SeedParams {
    /// Above this many nodes type-like candidates come first.
    pub types_first_above: usize,
    /// (more nodes than, seeds), largest first; the last row holds for all.
    pub counts: [(usize, usize); 3],
    /// More candidates than this, and a package with at least this many, let the largest package come first.
    pub focus_above: usize,
    pub focus_members: usize,
    /// Fewer fused candidates than this widen the search.
    pub gap_below: usize,
    pub gap_weight: f64,
    pub path_weight: f64,
    pub max_path_seeds: usize,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct WalkParams {
    pub restart: f64,
    pub max_hops: u32,
    pub residual: f64,
    pub hits_nodes: usize,
    pub hits_rounds: usize,
    /// Mechanism 9: above this many nodes, a walk whose ten best lie within this share of each other says nothing.
    pub flat_above: usize,
    pub flat_share: f64,
}

/// The seeds' scoring formula (system.md 10.5).
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FormulaParams {
    /// blast, confidence, recency, distance; with and without HITS.
    pub with_hits: [f64; 4],
    pub without_hits: [f64; 4],
    pub hits_above: usize,
    pub test_factor: f64,
    /// (days, bonus) of mechanism 12.
    pub commit_bonus: [(i64, f64); 3],
}

/// How much candidates of one owner say for each other (`owners.rs`).
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OwnerParams {
    pub weight: f64,
    /// Candidates that speak for others; of those behind them large types have many, whatever the task.
    pub n_speaking: usize,
    /// On the scale of the ranker: one that stands so far behind the best counts 1/e.
    pub spread: f64,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PackParams {
    pub min_budget: usize,
    pub task_budget: usize,
    pub files_budget: usize,
    pub pr_budget: usize,
    pub task_cutoff: f64,
    pub pr_cutoff: f64,
    /// Share of the budget that edges may take.
    pub edge_share: f64,
    /// Of so many symbols in a row one may be a section of a document, unless the task speaks of documents: a manual in
    /// ten languages says the words of a task ten times.
    pub symbols_per_section: usize,
    /// Mechanism 10: exponent of proximity is clamp(low + slope x virtual / other, low, high).
    pub proximity: [f64; 3],
    pub max_injected: usize,
    pub inject_weight: f64,
    /// Whether classes force symbols before what the learned ranker found. On the development issues that took all true
    /// functions among the first ten from 72 to 66 %, so that there they are candidates like others.
    pub inject_learned: bool,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            scoring: ScoringParams {
                k1: 1.2,
                b: 0.6,
                field_weights: [6.0, 3.0, 3.0, 1.0, 3.0, 1.0, 1.0, 0.0],
                max_terms: 256,
            },
            channels: ChannelParams {
                rank_offset: 60.0,
                n_fused: 40,
                max_candidates: 350,
                asked_hits: 600,
                max_tests: 15,
                max_sections: 15,
                whole_hits: 150,
                subject_hits: 80,
                body_hits: 60,
                history_hits: 60,
                names_hits: 50,
                prose_hits: 50,
                code_hits: 50,
                fused_hits: 30,
                n_files: 10,
                per_file: 15,
                n_expanded: 15,
                per_expanded: 8,
                walked: 30,
                inflow: 30,
            },
            seeds: SeedParams {
                types_first_above: 40_000,
                counts: [(40_000, 25), (10_000, 20), (0, 15)],
                focus_above: 5,
                focus_members: 2,
                gap_below: 5,
                gap_weight: 0.5,
                path_weight: 0.3,
                max_path_seeds: 10,
            },
            walk: WalkParams {
                restart: 0.2,
                max_hops: 4,
                residual: 1e-4,
                hits_nodes: 200,
                hits_rounds: 10,
                flat_above: 200_000,
                flat_share: 0.2,
            },
            formula: FormulaParams {
                with_hits: [0.35, 0.20, 0.15, 0.15],
                without_hits: [0.40, 0.25, 0.20, 0.15],
                hits_above: 5,
                test_factor: 0.3,
                commit_bonus: [(1, 0.05), (7, 0.03), (30, 0.01)],
            },
            owners: OwnerParams { weight: 0.4, n_speaking: 50, spread: 2.0 },
            pack: PackParams {
                min_budget: 200,
                task_budget: 50_000,
                files_budget: 50_000,
                pr_budget: 8_000,
                task_cutoff: 0.02,
                pr_cutoff: 0.05,
                edge_share: 0.15,
                symbols_per_section: 5,
                proximity: [0.3, 0.2, 0.7],
                max_injected: 10,
                inject_weight: 0.9,
                inject_learned: false,
            },
        }
    }
}

impl Params {
    /// Of all numbers, what is switched off, and the ranker with its model.
    pub fn digest(&self, switches: &Switches, ranker: Ranker) -> Hash {
        // Those that act, so that one more changes what was kept before it came.
        let on: Vec<&str> = Part::ALL.iter().filter(|&&it| switches.on(it)).map(|it| it.name()).collect();
        Hasher::new("params")
            .field(format!("{self:?}").as_bytes())
            .field(on.join(",").as_bytes())
            .field(ranker.name().as_bytes())
            .field(crate::model::text().as_bytes())
            .field(crate::classes::digest().as_bytes())
            .finish()
    }
}

/// Who orders the candidates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Ranker {
    /// Trees learned from public git history.
    #[default]
    Learned,
    /// The formula of system.md 10.5.
    Formula,
}

impl Ranker {
    pub fn name(self) -> &'static str {
        match self {
            Ranker::Learned => "learned",
            Ranker::Formula => "formula",
        }
    }
}

macro_rules! parts {
    ($($variant:ident $name:literal $meaning:literal;)*) => {
        /// A part of the pipeline that can be left out by name.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Part {
            $(#[doc = $meaning] $variant,)*
        }

        impl Part {
            pub const ALL: &[Part] = &[$(Part::$variant,)*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Part::$variant => $name,)*
                }
            }

            pub fn meaning(self) -> &'static str {
                match self {
                    $(Part::$variant => $meaning,)*
                }
            }
        }
    };
}

parts! {
    Tiered "tiered" "names that the task spells out";
    Subject "subject" "its first line asked apart";
    Body "body" "words of the code itself";
    History "history" "messages of the commits that changed a symbol, and how many there are";
    Neighbours "neighbours" "names of callers and callees as words of a symbol";
    Identifiers "identifiers" "dotted names, imports and paths in the task";
    Frames "frames" "stack frames";
    PathContext "path_context" "words that name directories";
    Classes "classes" "concept classes: curated framework vocabulary";
    Aliases "aliases" "relatives of the best named symbols";
    Expansion "expansion" "members, owners, callers and callees of the best candidates";
    Inflow "inflow" "what the matches have in common: bases, types, callees";
    Walk "walk" "the walk over the graph";
    Hits "hits" "hubs and authorities";
    TypeSeeds "type_seeds" "mechanism 1: types first on large graphs";
    SeedCount "seed_count" "mechanism 2: more seeds on larger graphs";
    Focus "focus" "mechanism 4: seeds of the strongest package first";
    GapFill "gap_fill" "mechanism 5: a wider search when little was found";
    Reach "reach" "mechanism 8: externals join functions that share them";
    FlatWalk "flat_walk" "mechanism 9: search hits decide when the walk is flat";
    Proximity "proximity" "mechanism 10: packing prefers what is near";
    Recency "recency" "mechanism 12: what changed lately";
    Owners "owners" "what candidates of one owner say for each other, where a task asks how or adds something";
    Overloads "overloads" "one of several overloads before the others";
    PackCache "pack_cache" "answers kept from before";
}

impl Part {
    pub fn from_name(name: &str) -> Option<Part> {
        Part::ALL.iter().copied().find(|it| it.name() == name)
    }

    fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// What is switched off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Switches {
    off: u32,
}

impl Switches {
    pub fn without(parts: &[Part]) -> Switches {
        Switches { off: parts.iter().fold(0, |off, it| off | it.bit()) }
    }

    pub fn turn_off(&mut self, part: Part) {
        self.off |= part.bit();
    }

    pub fn on(self, part: Part) -> bool {
        self.off & part.bit() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_found_by_name_and_can_be_left_out_alone() {
        for &part in Part::ALL {
            assert_eq!(Part::from_name(part.name()), Some(part));
            let switches = Switches::without(&[part]);
            let off: Vec<Part> = Part::ALL.iter().copied().filter(|&it| !switches.on(it)).collect();
            assert_eq!(off, [part]);
        }
        assert_eq!(Part::from_name("nothing"), None);
    }

    #[test]
    fn q7_the_digest_tells_any_difference() {
        let params = Params::default();
        let plain = params.digest(&Switches::default(), Ranker::Learned);
        let mut other = params.clone();
        other.scoring.k1 = 1.3;
        assert_ne!(plain, other.digest(&Switches::default(), Ranker::Learned));
        assert_ne!(plain, params.digest(&Switches::without(&[Part::Walk]), Ranker::Learned));
        assert_ne!(plain, params.digest(&Switches::default(), Ranker::Formula));
    }
}
