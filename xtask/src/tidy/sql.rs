//! SQL is written in toolgate-store and nowhere else: a scope that a statement forgets is a leak.

use super::{Breach, Source};

const STORE: &str = "crates/toolgate-store/";

/// How a statement begins. Found in capitals anywhere in a line of code, in any case at the start of a string.
const STATEMENTS: [&str; 12] = [
    "SELECT ",
    "INSERT INTO ",
    "INSERT OR ",
    "DELETE FROM ",
    "UPDATE ",
    "CREATE TABLE ",
    "CREATE INDEX ",
    "CREATE UNIQUE INDEX ",
    "ALTER TABLE ",
    "DROP TABLE ",
    "PRAGMA ",
    "WITH RECURSIVE ",
];

pub(super) fn breaches(sources: &[Source]) -> Vec<Breach> {
    let elsewhere =
        sources.iter().filter(|source| source.file.starts_with("crates/") && !source.file.starts_with(STORE));
    let mut breaches = Vec::new();
    for source in elsewhere {
        if source.file.ends_with(".sql") {
            breaches.push(Breach::new(&source.file, 1, format!("SQL lives in {STORE}")));
        }
        if !source.is_rust() {
            continue;
        }
        for (number, line) in source.lines().filter(|(_, line)| is_statement(line)) {
            let what = format!("`{}` looks like SQL, which lives in {STORE}: give the store a method", line.trim());
            breaches.push(Breach::new(&source.file, number, what));
        }
    }
    breaches
}

fn is_statement(line: &str) -> bool {
    let code = line.trim_start();
    if code.starts_with("//") {
        return false;
    }
    let strings = code.split('"').skip(1).step_by(2).chain((!code.contains('"')).then_some(code));
    strings.map(str::trim_start).any(|string| {
        STATEMENTS.iter().any(|statement| {
            let starts = string.get(..statement.len()).is_some_and(|start| start.eq_ignore_ascii_case(statement));
            let shouted = string.starts_with(statement);
            // Prose also begins with "select" or "update": those must look like the whole statement.
            starts && (shouted || is_whole(statement, string))
        })
    })
}

fn is_whole(statement: &str, string: &str) -> bool {
    let string = string.to_ascii_lowercase();
    match *statement.as_bytes() {
        [b'S', ..] => string.contains(" from "),
        [b'U', ..] => string.contains(" set ") && string.contains('='),
        [b'W' | b'P', ..] => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_found_and_prose_is_not() {
        assert!(is_statement(r#"    let rows = query("SELECT id FROM task");"#));
        assert!(is_statement(r#"query("select id from task where user = ?")"#));
        assert!(is_statement("        INSERT INTO task (title) VALUES (?)"));
        assert!(is_statement(r#"run("update task set done = 1")"#));
        assert!(!is_statement(r#"about = "Update a task's title or description""#));
        assert!(!is_statement(r#"#[doc = "select one of these"]"#));
        assert!(!is_statement("// SELECT is not ours"));
        assert!(!is_statement("    let with = update(select);"));
    }
}
