//! Records as OpenTelemetry logs: OTLP/JSON, as the file exporter writes it and collectors read it.
//!
//! A line is one whole document, so that it can be sent to `/v1/logs` as it is. Lines are kept short, since collectors limit
//! their length (1 MiB unless told otherwise).

use serde_json::{Value, json};
use toolgate_store::ledger::Record;

use crate::{Misuse, commands::books::json};

/// Text of records in one line. A record that is longer has a line of its own.
const LINE: usize = 256 * 1024;
const RECORDS: usize = 200;

pub fn lines(records: &[Record]) -> Result<String, Misuse> {
    let (mut text, mut batch, mut size) = (String::new(), Vec::new(), 0_usize);
    for record in records {
        if !batch.is_empty() && (size + record.text.len() > LINE || batch.len() >= RECORDS) {
            text.push_str(&line(std::mem::take(&mut batch))?);
            size = 0;
        }
        size += record.text.len();
        batch.push(log(record));
    }
    if !batch.is_empty() {
        text.push_str(&line(batch)?);
    }
    Ok(text)
}

fn line(records: Vec<Value>) -> Result<String, Misuse> {
    let document = json!({"resourceLogs": [{
        "resource": {"attributes": [text("service.name", "toolgate")]},
        "scopeLogs": [{
            "scope": {"name": "toolgate.ledger", "version": env!("CARGO_PKG_VERSION")},
            "logRecords": records,
        }],
    }]});
    Ok(serde_json::to_string(&document)? + "\n")
}

/// The body is the record byte for byte, so that its hash can be checked there too.
fn log(record: &Record) -> Value {
    let nanos = i128::from(record.time.max(0)) * 1_000_000;
    let (number, severity) = match record.outcome.as_str() {
        "denied" | "refused" | "needs_approval" | "unknown" => (13, "WARN"),
        "failed" => (17, "ERROR"),
        _ => (9, "INFO"),
    };
    let mut attributes = vec![
        text("toolgate.kind", &record.kind),
        text("toolgate.outcome", &record.outcome),
        text("toolgate.writer", &record.writer),
        json!({"key": "toolgate.seq", "value": {"intValue": record.seq.to_string()}}),
        text("toolgate.previous", &record.previous.to_string()),
        text("toolgate.hash", &record.hash.to_string()),
    ];
    let named = [
        ("gen_ai.tool.name", Some(&record.tool)),
        ("gen_ai.tool.call.id", Some(&record.call)),
        ("toolgate.principal", Some(&record.principal)),
        ("toolgate.tenant", record.tenant.as_ref()),
        ("toolgate.flow", record.flow.as_ref()),
    ];
    let named =
        named.into_iter().filter_map(|(key, value)| value.filter(|value| !value.is_empty()).map(|value| (key, value)));
    attributes.extend(named.map(|(key, value)| text(key, value)));
    let whole = json(&record.text);
    for (key, member) in [("toolgate.source", "source"), ("toolgate.rule", "rule"), ("toolgate.code", "code")] {
        attributes.extend(whole.get(member).and_then(Value::as_str).map(|value| text(key, value)));
    }
    if let Some(micros) = whole.get("duration_us").and_then(Value::as_u64) {
        attributes.push(json!({"key": "toolgate.duration_us", "value": {"intValue": micros.to_string()}}));
    }
    json!({
        // Numbers of 64 bits are strings in OTLP/JSON.
        "timeUnixNano": nanos.to_string(), "observedTimeUnixNano": nanos.to_string(),
        "severityNumber": number, "severityText": severity, "eventName": format!("toolgate.{}", record.kind),
        "body": {"stringValue": record.text}, "attributes": attributes,
    })
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}
