//! The learned ranker: gradient-boosted trees read from a text file, evaluated exactly as LightGBM does.
//!
//! The file is made by `training/train.py`:
//!
//! ```text
//! knowing-ranker 1
//! features name_exact body_part ...
//! trees 200
//! tree 31
//! split 4 0.125 0.0031
//! leaf -0.02
//! ...
//! ```
//!
//! A tree is written in preorder and says how many leaves it has. `split F T V` sends a row whose feature number F is
//! at most T to the tree that follows, any other to the one after that; V is the mean of what lies below, used only
//! to explain a score. `leaf V` ends a path.

mod parse;
mod together;

use together::Together;

/// A ranker: the names of its features in order and its trees.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    features: Vec<String>,
    nodes: Vec<Node>,
    /// For each node, the mean of the leaves below it (for a leaf: itself). Apart, so that scoring does not load it.
    values: Vec<f64>,
    /// Where each tree begins in `nodes`, then where the last one ends.
    starts: Vec<u32>,
    /// What a row scores before any feature has been looked at.
    base: f64,
    /// The same trees, arranged for many rows at once.
    together: Together,
}

/// A split or a leaf. The left child of a split is the next node.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Node {
    /// The threshold of a split, the value of a leaf.
    number: f64,
    feature: u16,
    /// From the start of the tree; 0 for a leaf, because no split leads back to the root.
    right: u16,
}

impl Model {
    /// Reads a model file; the error names the line and what is wrong with it.
    pub fn parse(text: &str) -> Result<Model, String> {
        parse::model(text)
    }

    /// The features in the order in which a row holds them.
    pub fn features(&self) -> &[String] {
        &self.features
    }

    /// What a row scores before any feature has been looked at; `contributions` explain the rest.
    pub fn base(&self) -> f64 {
        self.base
    }

    /// The score of one row: the sum of its leaves in the order of the trees. Higher is better.
    ///
    /// # Panics
    /// When the row does not have one number for each feature.
    pub fn score(&self, row: &[f32]) -> f64 {
        self.check(row.len());
        self.trees().map(|tree| leaf(tree, row)).sum()
    }

    /// The score of each row of a matrix that holds them one after the other: the same numbers as `score`, faster.
    ///
    /// # Panics
    /// When the length is not a multiple of the number of features.
    pub fn score_rows(&self, rows: &[f32]) -> Vec<f64> {
        let width = self.features.len();
        self.check(if width == 0 { rows.len() } else { width });
        let Some(n_rows) = rows.len().checked_div(width) else { return Vec::new() };
        assert_eq!(n_rows * width, rows.len(), "every row has one number for each feature");
        let mut scores = self.together.scores(rows, n_rows, width);
        // What the arrangement has no room for is walked; no such tree is in a model of ours.
        for tree in self.trees().skip(self.together.n_trees()) {
            for (row, score) in rows.chunks_exact(width).zip(&mut scores) {
                *score += leaf(tree, row);
            }
        }
        scores
    }

    /// Adds to `into` how much each feature moved the score of the row away from `base`: along each path, what a
    /// split changed in the mean of the leaves below goes to its feature.
    ///
    /// # Panics
    /// When the row or `into` does not have one number for each feature.
    pub fn contributions(&self, row: &[f32], into: &mut [f64]) {
        self.check(row.len());
        self.check(into.len());
        for window in self.starts.windows(2) {
            let range = window[0] as usize..window[1] as usize;
            let (tree, values) = (&self.nodes[range.clone()], &self.values[range]);
            let mut at = 0;
            while tree[at].right != 0 {
                let next = step(tree, at, row);
                into[usize::from(tree[at].feature)] += values[next] - values[at];
                at = next;
            }
        }
    }

    fn trees(&self) -> impl Iterator<Item = &[Node]> {
        self.starts.windows(2).map(|window| &self.nodes[window[0] as usize..window[1] as usize])
    }

    fn check(&self, width: usize) {
        assert_eq!(width, self.features.len(), "a row has one number for each feature");
    }
}

/// The next node on the row's way down.
fn step(tree: &[Node], at: usize, row: &[f32]) -> usize {
    let node = tree[at];
    if f64::from(row[usize::from(node.feature)]) <= node.number { at + 1 } else { usize::from(node.right) }
}

