//! Structured logs, on standard error alone.

use tracing_subscriber::EnvFilter;

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
        LogFormat::Text => builder.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).init(),
    }
    Ok(())
}
