//! Proof that the policy bites before anything is measured: a gate that shows everything to everyone is fast for nothing.

use std::collections::BTreeSet;

use serde_json::Value;

use super::gate::Home;
use crate::failure::{Doing, Failure};
use crate::tools;
use crate::wire::{Answer, Session, TEXT};
use crate::workload::{Era, Work};

/// Without a good token, none of the tools is listed and `echo` does not run.
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
    Ok(())
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
    fn a_spoiled_token_differs_in_its_signature_only() {
        assert_eq!(spoil("head.body.Axyz"), "head.body.Bxyz");
        assert_eq!(spoil("head.body.xyz"), "head.body.Ayz");
    }
}
