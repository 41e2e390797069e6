//! The clients that were pointed at this gateway: whether the credential in each one's file is still accepted.

use std::time::Duration;

use clap::ValueEnum;
use serde_json::Value;
use toolgate_server::identity::{OwnKey, OwnTokens};
use toolgate_store::Store;

use super::{Finding, Severity};
use crate::{
    Misuse,
    cli::Client,
    commands::{client_file, connect::clients, token::token_limits},
    ground::{self, Ground},
};

/// The name of the entry that `connect` writes.
const ENTRY: &str = "toolgate";

pub async fn look(ground: &Ground, key: Option<OwnKey>, store: Option<&Store>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for client in Client::value_variants() {
        let Some(credential) = credential(*client) else { continue };
        let name = client.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        let refused = match &credential {
            None => Some("it has no credential, and so calls anonymously".to_owned()),
            Some(credential) => {
                refused(ground, key.as_ref(), store, credential).await.err().map(|fault| fault.to_string())
            }
        };
        findings.push(match refused {
            None => Finding::new("client", Severity::Good, format!("{name} has a credential that is accepted")),
            Some(why) => {
                let detail = format!("{name}: {why}; give it another: toolgate connect {name} --user NAME");
                Finding::new("client", Severity::Warning, detail)
            }
        });
    }
    findings
}

/// The credential of the entry in a client's file: none where there is no entry, `Some(None)` where the entry has none.
fn credential(client: Client) -> Option<Option<String>> {
    let place = clients::place(client, None).ok()?;
    let text = client_file::read(&place.file).ok()??;
    let file = Value::Object(client_file::members(
        &client_file::object(&place.file, client_file::without_mark(&text).1).ok()?,
    ));
    let entry = file.get(place.key)?.get(ENTRY)?;
    let header = entry.pointer("/headers/Authorization").and_then(Value::as_str);
    let bearer = header.and_then(|header| header.split_once(' ')).map(|(_, token)| token.trim());
    let variable = entry.pointer("/env/TOOLGATE_TOKEN").and_then(Value::as_str);
    Some(bearer.or(variable).map(str::to_owned))
}

/// Why a credential is refused. What another issuer signed is not looked at here.
async fn refused(ground: &Ground, key: Option<&OwnKey>, store: Option<&Store>, credential: &str) -> Result<(), Misuse> {
    if let Some(rest) = credential.strip_prefix("tgk_") {
        let store = store.ok_or("there is no store that knows its API key")?;
        let prefix = rest.split('_').next().unwrap_or_default();
        let found = store.keys().find(prefix).await?.ok_or("its API key is not known here")?;
        return if found.is_live(ground::now()) {
            Ok(())
        } else {
            Err("its API key was revoked or has expired".into())
        };
    }
    if !ground.config.identity.issuers.is_empty() {
        return Ok(());
    }
    let key = key.ok_or("there is no signing key that its token could be signed with")?;
    let tokens = OwnTokens::new(key.clone(), &ground.config.identity.audience, Duration::ZERO)?;
    tokens.with_limits(token_limits(&ground.config)?)?.id_of(credential)?;
    Ok(())
}
