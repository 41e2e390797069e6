//! Signing in as an agent before a client is served: through the gate, like anybody else.

use std::{fs, path::Path, sync::Arc};

use serde_json::{Value, json, value::to_raw_value};
use toolgate_core::{Caller, Kind};
use toolgate_spine::{Call, Outcome, Spine};
use toolgate_store::{Store, team::SessionToken};

use crate::{Misuse, cli::SignIn, ground};

/// The gate, or the agent's records, said no.
#[derive(Debug, thiserror::Error)]
#[error("can't sign in: {0}")]
pub struct Refused(String);

/// The session's token, or `None` if nobody is to sign in.
pub async fn sign_in(spine: &Arc<Spine>, wish: &SignIn) -> Result<Option<String>, Misuse> {
    let SignIn { agent: Some(agent), project: Some(project), passkey_file: Some(file) } = wish else { return Ok(None) };
    let passkey = read(file)?;
    let gate = spine.gate();
    let mut tools = gate.catalog().tools();
    let tool = tools.find(|tool| &*tool.source == "team" && tool.own_name.as_str() == "authenticate");
    let Some(tool) = tool else { return Err("signing in needs the pack 'team': [packs.team] in toolgate.toml".into()) };
    let arguments = to_raw_value(&json!({"agent_id": agent, "passkey": passkey, "project_id": project}))?;
    let call = Call::of(Kind::Tool, tool.name.as_str(), Some(&arguments), gate.lang());
    let answer: Value = match spine.call(&Arc::new(Caller::anonymous()), call).await {
        Outcome::Answered(bytes) => serde_json::from_slice(&bytes)?,
        Outcome::Refused { answer, .. } => serde_json::from_slice(&answer.into_bytes())?,
        _ => {
            return Err(
                Refused("authenticate is not allowed here; ask 'toolgate explain authenticate'".to_owned()).into()
            );
        }
    };
    let content = answer.get("structuredContent").unwrap_or(&Value::Null);
    let said = |key: &str| content.get(key).and_then(Value::as_str).map(str::to_owned);
    match said("session_token") {
        Some(token) => Ok(Some(token)),
        None => Err(Refused(said("error").unwrap_or_else(|| "no answer".to_owned())).into()),
    }
}

/// The client has gone, and with it whoever could use the session.
pub async fn sign_out(store: &Store, token: &str) {
    let (sessions, now) = (store.team().sessions(), ground::now());
    let ended = match sessions.by_token(&SessionToken::hash_of(token), now).await {
        Ok(Some(session)) => sessions.end(&session.id, now).await.map(drop),
        Ok(None) => Ok(()),
        Err(fault) => Err(fault),
    };
    if let Err(fault) = ended {
        tracing::warn!(%fault, "the session could not be ended; it ends by itself");
    }
}

fn read(file: &Path) -> Result<String, Misuse> {
    let text = fs::read_to_string(file).map_err(|fault| format!("--passkey-file {}: {fault}", file.display()))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
