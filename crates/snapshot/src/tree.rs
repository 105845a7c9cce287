//! The tree of all edges of a snapshot: leaves under kinds, kinds under packages, packages under the root.
//!
//! ```text
//! root ─┬─ package cmd ──┬─ kind calls ───┬─ leaf (edge id, provenance, confidence)
//!       │                │                └─ leaf
//!       │                └─ kind imports ── leaf
//!       └─ package store ── kind calls ──── leaf
//! ```
//!
//! Labels and counts are inside the hashes, so that nothing can be moved under another name.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use knowing_model::{EdgeId, EdgeKind, Hash, Provenance, identity};

/// What the tree holds of an edge. `package` is that of its source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EdgeLeaf<'a> {
    pub package: &'a str,
    pub kind: EdgeKind,
    pub id: EdgeId,
    pub provenance: Provenance,
    pub confidence_bp: u16,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    pub root: Hash,
    /// In byte order of the names.
    pub packages: Vec<PackageRoot>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PackageRoot {
    pub name: String,
    pub root: Hash,
    /// In byte order of the kinds' names.
    pub kinds: Vec<KindRoot>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KindRoot {
    pub kind: EdgeKind,
    pub n_leaves: u64,
    pub root: Hash,
}

/// The roots of a tree: all that a snapshot keeps of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Roots {
    pub root: Hash,
    /// (package, root) in byte order of the names.
    pub packages: Vec<(String, Hash)>,
}

impl Roots {
    /// Those of a tree that differs from this one in some packages alone, all of whose edges are given.
    pub fn patched<'a>(
        &self,
        changed: &BTreeSet<&str>,
        edges: impl IntoIterator<Item = EdgeLeaf<'a>>,
    ) -> Roots {
        let mut packages: BTreeMap<String, Hash> = self.packages.iter().cloned().collect();
        packages.retain(|name, _| !changed.contains(name.as_str()));
        packages.extend(Tree::build(edges).packages.into_iter().map(|it| (it.name, it.root)));
        Roots::over(packages.into_iter().collect())
    }

    /// Over packages in byte order of the names.
    pub fn over(packages: Vec<(String, Hash)>) -> Roots {
        Roots { root: root_over(packages.iter().map(|it| it.1)), packages }
    }
}

impl Tree {
    /// The tree of edges in any order. Each edge is given once.
    pub fn build<'a>(edges: impl IntoIterator<Item = EdgeLeaf<'a>>) -> Tree {
        /// Leaves whose hashes are held at once: enough to be hashed side by side, few enough not to count.
        const AT_ONCE: usize = 1 << 15;
        let mut groups = Groups::of(edges);
        let kinds_by_name = std::mem::take(&mut groups.kinds);
        let mut trees = Trees::default();
        let mut packages: Vec<PackageRoot> = Vec::with_capacity(groups.packages.len());
        for (name, number) in std::mem::take(&mut groups.packages) {
            let mut kinds = Vec::new();
            for &kind in &kinds_by_name {
                let n_leaves = groups.gather(number, kind, &mut trees.leaves) as u64;
                if n_leaves > 0 {
                    kinds.push(KindRoot { kind, n_leaves, root: Hash::default() });
                }
            }
            packages.push(PackageRoot { name: name.to_owned(), root: Hash::default(), kinds });
            if trees.leaves.len() >= AT_ONCE {
                trees.close(&mut packages);
            }
        }
        trees.close(&mut packages);
        Tree { root: root_over(packages.iter().map(|it| it.root)), packages }
    }

    pub fn package(&self, name: &str) -> Option<&PackageRoot> {
        let at = self.packages.binary_search_by(|it| it.name.as_str().cmp(name)).ok()?;
        Some(&self.packages[at])
    }

    pub fn kind_root(&self, package: &str, kind: EdgeKind) -> Option<Hash> {
        self.package(package)?.kinds.iter().find(|it| it.kind == kind).map(|it| it.root)
    }

    /// The root over some packages alone; `names` in byte order, those without edges left out.
    pub fn subgraph_root<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Hash {
        root_over(names.into_iter().filter_map(|it| self.package(it)).map(|it| it.root))
    }

    pub fn roots(&self) -> Roots {
        let packages = self.packages.iter().map(|it| (it.name.clone(), it.root)).collect();
        Roots { root: self.root, packages }
    }
}

/// The hash over hashes in their order: split at the largest power of two below their number.
pub fn merkle(hashes: &[Hash]) -> Hash {
    merkle_of_each(hashes.to_vec(), &[hashes.len()])[0]
}

/// The hash over each of several lists, which lie one behind the other in `hashes`. To join neighbours, and take up to the
/// next level whoever has none, splits as the definition does; one level of all lists is hashed at once.
fn merkle_of_each(mut hashes: Vec<Hash>, lengths: &[usize]) -> Vec<Hash> {
    let mut lengths = lengths.to_vec();
    while lengths.iter().any(|it| *it > 1) {
        let lists = lengths.iter().scan(hashes.as_slice(), |rest, &length| {
            let (list, after) = rest.split_at(length);
            *rest = after;
            Some(list.as_chunks())
        });
        let lists: Vec<(&[[Hash; 2]], &[Hash])> = lists.collect();
        let pairs = lists.iter().flat_map(|(pairs, _)| pairs.iter());
        let mut joined = identity::interiors(pairs.map(|[left, right]| (*left, *right))).into_iter();
        let mut above = Vec::with_capacity(hashes.len().div_ceil(2) + lengths.len());
        for ((pairs, rest), length) in lists.into_iter().zip(&mut lengths) {
            above.extend(joined.by_ref().take(pairs.len()));
            above.extend_from_slice(rest);
            *length = pairs.len() + rest.len();
        }
        hashes = above;
    }
    let mut roots = hashes.into_iter();
    let root = |it: &usize| if *it == 0 { Some(identity::empty_tree()) } else { roots.next() };
    lengths.iter().map_while(root).collect()
}

