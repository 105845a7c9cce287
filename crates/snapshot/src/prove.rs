//! Making proofs: that an edge is in a tree, or that it is not, because nothing stands where it would.

use knowing_model::identity::{Identity, SnapshotIdentity, edge_id, node_id, snapshot_id};
use knowing_model::{EdgeId, EdgeKind, Hash, Provenance, hex, identity, package_of};

use crate::EdgeLeaf;
use crate::proof::{
    FORMAT, Leaf, Level, Neighbour, NeighbourBranch, NeighbourEdge, Proof, ProofType, Statement, Step, Symbol,
};

/// A relation that is to be proven or disproven.
#[derive(Clone, Copy, Debug)]
pub struct Relation<'a> {
    pub source: Identity<'a>,
    pub target: Identity<'a>,
    pub kind: EdgeKind,
}

impl<'a> Relation<'a> {
    pub fn id(&self) -> EdgeId {
        edge_id(node_id(self.source), node_id(self.target), self.kind)
    }

    /// The one whose tree holds the edge, if any does.
    pub fn package(&self) -> &'a str {
        package_of(self.source.class, self.source.container)
    }
}

/// All edges of a package, with every hash above them.
#[derive(Clone, Debug)]
pub struct PackageTree {
    name: String,
    /// In byte order of the kinds' names.
    kinds: Vec<KindTree>,
    levels: Levels,
}

#[derive(Clone, Debug)]
struct KindTree {
    kind: EdgeKind,
    /// In order of ids.
    leaves: Vec<(EdgeId, Provenance, u16)>,
    levels: Levels,
}

impl PackageTree {
    /// Of edges in any order; their `package` is not looked at.
    pub fn build<'a>(name: &str, edges: impl IntoIterator<Item = EdgeLeaf<'a>>) -> PackageTree {
        let mut edges: Vec<EdgeLeaf<'a>> = edges.into_iter().collect();
        edges.sort_unstable_by_key(|it| (it.kind.name(), it.id));
        let kinds: Vec<KindTree> = edges
            .chunk_by(|one, other| one.kind == other.kind)
            .map(|edges| {
                let hash = |it: &EdgeLeaf<'_>| identity::leaf(it.id, it.provenance, it.confidence_bp);
                KindTree {
                    kind: edges[0].kind,
                    leaves: edges.iter().map(|it| (it.id, it.provenance, it.confidence_bp)).collect(),
                    levels: Levels::over(edges.iter().map(hash).collect()),
                }
            })
            .collect();
        let levels = Levels::over(kinds.iter().map(KindTree::root).collect());
        PackageTree { name: name.to_owned(), kinds, levels }
    }

    /// None when it has no edge: then it is in no tree.
    pub fn root(&self) -> Option<Hash> {
        let n_kinds = self.kinds.len() as u64;
        (n_kinds > 0).then(|| identity::package_root(&self.name, n_kinds, self.levels.top()))
    }

    fn position(&self, kind: EdgeKind) -> Result<usize, usize> {
        self.kinds.binary_search_by_key(&kind.name(), |it| it.kind.name())
    }

    fn step(&self, at: usize) -> Step {
        step(self.kinds[at].kind.name().to_owned(), &self.levels, at)
    }
}

impl KindTree {
    fn root(&self) -> Hash {
        identity::kind_root(self.kind, self.leaves.len() as u64, self.levels.top())
    }
}

/// Makes proofs about one snapshot.
#[derive(Clone, Debug)]
pub struct Prover<'a> {
    snapshot: SnapshotIdentity<'a>,
    issued_at: &'a str,
    engine: &'a str,
    /// In byte order.
    packages: Vec<&'a str>,
    levels: Levels,
}

