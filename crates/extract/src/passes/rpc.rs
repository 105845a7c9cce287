//! Calls over Protocol Buffers and fields of GraphQL, by the names that generated code gives them.
//!
//! ```text
//! go      struct { pb.UnimplementedCartServer }     pb.NewCartClient(conn).Get(...)
//! python  class Cart(pb_grpc.CartServicer)          pb_grpc.CartStub(channel).Get(...)
//! java    extends CartGrpc.CartImplBase             CartGrpc.newBlockingStub(channel).get(...)
//! csharp  : Cart.CartBase                           new Cart.CartClient(channel).Get(...)
//! rust    impl Cart for Shop (of `cart_server`)     CartClient::connect(...).await?.get(...)
//! nest    @GrpcMethod("Cart", "Get")                client.getService("Cart").get(...)
//! node    server.addService(shop.Cart.service, {})  new shop.Cart(address, ...).get(...)
//! ```
//!
//! A name is only said here; an edge comes of it where a schema of the repository has such a call.

use knowing_model::facts::{
    BindingTarget, Certainty, Decl, DeclId, Expr, ExprId, LinkEnd, Reference, Type, TypeId, Value,
};
use knowing_model::{EdgeKind, NodeKind};

use super::{Found, FoundEnd, FoundLink, Origin, Pass};

mod node;

pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    let marks: &[&[u8]] = match pass.facts.language.as_str() {
        "go" => &[b"Client", b"Unimplemented", b"Resolver)"],
        "python" => &[b"_pb2", b"graphene", b"strawberry", b"ariadne"],
        "java" | "kotlin" => &[b"Grpc", b"Mapping"],
        "csharp" => &[b"Grpc", b"Client(", b"Base"],
        "rust" => &[b"_client", b"_server", b"Client::"],
        "typescript" => &[b"Grpc", b"grpc", b"getService", b"graphql", b"Query", b"Mutation"],
        _ => return,
    };
    let has = |marks: &[&[u8]]| marks.iter().any(|it| memchr::memmem::find(pass.bytes, it).is_some());
    if !has(marks) {
        return;
    }
    // `Query` is a word of many files that know nothing of remote calls.
    if pass.facts.language != "typescript" || has(&[b"rpc", b"getService"]) {
        implemented(pass, found);
        consumed(pass, found);
    }
    fields(pass, found);
}

/// The text between what a name begins and ends with.
fn between<'t>(name: &'t str, begin: &str, end: &str) -> Option<&'t str> {
    name.strip_prefix(begin)?.strip_suffix(end).filter(|it| !it.is_empty())
}

fn implemented(pass: &Pass<'_>, found: &mut Found) {
    let language = pass.facts.language.as_str();
    if language == "typescript" {
        by_decorator(pass, found);
        return node::served(pass, found);
    }
    for (index, decl) in (0..).zip(&pass.facts.decls) {
        // Methods of a type of Go may stand in other files.
        if language == "go"
            && decl.kind.is_type_like()
            && let Some(service) = served(pass, decl)
        {
            found.links.push(FoundLink {
                from: LinkEnd::Decl(DeclId(index)),
                to: FoundEnd::Offered("rpc-service", service),
                kind: EdgeKind::ImplementsRpc,
                certainty: Certainty::Pattern,
                position: decl.span.name,
            });
        }
        if !matches!(decl.kind, NodeKind::Method | NodeKind::Function) {
            continue;
        }
        let Some(service) = service_of_method(pass, decl) else { continue };
        let name = capitalised(pass.facts.text(decl.name), language);
        implements(found, DeclId(index), &format!("{service}.{name}"), decl.span.name);
    }
}

fn implements(found: &mut Found, decl: DeclId, name: &str, position: knowing_model::Position) {
    found.links.push(FoundLink {
        from: LinkEnd::Decl(decl),
        to: FoundEnd::Offered("rpc", name.to_owned()),
        kind: EdgeKind::ImplementsRpc,
        certainty: Certainty::Pattern,
        position,
    });
}

