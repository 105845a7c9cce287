//! Names and places of the nodes of one snapshot, mapped from a file, so that ranking asks the database nothing.
//!
//! ```text
//! header | nodes | files | nodes by name | nodes by file | text
//! ```
//!
//! Nodes stand in the graph's order: the `n`-th here is the `n`-th there. Words are in the order of the machine that
//! wrote the file (it never leaves its machine); whatever does not fit is an error, and the caller builds it anew.

mod build;

use std::cmp::Ordering;
use std::path::Path;
use std::sync::OnceLock;

use bytemuck::{Pod, Zeroable};
use knowing_model::{ContainerClass, FileId, Hash, SnapshotId, checksum};
use rustc_hash::FxHashMap;

use crate::bytes::Bytes;
use crate::image::{Error, Result};

pub use build::NamePatch;

const MAGIC: [u8; 8] = *b"knownams";
/// Raise it when the layout changes: old files are then rebuilt.
const VERSION: u64 = 4;
const NO_FILE: u32 = u32::MAX;

/// A node as the database knows it, in the graph's order.
#[derive(Clone, Copy, Debug)]
pub struct NameInput<'a> {
    /// Last segment, without what tells overloads apart.
    pub name: &'a str,
    /// Owners and name joined with `.`; empty for files and packages.
    pub symbol: &'a str,
    /// What the symbol path is relative to: mostly the file's path.
    pub container: &'a str,
    pub class: ContainerClass,
    /// The file it stands in, by position in the list of files.
    pub file: Option<u32>,
    pub first_line: u32,
    pub last_line: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct FileInput<'a> {
    pub id: FileId,
    pub path: &'a str,
    pub language: &'a str,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct NodeName {
    text: u32,
    symbol_bytes: u32,
    name_bytes: u32,
    /// 0 when the container is the file.
    container_bytes: u32,
    file: u32,
    first_line: u32,
    last_line: u32,
    /// Nodes of the same terminal name, itself included.
    namesakes: u32,
    class: u32,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct FileName {
    id: [u8; 32],
    text: u32,
    path_bytes: u32,
    language_bytes: u32,
    /// Its nodes are `by_file[first..next.first]`.
    first: u32,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u64,
    snapshot: [u8; 32],
    n_nodes: u64,
    n_files: u64,
    n_placed: u64,
    text_bytes: u64,
    checksum: u64,
}

const HEADER: usize = size_of::<Header>();

/// A position in the list of files, which is sorted by path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileIndex(pub u32);

#[derive(Debug)]
pub struct Names {
    bytes: Bytes,
    header: Header,
    /// Where each section begins, and the end of the last.
    offsets: [usize; 6],
    /// Made when it is first asked for; a process that answers one task pays no more than for looking once.
    by_segment: OnceLock<FxHashMap<Box<str>, Vec<FileIndex>>>,
}

impl Names {
    /// Maps the names of `snapshot`.
    pub fn open(path: &Path, snapshot: SnapshotId) -> Result<Names> {
        let names = Names::checked(Bytes::open(path)?)?;
        if names.header.snapshot != *snapshot.as_bytes() {
            return Err(Error::Damaged("it is of another snapshot"));
        }
        Ok(names)
    }

    /// Writes under a temporary name and renames, so that a reader sees all of it or nothing.
    pub fn write(&self, path: &Path) -> Result<()> {
        Ok(self.bytes.write(path)?)
    }

    pub fn n_nodes(&self) -> usize {
        self.header.n_nodes as usize
    }

    pub fn n_files(&self) -> usize {
        self.header.n_files as usize
    }

    /// The terminal name of a node.
    pub fn name(&self, node: u32) -> &str {
        let record = self.node(node);
        self.text(record.text + record.symbol_bytes, record.name_bytes)
    }

    /// Owners and name, joined with `.`; empty for files.
    pub fn symbol(&self, node: u32) -> &str {
        let record = self.node(node);
        self.text(record.text, record.symbol_bytes)
    }

    /// How many nodes have its terminal name, in any ASCII case; itself included.
    pub fn n_namesakes(&self, node: u32) -> usize {
        self.node(node).namesakes as usize
    }

    /// What the symbol path is relative to.
    pub fn container(&self, node: u32) -> &str {
        let record = self.node(node);
        match record.container_bytes {
            0 if self.class(node) == ContainerClass::File => self.path_of(node),
            // The directory at the top has no name.
            0 => "",
            length => self.text(record.text + record.symbol_bytes + record.name_bytes, length),
        }
    }

