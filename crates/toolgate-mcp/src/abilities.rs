//! What a client of the older era said it can be asked, in a byte: so much fits into a session's name, and no replica has
//! to remember it.

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Abilities(u8);

const ELICITATION: u8 = 1;
const ELICITATION_URL: u8 = 2;
const SAMPLING: u8 = 4;
const SAMPLING_TOOLS: u8 = 8;
const SAMPLING_CONTEXT: u8 = 16;
const ROOTS: u8 = 32;
const ELICITATION_FORM: u8 = 64;

type Declared = Option<serde_json::Map<String, serde_json::Value>>;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Capabilities {
    elicitation: Declared,
    sampling: Declared,
    roots: Declared,
}

impl Abilities {
    /// From the `capabilities` of an `initialize`; what can't be read is not there.
    pub(crate) fn declared(capabilities: Option<&str>) -> Self {
        let capabilities = capabilities.and_then(|text| serde_json::from_str::<Capabilities>(text).ok());
        let Capabilities { elicitation, sampling, roots } = capabilities.unwrap_or_default();
        let flag = |is_so: bool, bit: u8| if is_so { bit } else { 0 };
        let has = |declared: &Declared, key: &str| declared.as_ref().is_some_and(|map| map.contains_key(key));
        Self(
            flag(elicitation.is_some(), ELICITATION)
                // none named is the form, which was the only one once
                | flag(elicitation.as_ref().is_some_and(|map| map.is_empty() || map.contains_key("form")), ELICITATION_FORM)
                | flag(has(&elicitation, "url"), ELICITATION_URL)
                | flag(sampling.is_some(), SAMPLING)
                | flag(has(&sampling, "tools"), SAMPLING_TOOLS)
                | flag(has(&sampling, "context"), SAMPLING_CONTEXT)
                | flag(roots.is_some(), ROOTS),
        )
    }

    /// Whether the client can be sent to an address.
    pub(crate) const fn includes_addresses(self) -> bool {
        self.0 & ELICITATION_URL != 0
    }

    pub(crate) const fn bits(self) -> u8 {
        self.0
    }

    pub(crate) const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// As the client could have declared them.
    pub(crate) fn to_json(self) -> Box<RawValue> {
        let has = |bit: u8| self.0 & bit != 0;
        let mut members = Vec::new();
        if has(ELICITATION) {
            let parts = [(ELICITATION_FORM, r#""form":{}"#), (ELICITATION_URL, r#""url":{}"#)];
            members.push(format!(r#""elicitation":{{{}}}"#, self.those(&parts)));
        }
        if has(SAMPLING) {
            let parts = [(SAMPLING_TOOLS, r#""tools":{}"#), (SAMPLING_CONTEXT, r#""context":{}"#)];
            members.push(format!(r#""sampling":{{{}}}"#, self.those(&parts)));
        }
        if has(ROOTS) {
            members.push(r#""roots":{}"#.to_owned());
        }
        RawValue::from_string(format!("{{{}}}", members.join(","))).unwrap_or_else(|_| RawValue::NULL.to_owned())
    }

    fn those(self, parts: &[(u8, &'static str)]) -> String {
        let there = parts.iter().filter(|(bit, _)| self.0 & bit != 0);
        there.map(|(_, text)| *text).collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_declared_can_be_said_again() {
        for (declared, again) in [
            ("{}", "{}"),
            (r#"{"elicitation":{}}"#, r#"{"elicitation":{"form":{}}}"#),
            (
                r#"{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"url":{},"form":{}},"x":1}"#,
                r#"{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}}"#,
            ),
            (r#"{"elicitation":{"url":{}}}"#, r#"{"elicitation":{"url":{}}}"#),
            (r#"{"sampling":3}"#, "{}"),
            ("[]", "{}"),
        ] {
            let abilities = Abilities::declared(Some(declared));
            assert_eq!(Abilities::from_bits(abilities.bits()).to_json().get(), again, "{declared}");
        }
        assert_eq!(Abilities::declared(None), Abilities::default());
    }
}