/// The service that the type of a method serves, by what that type is written to be.
fn service_of_method(pass: &Pass<'_>, method: &Decl) -> Option<String> {
    let facts = pass.facts;
    if let Some(of) = method.implementation.map(|it| &facts.impls[it.index()]) {
        if facts.language == "rust" {
            return served_trait(pass, of.interface?);
        }
        let name = pass.type_name(of.type_);
        let type_ = facts.decls.iter().find(|it| it.kind.is_type_like() && facts.text(it.name) == name)?;
        return served(pass, type_);
    }
    served(pass, facts.decl(method.owner?))
}

fn served(pass: &Pass<'_>, type_: &Decl) -> Option<String> {
    type_.bases.iter().find_map(|it| {
        let Type::Named { segments, .. } = pass.facts.type_(it.type_) else { return None };
        let text = |at: usize| segments.get(at).map_or("", |it| pass.facts.text(*it));
        let last = text(segments.len().checked_sub(1)?);
        let before = if segments.len() > 1 { text(segments.len() - 2) } else { "" };
        let service = match pass.facts.language.as_str() {
            "go" => between(last, "Unimplemented", "Server").or_else(|| between(last, "Unsafe", "Server")),
            "python" => between(last, "", "Servicer"),
            "java" | "kotlin" => {
                between(last, "", "CoroutineImplBase").or_else(|| between(last, "", "ImplBase"))
            }
            "csharp" => between(last, "", "Base").filter(|it| *it == before),
            _ => None,
        };
        service.map(str::to_owned)
    })
}

/// `cart_server::Cart`, written whole or imported so.
fn served_trait(pass: &Pass<'_>, interface: TypeId) -> Option<String> {
    let Type::Named { segments, .. } = pass.facts.type_(interface) else { return None };
    let name = pass.facts.text(*segments.last()?);
    let is_server = |it: &str| it.ends_with("_server");
    let written = segments.len() > 1 && is_server(pass.facts.text(segments[segments.len() - 2]));
    let imported = pass.facts.imports.iter().any(|it| {
        use knowing_model::facts::ImportKind::{Member, Wildcard};
        let is_of_server = it.module.last().is_some_and(|it| is_server(pass.facts.text(*it)));
        let is_named = match it.kind {
            Member { alias, .. } => pass.facts.text(alias) == name,
            Wildcard => true,
            _ => false,
        };
        is_of_server && is_named
    });
    (written || imported).then(|| name.to_owned())
}

/// `@GrpcMethod("Cart", "Get")`; without the second it is the method's name.
fn by_decorator(pass: &Pass<'_>, found: &mut Found) {
    for (reference, decl, name) in pass.decorators() {
        if !matches!(name, "GrpcMethod" | "GrpcStreamMethod" | "GrpcStreamCall") {
            continue;
        }
        let args = pass.decorator_arguments(reference);
        let Some(service) = pass.first_literal(&args) else { continue };
        let own = capitalised(pass.facts.text(pass.facts.decl(decl).name), "typescript");
        let call = args.get(1).and_then(|it| pass.literal(it)).unwrap_or(own);
        implements(found, decl, &format!("{service}.{call}"), reference.position);
    }
}

fn consumed(pass: &Pass<'_>, found: &mut Found) {
    let language = pass.facts.language.as_str();
    for call in &pass.facts.calls {
        let Some(of) = pass.receiver(call.callee) else { continue };
        let Some(service) = service_of(pass, of, 0) else { continue };
        let name = capitalised(pass.called(call), language);
        // C# has each call a second time.
        let name = if language == "csharp" { name.strip_suffix("Async").unwrap_or(&name) } else { &name };
        found.links.push(FoundLink {
            from: call.decl.map_or(LinkEnd::File, LinkEnd::Decl),
            to: FoundEnd::Offered("rpc", format!("{service}.{name}")),
            kind: EdgeKind::ConsumesRpc,
            certainty: Certainty::Pattern,
            position: call.position,
        });
    }
}

