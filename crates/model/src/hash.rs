//! `H(tag, f1 ... fn)`: SHA-256 over a tag and length-prefixed fields, and one newtype for each thing it names.

use std::fmt;

use sha2::{Digest, Sha256};

/// 32 bytes of SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub fn from_hex(text: &str) -> Option<Hash> {
        let bytes = text.as_bytes();
        if bytes.len() != 64 {
            return None;
        }
        let mut out = [0; 32];
        for (slot, pair) in out.iter_mut().zip(bytes.chunks_exact(2)) {
            *slot = hex_digit(pair[0])? << 4 | hex_digit(pair[1])?;
        }
        Some(Hash(out))
    }
}

fn hex_digit(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|it| it as u8)
}

/// Lower-case hex of any bytes.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        out.push(DIGITS[(byte >> 4) as usize] as char);
        out.push(DIGITS[(byte & 15) as usize] as char);
    }
    out
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Builds `H(tag, ...)`: `knowing/` tag `/1`, a zero byte, then each field as u32 length and bytes.
pub struct Hasher(Sha256);

impl Hasher {
    pub fn new(tag: &str) -> Hasher {
        let mut sha = Sha256::new();
        sha.update(b"knowing/");
        sha.update(tag.as_bytes());
        sha.update(b"/1\0");
        Hasher(sha)
    }

    pub fn field(mut self, bytes: &[u8]) -> Hasher {
        self.push(bytes);
        self
    }

    /// As `field`, for loops.
    pub fn push(&mut self, bytes: &[u8]) {
        let length = u32::try_from(bytes.len()).expect("a hashed field is shorter than 4 GiB");
        self.0.update(length.to_le_bytes());
        self.0.update(bytes);
    }

    pub fn finish(self) -> Hash {
        Hash(self.0.finalize().into())
    }
}

macro_rules! id_types {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub Hash);

        impl $name {
            pub fn as_bytes(&self) -> &[u8; 32] {
                self.0.as_bytes()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    )*};
}

id_types! {
    /// A repository, by its url.
    RepoId;
    /// A file version: path and content in a repository.
    FileId;
    /// A symbol or thing, by its identity (not by its content).
    NodeId;
    /// A relation: source, target and kind.
    EdgeId;
    /// The graph state of a commit.
    SnapshotId;
}
