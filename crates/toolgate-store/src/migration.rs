//! Forward-only migrations: which there are, which a database still needs, and who may use a newer one.

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

/// Migrations that belong together, and where a database keeps which of them it had.
pub(crate) struct Line {
    pub(crate) migrations: &'static [Migration],
    /// Every migration after this one only adds: a program that knows this one can use what later ones made. A migration
    /// that takes something away, or gives it another meaning, raises this to its own version.
    pub(crate) compatible_from: i64,
    /// The table's name.
    pub(crate) table: &'static str,
    pub(crate) create: &'static str,
    pub(crate) read: &'static str,
    pub(crate) add: &'static str,
    pub(crate) read_compatible: &'static str,
    pub(crate) set_compatible: &'static str,
}

/// Whether opening a database may change its schema. A new database is made in either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaPolicy {
    Migrate,
    Keep,
}

impl SchemaPolicy {
    /// Refuses to go on with a database that needs a migration where none may run.
    pub(crate) fn check(self, applied: &[Applied], pending: &[Migration]) -> Result<(), StoreError> {
        if self == Self::Migrate || applied.is_empty() || pending.is_empty() {
            return Ok(());
        }
        let reason = "it was made by an older version of toolgate; run `toolgate migrate` or start `toolgate serve`, \
                      once no older version needs it as it is";
        Err(StoreError::Migration { reason: reason.to_owned() })
    }
}

macro_rules! line {
    ($table:literal, $migrations:expr, compatible from $compatible:literal) => {
        Line {
            migrations: $migrations,
            compatible_from: $compatible,
            table: $table,
            create: concat!(
                "CREATE TABLE IF NOT EXISTS ",
                $table,
                " (version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL);
                CREATE TABLE IF NOT EXISTS ",
                $table,
                "_compatible (one BIGINT NOT NULL PRIMARY KEY CHECK (one = 1), version BIGINT NOT NULL)"
            ),
            read: concat!("SELECT version, digest FROM ", $table, " ORDER BY version"),
            add: concat!("INSERT INTO ", $table, " (version, name, digest) VALUES ($1, $2, $3)"),
            read_compatible: concat!("SELECT version FROM ", $table, "_compatible WHERE one = 1"),
            set_compatible: concat!(
                "INSERT INTO ",
                $table,
                "_compatible (one, version) VALUES (1, $1) ON CONFLICT (one) DO UPDATE SET version = excluded.version"
            ),
        }
    };
}

pub(crate) const SQLITE: Line = line!("toolgate_migrations", SQLITE_STORE, compatible from 13);
pub(crate) const POSTGRES: Line = line!("toolgate_migrations", POSTGRES_STORE, compatible from 13);
/// The ledger's own: the embedded store has it in files of another kind.
pub(crate) const POSTGRES_LEDGER: Line = line!(
    "toolgate_ledger_migrations",
    &[
        Migration { version: 1, name: "ledger", sql: include_str!("../migrations/postgres-ledger/0001_ledger.sql") },
        Migration { version: 2, name: "archive", sql: include_str!("../migrations/postgres-ledger/0002_archive.sql") },
    ],
    compatible from 1
);

const SQLITE_STORE: &[Migration] = &[
    Migration { version: 1, name: "start", sql: include_str!("../migrations/sqlite/0001_start.sql") },
    Migration { version: 2, name: "spine", sql: include_str!("../migrations/sqlite/0002_spine.sql") },
    Migration { version: 3, name: "vault", sql: include_str!("../migrations/sqlite/0003_vault.sql") },
    Migration {
        version: 4,
        name: "approval notices",
        sql: include_str!("../migrations/sqlite/0004_approval_notices.sql"),
    },
    Migration { version: 5, name: "processes", sql: include_str!("../migrations/sqlite/0005_processes.sql") },
    Migration { version: 6, name: "team people", sql: include_str!("../migrations/sqlite/0006_team_people.sql") },
    Migration { version: 7, name: "team work", sql: include_str!("../migrations/sqlite/0007_team_work.sql") },
    Migration { version: 8, name: "tenants", sql: include_str!("../migrations/sqlite/0008_tenants.sql") },
    Migration { version: 9, name: "fitness", sql: include_str!("../migrations/sqlite/0009_fitness.sql") },
    Migration {
        version: 10,
        name: "messages on desks",
        sql: include_str!("../migrations/sqlite/0010_messages_on_desks.sql"),
    },
    Migration { version: 11, name: "cut results", sql: include_str!("../migrations/sqlite/0011_cut_results.sql") },
    Migration {
        version: 12,
        name: "revoked tokens",
        sql: include_str!("../migrations/sqlite/0012_revoked_tokens.sql"),
    },
    Migration {
        version: 13,
        name: "removed tenants",
        sql: include_str!("../migrations/sqlite/0013_removed_tenants.sql"),
    },
    Migration { version: 14, name: "ledger heads", sql: include_str!("../migrations/sqlite/0014_ledger_heads.sql") },
    Migration { version: 15, name: "ledger seals", sql: include_str!("../migrations/sqlite/0015_ledger_seals.sql") },
    Migration { version: 16, name: "store writes", sql: include_str!("../migrations/sqlite/0016_store_writes.sql") },
];

