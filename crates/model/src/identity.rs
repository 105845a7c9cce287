//! Every id of the product is computed here and nowhere else, so that all machines agree on the bytes.

use crate::edge_kind::EdgeKind;
use crate::hash::{EdgeId, FileId, Hash, Hasher, NodeId, RepoId, SnapshotId};
use crate::name::ContainerClass;
use crate::node_kind::NodeKind;
use crate::provenance::Provenance;

pub fn repo_id(url: &str) -> RepoId {
    RepoId(Hasher::new("repo").field(url.as_bytes()).finish())
}

/// `blob` is git's raw object id of the content, 20 or 32 bytes.
pub fn file_id(url: &str, path: &str, blob: &[u8]) -> FileId {
    FileId(Hasher::new("file").field(url.as_bytes()).field(path.as_bytes()).field(blob).finish())
}

/// What makes a node itself: never a line, an absolute path or a provenance.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Identity<'a> {
    /// The part before `://`: the repository's url, or `external`, `stdlib`, `env` ...
    pub repo: &'a str,
    pub class: ContainerClass,
    pub container: &'a str,
    pub symbol: &'a str,
    pub kind: NodeKind,
}

pub fn node_id(identity: Identity<'_>) -> NodeId {
    NodeId(node_key(identity).finish())
}

/// Ids of many at once, in their order; so with edges, leaves and inner hashes.
pub fn node_ids<'a>(identities: impl IntoIterator<Item = Identity<'a>>) -> Vec<NodeId> {
    all(identities.into_iter().map(node_key)).map(NodeId).collect()
}

fn node_key(identity: Identity<'_>) -> Hasher {
    let Identity { repo, class, container, symbol, kind } = identity;
    Hasher::new("node")
        .field(repo.as_bytes())
        .field(class.name().as_bytes())
        .field(container.as_bytes())
        .field(symbol.as_bytes())
        .field(kind.name().as_bytes())
}

pub fn edge_id(source: NodeId, target: NodeId, kind: EdgeKind) -> EdgeId {
    EdgeId(edge_key(source, target, kind).finish())
}

pub fn edge_ids(edges: impl IntoIterator<Item = (NodeId, NodeId, EdgeKind)>) -> Vec<EdgeId> {
    all(edges.into_iter().map(|it| edge_key(it.0, it.1, it.2))).map(EdgeId).collect()
}

#[inline(always)]
fn edge_key(source: NodeId, target: NodeId, kind: EdgeKind) -> Hasher {
    Hasher::new("edge").field(source.as_bytes()).field(target.as_bytes()).field(kind.name().as_bytes())
}

pub fn leaf(edge: EdgeId, provenance: Provenance, confidence_bp: u16) -> Hash {
    leaf_key(edge, provenance, confidence_bp).finish()
}

pub fn leaves(edges: impl IntoIterator<Item = (EdgeId, Provenance, u16)>) -> Vec<Hash> {
    Hasher::finish_all(edges.into_iter().map(|it| leaf_key(it.0, it.1, it.2)))
}

#[inline(always)]
fn leaf_key(edge: EdgeId, provenance: Provenance, confidence_bp: u16) -> Hasher {
    let provenance = provenance.name().as_bytes();
    Hasher::new("leaf").field(edge.as_bytes()).field(provenance).field(&confidence_bp.to_le_bytes())
}

pub fn empty_tree() -> Hash {
    Hasher::new("empty").finish()
}

pub fn interior(left: Hash, right: Hash) -> Hash {
    interior_key(left, right).finish()
}

pub fn interiors(pairs: impl IntoIterator<Item = (Hash, Hash)>) -> Vec<Hash> {
    Hasher::finish_all(pairs.into_iter().map(|it| interior_key(it.0, it.1)))
}

#[inline(always)]
fn interior_key(left: Hash, right: Hash) -> Hasher {
    Hasher::new("inner").field(left.as_bytes()).field(right.as_bytes())
}

fn all(keys: impl IntoIterator<Item = Hasher>) -> impl Iterator<Item = Hash> {
    Hasher::finish_all(keys).into_iter()
}

pub fn kind_root(kind: EdgeKind, n_leaves: u64, tree: Hash) -> Hash {
    labelled("kind", kind.name(), n_leaves, tree)
}

