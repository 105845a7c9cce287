//! The vectors of the specification, and what must hold for any edges.

use knowing_model::identity::{Identity, SnapshotIdentity, edge_id, node_id, snapshot_id};
use knowing_model::{ContainerClass, EdgeId, EdgeKind, Hash, NodeId, NodeKind, Provenance, Stage, identity};
use proptest::prelude::*;

use crate::{EdgeLeaf, Tree, merkle};

mod proofs;

const URL: &str = "github.com/acme/app";

fn node(class: ContainerClass, container: &str, symbol: &str, kind: NodeKind) -> NodeId {
    node_id(Identity { repo: URL, class, container, symbol, kind })
}

fn vector_edges() -> [EdgeLeaf<'static>; 3] {
    let a = node(ContainerClass::Dir, "store", "Open", NodeKind::Function);
    let b = node(ContainerClass::Dir, "cmd", "main", NodeKind::Function);
    let c = node(ContainerClass::File, "web/app.py", "App.route", NodeKind::Method);
    let leaf = |package, source, target, kind, provenance, confidence_bp| EdgeLeaf {
        package,
        kind,
        id: edge_id(source, target, kind),
        provenance,
        confidence_bp,
    };
    [
        leaf("cmd", b, a, EdgeKind::Calls, Provenance::AstResolved, 8500),
        leaf("store", a, b, EdgeKind::Imports, Provenance::AstResolved, 8500),
        leaf("web", c, a, EdgeKind::Calls, Provenance::AstInferred, 7000),
    ]
}

#[test]
fn m1_vectors_of_roots_hold() {
    let edges = vector_edges();
    let one = Tree::build(edges[..1].iter().copied());
    let all = Tree::build(edges);
    let snapshot = snapshot_id(SnapshotIdentity {
        url: URL,
        commit: &[0x11; 20],
        stage: Stage::Base,
        ruleset: 1,
        root: all.root,
        dirty: None,
    });
    for (ours, theirs) in [
        (Tree::build([]).root, "f0a7cf8c985e3a58283d7dd6ee8663a1ab39fdc4c088b77e674f8e4deb1d701b"),
        (one.root, "30f2ce0a6d58794dec2fac70b3d5aed07ab3cdee3a2cea362dbeb20350ca1424"),
        (one.packages[0].root, "6dbeda96182d5c9aa7ad011d255c578c1032fd1e0c62a91daf0d7baf942abfbc"),
        (all.root, "90139a5ef38648c01924f9bdf65e79fa8afc0e452911e0ec648ebb462db46f5f"),
        (snapshot.0, "e095cd192823d0b65f2a12e867ad54298d0ada88f353a8bec5d77d93da582378"),
    ] {
        assert_eq!(ours.to_string(), theirs);
    }
}

#[test]
fn parts_of_a_tree_are_found_by_name() {
    let [one, two, three] = vector_edges();
    let tree = Tree::build([three, one, two]);
    let names: Vec<&str> = tree.packages.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["cmd", "store", "web"]);
    assert_eq!(tree.package("cmd").map(|it| it.root), Some(Tree::build([one]).packages[0].root));
    assert_eq!(
        tree.kind_root("web", EdgeKind::Calls),
        Some(identity::kind_root(
            EdgeKind::Calls,
            1,
            identity::leaf(three.id, Provenance::AstInferred, 7000)
        ))
    );
    assert_eq!(tree.kind_root("web", EdgeKind::Imports), None);
    assert_eq!(tree.package("we"), None);
    assert_eq!(tree.subgraph_root(["cmd", "missing"]), Tree::build([one]).root);
    assert_eq!(tree.subgraph_root(["cmd", "store", "web"]), tree.root);
}

#[test]
fn kinds_stand_in_order_of_their_names_not_their_ids() {
    let [one, ..] = vector_edges();
    // calls is 1 and accesses_field 36, and the second name is the smaller one.
    let other = EdgeLeaf { kind: EdgeKind::AccessesField, ..one };
    let tree = Tree::build([one, other]);
    let kinds: Vec<EdgeKind> = tree.packages[0].kinds.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [EdgeKind::AccessesField, EdgeKind::Calls]);
}

