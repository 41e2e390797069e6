//! Where the database is: the value of `--database`.

use std::{fmt, path::PathBuf, str::FromStr};

use sqlx::postgres::{PgConnectOptions, PgSslMode};

use crate::StoreError;

/// A database address. Its `Debug` and `Display` forms leave out the user, the password and all
/// parameters.
#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// A file on this machine.
    Sqlite(PathBuf),
    /// A `postgres://` URL, password included.
    Postgres(String),
}

/// The parameters that have an effect. Others are refused here: the driver would ignore them and
/// log their value, and a misspelt `password` is such a value.
const POSTGRES_PARAMETERS: [&str; 18] = [
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "statement-cache-capacity",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
];

impl FromStr for Location {
    type Err = StoreError;

    fn from_str(url: &str) -> Result<Self, StoreError> {
        if let Some(path) = url.strip_prefix("sqlite:") {
            return sqlite_path(path.strip_prefix("//").unwrap_or(path)).map(Location::Sqlite);
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            postgres_options(url)?;
            return Ok(Location::Postgres(url.to_owned()));
        }
        Err(address("write sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE"))
    }
}

impl Location {
    /// Returns the host of a PostgreSQL server on another machine whose certificate is not verified: whoever is between
    /// the gateway and that server may read and change what goes over.
    pub fn unverified_host(&self) -> Option<String> {
        let Self::Postgres(url) = self else { return None };
        let options = postgres_options(url).ok()?;
        let is_verified = matches!(options.get_ssl_mode(), PgSslMode::VerifyCa | PgSslMode::VerifyFull);
        let host = options.get_host();
        let is_local = options.get_socket().is_some()
            || host.starts_with('/')
            || host == "localhost"
            || host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        (!is_verified && !is_local).then(|| host.to_owned())
    }
}

fn sqlite_path(path: &str) -> Result<PathBuf, StoreError> {
    match path {
        "" => Err(address("sqlite: needs the path of a file, as in sqlite:.toolgate/toolgate.db")),
        ":memory:" => {
            Err(address("a database in memory can't be shared by the store's connections; give the path of a file"))
        }
        path if path.contains(['?', '\0']) => Err(address("sqlite: takes a path and no parameters")),
        path => Ok(PathBuf::from(path)),
    }
}

/// Reads the URL without ever repeating a part of it: any part may be a password in the wrong
/// place.
pub(crate) fn postgres_options(url: &str) -> Result<PgConnectOptions, StoreError> {
    let parameters = url.split_once('?').map_or("", |(_, parameters)| parameters);
    let known = |pair: &str| {
        let name = pair.split_once('=').map_or(pair, |(name, _)| name);
        POSTGRES_PARAMETERS.contains(&name) || (name.starts_with("options[") && name.ends_with(']'))
    };
    if !parameters.split('&').filter(|pair| !pair.is_empty()).all(known) {
        return Err(address(
            "the PostgreSQL URL has an unknown parameter after '?'; known ones are sslmode, sslrootcert, \
             sslcert, sslkey, application_name, options, statement-cache-capacity",
        ));
    }
    PgConnectOptions::from_str(url).map_err(|_| {
        address(
            "the PostgreSQL URL can't be read; write \
             postgres://USER:PASSWORD@HOST:PORT/DATABASE and percent-encode \
             special characters in the password",
        )
    })
}

fn address(reason: &str) -> StoreError {
    StoreError::Address { reason: reason.to_owned() }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Location::Postgres(url) => match postgres_options(url) {
                Ok(options) => {
                    let database = options.get_database().unwrap_or(options.get_username());
                    write!(f, "postgres://{}:{}/{database}", options.get_host(), options.get_port())
                }
                Err(_) => f.write_str("postgres://(unreadable)"),
            },
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sqlite_address_is_a_path() {
        for (url, path) in [("sqlite:a/b.db", "a/b.db"), ("sqlite:/a/b.db", "/a/b.db"), ("sqlite:///a/b.db", "/a/b.db")]
        {
            assert_eq!(url.parse(), Ok(Location::Sqlite(PathBuf::from(path))), "{url}");
        }
    }

    #[test]
    fn a_server_elsewhere_is_to_be_verified() {
        let host = |url: &str| url.parse::<Location>().unwrap().unverified_host();
        for url in [
            "sqlite:a.db",
            "postgres://u@127.0.0.1/d",
            "postgres://u@[::1]/d?sslmode=disable",
            "postgres://u@localhost/d",
            "postgres://u@db.example/d?sslmode=verify-full",
        ] {
            assert_eq!(host(url), None, "{url}");
        }
        for mode in ["", "?sslmode=disable", "?sslmode=prefer", "?sslmode=require"] {
            assert_eq!(host(&format!("postgres://u@db.example/d{mode}")), Some("db.example".to_owned()), "{mode}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_what_to_write() {
        for url in [
            "",
            "a.db",
            "mysql://x/y",
            "sqlite:",
            "sqlite::memory:",
            "sqlite:a.db?mode=ro",
            "postgres:/x",
            "postgres://h:port/d",
        ] {
            let message = url.parse::<Location>().unwrap_err().to_string();
            assert!(message.starts_with("the database address is not usable: "), "{url}: {message}");
        }
    }

    #[test]
    fn a_password_shows_in_no_form_and_in_no_error() {
        let good = "postgres://u:hunter2@db.example:6432/gate?sslmode=require";
        let location: Location = good.parse().unwrap();
        assert_eq!(location, Location::Postgres(good.to_owned()));
        assert_eq!(
            format!("{location:?} {location}"),
            "Location(postgres://db.example:6432/gate) postgres://db.example:6432/gate"
        );
        for bad in [
            "postgres://u:hunter2@h:99999/d",
            "postgres://u:hunter2@h/d?sslmode=hunter2",
            "postgres://u@h/d?pasword=hunter2",
            "postgres://u:hunter2@/d?hunter2",
            "postgres://u:hunter2/x@h/d",
            "postgres//u:hunter2@h/d",
        ] {
            let error = bad.parse::<Location>().unwrap_err();
            assert!(
                !format!("{error} {error:?} {:?}", Location::Postgres(bad.to_owned())).contains("hunter2"),
                "{bad}: {error}"
            );
        }
    }
}
