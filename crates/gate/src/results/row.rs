//! One sample as the file has it, borrowed from the buffer.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use smallvec::SmallVec;

use super::stream::NAN_MARKER;

/// A list that is short in nearly every file.
pub(super) type Few<T> = SmallVec<[T; 4]>;

/// One element of `samples`.
#[derive(Default)]
pub(super) struct Row<'a> {
    pub(super) id: Option<Text<'a>>,
    pub(super) variant: Option<Text<'a>>,
    pub(super) repeat: Option<u32>,
    pub(super) cluster: Option<Text<'a>>,
    pub(super) input_sha256: Option<Text<'a>>,
    pub(super) tags: Few<(Name<'a>, Tag<'a>)>,
    pub(super) scores: Few<(Name<'a>, RawScore)>,
    pub(super) failures: Vec<(Name<'a>, RawFailure<'a>)>,
    pub(super) not_applicable: Vec<(Name<'a>, Note<'a>)>,
    pub(super) reasons: Vec<(Name<'a>, Note<'a>)>,
}

/// A key, not yet checked to be UTF-8: most keys are compared with one that is, and never looked at again.
#[derive(PartialEq, Eq)]
pub(super) struct Name<'a>(Cow<'a, [u8]>);

impl<'a> Name<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Name(Cow::Borrowed(text.as_bytes()))
    }

    pub(super) fn is(&self, name: &str) -> bool {
        *self.0 == *name.as_bytes()
    }

    /// The key as text; what is no UTF-8 shows as such.
    pub(super) fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_bytes<E>(self, name: &'de [u8]) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(name)))
            }
            fn visit_bytes<E>(self, name: &[u8]) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_bytes(NameVisitor)
    }
}

/// A name: a string, or a number or truth value by its spelling.
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

/// A text that is only shown; anything but a string counts as none.
pub(super) struct Note<'a>(pub(super) Option<Cow<'a, str>>);

/// The value of a tag: one name, or several.
pub(super) enum Tag<'a> {
    None,
    One(Text<'a>),
    Many(Vec<Text<'a>>),
}

/// A score as the file has it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RawScore {
    Number(f64),
    Null,
    /// A bare `NaN`.
    NotANumber,
    /// A string, list or object, described for the message.
    Wrong(String),
}

/// `{"kind", "message"}`, or a message alone.
pub(super) struct RawFailure<'a> {
    pub(super) kind: Option<Cow<'a, str>>,
    pub(super) message: Option<Cow<'a, str>>,
}

enum Key<'a> {
    Id,
    Variant,
    Repeat,
    Cluster,
    InputSha256,
    Tags,
    Scores,
    Failures,
    NotApplicable,
    Reasons,
    Other(Name<'a>),
}

impl<'de> Deserialize<'de> for Key<'de> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Name::deserialize(deserializer)?;
        Ok(match name.0.as_ref() {
            b"id" => Key::Id,
            b"variant" => Key::Variant,
            b"repeat" => Key::Repeat,
            b"cluster" => Key::Cluster,
            b"input_sha256" => Key::InputSha256,
            b"tags" => Key::Tags,
            b"scores" => Key::Scores,
            b"failures" => Key::Failures,
            b"not_applicable" => Key::NotApplicable,
            b"reasons" => Key::Reasons,
            _ => Key::Other(name),
        })
    }
}

/// Reads a sample into a row that is already in its place: moving rows around costs as much as parsing them.
pub(super) struct RowSeed<'r, 'a>(pub(super) &'r mut Row<'a>);

