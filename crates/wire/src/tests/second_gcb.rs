//! A second reader of GCB, from its table alone: it shares no code with the first.

use proptest::prelude::*;

use super::{answer, payload};
use crate::{Format, Payload, gcb};

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn varint(&mut self) -> usize {
        let byte = self.take(1)[0];
        let low = usize::from(byte & 127);
        if byte & 128 == 0 { low } else { low | self.varint() << 7 }
    }

    fn str(&mut self) -> &'a str {
        let count = self.varint();
        std::str::from_utf8(self.take(count)).unwrap()
    }

    fn f32(&mut self) -> f32 {
        f32::from_le_bytes(self.take(4).try_into().unwrap())
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take(2).try_into().unwrap())
    }
}

/// Bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    let mut crc = 0xffff_ffff_u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (0_u32.wrapping_sub(crc & 1)));
        }
    }
    !crc
}

fn check(payload: &Payload) {
    let encoded = gcb::encode(payload);
    let (body, sum) = encoded.split_at(encoded.len() - 4);
    assert_eq!(crc(body).to_le_bytes(), sum);
    let mut bytes = Bytes(body);
    assert_eq!(bytes.take(5), b"GCB1\x02");
    assert_eq!([bytes.str(), bytes.str(), bytes.str()], [&payload.tool, &payload.tree, &payload.repo]);
    assert_eq!(bytes.take(32), payload.snapshot.as_bytes());
    assert_eq!(bytes.take(32), payload.pack_root.map_or([0; 32], |it| it.0));
    assert_eq!([bytes.varint(), bytes.varint()], [payload.budget, payload.tokens]);
    assert_eq!([bytes.varint(), bytes.varint()], [payload.symbols.len(), payload.edges.len()]);
    let n_strings = bytes.varint();
    let strings: Vec<&str> = (0..n_strings).map(|_| bytes.str()).collect();
    let mut distinct = strings.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), strings.len());
    for symbol in &payload.symbols {
        assert_eq!(bytes.take(32), symbol.node_id.as_bytes());
        assert_eq!(bytes.str(), symbol.qualified_name);
        assert_eq!(bytes.take(1)[0], symbol.kind.id());
        assert_eq!(bytes.f32(), symbol.score as f32);
        assert_eq!(bytes.take(2), [symbol.provenance.id(), symbol.distance]);
        let flags = bytes.u16();
        for (bit, name) in ["test", "generated", "exported", "deprecated", "abstract"].iter().enumerate() {
            assert_eq!(flags >> bit & 1 == 1, symbol.flags.iter().any(|it| it == name));
        }
        assert_eq!(bytes.str(), symbol.signature.as_deref().unwrap_or_default());
        let file = bytes.varint();
        assert_eq!((file > 0).then(|| strings[file - 1]), symbol.file.as_deref());
        for number in [symbol.line, symbol.col, symbol.end_line, symbol.end_col, symbol.unresolved] {
            assert_eq!(bytes.varint(), number as usize);
        }
        for name in ["blast", "confidence", "recency", "distance"] {
            assert_eq!(bytes.f32(), symbol.components.get(name).copied().unwrap_or(0.0) as f32);
        }
    }
    for edge in &payload.edges {
        let (source, target) = (bytes.varint(), bytes.varint());
        assert_eq!(payload.symbols[source].node_id, edge.source);
        assert_eq!(payload.symbols[target].node_id, edge.target);
        assert_eq!(bytes.take(2), [edge.kind.id(), edge.provenance.id()]);
        assert_eq!((bytes.u16(), bytes.take(1)[0]), (edge.confidence_bp, edge.status as u8));
    }
    assert!(bytes.0.is_empty());
}

proptest! {
    #[test]
    fn w1_a_second_reader_of_gcb_reads_the_same(payload in payload()) {
        check(&payload);
    }
}

#[test]
fn edges_into_nowhere_are_left_out_and_counted() {
    let mut payload = answer();
    payload.symbols.pop();
    assert_eq!(gcb::n_left_out(&payload), 1);
    assert!(gcb::decode(&gcb::encode(&payload)).unwrap().edges.is_empty());
    assert_eq!(Format::Gcb.media_type(), "application/x-gcb");
}
