//! Helm: charts, the values they are given; templates are read as Kubernetes.

use knowing_model::facts::{Decl, DeclId, LinkEnd};
use knowing_model::{EdgeKind, NodeKind, Position};

use super::Sheet;
use super::yaml::{Id, Yaml};

pub(super) fn may_be(sheet: &Sheet<'_>) -> bool {
    let name = sheet.path.rsplit('/').next().unwrap_or_default();
    name == "Chart.yaml" || name.starts_with("values.") || name.starts_with("values-")
}

pub(super) fn is_it(sheet: &Sheet<'_>, yaml: &Yaml, document: Id) -> bool {
    let name = sheet.path.rsplit('/').next().unwrap_or_default();
    name == "Chart.yaml" && yaml.get(document, "name").is_some()
        || (name == "values.yaml" || name.starts_with("values-") || name.starts_with("values."))
            && yaml.is_map(document)
}

pub(super) fn read(sheet: &mut Sheet<'_>, yaml: &Yaml, document: Id) {
    if !sheet.path.ends_with("Chart.yaml") {
        values(sheet, yaml, document);
        return;
    }
    let Some(name) = yaml.get(document, "name") else { return };
    let text = yaml.text(name).unwrap_or_default().to_owned();
    let version = yaml.text_at(document, &["version"]).unwrap_or_default();
    let signature = format!("chart {text} {version}");
    let Some(decl) =
        sheet.declare(NodeKind::Package, &text, yaml.position(name), yaml.last_line(document), &signature)
    else {
        return;
    };
    sheet.offer("helm-chart", &text, decl);
    for dependency in yaml.get(document, "dependencies").map(|it| yaml.list(it).to_vec()).unwrap_or_default()
    {
        let Some(name) = yaml.get(dependency, "name") else { continue };
        let text = yaml.text(name).unwrap_or_default();
        let repository = yaml.text_at(dependency, &["repository"]).unwrap_or_default();
        let to = match repository
            .strip_prefix("file://")
            .and_then(|it| sheet.relative(&format!("{it}/Chart.yaml")))
        {
            Some(path) => LinkEnd::Path(sheet.str(&path)),
            None => sheet.outside(NodeKind::External, &format!("helm/{text}"), ""),
        };
        sheet.link(LinkEnd::Decl(decl), EdgeKind::DependsOn, to, yaml.position(name));
    }
}

/// Names of values, two levels deep; what they are set to is not kept.
fn values(sheet: &mut Sheet<'_>, yaml: &Yaml, document: Id) {
    // Those of one place stand in for these, and are not what templates name.
    let space = format!("helm-values:{}", sheet.directory());
    let is_default = sheet.path.rsplit('/').next() == Some("values.yaml");
    let declared = |sheet: &mut Sheet<'_>, path: &str, position: Position, last: u32| {
        let decl = sheet.declare(NodeKind::Var, path, position, last, path);
        if let Some(decl) = decl.filter(|_| is_default) {
            sheet.offer(&space, path, decl);
        }
    };
    let pairs: Vec<(String, Id, Id)> =
        yaml.pairs(document).map(|(name, key, value)| (name.to_owned(), key, value)).collect();
    for (name, key, value) in pairs {
        let last = yaml.last_line(value);
        declared(sheet, &name, yaml.position(key), last);
        let inner: Vec<(String, Id)> =
            yaml.pairs(value).map(|(name, key, _)| (name.to_owned(), key)).collect();
        for (below, key) in inner {
            let path = format!("{name}.{below}");
            declared(sheet, &path, yaml.position(key), 0);
        }
    }
    if let Some(chart) = sheet.path_end("Chart.yaml") {
        sheet.link(LinkEnd::File, EdgeKind::Configures, chart, Position { line: 1, column: 0 });
    }
}

/// `{{ .Values.image.tag }}` in a template of a chart: what the chart's values are read by.
pub(super) fn read_values(sheet: &mut Sheet<'_>) {
    const MARK: &str = ".Values.";
    const MAX_NAMES: usize = 2_000;
    let chart = match sheet.path.rfind("/templates/") {
        Some(at) => &sheet.path[..at],
        None if sheet.path.starts_with("templates/") => "",
        None => return,
    };
    let space = format!("helm-values:{chart}");
    let text = sheet.text;
    let mut seen: Vec<(LinkEnd, &str)> = Vec::new();
    for (at, _) in text.match_indices(MARK).take(MAX_NAMES) {
        let is_inner =
            at > 0 && (text.as_bytes()[at - 1].is_ascii_alphanumeric() || text.as_bytes()[at - 1] == b'_');
        let rest = &text[at + MARK.len()..];
        let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '.';
        let name = &rest[..rest.find(|it| !is_part(it)).unwrap_or(rest.len())];
        let position = sheet.position(at);
        let holds = |it: &Decl| it.span.first_line <= position.line && position.line <= it.span.last_line;
        let around = sheet.facts.decls.iter().rposition(holds);
        let from = around.map_or(LinkEnd::File, |it| LinkEnd::Decl(DeclId(it as u32)));
        let first = name.split('.').next().unwrap_or_default();
        let second = name[first.len()..].trim_start_matches('.').split('.').next().unwrap_or_default();
        let two = &name[..(first.len() + 1 + second.len()).min(name.len())];
        for name in [first, two] {
            if is_inner || name.is_empty() || seen.contains(&(from, name)) {
                continue;
            }
            seen.push((from, name));
            let to = sheet.offered(&space, name);
            sheet.link(from, EdgeKind::References, to, position);
        }
    }
}
