//! Forward-only migrations: which there are, and which a database still needs.

use aws_lc_rs::digest;

use crate::StoreError;

pub(crate) struct Migration {
    pub(crate) version: i64,
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
}

/// A migration that a database says it has had.
pub(crate) struct Applied {
    pub(crate) version: i64,
    pub(crate) digest: String,
}

pub(crate) const SQLITE: &[Migration] =
    &[Migration { version: 1, name: "start", sql: include_str!("../migrations/sqlite/0001_start.sql") }];

pub(crate) const POSTGRES: &[Migration] =
    &[Migration { version: 1, name: "start", sql: include_str!("../migrations/postgres/0001_start.sql") }];

pub(crate) const CREATE_RECORD: &str = "CREATE TABLE IF NOT EXISTS toolgate_migrations (
    version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL)";
pub(crate) const READ_RECORD: &str = "SELECT version, digest FROM toolgate_migrations ORDER BY version";
pub(crate) const RECORD: &str = "INSERT INTO toolgate_migrations (version, name, digest) VALUES ($1, $2, $3)";

impl Migration {
    pub(crate) fn digest(&self) -> String {
        let hash = digest::digest(&digest::SHA256, self.sql.as_bytes());
        hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What is left to run. The database must have had the first of `known`, in order and unchanged,
/// and nothing else.
pub(crate) fn pending<'a>(known: &'a [Migration], applied: &[Applied]) -> Result<&'a [Migration], StoreError> {
    let refused = |reason: String| Err(StoreError::Migration { reason });
    let mut rest = known;
    for had in applied {
        match rest.split_first() {
            Some((next, later)) if next.version == had.version && next.digest() == had.digest => rest = later,
            Some((next, _)) if next.version == had.version => {
                return refused(format!(
                    "migration {} ({}) was changed after this database had it; restore the file and \
                     put the change in a new one",
                    next.version, next.name
                ));
            }
            Some((next, _)) => {
                return refused(format!(
                    "the database has migration {} where {} is expected; it was not made by this program",
                    had.version, next.version
                ));
            }
            None => {
                return refused(format!(
                    "the database has migration {}, newer than this program; use the version of \
                     toolgate that made it or a later one",
                    had.version
                ));
            }
        }
    }
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Migration] =
        &[Migration { version: 1, name: "one", sql: "a" }, Migration { version: 2, name: "two", sql: "b" }];

    fn had(version: i64, sql: &'static str) -> Applied {
        Applied { version, digest: Migration { version, name: "", sql }.digest() }
    }

    #[test]
    fn what_is_missing_is_run_in_order() {
        let left = |applied: &[Applied]| pending(KNOWN, applied).unwrap().iter().map(|m| m.version).collect::<Vec<_>>();
        assert_eq!(left(&[]), [1, 2]);
        assert_eq!(left(&[had(1, "a")]), [2]);
        assert_eq!(left(&[had(1, "a"), had(2, "b")]), [0_i64; 0]);
    }

    #[test]
    fn a_changed_a_missing_and_a_newer_migration_are_refused() {
        let why = |applied: &[Applied]| pending(KNOWN, applied).err().unwrap().to_string();
        assert!(why(&[had(1, "edited")]).contains("was changed"));
        assert!(why(&[had(2, "b")]).contains("where 1 is expected"));
        assert!(why(&[had(1, "a"), had(2, "b"), had(3, "c")]).contains("newer than this program"));
    }

    #[test]
    fn both_engines_have_the_same_migrations_numbered_from_one() {
        let names = |list: &[Migration]| list.iter().map(|m| (m.version, m.name)).collect::<Vec<_>>();
        assert_eq!(names(SQLITE), names(POSTGRES));
        assert!(SQLITE.iter().zip(1..).all(|(migration, version)| migration.version == version));
    }
}
