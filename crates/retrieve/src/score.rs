//! The seeds' scoring formula (system.md 10.5): a ranker of its own, for comparison and for `--ranker formula`.

use crate::evidence::{Evidence, Scene};
use crate::params::{FormulaParams, Part, Switches};

/// The parts of a score, by name, in the order of their sum.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Components {
    pub blast: f64,
    pub confidence: f64,
    pub recency: f64,
    pub distance: f64,
    pub authority: f64,
    pub commit: f64,
    /// What the sum is multiplied with.
    pub factor: f64,
}

impl Components {
    pub fn total(&self) -> f64 {
        let sum = self.blast + self.confidence + self.recency + self.distance + self.authority + self.commit;
        sum * self.factor
    }

    pub fn named(&self) -> [(&'static str, f64); 7] {
        [
            ("blast", self.blast),
            ("confidence", self.confidence),
            ("recency", self.recency),
            ("distance", self.distance),
            ("authority", self.authority),
            ("commit", self.commit),
            ("factor", self.factor),
        ]
    }
}

/// Nothing was observed at run time yet.
const NEVER_OBSERVED: f64 = 0.3;

pub(crate) fn components(
    it: &Evidence,
    scene: &Scene,
    n_candidates: usize,
    params: &FormulaParams,
    switches: Switches,
) -> Components {
    let with_hits = n_candidates > params.hits_above && switches.on(Part::Hits);
    let [blast, confidence, recency, distance] =
        if with_hits { params.with_hits } else { params.without_hits };
    let is_seed = it.hops == Some(0);
    let hops = it.hops.map_or(3.0, |hops| f64::from(hops.min(3)));
    let penalised = it.is_test && !scene.speaks_of_tests;
    Components {
        blast: blast * it.walk,
        confidence: confidence * it.confidence,
        recency: recency * NEVER_OBSERVED,
        distance: distance / (1.0 + hops),
        authority: if with_hits { authority(it, is_seed) } else { 0.0 },
        commit: if switches.on(Part::Recency) { commit_bonus(it.age_days, params) } else { 0.0 },
        factor: if penalised { params.test_factor } else { 1.0 },
    }
}

fn authority(it: &Evidence, is_seed: bool) -> f64 {
    let (authority, hub) = (it.standing.authority, it.standing.hub);
    let mut sum = 0.0;
    if is_seed && authority > 0.05 {
        sum += 0.25 * authority;
    }
    if !is_seed && authority > 0.2 {
        sum -= 0.15 * authority;
    }
    if is_seed && hub > 0.1 {
        sum += 0.10 * hub;
    }
    sum
}

/// Mechanism 12.
fn commit_bonus(age_days: Option<f64>, params: &FormulaParams) -> f64 {
    let Some(age) = age_days else { return 0.0 };
    params.commit_bonus.iter().find(|(days, _)| age <= *days as f64).map_or(0.0, |it| it.1)
}
