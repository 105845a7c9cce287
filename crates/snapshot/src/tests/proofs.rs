//! Proofs of random graphs: all hold, by two verifiers, and none survives a change.

use std::convert::Infallible;

use knowing_model::identity::{Identity, SnapshotIdentity, edge_id, node_id};
use knowing_model::{
    ContainerClass, EdgeId, EdgeKind, Hash, Hasher, NodeKind, Provenance, Stage, package_of,
};
use knowing_testkit::verify_again;
use serde_json::Value;

use crate::proof::{Level, Proof};
use crate::verify::{Expected, PROVABLE_KINDS, verify};
use crate::{EdgeLeaf, PackageTree, Prover, Relation, Tree};

const URL: &str = "github.com/acme/app";
const CONTAINERS: [(ContainerClass, &str); 6] = [
    (ContainerClass::File, "top.py"),
    (ContainerClass::File, "a/b.py"),
    (ContainerClass::Dir, "a"),
    (ContainerClass::Dir, ""),
    (ContainerClass::File, "z/ä.py"),
    (ContainerClass::Virtual, "env"),
];
const NAMES: [&str; 8] = ["f", "g", "C.run", "C.run#2", "", "h(int,T)", "ключ", "k"];
const KINDS: [EdgeKind; 4] = [EdgeKind::Calls, EdgeKind::Imports, EdgeKind::AccessesField, EdgeKind::Tests];

/// Numbers that are the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 += 1;
        let bytes = Hasher::new("draw").field(&self.0.to_le_bytes()).finish().0;
        (u64::from_le_bytes(*bytes.first_chunk().unwrap()) % bound as u64) as usize
    }

    fn node(&mut self) -> Identity<'static> {
        let (class, container) = CONTAINERS[self.below(CONTAINERS.len())];
        let kind = [NodeKind::Function, NodeKind::Class][self.below(2)];
        Identity { repo: URL, class, container, symbol: NAMES[self.below(NAMES.len())], kind }
    }

    fn relation(&mut self) -> Relation<'static> {
        Relation { source: self.node(), target: self.node(), kind: KINDS[self.below(KINDS.len())] }
    }
}

/// A graph of some edges, and a prover for it.
struct Sample {
    relations: Vec<Relation<'static>>,
    leaves: Vec<EdgeLeaf<'static>>,
    roots: Vec<(String, Hash)>,
    root: Hash,
    dirty: Option<Hash>,
}

impl Sample {
    fn draw(draw: &mut Draw, n_edges: usize) -> Sample {
        let mut relations: Vec<Relation<'_>> = (0..n_edges).map(|_| draw.relation()).collect();
        relations.sort_by_key(Relation::id);
        relations.dedup_by_key(|it| it.id());
        let leaves: Vec<EdgeLeaf<'_>> = relations
            .iter()
            .map(|it| EdgeLeaf {
                package: package_of(it.source.class, it.source.container),
                kind: it.kind,
                id: edge_id(node_id(it.source), node_id(it.target), it.kind),
                provenance: Provenance::ALL[draw.below(3)],
                confidence_bp: draw.below(10_001) as u16,
            })
            .collect();
        let tree = Tree::build(leaves.iter().copied());
        let roots = tree.packages.iter().map(|it| (it.name.clone(), it.root)).collect();
        let dirty = (draw.below(2) == 1).then_some(Hash([5; 32]));
        Sample { relations, leaves, roots, root: tree.root, dirty }
    }

    fn prover(&self) -> Prover<'_> {
        let snapshot = SnapshotIdentity {
            url: URL,
            commit: &[0x11; 20],
            stage: if self.dirty.is_some() { Stage::Worktree } else { Stage::Base },
            ruleset: 3,
            root: self.root,
            dirty: self.dirty,
        };
        Prover::new(snapshot, &self.roots, "now", "test").expect("the roots are those of the tree")
    }

    fn package(&self, name: &str) -> PackageTree {
        PackageTree::build(name, self.leaves.iter().copied().filter(|it| it.package == name))
    }

    fn prove(&self, relation: Relation<'_>) -> Option<Proof> {
        self.prover().prove(relation, &self.package(relation.package()))
    }

    fn prove_absent(&self, relation: Relation<'_>) -> Option<Proof> {
        let tree_of = |name: &str| Ok::<_, Infallible>(self.package(name));
        self.prover().prove_absent(relation, tree_of).unwrap()
    }
}

#[track_caller]
fn check_holds(proof: &Proof) {
    assert_eq!(verify(proof, Expected::default()), Ok(()));
    let json = proof.to_json();
    assert_eq!(Proof::from_json(json.as_bytes()).as_ref(), Ok(proof));
    assert_eq!(verify_again(&serde_json::from_str(&json).unwrap()), Ok(()));
}

fn holds(json: &Value) -> bool {
    let read: Result<Proof, _> = serde_json::from_value(json.clone());
    read.is_ok_and(|it| verify(&it, Expected::default()).is_ok())
}