    pub fn class(&self, node: u32) -> ContainerClass {
        ContainerClass::from_id(self.node(node).class as u8)
            .expect("classes are checked when an image is opened")
    }

    pub fn file(&self, node: u32) -> Option<FileIndex> {
        Some(self.node(node).file).filter(|&it| it != NO_FILE).map(FileIndex)
    }

    /// The path of the file a node stands in; empty for what has none.
    pub fn path_of(&self, node: u32) -> &str {
        self.file(node).map_or("", |it| self.path(it))
    }

    /// First and last line.
    pub fn lines(&self, node: u32) -> (u32, u32) {
        let record = self.node(node);
        (record.first_line, record.last_line)
    }

    pub fn path(&self, file: FileIndex) -> &str {
        let record = self.files()[file.0 as usize];
        self.text(record.text, record.path_bytes)
    }

    /// The version of a file.
    pub fn file_id(&self, file: FileIndex) -> FileId {
        FileId(Hash(self.files()[file.0 as usize].id))
    }

    pub fn language(&self, file: FileIndex) -> &str {
        let record = self.files()[file.0 as usize];
        self.text(record.text + record.path_bytes, record.language_bytes)
    }

    pub fn find_file(&self, path: &str) -> Option<FileIndex> {
        let at = self.files().binary_search_by(|it| self.text(it.text, it.path_bytes).cmp(path)).ok()?;
        Some(FileIndex(at as u32))
    }

    /// Files that have a word as a segment of their path (`a/word/b.py`, `a/word.py`) in any ASCII case, by path. `word` is
    /// in lower case.
    pub fn files_with_segment(&self, word: &str) -> &[FileIndex] {
        let by_segment = self.by_segment.get_or_init(|| {
            let mut by_segment: FxHashMap<Box<str>, Vec<FileIndex>> = FxHashMap::default();
            let mut lower = String::new();
            for file in (0..self.n_files() as u32).map(FileIndex) {
                for segment in self.path(file).split(['/', '.']) {
                    lower.clear();
                    lower.extend(segment.chars().map(|it| it.to_ascii_lowercase()));
                    let files = match by_segment.get_mut(lower.as_str()) {
                        Some(files) => files,
                        None => by_segment.entry(lower.as_str().into()).or_default(),
                    };
                    if files.last() != Some(&file) {
                        files.push(file);
                    }
                }
            }
            by_segment
        });
        by_segment.get(word).map_or(&[], Vec::as_slice)
    }

    /// Nodes of a file, outermost first in order of lines.
    pub fn in_file(&self, file: FileIndex) -> &[u32] {
        let files = self.files();
        let from = files[file.0 as usize].first as usize;
        let to = files.get(file.0 as usize + 1).map_or(self.header.n_placed as usize, |it| it.first as usize);
        &self.by_file()[from..to]
    }

    /// Nodes of this terminal name in any ASCII case, in the graph's order.
    pub fn named(&self, name: &str) -> &[u32] {
        self.range(|it| folded_order(it.as_bytes(), name.as_bytes()))
    }

    /// Nodes whose terminal name begins so, by name.
    pub fn with_prefix(&self, prefix: &str) -> &[u32] {
        let folded = |it: u8| it.to_ascii_lowercase();
        self.range(|it| it.bytes().take(prefix.len()).map(folded).cmp(prefix.bytes().map(folded)))
    }

    fn range(&self, order: impl Fn(&str) -> Ordering) -> &[u32] {
        let by_name = self.by_name();
        let from = by_name.partition_point(|&it| order(self.name(it)) == Ordering::Less);
        let rest = &by_name[from..];
        let is_equal = |it: &u32| order(self.name(*it)) == Ordering::Equal;
        // Few are equal: their end is looked for nearby first.
        let mut near = 1;
        while rest.get(near - 1).is_some_and(is_equal) {
            near *= 2;
        }
        &rest[..rest[..near.min(rest.len())].partition_point(is_equal)]
    }

    #[inline]
    fn node(&self, node: u32) -> NodeName {
        let from = HEADER + node as usize * size_of::<NodeName>();
        bytemuck::pod_read_unaligned(
            &self.bytes.as_slice()[..self.offsets[1]][from..][..size_of::<NodeName>()],
        )
    }

    fn files(&self) -> &[FileName] {
        self.section(1, self.header.n_files)
    }

    fn by_name(&self) -> &[u32] {
        self.section(2, self.header.n_nodes)
    }