/// Hashes of packages in the making.
#[derive(Default)]
struct Trees {
    /// Of the packages that are not closed, in their order.
    leaves: Vec<(EdgeId, Provenance, u16)>,
    n_closed: usize,
}

impl Trees {
    /// Gives the packages since the last time, and their kinds, their roots.
    fn close(&mut self, packages: &mut [PackageRoot]) {
        let packages = &mut packages[self.n_closed..];
        self.n_closed += packages.len();
        let lengths: Vec<usize> =
            packages.iter().flat_map(|it| &it.kinds).map(|it| it.n_leaves as usize).collect();
        let roots = merkle_of_each(identity::leaves(self.leaves.drain(..)), &lengths);
        for (kind, root) in packages.iter_mut().flat_map(|it| &mut it.kinds).zip(roots) {
            kind.root = identity::kind_root(kind.kind, kind.n_leaves, root);
        }
        let lengths: Vec<usize> = packages.iter().map(|it| it.kinds.len()).collect();
        let roots =
            merkle_of_each(packages.iter().flat_map(|it| &it.kinds).map(|it| it.root).collect(), &lengths);
        for (package, root) in packages.iter_mut().zip(roots) {
            package.root = identity::package_root(&package.name, package.kinds.len() as u64, root);
        }
    }
}

fn root_over(package_roots: impl Iterator<Item = Hash>) -> Hash {
    let roots: Vec<Hash> = package_roots.collect();
    identity::root(roots.len() as u64, merkle(&roots))
}

struct Leaf {
    id: EdgeId,
    /// By first use.
    package: u32,
    confidence_bp: u16,
    kind: EdgeKind,
    provenance: Provenance,
}

const N_KINDS: usize = EdgeKind::ALL.len();

/// Edges by package and kind. They come file by file: dealt out to their groups first, few have to be compared.
struct Groups<'a> {
    /// In byte order of the names, with their numbers.
    packages: Vec<(&'a str, u32)>,
    /// In byte order of the names.
    kinds: Vec<EdgeKind>,
    /// As they came.
    leaves: Vec<Leaf>,
    /// Places of leaves, group by group.
    dealt: Vec<u32>,
    /// Where each group begins: by package and place of the kind among all.
    firsts: Vec<u32>,
    /// The group in work, by the first bytes of the ids, which settle nearly every comparison.
    heads: Vec<(u64, u32)>,
}

impl<'a> Groups<'a> {
    fn of(edges: impl IntoIterator<Item = EdgeLeaf<'a>>) -> Groups<'a> {
        let mut numbers: HashMap<&'a str, u32> = HashMap::new();
        let mut packages: Vec<(&'a str, u32)> = Vec::new();
        let mut last: Option<(&'a str, u32)> = None;
        let mut ends: Vec<u32> = Vec::new();
        let of_edge = |EdgeLeaf { package, kind, id, provenance, confidence_bp }| {
            // The package is nearly always that of the edge before.
            let number = match last {
                Some((name, number)) if name == package => number,
                _ => *numbers.entry(package).or_insert_with(|| {
                    packages.push((package, packages.len() as u32));
                    ends.resize(packages.len() * N_KINDS, 0);
                    packages.len() as u32 - 1
                }),
            };
            last = Some((package, number));
            ends[group(number, kind)] += 1;
            Leaf { id, package: number, confidence_bp, kind, provenance }
        };
        let leaves: Vec<Leaf> = edges.into_iter().map(of_edge).collect();
        packages.sort_unstable_by_key(|it| it.0);
        let mut n_leaves = 0;
        for end in &mut ends {
            n_leaves += *end;
            *end = n_leaves;
        }
        let mut firsts = ends;
        let mut dealt = vec![0; leaves.len()];
        for (place, leaf) in leaves.iter().enumerate().rev() {
            let first = &mut firsts[group(leaf.package, leaf.kind)];
            *first -= 1;
            dealt[*first as usize] = place as u32;
        }
        firsts.push(n_leaves);
        let mut kinds = EdgeKind::ALL.to_vec();
        kinds.sort_unstable_by_key(|it| it.name());
        Groups { packages, kinds, leaves, dealt, firsts, heads: Vec::new() }
    }

    /// Appends the edges of a package and kind by their ids, and says how many.
    fn gather(&mut self, package: u32, kind: EdgeKind, into: &mut Vec<(EdgeId, Provenance, u16)>) -> usize {
        let Groups { leaves, dealt, firsts, heads, .. } = self;
        let group = group(package, kind);
        let dealt = &dealt[firsts[group] as usize..firsts[group + 1] as usize];
        let leaf = |it: u32| {
            let Leaf { id, provenance, confidence_bp, .. } = leaves[it as usize];
            (id, provenance, confidence_bp)
        };
        heads.clear();
        heads.extend(dealt.iter().map(|it| (leaves[*it as usize].id.0.head(), *it)));
        heads
            .sort_unstable_by(|one, other| one.0.cmp(&other.0).then_with(|| leaf(one.1).cmp(&leaf(other.1))));
        into.extend(heads.iter().map(|it| leaf(it.1)));
        heads.len()
    }
}

/// The number of a group.
fn group(package: u32, kind: EdgeKind) -> usize {
    // Kinds are numbered from one.
    package as usize * N_KINDS + usize::from(kind.id()) - 1
}
