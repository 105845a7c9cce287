//! What an agent is told about the server as a whole.

/// Tools for daily work, and when to use them. A tool that is not built yet is not spoken of.
const CORE: &[(&str, &str)] = &[
    (
        "context_for_task",
        "begin here: the symbols that matter for a task, ranked and packed into a token budget",
    ),
    ("context_for_files", "what belongs to some files: their symbols and who uses them"),
    ("context_for_pr", "what to know for a review of a change"),
    ("graph_query", "find symbols by name, pattern or `path:line`, and the edges around them"),
    (
        "blast_radius",
        "what may break when a symbol changes, with paths, tests and calls that could not be resolved",
    ),
    ("flow_between", "how one symbol reaches another"),
    ("test_scope", "which tests to run"),
    ("feedback", "say which symbols helped"),
];

const BEFORE: &str = "\
knowing answers from a graph of the code: who calls, imports, extends and tests whom, each edge with how it is known and \
how sure that is. Ask it before searching text.\n";

const AFTER: &str = "\
Not indexed yet (`no_index`)? Call index_repo once. Every tool takes `repo`: a path, a url or the end of one; default the \
working directory. `fresh` says whether the answer is of the files as they are; `tree: \"working\"` takes in what is not committed. A symbol is a name, the end of a name (`Flask.run`), a \
node id or `path:line`; when several match, the error lists them. Lists are cut at `limit` and `max_tokens` (10000): \
`next_cursor` given as `cursor` lists what follows; `limit: 0` gives counts. `unresolved` are calls whose target is not known: no edge is no proof.";

pub(crate) fn is_core(name: &str) -> bool {
    CORE.iter().any(|it| it.0 == name)
}

/// At most 1,500 characters.
pub(crate) fn text(is_tool: impl Fn(&str) -> bool) -> String {
    let uses: String =
        CORE.iter().filter(|it| is_tool(it.0)).map(|(name, when)| format!("- {name}: {when}\n")).collect();
    format!("{BEFORE}{uses}{AFTER}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_short_and_speak_of_what_there_is() {
        assert!(text(|_| true).chars().count() <= 1500, "{}", text(|_| true).chars().count());
        assert!(!text(|it| it == "graph_query").contains("blast_radius"));
    }
}
