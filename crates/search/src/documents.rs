//! Which node of the graph a document is of, and the other way round. Both stand in the order of their ids: one walk over them
//! saves thousands of look-ups for each task.

use std::cmp::Ordering;

use crate::collection::Collection;
use crate::image::DocIndex;
use crate::searcher::Searcher as _;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Documents {
    nodes: Vec<u32>,
    documents: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Documents {
    /// `ids` are those of all nodes, ascending, as the graph of the same snapshot has them.
    pub fn new<'a>(
        collection: &Collection,
        ids: impl ExactSizeIterator<Item = &'a [u8; 32]> + Clone,
    ) -> Documents {
        let mut nodes = Vec::new();
        let mut documents = vec![NONE; ids.len()];
        for segment in collection.segments() {
            let mut rest = ids.clone().zip(0..).peekable();
            for id in segment.index.nodes() {
                while rest.next_if(|it| is_before(it.0, id)).is_some() {}
                nodes.push(rest.next_if(|it| it.0 == id).map_or(NONE, |it| it.1));
            }
            segment.removed.iter().for_each(|it| nodes[(segment.first + it) as usize] = NONE);
        }
        for (document, &node) in (0..).zip(&nodes) {
            if let Some(of_node) = documents.get_mut(node as usize) {
                *of_node = document;
            }
        }
        Documents { nodes, documents }
    }

    /// The node of a document, by its place in the graph.
    pub fn node(&self, document: DocIndex) -> Option<u32> {
        self.nodes.get(document.0 as usize).copied().filter(|&it| it != NONE)
    }

    /// The document of a node.
    pub fn of(&self, node: u32) -> Option<DocIndex> {
        self.documents.get(node as usize).copied().filter(|&it| it != NONE).map(DocIndex)
    }
}

/// As `<`; the first bytes nearly always tell.
fn is_before(one: &[u8; 32], other: &[u8; 32]) -> bool {
    let head = |it: &[u8; 32]| it.first_chunk().map(|it| u64::from_be_bytes(*it));
    match head(one).cmp(&head(other)) {
        Ordering::Equal => one < other,
        order => order.is_lt(),
    }
}
