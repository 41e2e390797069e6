//! Callers, tools, decisions and the rulebook's engine; no I/O, no async.
