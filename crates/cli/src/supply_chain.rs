//! An audit of a change as text: what is suspicious first, with where it stands and why.

use std::io::{self, Write};

use knowing_ops::{
    AuditFormat, AuditSupplyChainReply, AuditedFile, CapabilityPath, Finding, Operation, Verdict,
};

use crate::render::{after_repo, more, plural, staleness};
use crate::style::Style;

pub(crate) fn is_json(operation: &Operation) -> bool {
    matches!(operation, Operation::AuditSupplyChain(it) if it.format == AuditFormat::Json)
}

/// Files that are not suspicious, and paths, that a person reads without being asked for more.
const MAX_OTHERS: usize = 10;

pub(crate) fn audit(it: &AuditSupplyChainReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    let short = |commit: &str| commit.chars().take(12).collect::<String>();
    let since = it.base.as_deref().map(|it| format!(" since {}", short(it))).unwrap_or_default();
    writeln!(output, "{} at {}{since}", style.bold(&it.tree.repo), short(&it.head))?;
    let (audited, suspicious) = (it.audited, it.suspicious);
    writeln!(
        output,
        "{}: {audited} {} looked at, {suspicious} suspicious",
        verdict(it.verdict, style),
        plural(audited, "file")
    )?;
    for package in &it.packages {
        let (name, of) = (style.plain(&package.package), package.files);
        let verdict = verdict(package.verdict, style);
        writeln!(
            output,
            "  package {name}: {verdict}, {} of {of} {}",
            package.suspicious,
            plural(of, "file")
        )?;
    }
    let (suspicious, others): (Vec<&AuditedFile>, Vec<_>) =
        it.files.iter().partition(|it| it.verdict == Verdict::Suspicious);
    for file in &suspicious {
        writeln!(output)?;
        header(file, style, output)?;
        file.findings.iter().try_for_each(|it| finding(it, style, output))?;
    }
    more(suspicious.len(), it.suspicious, "suspicious files", output)?;
    if !others.is_empty() {
        writeln!(output, "\nnot suspicious, but able to do something:")?;
    }
    let shown = if style.verbose { others.len() } else { others.len().min(MAX_OTHERS) };
    for file in &others[..shown] {
        header(file, style, output)?;
        if style.verbose {
            file.findings.iter().try_for_each(|it| finding(it, style, output))?;
        }
    }
    more(shown, it.total.saturating_sub(it.suspicious), "files", output)?;
    if !it.paths.is_empty() {
        writeln!(output, "\npaths from the environment to a program or a host:")?;
    }
    let shown = if style.verbose { it.paths.len() } else { it.paths.len().min(MAX_OTHERS) };
    it.paths[..shown].iter().try_for_each(|it| path(it, style, output))?;
    more(shown, it.paths.len(), "paths", output)?;
    if !it.unread.is_empty() {
        writeln!(output, "\nchanged, and not looked at:")?;
    }
    let shown = if style.verbose { it.unread.len() } else { it.unread.len().min(MAX_OTHERS) };
    for file in &it.unread[..shown] {
        writeln!(output, "  {} {}", style.plain(&file.file), style.dim(&format!("({})", file.reason)))?;
    }
    more(shown, it.unread.len(), "files", output)?;
    staleness(&it.tree, style, output)
}

fn verdict(it: Verdict, style: Style) -> String {
    match it {
        Verdict::Clean => style.cyan(it.name()),
        Verdict::Review => style.yellow(it.name()),
        Verdict::Suspicious => style.red(it.name()),
    }
    .to_string()
}

fn header(it: &AuditedFile, style: Style, output: &mut dyn Write) -> io::Result<()> {
    let used = match it.inbound {
        0 => "used by no unchanged code".to_owned(),
        n => format!("used by {n} unchanged {}", plural(n, "symbol")),
    };
    let note = style.dim(&format!("({}, {used})", it.change));
    writeln!(output, "  {:.2} {} {note}", it.score, style.bold(&it.file))
}

fn finding(it: &Finding, style: Style, output: &mut dyn Write) -> io::Result<()> {
    let words = match it.kind {
        "reads_env" if it.what == "?" => "reads all of the environment, or",
        "reads_env" => "reads the variable",
        "executes_process" => "starts",
        "consumes_endpoint" => "talks to",
        "install_script" => "runs on installation:",
        _ => "turns text into code with",
    };
    let what =
        if it.what == "?" { "something computed".to_owned() } else { style.plain(&it.what).to_string() };
    let hidden = if it.hidden { ", hidden until then" } else { "" };
    let old = if it.is_new { "" } else { " (not touched by the change)" };
    writeln!(output, "       line {}: {words} {what}{hidden}{}", it.line, style.dim(old))
}

fn path(it: &CapabilityPath, style: Style, output: &mut dyn Write) -> io::Result<()> {
    let names: Vec<String> =
        it.steps.iter().map(|it| style.plain(&after_repo(&it.symbol)).to_string()).collect();
    writeln!(output, "  {}", names.join(" > "))
}
