//! Routes and owners as text for people.

use std::io::{self, Write};

use knowing_ops::{OwnersReply, RoutesReply};

use crate::render::{more, staleness};
use crate::style::Style;

pub(crate) fn routes(it: &RoutesReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    let width = it.routes.iter().map(|it| it.method.len()).max().unwrap_or_default();
    for route in &it.routes {
        let handlers: Vec<&str> = route.handlers.iter().map(|it| it.short_name()).collect();
        let handler = if handlers.is_empty() { "-".to_owned() } else { handlers.join(", ") };
        let place = route.route.location().unwrap_or_default();
        writeln!(
            output,
            "{:<width$} {} -> {} {}",
            style.plain(&route.method),
            style.bold(&style.plain(&route.pattern)),
            style.plain(&handler),
            style.dim(&place)
        )?;
        for caller in &route.callers {
            let place = caller.location().unwrap_or_default();
            writeln!(
                output,
                "{:<width$}   called by {} {}",
                "",
                style.plain(caller.short_name()),
                style.dim(&place)
            )?;
        }
        for caller in &route.callers_elsewhere {
            let place = format!("{} {}", caller.repo, caller.location.as_deref().unwrap_or_default());
            let symbol = caller.symbol.split_once("://").map_or(caller.symbol.as_str(), |it| it.1);
            let (symbol, place) = (style.plain(symbol), style.dim(place.trim_end()));
            writeln!(output, "{:<width$}   called from another repository by {symbol} {place}", "")?;
        }
    }
    more(it.routes.len(), it.total, "routes", output)?;
    let computed = match it.n_computed {
        0 => String::new(),
        n => format!(" (plus {n} with a computed pattern)"),
    };
    writeln!(output, "routes: {}{computed}", it.total)?;
    staleness(&it.tree, style, output)
}

pub(crate) fn owners(it: &OwnersReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    let rule = it.rule.as_ref().map(|it| style.dim(&format!(" {it}"))).unwrap_or_default();
    let owners = if it.owners.is_empty() { "nobody".to_owned() } else { it.owners.join(" ") };
    writeln!(output, "{}: {}{rule}", style.plain(&it.file), style.plain(&owners))?;
    staleness(&it.tree, style, output)
}
