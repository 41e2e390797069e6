//! The ground a command stands on: the configuration, the data folder, the store and the key.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use toolgate_core::Gate;
use toolgate_server::identity::{OwnAlgorithm, OwnKey, Secret};
use toolgate_store::{Location, Store, StoreError};

use crate::{
    Misuse,
    catalog::Catalog,
    cli::Place,
    config::{self, Config},
    raise,
    upstreams::{self, LockFile},
};

/// A configuration with the path it came from, if it came from a file.
pub struct Ground {
    pub config: Config,
    pub config_path: Option<PathBuf>,
    pub data: PathBuf,
    /// The address of the command line, which beats the file's.
    pub listen: Option<String>,
    database: Option<String>,
}

/// The configuration that is read where none is named.
pub const DEFAULT_FILE: &str = "toolgate.toml";

impl Ground {
    pub fn of(place: &Place) -> Result<Self, Misuse> {
        let config_path =
            place.config.clone().or_else(|| Path::new(DEFAULT_FILE).exists().then(|| PathBuf::from(DEFAULT_FILE)));
        Ok(Self {
            config: config::load(config_path.as_deref(), std::env::vars())?,
            config_path,
            data: place.data.clone(),
            listen: None,
            database: place.database.clone(),
        })
    }

    pub fn lock_file(&self) -> LockFile {
        LockFile::beside(self.config_path.as_deref())
    }

    /// The gate as far as it is known without connecting to anything and without a store.
    pub fn gate(&self) -> Result<Arc<Gate>, Misuse> {
        self.gate_with(&Catalog::default())
    }

    pub fn gate_with(&self, catalog: &Catalog) -> Result<Arc<Gate>, Misuse> {
        let lock = self.lock_file().read()?;
        Ok(raise::gate(&self.config, &upstreams::pinned(&self.config, &lock), catalog)?)
    }

    /// The same with what the store says of tools, where there is a store, and whatever else is to be looked up in it.
    pub async fn stored_gate<T>(
        &self,
        more: impl AsyncFnOnce(&Store) -> Result<T, StoreError>,
    ) -> Result<(Arc<Gate>, Option<T>), Misuse> {
        if let Location::Sqlite(path) = self.location()?
            && !path.exists()
        {
            return Ok((self.gate()?, None));
        }
        // what is wrong with the configuration is said first
        self.gate()?;
        let store = self.store().await?;
        let found = async { Ok::<_, StoreError>((Catalog::read(&store).await?, more(&store).await?)) }.await;
        store.close().await;
        let (catalog, more) = found?;
        Ok((self.gate_with(&catalog)?, Some(more)))
    }

    pub fn location(&self) -> Result<Location, Misuse> {
        match &self.database {
            Some(url) => Ok(url.parse::<Location>()?),
            None => Ok(Location::Sqlite(self.data.join("toolgate.db"))),
        }
    }

    /// The store as it is: an older one is not migrated because somebody looks at it.
    pub async fn store(&self) -> Result<Store, Misuse> {
        Ok(Store::open_unmigrated(&self.location()?).await?)
    }

    /// The store of who serves, brought up to date.
    pub async fn migrated_store(&self) -> Result<Store, Misuse> {
        Ok(Store::open(&self.location()?).await?)
    }

    pub fn algorithm(&self) -> Result<OwnAlgorithm, Misuse> {
        match self.config.identity.algorithm.as_str() {
            "HS256" => Ok(OwnAlgorithm::Hs256),
            "EdDSA" => Ok(OwnAlgorithm::EdDsa),
            other => Err(format!("[identity] algorithm = \"{other}\" is neither \"HS256\" nor \"EdDSA\"").into()),
        }
    }

    /// The signing key: a configured file, the store's where replicas share one, else the data folder's.
    pub async fn key(&self, store: Option<&Store>) -> Result<OwnKey, Misuse> {
        let algorithm = self.algorithm()?;
        if let Some(path) = &self.config.identity.key_file {
            return Ok(OwnKey::load(path, algorithm)?);
        }
        if !matches!(self.location()?, Location::Postgres(_)) {
            return Ok(OwnKey::load_or_create(&self.data, algorithm)?);
        }
        let opened;
        let store = match store {
            Some(store) => store,
            None => {
                opened = self.store().await?;
                &opened
            }
        };
        let fresh = Secret::random()?;
        let shared = store.secrets().get_or_create("signing-key", || fresh.expose().to_vec()).await?;
        Ok(OwnKey::from_secret(&Secret::new(shared), algorithm)?)
    }
}

/// Unix milliseconds.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// `90s`, `15m`, `1h`, `7d`.
pub fn duration(text: &str) -> Result<Duration, Misuse> {
    let bad = || format!("'{text}' is no duration; write 90s, 15m, 1h or 7d");
    let unit = text.chars().last().ok_or_else(bad)?;
    let count: u64 =
        text.strip_suffix(unit).and_then(|count| count.parse().ok()).filter(|count| *count > 0).ok_or_else(bad)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(bad().into()),
    };
    count
        .checked_mul(seconds)
        .filter(|seconds| *seconds <= 86_400 * 3650)
        .map(Duration::from_secs)
        .ok_or_else(|| bad().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_a_count_and_a_unit() {
        assert_eq!(duration("90s").unwrap(), Duration::from_secs(90));
        assert_eq!(duration("7d").unwrap(), Duration::from_secs(604_800));
        for wrong in ["", "1", "h", "0s", "-1h", "1w", "1.5h", "99999999999999999999d", "9999999d", "１h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
