//! TOML documents, deserialized from the parsed text itself, so that every error has its position in the file and uses
//! TOML's terms rather than serde's.

use std::any::type_name;
use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess,
    SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::mistake::{Kind, Mistake};
use crate::secret::Secret;

/// A TOML document, or a part of one that has only some of its top-level keys.
#[derive(Debug)]
pub struct Document<'a>(Spanned<DeTable<'a>>);

impl<'a> Document<'a> {
    /// Parses a TOML text.
    pub(crate) fn parse(text: &'a str) -> Result<Self, Mistake> {
        Ok(Self(DeTable::parse(text)?))
    }

    /// Moves the entries with these top-level keys to a document of their own, and returns it.
    #[must_use]
    pub fn split_off(&mut self, keys: &[&str]) -> Self {
        let mut theirs = DeTable::new();
        for key in keys {
            theirs.extend(self.0.get_mut().remove_entry(*key));
        }
        Self(Spanned::new(self.0.span(), theirs))
    }

    /// Deserializes the document into a type.
    ///
    /// # Errors
    /// The first mistake, such as a key that the type has no field for.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, Mistake> {
        let span = self.0.span();
        T::deserialize(Node {
            value: DeValue::Table(self.0.into_inner()),
            span: span.clone(),
        })
        .map_err(|mistake| mistake.at(&span))
    }
}

/// A value and its byte range in the text.
struct Node<'a> {
    value: DeValue<'a>,
    span: Range<usize>,
}

impl<'a> From<Spanned<DeValue<'a>>> for Node<'a> {
    fn from(value: Spanned<DeValue<'a>>) -> Self {
        Self {
            span: value.span(),
            value: value.into_inner(),
        }
    }
}

impl<'a> Node<'a> {
    /// Deserializes this value with the seed of a field or an element, and adds this value's position to any error.
    fn seed<S: DeserializeSeed<'a>>(self, seed: S) -> Result<S::Value, Mistake> {
        let span = self.span.clone();
        seed.deserialize(self).map_err(|mistake| mistake.at(&span))
    }

    fn wrong<T>(&self, expected: &str) -> Result<T, Mistake> {
        let value: Cow<'_, str> = match &self.value {
            DeValue::String(text) => format!("{text:?}").into(),
            DeValue::Integer(number) => match self.integer() {
                Some(number) => number.to_string().into(),
                None => number.as_str().into(),
            },
            DeValue::Float(number) => number.as_str().into(),
            DeValue::Boolean(is) => is.to_string().into(),
            DeValue::Datetime(time) => time.to_string().into(),
            DeValue::Array(_) => "a list".into(),
            DeValue::Table(_) => "a table".into(),
        };
        Err(Mistake::custom(format!("expected {expected}, not {value}")).at(&self.span))
    }

    fn integer(&self) -> Option<i128> {
        let number = self.value.as_integer()?;
        i128::from_str_radix(number.as_str(), number.radix()).ok()
    }

    /// Deserializes an integer from 0 to `most`.
    fn whole<V: Visitor<'a>>(self, most: u64, visitor: V) -> Result<V::Value, Mistake> {
        let number = self.integer().map(u64::try_from);
        match number {
            Some(Ok(number)) if number <= most => visitor.visit_u64(number),
            Some(Ok(number)) => Err(Mistake::custom(format!(
                "{number} is larger than such a number may be here"
            ))),
            _ => self.wrong("a whole number from 0 up"),
        }
    }

    /// Deserializes this value if its type `fits`. Otherwise returns an error that names what was `expected`.
    fn read_if<V: Visitor<'a>>(
        self,
        fits: impl Fn(&DeValue<'a>) -> bool,
        expected: &str,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        match fits(&self.value) {
            true => self.deserialize_any(visitor),
            false => self.wrong(expected),
        }
    }
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let integer = self.integer();
        match self.value {
            DeValue::String(text) => visitor.visit_string(text.into_owned()),
            DeValue::Integer(_) => match (integer.map(i64::try_from), integer.map(u64::try_from)) {
                (Some(Ok(number)), _) => visitor.visit_i64(number),
                (_, Some(Ok(number))) => visitor.visit_u64(number),
                _ => Err(Mistake::custom("this number is too large")),
            },
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(number) => visitor.visit_f64(number),
                Err(_) => Err(Mistake::custom("this number cannot be read")),
            },
            DeValue::Boolean(is) => visitor.visit_bool(is),
            DeValue::Datetime(time) => visitor.visit_string(time.to_string()),
            DeValue::Array(items) => visitor.visit_seq(Items(items.into_iter())),
            DeValue::Table(table) => visitor.visit_map(Entries {
                rest: table.into_iter(),
                value: None,
            }),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.read_if(DeValue::is_bool, "true or false", visitor)
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.whole(u8::MAX.into(), visitor)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.whole(u16::MAX.into(), visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.whole(u32::MAX.into(), visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.whole(u64::MAX, visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let fits = |value: &DeValue<'_>| value.is_float() || value.is_integer();
        self.read_if(fits, "a number", visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let expected = match type_name::<V::Value>() == type_name::<PathBuf>() {
            true => "a path in quotes",
            false => "a text in quotes",
        };
        self.read_if(DeValue::is_str, expected, visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        if self.value.is_table() {
            return Err(Mistake::from(Kind::OneTable).at(&self.span));
        }
        let expected = "a list: [ ] of values, [[ ]] of tables";
        self.read_if(DeValue::is_array, expected, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        if self.value.is_table() {
            return self.deserialize_any(visitor);
        }
        // The value is not part of the error, because it may be a secret, such as that of a header.
        let what = "expected a table: { name = value }";
        Err(Mistake::custom(what).at(&self.span))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let fits = |value: &DeValue<'_>| value.is_table() || value.is_array();
        self.read_if(fits, "a table: [name] and its keys below", visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        match &self.value {
            DeValue::String(word) => visitor.visit_enum(word.as_ref().into_deserializer()),
            _ => self.wrong(&format!("one of \"{}\"", words.join("\", \""))),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        if name == Secret::NAME && !self.value.is_str() {
            return Err(Mistake::custom("expected a text in quotes").at(&self.span));
        }
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 f32 char str bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

/// The elements of a list that have not been deserialized yet.
struct Items<I>(I);

impl<'a, I: Iterator<Item = Spanned<DeValue<'a>>>> SeqAccess<'a> for Items<I> {
    type Error = Mistake;

    fn next_element_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Mistake> {
        let next = self.0.next();
        next.map(|item| Node::from(item).seed(seed)).transpose()
    }
}

/// The entries of a table that have not been deserialized yet, and the value of the key that was read last.
struct Entries<'a, I> {
    rest: I,
    value: Option<Node<'a>>,
}

impl<'a, K, I> MapAccess<'a> for Entries<'a, I>
where
    K: AsRef<str>,
    I: Iterator<Item = (Spanned<K>, Spanned<DeValue<'a>>)>,
{
    type Error = Mistake;

    fn next_key_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Mistake> {
        let Some((key, value)) = self.rest.next() else {
            return Ok(None);
        };
        self.value = Some(value.into());
        let name = seed.deserialize(key.get_ref().as_ref().into_deserializer());
        name.map(Some)
            .map_err(|mistake: Mistake| mistake.at(&key.span()))
    }

    fn next_value_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<S::Value, Mistake> {
        match self.value.take() {
            Some(value) => value.seed(seed),
            None => Err(Kind::Other("a value was read before its key".to_owned()).into()),
        }
    }
}