impl<'de> DeserializeSeed<'de> for RowSeed<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RowSeed<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sample: an object with `id` and `scores`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let row = self.0;
        let mut seen = 0_u16;
        let mut others: Vec<Name<'de>> = Vec::new();
        while let Some(key) = map.next_key::<Key<'de>>()? {
            let (bit, name) = match &key {
                Key::Id => (1, "id"),
                Key::Variant => (1 << 1, "variant"),
                Key::Repeat => (1 << 2, "repeat"),
                Key::Cluster => (1 << 3, "cluster"),
                Key::InputSha256 => (1 << 4, "input_sha256"),
                Key::Tags => (1 << 5, "tags"),
                Key::Scores => (1 << 6, "scores"),
                Key::Failures => (1 << 7, "failures"),
                Key::NotApplicable => (1 << 8, "not_applicable"),
                Key::Reasons => (1 << 9, "reasons"),
                Key::Other(name) if others.contains(name) => return Err(twice(&name.text())),
                Key::Other(_) => (0, ""),
            };
            if seen & bit != 0 {
                return Err(twice(name));
            }
            seen |= bit;
            match key {
                Key::Id => row.id = map.next_value::<MaybeText<'de>>()?.0,
                Key::Variant => row.variant = map.next_value::<MaybeText<'de>>()?.0,
                Key::Repeat => row.repeat = map.next_value()?,
                Key::Cluster => row.cluster = map.next_value::<MaybeText<'de>>()?.0,
                Key::InputSha256 => row.input_sha256 = map.next_value::<MaybeText<'de>>()?.0,
                Key::Tags => map.next_value_seed(Entries(&mut row.tags))?,
                Key::Scores => map.next_value_seed(Entries(&mut row.scores))?,
                Key::Failures => map.next_value_seed(Entries(&mut row.failures))?,
                Key::NotApplicable => map.next_value_seed(Entries(&mut row.not_applicable))?,
                Key::Reasons => map.next_value_seed(Entries(&mut row.reasons))?,
                Key::Other(name) => {
                    others.push(name);
                    map.next_value::<Unread>()?;
                }
            }
        }
        Ok(())
    }
}

/// Reads an object as a list of its entries; `null` is an empty one.
struct Entries<'r, L>(&'r mut L);

/// A list that entries are read into.
trait EntryList<'a> {
    type Entry: Deserialize<'a>;
    fn has(&self, name: &Name<'a>) -> bool;
    fn add(&mut self, name: Name<'a>, entry: Self::Entry);
}

impl<'a, T: Deserialize<'a>> EntryList<'a> for Few<(Name<'a>, T)> {
    type Entry = T;

    fn has(&self, name: &Name<'a>) -> bool {
        self.iter().any(|(known, _)| known == name)
    }

    fn add(&mut self, name: Name<'a>, entry: T) {
        self.push((name, entry));
    }
}

impl<'a, T: Deserialize<'a>> EntryList<'a> for Vec<(Name<'a>, T)> {
    type Entry = T;

    fn has(&self, name: &Name<'a>) -> bool {
        self.iter().any(|(known, _)| known == name)
    }

    fn add(&mut self, name: Name<'a>, entry: T) {
        self.push((name, entry));
    }
}

impl<'de, L: EntryList<'de>> DeserializeSeed<'de> for Entries<'_, L> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, L: EntryList<'de>> Visitor<'de> for Entries<'_, L> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<Name<'de>>()? {
            if self.0.has(&name) {
                return Err(twice(&name.text()));
            }
            let entry = map.next_value()?;
            self.0.add(name, entry);
        }
        Ok(())
    }
}

/// Reads a name; a bare `NaN` is none.
struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Option<Text<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok((text != NAN_MARKER).then_some(Text(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok((text != NAN_MARKER).then(|| Text(Cow::Owned(text.to_owned()))))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Some(Text(Cow::Owned(number.to_string()))))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Some(Text(Cow::Owned(number.to_string()))))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Some(Text(Cow::Owned(number.to_string()))))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Self::Value, E> {
        Ok(Some(Text(Cow::Borrowed(if truth {
            "true"
        } else {
            "false"
        }))))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(TextVisitor)?
            .ok_or_else(|| de::Error::custom("a name is needed, not nothing"))
    }
}

/// Text that is not there, `null` or `NaN`, is `None`.
struct MaybeText<'a>(Option<Text<'a>>);

impl<'de> Deserialize<'de> for MaybeText<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor).map(MaybeText)
    }
}

impl<'de> Deserialize<'de> for Note<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Note(match Tag::deserialize(deserializer)? {
            Tag::One(text) => Some(text.0),
            Tag::None | Tag::Many(_) => None,
        }))
    }
}

impl<'de> Deserialize<'de> for Tag<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TagVisitor)
    }
}

struct TagVisitor;

impl<'de> Visitor<'de> for TagVisitor {
    type Value = Tag<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, or a list of strings")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Tag<'de>, E> {
        TextVisitor.visit_borrowed_str(text).map(Tag::from)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Tag<'de>, E> {
        TextVisitor.visit_str(text).map(Tag::from)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Tag<'de>, E> {
        TextVisitor.visit_u64(number).map(Tag::from)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Tag<'de>, E> {
        TextVisitor.visit_i64(number).map(Tag::from)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Tag<'de>, E> {
        TextVisitor.visit_f64(number).map(Tag::from)
    }

    fn visit_bool<E: de::Error>(self, truth: bool) -> Result<Tag<'de>, E> {
        TextVisitor.visit_bool(truth).map(Tag::from)
    }

    fn visit_unit<E>(self) -> Result<Tag<'de>, E> {
        Ok(Tag::None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tag<'de>, A::Error> {
        let mut names = Vec::new();
        while let Some(MaybeText(name)) = list.next_element()? {
            names.extend(name);
        }
        Ok(Tag::Many(names))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Tag<'de>, A::Error> {
        UnreadVisitor.visit_map(map)?;
        Ok(Tag::None)
    }
}