    fn by_file(&self) -> &[u32] {
        self.section(3, self.header.n_placed)
    }

    #[inline]
    fn text(&self, from: u32, length: u32) -> &str {
        self.texts().get(from as usize..from as usize + length as usize).unwrap_or_default()
    }

    /// The texts of all nodes and files.
    #[inline]
    fn texts(&self) -> &str {
        let bytes = self.section(4, self.header.text_bytes);
        #[expect(unsafe_code, reason = "a name is asked for too often to look at its bytes each time")]
        // SAFETY: it was made of texts, or looked at when it was opened.
        unsafe {
            std::str::from_utf8_unchecked(bytes)
        }
    }

    #[inline]
    fn section<T: Pod>(&self, number: usize, n_items: u64) -> &[T] {
        let from = self.offsets[number];
        bytemuck::cast_slice(&self.bytes.as_slice()[from..from + size_of::<T>() * n_items as usize])
    }

    fn checked(bytes: Bytes) -> Result<Names> {
        let all = bytes.as_slice();
        let head = all.get(..HEADER).ok_or(Error::Damaged("it is shorter than its header"))?;
        let header: Header = bytemuck::pod_read_unaligned(head);
        if header.magic != MAGIC || header.version != VERSION {
            return Err(Error::Damaged("another version wrote it, or it is no list of names"));
        }
        let offsets = offsets(&header).filter(|it| it[5].next_multiple_of(8) == all.len());
        let offsets = offsets.ok_or(Error::Damaged("its length is not what its header states"))?;
        if checksum(&all[HEADER..]) != header.checksum {
            return Err(Error::Damaged("its checksum does not hold"));
        }
        if std::str::from_utf8(&all[offsets[4]..offsets[5]]).is_err() {
            return Err(Error::Damaged("its texts are none"));
        }
        let names = Names { header, offsets, bytes, by_segment: OnceLock::new() };
        let n_nodes = names.header.n_nodes;
        let fits = names.by_name().iter().chain(names.by_file()).all(|&it| u64::from(it) < n_nodes)
            && names.files().windows(2).all(|pair| pair[0].first <= pair[1].first)
            && names.files().iter().all(|it| u64::from(it.first) <= names.header.n_placed)
            && names.section::<NodeName>(0, n_nodes).iter().all(|it| {
                let is_class = u8::try_from(it.class).ok().and_then(ContainerClass::from_id).is_some();
                is_class && (it.file == NO_FILE || u64::from(it.file) < names.header.n_files)
            });
        if !fits {
            return Err(Error::Damaged("its lists lead out of it"));
        }
        Ok(names)
    }
}

/// ASCII letters are equal in any case.
fn folded_order(one: &[u8], other: &[u8]) -> Ordering {
    let folded = |it: &u8| it.to_ascii_lowercase();
    one.iter().map(folded).cmp(other.iter().map(folded))
}

