//! `token mint|show|revoke|revoked`: any caller of any kind, as a token, and the end of it.

use std::{collections::BTreeSet, time::Duration};

use serde_json::json;
use toolgate_core::tool::is_of_more;
use toolgate_server::identity::{Claims, KEY_FILE_NAME, LONGEST_TOKEN, OwnTokens, TokenLimits};
use toolgate_store::{EVERYONE, Location, RevocationKind, RevokedTokens, Store};

use super::{
    books::{self, line},
    print, token_show, when,
};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{FactArgs, Output, Place, TokenCommand},
    config::Config,
    ground::{self, Ground},
};

pub async fn run(command: TokenCommand) -> CommandResult {
    match command {
        TokenCommand::Mint { facts, ttl, place, output } => mint(&place, facts, &ttl, output).await,
        TokenCommand::Show { token, place, output } => token_show::run(token, &place, output).await,
        TokenCommand::Revoke { id, subject, all_before, place, output } => {
            let ground = Ground::of(&place)?;
            let store = ground.store().await?;
            let revoked = match (id, subject, all_before) {
                (Some(id), ..) => Ok((RevocationKind::Token, token_id(&ground, &store, id).await?, None)),
                (_, Some(subject), _) => checked_subject(subject).map(|name| (RevocationKind::Subject, name, None)),
                (.., Some(before)) => past(&before).map(|at| (RevocationKind::Everyone, EVERYONE.to_owned(), Some(at))),
                _ => Err("name a token, a --subject or a time (--all-before)".into()),
            };
            let ended = revoke(&store, revoked?).await;
            store.close().await;
            let ended = ended?;
            print(output, &shown(&ended), &format!("{} is revoked{}\n", in_words(&ended), unchecked(&ended)))?;
            Ok(Ending::Good)
        }
        TokenCommand::Revoked { place, output } => {
            let store = books::store(&place).await?;
            let rows = store.token_revocations().list().await;
            store.close().await;
            let rows = rows?;
            let mut text = String::new();
            for row in &rows {
                text.push_str(&format!("{}  {}\n", when::show(row.revoked_at), in_words(row)));
            }
            if rows.is_empty() {
                text.push_str("No token was revoked.\n");
            }
            print(output, &rows.iter().map(shown).collect::<Vec<_>>(), &text)?;
            Ok(Ending::Good)
        }
    }
}

async fn mint(place: &Place, facts: FactArgs, ttl: &str, output: Output) -> CommandResult {
    let ground = Ground::of(place)?;
    let ttl = ground::duration(ttl)?;
    let mut claims = Claims::from(facts);
    // a flow that is configured by this name allows what it says there
    if let (Some(flow), None) = (&claims.flow, &claims.allow) {
        let named = ground.config.flows.get(flow).and_then(|flow| flow.allowlist.clone());
        claims.allow = named.map(BTreeSet::from_iter);
    }
    if claims == Claims::default() {
        return Err("a token without facts says nothing: give it --user, --agent or --task".into());
    }
    known_tools(&ground, &claims)?;
    let makes_key = makes_key(&ground)?;
    let tokens = own_tokens(&ground, None).await?;
    if makes_key {
        eprintln!(
            "toolgate: made a new signing key in {}; no server uses it yet: start toolgate serve with the same --data",
            ground.data.display()
        );
    }
    let (token, id) = tokens.mint_with_id(&claims, ttl)?;
    print(
        output,
        &json!({"token": token.expose(), "id": id, "expires_in": ttl.as_secs()}),
        &format!("{}\n", token.expose()),
    )?;
    Ok(Ending::Good)
}

/// Whether signing a token makes the key first. A token of a new key counts nowhere until a server is started with the key.
fn makes_key(ground: &Ground) -> Result<bool, Misuse> {
    let is_kept_in_data =
        ground.config.identity.key_file.is_none() && matches!(ground.location()?, Location::Sqlite(_));
    Ok(is_kept_in_data && !ground.data.join(KEY_FILE_NAME).exists())
}

async fn own_tokens(ground: &Ground, store: Option<&Store>) -> Result<OwnTokens, Misuse> {
    let key = ground.key(store).await?;
    let tokens = OwnTokens::new(key, &ground.config.identity.audience, Duration::ZERO)?;
    Ok(tokens.with_limits(token_limits(&ground.config)?)?)
}

