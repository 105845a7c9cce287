//! The closed table of node kinds. Ids are stored and names are hashed: append, never renumber, never rename.

macro_rules! node_kinds {
    ($($id:literal $variant:ident $name:literal $short:literal;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
        #[repr(u8)]
        pub enum NodeKind {
            $($variant = $id,)*
        }

        impl NodeKind {
            pub const ALL: &[NodeKind] = &[$(NodeKind::$variant,)*];

            pub fn name(self) -> &'static str {
                match self {
                    $(NodeKind::$variant => $name,)*
                }
            }

            /// The form used where every byte counts.
            pub fn short_name(self) -> &'static str {
                match self {
                    $(NodeKind::$variant => $short,)*
                }
            }
        }
    };
}

node_kinds! {
    1 Function "function" "fn";
    2 Type "type" "type";
    3 Method "method" "method";
    4 Interface "interface" "iface";
    5 Var "var" "var";
    6 Const "const" "const";
    7 Resource "resource" "resource";
    8 Table "table" "table";
    9 Class "class" "class";
    10 Selector "selector" "selector";
    11 Field "field" "field";
    12 RouteHandler "route_handler" "route";
    13 External "external" "ext";
    14 File "file" "file";
    15 Package "package" "pkg";
    16 Service "service" "svc";
    17 EnvVar "env_var" "env_var";
    18 Process "process" "process";
    19 Struct "struct" "struct";
    20 Enum "enum" "enum";
    21 Trait "trait" "trait";
    22 Module "module" "module";
    23 Constructor "constructor" "ctor";
    24 Property "property" "prop";
    25 EnumMember "enum_member" "member";
    26 TypeAlias "type_alias" "alias";
    27 Macro "macro" "macro";
    28 Test "test" "test";
    29 Endpoint "endpoint" "endpoint";
    30 Topic "topic" "topic";
    31 Flag "flag" "flag";
    32 Owner "owner" "owner";
    33 Author "author" "author";
    34 DocSection "doc_section" "doc";
    35 Rpc "rpc" "rpc";
    36 Schema "schema" "schema";
    37 Image "image" "image";
    38 Target "target" "target";
    39 Workflow "workflow" "workflow";
    40 Job "job" "job";
    41 Workload "workload" "workload";
    42 Config "config" "config";
}

impl NodeKind {
    pub fn id(self) -> u8 {
        self as u8
    }

    pub fn from_id(id: u8) -> Option<NodeKind> {
        NodeKind::ALL.get(usize::from(id).checked_sub(1)?).copied()
    }

    /// Accepts the name and the short form.
    pub fn from_name(name: &str) -> Option<NodeKind> {
        NodeKind::ALL.iter().copied().find(|it| it.name() == name || it.short_name() == name)
    }

    pub fn is_type_like(self) -> bool {
        use NodeKind::{Class, Enum, Interface, Module, Struct, Trait, Type, TypeAlias};
        matches!(self, Type | Class | Struct | Enum | Trait | Interface | TypeAlias | Module)
    }

    pub fn is_callable(self) -> bool {
        use NodeKind::{Constructor, Function, Macro, Method, Rpc, Test};
        matches!(self, Function | Method | Constructor | Macro | Test | Rpc)
    }

    /// What holds something and is used by its name.
    pub fn is_value(self) -> bool {
        use NodeKind::{Const, EnumMember, Field, Property, Var};
        matches!(self, Var | Const | Field | Property | EnumMember)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_id_name_and_short_name() {
        for (row, &kind) in NodeKind::ALL.iter().enumerate() {
            assert_eq!(usize::from(kind.id()), row + 1);
            assert_eq!(NodeKind::from_id(kind.id()), Some(kind));
            assert_eq!(NodeKind::from_name(kind.name()), Some(kind));
            assert_eq!(NodeKind::from_name(kind.short_name()), Some(kind));
        }
        assert_eq!(NodeKind::from_id(0), None);
    }
}
