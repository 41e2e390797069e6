//! The store's contract, each behaviour checked on both engines. SQLite needs nothing; PostgreSQL
//! needs a server named by `TOOLGATE_TEST_POSTGRES`, which `cargo xtask test` starts. Without it
//! these tests fail rather than claim anything.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[macro_use]
#[path = "contract/bed.rs"]
mod bed;
#[path = "contract/approval_notices.rs"]
mod approval_notices;
#[path = "contract/approvals.rs"]
mod approvals;
#[path = "contract/approvals_named.rs"]
mod approvals_named;
#[path = "contract/approvals_taken.rs"]
mod approvals_taken;
#[path = "contract/changes.rs"]
mod changes;
#[path = "contract/cut_results.rs"]
mod cut_results;
#[path = "contract/edits.rs"]
mod edits;
#[path = "contract/events.rs"]
mod events;
#[path = "contract/fitness.rs"]
mod fitness;
#[path = "contract/flows.rs"]
mod flows;
#[path = "contract/growth.rs"]
mod growth;
#[path = "contract/hostile.rs"]
mod hostile;
#[path = "contract/id_prefix.rs"]
mod id_prefix;
#[path = "contract/keys.rs"]
mod keys;
#[path = "contract/ledger/mod.rs"]
mod ledger;
#[path = "contract/opening.rs"]
mod opening;
#[path = "contract/outage.rs"]
mod outage;
#[path = "contract/plan_steps.rs"]
mod plan_steps;
#[path = "contract/plan_yes.rs"]
mod plan_yes;
#[path = "contract/plans.rs"]
mod plans;
#[path = "contract/process_decisions.rs"]
mod process_decisions;
#[path = "contract/process_model.rs"]
mod process_model;
#[path = "contract/processes.rs"]
mod processes;
#[path = "contract/proxy.rs"]
mod proxy;
#[path = "contract/query.rs"]
mod query;
#[path = "contract/receipts.rs"]
mod receipts;
#[path = "contract/restored.rs"]
mod restored;
#[path = "contract/retention.rs"]
mod retention;
#[path = "contract/revoked_tokens.rs"]
mod revoked_tokens;
#[path = "contract/rights.rs"]
mod rights;
#[path = "contract/secrets.rs"]
mod secrets;
#[path = "contract/sessions.rs"]
mod sessions;
#[path = "contract/tasks.rs"]
mod tasks;
#[path = "contract/team/mod.rs"]
mod team;
#[path = "contract/team_races.rs"]
mod team_races;
#[path = "contract/team_stage.rs"]
mod team_stage;
#[path = "contract/team_talks.rs"]
mod team_talks;
#[path = "contract/team_tasks.rs"]
mod team_tasks;
#[path = "contract/tenants.rs"]
mod tenants;
#[path = "contract/todo.rs"]
mod todo;
#[path = "contract/undo.rs"]
mod undo;
#[path = "contract/vault.rs"]
mod vault;
#[path = "contract/workspace.rs"]
mod workspace;
#[path = "contract/write_fate.rs"]
mod write_fate;
