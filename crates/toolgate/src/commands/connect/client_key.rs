//! The API key that `connect --user` makes for a client. Its id is kept beside the client's file, so that `--undo` and the
//! next `connect` revoke it.

use std::{
    fs,
    path::{Path, PathBuf, absolute},
};

use serde::{Deserialize, Serialize};
use toolgate_server::identity::{Claims, Token};
use toolgate_store::{Location, Store};

use crate::{
    Misuse,
    cli::Client,
    commands::{client_file, key, put_file},
    ground::{self, Ground},
};

const ENDING: &str = ".toolgate-key";

/// The kept part of a key: never the key itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientKey {
    pub id: String,
    /// The SQLite database that has the key. The address of another database may hold a password and is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<PathBuf>,
}

impl ClientKey {
    /// Makes a key for a user. Returns the key itself too.
    pub async fn make(ground: &Ground, client: Client, user: &str) -> Result<(Self, Token), Misuse> {
        let claims = Claims { user: Some(user.to_owned()), ..Claims::default() };
        let database = match ground.location()? {
            Location::Sqlite(path) => Some(absolute(path)?),
            Location::Postgres(_) => None,
        };
        let store = ground.store().await?;
        let made = key::insert(&store, &claims, name(client), None).await;
        store.close().await;
        let (id, secret) = made?;
        Ok((Self { id, database }, secret))
    }

    /// The key that was made for the client of this file.
    pub fn of(file: &Path) -> Result<Option<Self>, Misuse> {
        let path = client_file::beside(file, ENDING);
        let Some(text) = client_file::read(&path)? else { return Ok(None) };
        let kept = serde_json::from_str(&text);
        Ok(Some(kept.map_err(|fault| format!("{} can't be read: {fault}; remove it", path.display()))?))
    }

    pub fn keep(&self, file: &Path) -> Result<(), Misuse> {
        let path = client_file::beside(file, ENDING);
        let text = format!("{}\n", serde_json::to_string(self)?);
        Ok(put_file::replace(&path, text.as_bytes())
            .map_err(|fault| format!("{} can't be written: {fault}", path.display()))?)
    }

    pub fn forget(file: &Path) -> Result<(), Misuse> {
        let path = client_file::beside(file, ENDING);
        match fs::remove_file(&path) {
            Err(fault) if fault.kind() != std::io::ErrorKind::NotFound => {
                Err(format!("{} can't be removed: {fault}", path.display()).into())
            }
            _ => Ok(()),
        }
    }

    /// The beginning of the key itself, by which a file that has the key is known.
    pub fn beginning(&self) -> String {
        format!("tgk_{}_", self.id.trim_start_matches("key_"))
    }

    /// Revokes the key. A key that is revoked already stays so.
    ///
    /// INVARIANT: the file that names the key may come with somebody's project. So only the store of this command is looked
    /// into, and only a key that `connect` made for this client is revoked.
    pub async fn revoke(&self, client: Client, ground: Result<Ground, Misuse>) -> Result<(), String> {
        let location =
            ground.and_then(|ground| ground.location()).map_err(|problem| self.left(&problem.to_string()))?;
        if let Location::Sqlite(path) = &location {
            let here = |path: &Path| fs::canonicalize(path).ok();
            if !path.exists() {
                return Err(self.left(&format!("there is no store at '{}'", path.display())));
            }
            if self.database.as_deref().is_some_and(|made_in| here(made_in) != here(path)) {
                return Err(self.left("it was made in another store; run this with that --data or --database"));
            }
        }
        let store = Store::open_unmigrated(&location).await.map_err(|fault| self.left(&fault.to_string()))?;
        let revoked = self.revoke_in(&store, client).await;
        store.close().await;
        revoked
    }

    async fn revoke_in(&self, store: &Store, client: Client) -> Result<(), String> {
        let known = store.keys().list().await.map_err(|fault| self.left(&fault.to_string()))?;
        match known.iter().find(|key| key.id == self.id) {
            None => return Err(self.left("the store does not know it")),
            Some(key) if key.name != name(client) => {
                return Err(self.left(&format!("connect did not make it; its name is '{}'", key.name)));
            }
            Some(_) => {}
        }
        store.keys().revoke(&self.id, ground::now()).await.map(drop).map_err(|fault| self.left(&fault.to_string()))
    }

    fn left(&self, why: &str) -> String {
        format!("the key {0} could not be revoked: {why}; do it there: toolgate key revoke {0}", self.id)
    }
}

/// The name that `key list` shows.
pub fn name(client: Client) -> String {
    format!("connect {}", client.name())
}
