//! The command as people and clients meet it: the real binary, real sockets and pipes, real databases.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "in a test, giving up with a message is how a failure is reported"
)]

#[path = "command/accept.rs"]
mod accept;
#[path = "command/accept_new.rs"]
mod accept_new;
#[path = "command/add.rs"]
mod add;
#[path = "command/admin_replicas.rs"]
mod admin_replicas;
#[path = "command/admin_rest.rs"]
mod admin_rest;
#[path = "command/approval_limits.rs"]
mod approval_limits;
#[path = "command/approvals.rs"]
mod approvals;
#[path = "command/approvals_asked.rs"]
mod approvals_asked;
#[path = "command/approvals_at_client.rs"]
mod approvals_at_client;
#[path = "command/approvals_command_line.rs"]
mod approvals_command_line;
#[path = "command/approvals_rest.rs"]
mod approvals_rest;
#[path = "command/approvals_waiting.rs"]
mod approvals_waiting;
#[path = "command/approvals_watch.rs"]
mod approvals_watch;
#[path = "command/bed/mod.rs"]
mod bed;
#[path = "command/canary.rs"]
mod canary;
#[path = "command/challenge.rs"]
mod challenge;
#[path = "command/child_processes.rs"]
mod child_processes;
#[path = "command/combination.rs"]
mod combination;
#[path = "command/concealed.rs"]
mod concealed;
#[path = "command/configuration.rs"]
mod configuration;
#[path = "command/connect.rs"]
mod connect;
#[path = "command/connect_clients.rs"]
mod connect_clients;
#[path = "command/credentials.rs"]
mod credentials;
#[path = "command/doctor.rs"]
mod doctor;
#[path = "command/every_tool.rs"]
mod every_tool;
#[path = "command/exit_codes.rs"]
mod exit_codes;
#[path = "command/files.rs"]
mod files;
#[path = "command/fitness.rs"]
mod fitness;
#[path = "command/flows.rs"]
mod flows;
#[path = "command/front_door.rs"]
mod front_door;
#[path = "command/full_ledger.rs"]
mod full_ledger;
#[path = "command/global_disable.rs"]
mod global_disable;
#[path = "command/gone.rs"]
mod gone;
#[path = "command/hidden.rs"]
mod hidden;
#[path = "command/import.rs"]
mod import;
#[path = "command/killed.rs"]
mod killed;
#[path = "command/languages.rs"]
mod languages;
#[path = "command/large_results.rs"]
mod large_results;
#[path = "command/ledger.rs"]
mod ledger;
#[path = "command/ledger_archive.rs"]
mod ledger_archive;
#[path = "command/ledger_serve.rs"]
mod ledger_serve;
#[path = "command/ledger_verify.rs"]
mod ledger_verify;
#[path = "command/limits.rs"]
mod limits;
#[path = "command/list_changed.rs"]
mod list_changed;
#[path = "command/name_clash.rs"]
mod name_clash;
#[path = "command/names.rs"]
mod names;
#[path = "command/output.rs"]
mod output;
#[path = "command/overload.rs"]
mod overload;
#[path = "command/pages.rs"]
mod pages;
#[path = "command/plans.rs"]
mod plans;
#[path = "command/policy.rs"]
mod policy;
#[path = "command/processes.rs"]
mod processes;
#[path = "command/receipt_notes.rs"]
mod receipt_notes;
#[path = "command/receipts.rs"]
mod receipts;
#[path = "command/recorded_sessions.rs"]
mod recorded_sessions;
#[path = "command/refused_credentials.rs"]
mod refused_credentials;
#[path = "command/reload.rs"]
mod reload;
#[path = "command/replay.rs"]
mod replay;
#[path = "command/replay_more.rs"]
mod replay_more;
#[path = "command/replicas.rs"]
mod replicas;
#[path = "command/restored.rs"]
mod restored;
#[path = "command/routes.rs"]
mod routes;
#[path = "command/sandbox.rs"]
mod sandbox;
#[path = "command/shutdown.rs"]
mod shutdown;
#[path = "command/start.rs"]
mod start;
#[path = "command/stdio.rs"]
mod stdio;
#[path = "command/store_away.rs"]
mod store_away;
#[path = "command/strangers.rs"]
mod strangers;
#[path = "command/tasks.rs"]
mod tasks;
#[path = "command/team.rs"]
mod team;
#[path = "command/team_rest.rs"]
mod team_rest;
#[path = "command/team_tasks.rs"]
mod team_tasks;
#[path = "command/team_waiting.rs"]
mod team_waiting;
#[path = "command/tenants.rs"]
mod tenants;
#[path = "command/tiers.rs"]
mod tiers;
#[path = "command/undo.rs"]
mod undo;
#[path = "command/upstream_news.rs"]
mod upstream_news;
#[path = "command/upstreams.rs"]
mod upstreams;
#[path = "command/webhooks.rs"]
mod webhooks;
