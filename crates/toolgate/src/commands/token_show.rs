//! `token show`: what a token or an API key stands for, and whether this gateway would accept it. No server is asked.

use std::{
    io::{BufRead, Read},
    path::Path,
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json};
use toolgate_server::identity::{
    Claims, Identity, IdentityConfig, KEY_FILE_NAME, OwnKey, OwnTokens, Secret, StoredAgentSessions, StoredRows,
    TokenContent,
};
use toolgate_store::{Key, Location, Store};

use super::{books::field, caller_words::in_words, key, print, token::token_limits, when};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{Output, Place},
    ground::{self, Ground},
};

/// Bytes of the longest credential that is read.
const LONGEST: u64 = 64 * 1024;
const KEY_MARK: &str = "tgk_";

pub async fn run(token: Option<String>, place: &Place, output: Output) -> CommandResult {
    let token = match token {
        Some(token) => token,
        None => first_line()?,
    };
    let token = token.trim();
    let token = token.strip_prefix("Bearer ").unwrap_or(token).trim();
    if token.is_empty() {
        return Err("there is no token: name it, or write it to standard input".into());
    }
    let ground = Ground::of(place)?;
    let store = existing_store(&ground).await?;
    let found = examine(&ground, store.as_ref(), token).await;
    if let Some(store) = store {
        store.close().await;
    }
    let Examined { shown, refusal } = found?;
    let mut value = json!({"accepted": refusal.is_none(), "reason": refusal});
    let mut text = String::new();
    for (name, label, shown) in shown {
        field(&mut text, label, shown.words());
        if let Some(members) = value.as_object_mut() {
            members.insert(name.to_owned(), shown.value());
        }
    }
    let accepted = refusal.as_ref().map_or_else(|| "yes".to_owned(), |reason| format!("no: {reason}"));
    field(&mut text, "accepted", accepted);
    print(output, &value, &text)?;
    Ok(if refusal.is_none() { Ending::Good } else { Ending::No })
}

/// The reason why this gateway would refuse a credential; `None`: as far as can be said here, it counts.
pub(super) async fn refusal(ground: &Ground, token: &str) -> Result<Option<String>, Misuse> {
    let store = existing_store(ground).await?;
    let found = examine(ground, store.as_ref(), token).await;
    if let Some(store) = store {
        store.close().await;
    }
    Ok(found?.refusal)
}

/// The store, where there is one: nothing is made by looking.
async fn existing_store(ground: &Ground) -> Result<Option<Store>, Misuse> {
    match ground.location()? {
        Location::Sqlite(path) if !path.exists() => Ok(None),
        _ => ground.store().await.map(Some),
    }
}

fn first_line() -> Result<String, Misuse> {
    let mut line = String::new();
    std::io::stdin().lock().take(LONGEST).read_line(&mut line)?;
    Ok(line)
}

struct Examined {
    /// Name in JSON, label, and what is shown.
    shown: Vec<(&'static str, &'static str, Shown)>,
    refusal: Option<String>,
}

enum Shown {
    Text(String),
    Flag(bool),
    Attributes(Box<Claims>),
    /// Unix milliseconds.
    Time(i64),
}

impl Shown {
    fn words(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
            Self::Attributes(claims) => in_words(claims),
            Self::Time(at) => when::told(*at),
        }
    }

    fn value(self) -> Value {
        match self {
            Self::Text(text) => text.into(),
            Self::Flag(flag) => flag.into(),
            Self::Attributes(claims) => serde_json::to_value(claims).unwrap_or_default(),
            Self::Time(at) => when::show(at).into(),
        }
    }
}

async fn examine(ground: &Ground, store: Option<&Store>, token: &str) -> Result<Examined, Misuse> {
    if let Some(rest) = token.strip_prefix(KEY_MARK) {
        return examine_key(ground, store, token, rest).await;
    }
    let Some(content) = TokenContent::read(token) else {
        let text = "neither a signed token nor an API key".to_owned();
        let refusal = refusal_by_store(ground, store, token).await?;
        return Ok(Examined { shown: vec![("kind", "kind", Shown::Text(text))], refusal });
    };
    let kind = if content.is_own() { "a token of Toolgate" } else { "a token of an issuer" };
    let mut shown = vec![("kind", "kind", Shown::Text(kind.to_owned()))];
    let mut refusal = None;
    if content.is_own() {
        let tokens = own_tokens(ground, store).await?;
        let is_signed = tokens.as_ref().is_some_and(|tokens| tokens.signed(token));
        shown.push(("signed_here", "signed here", Shown::Flag(is_signed)));
        refusal = match (tokens, store) {
            (None, _) => Some(format!("there is no signing key in {}; was it made there?", ground.data.display())),
            (Some(_), Some(_)) => refusal_by_store(ground, store, token).await?,
            (Some(tokens), None) => tokens.refusal_of(token).map(str::to_owned),
        };
    } else {
        let name = content.issuer.clone().unwrap_or_default();
        let known = ground.config.identity.issuers.iter().find(|issuer| issuer.issuer == name);
        if known.is_none() {
            refusal = Some("its issuer is not configured: [[identity.issuers]]".to_owned());
        }
        shown.push((
            "signature",
            "signature",
            Shown::Text("not checked: the issuer's keys are not fetched".to_owned()),
        ));
        let is_over = content.expires_at.is_some_and(|at| millis(at) <= ground::now());
        refusal = refusal.or_else(|| is_over.then(|| "the token has expired".to_owned()));
        shown.push(("issuer", "issuer", Shown::Text(name)));
    }
    let texts = [("audience", &content.audience), ("id", &content.id)];
    shown.extend(texts.into_iter().filter_map(|(name, text)| Some((name, name, Shown::Text(text.clone()?)))));
    shown.push(("attributes", "attributes", Shown::Attributes(Box::new(content.claims))));
    let times = [("issued_at", "issued", content.issued_at), ("expires_at", "expires", content.expires_at)];
    shown.extend(times.into_iter().filter_map(|(name, label, at)| Some((name, label, Shown::Time(millis(at?))))));
    Ok(Examined { shown, refusal })
}

