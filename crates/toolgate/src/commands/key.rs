//! `key create|list|revoke`: API keys, shown once and stored as a hash.

use serde_json::json;
use toolgate_server::identity::{ApiKey, Claims, Token};
use toolgate_store::{Key, NewKey, Store};

use super::{books, caller_words::in_words, print, table::table, when, when::dated};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{KeyCommand, Output, Place},
    ground::{self, Ground},
};

pub async fn run(command: KeyCommand) -> CommandResult {
    match command {
        KeyCommand::Create { name, facts, ttl, place, output } => {
            let expires_at = match ttl {
                Some(ttl) => Some(ground::now().saturating_add(i64::try_from(ground::duration(&ttl)?.as_millis())?)),
                None => None,
            };
            let claims = Claims::from(facts);
            if claims == Claims::default() {
                return Err("a key without facts says nothing: give it --user, --agent or --task".into());
            }
            create(&place, &claims, name, expires_at, output).await
        }
        KeyCommand::List { place, output } => list(&place, output).await,
        KeyCommand::Revoke { id, place, output } => {
            let store = books::store(&place).await?;
            let revoked = store.keys().revoke(&id, ground::now()).await;
            store.close().await;
            let revoked = revoked?;
            let text = if revoked { format!("{id} is revoked\n") } else { format!("no live key has the id '{id}'\n") };
            print(output, &json!({"id": id, "revoked": revoked}), &text)?;
            Ok(if revoked { Ending::Good } else { Ending::No })
        }
    }
}

async fn create(
    place: &Place,
    claims: &Claims,
    name: String,
    expires_at: Option<i64>,
    output: Output,
) -> CommandResult {
    let ground = Ground::of(place)?;
    super::token::known_tools(&ground, claims)?;
    let store = ground.store().await?;
    let made = insert(&store, claims, name, expires_at).await;
    store.close().await;
    let (id, secret) = made?;
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

/// Makes a key and stores its hash. Returns the key's id and the key itself.
pub(super) async fn insert(
    store: &Store,
    claims: &Claims,
    name: String,
    expires_at: Option<i64>,
) -> Result<(String, Token), Misuse> {
    let (record, secret) = ApiKey::generate(claims, expires_at)?;
    let id = format!("key_{}", record.prefix);
    let key = NewKey {
        id: id.clone(),
        prefix: record.prefix,
        hash: record.hash,
        name,
        facts: record.facts_json,
        created_at: ground::now(),
        expires_at,
    };
    store.keys().insert(key).await?;
    Ok((id, secret))
}

async fn list(place: &Place, output: Output) -> CommandResult {
    let store = books::store(place).await?;
    let keys = store.keys().list().await;
    store.close().await;
    let keys = keys?;
    let now = ground::now();
    let cells = |key: &Key| {
        let claims = serde_json::from_str::<Claims>(&key.facts);
        let expires = key.expires_at.map_or_else(|| "never".to_owned(), when::second);
        [
            key.id.clone(),
            key.name.clone(),
            state(key, now).to_owned(),
            claims.map_or_else(|_| "unreadable".to_owned(), |claims| in_words(&claims)),
            when::second(key.created_at),
            expires,
        ]
    };
    let text = if keys.is_empty() {
        "There are no keys. Make one: toolgate key create --user NAME\n".to_owned()
    } else {
        table(["ID", "NAME", "STATE", "ATTRIBUTES", "CREATED", "EXPIRES"], keys.iter().map(cells))
    };
    let rows: Vec<_> = keys
        .iter()
        .map(|key| {
            let facts: serde_json::Value = serde_json::from_str(&key.facts).unwrap_or_default();
            dated(json!({"id": key.id, "prefix": key.prefix, "name": key.name, "facts": facts,
                "state": state(key, now), "created_at": key.created_at, "expires_at": key.expires_at,
                "revoked_at": key.revoked_at}))
        })
        .collect();
    print(output, &rows, &text)?;
    Ok(Ending::Good)
}

/// The state of a key at a time, in a word.
pub(super) fn state(key: &Key, now: i64) -> &'static str {
    match (key.revoked_at, key.is_live(now)) {
        (Some(_), _) => "revoked",
        (None, true) => "live",
        (None, false) => "expired",
    }
}
