//! Overrides and the catalogue as files: TOML for people, CSV for spreadsheets. An empty cell is a value that is not there.

use std::fs;

use serde_json::{Map, Value, json};

use crate::{
    Misuse,
    cli::{FileArgs, FileFormat},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Overrides,
    Catalog,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Text,
    Truth,
}

impl List {
    fn name(self) -> &'static str {
        match self {
            Self::Overrides => "overrides",
            Self::Catalog => "catalog",
        }
    }

    /// Its part of an export.
    pub(super) fn of(self, export: &Value) -> Value {
        json!({ self.name(): export.get(self.name()) })
    }

    fn columns(self) -> &'static [(&'static str, Holds)] {
        use Holds::{Text, Truth};
        match self {
            Self::Overrides => &[("tenant", Text), ("tool_name", Text), ("is_enabled", Truth), ("reason", Text)],
            Self::Catalog => &[
                ("tool_name", Text),
                ("display_name", Text),
                ("group", Text),
                ("enabled_by_default", Truth),
                ("min_plan", Text),
                ("disabled", Truth),
                ("reason", Text),
            ],
        }
    }
}

/// The arguments of an import.
pub(super) fn read(args: &FileArgs, list: List) -> Result<Value, Misuse> {
    let place = args.file.display();
    let ending = args.file.extension().and_then(|ending| ending.to_str());
    let format = match (args.format, ending) {
        (Some(format), _) => format,
        (None, Some("toml")) => FileFormat::Toml,
        (None, Some("csv")) => FileFormat::Csv,
        _ => return Err(format!("{place}: say what it is with --format toml or --format csv").into()),
    };
    let text = fs::read_to_string(&args.file).map_err(|fault| format!("{place}: {fault}"))?;
    let read = match format {
        FileFormat::Toml => from_toml(&text, list),
        FileFormat::Csv => from_csv(&text, list),
    };
    read.map_err(|fault| format!("{place}: {fault}").into())
}

fn from_toml(text: &str, list: List) -> Result<Value, Misuse> {
    let table: toml::Table = toml::from_str(text)?;
    if let Some(other) = table.keys().find(|key| *key != list.name()) {
        return Err(format!("'{other}' is not known here; a row is [[{}]]", list.name()).into());
    }
    Ok(serde_json::to_value(table)?)
}

fn from_csv(text: &str, list: List) -> Result<Value, Misuse> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers()?.clone();
    let known = |name: &str| list.columns().iter().find(|(known, _)| *known == name).map(|(_, holds)| *holds);
    let columns: Vec<(&str, Holds)> = header
        .iter()
        .map(|name| {
            let names = || list.columns().iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            known(name)
                .map(|holds| (name, holds))
                .ok_or_else(|| format!("no column is '{name}'; they are: {}", names()))
        })
        .collect::<Result<_, _>>()?;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record?;
        let mut row = Map::new();
        for ((name, holds), cell) in columns.iter().zip(&record).filter(|(_, cell)| !cell.is_empty()) {
            let value = match holds {
                Holds::Text => cell.into(),
                Holds::Truth => cell.parse::<bool>().map(Value::from).map_err(|_| {
                    let line = record.position().map_or(0, csv::Position::line);
                    format!("line {line}: {name} is '{cell}'; write true, false or nothing")
                })?,
            };
            row.insert((*name).to_owned(), value);
        }
        rows.push(Value::Object(row));
    }
    Ok(json!({ list.name(): rows }))
}

/// An export as a file.
pub(super) fn written(export: &Value, list: List, format: FileFormat) -> Result<String, Misuse> {
    let rows: Vec<Value> = export.get(list.name()).and_then(Value::as_array).cloned().unwrap_or_default();
    match format {
        FileFormat::Toml => {
            // what is not there is left out, as TOML has it
            let given = |row: &Value| -> Map<String, Value> {
                let members = row.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
                members.map(|(key, value)| (key.clone(), value.clone())).collect()
            };
            let rows: Vec<_> = rows.iter().map(given).collect();
            Ok(toml::to_string(&json!({ list.name(): rows }))?)
        }
        FileFormat::Csv => {
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record(list.columns().iter().map(|(name, _)| *name))?;
            for row in &rows {
                let cell = |name: &str| match row.get(name) {
                    None | Some(Value::Null) => String::new(),
                    Some(Value::String(text)) => text.clone(),
                    Some(value) => value.to_string(),
                };
                writer.write_record(list.columns().iter().map(|(name, _)| cell(name)))?;
            }
            Ok(String::from_utf8(writer.into_inner()?)?)
        }
    }
}
