//! Context, its reasons and its numbers as text for people.

use std::io::{self, Write};

use knowing_model::name::abridged;
use knowing_ops::{
    ContextOptions, DetailChoice, Error, ErrorKind, FormatChoice, Operation, PackReply, ParamsReply, WhyReply,
};

use crate::style::Style;

/// Symbols that a person reads when no number was given.
const FEW: usize = 20;
/// Features that say something, in the short form.
const N_FEATURES: usize = 12;

/// Whether a pack in JSON is asked for.
pub(crate) fn is_json(operation: &mut Operation) -> bool {
    options(operation).is_some_and(|it| it.format == Some(FormatChoice::Json))
}

/// Whether a pack is asked for, in whatever format.
pub(crate) fn is_pack(operation: &mut Operation) -> bool {
    options(operation).is_some()
}

fn options(operation: &mut Operation) -> Option<&mut ContextOptions> {
    match operation {
        Operation::Context(it) => Some(&mut it.options),
        Operation::ContextForTask(it) => Some(&mut it.options),
        Operation::ContextForFiles(it) => Some(&mut it.options),
        Operation::ContextForPr(it) => Some(&mut it.options),
        _ => None,
    }
}

/// What programs mean by `--json`.
pub(crate) fn for_programs(operation: &mut Operation) {
    if let Some(options) = options(operation) {
        options.format.get_or_insert(FormatChoice::Json);
    }
}

/// What people mean when they leave it unsaid: a screenful; and a budget counts what they see.
pub(crate) fn for_people(operation: &mut Operation) {
    if matches!(operation, Operation::Context(it) if it.tasks.is_some()) {
        return;
    }
    let Some(options) = options(operation) else { return };
    options.detail.get_or_insert(DetailChoice::Brief);
    if options.budget.is_some() && options.format.is_none() {
        options.format = Some(FormatChoice::Markdown);
    }
    if options.limit.is_none() && options.budget.is_none() && options.format.is_none() {
        options.limit = Some(FEW);
    }
    options.format.get_or_insert(FormatChoice::Json);
}

/// Bytes are for files and programs.
pub(crate) fn refuse_bytes_on_terminal(operation: &mut Operation) -> Result<(), Error> {
    match options(operation).and_then(|it| it.format) {
        Some(FormatChoice::Gcb) => Err(Error::new(
            ErrorKind::Usage,
            "`gcb` is binary, and this is a terminal",
            "send it to a file with `> pack.gcb`, and see what is in it with `knowing decode pack.gcb`",
        )),
        _ => Ok(()),
    }
}

pub(crate) fn pack(it: &PackReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    if let Some(text) = &it.text {
        return write!(output, "{text}");
    }
    if let Some(bytes) = &it.blob {
        return output.write_all(bytes);
    }
    let symbols = &it.pack.symbols;
    let width = |length: fn(&knowing_wire::Symbol) -> usize, most: usize| {
        symbols.iter().map(length).max().unwrap_or(0).min(most)
    };
    let kinds = width(|it| it.kind.name().len(), 12);
    let names = width(|it| abridged(it.short_name()).chars().count(), 44);
    let places = width(|it| it.location().unwrap_or_default().len(), 48);
    for symbol in symbols {
        let kind = format!("{:<kinds$}", symbol.kind.name());
        let name = format!("{:<names$}", abridged(symbol.short_name()));
        let place = format!("{:<places$}", symbol.location().unwrap_or_default());
        let line = format!(
            "{:.2} {} {} {} {}",
            symbol.score,
            style.cyan(&kind),
            style.bold(&name),
            style.dim(&place),
            style.plain(&symbol.reasons.join(", "))
        );
        writeln!(output, "{}", line.trim_end())?;
        if let Some(signature) = &symbol.signature {
            writeln!(output, "     {}", style.dim(signature))?;
        }
        for line in symbol.source.iter().flat_map(|it| it.lines()) {
            writeln!(output, "     {}", style.plain(line))?;
        }
    }
    if style.quiet {
        return Ok(());
    }
    let pack = &it.pack;
    let fresh = if pack.fresh == "yes" { String::new() } else { format!(", {}", pack.fresh) };
    let edges = pack.edges.len();
    let summary = format!(
        "{} symbols, {edges} edges between them; {} at {}{fresh}",
        symbols.len(),
        pack.repo,
        pack.tree
    );
    writeln!(output, "{}", style.dim(&summary))?;
    if let Some(cursor) = &pack.next_cursor {
        writeln!(output, "{} --cursor {cursor}", style.dim("next page:"))?;
    }
    for note in &pack.notes {
        writeln!(output, "{} {}", style.yellow("note:"), style.plain(note))?;
    }
    if !pack.unknown_files.is_empty() {
        let files = pack.unknown_files.join(", ");
        writeln!(output, "{} not in the snapshot: {}", style.yellow("note:"), style.plain(&files))?;
    }
    Ok(())
}

pub(crate) fn why(it: &WhyReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    let location = it.symbol.location().unwrap_or_default();
    writeln!(
        output,
        "{} {} {}",
        it.symbol.kind,
        style.bold(&abridged(it.symbol.short_name())),
        style.dim(&location)
    )?;
    match (it.rank, it.score) {
        (Some(rank), Some(score)) => {
            writeln!(
                output,
                "rank {rank} of {} candidates, score {score:.2} ({})",
                it.candidates, it.ranker
            )?;
        }
        _ => writeln!(output, "no candidate among {}", it.candidates)?,
    }
    if let Some(why_not) = &it.why_not {
        writeln!(output, "not in the answer: {why_not}")?;
    }
    if !it.reasons.is_empty() {
        writeln!(output, "because: {}", style.plain(&it.reasons.join(", ")))?;
    }
    if !it.channels.is_empty() {
        let places: Vec<String> = it.channels.iter().map(|it| format!("{} {}", it.name, it.rank)).collect();
        writeln!(output, "found by: {}", places.join(", "))?;
    }
    let hops = it.distance.map_or("not reached".to_owned(), |hops| format!("{hops} edges from a seed"));
    writeln!(output, "walk {:.3}, {hops}", it.walk)?;
    if !it.classes.is_empty() {
        writeln!(output, "concepts: {}", style.plain(&it.classes.join(", ")))?;
    }
    let shown = if style.verbose { it.features.len() } else { N_FEATURES };
    for part in it.features.iter().take(shown) {
        writeln!(output, "  {:<24} {:>10.4} {:>+10.4}", part.name, part.value, part.contribution)?;
    }
    if shown < it.features.len() {
        writeln!(output, "  ... and {} more features (--verbose)", it.features.len() - shown)?;
    }
    if it.ranker == "formula" {
        for (name, value) in &it.components {
            writeln!(output, "  {name:<24} {value:>10.4}")?;
        }
    }
    Ok(())
}

pub(crate) fn params(it: &ParamsReply, output: &mut dyn Write) -> io::Result<()> {
    for (group, numbers) in it.params.as_object().into_iter().flatten() {
        for (name, value) in numbers.as_object().into_iter().flatten() {
            writeln!(output, "{:<32} {value}", format!("{group}.{name}"))?;
        }
    }
    writeln!(output, "digest {}", it.digest)?;
    writeln!(output, "\nparts, for `--without`:")?;
    for part in &it.parts {
        writeln!(output, "  {:<16} {}", part.name, part.meaning)?;
    }
    Ok(())
}
