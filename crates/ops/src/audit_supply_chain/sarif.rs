//! An audit as SARIF 2.1.0, for services that show findings beside the code.

use serde_json::{Value, json};

use super::{AuditSupplyChainReply, AuditedFile, Finding, Verdict};

/// Identifier, title and text of each rule.
const RULES: &[(&str, &str, &str)] = &[
    ("reads_env", "Reads the environment", "Environment variables often hold keys and tokens."),
    (
        "executes_process",
        "Starts a program",
        "The program is not one that builds or checks things, or it is computed.",
    ),
    (
        "consumes_endpoint",
        "Talks to a foreign host",
        "The host is written in the file and is not this machine.",
    ),
    (
        "install_script",
        "Runs on installation",
        "It runs on every machine that installs or builds the package.",
    ),
    ("dynamic_evaluation", "Turns text into code", "What is run is not what is written there."),
    (
        "capability_path",
        "The environment reaches a program or a host",
        "Calls lead from what reads a variable to what starts a program or talks to a host.",
    ),
];

pub(super) fn sarif(reply: &AuditSupplyChainReply) -> Value {
    let rules: Vec<Value> = RULES
        .iter()
        .map(|(id, title, text)| {
            json!({
                "id": id,
                "name": title.split(' ').map(capitalised).collect::<String>(),
                "shortDescription": { "text": title },
                "fullDescription": { "text": text },
                "defaultConfiguration": { "level": "warning" },
                "properties": { "tags": ["security", "supply-chain"] },
            })
        })
        .collect();
    let mut results: Vec<Value> = Vec::new();
    for file in &reply.files {
        results.extend(file.findings.iter().map(|it| finding(file, it)));
    }
    for path in &reply.paths {
        let steps: Vec<Value> = path
            .steps
            .iter()
            .filter_map(|it| {
                let mut location = place(it.file.as_deref()?, it.line.unwrap_or(1));
                location["message"] = json!({ "text": it.symbol });
                Some(json!({ "location": location }))
            })
            .collect();
        let Some(first) = steps.first() else { continue };
        let text = format!("`{}` may reach `{}`", path.source, path.target);
        results.push(json!({
            "ruleId": "capability_path",
            "ruleIndex": rule_index("capability_path"),
            "level": "warning",
            "message": { "text": text },
            "locations": [first["location"]],
            "codeFlows": [{ "threadFlows": [{ "locations": steps }] }],
            "partialFingerprints": { "capability/v1": format!("{}>{}", path.source, path.target) },
        }));
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "knowing",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "utf16CodeUnits",
            "originalUriBaseIds": { "SRCROOT": { "description": { "text": "the top of the repository" } } },
            "properties": {
                "repository": reply.tree.repo,
                "head": reply.head,
                "base": reply.base,
                "threshold": reply.threshold,
            },
            "results": results,
        }],
    })
}

fn finding(file: &AuditedFile, it: &Finding) -> Value {
    let (_, title, _) = RULES[rule_index(it.kind)];
    let suspicious = if file.verdict == Verdict::Suspicious { "suspicious" } else { "not suspicious" };
    let text = format!("{title}: `{}` (the file scores {:.2}, {suspicious})", it.what, file.score);
    json!({
        "ruleId": it.kind,
        "ruleIndex": rule_index(it.kind),
        "level": if file.verdict == Verdict::Suspicious && it.is_new { "warning" } else { "note" },
        "message": { "text": text },
        "locations": [place(&file.file, it.line)],
        "partialFingerprints": {
            "capability/v1": format!("{}:{}:{}:{}", file.file, it.symbol.as_deref().unwrap_or(""), it.kind, it.what),
        },
        "properties": { "score": file.score, "new": it.is_new },
    })
}

fn rule_index(id: &str) -> usize {
    RULES.iter().position(|it| it.0 == id).unwrap_or(0)
}

fn place(file: &str, line: u32) -> Value {
    json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(file), "uriBaseId": "SRCROOT" },
            "region": { "startLine": line.max(1) },
        },
    })
}

/// A path as a relative reference.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(byte as char)
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

fn capitalised(word: &str) -> String {
    let first = word.chars().next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(word.chars().skip(1)).collect()
}