#[test]
fn n6_every_edge_has_a_proof_and_no_other_has_one() {
    let mut draw = Draw(0);
    for n_edges in [0, 1, 2, 3, 5, 40, 300] {
        let sample = Sample::draw(&mut draw, n_edges);
        for tree in sample.roots.iter() {
            assert_eq!(sample.package(&tree.0).root(), Some(tree.1));
        }
        for &relation in &sample.relations {
            check_holds(&sample.prove(relation).expect("the edge is there"));
            assert_eq!(sample.prove_absent(relation), None, "an edge that exists has no proof of absence");
        }
        let mut levels = Vec::new();
        for _ in 0..100 {
            let relation = draw.relation();
            if sample.relations.iter().any(|it| it.id() == relation.id()) {
                continue;
            }
            assert_eq!(sample.prove(relation), None);
            let proof = sample.prove_absent(relation).expect("the edge is not there");
            check_holds(&proof);
            levels.extend(proof.level);
        }
        let has = |level: Level| levels.contains(&level);
        match n_edges {
            0 => assert!(has(Level::Package) && !has(Level::Kind) && !has(Level::Edge)),
            5 => assert!(has(Level::Package) && has(Level::Kind) && has(Level::Edge)),
            _ => {}
        }
    }
}

/// Every value of a JSON document, changed in ways that keep its type, one at a time.
fn mutations(json: &Value) -> Vec<Value> {
    let mut paths = Vec::new();
    collect("", json, &mut paths);
    let mut all = Vec::new();
    for path in paths.iter().filter(|it| !["/issued_at", "/engine"].contains(&it.as_str())) {
        let value = json.pointer(path).unwrap();
        for other in changed(value) {
            let mut copy = json.clone();
            *copy.pointer_mut(path).unwrap() = other;
            all.push(copy);
        }
        // Gone altogether.
        let (parent, name) = path.rsplit_once('/').unwrap();
        let mut copy = json.clone();
        match copy.pointer_mut(parent).unwrap() {
            Value::Object(map) => drop(map.remove(name)),
            Value::Array(items) => drop(items.remove(name.parse().unwrap())),
            _ => unreachable!("only these have parts"),
        }
        all.push(copy);
    }
    all
}

fn collect(path: &str, value: &Value, paths: &mut Vec<String>) {
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(name, it)| (name.clone(), it)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, it)| (at.to_string(), it)).collect(),
        _ => Vec::new(),
    };
    for (name, value) in parts {
        let path = format!("{path}/{name}");
        collect(&path, value, paths);
        paths.push(path);
    }
}