/// The service whose stub an expression is.
fn service_of(pass: &Pass<'_>, expr: ExprId, depth: usize) -> Option<String> {
    if depth > 12 {
        return None;
    }
    match pass.facts.expr(expr) {
        Expr::Call { callee } => made_by(pass, callee).or_else(|| {
            // `stub.withDeadlineAfter(...)`, `Client::connect(...).await`.
            service_of(pass, pass.receiver(callee)?, depth + 1)
        }),
        Expr::Instance(type_) => service_of_type(pass, type_),
        Expr::Await { of } | Expr::Try { of } | Expr::Generic { of, .. } | Expr::Item { of, index: 0 } => {
            service_of(pass, of, depth + 1)
        }
        Expr::Name { name, at } => {
            if let Some(Value::Type(type_)) = pass.binding(name, at).map(|it| it.value) {
                return service_of_type(pass, type_);
            }
            match pass.origin(expr) {
                Origin::Value(value, _) if value != expr => service_of(pass, value, depth + 1),
                _ => field(pass, name, depth),
            }
        }
        Expr::Member { name, .. } => field(pass, name, depth),
        _ => None,
    }
}

/// The service of a field of this file, by its type or by what it is set to.
fn field(pass: &Pass<'_>, name: knowing_model::facts::Str, depth: usize) -> Option<String> {
    let is_field = |it: &Decl| it.name == name && matches!(it.kind, NodeKind::Field | NodeKind::Property);
    let mut fields = (0..).zip(&pass.facts.decls).filter(|it| is_field(it.1));
    let (index, decl) = fields.next()?;
    if fields.next().is_some() {
        return None;
    }
    let typed = decl.type_.and_then(|it| service_of_type(pass, it));
    let set = || {
        let is_it = |it: &&knowing_model::facts::Binding| it.target == BindingTarget::Field(DeclId(index));
        pass.facts.bindings.iter().filter(is_it).find_map(|it| match it.value {
            Value::Expr(value) => service_of(pass, value, depth + 1),
            Value::Type(type_) => service_of_type(pass, type_),
            _ => None,
        })
    };
    typed.or_else(|| decl.value.and_then(|it| service_of(pass, it, depth + 1))).or_else(set)
}

fn service_of_type(pass: &Pass<'_>, type_: TypeId) -> Option<String> {
    let name = pass.type_name(type_);
    let service = match pass.facts.language.as_str() {
        "go" | "csharp" | "rust" => between(name, "", "Client"),
        "python" => between(name, "", "Stub"),
        "java" | "kotlin" => ["BlockingStub", "FutureStub", "CoroutineStub", "BlockingV2Stub", "Stub"]
            .iter()
            .find_map(|it| between(name, "", it)),
        _ => None,
    };
    service.map(str::to_owned)
}

/// The service of what a call makes.
fn made_by(pass: &Pass<'_>, callee: ExprId) -> Option<String> {
    let name = pass.last_name(callee);
    let of = || pass.receiver(callee).map_or("", |it| pass.last_name(it));
    let service = match pass.facts.language.as_str() {
        "go" => between(name, "New", "Client"),
        "python" => between(name, "", "Stub"),
        "java" | "kotlin" => match name {
            "newBlockingStub" | "newStub" | "newFutureStub" | "newBlockingV2Stub" => {
                between(of(), "", "Grpc")
            }
            _ => between(name, "", "CoroutineStub"),
        },
        "rust" if matches!(name, "connect" | "new" | "with_interceptor" | "with_origin") => {
            between(of(), "", "Client")
        }
        "typescript" if name == "getService" => {
            let args = pass.arguments(pass.call_of(callee)?.position);
            return pass.first_literal(&args);
        }
        "typescript" => return node::client(pass, callee),
        _ => None,
    };
    service.map(str::to_owned)
}

/// `getCart` and `get_cart` as `GetCart`.
fn capitalised(name: &str, language: &str) -> String {
    let upper = |it: &str| it[..1.min(it.len())].to_ascii_uppercase() + it.get(1..).unwrap_or_default();
    match language {
        "rust" => name.split('_').map(upper).collect(),
        "java" | "kotlin" | "typescript" => upper(name),
        _ => name.to_owned(),
    }
}

/// Fields of the root types of GraphQL, and what answers them.
fn fields(pass: &Pass<'_>, found: &mut Found) {
    match pass.facts.language.as_str() {
        "go" => resolvers_of_go(pass, found),
        "python" => resolvers_of_python(pass, found),
        "java" | "kotlin" => {
            annotated(pass, found, &["QueryMapping", "MutationMapping", "SubscriptionMapping"])
        }
        "typescript" if pass.modules.has_any(&["@nestjs/graphql", "type-graphql"]) => {
            annotated(pass, found, &["Query", "Mutation", "Subscription"]);
        }
        "typescript" => node::resolvers(pass, found),
        _ => {}
    }
}

