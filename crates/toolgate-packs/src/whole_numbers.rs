//! Arguments as a pack's types read them. JSON Schema takes `4.0` and `4e0` for integers, and so do the packs.
//!
//! INVARIANT: a number changes its form only where a type asks for an integer. What a caller passes on (the parameters of a
//! query, the payload of an event) stays as it was sent, and as it was approved.

use serde::{
    Deserializer, de,
    de::{DeserializeOwned, DeserializeSeed, IntoDeserializer, Visitor},
    forward_to_deserialize_any,
};
use serde_json::{Error, Map, Value};

/// The arguments of a call. A number without a fraction is an integer, however it is written.
pub(crate) fn read_arguments<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_json::from_str(text)
        .or_else(|fault| T::deserialize(WholeNumbers(serde_json::from_str(text)?)).map_err(|_| fault))
}

/// The integer that a number is, if it is one that a double holds exactly.
pub(crate) fn whole(value: &Value) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    value.as_i64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() <= EXACT)?;
        // exact: there is no fraction, and the text has no exponent
        format!("{number:.0}").parse().ok()
    })
}

/// A value that gives an integer where one is asked for, also within arrays and objects.
struct WholeNumbers(Value);

macro_rules! integers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match whole(&self.0).filter(|_| self.0.is_f64()) {
                Some(whole) => visitor.visit_i64(whole),
                None => self.0.$method(visitor),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for WholeNumbers {
    type Error = Error;

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(items) => visitor.visit_seq(Items(items.into_iter())),
            other => other.deserialize_seq(visitor),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Object(members) => visitor.visit_map(Members { rest: members.into_iter(), value: None }),
            other => other.deserialize_map(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

struct Items(std::vec::IntoIter<Value>);

impl<'de> de::SeqAccess<'de> for Items {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.0.next().map(|item| seed.deserialize(WholeNumbers(item))).transpose()
    }
}

struct Members {
    rest: <Map<String, Value> as IntoIterator>::IntoIter,
    value: Option<Value>,
}

impl<'de> de::MapAccess<'de> for Members {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some((name, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(name.into_deserializer()).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(WholeNumbers(self.value.take().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Arguments {
        id: i64,
        some: Vec<u32>,
        most: Option<u8>,
        #[serde(default)]
        passed_on: Vec<Value>,
    }

    #[test]
    fn integers_are_read_however_they_are_written() {
        let read = |text: &str| read_arguments::<Arguments>(text);
        for text in [
            r#"{"id":4,"some":[1],"most":2}"#,
            r#"{"id":4.0,"some":[1.0],"most":2.0}"#,
            r#"{"id":4e0,"some":[10e-1],"most":2e0}"#,
        ] {
            assert_eq!(
                read(text).unwrap(),
                Arguments { id: 4, some: vec![1], most: Some(2), passed_on: vec![] },
                "{text}"
            );
        }
        for text in [
            r#"{"id":4.5,"some":[]}"#,
            r#"{"id":1e300,"some":[]}"#,
            r#"{"id":"4","some":[]}"#,
            r#"{"id":4.0,"some":[],"most":256.0}"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert_eq!(whole(&serde_json::json!(-0.0)), Some(0));
    }

    #[test]
    fn what_is_passed_on_stays_as_it_was_sent() {
        let sent = r#"{"id":4.0,"some":[],"passed_on":[1.0,{"n":[2.0]},-0.0]}"#;
        let read: Arguments = read_arguments(sent).unwrap();
        assert_eq!(serde_json::to_string(&read.passed_on).unwrap(), r#"[1.0,{"n":[2.0]},-0.0]"#);
    }
}
