//! How an answer's text is written: as JSON, or as TOON (Token-Oriented Object Notation), which takes fewer tokens. The
//! structured content is the same either way.

use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use toolgate_spine::ToolAnswer;

use crate::failure::Failure;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    #[default]
    Json,
    Toon,
}

impl Format {
    /// What a call asks for; JSON where it says nothing.
    pub(super) fn of(arguments: &RawValue) -> Self {
        #[derive(Deserialize)]
        struct Asked {
            #[serde(default)]
            format: Format,
        }
        serde_json::from_str::<Asked>(arguments.get()).map(|asked| asked.format).unwrap_or_default()
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Toon => "toon",
        }
    }

    pub(super) fn write(self, content: &Value) -> Result<ToolAnswer, Failure> {
        let unwritten = || Failure::internal("The answer can't be written.");
        match self {
            Self::Json => ToolAnswer::structured(content, false).map_err(|_| unwritten()),
            Self::Toon => {
                let text = toon_format::encode_default(content).map_err(|_| unwritten())?;
                ToolAnswer::structured_as(content, &text, false).map_err(|_| unwritten())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn toon_is_as_its_specification_shows_it() {
        let users = json!({"users": [{"id": 1, "name": "Alice"}, {"id": 2, "name": "Bob"}], "tags": ["a", "b"], "note": "x: y"});
        let text = toon_format::encode_default(&users).unwrap();
        assert_eq!(text, "users[2]{id,name}:\n  1,Alice\n  2,Bob\ntags[2]: a,b\nnote: \"x: y\"");
    }
}
