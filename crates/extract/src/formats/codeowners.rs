//! CODEOWNERS: who owns which paths. Which files that are is known when all paths are.

use knowing_model::Position;

use super::{Format, Sheet};

pub(crate) const CODEOWNERS: Format = Format {
    name: "codeowners",
    accepts: |directory, name| {
        name == "CODEOWNERS" && matches!(directory, "" | ".github" | ".gitlab" | "docs")
    },
    takes: &["CODEOWNERS", ".github/CODEOWNERS", ".gitlab/CODEOWNERS", "docs/CODEOWNERS"],
    read,
};

fn read(sheet: &mut Sheet<'_>) {
    for (number, line) in (1_u32..).zip(sheet.text.lines()) {
        let body = line.split(" #").next().unwrap_or_default().trim();
        if body.starts_with('[') && !body.contains(']') {
            sheet.partial(number);
            continue;
        }
        // Sections of GitLab say nothing of paths.
        if body.is_empty() || body.starts_with(['#', '[', '^']) {
            continue;
        }
        let body = body.replace("\\ ", "\u{0}");
        let mut words = body.split_whitespace();
        let pattern = words.next().unwrap_or_default().replace('\u{0}', " ");
        let owners: Vec<&str> = words.filter(|it| it.contains('@')).collect();
        // GitHub has neither negation nor ranges.
        if pattern.starts_with('!') || pattern.contains(['[', ']']) {
            sheet.partial(number);
            continue;
        }
        sheet.owner_rule(&pattern, &owners, Position { line: number, column: 0 });
    }
}
