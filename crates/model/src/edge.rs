//! Edges, the call sites that became none, and the unit that holds what one file version says.

use smallvec::SmallVec;

use crate::edge_kind::EdgeKind;
use crate::node::Node;
use crate::provenance::Provenance;
use crate::span::Position;

/// One version of a relation. `source` and `target` are positions in a list of `Symbol`s.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    pub source: u32,
    pub target: u32,
    pub kind: EdgeKind,
    pub provenance: Provenance,
    pub confidence_bp: u16,
    /// The first `MAX_SITES` places, in order, in the file of the unit.
    pub sites: Sites,
    /// How many there are in truth.
    pub n_sites: u32,
}

/// Places of an edge. Most edges have one or two, which then need no memory of their own: the highest need of memory
/// of an index run over kafka falls from 880 to 853 MiB.
pub type Sites = SmallVec<[Position; 2]>;

/// Places kept with an edge.
pub const MAX_SITES: usize = 16;

/// A call that yields no edge, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unresolved {
    pub source: u32,
    pub name: String,
    /// Text of the receiver, at most 80 bytes.
    pub receiver: String,
    pub n_arguments: u8,
    pub position: Position,
    pub reason: Reason,
    /// At most five, when ambiguous.
    pub candidates: Vec<u32>,
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $id:literal $variant:ident $name:literal;)*) => {
        /// Why a call site has no edge.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Reason {
            $($(#[$doc])* $variant = $id,)*
        }

        impl Reason {
            pub const ALL: &[Reason] = &[$(Reason::$variant,)*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Reason::$variant => $name,)*
                }
            }
        }
    };
}

reasons! {
    /// The type of the receiver could not be inferred.
    1 ReceiverUnknown "receiver_unknown";
    /// Two or more candidates.
    2 Ambiguous "ambiguous";
    /// A call through a value, reflection, a computed name.
    3 Dynamic "dynamic";
    /// Inside an unexpanded macro body.
    4 Macro "macro";
    /// The receiver is what an external call gave.
    5 ExternalResult "external_result";
    /// Declared nowhere in the repository nor in known externals.
    6 NotFound "not_found";
}

impl Reason {
    pub fn id(self) -> u8 {
        self as u8
    }

    pub fn from_id(id: u8) -> Option<Reason> {
        Reason::ALL.get(usize::from(id).checked_sub(1)?).copied()
    }
}

/// Whether a unit holds what a file says by itself or what follows from the whole snapshot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum UnitLayer {
    Resolved = 1,
    Derived = 2,
}

/// All rows that one file version gives in one snapshot. Rows that have no file (package nodes) are a unit of their own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unit {
    /// Position in the list of files; none for what has no file.
    pub file: Option<u32>,
    pub layer: UnitLayer,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    pub unresolved: Vec<Unresolved>,
}
