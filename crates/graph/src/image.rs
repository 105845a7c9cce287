//! The file: a header, then five sections, each on an 8-byte border.
//!
//! ```text
//! header | nodes | order by symbol | out offsets | out edges | in offsets | in edges
//! ```
//!
//! Words are in the order of the machine that wrote it (an image never leaves its machine). Whatever does not fit is an
//! error, and the caller builds the image anew from the database.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use bytemuck::{Pod, Zeroable};
use knowing_model::{EdgeKind, Hash, NodeFlags, NodeId, NodeKind, Provenance, SnapshotId, position_of};
use memmap2::Mmap;

use crate::layout::{HEADER, Header, checksum_of, header_of, section_items};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot read or write the graph image: {0}")]
    Io(#[from] io::Error),
    /// The file is not an image of this version, of this machine or of this snapshot, or it is damaged.
    #[error("the graph image is unusable: {0}")]
    Damaged(&'static str),
    #[error("the rows of the graph do not fit together: {0}")]
    Input(String),
}

pub type Result<T> = std::result::Result<T, Error>;

/// The position of a node in canonical order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeIndex(pub u32);

impl NodeIndex {
    fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct NodeRecord {
    pub(crate) id: [u8; 32],
    /// The symbol's row in the store.
    pub sym: u32,
    /// The node version's row in the store, 0 for what has none.
    pub node_row: u32,
    pub(crate) name: u32,
    pub(crate) flags: u16,
    pub(crate) kind: u8,
    pub(crate) reserved: u8,
}

impl NodeRecord {
    pub fn id(&self) -> NodeId {
        NodeId(Hash(self.id))
    }

    pub fn kind(&self) -> NodeKind {
        NodeKind::from_id(self.kind).expect("kinds are checked when an image is opened")
    }

    pub fn flags(&self) -> NodeFlags {
        NodeFlags(self.flags)
    }

    /// Without a place in the repository.
    pub fn is_virtual(&self) -> bool {
        self.node_row == 0
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct EdgeRecord {
    pub(crate) other: u32,
    pub edge_row: u32,
    pub confidence_bp: u16,
    pub(crate) kind: u8,
    pub(crate) provenance: u8,
}

impl EdgeRecord {
    /// The far end.
    pub fn other(&self) -> NodeIndex {
        NodeIndex(self.other)
    }

    pub fn kind(&self) -> EdgeKind {
        EdgeKind::from_id(self.kind).expect("kinds are checked when an image is opened")
    }

    pub fn provenance(&self) -> Provenance {
        Provenance::from_id(self.provenance).expect("provenances are checked when an image is opened")
    }
}

#[derive(Debug)]
pub struct Graph {
    bytes: Bytes,
    header: Header,
}

#[derive(Debug)]
enum Bytes {
    Built(Vec<u64>),
    Mapped(Mmap),
}

impl Graph {
    /// Maps the image of `snapshot`.
    pub fn open(path: &Path, snapshot: SnapshotId) -> Result<Graph> {
        let file = File::open(path)?;
        if file.metadata()?.len() < HEADER as u64 {
            return Err(Error::Damaged("it is shorter than its header"));
        }
        let graph = Graph::checked(Bytes::Mapped(map(&file)?))?;
        if graph.snapshot() != snapshot {
            return Err(Error::Damaged("it is of another snapshot"));
        }
        Ok(graph)
    }

    /// Writes the image under a temporary name and renames it, so that a reader sees all of it or nothing.
    pub fn write(&self, path: &Path) -> Result<()> {
        let directory = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(directory)?;
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(self.all_bytes())?;
        file.persist(path).map_err(|it| it.error)?;
        Ok(())
    }

    /// What was just encoded is whole, and is not looked at again.
    pub(crate) fn from_words(words: Vec<u64>) -> Result<Graph> {
        let bytes = Bytes::Built(words);
        let graph = Graph { header: header_of(bytes.as_slice())?, bytes };
        debug_assert!(graph.check_contents().is_ok(), "an image that was just made is whole");
        Ok(graph)
    }

    fn checked(bytes: Bytes) -> Result<Graph> {
        let graph = Graph { header: header_of(bytes.as_slice())?, bytes };
        graph.check_contents()?;
        Ok(graph)
    }

    pub fn snapshot(&self) -> SnapshotId {
        SnapshotId(Hash(self.header.snapshot))
    }

    pub fn n_nodes(&self) -> usize {
        self.header.n_nodes as usize
    }

    pub fn n_edges(&self) -> usize {
        self.header.n_edges as usize
    }

    /// Node versions that are left out, because another file states their symbol too. Where there are some, nothing can be
    /// patched.
    pub fn n_repeated(&self) -> u64 {
        self.header.n_repeated
    }

    /// All nodes in canonical order.
    #[inline]
    pub fn nodes(&self) -> &[NodeRecord] {
        self.section(0)
    }

    /// Their ids, ascending.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &[u8; 32]> + Clone {
        self.nodes().iter().map(|it| &it.id)
    }

    pub fn indices(&self) -> impl DoubleEndedIterator<Item = NodeIndex> + use<> {
        (0..self.n_nodes() as u32).map(NodeIndex)
    }

    #[inline]
    pub fn node(&self, at: NodeIndex) -> &NodeRecord {
        &self.nodes()[at.index()]
    }

    /// Edges from a node, by (kind, target).
    pub fn outgoing(&self, at: NodeIndex) -> &[EdgeRecord] {
        self.edges_of(2, at)
    }

    /// Edges into a node, by (kind, source).
    pub fn incoming(&self, at: NodeIndex) -> &[EdgeRecord] {
        self.edges_of(4, at)
    }

    pub fn outgoing_of(&self, at: NodeIndex, kind: EdgeKind) -> &[EdgeRecord] {
        of_kind(self.outgoing(at), kind)
    }

    pub fn incoming_of(&self, at: NodeIndex, kind: EdgeKind) -> &[EdgeRecord] {
        of_kind(self.incoming(at), kind)
    }

    pub fn find(&self, id: NodeId) -> Option<NodeIndex> {
        let nodes = self.nodes();
        let at = position_of(id.as_bytes(), nodes.len(), |it| &nodes[it].id).ok()?;
        Some(NodeIndex(at as u32))
    }

    /// Nodes whose id begins with these hex digits; none for what is no hex.
    pub fn find_prefix(&self, hex: &str) -> impl Iterator<Item = NodeIndex> + use<> {
        let range = self.prefix_range(hex).unwrap_or(0..0);
        range.map(NodeIndex)
    }

    fn prefix_range(&self, hex: &str) -> Option<std::ops::Range<u32>> {
        if hex.len() > 64 {
            return None;
        }
        let low = Hash::from_hex(&format!("{hex:0<64}"))?;
        let high = Hash::from_hex(&format!("{hex:f<64}"))?;
        let from = self.nodes().partition_point(|it| it.id < low.0);
        let to = self.nodes().partition_point(|it| it.id <= high.0);
        Some(from as u32..to as u32)
    }

    /// All edges, by source.
    pub(crate) fn all_edges(&self) -> &[EdgeRecord] {
        self.section(3)
    }

    /// Places of all nodes, in the order of their symbols' rows.
    pub(crate) fn by_symbol(&self) -> &[u32] {
        self.section(1)
    }

    /// The node of a symbol's row.
    pub fn of_sym(&self, sym: u32) -> Option<NodeIndex> {
        let order = self.by_symbol();
        let nodes = self.nodes();
        let at = order.binary_search_by_key(&sym, |&it| nodes[it as usize].sym).ok()?;
        Some(NodeIndex(order[at]))
    }

    #[inline]
    fn edges_of(&self, offsets: usize, at: NodeIndex) -> &[EdgeRecord] {
        let starts: &[u32] = self.section(offsets);
        let edges: &[EdgeRecord] = self.section(offsets + 1);
        &edges[starts[at.index()] as usize..starts[at.index() + 1] as usize]
    }

    #[inline]
    fn section<T: Pod>(&self, number: usize) -> &[T] {
        let from = self.header.offsets[number] as usize;
        let length = size_of::<T>() * self.section_items(number) as usize;
        bytemuck::cast_slice(&self.all_bytes()[from..from + length])
    }

    #[inline]
    fn section_items(&self, number: usize) -> u64 {
        section_items(number, self.header.n_nodes, self.header.n_edges)
    }

    #[inline]
    pub(crate) fn all_bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// The checksum finds accidents; this finds files that were never whole, so that no access can go astray.
    fn check_contents(&self) -> Result<()> {
        if checksum_of(self.all_bytes()) != self.header.checksum {
            return Err(Error::Damaged("its checksum does not hold"));
        }
        let n_nodes = self.n_nodes();
        let nodes = self.nodes();
        if nodes.iter().any(|it| NodeKind::from_id(it.kind).is_none()) {
            return Err(Error::Damaged("it has a node of an unknown kind"));
        }
        let order: &[u32] = self.section(1);
        if order.iter().any(|&it| it as usize >= n_nodes) {
            return Err(Error::Damaged("its order by symbol leads out of it"));
        }
        for offsets in [2, 4] {
            let starts: &[u32] = self.section(offsets);
            let edges: &[EdgeRecord] = self.section(offsets + 1);
            let ends_fit =
                starts.first() == Some(&0) && starts.last().map(|&it| it as usize) == Some(edges.len());
            if !ends_fit || starts.windows(2).any(|pair| pair[0] > pair[1]) {
                return Err(Error::Damaged("its edges are not in their nodes' order"));
            }
            let unfit = |it: &EdgeRecord| {
                it.other as usize >= n_nodes
                    || EdgeKind::from_id(it.kind).is_none()
                    || Provenance::from_id(it.provenance).is_none()
            };
            if edges.iter().any(unfit) {
                return Err(Error::Damaged("it has an edge that fits no table"));
            }
        }
        Ok(())
    }
}

impl Bytes {
    #[inline]
    fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Built(words) => bytemuck::cast_slice(words),
            Bytes::Mapped(map) => map,
        }
    }
}

fn of_kind(edges: &[EdgeRecord], kind: EdgeKind) -> &[EdgeRecord] {
    let from = edges.partition_point(|it| it.kind < kind.id());
    let to = edges.partition_point(|it| it.kind <= kind.id());
    &edges[from..to]
}

#[expect(unsafe_code, reason = "mapping a file is unsafe by nature")]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: images are written under a temporary name, renamed and never changed in place; nobody but us writes in
    // their directory.
    unsafe { Mmap::map(file) }
}
