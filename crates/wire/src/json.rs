//! The payload field by field: ids in hex, kinds by their names, what is absent left out.

use serde::{Deserialize, Serialize};

use crate::payload::{Edge, Payload, Symbol};

/// A change that breaks readers raises the number.
pub const SCHEMA: &str = "knowing/1";

/// One line, without spaces.
pub fn encode(payload: &Payload) -> String {
    let written = serde_json::to_string(&Written { schema: SCHEMA, payload });
    written.expect("all keys are strings and all numbers are finite")
}

/// Reads what `encode` wrote; fields it does not know are passed over.
pub fn decode(text: &str) -> Result<Payload, String> {
    let schema: Schema = serde_json::from_str(text).map_err(|error| format!("it is no payload: {error}"))?;
    if schema.schema != SCHEMA {
        return Err(format!("its schema is `{}`, and `{SCHEMA}` is read", schema.schema));
    }
    serde_json::from_str(text).map_err(|error| format!("it is no payload: {error}"))
}

#[derive(Serialize)]
struct Written<'a> {
    schema: &'static str,
    #[serde(flatten)]
    payload: &'a Payload,
}

#[derive(Deserialize)]
struct Schema {
    schema: String,
}

// What a symbol is numbered is known when all are chosen: room for five digits.
const ID_DIGITS: usize = 5;

/// With the comma after it.
pub(crate) fn symbol_bytes(symbol: &Symbol) -> usize {
    let own_digits = symbol.id.checked_ilog10().unwrap_or(0) as usize + 1;
    length(symbol) - own_digits + ID_DIGITS.max(own_digits) + 1
}

pub(crate) fn edge_bytes(edge: &Edge) -> usize {
    length(edge) + 1
}

fn length(value: &impl Serialize) -> usize {
    let mut counted = Counted(0);
    serde_json::to_writer(&mut counted, value).expect("all keys are strings and all numbers are finite");
    counted.0
}

/// Counts what is written to it and keeps nothing.
struct Counted(usize);

impl std::io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Ids as 64 hex digits.
pub(crate) mod hex {
    use knowing_model::{Hash, NodeId, SnapshotId};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) trait Id: Sized {
        fn of(hash: Hash) -> Self;
        fn hash(&self) -> Hash;
    }

    macro_rules! ids {
        ($($name:ident)*) => {$(
            impl Id for $name {
                fn of(hash: Hash) -> $name {
                    $name(hash)
                }

                fn hash(&self) -> Hash {
                    self.0
                }
            }
        )*};
    }

    ids! { NodeId SnapshotId }

    impl Id for Hash {
        fn of(hash: Hash) -> Hash {
            hash
        }

        fn hash(&self) -> Hash {
            *self
        }
    }

    pub(crate) fn serialize<T: Id, S: Serializer>(id: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&id.hash())
    }

    pub(crate) fn deserialize<'de, T: Id, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let text = String::deserialize(deserializer)?;
        let hash = Hash::from_hex(&text)
            .ok_or_else(|| D::Error::custom(format!("`{text}` is no id of 64 hex digits")))?;
        Ok(T::of(hash))
    }

    /// For a field that is left out when it is none.
    pub(crate) mod optional {
        use serde::{Deserializer, Serializer};

        use super::Id;

        pub(crate) fn serialize<T: Id, S: Serializer>(
            id: &Option<T>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            match id {
                Some(id) => super::serialize(id, serializer),
                None => serializer.serialize_none(),
            }
        }

        pub(crate) fn deserialize<'de, T: Id, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<T>, D::Error> {
            super::deserialize(deserializer).map(Some)
        }
    }
}

/// Rows of the closed tables, by their names.
pub(crate) mod by_name {
    use knowing_model::{EdgeKind, NodeKind, Provenance};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) trait Named: Copy {
        fn name(self) -> &'static str;
        fn from_name(name: &str) -> Option<Self>;
    }

    macro_rules! named {
        ($($table:ident)*) => {$(
            impl Named for $table {
                fn name(self) -> &'static str {
                    $table::name(self)
                }

                fn from_name(name: &str) -> Option<$table> {
                    $table::from_name(name)
                }
            }
        )*};
    }

    named! { NodeKind EdgeKind Provenance }

    pub(crate) fn serialize<T: Named, S: Serializer>(row: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(row.name())
    }

    pub(crate) fn deserialize<'de, T: Named, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let text = String::deserialize(deserializer)?;
        T::from_name(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is in no table")))
    }
}

/// Basis points as a number from 0 to 1.
pub(crate) mod confidence {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(basis_points: &u16, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(*basis_points) / 10_000.0)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
        let value = f64::deserialize(deserializer)?;
        if !(0.0..=1.0).contains(&value) {
            return Err(D::Error::custom(format!("the confidence `{value}` is not between 0 and 1")));
        }
        Ok((value * 10_000.0).round() as u16)
    }
}

/// Few digits: they are read by people and models, and every platform prints the same.
pub(crate) mod four_decimals {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(rounded(*value))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        f64::deserialize(deserializer)
    }

    /// What is no number is 0: JSON has no word for it.
    pub(crate) fn rounded(value: f64) -> f64 {
        let rounded = (value * 10_000.0).round() / 10_000.0;
        // And no negative zero.
        if rounded.is_finite() { rounded + 0.0 } else { 0.0 }
    }
}

pub(crate) mod four_decimals_each {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::four_decimals::rounded;

    pub(crate) fn serialize<S: Serializer>(
        values: &BTreeMap<String, f64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(values.iter().map(|(name, value)| (name, rounded(*value))))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, f64>, D::Error> {
        BTreeMap::deserialize(deserializer)
    }
}
