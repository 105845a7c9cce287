//! How an edge is known, and how sure that is. Ids are stored and names are hashed: append, never renumber.

use std::ops::RangeInclusive;

macro_rules! provenances {
    ($($id:literal $variant:ident $name:literal $low:literal..=$high:literal $usual:literal $layer:ident $producer:literal;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Provenance {
            $(#[doc = $producer] $variant = $id,)*
        }

        impl Provenance {
            pub const ALL: &[Provenance] = &[$(Provenance::$variant,)*];

            fn row(self) -> &'static Row {
                const ROWS: &[Row] = &[$(Row {
                    name: $name,
                    confidence: $low..=$high,
                    usual: $usual,
                    layer: Layer::$layer,
                    producer: $producer,
                },)*];
                &ROWS[self as usize - 1]
            }
        }
    };
}

struct Row {
    name: &'static str,
    confidence: RangeInclusive<u16>,
    usual: u16,
    layer: Layer,
    producer: &'static str,
}

// id, name, confidence in basis points (lowest..=highest, usual), layer, producer
provenances! {
    1 AstInferred "ast_inferred" 6000..=9000 7000 Base "syntax with one plausible target, or a recognised pattern (routes, flags, endpoints 0.60, env and process reads 0.90)";
    2 AstResolved "ast_resolved" 8500..=8500 8500 Base "names, imports, types and scopes agree on the target";
    3 LspResolved "lsp_resolved" 9000..=9000 9000 Enriched "language server";
    4 OtelTrace "otel_trace" 2000..=9500 2000 Observed "spans of traces";
    5 ScipResolved "scip_resolved" 9500..=9500 9500 Enriched "SCIP index";
    6 AccessLog "access_log" 2000..=9500 2000 Observed "HTTP access logs";
    7 Structural "structural" 10000..=10000 10000 Base "contains, member_of";
    8 Inheritance "inheritance" 9000..=9000 9000 Base "inherits";
    9 InterfacePropagation "interface_propagation" 9000..=9000 9000 Base "derived overrides";
    10 TypeHintPropagation "type_hint_propagation" 8000..=8000 8000 Base "hinted interface carried to its implementors";
    11 CoTestInference "co_test_inference" 6000..=6000 6000 Base "co_tested_with";
    12 Similarity "similarity" 5000..=10000 5000 Base "similar_to";
    13 Codeowners "codeowners" 10000..=10000 10000 Base "owned_by";
    14 GitBlame "git_blame" 10000..=10000 10000 Enriched "authored_by";
    15 GitHistory "git_history" 3000..=9000 3000 Enriched "changed_with: shared commits / min of both, cut to the range";
    16 DocMention "doc_mention" 6000..=8500 6000 Base "mentions, documents";
    17 Declared "declared" 10000..=10000 10000 Base "configuration and schema files that state the relation";
    18 Naming "naming" 6000..=6000 6000 Base "test-to-subject by file and name convention only";
}

/// What an edge depends on: the commit alone, tools too, or traffic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Layer {
    Base,
    Enriched,
    Observed,
}

impl Provenance {
    pub fn id(self) -> u8 {
        self as u8
    }

    pub fn from_id(id: u8) -> Option<Provenance> {
        Provenance::ALL.get(usize::from(id).checked_sub(1)?).copied()
    }

    pub fn name(self) -> &'static str {
        self.row().name
    }

    pub fn from_name(name: &str) -> Option<Provenance> {
        Provenance::ALL.iter().copied().find(|it| it.name() == name)
    }

    /// The confidence an edge of this provenance has unless its producer knows better, in basis points.
    pub fn usual_confidence(self) -> u16 {
        self.row().usual
    }

    /// The confidences that may be stated with this provenance, in basis points.
    pub fn confidences(self) -> RangeInclusive<u16> {
        self.row().confidence.clone()
    }

    pub fn layer(self) -> Layer {
        self.row().layer
    }

    pub fn producer(self) -> &'static str {
        self.row().producer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provenance_is_found_by_id_and_name() {
        assert_eq!(Provenance::ALL.len(), 18);
        for (row, &provenance) in Provenance::ALL.iter().enumerate() {
            assert_eq!(usize::from(provenance.id()), row + 1);
            assert_eq!(Provenance::from_id(provenance.id()), Some(provenance));
            assert_eq!(Provenance::from_name(provenance.name()), Some(provenance));
            assert!(provenance.confidences().contains(&provenance.usual_confidence()));
            assert!(*provenance.confidences().end() <= 10_000);
        }
    }
}