pub fn package_root(package: &str, n_kinds: u64, tree: Hash) -> Hash {
    labelled("package", package, n_kinds, tree)
}

fn labelled(tag: &str, label: &str, count: u64, tree: Hash) -> Hash {
    Hasher::new(tag).field(label.as_bytes()).field(&count.to_le_bytes()).field(tree.as_bytes()).finish()
}

pub fn root(n_packages: u64, tree: Hash) -> Hash {
    Hasher::new("root").field(&n_packages.to_le_bytes()).field(tree.as_bytes()).finish()
}

/// What a snapshot's id binds together. `dirty` is empty for a commit.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotIdentity<'a> {
    pub url: &'a str,
    pub commit: &'a [u8],
    pub stage: Stage,
    pub ruleset: u32,
    pub root: Hash,
    pub dirty: Option<Hash>,
}

pub fn snapshot_id(identity: SnapshotIdentity<'_>) -> SnapshotId {
    let dirty = identity.dirty.map(|it| it.0);
    SnapshotId(
        Hasher::new("snapshot")
            .field(identity.url.as_bytes())
            .field(identity.commit)
            .field(identity.stage.name().as_bytes())
            .field(&identity.ruleset.to_le_bytes())
            .field(identity.root.as_bytes())
            .field(dirty.as_ref().map_or(&[], |it| it.as_slice()))
            .finish(),
    )
}

/// The digest of uncommitted files; `changes` are (path, blob or none when deleted) in byte order of the paths.
pub fn dirty_digest<'a>(changes: impl IntoIterator<Item = (&'a str, Option<&'a [u8]>)>) -> Hash {
    let mut hasher = Hasher::new("dirty");
    for (path, blob) in changes {
        hasher.push(path.as_bytes());
        hasher.push(blob.unwrap_or_default());
    }
    hasher.finish()
}

/// The identity of a pack: what was asked, and which versions of which symbols answer it. `symbols` may come in any order;
/// what has no file has no file version.
pub fn pack_root(entry: &str, task: &str, symbols: &[(NodeId, Option<FileId>)]) -> Hash {
    let mut symbols = symbols.to_vec();
    symbols.sort_unstable_by_key(|it| it.0);
    let mut all = Vec::with_capacity(64 * symbols.len());
    for (node, file) in symbols {
        all.extend(node.as_bytes());
        all.extend(file.map_or([0; 32], |it| *it.as_bytes()));
    }
    Hasher::new("pack").field(entry.as_bytes()).field(normalised_task(task).as_bytes()).field(&all).finish()
}

/// A task without what does not change its meaning: trimmed, in lower case, with single spaces.
pub fn normalised_task(task: &str) -> String {
    let words: Vec<String> = task.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

/// The digest of the commits that a snapshot's history text comes from; `rules` is the version of what is taken from a
/// commit, `commits` are git's raw ids, newest first.
pub fn history_digest<'a>(rules: u32, commits: impl IntoIterator<Item = &'a [u8]>) -> Hash {
    let mut hasher = Hasher::new("history");
    hasher.push(&rules.to_le_bytes());
    for commit in commits {
        hasher.push(commit);
    }
    hasher.finish()
}

/// Which layers a snapshot's root is taken over.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stage {
    Base,
    Enriched,
    Worktree,
}

impl Stage {
    pub const ALL: [Stage; 3] = [Stage::Base, Stage::Enriched, Stage::Worktree];

