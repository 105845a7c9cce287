//! `.env` files: names alone. What they are set to is read over and never kept.

use knowing_model::facts::LinkEnd;
use knowing_model::{EdgeKind, NodeKind, Position};

use super::{Format, Sheet};

pub(crate) const DOTENV: Format = Format {
    name: "dotenv",
    accepts: |_, name| {
        name == ".env" || name.starts_with(".env.") && !name.ends_with(".ts") && !name.ends_with(".js")
    },
    takes: &[".env", ".env.*"],
    read,
};

fn read(sheet: &mut Sheet<'_>) {
    let mut open: Option<char> = None;
    for (number, line) in (1_u32..).zip(sheet.text.lines()) {
        if let Some(quote) = open {
            if line.contains(quote) {
                open = None;
            }
            continue;
        }
        let body = line.trim();
        if body.is_empty() || body.starts_with('#') {
            continue;
        }
        let body = body.strip_prefix("export ").unwrap_or(body);
        let Some((name, value)) = body.split_once('=') else {
            sheet.partial(number);
            continue;
        };
        let name = name.trim();
        if name.is_empty()
            || !name.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.' | b'-'))
        {
            sheet.partial(number);
            continue;
        }
        let value = value.trim_start();
        if let Some(quote) = value.chars().next().filter(|it| matches!(it, '"' | '\''))
            && !value[1..].contains(quote)
        {
            open = Some(quote);
        }
        let column = (line.len() - line.trim_start().len()) as u32;
        let position = Position { line: number, column };
        if let Some(decl) = sheet.declare(NodeKind::EnvVar, name, position, number, name) {
            let to = sheet.outside(NodeKind::EnvVar, "", name);
            sheet.link(LinkEnd::Decl(decl), EdgeKind::Configures, to, position);
        }
    }
}