const POSTGRES_STORE: &[Migration] = &[
    Migration { version: 1, name: "start", sql: include_str!("../migrations/postgres/0001_start.sql") },
    Migration { version: 2, name: "spine", sql: include_str!("../migrations/postgres/0002_spine.sql") },
    Migration { version: 3, name: "vault", sql: include_str!("../migrations/postgres/0003_vault.sql") },
    Migration {
        version: 4,
        name: "approval notices",
        sql: include_str!("../migrations/postgres/0004_approval_notices.sql"),
    },
    Migration { version: 5, name: "processes", sql: include_str!("../migrations/postgres/0005_processes.sql") },
    Migration { version: 6, name: "team people", sql: include_str!("../migrations/postgres/0006_team_people.sql") },
    Migration { version: 7, name: "team work", sql: include_str!("../migrations/postgres/0007_team_work.sql") },
    Migration { version: 8, name: "tenants", sql: include_str!("../migrations/postgres/0008_tenants.sql") },
    Migration { version: 9, name: "fitness", sql: include_str!("../migrations/postgres/0009_fitness.sql") },
    Migration {
        version: 10,
        name: "messages on desks",
        sql: include_str!("../migrations/postgres/0010_messages_on_desks.sql"),
    },
    Migration { version: 11, name: "cut results", sql: include_str!("../migrations/postgres/0011_cut_results.sql") },
    Migration {
        version: 12,
        name: "revoked tokens",
        sql: include_str!("../migrations/postgres/0012_revoked_tokens.sql"),
    },
    Migration {
        version: 13,
        name: "removed tenants",
        sql: include_str!("../migrations/postgres/0013_removed_tenants.sql"),
    },
    Migration { version: 14, name: "ledger heads", sql: include_str!("../migrations/postgres/0014_ledger_heads.sql") },
    Migration { version: 15, name: "ledger seals", sql: include_str!("../migrations/postgres/0015_ledger_seals.sql") },
    Migration { version: 16, name: "store writes", sql: include_str!("../migrations/postgres/0016_store_writes.sql") },
];

impl Migration {
    pub(crate) fn digest(&self) -> String {
        let hash = digest::digest(&digest::SHA256, self.sql.as_bytes());
        hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What is left to run. The database must have had the first of `known`, in order and unchanged. If it had more than is
/// known, it says with `compatible_from` which migration a program must know to use it all the same.
pub(crate) fn pending<'a>(
    known: &'a [Migration],
    applied: &[Applied],
    compatible_from: Option<i64>,
) -> Result<&'a [Migration], StoreError> {
    let newest = known.last().map_or(0, |migration| migration.version);
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
            None if compatible_from.is_some_and(|from| from <= newest) => return Ok(rest),
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
        let left =
            |applied: &[Applied]| pending(KNOWN, applied, None).unwrap().iter().map(|m| m.version).collect::<Vec<_>>();
        assert_eq!(left(&[]), [1, 2]);
        assert_eq!(left(&[had(1, "a")]), [2]);
        assert_eq!(left(&[had(1, "a"), had(2, "b")]), [0_i64; 0]);
    }

    #[test]
    fn a_changed_a_missing_and_a_newer_migration_are_refused() {
        let why = |applied: &[Applied]| pending(KNOWN, applied, None).err().unwrap().to_string();
        assert!(why(&[had(1, "edited")]).contains("was changed"));
        assert!(why(&[had(2, "b")]).contains("where 1 is expected"));
        assert!(why(&[had(1, "a"), had(2, "b"), had(3, "c")]).contains("newer than this program"));
    }

    #[test]
    fn a_newer_database_says_who_may_still_use_it() {
        let newer = [had(1, "a"), had(2, "b"), had(3, "c")];
        for from in [1, 2] {
            assert!(pending(KNOWN, &newer, Some(from)).is_ok_and(<[Migration]>::is_empty), "{from}");
        }
        assert!(pending(KNOWN, &newer, Some(3)).err().unwrap().to_string().contains("newer than this program"));
    }

    #[test]
    fn only_who_may_migrate_goes_on_with_an_older_database() {
        let check =
            |policy: SchemaPolicy, applied: &[Applied]| policy.check(applied, pending(KNOWN, applied, None).unwrap());
        let older = [had(1, "a")];
        assert!(check(SchemaPolicy::Keep, &older).unwrap_err().to_string().contains("toolgate migrate"));
        assert_eq!(check(SchemaPolicy::Migrate, &older), Ok(()));
        assert_eq!(check(SchemaPolicy::Keep, &[]), Ok(()), "a new database is made");
        assert_eq!(check(SchemaPolicy::Keep, &[had(1, "a"), had(2, "b")]), Ok(()));
    }

    #[test]
    fn both_engines_have_the_same_migrations_numbered_from_one() {
        let names = |list: &[Migration]| list.iter().map(|m| (m.version, m.name)).collect::<Vec<_>>();
        assert_eq!(names(SQLITE.migrations), names(POSTGRES.migrations));
        assert!(SQLITE.migrations.iter().zip(1..).all(|(migration, version)| migration.version == version));
    }
}
