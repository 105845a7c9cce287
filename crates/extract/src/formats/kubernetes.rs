//! Kubernetes: anything with `apiVersion` and `kind`, wherever it lies.

use knowing_model::facts::LinkEnd;
use knowing_model::{EdgeKind, NodeKind, Position};

use super::Sheet;
use super::yaml::{Id, Yaml};

pub(super) fn may_be(sheet: &Sheet<'_>) -> bool {
    sheet.has_word("apiVersion") && sheet.has_word("kind")
}

pub(super) fn is_it(_: &Sheet<'_>, yaml: &Yaml, document: Id) -> bool {
    yaml.text_at(document, &["apiVersion"]).is_some() && yaml.text_at(document, &["kind"]).is_some()
}

pub(super) fn read(sheet: &mut Sheet<'_>, yaml: &Yaml, document: Id) {
    let Some(kind) = yaml.text_at(document, &["kind"]) else { return };
    // `List`, and the lists of one kind: `ConfigMapList`.
    if kind.ends_with("List") && yaml.get(document, "items").is_some() {
        let items = yaml.get(document, "items").map(|it| yaml.list(it).to_vec()).unwrap_or_default();
        for item in items {
            if is_it(sheet, yaml, item)
                && !yaml.text_at(item, &["kind"]).is_some_and(|it| it.ends_with("List"))
            {
                read(sheet, yaml, item);
            }
        }
        return;
    }
    let Some(name) = yaml.at(document, &["metadata", "name"]) else { return };
    let Some(text) = yaml.text(name).filter(|it| !it.is_empty()) else { return };
    let written = written(sheet, yaml, name, text);
    let text = written.as_deref().unwrap_or(text);
    let namespace = yaml.text_at(document, &["metadata", "namespace"]).unwrap_or("default");
    let node = match kind {
        "Deployment"
        | "StatefulSet"
        | "DaemonSet"
        | "ReplicaSet"
        | "Pod"
        | "Job"
        | "CronJob"
        | "ReplicationController"
        | "Rollout" => NodeKind::Workload,
        "Service" => NodeKind::Service,
        "ConfigMap" | "Secret" | "SealedSecret" | "ExternalSecret" => NodeKind::Config,
        _ => NodeKind::Resource,
    };
    let path = format!("{kind}/{text}");
    let signature = format!("{kind} {text}");
    let last = yaml.last_line(document);
    let Some(decl) = sheet.declare(node, &path, yaml.position(name), last, &signature) else { return };
    sheet.offer(&space(namespace, kind), text, decl);
    let own = LinkEnd::Decl(decl);
    match node {
        NodeKind::Workload => workload(sheet, yaml, document, namespace, own),
        NodeKind::Service => {
            if let Some(selector) = yaml.at(document, &["spec", "selector"]) {
                let labels = labels(yaml, selector);
                if !labels.is_empty() {
                    // Each label alone finds the workloads that have it; all of them together are one name.
                    let to = sheet.offered(&format!("k8s-labels:{namespace}"), &labels);
                    sheet.link(own, EdgeKind::Deploys, to, yaml.position(selector));
                }
            }
        }
        _ => {}
    }
    match kind {
        "Ingress" | "HTTPRoute" | "IngressRoute" => exposes(sheet, yaml, document, namespace, own),
        "HorizontalPodAutoscaler" => {
            if let (Some(kind), Some(name)) = (
                yaml.text_at(document, &["spec", "scaleTargetRef", "kind"]),
                yaml.at(document, &["spec", "scaleTargetRef", "name"]),
            ) && let Some(target) = yaml.text(name)
            {
                let to = sheet.offered(&space(namespace, kind), target);
                sheet.link(own, EdgeKind::DependsOn, to, yaml.position(name));
            }
        }
        "RoleBinding" | "ClusterRoleBinding" => {
            if let (Some(kind), Some(name)) =
                (yaml.text_at(document, &["roleRef", "kind"]), yaml.at(document, &["roleRef", "name"]))
                && let Some(target) = yaml.text(name)
            {
                let to = sheet.offered(&space(namespace, kind), target);
                sheet.link(own, EdgeKind::DependsOn, to, yaml.position(name));
            }
        }
        _ => {}
    }
}

/// A name with template braces as it is written.
fn written(sheet: &Sheet<'_>, yaml: &Yaml, name: Id, text: &str) -> Option<String> {
    if !text.contains("TTTT") {
        return None;
    }
    let offset = sheet.offset(yaml.position(name));
    let line = sheet.text.get(offset..)?.lines().next()?;
    line.contains("{{").then(|| line.replace(' ', ""))
}

