//! The candidates of one run: each node once, with what every channel said of it.

use knowing_graph::NodeIndex;
use rustc_hash::FxHashMap;

use crate::params::ChannelParams;

macro_rules! channels {
    ($($variant:ident $name:literal $weight:literal;)*) => {
        /// A source of candidates; the table states its weight in the fusion.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Channel {
            $($variant,)*
        }

        impl Channel {
            pub const ALL: &[Channel] = &[$(Channel::$variant,)*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Channel::$variant => $name,)*
                }
            }

            /// What a place in its list is worth; 0: it brings candidates and has no say.
            pub fn weight(self) -> f64 {
                match self {
                    $(Channel::$variant => $weight,)*
                }
            }
        }
    };
}

channels! {
    Tiered "tiered" 2.0;
    Bm25 "bm25" 2.0;
    Equivalence "equivalence" 2.0;
    PathContext "path_context" 1.5;
    Subject "subject" 1.0;
    Body "body" 1.0;
    History "history" 1.0;
    Frames "frames" 2.0;
    Identifiers "identifiers" 2.0;
    Names "names" 0.0;
    Prose "prose" 0.0;
    Code "code" 0.0;
    Files "files" 0.0;
    Expansion "expansion" 0.0;
    Gap "gap" 0.0;
    Walk "walk" 0.0;
    Inflow "inflow" 0.0;
    Asked "asked" 0.0;
}

pub(crate) const N_CHANNELS: usize = 18;

/// A place in a channel's list.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Found {
    pub(crate) node: NodeIndex,
    /// 1 unless the channel says less.
    pub(crate) item: f64,
}

impl Found {
    pub(crate) fn plain(node: NodeIndex) -> Found {
        Found { node, item: 1.0 }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) node: NodeIndex,
    /// Rank in each channel, from 0, and the item's weight.
    pub(crate) places: [Option<(u32, f64)>; N_CHANNELS],
}

/// Candidates in the order they were first found.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    pub(crate) list: Vec<Candidate>,
    positions: FxHashMap<NodeIndex, usize>,
}

impl Candidates {
    /// Adds a channel's list, best first. A node that it names twice keeps its better place.
    pub(crate) fn add(&mut self, channel: Channel, found: impl IntoIterator<Item = Found>) {
        let mut rank = 0;
        for Found { node, item } in found {
            let position = *self.positions.entry(node).or_insert_with(|| {
                self.list.push(Candidate { node, places: [None; N_CHANNELS] });
                self.list.len() - 1
            });
            let place = &mut self.list[position].places[channel as usize];
            if place.is_none() {
                *place = Some((rank, item));
                rank += 1;
            }
        }
    }

    /// Keeps what passes, and of that the best by its places in all lists.
    pub(crate) fn settle(&mut self, params: &ChannelParams, keep: impl Fn(NodeIndex) -> bool) {
        self.list.retain(|it| keep(it.node));
        let priority = |it: &Candidate| {
            let places = it.places.iter().flatten();
            places.map(|(rank, item)| item / (params.rank_offset + f64::from(*rank) + 1.0)).sum::<f64>()
        };
        // A candidate is large: places are sorted, and what is kept is moved once.
        let mut order: Vec<(f64, NodeIndex, usize)> =
            self.list.iter().enumerate().map(|(at, it)| (priority(it), it.node, at)).collect();
        order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        order.truncate(params.max_candidates);
        self.list = order.into_iter().map(|(_, _, at)| self.list[at].clone()).collect();
        self.positions = self.list.iter().zip(0..).map(|(it, at)| (it.node, at)).collect();
    }
}
