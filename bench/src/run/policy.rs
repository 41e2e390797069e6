//! Proof that the policy bites before anything is measured: a gate that shows everything to everyone is fast for nothing.

use std::collections::BTreeSet;

use serde_json::Value;

use super::gate::Home;
use crate::failure::{Doing, Failure};
use crate::tools;
use crate::wire::{Answer, Session, TEXT};
use crate::workload::{Era, Work};

/// Arguments that the schema of `echo` does not take.
const WRONG: &str = r#"{"text":7}"#;

/// Without a good token, none of the tools is listed and `echo` does not run; with one, wrong arguments are refused.
pub(crate) async fn prove(home: &Home) -> Result<(), Failure> {
    let strangers = [("an anonymous caller", None), ("a token with a bad signature", Some(spoil(&home.token)))];
    let ours = names(&tools::definitions(home.tools)).doing("reading the definitions")?;
    for (who, token) in strangers {
        let mut session = Session::open(home.caller(Era::Stateless, token)).await?;
        let request = session.request(Work::List);
        let seen = listed(&session.ask(&request).await?)?;
        if let Some(name) = seen.intersection(&ours).next() {
            return Err(Failure::Policy(format!("{who} sees '{name}'")));
        }
        let request = session.request(Work::Call);
        if echoed(&session.ask(&request).await?) {
            return Err(Failure::Policy(format!("{who} can call 'echo'")));
        }
    }
    let caller = home.caller(Era::Stateless, Some(home.token.clone()));
    let mut session = Session::open(caller).await?;
    let request = session.call("echo", WRONG);
    let answer = session.ask(&request).await?;
    if !refused(&answer.body) {
        return Err(Failure::Policy(format!("wrong arguments are taken: {}", answer.excerpt())));
    }
    Ok(())
}

/// Whether an answer says no, as a JSON-RPC error or as a failed call.
fn refused(body: &[u8]) -> bool {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    body.get("error").is_some() || body.pointer("/result/isError") == Some(&Value::Bool(true))
}

/// The tools of a list; none when the caller is turned away. Anything else proves nothing and fails.
fn listed(answer: &Answer<'_>) -> Result<BTreeSet<String>, Failure> {
    let tools = match answer.head.status {
        401 | 403 => return Ok(BTreeSet::new()),
        200 => serde_json::from_slice::<Value>(&answer.body)
            .ok()
            .and_then(|body| names(&body.pointer("/result/tools")?.to_string()).ok()),
        _ => None,
    };
    tools.ok_or_else(|| Failure::Policy(format!("no clear answer: {}", answer.excerpt())))
}

fn echoed(answer: &Answer<'_>) -> bool {
    memchr::memmem::find(&answer.body, TEXT.as_bytes()).is_some()
}

fn names(tools: &str) -> serde_json::Result<BTreeSet<String>> {
    #[derive(serde::Deserialize)]
    struct Named {
        name: String,
    }
    let tools: Vec<Named> = serde_json::from_str(tools)?;
    Ok(tools.into_iter().map(|tool| tool.name).collect())
}

/// The token with the first letter of its signature changed.
fn spoil(token: &str) -> String {
    let at = token.rfind('.').map_or(0, |dot| dot + 1);
    let (body, signature) = token.split_at(at);
    let letter = if signature.starts_with('A') { 'B' } else { 'A' };
    let rest: String = signature.chars().skip(1).collect();
    format!("{body}{letter}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_and_a_failed_call_are_refusals() {
        assert!(refused(br#"{"id":7,"error":{"code":-32602}}"#));
        assert!(refused(br#"{"id":7,"result":{"isError":true}}"#));
        assert!(!refused(br#"{"id":7,"result":{"content":[],"isError":false}}"#));
        assert!(!refused(b"{"));
    }

    #[test]
    fn a_spoiled_token_differs_in_its_signature_only() {
        assert_eq!(spoil("head.body.Axyz"), "head.body.Bxyz");
        assert_eq!(spoil("head.body.xyz"), "head.body.Ayz");
    }
}
