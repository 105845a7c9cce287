//! What tables answer, unit by unit, so that a run that makes a unit anew says what differs without looking at the others.
//!
//! A unit is what is made anew as a whole: what a file or a package says in a table, or all of a small table.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::changes::Keys;
use super::keys::mix;
use super::provided::Answers;

/// Which table a unit is of.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(crate) enum Table {
    GoFile = 1,
    GoPackage,
    /// All tables of languages that are made anew at every run.
    Languages,
    Repeated,
    /// What one file says of its types.
    Hierarchy,
    /// What no file says alone.
    Parts,
    HierarchyOfAll,
    Offers,
    Routes,
    Programs,
}

impl Table {
    /// What the table says of one file or package, by its hash.
    pub(crate) fn unit(self, of: u64) -> u64 {
        mix(self as u64, of)
    }

    /// All that the table says.
    pub(crate) fn whole(self) -> u64 {
        self.unit(0)
    }
}

type Answer = (u32, u64);

#[derive(Default)]
pub(crate) struct Ledger {
    units: FxHashMap<u64, Arc<[Answer]>>,
    /// Of all units, sorted.
    all: Vec<Answer>,
    settled: Answers,
    went: Vec<Answer>,
    came: Vec<Answer>,
}

impl Ledger {
    /// Of units with their answers.
    pub(crate) fn new(units: Vec<(u64, Vec<Answer>)>) -> Ledger {
        let mut ledger = Ledger::default();
        units.into_iter().for_each(|(unit, answers)| ledger.set(unit, answers));
        ledger.all = std::mem::take(&mut ledger.came);
        ledger.all.sort_unstable();
        ledger.settled = Answers::new(ledger.all.clone());
        ledger
    }

    /// What a unit answers now.
    pub(crate) fn set(&mut self, unit: u64, mut answers: Vec<Answer>) {
        answers.sort_unstable();
        let before = self.units.get(&unit).map_or(&[][..], |it| it);
        if *before == *answers {
            return;
        }
        self.went.extend(before);
        self.came.extend(&answers);
        match answers.is_empty() {
            true => drop(self.units.remove(&unit)),
            false => drop(self.units.insert(unit, answers.into())),
        }
    }

    /// Adds the keys under which something came or went since the last time that all was settled.
    pub(crate) fn add_to(&mut self, keys: &mut Keys) {
        self.cancel();
        self.went.iter().chain(&self.came).for_each(|it| keys.insert(it.0));
    }

    /// Leaves out what went and came: a unit may be told twice, and another may answer what one ceased to.
    fn cancel(&mut self) {
        self.went.sort_unstable();
        self.came.sort_unstable();
        let mut both = Vec::new();
        let mut came = self.came.iter().peekable();
        self.went.retain(|went| {
            while came.next_if(|it| *it < went).is_some() {}
            let is_both = came.next_if_eq(&went).is_some();
            both.extend(is_both.then_some(*went));
            !is_both
        });
        let mut both = both.into_iter().peekable();
        self.came.retain(|it| both.next_if_eq(it).is_none());
    }

    /// All answers of all units, as if they had been put together anew.
    pub(crate) fn settle(&mut self) -> Answers {
        self.cancel();
        if self.went.is_empty() && self.came.is_empty() {
            return self.settled.clone();
        }
        let mut all = Vec::with_capacity(self.all.len() + self.came.len());
        let (mut went, mut came) = (self.went.drain(..).peekable(), self.came.drain(..).peekable());
        for answer in self.all.drain(..) {
            while let Some(new) = came.next_if(|it| *it <= answer) {
                all.push(new);
            }
            if went.next_if_eq(&answer).is_none() {
                all.push(answer);
            }
        }
        all.extend(came);
        debug_assert!(went.peek().is_none(), "what went was there");
        drop(went);
        self.all = all;
        self.settled = Answers::new(self.all.clone());
        self.settled.clone()
    }
}