fn changed(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(number) => {
            let number = number.as_u64().unwrap();
            let others = [number + 1, number.wrapping_sub(1), 0, u64::MAX, number ^ 1];
            others.into_iter().filter(|it| *it != number).map(Value::from).collect()
        }
        Value::String(text) if !text.is_empty() => {
            let mut shorter = text.clone();
            let flipped = if shorter.pop() == Some('0') { '1' } else { '0' };
            let mut others =
                vec![format!("{shorter}{flipped}"), shorter, format!("{text}0"), text.to_uppercase()];
            others.retain(|it| it != text);
            others.into_iter().map(Value::from).collect()
        }
        Value::String(_) => vec![Value::from("0"), Value::from("00".repeat(32))],
        Value::Array(items) => {
            let mut others = vec![items.clone(); 2];
            others[0].push(items.first().cloned().unwrap_or_else(|| Value::from("00".repeat(32))));
            others[1].reverse();
            others.into_iter().filter(|it| it != items).map(Value::from).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn n7_any_change_of_any_field_or_hash_is_rejected() {
    let mut draw = Draw(1_000_000);
    let (mut n_proofs, mut n_mutations) = (0, 0);
    while n_proofs < 1_000 {
        let n_edges = 1 + draw.below(60);
        let sample = Sample::draw(&mut draw, n_edges);
        for turn in 0..20 {
            let proof = match turn % 2 {
                0 => sample.prove(sample.relations[draw.below(sample.relations.len())]),
                _ => sample.prove_absent(draw.relation()),
            };
            let Some(proof) = proof else { continue };
            let json: Value = serde_json::from_str(&proof.to_json()).unwrap();
            assert!(holds(&json));
            n_proofs += 1;
            for mutated in mutations(&json) {
                assert!(!holds(&mutated), "{json:#}\nbecame\n{mutated:#}");
                assert!(verify_again(&mutated).is_err() || is_stricter(&json, &mutated), "{mutated:#}");
                n_mutations += 1;
            }
        }
    }
    assert!(n_mutations > 50_000, "{n_mutations}");
}

/// What the second verifier does not look at: names outside of the tables.
fn is_stricter(json: &Value, mutated: &Value) -> bool {
    json["statement"] != mutated["statement"]
}

#[test]
fn n8_an_absence_needs_neighbours_that_touch() {
    let mut draw = Draw(77);
    let sample = Sample::draw(&mut draw, 300);
    let mut n_tried = 0;
    while n_tried < 50 {
        let Some(proof) = sample.prove_absent(draw.relation()) else { continue };
        if proof.level != Some(Level::Edge) || proof.left.is_none() || proof.right.is_none() {
            continue;
        }
        // The same gap, claimed for an edge that exists: the neighbours are those around its other neighbour.
        let kind = EdgeKind::from_name(&proof.statement.kind).unwrap();
        let mut ids: Vec<EdgeId> = sample
            .leaves
            .iter()
            .filter(|it| it.package == proof.package && it.kind == kind)
            .map(|it| it.id)
            .collect();
        ids.sort();
        let left = ids.iter().position(|it| Some(it.to_string()) == edge_of(&proof.left)).unwrap();
        let Some(after_next) = ids.get(left + 2) else { continue };
        let other = |wanted: EdgeId| {
            // A proof that has this edge as its right neighbour: its own inclusion, reshaped.
            let relation = sample.relations.iter().find(|it| it.id() == wanted).unwrap();
            let inclusion = sample.prove(*relation).unwrap();
            let (leaf, step) = (inclusion.leaf.unwrap(), inclusion.path[0].clone());
            crate::proof::Neighbour::Edge(crate::proof::NeighbourEdge {
                edge: wanted.to_string(),
                provenance: leaf.provenance,
                confidence_bp: leaf.confidence_bp,
                index: step.index,
                size: step.size,
                siblings: step.siblings,
            })
        };
        n_tried += 1;
        let mut wide = proof.clone();
        wide.right = Some(other(*after_next));
        let failure = verify(&wide, Expected::default()).unwrap_err();
        assert_eq!((failure.step, failure.reason.contains("next to each other")), (3, true), "{failure:?}");
        let mut swapped = proof.clone();
        std::mem::swap(&mut swapped.left, &mut swapped.right);
        assert_eq!(verify(&swapped, Expected::default()).unwrap_err().step, 3);
        for side in 0..2 {
            let mut half = proof.clone();
            *[&mut half.left, &mut half.right][side] = None;
            assert_eq!(verify(&half, Expected::default()).unwrap_err().step, 3);
        }
        // An existing edge between its own neighbours.
        let existing = sample.relations.iter().find(|it| it.id() == ids[left + 1]).unwrap();
        let mut false_claim = proof.clone();
        let claimed = sample.prove(*existing).unwrap();
        (false_claim.statement, false_claim.edge) = (claimed.statement, claimed.edge);
        false_claim.right = Some(other(*after_next));
        assert_eq!(verify(&false_claim, Expected::default()).unwrap_err().step, 3);
    }
}

fn edge_of(neighbour: &Option<crate::proof::Neighbour>) -> Option<String> {
    match neighbour {
        Some(crate::proof::Neighbour::Edge(it)) => Some(it.edge.clone()),
        _ => None,
    }
}

#[test]
fn n9_a_proof_of_another_commit_is_told_apart() {
    let sample = Sample::draw(&mut Draw(9), 20);
    let proof = sample.prove(sample.relations[0]).unwrap();
    let check = |expected: Expected<'_>| verify(&proof, expected).map_err(|it| it.step);
    let (commit, snapshot) = ("11".repeat(20), proof.snapshot.clone());
    let none = Expected::default();
    assert_eq!(check(Expected { commit: Some(&commit), ..none }), Ok(()));
    assert_eq!(check(Expected { commit: Some("11111111"), ..none }), Ok(()));
    assert_eq!(check(Expected { snapshot: Some(&snapshot), repo: Some(URL), ..none }), Ok(()));
    assert_eq!(check(Expected { commit: Some(&"22".repeat(20)), ..none }), Err(5));
    assert_eq!(check(Expected { commit: Some(""), ..none }), Err(5));
    assert_eq!(check(Expected { snapshot: Some(&commit), ..none }), Err(5));
    assert_eq!(check(Expected { repo: Some("github.com/acme/other"), ..none }), Err(5));
}

#[test]
fn the_verifier_knows_every_kind_that_can_be_proven() {
    let provable =
        |it: &EdgeKind| it.category() != knowing_model::Category::Runtime && *it != EdgeKind::Inherits;
    let ours: Vec<&str> = EdgeKind::ALL.iter().copied().filter(provable).map(EdgeKind::name).collect();
    assert_eq!(ours, PROVABLE_KINDS);
}

#[test]
fn roots_of_another_snapshot_make_no_prover() {
    let sample = Sample::draw(&mut Draw(5), 20);
    let identity = SnapshotIdentity {
        url: URL,
        commit: &[1; 20],
        stage: Stage::Base,
        ruleset: 1,
        root: Hash([0; 32]),
        dirty: None,
    };
    assert!(Prover::new(identity, &sample.roots, "", "").is_none());
}
