//! What is asked of the lexical index: the words of a task, looked at from several sides at once.

use std::collections::BTreeMap;

use knowing_search::{Field, N_FIELDS, Query, QueryTerm, Scoring, View, tokens};

use crate::params::{Params, Part, Switches};
use crate::task::Task;

/// One way to look at the words of a task; the order is that of the query's views.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Side {
    Whole,
    Subject,
    Body,
    History,
    /// Name, owner and path alone.
    Names,
    /// Without code and traces.
    Prose,
    /// Code and traces.
    Code,
    Neighbours,
}

impl Side {
    pub(crate) const ALL: [Side; N_SIDES] = [
        Side::Whole,
        Side::Subject,
        Side::Body,
        Side::History,
        Side::Names,
        Side::Prose,
        Side::Code,
        Side::Neighbours,
    ];
}

pub(crate) const N_SIDES: usize = 8;

/// How often a term stands in each section of the task.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) subject: u32,
    pub(crate) prose: u32,
    pub(crate) code: u32,
}

/// The terms of a task, sorted, and the query made of them.
pub(crate) struct TaskQuery {
    pub(crate) terms: Vec<(String, Counts)>,
    pub(crate) query: Query,
    pub(crate) scoring: Scoring,
    /// There is no code and no trace: the prose is the whole task, and is not asked twice.
    pub(crate) is_prose: bool,
}

impl TaskQuery {
    pub(crate) fn new(
        task: &Task,
        params: &Params,
        switches: Switches,
        idf: impl Fn(&str) -> f64,
    ) -> TaskQuery {
        let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
        let mut count = |text: &str, section: fn(&mut Counts) -> &mut u32| {
            for token in tokens(text) {
                *section(counts.entry(token).or_default()) += 1;
            }
        };
        count(task.scope.as_deref().unwrap_or_default(), |it| &mut it.subject);
        count(&task.subject, |it| &mut it.subject);
        count(&task.prose, |it| &mut it.prose);
        count(&task.code, |it| &mut it.code);
        count(&task.trace, |it| &mut it.code);
        let mut terms: Vec<(String, Counts)> = counts.into_iter().collect();
        let limit = params.scoring.max_terms;
        if terms.len() > limit {
            // The rarest say most; a term of the subject stays in any case.
            let worth = |it: &(String, Counts)| if it.1.subject > 0 { f64::INFINITY } else { idf(&it.0) };
            terms.sort_by(|a, b| worth(b).total_cmp(&worth(a)).then_with(|| a.0.cmp(&b.0)));
            terms.truncate(limit);
            terms.sort_by(|a, b| a.0.cmp(&b.0));
        }
        let views = views(params, switches);
        let is_prose = terms.iter().all(|it| it.1.code == 0);
        let query_terms = terms
            .iter()
            .map(|(term, counts)| {
                let whole = weight(counts.subject + counts.prose + counts.code);
                let counts = Side::ALL.iter().map(|side| match side {
                    Side::Whole | Side::Body | Side::History | Side::Names | Side::Neighbours => whole,
                    Side::Subject => weight(counts.subject),
                    Side::Prose if is_prose => 0.0,
                    Side::Prose => weight(counts.subject + counts.prose),
                    Side::Code => weight(counts.code),
                });
                QueryTerm { term: term.clone(), counts: counts.collect() }
            })
            .collect();
        let scoring = Scoring { k1: params.scoring.k1, b: [params.scoring.b; N_FIELDS] };
        TaskQuery { query: Query::new(views, query_terms), terms, scoring, is_prose }
    }
}

/// A term that stands n times counts 1 + ln n times.
fn weight(count: u32) -> f64 {
    if count == 0 { 0.0 } else { 1.0 + libm::log(f64::from(count)) }
}

fn views(params: &Params, switches: Switches) -> Vec<View> {
    let mut weights = params.scoring.field_weights;
    let fields =
        [(Field::Body, Part::Body), (Field::History, Part::History), (Field::Neighbours, Part::Neighbours)];
    for (field, part) in fields {
        if !switches.on(part) {
            weights[field as usize] = 0.0;
        }
    }
    let only = |wanted: &[Field]| {
        let mut of_view = [0.0; N_FIELDS];
        wanted.iter().for_each(|&it| of_view[it as usize] = weights[it as usize]);
        of_view
    };
    let neighbours = if switches.on(Part::Neighbours) { 1.0 } else { 0.0 };
    let view = |side: &Side| match side {
        Side::Whole | Side::Subject | Side::Prose | Side::Code => weights,
        Side::Body => only(&[Field::Body]),
        Side::History => only(&[Field::History]),
        Side::Names => only(&[Field::Name, Field::Owner, Field::Path]),
        Side::Neighbours => {
            let mut of_view = [0.0; N_FIELDS];
            of_view[Field::Neighbours as usize] = neighbours;
            of_view
        }
    };
    Side::ALL.iter().map(|it| View { weights: view(it) }).collect()
}
