//! Structured logs, on standard error alone.

use std::{
    collections::BTreeSet,
    fmt::{self, Debug},
    sync::{Mutex, PoisonError},
};

use toolgate_core::line_escape;
use tracing::field::Field;
use tracing_subscriber::{
    EnvFilter,
    fmt::format::{Writer, debug_fn},
    prelude::*,
};

use crate::{
    Misuse,
    config::{Log, LogFormat},
};

pub fn filter(log: &Log) -> Result<EnvFilter, Misuse> {
    Ok(EnvFilter::try_new(&log.level).map_err(|fault| format!("[log] level = \"{}\": {fault}", log.level))?)
}

pub fn start(log: &Log) -> Result<(), Misuse> {
    let filter = filter(log)?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match log.format {
        LogFormat::Json => builder.json().init(),
        LogFormat::Text => {
            let fields = debug_fn(write_field).delimited(" ");
            builder.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).fmt_fields(fields).init();
        }
    }
    Ok(())
}

/// Lines that are remembered so that they are not logged again.
const REMEMBERED: usize = 1_000;

/// Logs a warning the first time: what is wrong with a file is found again with every reload.
pub fn warn_once(line: &str) {
    static LOGGED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut logged = LOGGED.lock().unwrap_or_else(PoisonError::into_inner);
    if logged.len() >= REMEMBERED {
        logged.clear();
    }
    if logged.insert(line.to_owned()) {
        tracing::warn!("{line}");
    }
}

/// A field on the event's own line, whatever it holds: text of upstreams and callers forges no other line and hides nothing.
fn write_field(writer: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> fmt::Result {
    let value = format!("{value:?}");
    match field.name() {
        "message" => writer.write_str(&line_escape(&value)),
        name => write!(writer, "{name}={}", line_escape(&value)),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write,
        sync::{Arc, Mutex},
    };

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn text_of_others_forges_no_line_and_hides_nothing() {
        let kept = Kept::default();
        let writer = kept.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .fmt_fields(debug_fn(write_field).delimited(" "))
            .finish();
        let odd = "a\n2026-01-01 INFO all is well\u{202e}\u{61c}\u{1b}[2J";
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(name = odd, shown = %odd, count = 3, "left out: {odd}");
        });
        let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        assert!(text.contains("left out: a\\n2026-01-01 INFO all is well\\u{202e}\\u{61c}\\u{1b}[2J"), "{text}");
        assert!(text.contains("count=3") && !text.contains(['\u{202e}', '\u{61c}', '\u{1b}']), "{text}");
    }
}
