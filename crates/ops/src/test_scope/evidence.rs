//! Why a test belongs to a change, and how much each reason says.

use std::fmt;

use knowing_graph::NodeIndex;

/// All reasons to run one test.
#[derive(Default)]
pub(crate) struct Evidence {
    /// The first change, of those that were asked about, it belongs to.
    pub(crate) change: usize,
    /// It stands in a changed file; true when in its changed lines.
    pub(crate) changed: Option<bool>,
    /// Edges lead from it to a changed symbol.
    pub(crate) calls: Option<Way>,
    /// Edges do, but for one call of which only the name is known.
    pub(crate) by_name: Option<Way>,
    /// It starts a program that leads to a changed symbol.
    pub(crate) starts: Option<Start>,
    /// Its file is named after a changed one.
    pub(crate) is_named_after: bool,
    /// Its file imports a changed one.
    pub(crate) is_importing: bool,
    /// Earlier commits that changed both.
    pub(crate) together: Option<Together>,
    /// Words that its name has in common with what changed.
    pub(crate) n_words: usize,
}

/// A way to a changed symbol.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) steps: u32,
    pub(crate) start: NodeIndex,
    /// Nobody is known to call one of them, and its type is used.
    pub(crate) by_type: bool,
}

/// A way to a changed symbol through a program.
#[derive(Clone, Copy)]
pub(crate) struct Start {
    /// None: files of the program use the changed one, and no way is known.
    pub(crate) steps: Option<u32>,
    pub(crate) start: NodeIndex,
    /// How much the test speaks of what changed.
    pub(crate) score: u32,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Together {
    /// How often its file changed with the changed file.
    pub(crate) times: usize,
    /// How often the test itself did.
    pub(crate) as_itself: usize,
}

/// A kind of reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum TestEvidence {
    /// Edges of the graph lead to what changed
    Calls,
    /// A call of that name, and nobody knows on what
    Name,
    /// The test's file is named after the changed one
    Named,
    /// Earlier commits changed both
    Together,
    /// The test's file imports the changed one
    Imports,
    /// The test starts a program that leads to what changed
    Program,
}

impl Evidence {
    /// The nearest way counts.
    pub(crate) fn add_calls(&mut self, way: Way) {
        keep_nearest(&mut self.calls, way);
    }

    pub(crate) fn add_by_name(&mut self, way: Way) {
        keep_nearest(&mut self.by_name, way);
    }

    pub(crate) fn add_start(&mut self, start: Start) {
        let rank = |it: &Start| (it.score, it.steps.map_or(0, |it| u32::MAX - it));
        if self.starts.as_ref().is_none_or(|it| rank(&start) > rank(it)) {
            self.starts = Some(start);
        }
    }

    /// The greater, the sooner it should be run. What edges say outweighs names, and both outweigh habits.
    pub(crate) fn weight(&self) -> u32 {
        // More steps than three say less than a name.
        let far = |way: &Way| if way.steps > 3 || way.by_type { 30 } else { 0 };
        let near =
            |way: &Way, most: u32, least: u32| most.saturating_sub(10 * way.steps + far(way)).max(least);
        let changed = self.changed.map_or(0, |in_lines| if in_lines { 1_000 } else { 300 });
        let calls = self.calls.as_ref().map_or(0, |it| near(it, 110, 30));
        let by_name = self.by_name.as_ref().map_or(0, |it| near(it, 70, 20));
        let named = if self.is_named_after { 50 } else { 0 };
        let imports = if self.is_importing { 10 } else { 0 };
        let together = self.together.map_or(0, |it| {
            let often = |times: usize| times.min(8) as u32;
            10 + 3 * often(it.times) + 10 * often(it.as_itself).min(3)
        });
        let starts = self.starts.map_or(0, |it| {
            let known = if it.steps.is_some() { 16 } else { 8 };
            known + it.score.min(40)
        });
        changed + calls.max(by_name) + named + imports + together + starts + 8 * self.n_words.min(4) as u32
    }

    /// Steps to the change, where a way is known.
    pub(crate) fn steps(&self) -> Option<u32> {
        if self.changed.is_some() {
            return Some(0);
        }
        self.nearest().map(|it| it.steps).or(self.starts.and_then(|it| it.steps))
    }

    /// The changed symbol that a way leads to.
    pub(crate) fn reached(&self) -> Option<NodeIndex> {
        self.nearest().map(|it| it.start).or(self.starts.map(|it| it.start))
    }

    pub(crate) fn nearest(&self) -> Option<Way> {
        self.calls.or(self.by_name)
    }

    /// In words, the strongest first.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        match self.changed {
            Some(true) => reasons.push("changed itself".to_owned()),
            Some(false) => reasons.push("in a changed file".to_owned()),
            None => {}
        }
        match (&self.calls, &self.by_name) {
            (Some(way), _) => {
                let what = if way.by_type { "uses its type" } else { "calls" };
                reasons.push(format!("{what}, {}", Count(way.steps as usize, "step")));
            }
            (None, Some(way)) => {
                reasons.push(format!("calls of that name, {}", Count(way.steps as usize, "step")));
            }
            (None, None) => {}
        }
        if self.starts.is_some() {
            reasons.push("starts the program".to_owned());
        }
        if self.is_named_after {
            reasons.push("named after".to_owned());
        }
        if let Some(it) = self.together {
            reasons.push(format!("changed together {}", Count(it.times, "time")));
        }
        if self.is_importing {
            reasons.push("imports".to_owned());
        }
        reasons
    }
}

fn keep_nearest(known: &mut Option<Way>, way: Way) {
    if known.is_none_or(|it| way.steps < it.steps) {
        *known = Some(way);
    }
}

struct Count(usize, &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Count(n, unit) = self;
        write!(f, "{n} {unit}{}", if *n == 1 { "" } else { "s" })
    }
}
