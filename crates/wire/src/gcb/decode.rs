//! GCB, read: nothing is allocated for a count that the bytes cannot hold.

use knowing_model::{EdgeKind, Hash, NodeId, NodeKind, Provenance, SnapshotId};

use super::{COMPONENTS, FLAGS, MAGIC, MAX_COUNT, VERSION};
use crate::json::four_decimals::rounded;
use crate::payload::{Edge, Payload, Status, Symbol};
use crate::problem::{At, Problem};

type Result<T> = std::result::Result<T, Problem>;

/// What the format does not carry is empty; symbols are numbered in their order.
pub fn decode(bytes: &[u8]) -> Result<Payload> {
    let whole = |what: &str| Problem::new(At::Byte(0), what);
    if !bytes.starts_with(MAGIC) {
        return Err(whole("it does not begin with `GCB1`"));
    }
    match bytes.get(MAGIC.len()) {
        Some(&version) if version == VERSION => {}
        Some(version) => {
            let what = format!("its version is {version}, and {VERSION} is read");
            return Err(Problem::new(At::Byte(MAGIC.len()), what));
        }
        None => return Err(whole("it ends after its first word")),
    }
    let Some((body, crc)) = bytes.split_last_chunk::<4>().filter(|it| it.0.len() > MAGIC.len()) else {
        return Err(whole("it ends before its checksum"));
    };
    let mut input = Input { bytes: body, at: MAGIC.len() + 1 };
    let mut payload = header(&mut input)?;
    let n_symbols = input.count("symbols")?;
    let n_edges = input.count("edges")?;
    let n_strings = input.count("strings")?;
    let strings = input.list(n_strings, 1, Input::text)?;
    payload.symbols = input.list(n_symbols, SYMBOL_BYTES, |it| symbol(it, &strings))?;
    payload.symbols.iter_mut().zip(0..).for_each(|(it, id)| it.id = id);
    let ids: Vec<NodeId> = payload.symbols.iter().map(|it| it.node_id).collect();
    payload.edges = input.list(n_edges, EDGE_BYTES, |it| edge(it, &strings, &ids))?;
    if input.at < body.len() {
        return Err(input.fault(format!("{} bytes follow the last edge", body.len() - input.at)));
    }
    if crc32fast::hash(body) != u32::from_le_bytes(*crc) {
        return Err(Problem::new(At::Byte(body.len()), "the checksum is not that of the bytes before it"));
    }
    Ok(payload)
}

/// The least that a symbol and an edge take.
const SYMBOL_BYTES: usize = 64;
const EDGE_BYTES: usize = 7;

fn header(input: &mut Input<'_>) -> Result<Payload> {
    let (tool, tree, repo) = (input.text()?, input.text()?, input.text()?);
    let (snapshot, root) = (Hash(input.array()?), Hash(input.array()?));
    let (budget, tokens) = (input.number()?, input.number()?);
    Ok(Payload {
        tool,
        tree,
        snapshot: SnapshotId(snapshot),
        fresh: String::new(),
        budget: usize::try_from(budget).unwrap_or(usize::MAX),
        tokens: usize::try_from(tokens).unwrap_or(usize::MAX),
        pack_root: Some(root).filter(|it| it.0 != [0; 32]),
        repo,
        session: None,
        symbols: Vec::new(),
        edges: Vec::new(),
        notes: Vec::new(),
        unknown_files: Vec::new(),
        next_cursor: None,
        mentioned: Vec::new(),
    })
}

fn symbol(input: &mut Input<'_>, strings: &[String]) -> Result<Symbol> {
    let node_id = NodeId(Hash(input.array()?));
    let qualified_name = input.text()?;
    let kind = input.row(strings, "kind", NodeKind::from_id, NodeKind::from_name)?;
    let score = input.float()?;
    let provenance = input.row(strings, "provenance", Provenance::from_id, Provenance::from_name)?;
    let distance = input.byte()?;
    let bits = u16::from_le_bytes(input.array()?);
    let flags = FLAGS.iter().enumerate().filter(|it| bits & (1 << it.0) != 0).map(|it| (*it.1).to_owned());
    let flags = flags.collect();
    let signature = Some(input.text()?).filter(|it| !it.is_empty());
    let file = match input.number()? {
        0 => None,
        at => Some(input.string(strings, at - 1)?.to_owned()),
    };
    let mut numbers = [0; 5];
    for number in &mut numbers {
        let found = input.number()?;
        *number =
            u32::try_from(found).map_err(|_| input.fault(format!("`{found}` is too large a number")))?;
    }
    let [line, col, end_line, end_col, unresolved] = numbers;
    let mut components = std::collections::BTreeMap::new();
    for name in COMPONENTS {
        let value = input.float()?;
        if value != 0.0 {
            components.insert(name.to_owned(), value);
        }
    }
    Ok(Symbol {
        id: 0,
        node_id,
        name: last_segment(&qualified_name).to_owned(),
        qualified_name,
        kind,
        score,
        provenance,
        distance,
        signature,
        file,
        line,
        col,
        end_line,
        end_col,
        flags,
        unresolved,
        reasons: Vec::new(),
        components,
        source: None,
    })
}

