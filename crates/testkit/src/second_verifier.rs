//! A verifier of proof files that was written from their description alone, to disagree with ours where one of them is
//! wrong. It reads plain JSON, climbs trees from the bottom with counters instead of splitting them, and shares no code.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Whether a proof holds.
pub fn verify_again(proof: &Value) -> Result<(), &'static str> {
    check(proof).ok_or("a field is missing or is not of its type")?.then_some(()).ok_or("it does not hold")
}

type Bytes = Vec<u8>;

/// None where something cannot be read.
fn check(proof: &Value) -> Option<bool> {
    let text = |name: &str| proof[name].as_str();
    let statement = &proof["statement"];
    let kind = statement["kind"].as_str()?;
    let source = node_id(&statement["source"])?;
    let target = node_id(&statement["target"])?;
    let edge = h("edge", &[&source, &target, kind.as_bytes()]);
    let package = package(&statement["source"])?;
    let path = proof["path"].as_array()?;
    let has = |name: &str| !proof[name].is_null();
    let mut holds = text("format")? == "knowing-proof/1"
        && unhex(text("edge")?)? == edge
        && text("package")? == package
        && kind != "inherits"
        && !kind.starts_with("runtime_");

    // From the innermost level that the proof speaks of to the outermost.
    let mut hash: Bytes;
    let mut rest = path.as_slice();
    let mut level = 0;
    match text("type")? {
        "inclusion" => {
            holds &= !has("level") && !has("left") && !has("right") && path.len() == 3;
            let leaf = &proof["leaf"];
            hash = leaf_of(&edge, leaf)?;
            holds &= path.first()?["label"].as_str()? == text("edge")?;
        }
        "absence" => {
            let (key, depth): (Bytes, usize) = match text("level")? {
                "edge" => (edge.clone(), 0),
                "kind" => (kind.as_bytes().to_vec(), 1),
                "package" => (package.as_bytes().to_vec(), 2),
                _ => return None,
            };
            holds &= !has("leaf") && path.len() == 2 - depth;
            let (tree, size) = match (has("left"), has("right")) {
                (false, false) if depth == 2 => (h("empty", &[]), 0),
                (false, false) => return Some(false),
                _ => {
                    let left = beside(&proof["left"], depth)?;
                    let right = beside(&proof["right"], depth)?;
                    holds &= left.as_ref().is_none_or(|it| it.key < key);
                    holds &= right.as_ref().is_none_or(|it| it.key > key);
                    match (left, right) {
                        (Some(left), Some(right)) => {
                            holds &= left.tree == right.tree && left.size == right.size;
                            holds &= left.index + 1 == right.index;
                            (left.tree, left.size)
                        }
                        (Some(left), None) => {
                            holds &= left.index + 1 == left.size;
                            (left.tree, left.size)
                        }
                        (None, Some(right)) => {
                            holds &= right.index == 0;
                            (right.tree, right.size)
                        }
                        (None, None) => return None,
                    }
                }
            };
            hash = finished(depth, kind, package, size, &tree);
            level = depth + 1;
        }
        _ => return None,
    }
    while level < 3 {
        let (step, outer) = rest.split_first()?;
        rest = outer;
        let label = step["label"].as_str()?;
        holds &= level == 0 || label == if level == 1 { kind } else { package };
        let (tree, _, size) = climb(&hash, step)?;
        hash = finished(level, kind, package, size, &tree);
        level += 1;
    }
    holds &= rest.is_empty() && hash == unhex(text("root")?)?;

    let dirty = unhex(text("dirty")?)?;
    let ruleset = u32::try_from(proof["ruleset"].as_u64()?).ok()?;
    let commit = unhex(text("commit")?)?;
    let (repo, stage, root) = (text("repo")?, text("stage")?, unhex(text("root")?)?);
    let snapshot =
        h("snapshot", &[repo.as_bytes(), &commit, stage.as_bytes(), &ruleset.to_le_bytes(), &root, &dirty]);
    Some(holds && snapshot == unhex(text("snapshot")?)?)
}