#[test]
fn labels_cannot_be_swapped() {
    let [one, two, three] = vector_edges();
    let root = Tree::build([one, two, three]).root;
    let relabelled = [
        [EdgeLeaf { package: "store", ..one }, EdgeLeaf { package: "cmd", ..two }, three],
        [EdgeLeaf { kind: EdgeKind::Imports, ..one }, EdgeLeaf { kind: EdgeKind::Calls, ..two }, three],
        [EdgeLeaf { package: "cmd2", ..one }, two, three],
        [EdgeLeaf { provenance: Provenance::AstInferred, ..one }, two, three],
        [EdgeLeaf { confidence_bp: 8400, ..one }, two, three],
    ];
    for edges in relabelled {
        assert_ne!(Tree::build(edges).root, root, "{edges:?}");
    }
}

#[test]
fn trees_split_at_the_largest_power_of_two() {
    let hashes: Vec<Hash> = (0..7).map(|it| Hash([it; 32])).collect();
    let pair = |left, right| identity::interior(left, right);
    assert_eq!(merkle(&hashes[..2]), pair(hashes[0], hashes[1]));
    assert_eq!(merkle(&hashes[..3]), pair(merkle(&hashes[..2]), hashes[2]));
    assert_eq!(merkle(&hashes[..4]), pair(merkle(&hashes[..2]), merkle(&hashes[2..4])));
    assert_eq!(merkle(&hashes), pair(merkle(&hashes[..4]), merkle(&hashes[4..])));
}

fn any_edge() -> impl Strategy<Value = (usize, EdgeKind, u8, Provenance, u16)> {
    (
        0..6usize,
        proptest::sample::select(EdgeKind::ALL),
        any::<u8>(),
        proptest::sample::select(Provenance::ALL),
        0..=10_000u16,
    )
}

proptest! {
    #[test]
    fn the_order_of_edges_does_not_matter(
        edges in proptest::collection::vec(any_edge(), 0..60).prop_shuffle(),
        seed in any::<usize>(),
    ) {
        const PACKAGES: [&str; 6] = [".", "_virtual", "a", "a/b", "a-b", "ä"];
        let edges: Vec<EdgeLeaf<'_>> = edges
            .into_iter()
            .map(|(package, kind, id, provenance, confidence_bp)| EdgeLeaf {
                package: PACKAGES[package],
                kind,
                id: EdgeId(Hash([id; 32])),
                provenance,
                confidence_bp,
            })
            .collect();
        let mut other = edges.clone();
        other.rotate_left(if edges.is_empty() { 0 } else { seed % edges.len() });
        let middle = other.len() / 2;
        other[..middle].reverse();
        prop_assert_eq!(Tree::build(other), Tree::build(edges));
    }

    #[test]
    fn s_patched_roots_are_those_of_all_edges(
        before in proptest::collection::vec(any_edge(), 0..40),
        after in proptest::collection::vec(any_edge(), 0..40),
    ) {
        const PACKAGES: [&str; 6] = [".", "_virtual", "a", "a/b", "a-b", "ä"];
        let leaf = |&(package, kind, id, provenance, confidence_bp): &(usize, EdgeKind, u8, Provenance, u16)| {
            EdgeLeaf { package: PACKAGES[package], kind, id: EdgeId(Hash([id; 32])), provenance, confidence_bp }
        };
        // The last three packages stay as they were.
        let is_changed = |it: &&(usize, EdgeKind, u8, Provenance, u16)| it.0 < 3;
        let old = Tree::build(before.iter().map(leaf));
        let kept = before.iter().filter(|it| !is_changed(it));
        let new = Tree::build(kept.chain(after.iter().filter(is_changed)).map(leaf));
        let changed = PACKAGES[..3].iter().copied().collect();
        let patched = old.roots().patched(&changed, after.iter().filter(is_changed).map(leaf));
        prop_assert_eq!(patched, new.roots());
    }
}
