//! The closed table of edge kinds. Ids are stored and names are hashed: append, never renumber, never rename.
//!
//! A row is all there is to say about a kind: id, name, category, default walk weight in hundredths, the class of change
//! its appearance means, and one line for the documentation that is generated from here.

macro_rules! edge_kinds {
    ($($id:literal $variant:ident $name:literal $category:ident $weight:literal $change:ident $meaning:literal;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
        #[repr(u8)]
        pub enum EdgeKind {
            $(#[doc = $meaning] $variant = $id,)*
        }

        impl EdgeKind {
            pub const ALL: &[EdgeKind] = &[$(EdgeKind::$variant,)*];

            fn row(self) -> &'static Row {
                const ROWS: &[Row] = &[$(Row {
                    name: $name,
                    category: Category::$category,
                    weight_hundredths: $weight,
                    change: Change::$change,
                    meaning: $meaning,
                },)*];
                &ROWS[self as usize - 1]
            }
        }
    };
}

struct Row {
    name: &'static str,
    category: Category,
    weight_hundredths: u16,
    change: Change,
    meaning: &'static str,
}

edge_kinds! {
    1 Calls "calls" Code 100 Behavioural "invokes; includes callback registration";
    2 Imports "imports" Code 50 Structural "file or package imports file, package or symbol";
    3 Implements "implements" Code 80 Structural "type satisfies interface, trait or mixin";
    4 References "references" Code 40 Metadata "uses a type, constant or value without calling it";
    5 HandlesRoute "handles_route" Route 70 Structural "route node is served by function";
    6 DependsOn "depends_on" Infra 50 Structural "needs";
    7 Deploys "deploys" Infra 30 Metadata "service selects workload";
    8 Exposes "exposes" Infra 30 Metadata "ingress or port leads to service";
    9 Configures "configures" Infra 30 Metadata "config or secret is used by workload";
    10 Extends "extends" Code 70 Structural "inherits from";
    11 Overrides "overrides" Code 80 Structural "method replaces or fulfils method";
    12 Decorates "decorates" Code 30 Structural "decorator, annotation or attribute is applied to symbol";
    13 Throws "throws" Code 40 Behavioural "raises or returns error type";
    14 OwnedBy "owned_by" Ownership 0 Metadata "file is owned by team or person";
    15 AuthoredBy "authored_by" Ownership 0 Metadata "symbol was last mainly written by author";
    16 Tests "tests" Test 60 Metadata "test exercises production symbol";
    17 RuntimeCalls "runtime_calls" Runtime 30 Runtime "observed HTTP or generic call";
    18 RuntimeRpc "runtime_rpc" Runtime 30 Runtime "observed RPC";
    19 RuntimeProduces "runtime_produces" Runtime 30 Runtime "observed message sent";
    20 RuntimeConsumes "runtime_consumes" Runtime 30 Runtime "observed message received";
    21 Contains "contains" Structural 80 Structural "type or module has member";
    22 MemberOf "member_of" Structural 60 Structural "member belongs to type or module";
    23 Documents "documents" Docs 20 Metadata "doc section is about exactly this symbol";
    24 ConsumesEndpoint "consumes_endpoint" Api 50 Behavioural "function calls HTTP endpoint";
    25 ImplementsRpc "implements_rpc" Api 80 Structural "method implements RPC";
    26 ConsumesRpc "consumes_rpc" Api 60 Behavioural "function calls RPC through a stub";
    27 GatedByFlag "gated_by_flag" Flags 30 Metadata "function checks feature flag";
    28 DeployedBy "deployed_by" Deployment 40 Metadata "service or package is deployed by job";
    29 TestedBy "tested_by" Test 50 Metadata "package is tested by job";
    30 Publishes "publishes" Messaging 30 Behavioural "sends to topic or queue";
    31 Subscribes "subscribes" Messaging 30 Behavioural "receives from topic or queue";
    32 ConnectsTo "connects_to" Messaging 30 Behavioural "uses broker, database or service";
    33 SimilarTo "similar_to" Lateral 15 Metadata "alike in name and signature";
    34 CoTestedWith "co_tested_with" Lateral 50 Metadata "exercised by the same test file";
    35 TypeHintOf "type_hint_of" Code 50 Structural "function takes or returns type";
    36 AccessesField "accesses_field" Code 60 Metadata "method reads or writes field of its own type";
    37 ReadsEnv "reads_env" Supply 40 Behavioural "function reads environment variable";
    38 ExecutesProcess "executes_process" Supply 50 Behavioural "function starts process";
    39 Inherits "inherits" Code 30 Structural "class may use method of an ancestor";
    40 ChangedWith "changed_with" History 20 Metadata "files' or symbols' lines change in the same commits";
    41 Mentions "mentions" Docs 20 Metadata "documentation text names symbol";
}

/// What area of a system a kind speaks of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Category {
    Code,
    Route,
    Infra,
    Ownership,
    Test,
    Runtime,
    Structural,
    Docs,
    Api,
    Flags,
    Deployment,
    Messaging,
    Lateral,
    Supply,
    History,
}

