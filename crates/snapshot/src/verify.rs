//! The verifier: whether a proof holds, from the proof alone.
//!
//! Deliberately without a dependency but SHA-256, not even on our own vocabulary, so that it can be read in one sitting,
//! carried elsewhere, and cannot share a mistake with what made the proof. The steps are those of the specification.

use sha2::{Digest, Sha256};

use crate::proof::{FORMAT, Level, Neighbour, Proof, ProofType, Statement, Step, Symbol};

/// What the reader trusts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expected<'a> {
    /// Hex; the beginning of the id suffices.
    pub commit: Option<&'a str>,
    pub snapshot: Option<&'a str>,
    pub repo: Option<&'a str>,
}

/// The first step that fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// 1 identities, 2 inclusion, 3 absence, 4 snapshot, 5 expectations.
    pub step: u8,
    pub reason: String,
}

/// Kinds of edges that stand in trees. Observed edges and `inherits`, which is computed, do not: that one of these is
/// in no tree says nothing.
pub const PROVABLE_KINDS: &[&str] = &[
    "calls",
    "imports",
    "implements",
    "references",
    "handles_route",
    "depends_on",
    "deploys",
    "exposes",
    "configures",
    "extends",
    "overrides",
    "decorates",
    "throws",
    "owned_by",
    "authored_by",
    "tests",
    "contains",
    "member_of",
    "documents",
    "consumes_endpoint",
    "implements_rpc",
    "consumes_rpc",
    "gated_by_flag",
    "deployed_by",
    "tested_by",
    "publishes",
    "subscribes",
    "connects_to",
    "similar_to",
    "co_tested_with",
    "type_hint_of",
    "accesses_field",
    "reads_env",
    "executes_process",
    "changed_with",
    "mentions",
];

pub fn verify(proof: &Proof, expected: Expected<'_>) -> Result<(), Failure> {
    let edge = identities(proof).map_err(|reason| Failure { step: 1, reason })?;
    match proof.proof_type {
        ProofType::Inclusion => inclusion(proof, edge).map_err(|reason| Failure { step: 2, reason })?,
        ProofType::Absence => absence(proof, edge).map_err(|reason| Failure { step: 3, reason })?,
    }
    snapshot(proof).map_err(|reason| Failure { step: 4, reason })?;
    expectations(proof, expected).map_err(|reason| Failure { step: 5, reason })
}

type Hash = [u8; 32];
type Checked<T> = Result<T, String>;

fn identities(proof: &Proof) -> Checked<Hash> {
    if proof.format != FORMAT {
        return Err(format!("the format is `{}`, expected `{FORMAT}`", proof.format));
    }
    let Statement { source, target, kind } = &proof.statement;
    if !PROVABLE_KINDS.contains(&kind.as_str()) {
        return Err(format!("edges of kind `{kind}` are in no tree"));
    }
    let edge = hash("edge", &[&node(source)?, &node(target)?, kind.as_bytes()]);
    if edge != read_hash(&proof.edge)? {
        return Err("the edge id is not that of the statement".to_owned());
    }
    if package_of(source) != proof.package {
        return Err(format!(
            "the package of the source is `{}`, not `{}`",
            package_of(source),
            proof.package
        ));
    }
    Ok(edge)
}

fn node(symbol: &Symbol) -> Checked<Hash> {
    let Symbol { repo, class, container, symbol, kind } = symbol;
    if !["file", "dir", "virtual"].contains(&class.as_str()) {
        return Err(format!("no class is called `{class}`"));
    }
    Ok(hash("node", &[repo, class, container, symbol, kind].map(|it| it.as_bytes())))
}

fn package_of(symbol: &Symbol) -> &str {
    let container = symbol.container.as_str();
    match symbol.class.as_str() {
        "virtual" => "_virtual",
        "dir" if container.is_empty() => ".",
        "dir" => container,
        _ => container.rsplit_once('/').map_or(".", |(directory, _)| directory),
    }
}

fn inclusion(proof: &Proof, edge: Hash) -> Checked<()> {
    if proof.level.is_some() || proof.left.is_some() || proof.right.is_some() {
        return Err("an inclusion has no level and no neighbours".to_owned());
    }
    let leaf = proof.leaf.as_ref().ok_or("the leaf is missing")?;
    let [in_kind, in_package, in_repository] = proof.path.as_slice() else {
        return Err(format!("the path has {} steps, expected 3", proof.path.len()));
    };
    if in_kind.label != proof.edge {
        return Err("the first step of the path is not that of the edge".to_owned());
    }
    let leaf = leaf_hash(edge, &leaf.provenance, leaf.confidence_bp);
    let leaves = climb(leaf, in_kind.index, in_kind.size, &in_kind.siblings)?;
    let kind_root = kind_root(proof, in_kind.size, leaves);
    let package_root = through_kind(proof, in_package, kind_root)?;
    through_package(proof, in_repository, package_root)
}

