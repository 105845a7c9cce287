//! The table of fields: what a document is made of. The order is stored in images: a change of it is a new version.

macro_rules! fields {
    ($($variant:ident $name:literal $doc:literal;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Field {
            $(#[doc = $doc] $variant,)*
        }

        impl Field {
            pub const ALL: [Field; N_FIELDS] = [$(Field::$variant,)*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Field::$variant => $name,)*
                }
            }
        }
    };
}

pub const N_FIELDS: usize = 8;

fields! {
    Name "name" "Terminal name.";
    Owner "owner" "Enclosing types and modules.";
    Path "path" "Path in the repository.";
    Signature "signature" "One line: parameter names and types.";
    Doc "doc" "Doc comment, docstring; at most 800 characters.";
    Body "body" "Source of the symbol itself, without that of symbols in it; at most 6,000 characters.";
    History "history" "Messages of commits that changed the symbol.";
    Neighbours "neighbours" "Names of callers and callees.";
}

impl Field {
    /// Fields that follow from the file's bytes alone.
    pub(crate) const OF_CONTENT: [Field; 5] =
        [Field::Name, Field::Owner, Field::Signature, Field::Doc, Field::Body];

    pub fn index(self) -> usize {
        self as usize
    }
}
