//! What all context operations can be told.

use knowing_retrieve::{Part, Ranker, Settings, Switches};
use knowing_wire::{Detail, Format};
use schemars::JsonSchema;
use serde::Deserialize;

use super::engine::{Asked, Wanted, check_budget};
use crate::error::{Candidate, Error, ErrorKind, Result};

#[derive(Clone, Debug, Default, clap::Args, Deserialize, JsonSchema)]
pub struct ContextOptions {
    /// Tokens the answer may take; default 50000, around changes 8000
    #[arg(long, value_name = "TOKENS")]
    #[serde(alias = "token_budget", default)]
    pub budget: Option<usize>,
    /// Symbols at most
    #[arg(long, value_name = "N")]
    #[serde(default)]
    pub limit: Option<usize>,
    /// What to say of each symbol: where it is, how it is declared (default in JSON), its text
    #[arg(long, value_enum)]
    #[serde(default)]
    pub detail: Option<DetailChoice>,
    /// How the answer is written, and its budget counted
    #[arg(long, value_enum)]
    #[serde(default)]
    pub format: Option<FormatChoice>,
    /// Who ranks
    #[arg(long, value_enum)]
    #[serde(default)]
    pub ranker: Option<RankerChoice>,
    /// Leave out the curated vocabulary of frameworks
    #[arg(long)]
    #[serde(default)]
    pub no_classes: bool,
    /// Parts of the pipeline to leave out
    #[arg(long, value_delimiter = ',', value_name = "PART,...")]
    #[serde(default)]
    pub without: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DetailChoice {
    #[default]
    Brief,
    Signature,
    Source,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FormatChoice {
    Json,
    Markdown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RankerChoice {
    /// Trees learned from public git history.
    Learned,
    /// A fixed formula over the graph.
    Formula,
}

impl ContextOptions {
    pub(crate) fn settings(&self) -> Result<Settings> {
        let mut switches = Switches::default();
        for name in &self.without {
            let part = Part::from_name(name).ok_or_else(|| unknown_part(name))?;
            switches.turn_off(part);
        }
        if self.no_classes {
            switches.turn_off(Part::Classes);
        }
        let ranker = match self.ranker {
            Some(RankerChoice::Formula) => Ranker::Formula,
            Some(RankerChoice::Learned) | None => Ranker::Learned,
        };
        Ok(Settings { switches, ranker, ..Settings::default() })
    }

    pub(crate) fn wanted(&self, asked: &Asked) -> Result<Wanted> {
        let settings = self.settings()?;
        let pack = &settings.params.pack;
        let budget = self.budget.unwrap_or(match asked {
            Asked::Task(_) => pack.task_budget,
            Asked::Files(_) => pack.files_budget,
            Asked::Changes(_) => pack.pr_budget,
        });
        check_budget(budget, &settings)?;
        Ok(Wanted {
            budget,
            limit: self.limit.unwrap_or(usize::MAX),
            format: match self.format {
                Some(FormatChoice::Markdown) => Format::Markdown,
                Some(FormatChoice::Json) | None => Format::Json,
            },
            detail: match self.detail {
                Some(DetailChoice::Signature) => Detail::Signature,
                Some(DetailChoice::Source) => Detail::Source,
                Some(DetailChoice::Brief) => Detail::Brief,
                // Programs get what the budget allows; a table has no room.
                None if self.format == Some(FormatChoice::Markdown) => Detail::Brief,
                None => Detail::Signature,
            },
            settings,
        })
    }
}

fn unknown_part(name: &str) -> Error {
    let names = Part::ALL.iter().map(|it| it.name());
    let near = crate::nearest::nearest(name, names.clone(), 3);
    let candidates = near.into_iter().map(Candidate::named).collect();
    let hint = format!("there are: {}", names.collect::<Vec<_>>().join(", "));
    Error::new(ErrorKind::Usage, format!("`{name}` is no part of the pipeline"), hint)
        .with_candidates(candidates)
}
