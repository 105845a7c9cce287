//! What all context operations can be told.

use knowing_model::Hash;
use knowing_retrieve::{Part, Ranker, Settings, Switches};
use knowing_wire::{Detail, Format};
use schemars::JsonSchema;
use serde::Deserialize;

use super::engine::{Asked, Wanted, check_budget};
use crate::error::{Candidate, Error, ErrorKind, Result};
use crate::session::check_handle;

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
    /// Root of the pack you have: only what differs comes back (gcf)
    #[arg(long, value_name = "ROOT")]
    #[serde(default)]
    pub pack_root: Option<String>,
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
    // Without words on each: they would stand in the schema of every tool.
    Gcf,
    Json,
    Markdown,
    Xml,
    Gcb,
}

impl From<FormatChoice> for Format {
    fn from(choice: FormatChoice) -> Format {
        match choice {
            FormatChoice::Gcf => Format::Gcf,
            FormatChoice::Json => Format::Json,
            FormatChoice::Markdown => Format::Markdown,
            FormatChoice::Xml => Format::Xml,
            FormatChoice::Gcb => Format::Gcb,
        }
    }
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
    /// As agents mean it when they do not say how the answer is to be written.
    pub(crate) fn for_agents(&self) -> ContextOptions {
        ContextOptions { format: Some(self.format.unwrap_or(FormatChoice::Gcf)), ..self.clone() }
    }

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

    /// Root of the pack that the caller has.
    pub(crate) fn base(&self) -> Result<Option<Hash>> {
        let Some(root) = &self.pack_root else { return Ok(None) };
        Hash::from_hex(root).map(Some).ok_or_else(|| {
            let message = format!("`{root}` is no root: it has 64 hexadecimal digits");
            Error::new(ErrorKind::Usage, message, "copy `pack_root` from the answer you have")
        })
    }

    pub(crate) fn wanted(&self, asked: &Asked, session: Option<&str>) -> Result<Wanted> {
        if let Some(handle) = session {
            check_handle(handle)?;
        }
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
            limit: self.limit.filter(|it| *it > 0).unwrap_or(usize::MAX),
            counts_only: self.limit == Some(0),
            format: self.format.map_or(Format::Json, Format::from),
            detail: match self.detail {
                Some(DetailChoice::Signature) => Detail::Signature,
                Some(DetailChoice::Source) => Detail::Source,
                Some(DetailChoice::Brief) => Detail::Brief,
                // Programs get what the budget allows; who reads has no time.
                None if matches!(self.format, Some(FormatChoice::Json | FormatChoice::Gcb) | None) => {
                    Detail::Signature
                }
                None => Detail::Brief,
            },
            handle_bytes: session.filter(|_| self.format == Some(FormatChoice::Gcf)).map(str::len),
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
