//! Full-text search in the words of each engine: FTS5 on SQLite, text vectors on PostgreSQL. What is searched is the same,
//! since terms are made by the caller: words of letters and digits, already folded.

use crate::engine::Engine;

/// The most positions PostgreSQL keeps for a term, and the highest it can name.
const LAST_POSITION: usize = 16_383;

/// Which texts are meant by several terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holding {
    Any,
    All,
}

/// Terms as they are stored, in the order of the text and repeated as often as they are there. PostgreSQL's text is cast to
/// a vector by the statement.
pub(crate) fn stored(engine: &Engine, terms: &[String]) -> String {
    match engine {
        Engine::Sqlite(_) => terms.join(" "),
        Engine::Postgres(_) => vector(terms),
    }
}

/// Terms as a query; empty where there is nothing to ask for.
pub(crate) fn asked(engine: &Engine, terms: &[String], holding: Holding) -> String {
    match (engine, holding) {
        (Engine::Sqlite(_), Holding::Any) => quoted(terms, '"', " OR "),
        (Engine::Sqlite(_), Holding::All) => quoted(terms, '"', " AND "),
        (Engine::Postgres(_), Holding::Any) => quoted(terms, '\'', " | "),
        (Engine::Postgres(_), Holding::All) => quoted(terms, '\'', " & "),
    }
}

/// Letters and digits alone: what neither engine gives a meaning of its own.
fn plain(term: &str) -> String {
    term.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// The terms as a query; the quotes keep `or` and `near` words.
fn quoted(terms: &[String], quote: char, between: &str) -> String {
    let quoted =
        |term: &String| Some(plain(term)).filter(|term| !term.is_empty()).map(|term| format!("{quote}{term}{quote}"));
    terms.iter().filter_map(quoted).collect::<Vec<_>>().join(between)
}

/// The terms with their positions, in PostgreSQL's own form.
fn vector(terms: &[String]) -> String {
    let placed = |(place, term): (usize, &String)| {
        Some(plain(term)).filter(|term| !term.is_empty()).map(|term| format!("'{term}':{}", place.min(LAST_POSITION)))
    };
    (1..).zip(terms).filter_map(placed).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_term_is_taken_for_the_language_of_an_engine() {
        let terms = ["or".to_owned(), "a\"b".to_owned(), "'; --".to_owned(), "水".to_owned()];
        assert_eq!(quoted(&terms, '"', " OR "), "\"or\" OR \"ab\" OR \"水\"");
        assert_eq!(vector(&terms), "'or':1 'ab':2 '水':4");
    }

    #[test]
    fn terms_become_queries_and_vectors_in_linear_time() {
        for term in ["a", "\"", "'", "''; --", "水", "\u{0}", "or", "a\"b' OR"] {
            crate::linear::assert_linear(term, 256, |count| {
                let many = vec![term.to_owned(); count];
                let long = [term.repeat(count)];
                for terms in [&many[..], &long] {
                    quoted(terms, '"', " OR ");
                    quoted(terms, '\'', " & ");
                    vector(terms);
                }
            });
        }
    }
}
