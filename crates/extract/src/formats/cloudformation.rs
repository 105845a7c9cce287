//! CloudFormation and SAM: resources, what refers to what, functions with their routes and queues.

use knowing_model::facts::LinkEnd;
use knowing_model::{EdgeKind, NodeKind};

use super::Sheet;
use super::yaml::{Id, Yaml};

pub(super) fn may_be(sheet: &Sheet<'_>) -> bool {
    sheet.has_word("Resources")
}

pub(super) fn is_it(_: &Sheet<'_>, yaml: &Yaml, document: Id) -> bool {
    let Some(resources) = yaml.get(document, "Resources") else { return false };
    yaml.get(document, "AWSTemplateFormatVersion").is_some()
        || yaml.get(document, "Transform").is_some()
        || yaml
            .pairs(resources)
            .any(|it| yaml.text_at(it.2, &["Type"]).is_some_and(|it| it.starts_with("AWS::")))
}

pub(super) fn read(sheet: &mut Sheet<'_>, yaml: &Yaml, document: Id) {
    let Some(resources) = yaml.get(document, "Resources") else { return };
    let named: Vec<(String, Id, Id)> =
        yaml.pairs(resources).map(|(name, key, value)| (name.to_owned(), key, value)).collect();
    let mut decls = Vec::new();
    for (name, key, value) in &named {
        let type_ = yaml.text_at(*value, &["Type"]).unwrap_or_default();
        let kind = match type_ {
            "AWS::Lambda::Function" | "AWS::Serverless::Function" => NodeKind::Function,
            "AWS::SNS::Topic" | "AWS::SQS::Queue" => NodeKind::Topic,
            "AWS::DynamoDB::Table" | "AWS::Serverless::SimpleTable" => NodeKind::Table,
            _ => NodeKind::Resource,
        };
        let signature = format!("{name} {type_}");
        decls.push(sheet.declare(kind, name, yaml.position(*key), yaml.last_line(*value), &signature));
    }
    let of = |name: &str| named.iter().position(|it| it.0 == name).and_then(|at| decls[at]);
    for (at, (_, _, value)) in named.iter().enumerate() {
        let Some(decl) = decls[at] else { continue };
        let own = LinkEnd::Decl(decl);
        for (name, position) in yaml.get(*value, "DependsOn").map(|it| yaml.texts(it)).unwrap_or_default() {
            if let Some(target) = of(name) {
                sheet.link(own, EdgeKind::DependsOn, LinkEnd::Decl(target), position);
            }
        }
        for node in yaml.all(*value) {
            let position = yaml.position(node);
            let mut names: Vec<&str> = Vec::new();
            match (yaml.tag(node), yaml.text(node)) {
                (Some("Ref" | "GetAtt"), Some(text)) => names.extend(text.split('.').next()),
                (Some("Sub"), Some(text)) => names.extend(substituted(text)),
                _ => {}
            }
            if let Some(reference) = yaml.pairs(node).find(|it| it.0 == "Ref") {
                names.extend(yaml.text(reference.2));
            }
            if let Some(reference) = yaml.pairs(node).find(|it| it.0 == "Fn::GetAtt") {
                names.extend(yaml.texts(reference.2).first().and_then(|it| it.0.split('.').next()));
            }
            for name in names {
                if let Some(target) = of(name).filter(|it| *it != decl) {
                    sheet.link(own, EdgeKind::References, LinkEnd::Decl(target), position);
                }
            }
        }
        let events = yaml.at(*value, &["Properties", "Events"]);
        let events: Vec<Id> = events.map(|it| yaml.pairs(it).map(|it| it.2).collect()).unwrap_or_default();
        for event in events {
            let position = yaml.position(event);
            let properties = yaml.get(event, "Properties").unwrap_or(event);
            match yaml.text_at(event, &["Type"]) {
                Some("Api" | "HttpApi") => {
                    let path = yaml.text_at(properties, &["Path"]).unwrap_or_default().to_owned();
                    let method = yaml.text_at(properties, &["Method"]).unwrap_or("any").to_owned();
                    if !path.is_empty() {
                        sheet.route_to(&method, &path, position, decl);
                    }
                }
                Some("SQS" | "SNS") => {
                    let queue = ["Queue", "Topic"].iter().find_map(|it| yaml.get(properties, it));
                    let text = queue.and_then(|it| {
                        yaml.text(it).or_else(|| yaml.text_at(it, &["Ref"])).or_else(|| {
                            let list = yaml.get(it, "Fn::GetAtt")?;
                            yaml.text(*yaml.list(list).first()?)
                        })
                    });
                    let target = text.and_then(|it| of(it.split('.').next().unwrap_or_default()));
                    if let Some(target) = target {
                        sheet.link(own, EdgeKind::Subscribes, LinkEnd::Decl(target), position);
                    }
                }
                _ => {}
            }
        }
    }
}

fn substituted(text: &str) -> Vec<&str> {
    text.split("${")
        .skip(1)
        .filter_map(|it| it.split('}').next())
        .map(|it| it.split('.').next().unwrap_or(it))
        .collect()
}