fn leaf(tree: &[Node], row: &[f32]) -> f64 {
    let mut at = 0;
    while tree[at].right != 0 {
        at = step(tree, at, row);
    }
    tree[at].number
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Model;

    const SMALL: &str = "knowing-ranker 1\nfeatures a b\ntrees 2\n\
        tree 3\nsplit 0 0.5 0.2\nleaf -1\nsplit 1 2 0.6\nleaf 0.25\nleaf 2\n\
        tree 1\nleaf 0.125\n";

    fn trained() -> (Model, Vec<(Vec<f32>, f64)>) {
        let model =
            Model::parse(include_str!("../tests/fixtures/ranker.txt")).expect("the fixture is a model");
        let rows = include_str!("../tests/fixtures/ranker_rows.txt").lines().map(|line| {
            let (row, said) = line.split_once(" = ").expect("a row and what was said of it");
            let row = row.split(' ').map(|x| x.parse().expect("a number")).collect();
            (row, said.parse().expect("a number"))
        });
        (model, rows.collect())
    }

    #[test]
    fn a_trained_model_says_exactly_what_lightgbm_says() {
        let (model, rows) = trained();
        assert!(rows.len() > 60);
        for (row, said) in &rows {
            assert_eq!(model.score(row), *said, "{row:?}");
        }
        let matrix: Vec<f32> = rows.iter().flat_map(|(row, _)| row.iter().copied()).collect();
        let said: Vec<f64> = rows.iter().map(|(_, said)| *said).collect();
        assert_eq!(model.score_rows(&matrix), said);
    }

    #[test]
    fn contributions_and_base_make_the_score() {
        let (model, rows) = trained();
        for (row, said) in &rows {
            let mut parts = vec![0.0; row.len()];
            model.contributions(row, &mut parts);
            assert!((model.base() + parts.iter().sum::<f64>() - said).abs() < 1e-12, "{row:?}");
        }
        let model = Model::parse(SMALL).expect("a model");
        let mut parts = [0.0; 2];
        model.contributions(&[1.0, 3.0], &mut parts);
        assert_eq!(model.base(), 0.2 + 0.125);
        assert_eq!(parts, [0.6 - 0.2, 2.0 - 0.6]);
    }

    #[test]
    fn a_value_on_the_threshold_goes_left() {
        let model = Model::parse(SMALL).expect("a model");
        assert_eq!(model.features(), ["a", "b"]);
        assert_eq!(model.score(&[0.5, 9.0]), -1.0 + 0.125);
        assert_eq!(model.score(&[0.6, 2.0]), 0.25 + 0.125);
        assert_eq!(model.score(&[0.6, 2.5]), 2.0 + 0.125);
        assert_eq!(model.score_rows(&[]), Vec::<f64>::new());
    }

    #[test]
    fn a_tree_of_any_size_scores_alone_as_among_others() {
        // A stair of 40 leaves, more than are asked together, between small trees.
        let stair: String = (0..39).map(|i| format!("split 0 {i}.5 0\nleaf {i}\n")).collect();
        let text = format!(
            "knowing-ranker 1\nfeatures a\ntrees 3\ntree 2\nsplit 0 3 0\nleaf 0.1\nleaf 0.3\n\
             tree 40\n{stair}leaf 39\ntree 2\nsplit 0 -0.1 0\nleaf 0.7\nleaf 0.9\n"
        );
        let model = Model::parse(&text).expect("a model");
        let rows: Vec<f32> = (-5..150_i16).map(|i| f32::from(i) / 3.0).collect();
        let alone: Vec<f64> = rows.iter().map(|x| model.score(&[*x])).collect();
        assert_eq!(model.score_rows(&rows), alone);
        assert_eq!(model.score(&[7.0]), 0.3 + 7.0 + 0.9);
    }

    #[test]
    fn what_is_wrong_with_a_model_is_said_with_its_line() {
        let said = |from: &str, to: &str| Model::parse(&SMALL.replacen(from, to, 1)).expect_err(to);
        assert_eq!(
            said("ranker 1", "ranker 2"),
            "line 1 of the ranker's model: expected `knowing-ranker 1`, found `knowing-ranker 2`"
        );
        assert_eq!(
            said("features a b", "features a a"),
            "line 2 of the ranker's model: feature `a` is there twice"
        );
        assert_eq!(
            said("trees 2", "trees x"),
            "line 3 of the ranker's model: `x` is no number between 1 and 10000"
        );
        assert_eq!(
            said("split 0", "split 2"),
            "line 5 of the ranker's model: `2` is no feature's number below 2"
        );
        assert_eq!(said("leaf -1", "leaf nan"), "line 6 of the ranker's model: `nan` is no finite number");
        assert_eq!(
            said("leaf -1", "twig -1"),
            "line 6 of the ranker's model: expected `split` or `leaf`, found `twig -1`"
        );
        assert_eq!(
            said("leaf -1", "leaf -1 2"),
            "line 6 of the ranker's model: there is more on this line than belongs there"
        );
        assert_eq!(said("tree 3", "tree 4"), "line 9 of the ranker's model: the tree has 3 leaves, not 4");
        assert_eq!(
            said("tree 3", "tree 2"),
            "line 7 of the ranker's model: the tree has more than its 2 leaves"
        );
        assert_eq!(
            said("trees 2", "trees 1"),
            "line 10 of the ranker's model: there is more after the last tree"
        );
        assert_eq!(said("trees 2", "trees 3"), "the ranker's model ends after line 11");
    }

    proptest! {
        #[test]
        fn a_damaged_model_is_an_error_or_a_model_never_a_panic(at in 0..SMALL.len(), cut in 0..20usize, put in "[ -~\n]{0,6}") {
            let end = (at + cut).min(SMALL.len());
            let damaged = format!("{}{put}{}", &SMALL[..at], &SMALL[end..]);
            if let Ok(model) = Model::parse(&damaged) {
                let row = vec![1.0; model.features().len()];
                prop_assert_eq!(vec![model.score(&row); 9], model.score_rows(&row.repeat(9)));
            }
        }
    }
}