impl<'a> Prover<'a> {
    /// `package_roots` are in byte order of the names. None when they are not those of the snapshot.
    pub fn new(
        snapshot: SnapshotIdentity<'a>,
        package_roots: &'a [(String, Hash)],
        issued_at: &'a str,
        engine: &'a str,
    ) -> Option<Prover<'a>> {
        let packages: Vec<&str> = package_roots.iter().map(|it| it.0.as_str()).collect();
        let levels = Levels::over(package_roots.iter().map(|it| it.1).collect());
        let is_own = identity::root(packages.len() as u64, levels.top()) == snapshot.root;
        is_own.then_some(Prover { snapshot, issued_at, engine, packages, levels })
    }

    /// A proof that the relation holds; none when it does not. `package` is that of the relation.
    pub fn prove(&self, relation: Relation<'_>, package: &PackageTree) -> Option<Proof> {
        let id = relation.id();
        let in_repository = self.packages.binary_search(&relation.package()).ok()?;
        let at = package.position(relation.kind).ok()?;
        let kind = &package.kinds[at];
        let in_kind = kind.leaves.binary_search_by_key(&id, |it| it.0).ok()?;
        let (_, provenance, confidence_bp) = kind.leaves[in_kind];
        let mut proof = self.proof(ProofType::Inclusion, relation);
        proof.leaf = Some(Leaf { provenance: provenance.name().to_owned(), confidence_bp });
        let first = step(id.to_string(), &kind.levels, in_kind);
        proof.path = vec![first, package.step(at), self.step(in_repository)];
        Some(proof)
    }

    /// A proof that the relation does not hold; none when it does. `tree_of` gives the trees of packages by their names.
    pub fn prove_absent<E>(
        &self,
        relation: Relation<'_>,
        mut tree_of: impl FnMut(&str) -> Result<PackageTree, E>,
    ) -> Result<Option<Proof>, E> {
        let mut proof = self.proof(ProofType::Absence, relation);
        let in_repository = match self.packages.binary_search(&relation.package()) {
            Ok(at) => at,
            Err(at) => {
                proof.level = Some(Level::Package);
                let mut branch = |at: usize| {
                    let tree = tree_of(self.packages[at])?;
                    let (n_kinds, top) = (tree.kinds.len(), tree.levels.top());
                    Ok(branch(self.packages[at], n_kinds, top, &self.levels, at))
                };
                proof.left = at.checked_sub(1).map(&mut branch).transpose()?;
                proof.right = (at < self.packages.len()).then(|| branch(at)).transpose()?;
                return Ok(Some(proof));
            }
        };
        let package = tree_of(relation.package())?;
        match package.position(relation.kind) {
            Err(at) => {
                proof.level = Some(Level::Kind);
                proof.path = vec![self.step(in_repository)];
                let branch = |at: usize| {
                    let kind = &package.kinds[at];
                    branch(kind.kind.name(), kind.leaves.len(), kind.levels.top(), &package.levels, at)
                };
                proof.left = at.checked_sub(1).map(branch);
                proof.right = (at < package.kinds.len()).then(|| branch(at));
            }
            Ok(in_package) => {
                let kind = &package.kinds[in_package];
                let id = relation.id();
                let Err(at) = kind.leaves.binary_search_by_key(&id, |it| it.0) else { return Ok(None) };
                proof.level = Some(Level::Edge);
                proof.path = vec![package.step(in_package), self.step(in_repository)];
                proof.left = at.checked_sub(1).map(|at| edge_beside(kind, at));
                proof.right = (at < kind.leaves.len()).then(|| edge_beside(kind, at));
            }
        }
        Ok(Some(proof))
    }

    fn step(&self, at: usize) -> Step {
        step(self.packages[at].to_owned(), &self.levels, at)
    }

    fn proof(&self, proof_type: ProofType, relation: Relation<'_>) -> Proof {
        let SnapshotIdentity { url, commit, stage, ruleset, root, dirty } = self.snapshot;
        Proof {
            format: FORMAT.to_owned(),
            proof_type,
            statement: Statement {
                source: symbol(relation.source),
                target: symbol(relation.target),
                kind: relation.kind.name().to_owned(),
            },
            edge: relation.id().to_string(),
            package: relation.package().to_owned(),
            leaf: None,
            path: Vec::new(),
            level: None,
            left: None,
            right: None,
            root: root.to_string(),
            stage: stage.name().to_owned(),
            ruleset,
            dirty: dirty.map(|it| it.to_string()).unwrap_or_default(),
            snapshot: snapshot_id(self.snapshot).to_string(),
            commit: hex(commit),
            repo: url.to_owned(),
            issued_at: self.issued_at.to_owned(),
            engine: self.engine.to_owned(),
        }
    }
}

fn symbol(identity: Identity<'_>) -> Symbol {
    Symbol {
        repo: identity.repo.to_owned(),
        class: identity.class.name().to_owned(),
        container: identity.container.to_owned(),
        symbol: identity.symbol.to_owned(),
        kind: identity.kind.name().to_owned(),
    }
}

fn step(label: String, levels: &Levels, at: usize) -> Step {
    Step { label, index: at as u64, size: levels.size(), siblings: levels.siblings(at) }
}

fn branch(label: &str, count: usize, tree: Hash, levels: &Levels, at: usize) -> Neighbour {
    let Step { label, index, size, siblings } = step(label.to_owned(), levels, at);
    let (count, tree) = (count as u64, tree.to_string());
    Neighbour::Branch(NeighbourBranch { label, count, tree, index, size, siblings })
}

fn edge_beside(kind: &KindTree, at: usize) -> Neighbour {
    let (id, provenance, confidence_bp) = kind.leaves[at];
    let Step { label: edge, index, size, siblings } = step(id.to_string(), &kind.levels, at);
    let provenance = provenance.name().to_owned();
    Neighbour::Edge(NeighbourEdge { edge, provenance, confidence_bp, index, size, siblings })
}

/// Every hash of a tree, lowest level first. Pairing from the left, with the last one going up alone where it has no
/// partner, gives the tree that splits at the largest power of two.
#[derive(Clone, Debug)]
struct Levels(Vec<Vec<Hash>>);

impl Levels {
    fn over(hashes: Vec<Hash>) -> Levels {
        let mut levels = vec![hashes];
        while let Some(below) = levels.last().filter(|it| it.len() > 1) {
            let pair = |it: &[Hash]| match it {
                [left, right] => identity::interior(*left, *right),
                alone => alone[0],
            };
            let above = below.chunks(2).map(pair).collect();
            levels.push(above);
        }
        Levels(levels)
    }

    fn top(&self) -> Hash {
        let top = self.0.last().and_then(|it| it.first());
        top.copied().unwrap_or_else(identity::empty_tree)
    }

    fn size(&self) -> u64 {
        self.0[0].len() as u64
    }

    fn siblings(&self, at: usize) -> Vec<String> {
        let beside = |(height, level): (usize, &Vec<Hash>)| level.get((at >> height) ^ 1).copied();
        self.0.iter().enumerate().filter_map(beside).map(|it| it.to_string()).collect()
    }
}