impl Category {
    pub fn name(self) -> &'static str {
        match self {
            Category::Code => "code",
            Category::Route => "route",
            Category::Infra => "infra",
            Category::Ownership => "ownership",
            Category::Test => "test",
            Category::Runtime => "runtime",
            Category::Structural => "structural",
            Category::Docs => "docs",
            Category::Api => "api",
            Category::Flags => "flags",
            Category::Deployment => "deployment",
            Category::Messaging => "messaging",
            Category::Lateral => "lateral",
            Category::Supply => "supply",
            Category::History => "history",
        }
    }
}

/// What it means for a diff when an edge of this kind appears or vanishes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Change {
    Metadata,
    Structural,
    Runtime,
    Behavioural,
}

impl EdgeKind {
    pub fn id(self) -> u8 {
        self as u8
    }

    pub fn from_id(id: u8) -> Option<EdgeKind> {
        EdgeKind::ALL.get(usize::from(id).checked_sub(1)?).copied()
    }

    pub fn name(self) -> &'static str {
        self.row().name
    }

    pub fn from_name(name: &str) -> Option<EdgeKind> {
        EdgeKind::ALL.iter().copied().find(|it| it.name() == name)
    }

    pub fn category(self) -> Category {
        self.row().category
    }

    /// The default weight of a transition along this kind, in hundredths.
    pub fn weight_hundredths(self) -> u16 {
        self.row().weight_hundredths
    }

    pub fn change(self) -> Change {
        self.row().change
    }

    /// One line, read as "source ... target".
    pub fn meaning(self) -> &'static str {
        self.row().meaning
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m6_every_edge_kind_has_a_full_row_and_a_stable_id() {
        assert_eq!(EdgeKind::ALL.len(), 41);
        for (row, &kind) in EdgeKind::ALL.iter().enumerate() {
            assert_eq!(usize::from(kind.id()), row + 1);
            assert_eq!(EdgeKind::from_id(kind.id()), Some(kind));
            assert_eq!(EdgeKind::from_name(kind.name()), Some(kind));
            assert!(!kind.meaning().is_empty() && !kind.category().name().is_empty());
            assert!(kind.weight_hundredths() <= 100);
        }
        // Ids are stored and hashed names are forever: these rows pin the ends and the middle of the table.
        for (id, name) in
            [(1, "calls"), (10, "extends"), (21, "contains"), (35, "type_hint_of"), (41, "mentions")]
        {
            assert_eq!(EdgeKind::from_id(id).map(EdgeKind::name), Some(name));
        }
        assert_eq!(EdgeKind::from_id(0), None);
        assert_eq!(EdgeKind::from_id(42), None);
    }
}
