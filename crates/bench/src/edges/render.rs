//! A comparison as text, and as a section of the published page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::compare::{Comparison, Finding, Judged, Recalled};

/// What was compared with what.
pub(crate) struct Subject {
    pub(crate) repository: String,
    pub(crate) commit: String,
    pub(crate) tool: String,
}

/// Cells of the page's first table.
pub(crate) fn row(it: &Comparison, subject: &Subject) -> String {
    let precision = |of: &BTreeMap<&'static str, Judged>, provenance: &str| {
        share(of.get(provenance).copied().unwrap_or_default().precision())
    };
    let mut all = Recalled::default();
    for recalled in it.reference_recall.values() {
        all.resolved += recalled.resolved;
        all.inferred += recalled.inferred;
        for (why, count) in &recalled.missed {
            *all.missed.entry(why).or_default() += count;
        }
    }
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        it.language,
        subject.repository,
        it.call_recall.all(),
        precision(&it.calls, "ast_resolved"),
        precision(&it.calls, "ast_inferred"),
        share(it.call_recall.recall().map(|it| it.1)),
        precision(&it.references, "ast_resolved"),
        precision(&it.references, "ast_inferred"),
        share(all.recall().map(|it| it.1)),
    )
}

pub(crate) const ROW_HEAD: &str = "\
| language | repository | calls of its own | precision, resolved | inferred | recall | references: precision, resolved | inferred | recall |
|---|---|---:|---:|---:|---:|---:|---:|---:|";

/// The section of one repository: figures, then what goes wrong most.
pub(crate) fn section(it: &Comparison, subject: &Subject, n_listed: usize) -> String {
    let mut text = String::new();
    let commit = subject.commit.get(..12).unwrap_or(&subject.commit);
    let _ = writeln!(
        text,
        "Commit `{commit}`, against {}; {} files that both sides know.\n",
        subject.tool, it.n_files
    );
    let n_sites: u64 = it.sites.values().sum();
    let parts: Vec<String> =
        it.sites.iter().map(|(what, count)| format!("{what} {} %", percent(*count, n_sites))).collect();
    let _ = writeln!(text, "Call sites: {n_sites}; {}.\n", parts.join(", "));
    text.push_str("| edges | right | wrong | precision | through a value | no truth |\n|---|---:|---:|---:|---:|---:|\n");
    let rows = it
        .calls
        .iter()
        .map(|(name, judged)| (format!("calls, {name}"), *judged))
        .chain([("calls, handed over".to_owned(), it.handed_over)])
        .chain(it.references.iter().map(|(name, judged)| (format!("references, {name}"), *judged)));
    for (name, judged) in rows {
        let Judged { right, wrong, through_value, no_truth } = judged;
        let precision = share(judged.precision());
        let _ = writeln!(text, "| {name} | {right} | {wrong} | {precision} | {through_value} | {no_truth} |");
    }
    text.push_str(
        "\n| in truth | found, resolved | found, inferred | recall | missed |\n|---|---:|---:|---:|---|\n",
    );
    let rows = [("calls", &it.call_recall)].into_iter().map(|(name, it)| (name.to_owned(), it));
    let rows = rows.chain(it.reference_recall.iter().map(|(name, it)| (format!("references to {name}"), it)));
    for (name, recalled) in rows {
        let missed: Vec<String> =
            recalled.missed.iter().map(|(why, count)| format!("{why} {count}")).collect();
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} |",
            recalled.resolved,
            recalled.inferred,
            share(recalled.recall().map(|it| it.1)),
            missed.join(", ")
        );
    }
    listed(&mut text, "Wrong", &it.wrong, n_listed);
    listed(&mut text, "Missed calls", &it.missed, n_listed);
    text
}

/// The subjects with the most findings, each with its first place.
fn listed(text: &mut String, title: &str, findings: &[Finding], n_listed: usize) {
    let mut groups: Vec<&[Finding]> = findings.chunk_by(|a, b| a.subject == b.subject).collect();
    groups.sort_by_key(|it| (std::cmp::Reverse(it.len()), &it[0]));
    if groups.is_empty() || n_listed == 0 {
        return;
    }
    let _ = writeln!(
        text,
        "\n{title}, most frequent first ({} of {} shown):\n",
        groups.len().min(n_listed),
        groups.len()
    );
    for group in groups.into_iter().take(n_listed) {
        let Finding { subject, why, path, position } = &group[0];
        let _ = writeln!(text, "- {} x `{subject}`: {why}; `{path}:{}`", group.len(), position.line);
    }
}

/// Every finding, one line each.
pub(crate) fn all(title: &str, findings: &[Finding]) -> String {
    let mut text = String::new();
    for Finding { subject, why, path, position } in findings {
        let _ = writeln!(text, "{title}\t{path}:{}:{}\t{subject}\t{why}", position.line, position.column);
    }
    text
}

fn share(it: Option<f64>) -> String {
    it.map_or_else(|| "-".to_owned(), |it| format!("{it:.3}"))
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1}", 100.0 * part as f64 / whole.max(1) as f64)
}