fn edge(input: &mut Input<'_>, strings: &[String], ids: &[NodeId]) -> Result<Edge> {
    let mut end = || {
        let at = input.number()?;
        let id = usize::try_from(at).ok().and_then(|it| ids.get(it)).copied();
        id.ok_or_else(|| input.fault(format!("there is no symbol `{at}`")))
    };
    let (source, target) = (end()?, end()?);
    let kind = input.row(strings, "kind", EdgeKind::from_id, EdgeKind::from_name)?;
    let provenance = input.row(strings, "provenance", Provenance::from_id, Provenance::from_name)?;
    let confidence_bp = u16::from_le_bytes(input.array()?);
    if confidence_bp > 10_000 {
        return Err(input.fault(format!("the confidence `{confidence_bp}` is above 10000")));
    }
    let status = match input.byte()? {
        0 => Status::None,
        1 => Status::Added,
        2 => Status::Removed,
        other => return Err(input.fault(format!("`{other}` is no status"))),
    };
    Ok(Edge { source, target, kind, provenance, confidence_bp, status })
}

fn last_segment(qualified_name: &str) -> &str {
    let inside = qualified_name.split_once("://").map_or(qualified_name, |it| it.1);
    inside.rsplit(['.', '/', '#']).find(|it| !it.is_empty()).unwrap_or(inside)
}

struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    fn fault(&self, what: impl Into<String>) -> Problem {
        Problem::new(At::Byte(self.at), what)
    }

    fn take(&mut self, n_bytes: usize) -> Result<&'a [u8]> {
        let taken = self.bytes.get(self.at..).and_then(|it| it.get(..n_bytes));
        let taken = taken.ok_or_else(|| self.fault("it ends in the middle"))?;
        self.at += n_bytes;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.take(N)?.try_into().expect("as many were taken"))
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    fn number(&mut self) -> Result<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.fault("a number has more than 64 bits"))
    }

    fn count(&mut self, what: &str) -> Result<u64> {
        let count = self.number()?;
        if count > MAX_COUNT {
            return Err(self.fault(format!("{count} {what} are more than {MAX_COUNT}")));
        }
        Ok(count)
    }

    fn text(&mut self) -> Result<String> {
        let n_bytes = self.count("bytes of a text")?;
        let bytes = self.take(n_bytes as usize)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| self.fault("a text is not UTF-8"))
    }

    /// Room is made for no more than what is left can be.
    fn list<T>(
        &mut self,
        count: u64,
        least_bytes: usize,
        mut item: impl FnMut(&mut Input<'a>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let most = (self.bytes.len() - self.at) / least_bytes;
        if count as usize > most {
            return Err(self.fault(format!("{count} items cannot be in the bytes that are left")));
        }
        let mut items = Vec::with_capacity(count as usize);
        for _ in 0..count {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn string<'s>(&self, strings: &'s [String], at: u64) -> Result<&'s str> {
        let found = usize::try_from(at).ok().and_then(|it| strings.get(it));
        found.map(String::as_str).ok_or_else(|| self.fault(format!("there is no text `{at}`")))
    }

    /// By its id, or, where that is 0, by its name in the table of texts.
    fn row<T>(
        &mut self,
        strings: &[String],
        what: &str,
        by_id: impl Fn(u8) -> Option<T>,
        by_name: impl Fn(&str) -> Option<T>,
    ) -> Result<T> {
        match self.byte()? {
            0 => {
                let at = self.number()?;
                let name = self.string(strings, at)?;
                by_name(name).ok_or_else(|| self.fault(format!("the {what} `{name}` is in no table")))
            }
            id => by_id(id).ok_or_else(|| self.fault(format!("the {what} `{id}` is in no table"))),
        }
    }

    fn float(&mut self) -> Result<f64> {
        let value = f32::from_le_bytes(self.array()?);
        if !value.is_finite() {
            return Err(self.fault("a score is no number"));
        }
        Ok(rounded(f64::from(value)))
    }
}
