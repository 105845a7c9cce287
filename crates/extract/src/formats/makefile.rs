//! Makefiles: targets, what they need, what they run.

use knowing_model::facts::{DeclId, LinkEnd};
use knowing_model::{EdgeKind, NodeKind, Position};
use rustc_hash::FxHashMap;

use super::{Format, Sheet};

pub(crate) const MAKEFILE: Format = Format {
    name: "make",
    accepts: |_, name| matches!(name, "Makefile" | "makefile" | "GNUmakefile") || name.ends_with(".mk"),
    takes: &["Makefile", "makefile", "GNUmakefile", "*.mk"],
    read,
};

fn read(sheet: &mut Sheet<'_>) {
    let text = sheet.text;
    let mut targets: FxHashMap<String, DeclId> = FxHashMap::default();
    let mut needs: Vec<(DeclId, Vec<String>, Position)> = Vec::new();
    let mut current: Option<DeclId> = None;
    let mut in_define: Option<u32> = None;
    let mut pending: Option<(u32, String)> = None;
    for (number, line) in (1_u32..).zip(text.lines()) {
        if in_define.is_some() {
            in_define = in_define.filter(|_| line.trim() != "endef");
            continue;
        }
        if let Some(recipe) = line.strip_prefix('\t') {
            if let Some(decl) = current {
                sheet.processes(LinkEnd::Decl(decl), recipe, Position { line: number, column: 1 });
            }
            continue;
        }
        let (first, mut whole) = pending.take().unwrap_or_else(|| (number, String::new()));
        let body = line.split(" #").next().unwrap_or_default();
        match body.strip_suffix('\\') {
            Some(part) => {
                whole.push_str(part);
                pending = Some((first, whole));
                continue;
            }
            None => whole.push_str(body),
        }
        let line = whole.trim_end();
        let position = Position { line: first, column: 0 };
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with("define ") {
            in_define = Some(first);
            continue;
        }
        let includes = ["include ", "-include ", "sinclude "].iter().find_map(|it| line.strip_prefix(it));
        if let Some(files) = includes {
            for file in files.split_whitespace().filter(|it| !it.contains(['$', '*'])) {
                if let Some(to) = sheet.path_end(file) {
                    sheet.link(LinkEnd::File, EdgeKind::Imports, to, position);
                }
            }
            continue;
        }
        let is_word = line.starts_with(|it: char| it.is_alphanumeric() || "._-$%/".contains(it));
        let assigned =
            line.find('=').filter(|at| !line[..*at].contains(':') || line[..*at].ends_with([':', '+', '?']));
        if let Some(at) = assigned.filter(|_| is_word) {
            let name = line[..at].trim_end_matches([':', '+', '?', '!', ' ']).trim();
            let name = name.strip_prefix("export ").or(name.strip_prefix("override ")).unwrap_or(name).trim();
            if !name.is_empty()
                && name.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'.'))
                && !targets.contains_key(name)
            {
                sheet.declare(NodeKind::Var, name, position, first, name);
            }
            current = None;
            continue;
        }
        if line.starts_with(':') {
            sheet.partial(first);
        }
        let Some((names, rest)) = line.split_once(':').filter(|_| is_word) else { continue };
        current = None;
        let rest = rest.trim_start_matches(':');
        let (wanted, command) = rest.split_once(';').unwrap_or((rest, ""));
        let wanted: Vec<String> = wanted
            .split_whitespace()
            .filter(|it| *it != "|" && !it.contains('$'))
            .map(str::to_owned)
            .collect();
        for name in names.split_whitespace().filter(|it| !it.contains(['$', '(']) && *it != ".PHONY") {
            let known = targets.get(name).copied();
            let decl = known.or_else(|| sheet.declare(NodeKind::Target, name, position, first, line));
            let Some(decl) = decl else { continue };
            if known.is_none() {
                targets.insert(name.to_owned(), decl);
            }
            needs.push((decl, wanted.clone(), position));
            current = Some(decl);
            if !command.is_empty() {
                sheet.processes(LinkEnd::Decl(decl), command, position);
            }
        }
    }
    if let Some(line) = in_define {
        sheet.partial(line);
    }
    for (decl, wanted, position) in needs {
        for name in wanted {
            match targets.get(&name) {
                Some(target) => {
                    sheet.link(LinkEnd::Decl(decl), EdgeKind::DependsOn, LinkEnd::Decl(*target), position)
                }
                None => {
                    if let Some(to) = sheet.path_end(&name) {
                        sheet.link(LinkEnd::Decl(decl), EdgeKind::DependsOn, to, position);
                    }
                }
            }
        }
    }
}
