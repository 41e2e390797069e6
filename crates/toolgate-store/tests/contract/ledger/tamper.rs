//! What somebody with the database or the files in hand can do to a ledger, on either engine.

use std::{fs, ops::RangeInclusive, path::PathBuf};

use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::bed::Bed;

/// From this number on.
pub(super) fn from(seq: i64) -> RangeInclusive<i64> {
    seq..=i64::MAX
}

/// Runs SQL on PostgreSQL, the ledger's own guards taken away first.
pub(super) async fn sql(bed: &Bed, sql: &str) {
    let guards =
        "DROP TRIGGER IF EXISTS ledger_keeps ON ledger; DROP TRIGGER IF EXISTS ledger_keeps_unsealed ON ledger";
    try_sql(bed, &format!("{guards};{sql}")).await.unwrap();
}

/// The same with the guards in place.
pub(super) async fn try_sql(bed: &Bed, sql: &str) -> Result<(), String> {
    let mut connection = PgConnection::connect(&bed.url()).await.unwrap();
    let outcome = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await;
    connection.close().await.unwrap();
    until_settled(bed).await;
    outcome.map(drop).map_err(|error| error.to_string())
}

/// Waits until no transaction of the server is older than the newest row: until then rows are read in another order.
pub(super) async fn until_settled(bed: &Bed) {
    let mut connection = PgConnection::connect(&bed.url()).await.unwrap();
    let settled = "SELECT count(*) = (SELECT count(*) FROM ledger) FROM ledger_settled";
    while !sqlx::query_scalar::<_, bool>(settled).fetch_one(&mut connection).await.unwrap() {
        tokio::task::yield_now().await;
    }
}

/// The files, oldest first.
pub(super) fn files(bed: &Bed) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(bed.ledger_folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files
}

/// Rewrites the one file there is, line by line.
pub(super) fn lines(bed: &Bed, change: impl FnOnce(Vec<String>) -> Vec<String>) {
    let files = files(bed);
    // a test that runs over midnight has two, and is then about the newer
    let path = files.last().unwrap();
    let text = fs::read_to_string(path).unwrap();
    let lines = change(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect());
    fs::write(path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
}

/// The record's own writer stands before its number; a record may name others further on.
fn is(line: &str, writer: Option<&str>, seq: i64) -> bool {
    let number = format!(",\"seq\":{seq},\"time\"");
    match writer {
        Some(writer) => line.contains(&format!("\"writer\":\"{writer}\"{number}")),
        None => line.contains(&number),
    }
}

fn where_is(writer: Option<&str>, seq: i64) -> String {
    format!("seq = {seq}{}", writer.map(|writer| format!(" AND writer = '{writer}'")).unwrap_or_default())
}

pub(super) async fn remove(bed: &Bed, writer: Option<&str>, seqs: RangeInclusive<i64>) {
    if bed.is_postgres() {
        let of = writer.map(|writer| format!(" AND writer = '{writer}'")).unwrap_or_default();
        return sql(bed, &format!("DELETE FROM ledger WHERE seq BETWEEN {} AND {}{of}", seqs.start(), seqs.end()))
            .await;
    }
    let last = (*seqs.end()).min(1_000);
    lines(bed, |lines| {
        lines.into_iter().filter(|line| !(*seqs.start()..=last).any(|seq| is(line, writer, seq))).collect()
    });
}

/// Changes the text of a record, and nothing that belongs to it.
pub(super) async fn edit(bed: &Bed, seq: i64, from: &str, to: &str) {
    if bed.is_postgres() {
        return sql(bed, &format!("UPDATE ledger SET record = replace(record, '{from}', '{to}') WHERE seq = {seq}"))
            .await;
    }
    change(bed, None, seq, |line| line.replace(from, to));
}

/// Replaces `hash` or `previous` of a record.
pub(super) async fn set(bed: &Bed, seq: i64, name: &str, hex: &str) {
    if bed.is_postgres() {
        return sql(bed, &format!("UPDATE ledger SET {name} = '\\x{hex}' WHERE seq = {seq}")).await;
    }
    change(bed, None, seq, |line| {
        let at = line.find(&format!("\"{name}\":\"")).unwrap() + name.len() + 4;
        format!("{}{hex}{}", &line[..at], &line[at + 64..])
    });
}

/// Another record with a hash that fits it.
pub(super) async fn replace(bed: &Bed, seq: i64, text: &str, hash: &str) {
    set(bed, seq, "hash", hash).await;
    if bed.is_postgres() {
        return sql(bed, &format!("UPDATE ledger SET record = '{text}' WHERE seq = {seq}")).await;
    }
    change(bed, None, seq, |line| {
        let at = line.find("\"record\":").unwrap() + 9;
        format!("{}{text}}}", &line[..at])
    });
}

pub(super) async fn move_to_the_end(bed: &Bed, writer: Option<&str>, seq: i64) {
    if bed.is_postgres() {
        return sql(bed, &format!("UPDATE ledger SET position = 1000000 WHERE {}", where_is(writer, seq))).await;
    }
    lines(bed, |mut lines| {
        let at = lines.iter().position(|line| is(line, writer, seq)).unwrap();
        let line = lines.remove(at);
        lines.push(line);
        lines
    });
}

pub(super) async fn double(bed: &Bed, seq: i64) {
    if bed.is_postgres() {
        let columns = "writer, seq, time, kind, call, tool, principal, tenant, flow, outcome, previous, hash, record";
        let insert = format!("INSERT INTO ledger ({columns}) SELECT {columns} FROM ledger WHERE seq = {seq}");
        return sql(bed, &format!("DROP INDEX ledger_by_writer; {insert}")).await;
    }
    lines(bed, |mut lines| {
        let line = lines.iter().find(|line| is(line, None, seq)).unwrap().clone();
        lines.push(line);
        lines
    });
}

fn change(bed: &Bed, writer: Option<&str>, seq: i64, change: impl Fn(&str) -> String) {
    lines(bed, |lines| {
        assert!(lines.iter().any(|line| is(line, writer, seq)));
        lines.into_iter().map(|line| if is(&line, writer, seq) { change(&line) } else { line }).collect()
    });
}
