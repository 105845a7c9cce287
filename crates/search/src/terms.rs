//! Term vectors of the fields of one file that follow from its bytes: made once while it is parsed, stored with it.

use std::cell::RefCell;
use std::ops::Range;

use knowing_model::NodeKind;
use zstd::bulk::{Compressor, Decompressor};

use crate::fields::Field;
use crate::varint;

/// The documents of one file. Terms are numbered in order of first use.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileTerms {
    pub(crate) texts: String,
    pub(crate) ends: Vec<u32>,
    /// Symbol paths of the documents, one behind the other.
    pub(crate) symbols: String,
    pub(crate) documents: Vec<Document>,
    /// Entries of all fields of all documents, in their order.
    pub(crate) entries: Vec<Entry>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Document {
    /// Where its symbol path stands.
    pub(crate) symbol: (u32, u32),
    pub(crate) kind: NodeKind,
    /// Where the entries of each content field end; the first begins at `from`.
    pub(crate) from: u32,
    pub(crate) ends: [u32; N_CONTENT],
}

/// A term of the file and how often it occurs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) term: u32,
    pub(crate) count: u32,
}

pub(crate) const N_CONTENT: usize = Field::OF_CONTENT.len();

/// One document of a file, without what joins when an image is built.
#[derive(Clone, Copy)]
pub struct DocumentTerms<'a> {
    file: &'a FileTerms,
    document: &'a Document,
}

impl FileTerms {
    /// The file's own top level first, then declarations in source order.
    pub fn documents(&self) -> impl Iterator<Item = DocumentTerms<'_>> {
        self.documents.iter().map(|document| DocumentTerms { file: self, document })
    }

    pub(crate) fn n_terms(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn term(&self, number: u32) -> &str {
        let number = number as usize;
        let from = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.texts[from as usize..self.ends[number] as usize]
    }

    fn symbol(&self, document: &Document) -> &str {
        &self.symbols[document.symbol.0 as usize..document.symbol.1 as usize]
    }

    /// Adds a symbol path, and says where it stands.
    pub(crate) fn push_symbol(&mut self, path: &str) -> (u32, u32) {
        let from = self.symbols.len() as u32;
        self.symbols.push_str(path);
        (from, self.symbols.len() as u32)
    }

    pub fn encode(&self) -> Vec<u8> {
        PLAIN.with_borrow_mut(|plain| {
            plain.clear();
            self.write(plain);
            packed(plain)
        })
    }

    fn write(&self, plain: &mut Vec<u8>) {
        write_length(plain, self.ends.len());
        let mut from = 0;
        for &end in &self.ends {
            varint::write(plain, end - from);
            from = end;
        }
        plain.extend_from_slice(self.texts.as_bytes());
        write_length(plain, self.documents.len());
        for document in &self.documents {
            let symbol = self.symbol(document);
            write_length(plain, symbol.len());
            plain.extend_from_slice(symbol.as_bytes());
            plain.push(document.kind.id());
            for field in 0..N_CONTENT {
                let entries = &self.entries[document.range(field)];
                write_length(plain, entries.len());
                for it in entries {
                    // Numbers of terms have a bit to spare: a file has fewer than 2^31.
                    varint::write(plain, it.term << 1 | u32::from(it.count > 1));
                    if it.count > 1 {
                        varint::write(plain, it.count);
                    }
                }
            }
        }
    }

    /// None for what `encode` did not write.
    pub fn decode(bytes: &[u8]) -> Option<FileTerms> {
        let mut at = 0;
        let length = varint::read(bytes, &mut at)? as usize;
        if length > MAX_PLAIN {
            return None;
        }
        let plain = unpacked(bytes.get(at..)?, length)?;
        Reader { bytes: &plain, at: 0 }.file()
    }
}

impl<'a> DocumentTerms<'a> {
    /// `Decl::path`; empty for the file's own top level.
    pub fn symbol(&self) -> &'a str {
        self.file.symbol(self.document)
    }

    /// `NodeKind::File` for the file's own top level.
    pub fn kind(&self) -> NodeKind {
        self.document.kind
    }

    /// Terms of a field and how often they occur; nothing for fields that do not follow from the file.
    pub fn field(&self, field: Field) -> impl Iterator<Item = (&'a str, u32)> + use<'a> {
        let file = self.file;
        let place = Field::OF_CONTENT.iter().position(|&it| it == field);
        let range = place.map_or(0..0, |it| self.document.range(it));
        file.entries[range].iter().map(|it| (file.term(it.term), it.count))
    }

    pub(crate) fn entries(&self, content_field: usize) -> &'a [Entry] {
        &self.file.entries[self.document.range(content_field)]
    }
}