/// `func (r *queryResolver) User(...)` of gqlgen.
fn resolvers_of_go(pass: &Pass<'_>, found: &mut Found) {
    for (index, decl) in (0..).zip(&pass.facts.decls) {
        let Some(of) = decl.implementation.map(|it| &pass.facts.impls[it.index()]) else { continue };
        let root = match pass.type_name(of.type_) {
            "queryResolver" => "Query",
            "mutationResolver" => "Mutation",
            "subscriptionResolver" => "Subscription",
            _ => continue,
        };
        let name = lowered(pass.facts.text(decl.name));
        found.served.push((format!("{root}.{name}"), DeclId(index).into(), decl.span.name));
    }
}

/// `resolve_user` of graphene, fields of strawberry, `@query.field("user")` of ariadne.
fn resolvers_of_python(pass: &Pass<'_>, found: &mut Found) {
    let is_graphene = pass.modules.has("graphene");
    let is_strawberry = pass.modules.has("strawberry");
    for (index, decl) in (0..).zip(&pass.facts.decls) {
        let Some(owner) = decl.owner.filter(|_| decl.kind == NodeKind::Method) else { continue };
        let root = pass.facts.text(pass.facts.decl(owner).name);
        if !matches!(root, "Query" | "Mutation" | "Subscription") {
            continue;
        }
        let id = DeclId(index);
        let name = pass.facts.text(decl.name);
        let own = match name.strip_prefix("resolve_") {
            Some(name) if is_graphene => name,
            _ if is_strawberry && pass.decorators().any(|it| it.1 == id && is_field(it.2)) => name,
            _ => continue,
        };
        found.served.push((format!("{root}.{}", camel(own)), id.into(), decl.span.name));
    }
    if pass.modules.has("ariadne") {
        for (reference, decl, name) in pass.decorators().filter(|it| it.2 == "field") {
            let _ = name;
            if let Some((root, field)) = bound(pass, reference) {
                found.served.push((format!("{root}.{field}"), decl.into(), reference.position));
            }
        }
    }
}

fn is_field(name: &str) -> bool {
    matches!(name, "field" | "mutation" | "subscription")
}

/// The type that a variable of ariadne binds, and the field.
fn bound(pass: &Pass<'_>, reference: &Reference) -> Option<(&'static str, String)> {
    let knowing_model::facts::ReferenceTarget::Expr(expr) = reference.target else { return None };
    let Origin::Value(value, _) = pass.origin(pass.receiver(expr)?) else { return None };
    let Expr::Call { callee } = pass.facts.expr(value) else { return None };
    let root = match pass.last_name(callee) {
        "QueryType" => "Query",
        "MutationType" => "Mutation",
        "SubscriptionType" => "Subscription",
        _ => return None,
    };
    Some((root, pass.first_literal(&pass.decorator_arguments(reference))?))
}

/// Methods with an annotation that names the root type.
fn annotated(pass: &Pass<'_>, found: &mut Found, names: &[&str]) {
    for (reference, decl, name) in pass.decorators().filter(|it| names.contains(&it.2)) {
        if !pass.facts.decl(decl).kind.is_callable() {
            continue;
        }
        let root = name.trim_end_matches("Mapping");
        let args = pass.decorator_arguments(reference);
        let named = args.iter().find(|it| matches!(it.name.as_deref(), Some("name" | "value")));
        let named = named.and_then(|it| pass.literal(it)).or_else(|| pass.first_literal(&args));
        let options = args.last().map(|it| pass.text(it.from, it.to)).filter(|it| it.starts_with('{'));
        let in_options = options.and_then(|it| {
            let (_, rest) = it.split_once("name:")?;
            pass.literal_text(rest.split([',', '}']).next()?.trim())
        });
        let own = pass.facts.text(pass.facts.decl(decl).name).to_owned();
        let field = named.or(in_options).unwrap_or(own);
        found.served.push((format!("{root}.{field}"), decl.into(), reference.position));
    }
}

fn lowered(name: &str) -> String {
    name[..1.min(name.len())].to_ascii_lowercase() + name.get(1..).unwrap_or_default()
}

fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, it| all + &capitalised(it, "java"))
}
