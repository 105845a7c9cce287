//! Topics that are published and subscribed, and feature flags that are asked for.
//!
//! A call counts when its file imports a client of such a system, and by the words of that system. A topic or flag that is
//! computed is `?`, with the site kept.

use std::sync::LazyLock;

use knowing_model::facts::{Certainty, DeclId};
use knowing_model::{EdgeKind, NodeKind, Position};
use memchr::memmem::Finder;

use super::{Arg, Found, Pass};

struct System {
    /// Modules of which one is imported, as any part of a module's name.
    modules: &'static [&'static str],
    /// Called name, which argument or keyword is the name, and what it means.
    calls: &'static [(&'static str, usize, &'static str, EdgeKind)],
}

const PUBLISHES: EdgeKind = EdgeKind::Publishes;
const SUBSCRIBES: EdgeKind = EdgeKind::Subscribes;

const SYSTEMS: &[System] = &[
    System {
        modules: &["nats"],
        calls: &[
            ("Publish", 0, "", PUBLISHES),
            ("publish", 0, "subject", PUBLISHES),
            ("Subscribe", 0, "", SUBSCRIBES),
            ("QueueSubscribe", 0, "", SUBSCRIBES),
            ("subscribe", 0, "subject", SUBSCRIBES),
        ],
    },
    System {
        modules: &["kafka", "sarama", "confluent", "aiokafka", "rdkafka", "KafkaJS"],
        calls: &[
            ("produce", 0, "topic", PUBLISHES),
            ("send_and_wait", 0, "topic", PUBLISHES),
            ("send", 0, "topic", PUBLISHES),
            ("subscribe", 0, "topic", SUBSCRIBES),
            ("KafkaConsumer", 0, "", SUBSCRIBES),
            ("AIOKafkaConsumer", 0, "", SUBSCRIBES),
        ],
    },
    System {
        modules: &["pika", "amqp", "amqplib", "bunny", "RabbitMQ", "lapin"],
        calls: &[
            ("basic_publish", 1, "routing_key", PUBLISHES),
            ("sendToQueue", 0, "", PUBLISHES),
            ("BasicPublish", 1, "routingKey", PUBLISHES),
            ("basic_consume", 0, "queue", SUBSCRIBES),
            ("consume", 0, "queue", SUBSCRIBES),
            ("Consume", 0, "queue", SUBSCRIBES),
        ],
    },
    System {
        modules: &["redis", "ioredis"],
        calls: &[
            ("publish", 0, "channel", PUBLISHES),
            ("subscribe", 0, "", SUBSCRIBES),
            ("psubscribe", 0, "", SUBSCRIBES),
        ],
    },
    System {
        modules: &[
            "launchdarkly",
            "LaunchDarkly",
            "unleash",
            "Unleash",
            "flipper",
            "Flipper",
            "openfeature",
            "OpenFeature",
            "flagsmith",
        ],
        calls: &[
            ("variation", 0, "", EdgeKind::GatedByFlag),
            ("boolVariation", 0, "", EdgeKind::GatedByFlag),
            ("BoolVariation", 0, "", EdgeKind::GatedByFlag),
            ("isEnabled", 0, "", EdgeKind::GatedByFlag),
            ("is_enabled", 0, "", EdgeKind::GatedByFlag),
            ("IsEnabled", 0, "", EdgeKind::GatedByFlag),
            ("getBooleanValue", 0, "", EdgeKind::GatedByFlag),
            ("get_boolean_value", 0, "", EdgeKind::GatedByFlag),
        ],
    },
];

/// Decorators whose argument is a topic that the decorated function receives.
const LISTENERS: &[(&str, &[&str], &str)] = &[
    ("org.springframework.kafka", &["KafkaListener"], "topics"),
    ("org.springframework.amqp", &["RabbitListener"], "queues"),
    ("org.springframework.jms", &["JmsListener"], "destination"),
    ("io.awspring", &["SqsListener"], "value"),
    ("@nestjs/microservices", &["EventPattern", "MessagePattern"], ""),
    ("@nestjs/event-emitter", &["OnEvent"], ""),
];

pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    /// What each is looked for with: made once, because modules of a file are a short text.
    static PARTS: LazyLock<(Vec<Vec<Finder<'static>>>, Vec<Finder<'static>>)> = LazyLock::new(|| {
        let of_systems = SYSTEMS.iter().map(|it| it.modules.iter().map(|it| Finder::new(*it)).collect());
        (of_systems.collect(), LISTENERS.iter().map(|it| Finder::new(it.0)).collect())
    });
    // One text is searched faster than many short ones.
    let modules = pass.modules.0.join("\n");
    let imports = |part: &Finder<'_>| part.find(modules.as_bytes()).is_some();
    let (of_systems, of_listeners) = &*PARTS;
    for (system, _) in SYSTEMS.iter().zip(of_systems).filter(|it| it.1.iter().any(imports)) {
        for call in &pass.facts.calls {
            let name = pass.called(call);
            let Some((_, place, keyword, kind)) = system.calls.iter().find(|it| it.0 == name) else {
                continue;
            };
            // A client is asked: a bare function of that name is another thing.
            if pass.receiver(call.callee).is_none() && !name.starts_with(|it: char| it.is_uppercase()) {
                continue;
            }
            let args = pass.arguments(call.position);
            let arg =
                named(&args, keyword).or_else(|| args.iter().filter(|it| it.name.is_none()).nth(*place));
            let Some(arg) = arg else { continue };
            add(pass, found, call.decl, *kind, arg, call.position);
        }
    }
    for ((_, names, keyword), _) in LISTENERS.iter().zip(of_listeners).filter(|it| imports(it.1)) {
        for (reference, decl, _) in pass.decorators().filter(|it| names.contains(&it.2)) {
            let args = pass.decorator_arguments(reference);
            let arg = named(&args, keyword).or_else(|| args.iter().find(|it| it.name.is_none()));
            if let Some(arg) = arg {
                add(pass, found, Some(decl), SUBSCRIBES, arg, reference.position);
            }
        }
    }
    celery(pass, found);
}

/// `@app.task` makes a function a consumer of its own queue; `task.delay()` publishes to it.
fn celery(pass: &Pass<'_>, found: &mut Found) {
    if pass.facts.language != "python" || !pass.modules.has("celery") {
        return;
    }
    for (reference, decl, name) in pass.decorators().filter(|it| matches!(it.2, "task" | "shared_task")) {
        let _ = name;
        let args = pass.decorator_arguments(reference);
        let own = named(&args, "name").and_then(|it| pass.literal(it));
        let name = own.unwrap_or_else(|| pass.facts.text(pass.facts.decl(decl).name).to_owned());
        found.outside(
            Some(decl),
            SUBSCRIBES,
            (NodeKind::Topic, "", &name),
            Certainty::Pattern,
            reference.position,
        );
    }
}

fn named<'a>(args: &'a [Arg], keyword: &str) -> Option<&'a Arg> {
    args.iter().find(|it| !keyword.is_empty() && it.name.as_deref() == Some(keyword))
}

fn add(
    pass: &Pass<'_>,
    found: &mut Found,
    decl: Option<DeclId>,
    kind: EdgeKind,
    arg: &Arg,
    position: Position,
) {
    let text = pass.text(arg.from, arg.to);
    // `{ topic: "orders" }`, `["a", "b"]`, `{"a", "b"}`.
    let inner = text.trim_matches(['[', ']', '{', '}', '(', ')', ' ', '\n']);
    let names: Vec<String> = match pass.literal(arg) {
        Some(text) => vec![text],
        None => inner
            .split(',')
            .filter_map(|it| {
                pass.literal_text(it.trim_start_matches("topic:").trim_start_matches("cmd:").trim())
            })
            .collect(),
    };
    let node = if kind == EdgeKind::GatedByFlag { NodeKind::Flag } else { NodeKind::Topic };
    if names.is_empty() {
        found.outside(decl, kind, (node, "", "?"), Certainty::Pattern, position);
    }
    for name in names {
        found.outside(decl, kind, (node, "", &name), Certainty::Pattern, position);
    }
}
