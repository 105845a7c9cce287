//! Ansible: plays and tasks, the roles they use and the programs they run.

use knowing_model::facts::LinkEnd;
use knowing_model::{EdgeKind, NodeKind};

use super::Sheet;
use super::yaml::{Id, Yaml};

pub(super) fn may_be(sheet: &Sheet<'_>) -> bool {
    in_role(sheet) || sheet.has_word("hosts")
}

fn in_role(sheet: &Sheet<'_>) -> bool {
    let path = sheet.path;
    ["tasks/", "handlers/"].iter().any(|it| path.starts_with(it) || path.contains(&format!("/{it}")))
}

pub(super) fn is_it(sheet: &Sheet<'_>, yaml: &Yaml, document: Id) -> bool {
    let items = yaml.list(document);
    let in_role = in_role(sheet);
    let is_play = |it: &Id| yaml.get(*it, "hosts").is_some();
    let is_task =
        |it: &Id| yaml.get(*it, "name").is_some() && yaml.pairs(*it).any(|it| MODULES.contains(&short(it.0)));
    !items.is_empty() && (items.iter().any(is_play) || in_role && items.iter().any(is_task))
}

const MODULES: &[&str] = &[
    "shell",
    "command",
    "apt",
    "yum",
    "dnf",
    "package",
    "service",
    "systemd",
    "template",
    "copy",
    "file",
    "lineinfile",
    "git",
    "pip",
    "user",
    "group",
    "docker_container",
    "include_tasks",
    "import_tasks",
    "include_role",
    "import_role",
    "set_fact",
    "get_url",
    "unarchive",
    "debug",
    "uri",
    "script",
    "raw",
    "cron",
    "stat",
    "fail",
    "block",
];

fn short(module: &str) -> &str {
    module.rsplit('.').next().unwrap_or(module)
}

pub(super) fn read(sheet: &mut Sheet<'_>, yaml: &Yaml, document: Id) {
    for item in yaml.list(document).to_vec() {
        if let Some(hosts) = yaml.get(item, "hosts") {
            let name = yaml.text_at(item, &["name"]).or(yaml.text(hosts)).unwrap_or("play").to_owned();
            let play =
                sheet.declare(NodeKind::Target, &name, yaml.position(item), yaml.last_line(item), &name);
            let Some(play) = play else { continue };
            for role in yaml.get(item, "roles").map(|it| yaml.list(it).to_vec()).unwrap_or_default() {
                let text = yaml
                    .text(role)
                    .or_else(|| yaml.text_at(role, &["role"]))
                    .or_else(|| yaml.text_at(role, &["name"]));
                if let Some(text) = text.map(str::to_owned) {
                    used_role(sheet, LinkEnd::Decl(play), &text, yaml.position(role));
                }
            }
            for key in ["pre_tasks", "tasks", "post_tasks", "handlers"] {
                for it in yaml.get(item, key).map(|it| yaml.list(it).to_vec()).unwrap_or_default() {
                    task(sheet, yaml, it, Some(&name), 0);
                }
            }
        } else {
            task(sheet, yaml, item, None, 0);
        }
    }
}

fn used_role(sheet: &mut Sheet<'_>, from: LinkEnd, role: &str, position: knowing_model::Position) {
    for place in ["roles", "../roles", "../../../roles"] {
        if let Some(to) = sheet.path_end(&format!("{place}/{role}/tasks/main.yml")) {
            sheet.link(from, EdgeKind::DependsOn, to, position);
        }
    }
}

fn task(sheet: &mut Sheet<'_>, yaml: &Yaml, item: Id, play: Option<&str>, depth: usize) {
    if depth > 8 {
        return;
    }
    let module =
        yaml.pairs(item).find(|it| MODULES.contains(&short(it.0))).map(|it| (short(it.0).to_owned(), it.2));
    let name = yaml.text_at(item, &["name"]).map(str::to_owned);
    let own = match &name {
        Some(name) => {
            let path = play.map_or_else(|| name.clone(), |it| format!("{it}.{name}"));
            let module = module.as_ref().map_or("", |it| it.0.as_str());
            let decl = sheet.declare(
                NodeKind::Resource,
                &path,
                yaml.position(item),
                yaml.last_line(item),
                &format!("{module} {name}"),
            );
            decl.map_or(LinkEnd::File, LinkEnd::Decl)
        }
        None => LinkEnd::File,
    };
    let Some((module, value)) = module else { return };
    let position = yaml.position(value);
    match module.as_str() {
        "shell" | "command" | "raw" => {
            let text =
                yaml.text(value).or_else(|| yaml.text_at(value, &["cmd"])).unwrap_or_default().to_owned();
            sheet.processes(own, &text, position);
        }
        "include_tasks" | "import_tasks" => {
            let text =
                yaml.text(value).or_else(|| yaml.text_at(value, &["file"])).unwrap_or_default().to_owned();
            if let Some(to) = sheet.path_end(&text) {
                sheet.link(own, EdgeKind::DependsOn, to, position);
            }
        }
        "include_role" | "import_role" => {
            if let Some(role) = yaml.text_at(value, &["name"]).map(str::to_owned) {
                used_role(sheet, own, &role, position);
            }
        }
        "block" => {
            for it in yaml.list(value).to_vec() {
                task(sheet, yaml, it, play, depth + 1);
            }
        }
        _ => {}
    }
}
