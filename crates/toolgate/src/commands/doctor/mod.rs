//! `doctor`: looks at everything `serve` needs, and says what to do about what is missing. It makes nothing.

mod address;
mod connected_clients;
mod data_folder;
mod upstream_probe;

use serde::Serialize;
use serde_json::json;
use toolgate_store::{Location, Store};

use super::{books::counted, check, print};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{Output, Place},
    config::with_place,
    gateway_files::GatewayFiles,
    ground::Ground,
    raise,
};

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Severity {
    Good,
    /// Nothing that serving needs is missing, and somebody should know all the same.
    Warning,
    Bad,
}

#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    good: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    warning: bool,
    detail: String,
}

impl Finding {
    fn new(what: &'static str, severity: Severity, detail: impl Into<String>) -> Self {
        let (good, warning) = (severity != Severity::Bad, severity == Severity::Warning);
        Self { what, good, warning, detail: detail.into() }
    }

    fn of(what: &'static str, result: Result<String, Misuse>) -> Self {
        match result {
            Ok(detail) => Self::new(what, Severity::Good, detail),
            Err(fault) => Self::new(what, Severity::Bad, fault.to_string()),
        }
    }

    fn line(&self) -> String {
        let word = match (self.good, self.warning) {
            (false, _) => "BAD",
            (true, true) => "warn",
            (true, false) => "good",
        };
        format!("{word:<4} {}: {}\n", self.what, toolgate_core::line_escape(&self.detail))
    }
}

pub async fn run(place: &Place, listen: Option<String>, output: Output) -> CommandResult {
    let mut findings = match Ground::of(place) {
        Err(problem) if check::is_unreadable(&problem) => return Err(problem),
        Err(problem) => vec![Finding::of("configuration", Err(problem))],
        Ok(mut ground) => {
            if let Some(listen) = listen {
                ground.config.server.listen = listen;
            }
            found(&ground).await
        }
    };
    for finding in findings.iter_mut().filter(|finding| !finding.good) {
        finding.detail = with_place(place.config.as_deref(), &finding.detail);
    }
    let text: String = findings.iter().map(Finding::line).collect();
    let good = findings.iter().all(|finding| finding.good);
    print(output, &json!({"good": good, "findings": findings}), &text)?;
    Ok(if good { Ending::Good } else { Ending::No })
}

async fn found(ground: &Ground) -> Vec<Finding> {
    let mut findings = configuration(ground);
    findings.extend(data_folder::look(&ground.data));
    let store = store(ground).await;
    findings.extend(stored(ground, &store).await);
    let key = match &store {
        StoreState::Open(store) => ground.key(Some(store)).await.ok(),
        StoreState::Absent if has_key_file(ground) => ground.key(None).await.ok(),
        _ => None,
    };
    findings.push(address::look(&ground.config.server.listen).await);
    findings.extend(upstream_probe::look(ground).await);
    findings.extend(connected_clients::look(ground, key, store.open()).await);
    if let StoreState::Open(store) = store {
        store.close().await;
    }
    findings
}

/// What is found without a store.
fn configuration(ground: &Ground) -> Vec<Finding> {
    let from = ground.config_path.as_ref().map_or_else(|| "built in".to_owned(), |path| path.display().to_string());
    let tools_and_rules = ground.gate().map(|gate| {
        let shipped = check::shipped_rules(&gate);
        let own = gate.rulebook().rules().len() - shipped;
        format!("{}; {}, {own} of yours", counted(gate.catalog().len(), "tool"), counted(shipped, "shipped rule"))
    });
    let mut findings = vec![
        Finding::new("configuration", Severity::Good, from),
        Finding::of("tools and rules", tools_and_rules),
        Finding::of("settings", super::serve::check(ground).map(|()| "as serving needs them".to_owned())),
    ];
    match raise::vault_folder(&ground.config) {
        Ok(Some(folder)) => findings.push(Finding::new("vault folder", Severity::Good, folder.display().to_string())),
        Ok(None) => {}
        Err(problem) => findings.push(Finding::of("vault folder", Err(problem.into()))),
    }
    let exposures = GatewayFiles::of(ground).map(|files| files.exposures(&ground.config.upstreams));
    let exposures = exposures.unwrap_or_default().into_iter();
    findings.extend(exposures.map(|detail| Finding::new("upstream", Severity::Warning, detail)));
    findings
}

/// The store, as far as there is one.
enum StoreState {
    Open(Store),
    /// Nothing was ever kept here.
    Absent,
    Failed(Misuse),
}

impl StoreState {
    fn open(&self) -> Option<&Store> {
        match self {
            Self::Open(store) => Some(store),
            _ => None,
        }
    }
}

async fn store(ground: &Ground) -> StoreState {
    match ground.location() {
        Ok(Location::Sqlite(path)) if !path.exists() => return StoreState::Absent,
        Err(fault) => return StoreState::Failed(fault),
        Ok(_) => {}
    }
    match ground.store().await {
        Ok(store) => StoreState::Open(store),
        Err(fault) => StoreState::Failed(fault),
    }
}

/// The signing key and the database. A key that the database keeps is not blamed for a database that is away.
async fn stored(ground: &Ground, state: &StoreState) -> Vec<Finding> {
    let readable = || Ok("readable by its owner alone".to_owned());
    let key = match state {
        StoreState::Open(store) => Some(ground.key(Some(store)).await.and_then(|_| readable())),
        _ if has_key_file(ground) => Some(ground.key(None).await.and_then(|_| readable())),
        StoreState::Absent => Some(Ok("none yet: toolgate serve makes one".to_owned())),
        StoreState::Failed(_) => None,
    };
    let database = match state {
        StoreState::Open(store) => store.ping().await.map(|()| "answers".to_owned()).map_err(Misuse::from),
        StoreState::Absent => Ok("none yet: toolgate serve makes one".to_owned()),
        StoreState::Failed(fault) => Err(fault.to_string().into()),
    };
    let mut findings: Vec<Finding> = key.map(|key| Finding::of("signing key", key)).into_iter().collect();
    findings.push(Finding::of("database", database));
    findings
}

/// Returns true if the signing key is a file that is there.
fn has_key_file(ground: &Ground) -> bool {
    let is_in_folder = || {
        let is_sqlite = ground.location().is_ok_and(|location| matches!(location, Location::Sqlite(_)));
        is_sqlite && ground.data.join(toolgate_server::identity::KEY_FILE_NAME).exists()
    };
    ground.config.identity.key_file.is_some() || is_in_folder()
}