/// Where each section begins, and the end of the last; none when that overflows.
fn offsets(header: &Header) -> Option<[usize; 6]> {
    let sizes = [
        (size_of::<NodeName>() as u64, header.n_nodes),
        (size_of::<FileName>() as u64, header.n_files),
        (4, header.n_nodes),
        (4, header.n_placed),
        (1, header.text_bytes),
    ];
    let mut offsets = [HEADER; 6];
    for (number, (size, count)) in sizes.into_iter().enumerate() {
        let length = usize::try_from(size.checked_mul(count)?).ok()?;
        offsets[number + 1] = offsets[number].checked_add(length)?;
    }
    Some(offsets)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNAPSHOT: SnapshotId = SnapshotId(Hash([7; 32]));

    fn node(symbol: &'static str, file: Option<u32>, first_line: u32, last_line: u32) -> NameInput<'static> {
        let name = symbol.rsplit('.').next().unwrap_or_default();
        let container = ["src/cart.py", "src/shop/cart.rs"].get(file.map_or(9, |it| it as usize));
        let class = if file.is_some() { ContainerClass::File } else { ContainerClass::Virtual };
        let container = container.copied().unwrap_or("os");
        NameInput { name, symbol, container, class, file, first_line, last_line }
    }

    fn drawn() -> Names {
        let nodes = [
            node("Cart.add", Some(0), 3, 4),
            node("open", None, 0, 0),
            node("Cart", Some(0), 1, 9),
            node("ADD", Some(1), 2, 2),
            node("address", Some(1), 5, 6),
        ];
        let file = |path, language| FileInput { id: FileId(Hash([1; 32])), path, language };
        let files = [file("src/cart.py", "python"), file("src/shop/cart.rs", "rust")];
        Names::build(SNAPSHOT, &nodes, &files).unwrap()
    }

    #[test]
    fn nodes_are_found_by_name_prefix_and_file() {
        let names = drawn();
        assert_eq!(names.named("add"), [0, 3]);
        assert_eq!(names.named("Add"), [0, 3]);
        assert_eq!(names.named("ad"), [0_u32; 0]);
        assert_eq!(names.with_prefix("ADD"), [0, 3, 4]);
        assert_eq!((names.n_namesakes(0), names.n_namesakes(4)), (2, 1));
        assert_eq!(names.in_file(FileIndex(0)), [2, 0], "outermost first");
        assert_eq!(names.find_file("src/shop/cart.rs"), Some(FileIndex(1)));
        assert_eq!(names.find_file("cart.rs"), None);
        assert_eq!(names.files_with_segment("cart"), [FileIndex(0), FileIndex(1)]);
        assert_eq!(names.files_with_segment("shop"), [FileIndex(1)]);
        assert_eq!(names.files_with_segment("sho"), [FileIndex(9); 0]);
    }

    #[test]
    fn g_patched_names_have_the_bytes_of_names_built_anew() {
        let words = ["add", "Add", "open", "address", "b", "ADD", "zeta", "alpha", "a"];
        let all: Vec<NameInput<'_>> =
            (0..60).map(|it| node(words[it * 7 % words.len()], Some((it % 2) as u32), 1, 2)).collect();
        let file = |path| FileInput { id: FileId(Hash([1; 32])), path, language: "python" };
        let files = [file("src/cart.py"), file("src/shop/cart.rs")];
        for step in 1..20_usize {
            let old: Vec<usize> = (0..all.len()).filter(|it| it * step % 5 != 1).collect();
            let new: Vec<usize> = (0..all.len()).filter(|it| it * step % 7 != 2).collect();
            let inputs = |of: &[usize]| of.iter().map(|it| all[*it]).collect::<Vec<_>>();
            let patches: Vec<NamePatch<'_>> = new
                .iter()
                .map(|it| match old.binary_search(it) {
                    Ok(before) => NamePatch::Kept { before: before as u32, file: all[*it].file },
                    Err(_) => NamePatch::New(all[*it]),
                })
                .collect();
            let built = Names::build(SNAPSHOT, &inputs(&new), &files).unwrap();
            let base = Names::build(SNAPSHOT, &inputs(&old), &files).unwrap();
            let patched = base.patched(SNAPSHOT, patches.into_iter(), &files).unwrap();
            assert_eq!(patched.bytes.as_slice(), built.bytes.as_slice(), "{step}");
        }
    }

    #[test]
    fn a_node_says_where_it_stands() {
        let names = drawn();
        assert_eq!((names.name(0), names.symbol(0), names.container(0)), ("add", "Cart.add", "src/cart.py"));
        assert_eq!((names.lines(0), names.path_of(0)), ((3, 4), "src/cart.py"));
        assert_eq!((names.file(1), names.path_of(1), names.container(1)), (None, "", "os"));
        assert_eq!(names.language(FileIndex(1)), "rust");
    }

    #[test]
    fn what_stands_in_the_directory_at_the_top_is_not_taken_for_part_of_its_file() {
        let at_top = |class| NameInput { container: "", class, ..node("Run", Some(0), 1, 2) };
        let file = FileInput { id: FileId(Hash([1; 32])), path: "run.go", language: "go" };
        let in_file = NameInput { container: "run.go", ..at_top(ContainerClass::File) };
        let names = Names::build(SNAPSHOT, &[at_top(ContainerClass::Dir), in_file], &[file]).unwrap();
        assert_eq!((names.container(0), names.container(1)), ("", "run.go"));
    }

    #[test]
    fn what_is_written_is_read_again_and_damage_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.names");
        drawn().write(&path).unwrap();
        assert_eq!(Names::open(&path, SNAPSHOT).unwrap().named("add"), [0, 3]);
        assert!(Names::open(&path, SnapshotId(Hash([8; 32]))).is_err());
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x10;
            std::fs::write(&path, &flipped).unwrap();
            assert!(Names::open(&path, SNAPSHOT).is_err(), "byte {at}");
            std::fs::write(&path, &whole[..at]).unwrap();
            assert!(Names::open(&path, SNAPSHOT).is_err(), "cut at {at}");
        }
    }
}
