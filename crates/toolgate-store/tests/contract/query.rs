//! Somebody else's database: one statement that reads, and nothing else, whatever is tried.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_store::{QueryFault, QueryLimits, QueryRows, ReadOnlyDatabase, RowCut};

use crate::bed::Bed;

const LIMITS: QueryLimits = QueryLimits { rows: 5, bytes: 100_000, time: Duration::from_secs(20) };

async fn shop(bed: &Bed) -> ReadOnlyDatabase {
    bed.open().await.close().await;
    bed.sql("CREATE TABLE orders (id INTEGER, customer TEXT, total DOUBLE PRECISION)").await;
    bed.sql("INSERT INTO orders VALUES (1, 'acme', 12.5), (2, 'ACME; DROP TABLE orders', 0), (3, NULL, 7)").await;
    ReadOnlyDatabase::new(bed.location())
}

async fn ask(shop: &ReadOnlyDatabase, sql: &str, parameters: &[Value]) -> Result<QueryRows, QueryFault> {
    shop.query(sql, parameters, LIMITS).await
}

async fn rows(shop: &ReadOnlyDatabase, sql: &str, parameters: &[Value]) -> Value {
    json!(ask(shop, sql, parameters).await.unwrap().rows)
}

on_both! {
    async fn a_question_is_answered_with_rows_by_name(bed: Bed) {
        let shop = shop(&bed).await;
        assert_eq!(rows(&shop, "SELECT id, customer, total FROM orders WHERE id = $1", &[json!(1)]).await,
            json!([{"id": 1, "customer": "acme", "total": 12.5}]));
        assert_eq!(rows(&shop, "SELECT id FROM orders WHERE customer = $2 AND id > $1 ;  ", &[json!(0), json!("acme")]).await,
            json!([{"id": 1}]));
        assert_eq!(rows(&shop, "SELECT customer FROM orders WHERE id = 3 -- the end", &[]).await, json!([{"customer": null}]));
        assert_eq!(rows(&shop, "WITH big AS (SELECT * FROM orders WHERE total > $1) SELECT count(*) AS n FROM big", &[json!(5.5)]).await,
            json!([{"n": 2}]));
        assert_eq!(rows(&shop, "SELECT id FROM orders WHERE customer = $1", &[json!("x' OR '1'='1")]).await, json!([]));
    }

    async fn anything_but_one_reading_statement_is_refused_and_changes_nothing(bed: Bed) {
        let shop = shop(&bed).await;
        let before = rows(&shop, "SELECT * FROM orders ORDER BY id", &[]).await;
        for sql in [
            "DELETE FROM orders", "INSERT INTO orders VALUES (9, 'x', 1)", "UPDATE orders SET total = 0", "DROP TABLE orders",
            "CREATE TABLE mine (a INTEGER)", "SELECT 1; DELETE FROM orders", "SELECT 1; SELECT 2", "DELETE FROM orders RETURNING id",
            "WITH gone AS (DELETE FROM orders RETURNING id) SELECT * FROM gone", "SELECT 1) asked; DELETE FROM orders; --",
            "SELECT 1 AS line) asked LIMIT 1) lines) summed; DELETE FROM orders; --", "SELECT 1) asked) lines) summed --",
            "BEGIN", "COMMIT", "ROLLBACK", "VACUUM", "PRAGMA query_only = 0", "ATTACH DATABASE 'x.db' AS x",
            "SELECT load_extension('x')", "SET TRANSACTION READ WRITE", "SELECT * INTO mine FROM orders",
            "COPY orders TO PROGRAM 'cat'", "EXPLAIN DELETE FROM orders", "", ";", "-- nothing",
        ] {
            let refused = ask(&shop, sql, &[]).await;
            assert!(matches!(refused, Err(QueryFault::NotAllowed(_) | QueryFault::Invalid(_))), "{sql}: {refused:?}");
        }
        assert_eq!(rows(&shop, "SELECT * FROM orders ORDER BY id", &[]).await, before);
        for sql in ["DELETE FROM orders", "SELECT 1; SELECT 2", "DROP TABLE orders"] {
            assert!(matches!(ask(&shop, sql, &[]).await, Err(QueryFault::NotAllowed(_))), "{sql}");
        }
    }

    async fn no_column_hides_another_and_any_name_is_good(bed: Bed) {
        let shop = shop(&bed).await;
        assert_eq!(rows(&shop, "SELECT 1 AS a, 2 AS a, 3 AS asked, 4 AS line", &[]).await,
            json!([{"a": 1, "a_2": 2, "asked": 3, "line": 4}]));
        assert_eq!(rows(&shop, "SELECT $1 AS a, $2 AS b", &[json!("x"), json!(1.5)]).await, json!([{"a": "x", "b": 1.5}]));
    }

    async fn what_the_database_does_not_know_is_said(bed: Bed) {
        let shop = shop(&bed).await;
        let unknown = ask(&shop, "SELECT * FROM nowhere", &[]).await.unwrap_err();
        assert!(matches!(&unknown, QueryFault::Invalid(why) if why.contains("nowhere")), "{unknown}");
        for values in [vec![], vec![json!([1])], vec![json!({})], vec![json!("a\0b")]] {
            let refused = ask(&shop, "SELECT id FROM orders WHERE id = $1", &values).await;
            assert!(matches!(refused, Err(QueryFault::Invalid(_))), "{values:?} {refused:?}");
        }
    }

    async fn rows_bytes_and_time_are_bounded(bed: Bed) {
        let shop = shop(&bed).await;
        let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n";
        let answer = ask(&shop, many, &[]).await.unwrap();
        assert_eq!((answer.rows.len(), answer.cut), (5, Some(RowCut::Rows)));
        let answer = shop.query("SELECT id FROM orders", &[], QueryLimits { rows: 3, ..LIMITS }).await.unwrap();
        assert_eq!((answer.rows.len(), answer.cut), (3, None), "exactly as many as there are");
        let answer = shop.query("SELECT id, customer FROM orders ORDER BY id", &[], QueryLimits { bytes: 40, ..LIMITS }).await.unwrap();
        assert!(answer.rows.len() < 3 && answer.cut == Some(RowCut::Bytes), "{answer:?}");
        let small = QueryLimits { bytes: 10, ..LIMITS };
        let large = shop.query("SELECT customer FROM orders WHERE id = 2", &[], small).await;
        assert_eq!(large, Err(QueryFault::RowTooLarge(10)), "a row that does not fit is not an answer without rows");
        let ordered = shop.query("SELECT id FROM orders ORDER BY id DESC", &[], LIMITS).await.unwrap();
        assert_eq!(json!(ordered.rows), json!([{"id": 3}, {"id": 2}, {"id": 1}]), "in the order asked for");
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        let time = Duration::from_millis(100);
        assert_eq!(shop.query(endless, &[], QueryLimits { time, ..LIMITS }).await, Err(QueryFault::TimedOut(time)));
    }
}