fn space(namespace: &str, kind: &str) -> String {
    let is_global =
        matches!(kind, "ClusterRole" | "Namespace" | "StorageClass" | "PersistentVolume" | "PriorityClass");
    format!("k8s:{}/{kind}", if is_global { "" } else { namespace })
}

/// Labels in one order: `app=web,tier=front`.
fn labels(yaml: &Yaml, map: Id) -> String {
    let mut all: Vec<String> =
        yaml.pairs(map).filter_map(|(key, _, value)| Some(format!("{key}={}", yaml.text(value)?))).collect();
    all.sort();
    all.join(",")
}

fn workload(sheet: &mut Sheet<'_>, yaml: &Yaml, document: Id, namespace: &str, own: LinkEnd) {
    let pod = [&["spec", "template"][..], &["spec", "jobTemplate", "spec", "template"][..], &[][..]]
        .iter()
        .find_map(|it| yaml.at(document, it).filter(|it| yaml.get(*it, "spec").is_some()));
    let Some(pod) = pod else { return };
    if let (Some(map), LinkEnd::Decl(decl)) = (yaml.at(pod, &["metadata", "labels"]), own) {
        // A selector may name some of the labels: every choice of up to four of them is offered.
        let mut all: Vec<String> = yaml
            .pairs(map)
            .filter_map(|(key, _, value)| Some(format!("{key}={}", yaml.text(value)?)))
            .collect();
        all.sort();
        all.truncate(6);
        for bits in 1_u32..(1 << all.len()) {
            let some: Vec<&str> = all
                .iter()
                .enumerate()
                .filter(|(at, _)| bits >> at & 1 == 1)
                .map(|it| it.1.as_str())
                .collect();
            sheet.offer(&format!("k8s-labels:{namespace}"), &some.join(","), decl);
        }
    }
    for group in ["containers", "initContainers"] {
        for container in yaml.at(pod, &["spec", group]).map(|it| yaml.list(it).to_vec()).unwrap_or_default() {
            if let Some(image) = yaml.get(container, "image")
                && let Some(text) = yaml.text(image).filter(|it| !it.contains("TT"))
            {
                let to = sheet.outside(NodeKind::Image, "", text);
                sheet.link(own, EdgeKind::DependsOn, to, yaml.position(image));
            }
            for variable in yaml.get(container, "env").map(|it| yaml.list(it).to_vec()).unwrap_or_default() {
                if let Some(name) = yaml.get(variable, "name")
                    && let Some(text) = yaml.text(name)
                {
                    let to = sheet.outside(NodeKind::EnvVar, "", text);
                    sheet.link(own, EdgeKind::Configures, to, yaml.position(name));
                }
            }
        }
    }
    // Every reference to a config or a secret below the pod.
    for node in yaml.all(pod) {
        for (key, kind, field) in [
            ("configMapRef", "ConfigMap", "name"),
            ("secretRef", "Secret", "name"),
            ("configMapKeyRef", "ConfigMap", "name"),
            ("secretKeyRef", "Secret", "name"),
            ("configMap", "ConfigMap", "name"),
            ("secret", "Secret", "secretName"),
        ] {
            if let Some(reference) = yaml.pairs(node).find(|it| it.0 == key).map(|it| it.2)
                && let Some(name) = yaml.get(reference, field)
                && let Some(text) = yaml.text(name)
            {
                let from = sheet.offered(&space(namespace, kind), text);
                sheet.link(from, EdgeKind::Configures, own, yaml.position(name));
            }
        }
        if let Some(account) = yaml.pairs(node).find(|it| it.0 == "serviceAccountName").map(|it| it.2)
            && let Some(text) = yaml.text(account)
        {
            let to = sheet.offered(&space(namespace, "ServiceAccount"), text);
            sheet.link(own, EdgeKind::DependsOn, to, yaml.position(account));
        }
    }
}

fn exposes(sheet: &mut Sheet<'_>, yaml: &Yaml, document: Id, namespace: &str, own: LinkEnd) {
    let mut named: Vec<(String, Position)> = Vec::new();
    for node in yaml.all(document) {
        let service =
            yaml.pairs(node).find(|it| it.0 == "service").map(|it| it.2).and_then(|it| yaml.get(it, "name"));
        let older = yaml.pairs(node).find(|it| it.0 == "serviceName").map(|it| it.2);
        if let Some(name) = service.or(older)
            && let Some(text) = yaml.text(name)
        {
            named.push((text.to_owned(), yaml.position(name)));
        }
    }
    for (name, position) in named {
        let to = sheet.offered(&space(namespace, "Service"), &name);
        sheet.link(own, EdgeKind::Exposes, to, position);
    }
}
