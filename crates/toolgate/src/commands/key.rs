//! `key create|list|revoke`: API keys, shown once and stored as a hash.

use serde_json::json;
use toolgate_server::identity::{ApiKey, Claims};

use super::{print, table::table, when::dated};
use crate::{
    CommandResult, Ending,
    cli::KeyCommand,
    ground::{self, Ground},
};

pub async fn run(command: KeyCommand) -> CommandResult {
    match command {
        KeyCommand::Create { name, facts, ttl, place, output } => {
            let now = ground::now();
            let expires_at = match ttl {
                Some(ttl) => Some(now.saturating_add(i64::try_from(ground::duration(&ttl)?.as_millis())?)),
                None => None,
            };
            let facts = Claims::from(facts);
            if facts == Claims::default() {
                return Err("a key without facts says nothing: give it --user, --agent or --task".into());
            }
            let (record, secret) = ApiKey::generate(&facts, expires_at)?;
            let ground = Ground::of(&place)?;
            super::token::known_tools(&ground, &facts)?;
            let store = ground.store().await?;
            let id = format!("key_{}", record.prefix);
            store
                .keys()
                .insert(toolgate_store::NewKey {
                    id: id.clone(),
                    prefix: record.prefix,
                    hash: record.hash,
                    name,
                    facts: record.facts_json,
                    created_at: now,
                    expires_at,
                })
                .await?;
            store.close().await;
            print(
                output,
                &dated(json!({"id": id, "key": secret.expose(), "expires_at": expires_at})),
                &format!("{}\n", secret.expose()),
            )?;
            if !output.json {
                // beside the secret, which stands alone on standard output
                eprintln!("toolgate: this is {id}; to end it: toolgate key revoke {id}");
            }
            Ok(Ending::Good)
        }
        KeyCommand::List { place, output } => {
            let store = Ground::of(&place)?.store().await?;
            let keys = store.keys().list().await?;
            store.close().await;
            let now = ground::now();
            let state = |key: &toolgate_store::Key| match (key.revoked_at, key.is_live(now)) {
                (Some(_), _) => "revoked",
                (None, true) => "live",
                (None, false) => "expired",
            };
            let cells = |key: &toolgate_store::Key| {
                [&key.id, state(key), &key.prefix, &key.name, &key.facts].map(str::to_owned)
            };
            let text = if keys.is_empty() {
                "There are no keys. Make one: toolgate key create --user NAME\n".to_owned()
            } else {
                table(["ID", "STATE", "PREFIX", "NAME", "ATTRIBUTES"], keys.iter().map(cells))
            };
            let rows: Vec<_> = keys
                .iter()
                .map(|key| {
                    let facts: serde_json::Value = serde_json::from_str(&key.facts).unwrap_or_default();
                    dated(json!({"id": key.id, "prefix": key.prefix, "name": key.name, "facts": facts, "state": state(key),
                        "created_at": key.created_at, "expires_at": key.expires_at, "revoked_at": key.revoked_at}))
                })
                .collect();
            print(output, &rows, &text)?;
            Ok(Ending::Good)
        }
        KeyCommand::Revoke { id, place, output } => {
            let store = Ground::of(&place)?.store().await?;
            let revoked = store.keys().revoke(&id, ground::now()).await?;
            store.close().await;
            let text = if revoked { format!("{id} is revoked\n") } else { format!("no live key has the id '{id}'\n") };
            print(output, &json!({"id": id, "revoked": revoked}), &text)?;
            Ok(if revoked { Ending::Good } else { Ending::No })
        }
    }
}
