//! `connect` without a client: the clients of this machine, and whether they are connected.

use serde::Serialize;
use serde_json::Value;

use super::{
    NAME,
    clients::{self, InstalledClient},
    direct::DirectServers,
    entry::Expected,
    insert,
};
use crate::{
    CommandResult, Ending,
    cli::ConnectArgs,
    commands::{client_file, next_steps::place_options, print, table::table},
    ground::Ground,
};

#[derive(Debug, Serialize)]
struct Row {
    client: &'static str,
    file: String,
    state: &'static str,
    /// Servers that are reached past the gateway.
    direct: Vec<String>,
    /// The command to type next, if there is anything left to do.
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip)]
    is_project: bool,
}

pub fn run(wish: &ConnectArgs) -> CommandResult {
    let expected = Expected::of(&Ground::of(&wish.place)?)?;
    let options = place_options(&wish.place);
    let rows: Vec<Row> = clients::installed().iter().map(|found| row(found, &expected, &options)).collect();
    let mut text = String::new();
    if rows.is_empty() {
        text.push_str(
            "No client that Toolgate knows is installed here. Name its file: toolgate connect CLIENT --file FILE\n",
        );
    } else {
        text.push_str(&table(["CLIENT", "STATE", "DIRECT", "COMMAND"], rows.iter().map(cells)));
        text.push_str("\nDIRECT: servers that the client still reaches past the gateway.\n");
    }
    for row in &rows {
        if let Some(problem) = &row.problem {
            eprintln!("toolgate: {}", toolgate_core::terminal_escape(problem));
        }
    }
    print(wish.output, &rows, &text)?;
    Ok(Ending::Good)
}

fn cells(row: &Row) -> [String; 4] {
    let client = if row.is_project { format!("{} (this folder)", row.client) } else { row.client.to_owned() };
    [client, row.state.to_owned(), row.direct.len().to_string(), row.command.clone().unwrap_or_default()]
}

fn row(found: &InstalledClient, expected: &Expected, options: &str) -> Row {
    let InstalledClient { client, place, is_project } = found;
    let file = place.file.display().to_string();
    let servers = client_file::read(&place.file).and_then(|text| match text {
        Some(text) => insert::all(&place.file, &text, place.key),
        None => Ok(serde_json::Map::new()),
    });
    let (servers, problem) = match servers {
        Ok(servers) => (servers, None),
        Err(problem) => (serde_json::Map::new(), Some(problem.to_string())),
    };
    let direct = DirectServers::of(&servers).names;
    let state = match servers.get(NAME) {
        _ if problem.is_some() => "unreadable",
        None | Some(Value::Null) => "not connected",
        Some(entry) if expected.is_met_by(entry) => "connected",
        Some(_) => "connected elsewhere",
    };
    let what = match state {
        // nothing is left to do, or the file is to be mended first
        "connected" if direct.is_empty() => None,
        "unreadable" => None,
        "connected" => Some(" --replace"),
        _ => Some(" --user NAME"),
    };
    let is_usual = clients::place(*client, None).is_ok_and(|usual| usual.file == place.file);
    let named = if is_usual { String::new() } else { format!(" --file {file}") };
    let command = what.map(|what| format!("toolgate connect {}{named}{what}{options}", client.name()));
    Row { client: client.name(), file, state, direct, command, problem, is_project: *is_project }
}