async fn examine_key(ground: &Ground, store: Option<&Store>, token: &str, rest: &str) -> Result<Examined, Misuse> {
    let mut shown = vec![("kind", "kind", Shown::Text("an API key".to_owned()))];
    let refusal = refusal_by_store(ground, store, token).await?;
    let found: Option<Key> = match (store, rest.split_once('_')) {
        (Some(store), Some((prefix, _))) => store.keys().find(prefix).await.ok().flatten(),
        _ => None,
    };
    if let Some(found) = found {
        shown.push(("id", "id", Shown::Text(found.id.clone())));
        shown.push(("name", "name", Shown::Text(found.name.clone())));
        shown.push(("state", "state", Shown::Text(key::state(&found, ground::now()).to_owned())));
        if let Ok(claims) = serde_json::from_str(&found.facts) {
            shown.push(("attributes", "attributes", Shown::Attributes(Box::new(claims))));
        }
        shown.push(("issued_at", "issued", Shown::Time(found.created_at)));
        shown.extend(found.expires_at.map(|at| ("expires_at", "expires", Shown::Time(at))));
    }
    Ok(Examined { shown, refusal })
}

/// The answer of the same code that serves requests.
async fn refusal_by_store(ground: &Ground, store: Option<&Store>, token: &str) -> Result<Option<String>, Misuse> {
    let Some(store) = store else {
        let place = match ground.location()? {
            Location::Sqlite(path) => path.display().to_string(),
            Location::Postgres(_) => "the database".to_owned(),
        };
        return Ok(Some(format!("there is no store at '{place}' that could know it")));
    };
    let key = match existing_key(ground, store).await? {
        Some(key) => key,
        None => OwnKey::from_secret(&Secret::random()?, ground.algorithm()?)?,
    };
    let config = IdentityConfig {
        audience: ground.config.identity.audience.clone(),
        token_limits: token_limits(&ground.config)?,
        ..IdentityConfig::default()
    };
    let rows = Arc::new(StoredRows::new(store.clone(), 1));
    let sessions = Arc::new(StoredAgentSessions::new(store.clone()));
    let identity = Identity::new(config, key, rows)?.with_sessions(sessions);
    Ok(identity.refusal_of(token).await?.map(str::to_owned))
}

async fn own_tokens(ground: &Ground, store: Option<&Store>) -> Result<Option<OwnTokens>, Misuse> {
    let key = match store {
        Some(store) => existing_key(ground, store).await?,
        None => key_in_files(ground)?,
    };
    let Some(key) = key else { return Ok(None) };
    let tokens = OwnTokens::new(key, &ground.config.identity.audience, Duration::ZERO)?;
    Ok(Some(tokens.with_limits(token_limits(&ground.config)?)?))
}

async fn existing_key(ground: &Ground, store: &Store) -> Result<Option<OwnKey>, Misuse> {
    match ground.location()? {
        Location::Postgres(_) => ground.key(Some(store)).await.map(Some),
        Location::Sqlite(_) => key_in_files(ground),
    }
}

/// The key of a file, where there is one: none is made by looking.
fn key_in_files(ground: &Ground) -> Result<Option<OwnKey>, Misuse> {
    let in_data = ground.data.join(KEY_FILE_NAME);
    let path: &Path = match &ground.config.identity.key_file {
        Some(path) => path,
        None if in_data.exists() => &in_data,
        None => return Ok(None),
    };
    Ok(Some(OwnKey::load(path, ground.algorithm()?)?))
}

fn millis(second: u64) -> i64 {
    i64::try_from(second).unwrap_or(i64::MAX).saturating_mul(1000)
}