#[tokio::test]
async fn a_database_that_is_not_there_is_unavailable_and_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.db");
    let gone = ReadOnlyDatabase::new(toolgate_store::Location::Sqlite(path.clone()));
    assert!(matches!(gone.query("SELECT 1", &[], LIMITS).await, Err(QueryFault::Unavailable(_))));
    assert!(!path.exists());
    let gone = ReadOnlyDatabase::new("postgres://nobody@127.0.0.1:1/none".parse().unwrap());
    assert!(matches!(gone.query("SELECT 1", &[], LIMITS).await, Err(QueryFault::Unavailable(_))));
}

#[tokio::test]
async fn sqlite_values_of_every_type_are_json() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    let database = ReadOnlyDatabase::new(toolgate_store::Location::Sqlite(path));
    let sql = "SELECT 1 AS a, 2 AS a, 1.5 AS b, x'00ff' AS c, NULL AS d, 9e999 AS e, $1 AS f, $2 AS g";
    assert_eq!(
        rows(&database, sql, &[json!(true), json!(null)]).await,
        json!([{"a": 1, "a_2": 2, "b": 1.5, "c": "\\x00ff", "d": null, "e": "Infinity", "f": 1, "g": null}])
    );
}

#[tokio::test]
async fn postgres_numbers_are_exact_and_brackets_do_not_lift_limits() {
    async fn check(bed: Bed) {
        let shop = shop(&bed).await;
        let sql =
            "SELECT 12345678901234567890.5::numeric AS a, 0.1234567890123456789::numeric AS b, 1.10::numeric AS c,
            9007199254740993::bigint AS d, '1e400'::numeric > 0 AS e, 'NaN'::float8 AS f, 0.1::float8 AS g,
            ARRAY[0.1234567890123456789] AS h";
        assert_eq!(
            rows(&shop, sql, &[]).await,
            json!([{"a": "12345678901234567890.5", "b": "0.1234567890123456789", "c": 1.1, "d": 9_007_199_254_740_993_i64,
                "e": true, "f": "NaN", "g": 0.1, "h": ["0.1234567890123456789"]}])
        );
        let escaped = "SELECT 1) asked LIMIT 1) lines) summed UNION ALL SELECT '{\"x\":\"' || repeat('y', 100) || '\"}'
            FROM generate_series(1, 50000) UNION ALL SELECT l FROM (SELECT l, 0 FROM (SELECT '{}' AS l FROM (SELECT 1";
        let refused = ask(&shop, escaped, &[]).await;
        assert!(matches!(refused, Err(QueryFault::NotAllowed(_))), "{refused:?}");
    }
    Bed::postgres().await.run(check).await;
}
