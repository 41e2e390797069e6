//! Examples of every command, shown below its help. A test parses each line as the command itself would.

use clap::Command;

/// The path of each command that does something, and lines to type. What follows `#`, `>` or `|` is for people and shells.
pub const EXAMPLES: &[(&str, &[&str])] = &[
    ("serve", &["toolgate serve", "toolgate serve --config gate.toml --listen 127.0.0.1:9000"]),
    (
        "stdio",
        &["toolgate stdio --token $TOKEN", "toolgate stdio --agent scribe --project site --passkey-file scribe.key"],
    ),
    ("init", &["toolgate init", "toolgate init --config gate.toml"]),
    ("check", &["toolgate check", "toolgate check --schema > toolgate.schema.json"]),
    ("doctor", &["toolgate doctor", "toolgate doctor --listen 127.0.0.1:9000 --json"]),
    (
        "explain",
        &[
            "toolgate explain add_task --as user=alice",
            "toolgate explain vault.move --as user=alice --arguments '{\"to\": \"/2026\"}'",
            "toolgate explain delete_task --as user=kim --approving user:alice    # may kim approve it?",
        ],
    ),
    (
        "matrix",
        &[
            "toolgate matrix",
            "toolgate matrix --tool 'files_*' --differs",
            "toolgate matrix --as user=alice --as user=bob,tenant=acme,role=admin",
        ],
    ),
    ("test", &["toolgate test", "toolgate test members.test.toml"]),
    ("replay", &["toolgate replay --since 7d", "toolgate replay --rulebook new-rules --tool write_file"]),
    ("token mint", &["toolgate token mint --user alice", "toolgate token mint --user kim --operator --ttl 15m"]),
    ("token revoke", &["toolgate token revoke --subject user:alice", "toolgate token revoke --all-before 1h"]),
    ("token revoked", &["toolgate token revoked"]),
    ("token show", &["toolgate token show $TOKEN", "toolgate token show"]),
    (
        "add",
        &[
            "toolgate add files -- npx -y @modelcontextprotocol/server-filesystem /srv/docs",
            "toolgate add search https://search.example/mcp --header 'Authorization: Bearer …'",
        ],
    ),
    ("upstream list", &["toolgate upstream list"]),
    ("upstream diff", &["toolgate upstream diff", "toolgate upstream diff files"]),
    (
        "upstream accept",
        &[
            "toolgate upstream accept",
            "toolgate upstream accept files --tool read_file",
            "toolgate upstream accept --all",
        ],
    ),
    ("import", &["toolgate import ~/.cursor/mcp.json", "toolgate import ~/.cursor/mcp.json --write"]),
    (
        "connect",
        &[
            "toolgate connect",
            "toolgate connect cursor --user me",
            "toolgate connect cursor --replace",
            "toolgate connect cursor --undo",
        ],
    ),
    (
        "key create",
        &["toolgate key create --user alice --name laptop", "toolgate key create --operator --user metrics --ttl 90d"],
    ),
    ("key list", &["toolgate key list"]),
    ("key revoke", &["toolgate key revoke key_1f0c22ab"]),
    (
        "task start",
        &["toolgate task start --owner alice --name 'write the report'", "toolgate task start --process proc_1f0c22ab"],
    ),
    (
        "task finish",
        &[
            "toolgate task finish task_1f0c22ab",
            "toolgate task finish task_1f0c22ab --exit-code 1 --error 'the build failed'",
        ],
    ),
    ("task show", &["toolgate task show task_1f0c22ab"]),
    ("task commit", &["toolgate task commit task_1f0c22ab 4b825dc642cb"]),
    ("agent add", &["toolgate agent add scribe --role writer --project site"]),
    ("agent list", &["toolgate agent list"]),
    ("agent show", &["toolgate agent show scribe"]),
    (
        "agent set",
        &["toolgate agent set scribe --status suspended", "toolgate agent set scribe --parent ''    # under nobody"],
    ),
    ("agent passkey", &["toolgate agent passkey scribe"]),
    ("agent assign", &["toolgate agent assign scribe site"]),
    ("agent sessions", &["toolgate agent sessions scribe"]),
    ("agent end-session", &["toolgate agent end-session ses_1f0c22ab"]),
    ("agent unassign", &["toolgate agent unassign scribe site"]),
    ("project add", &["toolgate project add site --working-directory /srv/site"]),
    ("project list", &["toolgate project list"]),
    ("project show", &["toolgate project show site"]),
    ("project set", &["toolgate project set site --status paused"]),
    ("project task add", &["toolgate project task add site 'Write the report' --assign scribe --start"]),
    ("project task list", &["toolgate project task list site --status in_progress"]),
    ("project task set", &["toolgate project task set site task_1f0c22ab --status blocked --reason 'no data yet'"]),
    ("project task assign", &["toolgate project task assign site task_1f0c22ab scribe"]),
    ("project tell", &["toolgate project tell site scribe 'Please begin with the summary.' --from kim"]),
    ("tenant add", &["toolgate tenant add acme --plan professional --owner alice"]),
    ("tenant list", &["toolgate tenant list"]),
    ("tenant show", &["toolgate tenant show acme"]),
    ("tenant change", &["toolgate tenant change acme --plan enterprise --dry-run"]),
    ("tenant remove", &["toolgate tenant remove acme --dry-run"]),
    ("tenant member set", &["toolgate tenant member set acme bob --role admin"]),
    ("tenant member remove", &["toolgate tenant member remove acme bob"]),
    ("tenant member list", &["toolgate tenant member list acme"]),
    ("user add", &["toolgate user add bob --name 'Bob Ray' --email bob@example.org"]),
    ("user list", &["toolgate user list"]),
    ("user show", &["toolgate user show bob"]),
    ("user change", &["toolgate user change bob --email ''    # forget the address"]),
    ("user remove", &["toolgate user remove bob --dry-run"]),
    ("override set", &["toolgate override set acme add_task off --reason 'not in this contract'"]),
    ("override remove", &["toolgate override remove acme add_task"]),
    ("override list", &["toolgate override list acme"]),
    ("override import", &["toolgate override import overrides.toml --dry-run"]),
    ("override export", &["toolgate override export --format csv > overrides.csv"]),
    ("catalog list", &["toolgate catalog list"]),
    ("catalog show", &["toolgate catalog show add_task"]),
    ("catalog set", &["toolgate catalog set add_task --group planning --min-plan professional"]),
    ("catalog reset", &["toolgate catalog reset add_task"]),
    ("catalog disable", &["toolgate catalog disable add_task --reason 'being repaired'"]),
    ("catalog enable", &["toolgate catalog enable add_task"]),
    ("catalog import", &["toolgate catalog import catalog.csv --dry-run"]),
    ("catalog export", &["toolgate catalog export > catalog.toml"]),
    ("process start", &["toolgate process start process.yaml --owner alice --worktree ."]),
    ("process show", &["toolgate process show proc_1f0c22ab"]),
    ("process list", &["toolgate process list --state running"]),
    ("process next", &["toolgate process next proc_1f0c22ab"]),
    ("approvals watch", &["toolgate approvals watch"]),
    ("approvals list", &["toolgate approvals list --state pending"]),
    ("approvals show", &["toolgate approvals show appr_1f0c22ab"]),
    (
        "approvals approve",
        &["toolgate approvals approve appr_1f0c22ab", "toolgate approvals approve appr_1f0c22ab --until 1h"],
    ),
    ("approvals deny", &["toolgate approvals deny appr_1f0c22ab --reason 'not this week'"]),
    (
        "ledger verify",
        &[
            "toolgate ledger verify",
            "toolgate ledger verify --checkpoints /mnt/elsewhere/checkpoints.jsonl --since-last",
        ],
    ),
    ("ledger tail", &["toolgate ledger tail --follow", "toolgate ledger tail --outcome denied --since 1h"]),
    ("ledger export", &["toolgate ledger export --since 30d > records.jsonl", "toolgate ledger export --format otel"]),
    ("ledger archive", &["toolgate ledger archive --before 90d --to /mnt/elsewhere/archives"]),
    ("ledger verify-archive", &["toolgate ledger verify-archive /mnt/elsewhere/archives"]),
    ("ledger checkpoint", &["toolgate ledger checkpoint --to /mnt/elsewhere/checkpoints.jsonl"]),
    (
        "receipts list",
        &["toolgate receipts list --principal user:alice", "toolgate receipts list --flow release --state done"],
    ),
    ("receipts show", &["toolgate receipts show rcpt_1f0c22ab"]),
    ("plans list", &["toolgate plans list --state proposed"]),
    ("plans show", &["toolgate plans show plan_1f0c22ab"]),
    ("undo", &["toolgate undo rcpt_1f0c22ab", "toolgate undo --flow release"]),
    ("migrate", &["toolgate migrate --database postgres://gate@db.example/toolgate"]),
    ("store accept-restore", &["toolgate store accept-restore --by kim"]),
    ("events", &["toolgate events user:alice --limit 20"]),
    (
        "completions",
        &[
            "toolgate completions bash > ~/.local/share/bash-completion/completions/toolgate",
            "toolgate completions zsh > ~/.zfunc/_toolgate",
        ],
    ),
    ("man", &["toolgate man --out ~/.local/share/man/man1", "toolgate man --format markdown --out docs"]),
];