fn absence(proof: &Proof, edge: Hash) -> Checked<()> {
    if proof.leaf.is_some() {
        return Err("an absence has no leaf".to_owned());
    }
    match (proof.level, proof.path.as_slice()) {
        (Some(Level::Edge), [in_package, in_repository]) => {
            let (leaves, size) = gap(proof, &edge, |it| match it {
                Neighbour::Edge(it) => {
                    let edge = read_hash(&it.edge)?;
                    let leaf = leaf_hash(edge, &it.provenance, it.confidence_bp);
                    Ok((edge.to_vec(), leaf, (it.index, it.size, &it.siblings)))
                }
                Neighbour::Branch(_) => Err("the neighbours of an edge are edges".to_owned()),
            })?;
            let package_root = through_kind(proof, in_package, kind_root(proof, size, leaves))?;
            through_package(proof, in_repository, package_root)
        }
        (Some(Level::Kind), [in_repository]) => {
            let (kinds, size) = branches(proof, "kind", proof.statement.kind.as_bytes())?;
            through_package(proof, in_repository, package_root(proof, size, kinds))
        }
        (Some(Level::Package), []) => {
            // Of a repository without any edge nothing stands beside the gap.
            let (packages, size) = match (&proof.left, &proof.right) {
                (None, None) => (hash("empty", &[]), 0),
                _ => branches(proof, "package", proof.package.as_bytes())?,
            };
            is_root(proof, size, packages)
        }
        (Some(_), path) => Err(format!("the path has {} steps, which does not fit the level", path.len())),
        (None, _) => Err("the level is missing".to_owned()),
    }
}

fn branches(proof: &Proof, tag: &str, missing: &[u8]) -> Checked<(Hash, u64)> {
    gap(proof, missing, |it| match it {
        Neighbour::Branch(it) => {
            let root = labelled(tag, &it.label, it.count, read_hash(&it.tree)?);
            Ok((it.label.clone().into_bytes(), root, (it.index, it.size, &it.siblings)))
        }
        Neighbour::Edge(_) => Err(format!("the neighbours of a {tag} are {tag}s")),
    })
}

/// Key, hash and place of a neighbour.
type Standing<'a> = (Vec<u8>, Hash, (u64, u64, &'a Vec<String>));

/// The tree both neighbours stand in, and its size, when nothing can stand between them.
fn gap<'a>(
    proof: &'a Proof,
    missing: &[u8],
    read: impl Fn(&'a Neighbour) -> Checked<Standing<'a>>,
) -> Checked<(Hash, u64)> {
    let mut trees = Vec::new();
    let mut indices = Vec::new();
    for (neighbour, is_left) in [(&proof.left, true), (&proof.right, false)] {
        let Some(neighbour) = neighbour else {
            indices.push(None);
            continue;
        };
        let (key, hash, (index, size, siblings)) = read(neighbour)?;
        let in_order = if is_left { key.as_slice() < missing } else { missing < key.as_slice() };
        if !in_order {
            let side = if is_left { "left" } else { "right" };
            return Err(format!("the {side} neighbour does not stand there in the order of keys"));
        }
        trees.push((climb(hash, index, size, siblings)?, size));
        indices.push(Some(index));
    }
    let &(tree, size) = trees.first().ok_or("both neighbours are missing")?;
    if trees.iter().any(|it| *it != (tree, size)) {
        return Err("the neighbours stand in two trees".to_owned());
    }
    let adjacent = match indices[..] {
        [Some(left), Some(right)] => left.checked_add(1) == Some(right),
        [None, Some(right)] => right == 0,
        [Some(left), None] => left.checked_add(1) == Some(size),
        _ => false,
    };
    if !adjacent {
        return Err("the neighbours do not stand next to each other".to_owned());
    }
    Ok((tree, size))
}

fn through_kind(proof: &Proof, step: &Step, kind_root: Hash) -> Checked<Hash> {
    if step.label != proof.statement.kind {
        return Err(format!("the path leads through kind `{}`", step.label));
    }
    let kinds = climb(kind_root, step.index, step.size, &step.siblings)?;
    Ok(package_root(proof, step.size, kinds))
}

fn through_package(proof: &Proof, step: &Step, package_root: Hash) -> Checked<()> {
    if step.label != proof.package {
        return Err(format!("the path leads through package `{}`", step.label));
    }
    let packages = climb(package_root, step.index, step.size, &step.siblings)?;
    is_root(proof, step.size, packages)
}

fn is_root(proof: &Proof, n_packages: u64, packages: Hash) -> Checked<()> {
    match hash("root", &[&n_packages.to_le_bytes(), &packages]) == read_hash(&proof.root)? {
        true => Ok(()),
        false => Err("the path does not lead to the root".to_owned()),
    }
}

