//! Why a symbol is in an answer, in a few words, strongest first.

use knowing_search::Field;

use crate::candidates::Channel;
use crate::pipeline::RankedSymbol;

const MAX_REASONS: usize = 3;

pub fn of(symbol: &RankedSymbol) -> Vec<String> {
    let it = &symbol.evidence;
    let mut reasons: Vec<&str> = Vec::new();
    let mut say = |holds: bool, words: &'static str| {
        if holds {
            reasons.push(words);
        }
    };
    let asked = it.places[Channel::Asked as usize].is_some();
    say(asked && symbol.distance == 0, "asked for");
    say(asked && symbol.distance > 0, "calls what is asked for");
    say(symbol.injected, "concept of the framework");
    say(symbol.is_further_overload, "overload of one above");
    say(it.frame_depth == Some(0), "innermost stack frame");
    say(it.frame_depth.is_some_and(|depth| depth > 0), "in the stack trace");
    say(it.identified.subject, "named in the subject");
    say(it.identified.backtick && !it.identified.subject, "named in backticks");
    say(it.identified.prose && !it.identified.subject, "named in the text");
    say(it.identified.code && !it.identified.prose && !it.identified.subject, "named in the code");
    say(it.file_named, "its file is named");
    say(it.raises, "raises the error");
    say(it.message_said > 0.8, "says the message");
    say(it.name_said >= 0.999 && it.identified.count == 0.0, "all of its name");
    say(it.places[Channel::Equivalence as usize].is_some() && !symbol.injected, "relative or concept");
    let strongest = Field::ALL
        .into_iter()
        .filter(|&field| it.parts[field as usize] > 0.0)
        .max_by(|&a, &b| it.parts[a as usize].total_cmp(&it.parts[b as usize]));
    match strongest {
        Some(Field::Name) => say(true, "words of its name"),
        Some(Field::Owner) => say(true, "words of its owner"),
        Some(Field::Path) => say(true, "words of its path"),
        Some(Field::Signature) => say(true, "words of its signature"),
        Some(Field::Doc) => say(true, "words of its documentation"),
        Some(Field::Body) => say(true, "words of its body"),
        Some(Field::History) => say(true, "words of its commits"),
        Some(Field::Neighbours) => say(true, "words of its neighbours"),
        None => {}
    }
    say(it.near.called_by > 0.0, "called by a match");
    say(it.near.calls > 0.0, "calls a match");
    say(it.near.member_of > 0.0 || it.near.contains > 0.0, "shares a type with a match");
    say(!asked && it.walk > 0.1 && it.parts.iter().all(|it| *it == 0.0), "near in the graph");
    reasons.into_iter().take(MAX_REASONS).map(str::to_owned).collect()
}
