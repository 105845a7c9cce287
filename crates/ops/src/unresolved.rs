//! Calls that could not be resolved and may mean a symbol. Every answer about callers carries them, so that "no callers"
//! is never said of a symbol that may well have some.

use knowing_graph::NodeIndex;
use knowing_model::facts::{Decl, ParameterKind};
use knowing_store::UnresolvedRow;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Result;
use crate::view::View;

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UnresolvedSites {
    pub count: usize,
    /// The name that is called there; empty when they are calls of any name.
    pub name: String,
    /// The first few.
    pub sites: Vec<UnresolvedSite>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UnresolvedSite {
    /// The symbol that calls.
    pub source: String,
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub receiver: String,
    pub reason: &'static str,
    pub file: String,
    pub line: u32,
}

/// How many sites an answer shows.
const MAX_SAMPLE: usize = 10;

impl UnresolvedSites {
    /// Sites that may be calls of these nodes: same name, a fitting number of arguments, a language of one family.
    pub(crate) fn of(view: &View<'_>, nodes: &[NodeIndex]) -> Result<UnresolvedSites> {
        let name = view.symbol(nodes[0])?.symbol.name.to_string();
        let sites = UnresolvedSites::rows(view, nodes, &name)?;
        UnresolvedSites::sample(view, name, sites)
    }

    /// The symbols that make such calls of a node.
    pub(crate) fn callers_of(view: &View<'_>, node: NodeIndex) -> Result<Vec<NodeIndex>> {
        let name = view.symbol(node)?.symbol.name.to_string();
        let rows = UnresolvedSites::rows(view, &[node], &name)?;
        let mut callers: Vec<NodeIndex> =
            rows.iter().filter_map(|it| view.graph().of_sym(it.source)).collect();
        callers.sort_unstable();
        callers.dedup();
        Ok(callers)
    }

    fn rows(view: &View<'_>, nodes: &[NodeIndex], name: &str) -> Result<Vec<UnresolvedRow>> {
        let mut accepted = Vec::new();
        for &node in nodes {
            accepted.push((Arguments::of(view, node)?, view.info(node)?.language));
        }
        let mut sites = view.reader().unresolved_named(name)?;
        sites.retain(|site| {
            accepted.iter().any(|(arguments, language)| {
                let same_family = language.as_ref().is_none_or(|it| family(it) == family(&site.language));
                same_family && arguments.fit(site.n_arguments)
            })
        });
        Ok(sites)
    }

    /// Sites inside these nodes.
    pub(crate) fn inside(view: &View<'_>, nodes: &[NodeIndex]) -> Result<UnresolvedSites> {
        let mut sites = Vec::new();
        for &node in nodes {
            sites.extend(view.reader().unresolved_in(view.graph().node(node).node_row)?);
        }
        UnresolvedSites::sample(view, String::new(), sites)
    }

    fn sample(view: &View<'_>, name: String, mut rows: Vec<UnresolvedRow>) -> Result<UnresolvedSites> {
        rows.sort_by(|a, b| (&a.path, a.position, &a.name).cmp(&(&b.path, b.position, &b.name)));
        let mut sites = Vec::new();
        for row in rows.iter().take(MAX_SAMPLE) {
            sites.push(UnresolvedSite {
                source: view.reader().symbol(row.source)?.qualified_name(),
                name: row.name.clone(),
                receiver: row.receiver.clone(),
                reason: row.reason.name(),
                file: row.path.clone(),
                line: view.line(&row.path, row.position.line),
            });
        }
        Ok(UnresolvedSites { count: rows.len(), name, sites })
    }
}

/// How many arguments a callable takes.
struct Arguments {
    least: u32,
    most: u32,
}

impl Arguments {
    const ANY: Arguments = Arguments { least: 0, most: u32::MAX };

    /// From the facts of the node's file; anything fits what is not a declared callable.
    fn of(view: &View<'_>, node: NodeIndex) -> Result<Arguments> {
        let record = view.graph().node(node);
        if record.is_virtual() || !record.kind().is_callable() {
            return Ok(Arguments::ANY);
        }
        let symbol = view.symbol(node)?.symbol;
        let Some(facts) = view.facts_of(node)? else { return Ok(Arguments::ANY) };
        let decl =
            facts.decls.iter().find(|it| it.kind == symbol.kind && facts.text(it.path) == &*symbol.path);
        Ok(decl.map_or(Arguments::ANY, Arguments::of_decl))
    }

    fn of_decl(decl: &Decl) -> Arguments {
        let mut arguments = Arguments { least: 0, most: 0 };
        for parameter in &decl.parameters {
            match parameter.kind {
                // Given by the call's receiver, or first when the call goes through the type.
                ParameterKind::Receiver => arguments.most = arguments.most.saturating_add(1),
                ParameterKind::Rest | ParameterKind::KeywordRest => arguments.most = u32::MAX,
                ParameterKind::Plain | ParameterKind::KeywordOnly => {
                    arguments.least += u32::from(parameter.default.is_none());
                    arguments.most = arguments.most.saturating_add(1);
                }
            }
        }
        arguments
    }

    /// The greatest number is also what stands for "this or more".
    fn fit(&self, n_arguments: u8) -> bool {
        n_arguments == u8::MAX || (self.least..=self.most).contains(&u32::from(n_arguments))
    }
}

/// Languages that call each other's code by name.
fn family(language: &str) -> &str {
    match language {
        "typescript" | "tsx" | "jsx" => "javascript",
        "cpp" => "c",
        "kotlin" | "scala" => "java",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_arguments_must_fit() {
        let two_or_three = Arguments { least: 2, most: 3 };
        let fitting: Vec<u8> = (0..6).filter(|it| two_or_three.fit(*it)).collect();
        assert_eq!(fitting, [2, 3]);
        assert!(two_or_three.fit(u8::MAX), "spread arguments may be any number");
    }

    #[test]
    fn families_hold_languages_that_share_names() {
        assert_eq!(family("tsx"), family("javascript"));
        assert_ne!(family("python"), family("rust"));
    }
}
