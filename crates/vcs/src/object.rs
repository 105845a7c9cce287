//! Ids of git objects, and the id that given bytes have.

use std::fmt;

use crate::{Error, Result};

/// The hash function of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObjectFormat {
    Sha1,
    Sha256,
}

impl ObjectFormat {
    pub fn name(self) -> &'static str {
        match self {
            ObjectFormat::Sha1 => "sha1",
            ObjectFormat::Sha256 => "sha256",
        }
    }

    pub(crate) fn of(kind: gix::hash::Kind) -> Option<ObjectFormat> {
        match kind {
            gix::hash::Kind::Sha1 => Some(ObjectFormat::Sha1),
            gix::hash::Kind::Sha256 => Some(ObjectFormat::Sha256),
            _ => None,
        }
    }

    fn kind(self) -> gix::hash::Kind {
        match self {
            ObjectFormat::Sha1 => gix::hash::Kind::Sha1,
            ObjectFormat::Sha256 => gix::hash::Kind::Sha256,
        }
    }
}

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident;)*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $name(pub(crate) gix::ObjectId);

            impl $name {
                /// The raw id, 20 or 32 bytes.
                pub fn as_bytes(&self) -> &[u8] {
                    self.0.as_bytes()
                }

                pub fn from_bytes(bytes: &[u8]) -> Option<$name> {
                    gix::ObjectId::try_from(bytes).ok().map($name)
                }

                pub fn from_hex(text: &str) -> Option<$name> {
                    gix::ObjectId::from_hex(text.as_bytes()).ok().map($name)
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                    write!(formatter, "{}", self.0.to_hex())
                }
            }

            impl fmt::Debug for $name {
                fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                    write!(formatter, concat!(stringify!($name), "({})"), self.0.to_hex())
                }
            }
        )*
    };
}

ids! {
    /// The id of a file's content; of a submodule's entry the commit it points at.
    BlobId;
    CommitId;
}

/// The id that git gives to a file with these bytes. Fails only for content made to break the hash function.
pub fn hash_blob(format: ObjectFormat, bytes: &[u8]) -> Result<BlobId> {
    gix::objs::compute_hash(format.kind(), gix::objs::Kind::Blob, bytes)
        .map(BlobId)
        .map_err(Error::git("hash the content of a file"))
}