fn leaf_hash(edge: Hash, provenance: &str, confidence_bp: u16) -> Hash {
    hash("leaf", &[&edge, provenance.as_bytes(), &confidence_bp.to_le_bytes()])
}

fn kind_root(proof: &Proof, n_leaves: u64, tree: Hash) -> Hash {
    labelled("kind", &proof.statement.kind, n_leaves, tree)
}

fn package_root(proof: &Proof, n_kinds: u64, tree: Hash) -> Hash {
    labelled("package", &proof.package, n_kinds, tree)
}

fn labelled(tag: &str, label: &str, count: u64, tree: Hash) -> Hash {
    hash(tag, &[label.as_bytes(), &count.to_le_bytes(), &tree])
}

/// The top of a tree of `size` hashes, of which `hash` is the one at `index`.
fn climb(hash: Hash, index: u64, size: u64, siblings: &[String]) -> Checked<Hash> {
    if index >= size {
        return Err(format!("place {index} is outside of a tree of {size}"));
    }
    let siblings: Vec<Hash> = siblings.iter().map(|it| read_hash(it)).collect::<Checked<_>>()?;
    climb_from(hash, index, size, &siblings)
}

/// The tree splits at the largest power of two below its size, so that place and size say which side a sibling is on.
fn climb_from(leaf: Hash, index: u64, size: u64, siblings: &[Hash]) -> Checked<Hash> {
    match siblings.split_last() {
        None if size == 1 => Ok(leaf),
        Some((top, below)) if size > 1 => {
            let half = 1 << (63 - (size - 1).leading_zeros());
            if index < half {
                Ok(hash("inner", &[&climb_from(leaf, index, half, below)?, top]))
            } else {
                Ok(hash("inner", &[top, &climb_from(leaf, index - half, size - half, below)?]))
            }
        }
        None => Err("a sibling is missing".to_owned()),
        Some(_) => Err("there are more siblings than the path has levels".to_owned()),
    }
}

fn snapshot(proof: &Proof) -> Checked<()> {
    if !["base", "enriched", "worktree"].contains(&proof.stage.as_str()) {
        return Err(format!("no stage is called `{}`", proof.stage));
    }
    let dirty = match proof.dirty.as_str() {
        "" => Vec::new(),
        digest => read_hash(digest)?.to_vec(),
    };
    let commit = read_hex(&proof.commit).filter(|it| matches!(it.len(), 20 | 32));
    let commit = commit.ok_or_else(|| format!("`{}` is no commit id", proof.commit))?;
    let root = read_hash(&proof.root)?;
    let ruleset = proof.ruleset.to_le_bytes();
    let fields: [&[u8]; 6] =
        [proof.repo.as_bytes(), &commit, proof.stage.as_bytes(), &ruleset, &root, &dirty];
    match hash("snapshot", &fields) == read_hash(&proof.snapshot)? {
        true => Ok(()),
        false => Err("the snapshot id is not that of repository, commit, stage, ruleset and root".to_owned()),
    }
}

fn expectations(proof: &Proof, expected: Expected<'_>) -> Checked<()> {
    for (what, expected, found) in
        [("commit", expected.commit, &proof.commit), ("snapshot", expected.snapshot, &proof.snapshot)]
    {
        if let Some(expected) = expected
            && (expected.is_empty() || !found.starts_with(&expected.to_ascii_lowercase()))
        {
            return Err(format!("the proof is of {what} {found}, not of {expected}"));
        }
    }
    match expected.repo {
        Some(repo) if repo != proof.repo => {
            Err(format!("the proof is of the repository `{}`, not of `{repo}`", proof.repo))
        }
        _ => Ok(()),
    }
}

/// `H(tag, f1 ... fn)`.
fn hash(tag: &str, fields: &[&[u8]]) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update(b"knowing/");
    hasher.update(tag.as_bytes());
    hasher.update(b"/1\0");
    for field in fields {
        let length = u32::try_from(field.len()).unwrap_or(u32::MAX);
        hasher.update(length.to_le_bytes());
        hasher.update(field);
    }
    hasher.finalize().into()
}

fn read_hash(text: &str) -> Checked<Hash> {
    let bytes = read_hex(text).and_then(|it| Hash::try_from(it).ok());
    bytes.ok_or_else(|| format!("`{text}` is no hash of 64 lower-case hex digits"))
}

fn read_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |it: u8| match it {
        b'0'..=b'9' => Some(it - b'0'),
        b'a'..=b'f' => Some(it - b'a' + 10),
        _ => None,
    };
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|it| Some(digit(*it.first()?)? << 4 | digit(*it.get(1)?)?)).collect()
}