/// The command line with the examples of each command below its help.
pub fn with_examples(mut command: Command) -> Command {
    for (path, lines) in EXAMPLES {
        command = inserted(command, path, lines);
    }
    command
}

fn inserted(command: Command, path: &str, lines: &[&str]) -> Command {
    let (name, rest) = path.split_once(' ').map_or((path, None), |(name, rest)| (name, Some(rest)));
    // a path that no command has is left to the test: `mut_subcommand` would make the command
    if command.find_subcommand(name).is_none() {
        return command;
    }
    command.mut_subcommand(name, |found| match rest {
        Some(rest) => inserted(found, rest, lines),
        None => found.after_help(format!("Examples:\n  {}", lines.join("\n  "))),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli;

    /// Every command without commands of its own, by its path.
    fn leaves(command: &Command, path: &str, found: &mut BTreeSet<String>) {
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            let path = format!("{path} {}", inner.get_name()).trim_start().to_owned();
            if inner.has_subcommands() {
                leaves(inner, &path, found);
            } else {
                found.insert(path);
            }
        }
    }

    /// A line as a shell splits it: quotes, and nothing from a comment, a pipe or a redirection on.
    fn split(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None::<char>);
        for c in line.chars() {
            match (quote, c) {
                (Some(open), _) if c == open => quote = None,
                (None, '\'' | '"') => {
                    quote = Some(c);
                    word.get_or_insert_default();
                }
                (None, ' ') => words.extend(word.take()),
                (None, '#' | '>' | '|') if word.is_none() => return words,
                _ => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        words
    }

    #[test]
    fn every_command_has_examples_and_every_example_a_command() {
        let mut defined = BTreeSet::new();
        leaves(&cli::definition(None), "", &mut defined);
        let shown: BTreeSet<String> = EXAMPLES.iter().map(|(path, _)| (*path).to_owned()).collect();
        assert_eq!(shown.len(), EXAMPLES.len(), "a command is there twice");
        assert_eq!(defined, shown);
    }

    #[test]
    fn every_example_is_of_its_command_and_parses() {
        for (path, lines) in EXAMPLES {
            assert!(!lines.is_empty(), "{path}");
            for line in *lines {
                assert!(line.starts_with(&format!("toolgate {path}")), "{path}: {line}");
                assert!(line.chars().count() <= 100, "{path}: {line}");
                let words = split(line);
                let parsed = cli::parse(words.iter().skip(1).map(String::as_str).collect::<Vec<_>>());
                assert!(parsed.is_ok(), "{line}: {}", parsed.err().map(|fault| fault.to_string()).unwrap_or_default());
            }
        }
    }

    #[test]
    fn examples_stand_below_the_help_of_their_command() {
        let error = cli::parse(["tenant", "member", "set", "--help"]).err();
        let help = error.map(|error| error.render().to_string()).unwrap_or_default();
        assert!(help.contains("\nExamples:\n  toolgate tenant member set acme bob --role admin\n"), "{help}");
    }
}