/// The root of a kind, of a package, of the repository.
fn finished(level: usize, kind: &str, package: &str, size: u64, tree: &[u8]) -> Bytes {
    let count = size.to_le_bytes();
    match level {
        0 => h("kind", &[kind.as_bytes(), &count, tree]),
        1 => h("package", &[package.as_bytes(), &count, tree]),
        _ => h("root", &[&count, tree]),
    }
}

struct Beside {
    key: Bytes,
    tree: Bytes,
    index: u64,
    size: u64,
}

fn beside(neighbour: &Value, depth: usize) -> Option<Option<Beside>> {
    if neighbour.is_null() {
        return Some(None);
    }
    let (key, hash) = if depth == 0 {
        let edge = unhex(neighbour["edge"].as_str()?)?;
        let leaf = leaf_of(&edge, neighbour)?;
        (edge, leaf)
    } else {
        let label = neighbour["label"].as_str()?;
        let count = neighbour["count"].as_u64()?.to_le_bytes();
        let tree = unhex(neighbour["tree"].as_str()?)?;
        let tag = if depth == 1 { "kind" } else { "package" };
        (label.as_bytes().to_vec(), h(tag, &[label.as_bytes(), &count, &tree]))
    };
    let (tree, index, size) = climb(&hash, neighbour)?;
    Some(Some(Beside { key, tree, index, size }))
}

/// The top of the tree, with the place and the size that were claimed.
fn climb(from: &[u8], step: &Value) -> Option<(Bytes, u64, u64)> {
    let (index, size) = (step["index"].as_u64()?, step["size"].as_u64()?);
    if index >= size {
        return None;
    }
    let mut siblings = step["siblings"].as_array()?.iter();
    let (mut hash, mut at, mut last) = (from.to_vec(), index, size - 1);
    while last > 0 {
        // The last of an odd number goes up alone.
        if at % 2 == 1 {
            hash = h("inner", &[&unhex(siblings.next()?.as_str()?)?, &hash]);
        } else if at < last {
            hash = h("inner", &[&hash, &unhex(siblings.next()?.as_str()?)?]);
        }
        at /= 2;
        last /= 2;
    }
    siblings.next().is_none().then_some((hash, index, size))
}

fn leaf_of(edge: &[u8], leaf: &Value) -> Option<Bytes> {
    let confidence = u16::try_from(leaf["confidence_bp"].as_u64()?).ok()?;
    Some(h("leaf", &[edge, leaf["provenance"].as_str()?.as_bytes(), &confidence.to_le_bytes()]))
}

fn node_id(symbol: &Value) -> Option<Bytes> {
    let mut fields = Vec::new();
    for name in ["repo", "class", "container", "symbol", "kind"] {
        fields.push(symbol[name].as_str()?.as_bytes());
    }
    Some(h("node", &fields))
}

fn package(symbol: &Value) -> Option<&str> {
    let container = symbol["container"].as_str()?;
    match symbol["class"].as_str()? {
        "file" => Some(container.rfind('/').map_or(".", |at| &container[..at])),
        "dir" => Some(if container.is_empty() { "." } else { container }),
        "virtual" => Some("_virtual"),
        _ => None,
    }
}

fn h(tag: &str, fields: &[&[u8]]) -> Bytes {
    let mut bytes = format!("knowing/{tag}/1").into_bytes();
    bytes.push(0);
    for field in fields {
        bytes.extend_from_slice(&(field.len() as u32).to_le_bytes());
        bytes.extend_from_slice(field);
    }
    Sha256::digest(&bytes).to_vec()
}

fn unhex(text: &str) -> Option<Bytes> {
    if !text.len().is_multiple_of(2) || text.bytes().any(|it| it.is_ascii_uppercase()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}