/// The longest lives that the configuration gives tokens.
pub(super) fn token_limits(config: &Config) -> Result<TokenLimits, Misuse> {
    let read = |key: &str, text: &str| ground::duration(text).map_err(|fault| format!("[identity] {key}: {fault}"));
    Ok(TokenLimits {
        any: read("max_token_ttl", &config.identity.max_token_ttl)?,
        operator: read("max_operator_ttl", &config.identity.max_operator_ttl)?,
    })
}

/// The id itself, or that of a token.
async fn token_id(ground: &Ground, store: &Store, text: String) -> Result<String, Misuse> {
    // the key itself is a secret, and is not repeated
    let key = text.strip_prefix("tgk_").or_else(|| text.strip_prefix("key_"));
    if let Some(id) = key.and_then(|rest| rest.split('_').next()) {
        let id = line(id);
        return Err(format!("this is an API key and no token; revoke it with: toolgate key revoke key_{id}").into());
    }
    if !text.contains('.') {
        return Ok(text);
    }
    Ok(own_tokens(ground, Some(store)).await?.id_of(&text)?)
}

fn checked_subject(subject: String) -> Result<String, Misuse> {
    match subject.split_once(':') {
        Some(("user" | "agent" | "task", name)) if !name.is_empty() => Ok(subject),
        _ => Err(format!("--subject '{subject}' is none; write user:NAME, agent:NAME or task:ID").into()),
    }
}

/// Unix seconds, the last second before the time.
fn past(text: &str) -> Result<i64, Misuse> {
    let now = ground::now();
    let at = when::at("--all-before", text, now)?;
    if at > now {
        return Err(
            format!("--all-before '{text}' is in the future: tokens that nobody made yet can't be revoked").into()
        );
    }
    Ok(at.saturating_sub(1).div_euclid(1000))
}

async fn revoke(
    store: &Store,
    (kind, name, until): (RevocationKind, String, Option<i64>),
) -> Result<RevokedTokens, Misuse> {
    let now = ground::now();
    let revoked = RevokedTokens {
        kind,
        name,
        issued_until: until.unwrap_or(now.div_euclid(1000)),
        revoked_at: now,
        expires_at: now.saturating_add(i64::try_from(LONGEST_TOKEN.as_millis())?),
    };
    store.token_revocations().revoke(&revoked).await?;
    if kind != RevocationKind::Token {
        wait_past(revoked.issued_until).await?;
    }
    Ok(revoked)
}

/// Waits until a second is over. A token's time is a whole second: one that is made after this command must not be of a second
/// that it ended.
async fn wait_past(second: i64) -> Result<(), Misuse> {
    let left = second.saturating_add(1).saturating_mul(1000).saturating_sub(ground::now());
    if left > 0 {
        tokio::time::sleep(Duration::from_millis(u64::try_from(left)?)).await;
    }
    Ok(())
}

/// Nobody keeps a list of tokens, so a mistyped id looks like any other.
fn unchecked(row: &RevokedTokens) -> &'static str {
    if row.kind == RevocationKind::Token { "; whether there is a token of this id is not checked" } else { "" }
}

fn in_words(row: &RevokedTokens) -> String {
    match row.kind {
        RevocationKind::Token => format!("the token {}", row.name),
        RevocationKind::Subject => {
            format!("every token of {} made until {}", row.name, when::show(row.issued_until.saturating_mul(1000)))
        }
        RevocationKind::Everyone => {
            format!("every token made until {}", when::show(row.issued_until.saturating_mul(1000)))
        }
    }
}

fn shown(row: &RevokedTokens) -> serde_json::Value {
    json!({"kind": row.kind.as_str(), "name": row.name, "issued_until": row.issued_until,
        "revoked_at": row.revoked_at, "expires_at": row.expires_at})
}

/// An allowlist with a name that no tool has would quietly allow less than was meant.
pub(super) fn known_tools(ground: &Ground, claims: &Claims) -> Result<(), Misuse> {
    let Some(allow) = &claims.allow else { return Ok(()) };
    let gate = ground.gate()?;
    match allow.iter().find(|name| !is_of_more(name) && gate.catalog().find(name).is_none()) {
        None => Ok(()),
        Some(name) => Err(format!("--allow: {}", gate.catalog().not_registered(name)).into()),
    }
}
