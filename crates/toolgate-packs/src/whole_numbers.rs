//! Arguments as a pack's types read them. JSON Schema takes `4.0` and `4e0` for integers, and so do the packs.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The arguments of a call. A number without a fraction is an integer, however it is written.
pub(crate) fn read_arguments<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(text).or_else(|fault| {
        let mut value: Value = serde_json::from_str(text)?;
        make_whole(&mut value);
        serde_json::from_value(value).map_err(|_| fault)
    })
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

fn make_whole(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            if let Some(whole) = whole(value) {
                *value = whole.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_whole),
        Value::Object(members) => members.values_mut().for_each(make_whole),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Arguments {
        id: i64,
        some: Vec<u32>,
    }

    #[test]
    fn integers_are_read_however_they_are_written() {
        let read = |text: &str| read_arguments::<Arguments>(text);
        for text in [r#"{"id":4,"some":[1]}"#, r#"{"id":4.0,"some":[1.0]}"#, r#"{"id":4e0,"some":[10e-1]}"#] {
            assert_eq!(read(text).unwrap(), Arguments { id: 4, some: vec![1] }, "{text}");
        }
        for text in [r#"{"id":4.5,"some":[]}"#, r#"{"id":1e300,"some":[]}"#, r#"{"id":"4","some":[]}"#] {
            assert!(read(text).is_err(), "{text}");
        }
        assert_eq!(whole(&serde_json::json!(-0.0)), Some(0));
    }
}
