//! Interactions outside the protocol: a client is sent to an address, and comes back to the call.
//!
//! 2025-11-25 has three words for them that 2026-07-28 dropped: the error that a call needs one first, an id for each, and the
//! message that one has ended. A client of the newer era finds out by calling again.

use std::borrow::Cow;

use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;

use crate::refusal::code;

/// The error of an older source as questions for a newer client: `inputRequests`. `None` where it is another error, or names
/// no addresses.
pub(crate) fn requests(code: i64, data: Option<&str>) -> Option<String> {
    #[derive(Deserialize)]
    struct Data<'a> {
        #[serde(borrow)]
        elicitations: Vec<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Elicitation {
        mode: String,
    }
    if code != i64::from(code::ADDRESS_REQUIRED) {
        return None;
    }
    let all = serde_json::from_str::<Data<'_>>(data?).ok()?.elicitations;
    let by_address = |one: &&RawValue| {
        serde_json::from_str::<Elicitation>(one.get()).is_ok_and(|elicitation| elicitation.mode == "url")
    };
    if all.is_empty() || !all.iter().all(by_address) {
        return None;
    }
    let request = |(at, params): (usize, &RawValue)| {
        format!(r#""{at}":{{"method":"elicitation/create","params":{}}}"#, params.get())
    };
    Some(format!("{{{}}}", (1..).zip(all).map(request).collect::<Vec<_>>().join(",")))
}

/// Whether a client that declared this can be sent to an address.
pub(crate) fn is_offered(capabilities: &RawValue) -> bool {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Declared {
        elicitation: Option<Modes>,
    }
    #[derive(Deserialize)]
    struct Modes {
        url: Option<IgnoredAny>,
    }
    let declared = serde_json::from_str::<Declared>(capabilities.get()).unwrap_or_default();
    declared.elicitation.is_some_and(|modes| modes.url.is_some())
}

/// Whether some answer of the client is a no.
pub(crate) fn is_declined(responses: Option<&str>) -> bool {
    #[derive(Deserialize)]
    struct Response {
        action: String,
    }
    type Responses<'a> = std::collections::BTreeMap<String, &'a RawValue>;
    let responses = responses.map(|text| serde_json::from_str::<Responses<'_>>(text).unwrap_or_default());
    let is_yes = |response: &RawValue| {
        serde_json::from_str::<Response>(response.get()).is_ok_and(|response| response.action == "accept")
    };
    responses.unwrap_or_default().values().any(|response| !is_yes(response))
}

/// The parameters of a question as the older era has them: what sends a client to an address has an id there.
pub(crate) fn named<'a>(params: &'a str, id: &str) -> Cow<'a, str> {
    #[derive(Deserialize)]
    struct Params {
        mode: Option<String>,
        #[serde(rename = "elicitationId")]
        id: Option<IgnoredAny>,
    }
    let nameless = |params: &Params| params.mode.as_deref() == Some("url") && params.id.is_none();
    match (serde_json::from_str::<Params>(params), params.strip_prefix('{')) {
        (Ok(read), Some(rest)) if nameless(&read) => format!(r#"{{"elicitationId":"{id}",{rest}"#).into(),
        _ => params.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_error_that_names_addresses_becomes_questions() {
        let one = r#"{"mode":"url", "elicitationId":"e","url":"https://x","message":"é"}"#;
        let data = |all: &str| format!(r#"{{"elicitations":[{all}],"more":1}}"#);
        assert_eq!(
            requests(-32042, Some(&data(&format!("{one},{one}")))).unwrap(),
            format!(
                r#"{{"1":{{"method":"elicitation/create","params":{one}}},"2":{{"method":"elicitation/create","params":{one}}}}}"#
            )
        );
        assert_eq!(requests(-32603, Some(&data(one))), None);
        for wrong in [data(""), data("1"), data(&format!(r#"{one},{{"mode":"form"}}"#)), "{}".into(), "[]".into()] {
            assert_eq!(requests(-32042, Some(&wrong)), None, "{wrong}");
        }
        assert_eq!(requests(-32042, None), None);
    }

    #[test]
    fn an_older_client_is_given_an_id_where_there_is_none() {
        assert_eq!(named(r#"{"mode":"url","url":"x"}"#, "i"), r#"{"elicitationId":"i","mode":"url","url":"x"}"#);
        for as_it_is in [r#"{"mode":"url","elicitationId":"e"}"#, r#"{"mode":"form"}"#, "{}", "[1]"] {
            assert_eq!(named(as_it_is, "i"), as_it_is);
        }
    }

    #[test]
    fn an_answer_that_is_no_yes_is_a_no() {
        assert!(!is_declined(None) && !is_declined(Some("{}")));
        assert!(!is_declined(Some(r#"{"1":{"action":"accept"}}"#)));
        for no in
            [r#"{"1":{"action":"accept"},"2":{"action":"decline"}}"#, r#"{"1":{"action":"cancel"}}"#, r#"{"1":7}"#]
        {
            assert!(is_declined(Some(no)), "{no}");
        }
        let offered = |text: &str| is_offered(&RawValue::from_string(text.to_owned()).unwrap());
        assert!(offered(r#"{"elicitation":{"url":{}}}"#));
        assert!(!offered(r#"{"elicitation":{}}"#) && !offered("{}") && !offered(r#"{"elicitation":3}"#));
    }
}