    pub fn name(self) -> &'static str {
        match self {
            Stage::Base => "base",
            Stage::Enriched => "enriched",
            Stage::Worktree => "worktree",
        }
    }

    pub fn from_name(name: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|it| it.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hex;

    const URL: &str = "github.com/acme/app";

    fn node(class: ContainerClass, container: &str, symbol: &str, kind: NodeKind) -> NodeId {
        node_id(Identity { repo: URL, class, container, symbol, kind })
    }

    fn a() -> NodeId {
        node(ContainerClass::Dir, "store", "Open", NodeKind::Function)
    }

    fn b() -> NodeId {
        node(ContainerClass::Dir, "cmd", "main", NodeKind::Function)
    }

    #[test]
    fn m1_vectors_of_ids_hold() {
        let c = node(ContainerClass::File, "web/app.py", "App.route", NodeKind::Method);
        let edge_1 = edge_id(b(), a(), EdgeKind::Calls);
        // git's SHA-1 blob id of "file content\n".
        let blob = [
            0xdd, 0x59, 0xd0, 0x98, 0x63, 0x83, 0x13, 0xf5, 0xd0, 0x0a, 0x7f, 0xa6, 0x57, 0x37, 0x9b, 0x33,
            0xb1, 0x91, 0xf2, 0xe2,
        ];
        let rows = [
            (
                hex(repo_id(URL).as_bytes()),
                "626f49f4da2fecf8002524b732a385a8461da4a6b2d4ca4525e2b1cc16b53499",
            ),
            (a().to_string(), "10e1c8546aaf7801e2d2c182c18f1cb11abdb5216018ca978ead011b11928b68"),
            (b().to_string(), "6eece61ed9af56970176612620ced17ba3b6d637bd7afe660bd93a70abd26915"),
            (c.to_string(), "857ae153b50ad1af9e9c689e26d70f012c89f7ebc12f9aeb9bf123cf3316df6a"),
            (edge_1.to_string(), "2ddddd9b42706e5c47034de6335b55b3ddcbf9a9876c401f0440af871d78b0cb"),
            (
                edge_id(a(), b(), EdgeKind::Imports).to_string(),
                "08b310738610f481446efbfd713a095983a9c8e6681b2cc33b7d0a4e8db16527",
            ),
            (
                edge_id(c, a(), EdgeKind::Calls).to_string(),
                "7392b81555f22c6a27dfa57e1ab841c62b4ded0e9ba424bfa9ca3335fb02aeb4",
            ),
            (
                file_id(URL, "store/open.go", &blob).to_string(),
                "0b1c943dbad0d19ec61d45704b81119176cf33a3cf16c895f78a5c37c6d122b3",
            ),
            (
                leaf(edge_1, Provenance::AstResolved, 8500).to_string(),
                "c24324a7d2666c7c494d48ca1a24ab8b13674bc7002d398c0e7bfe8ba5c2b7df",
            ),
        ];
        for (ours, theirs) in rows {
            assert_eq!(ours, theirs);
        }
    }

    #[test]
    fn a_pack_is_its_question_and_the_versions_of_its_symbols() {
        let file = file_id(URL, "store/open.go", &[1; 20]);
        let other = file_id(URL, "store/open.go", &[2; 20]);
        let root = pack_root("for_task", "Fix  the\tcart ", &[(a(), Some(file)), (b(), None)]);
        assert_eq!(root, pack_root("for_task", "fix the cart", &[(b(), None), (a(), Some(file))]));
        // Made apart from this code, by the definition.
        assert_eq!(root.to_string(), "78382d5dbc5f03c1e8ccdd89e598b2e490a76e75434fab28325d011820ae4de2");
        for (entry, task, version) in [
            ("for_files", "fix the cart", file),
            ("for_task", "fix a cart", file),
            ("for_task", "fix the cart", other),
        ] {
            assert_ne!(root, pack_root(entry, task, &[(a(), Some(version)), (b(), None)]));
        }
    }

    /// Tuples that differ by where one field ends and the next begins are the ones a careless hash confuses.
    #[test]
    fn a_million_identities_have_a_million_ids() {
        const N: usize = 1_000_000;
        let mut seed = 7u64;
        let mut next = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seed >> 33
        };
        let words = ["", "a", "ab", "b", "store", "store.Open", "Open", "src/a.py", "ç", "x.y"];
        let kinds = [NodeKind::Function, NodeKind::Method, NodeKind::Field];
        let classes = [ContainerClass::File, ContainerClass::Dir, ContainerClass::Virtual];
        let mut tuples = std::collections::BTreeSet::new();
        while tuples.len() < N {
            let word = |at: u64| words[at as usize % words.len()];
            let number = next() % 5_000;
            tuples.insert((word(next()), next() as usize % 3, word(next()), number, next() as usize % 3));
        }
        let mut ids: Vec<[u8; 16]> = Vec::with_capacity(N);
        for (repo, class, container, number, kind) in tuples {
            let symbol = format!("{container}{number}");
            let identity =
                Identity { repo, class: classes[class], container, symbol: &symbol, kind: kinds[kind] };
            ids.push(*node_id(identity).as_bytes().first_chunk().unwrap());
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), N);
    }
}
