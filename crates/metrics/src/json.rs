//! JSON as a judge writes it: a value that keeps what `serde_json::Value` hides, that a key came twice.

use std::fmt;

use crate::reason::cut;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value; an object with a key that comes twice is none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The member of an object whose key is one of `names`, whatever its case.
    pub(crate) fn member(&self, names: &[&str]) -> Option<&Json> {
        names.iter().find_map(|name| {
            self.members()
                .iter()
                .find(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value)
        })
    }

    /// The members of an object; of anything else, none.
    pub(crate) fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Object(members) => members,
            _ => &[],
        }
    }

    /// The number that a number or a text of digits is.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Json::Number(number) => Some(*number),
            Json::Text(text) => text.trim().parse().ok(),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = access.next_element()? {
            list.push(value);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut members: Vec<(String, Json)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while let Some((key, value)) = access.next_entry::<String, Json>()? {
            // Small objects are the rule, and need no table.
            let is_twice = if members.len() < 16 {
                members.iter().any(|(known, _)| *known == key)
            } else {
                if seen.is_empty() {
                    seen.extend(members.iter().map(|(known, _)| known.clone()));
                }
                !seen.insert(key.clone())
            };
            if is_twice {
                return Err(de::Error::custom(format_args!(
                    "the key `{}` comes twice",
                    cut(&key, 40)
                )));
            }
            members.push((key, value));
        }
        Ok(Json::Object(members))
    }
}
