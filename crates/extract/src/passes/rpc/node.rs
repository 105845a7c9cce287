//! Node: services of `@grpc/grpc-js`, whose code is made when they are loaded, and maps of resolvers.

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, ExprId, ImportKind};

use super::{between, capitalised, implements};
use crate::passes::arguments::split;
use crate::passes::{Answer, Arg, Found, Pass};

/// Packages that make clients and servers of schemas; generated code is in files named after them.
fn is_grpc(pass: &Pass<'_>) -> bool {
    pass.modules.has_any(&["@grpc/grpc-js", "@grpc/proto-loader", "grpc"])
        || memchr::memmem::find(pass.bytes, b"_grpc_pb").is_some()
}

/// The service of the client that `new shop.Cart(...)` or, of generated code, `new CartClient(...)` makes.
pub(super) fn client(pass: &Pass<'_>, callee: ExprId) -> Option<String> {
    let name = pass.last_name(callee);
    if !name.starts_with(|it: char| it.is_ascii_uppercase()) || !is_grpc(pass) {
        return None;
    }
    let generated = between(name, "", "Client");
    let loaded = pass.receiver(callee).map(|_| name);
    generated.or(loaded).map(str::to_owned)
}

/// `server.addService(shop.Cart.service, { getCart, addItem: this.add.bind(this) })`.
pub(super) fn served(pass: &Pass<'_>, found: &mut Found) {
    for call in pass.facts.calls.iter().filter(|it| pass.called(it) == "addService") {
        let args = pass.arguments(call.position);
        let [service, map, ..] = args.as_slice() else { continue };
        let service = pass.text(service.from, service.to);
        let name = match service.strip_suffix(".service") {
            Some(rest) => rest.rsplit('.').next().unwrap_or_default(),
            // The constant that generated code has for a service.
            None => service.rsplit('.').next().and_then(|it| it.strip_suffix("Service")).unwrap_or_default(),
        };
        let text = pass.text(map.from, map.to);
        if name.is_empty() || !text.starts_with('{') {
            continue;
        }
        for entry in split(pass.bytes, map.from + 1, map.to.saturating_sub(1), "typescript", false) {
            let Some((key, decl)) = entry_of(pass, &entry) else { continue };
            let Some(decl) = decl.or(call.decl) else { continue };
            let name = format!("{name}.{}", capitalised(key, "typescript"));
            implements(found, decl, &name, pass.position(entry.from));
        }
    }
}

/// The key of an entry of an object, and the declaration of this file that it names; none where it is written in place.
fn entry_of<'a>(pass: &Pass<'a>, entry: &Arg) -> Option<(&'a str, Option<DeclId>)> {
    let text = std::str::from_utf8(pass.bytes.get(entry.from..entry.to)?).ok()?;
    let text = text.strip_prefix("async ").unwrap_or(text);
    let n = text.bytes().take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
    let (key, rest) = text.split_at(n);
    if key.is_empty() {
        return None;
    }
    let value = match rest.trim_start().strip_prefix(':') {
        Some(value) => value.trim(),
        None if rest.trim().is_empty() => key,
        // A method.
        None => return Some((key, None)),
    };
    let named = value.split(".bind(").next().unwrap_or(value).trim_start_matches("this.");
    let is_name = named.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.'));
    if !is_name {
        return Some((key, None));
    }
    let last = named.rsplit('.').next().unwrap_or(named);
    let mut callables = (0..).zip(&pass.facts.decls).filter(|(_, it)| {
        it.kind.is_callable()
            && pass.facts.text(it.name) == last
            && (named == last || pass.facts.text(it.path).ends_with(named))
    });
    let one = callables.next()?;
    // What is imported is another file's to know, and of two of one name none is sure.
    callables.next().is_none().then_some((key, Some(DeclId(one.0))))
}

/// `{ Query: { user() { ... }, users: listUsers } }`: entries of objects that are called like the root types.
pub(super) fn resolvers(pass: &Pass<'_>, found: &mut Found) {
    for (index, decl) in (0..).zip(&pass.facts.decls) {
        let Some(owner) = decl.owner.map(|it| pass.facts.decl(it)).filter(|_| decl.kind.is_callable()) else {
            continue;
        };
        let root = pass.facts.text(owner.name);
        let is_map =
            matches!(owner.kind, NodeKind::Field | NodeKind::Property | NodeKind::Const | NodeKind::Var);
        if is_map && ROOTS.contains(&root) {
            let name = format!("{root}.{}", pass.facts.text(decl.name));
            found.served.push((name, Answer::Decl(DeclId(index)), decl.span.name));
        }
    }
    // Entries that name a function are no declarations.
    for root in ROOTS {
        for at in memchr::memmem::find_iter(pass.bytes, root.as_bytes()) {
            let is_word = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'$' | b'.');
            let behind = &pass.bytes[at + root.len()..];
            let value = behind.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start);
            let Some(value) = value.filter(|it| it.starts_with(b"{")) else { continue };
            if at > 0 && is_word(&pass.bytes[at - 1]) {
                continue;
            }
            let from = pass.bytes.len() - value.len() + 1;
            for entry in split(pass.bytes, from, pass.bytes.len(), "typescript", false) {
                if let Some((key, answer)) = named_by(pass, &entry) {
                    found.served.push((format!("{root}.{key}"), answer, pass.position(entry.from)));
                }
            }
        }
    }
}

const ROOTS: [&str; 3] = ["Query", "Mutation", "Subscription"];

/// The function that an entry (`users: listUsers`, `users`) names: one of this file, or one that is imported from the project.
fn named_by<'a>(pass: &Pass<'a>, entry: &Arg) -> Option<(&'a str, Answer)> {
    let text = std::str::from_utf8(pass.bytes.get(entry.from..entry.to)?).ok()?;
    let (key, value) = text.split_once(':').map_or((text, text), |(key, value)| (key.trim(), value.trim()));
    let is_name = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    if !is_name(key) || !is_name(value) {
        return None;
    }
    let mut functions = (0..)
        .zip(&pass.facts.decls)
        .filter(|(_, it)| it.owner.is_none() && it.kind.is_callable() && pass.facts.text(it.name) == value);
    if let Some((at, _)) = functions.next() {
        return functions.next().is_none().then_some((key, Answer::Decl(DeclId(at))));
    }
    pass.facts.imports.iter().find_map(|it| {
        let ImportKind::Member { name, alias } = it.kind else { return None };
        let is_own = it.module.first().is_some_and(|it| pass.facts.text(*it).starts_with('.'));
        let is_it = pass.facts.text(alias) == value && is_own && pass.facts.text(name) != "default";
        is_it.then(|| (key, Answer::Symbol(pass.facts.text(name).to_owned())))
    })
}