impl Document {
    fn range(&self, field: usize) -> Range<usize> {
        let from = if field == 0 { self.from } else { self.ends[field - 1] };
        from as usize..self.ends[field] as usize
    }
}

/// A file of the largest size that is read gives less.
const MAX_PLAIN: usize = 1 << 27;
/// Level 1: the vectors of a file are written once and read at every build of an image.
const LEVEL: i32 = 1;

thread_local! {
    // Contexts hold tables that are worth keeping: files are small and many.
    // The buffer beside it is as long as the longest frame could be.
    static COMPRESSOR: RefCell<Option<(Compressor<'static>, Vec<u8>)>> = const { RefCell::new(None) };
    static PLAIN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// The length, then one zstd frame.
fn packed(plain: &[u8]) -> Vec<u8> {
    COMPRESSOR.with_borrow_mut(|slot| {
        let (compressor, frame) = slot
            .get_or_insert_with(|| (Compressor::new(LEVEL).expect("the level is a valid one"), Vec::new()));
        frame.clear();
        frame.reserve(zstd::zstd_safe::compress_bound(plain.len()));
        compressor.compress_to_buffer(plain, frame).expect("the output has room for any input");
        let mut out = Vec::with_capacity(frame.len() + 5);
        write_length(&mut out, plain.len());
        out.extend_from_slice(frame);
        out
    })
}

fn unpacked(bytes: &[u8], length: usize) -> Option<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|slot| {
        let decompressor = match slot {
            Some(it) => it,
            None => slot.insert(Decompressor::new().ok()?),
        };
        let plain = decompressor.decompress(bytes, length).ok()?;
        (plain.len() == length).then_some(plain)
    })
}

fn write_length(out: &mut Vec<u8>, length: usize) {
    varint::write(out, u32::try_from(length).expect("the vectors of a file are shorter than 4 GiB"));
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    fn file(&mut self) -> Option<FileTerms> {
        let n_terms = self.count()?;
        let mut file = FileTerms { ends: Vec::with_capacity(n_terms), ..FileTerms::default() };
        let mut end = 0_u32;
        for _ in 0..n_terms {
            end = end.checked_add(self.number()?)?;
            file.ends.push(end);
        }
        file.texts = std::str::from_utf8(self.take(end as usize)?).ok()?.to_owned();
        if !file.ends.iter().all(|&it| file.texts.is_char_boundary(it as usize)) {
            return None;
        }
        let n_documents = self.count()?;
        file.documents.reserve(n_documents);
        for _ in 0..n_documents {
            let document = self.document(&mut file, n_terms)?;
            file.documents.push(document);
        }
        (self.at == self.bytes.len()).then_some(file)
    }

    fn document(&mut self, file: &mut FileTerms, n_terms: usize) -> Option<Document> {
        let length = self.count()?;
        let symbol = file.push_symbol(std::str::from_utf8(self.take(length)?).ok()?);
        let entries = &mut file.entries;
        let kind = NodeKind::from_id(*self.take(1)?.first()?)?;
        let from = u32::try_from(entries.len()).ok()?;
        let mut ends = [0; N_CONTENT];
        for end in &mut ends {
            for _ in 0..self.count()? {
                let code = self.number()?;
                let term = code >> 1;
                let count = if code & 1 == 1 { self.number()? } else { 1 };
                if term as usize >= n_terms || count == 0 {
                    return None;
                }
                entries.push(Entry { term, count });
            }
            *end = u32::try_from(entries.len()).ok()?;
        }
        Some(Document { symbol, kind, from, ends })
    }

    fn number(&mut self) -> Option<u32> {
        varint::read(self.bytes, &mut self.at)
    }

    /// How many things follow; each takes a byte or more, so that no damage can ask for more memory than that.
    fn count(&mut self) -> Option<usize> {
        let count = self.number()? as usize;
        (count <= self.bytes.len() - self.at).then_some(count)
    }

    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }
}