impl<'a> From<Option<Text<'a>>> for Tag<'a> {
    fn from(text: Option<Text<'a>>) -> Self {
        text.map_or(Tag::None, Tag::One)
    }
}

/// A value that nobody reads; only its keys are checked for doubles.
pub(super) struct Unread;

struct UnreadVisitor;

impl<'de> Deserialize<'de> for Unread {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UnreadVisitor)
    }
}

impl<'de> Visitor<'de> for UnreadVisitor {
    type Value = Unread;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_unit<E>(self) -> Result<Unread, E> {
        Ok(Unread)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Unread, E> {
        Ok(Unread)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Unread, E> {
        Ok(Unread)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Unread, E> {
        Ok(Unread)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Unread, E> {
        Ok(Unread)
    }

    fn visit_str<E>(self, _: &str) -> Result<Unread, E> {
        Ok(Unread)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Unread, A::Error> {
        while list.next_element::<Unread>()?.is_some() {}
        Ok(Unread)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unread, A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = map.next_key::<Text<'de>>()? {
            map.next_value::<Unread>()?;
            if let Some(name) = names.replace(name.0) {
                return Err(twice(&name));
            }
        }
        Ok(Unread)
    }
}

pub(super) fn twice<E: de::Error>(name: &str) -> E {
    let shown: String = name.chars().take(80).collect();
    E::custom(format!("the key `{shown}` stands twice in one object"))
}

impl<'de> Deserialize<'de> for RawScore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ScoreVisitor;
        impl<'de> Visitor<'de> for ScoreVisitor {
            type Value = RawScore;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, true, false or null")
            }
            fn visit_f64<E>(self, number: f64) -> Result<RawScore, E> {
                // −0 would make equal files print differently.
                Ok(RawScore::Number(number + 0.0))
            }
            fn visit_u64<E>(self, number: u64) -> Result<RawScore, E> {
                Ok(RawScore::Number(number as f64))
            }
            fn visit_i64<E>(self, number: i64) -> Result<RawScore, E> {
                Ok(RawScore::Number(number as f64))
            }
            fn visit_bool<E>(self, truth: bool) -> Result<RawScore, E> {
                Ok(RawScore::Number(f64::from(u8::from(truth))))
            }
            fn visit_unit<E>(self) -> Result<RawScore, E> {
                Ok(RawScore::Null)
            }
            fn visit_str<E>(self, text: &str) -> Result<RawScore, E> {
                if text == NAN_MARKER {
                    return Ok(RawScore::NotANumber);
                }
                let shown: String = text.chars().take(40).collect();
                Ok(RawScore::Wrong(format!("the string {shown:?}")))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<RawScore, A::Error> {
                UnreadVisitor.visit_seq(list)?;
                Ok(RawScore::Wrong("a list".to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawScore, A::Error> {
                UnreadVisitor.visit_map(map)?;
                Ok(RawScore::Wrong("an object".to_owned()))
            }
        }
        deserializer.deserialize_any(ScoreVisitor)
    }
}

impl<'de> Deserialize<'de> for RawFailure<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FailureVisitor;
        impl<'de> Visitor<'de> for FailureVisitor {
            type Value = RawFailure<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a failure: an object with `kind` and `message`")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<RawFailure<'de>, E> {
                Ok(RawFailure {
                    kind: None,
                    message: Some(Cow::Borrowed(text)),
                })
            }
            fn visit_str<E>(self, text: &str) -> Result<RawFailure<'de>, E> {
                Ok(RawFailure {
                    kind: None,
                    message: Some(Cow::Owned(text.to_owned())),
                })
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawFailure<'de>, A::Error> {
                let mut failure = RawFailure {
                    kind: None,
                    message: None,
                };
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    match key.0.as_ref() {
                        "kind" => failure.kind = map.next_value::<Note<'de>>()?.0,
                        "message" => failure.message = map.next_value::<Note<'de>>()?.0,
                        _ => {
                            map.next_value::<Unread>()?;
                        }
                    }
                }
                Ok(failure)
            }
        }
        deserializer.deserialize_any(FailureVisitor)
    }
}
