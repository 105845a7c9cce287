//! Dockerfiles: stages, the images they are made from, what they run.

use knowing_model::facts::LinkEnd;
use knowing_model::{EdgeKind, NodeKind, Position};

use super::{Format, Sheet};

pub(crate) const DOCKERFILE: Format = Format {
    name: "dockerfile",
    accepts: |_, name| {
        let lower = name.to_ascii_lowercase();
        name == "Containerfile"
            || lower.starts_with("dockerfile")
                && !lower.ends_with(".dockerignore")
                && !has_code_ending(&lower)
            || lower.ends_with(".dockerfile")
    },
    takes: &["Dockerfile*", "*.dockerfile", "Containerfile"],
    read,
};

/// `dockerfile_parser.py` is no Dockerfile.
fn has_code_ending(name: &str) -> bool {
    [
        ".py", ".go", ".js", ".ts", ".rs", ".rb", ".java", ".md", ".txt", ".json", ".yml", ".yaml", ".sh",
        ".html",
    ]
    .iter()
    .any(|it| name.ends_with(it))
}

fn read(sheet: &mut Sheet<'_>) {
    let text = sheet.text;
    let mut stages: Vec<(String, knowing_model::facts::DeclId)> = Vec::new();
    let mut current: LinkEnd = LinkEnd::File;
    let mut heredocs: Vec<String> = Vec::new();
    let mut pending: Option<(u32, String)> = None;
    for (number, line) in (1_u32..).zip(text.lines()) {
        if let Some(end) = heredocs.first() {
            if line.trim() == end.as_str() {
                heredocs.remove(0);
            }
            continue;
        }
        let trimmed = line.trim();
        if trimmed.starts_with('#') || trimmed.is_empty() {
            continue;
        }
        let (first, mut whole) = pending.take().unwrap_or_else(|| (number, String::new()));
        match trimmed.strip_suffix('\\').or_else(|| trimmed.strip_suffix('`')) {
            Some(part) => {
                whole.push_str(part);
                whole.push(' ');
                pending = Some((first, whole));
                continue;
            }
            None => whole.push_str(trimmed),
        }
        for mark in whole.split("<<").skip(1) {
            let name: String = mark
                .trim_start_matches(['-', '"', '\''])
                .chars()
                .take_while(|it| it.is_ascii_alphanumeric() || *it == '_')
                .collect();
            if !name.is_empty() && whole.to_ascii_uppercase().starts_with(['R', 'C', 'A']) {
                heredocs.push(name);
            }
        }
        instruction(sheet, &whole, first, &mut stages, &mut current);
    }
    if !heredocs.is_empty() {
        sheet.partial(sheet.facts.n_lines.max(1));
    }
}

fn instruction(
    sheet: &mut Sheet<'_>,
    line: &str,
    number: u32,
    stages: &mut Vec<(String, knowing_model::facts::DeclId)>,
    current: &mut LinkEnd,
) {
    let position = Position { line: number, column: 0 };
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match word.to_ascii_uppercase().as_str() {
        "FROM" => {
            let words: Vec<&str> = rest.split_whitespace().filter(|it| !it.starts_with("--")).collect();
            let Some(image) = words.first().copied() else {
                sheet.partial(number);
                return;
            };
            let named =
                (words.len() >= 3 && words[1].eq_ignore_ascii_case("as")).then(|| words[2].to_owned());
            let name = named.unwrap_or_else(|| format!("stage{}", stages.len()));
            let Some(decl) =
                sheet.declare(NodeKind::Target, &name, position, number, &format!("FROM {rest}"))
            else {
                return;
            };
            *current = LinkEnd::Decl(decl);
            let to = match stages.iter().find(|it| it.0 == image) {
                Some((_, stage)) => LinkEnd::Decl(*stage),
                None => sheet.outside(NodeKind::Image, "", image),
            };
            sheet.link(*current, EdgeKind::DependsOn, to, position);
            stages.push((name, decl));
        }
        "COPY" | "ADD" => {
            if let Some(from) = rest.split_whitespace().find_map(|it| it.strip_prefix("--from=")) {
                let stage =
                    stages.iter().find(|it| it.0 == from).or_else(|| stages.get(from.parse::<usize>().ok()?));
                let to = match stage {
                    Some((_, stage)) => LinkEnd::Decl(*stage),
                    None => sheet.outside(NodeKind::Image, "", from),
                };
                sheet.link(*current, EdgeKind::DependsOn, to, position);
            }
        }
        "ARG" | "ENV" => {
            let words = if rest.contains('=') { rest.split_whitespace().collect() } else { vec![rest] };
            for it in words {
                let name = it.split(['=', ' ']).next().unwrap_or_default();
                let is_name =
                    !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
                if is_name {
                    // The name alone: what it is set to may be a secret.
                    let decl =
                        sheet.declare(NodeKind::Var, name, position, number, &format!("{word} {name}"));
                    if let (Some(decl), true) = (decl, word.eq_ignore_ascii_case("ENV")) {
                        let to = sheet.outside(NodeKind::EnvVar, "", name);
                        sheet.link(LinkEnd::Decl(decl), EdgeKind::Configures, to, position);
                    }
                }
            }
        }
        "ENTRYPOINT" | "CMD" => {
            let command = match rest.strip_prefix('[') {
                Some(list) => list
                    .trim_end_matches(']')
                    .split(',')
                    .next()
                    .unwrap_or_default()
                    .trim()
                    .trim_matches(['"', '\''])
                    .to_owned(),
                None => rest.to_owned(),
            };
            sheet.processes(*current, &command, position);
        }
        "RUN" => {
            let command: Vec<&str> = rest.split_whitespace().skip_while(|it| it.starts_with("--")).collect();
            sheet.processes(*current, &command.join(" "), position);
        }
        "WORKDIR" | "EXPOSE" | "LABEL" | "USER" | "VOLUME" | "SHELL" | "STOPSIGNAL" | "HEALTHCHECK"
        | "ONBUILD" | "MAINTAINER" | "CROSS_BUILD" => {}
        _ => sheet.partial(number),
    }
}
