//! What another program says of the names in a repository's files: which of them mean what.

use std::collections::BTreeMap;

use knowing_model::Position;

/// Mentions of symbols by file, and where the symbols stand.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    /// Who says so: `scip-go 0.2.9`, `read by eye`.
    pub(crate) tool: String,
    pub(crate) symbols: Vec<TruthSymbol>,
    /// Uses that are no definitions, by path, sorted by position.
    pub(crate) mentions: BTreeMap<String, Vec<Mention>>,
    /// Whether only some sites are listed, so that what is not listed says nothing.
    pub(crate) is_sample: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Mention {
    pub(crate) position: Position,
    /// Position in `Truth::symbols`.
    pub(crate) symbol: u32,
}

#[derive(Debug)]
pub(crate) struct TruthSymbol {
    pub(crate) name: String,
    pub(crate) shape: Shape,
    /// Where the repository defines it; empty when it is not the repository's.
    pub(crate) places: Vec<Place>,
}

/// Where a definition's name stands; hand-written truth knows the line alone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Place {
    pub(crate) path: String,
    pub(crate) line: u32,
    pub(crate) column: Option<u32>,
}

/// What kind of thing a symbol is, as far as its name tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    Callable,
    /// `<init>`, `__init__`, `constructor`.
    Constructor,
    Type,
    /// A variable, field, constant, parameter.
    Value,
    /// A package, namespace or module.
    Module,
    /// Known inside of one file only.
    Local,
    /// Whatever its definition turns out to be.
    Any,
}

impl Truth {
    pub(crate) fn symbol(&self, mention: Mention) -> &TruthSymbol {
        &self.symbols[mention.symbol as usize]
    }

    /// All mentions at one position; several when a name means several things there.
    pub(crate) fn at(&self, path: &str, position: Position) -> &[Mention] {
        let Some(all) = self.mentions.get(path) else { return &[] };
        let begin = all.partition_point(|it| it.position < position);
        let n = all[begin..].iter().take_while(|it| it.position == position).count();
        &all[begin..begin + n]
    }
}
