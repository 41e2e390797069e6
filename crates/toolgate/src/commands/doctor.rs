//! `doctor`: looks at everything `serve` needs, and says what to do about what is missing.

use serde::Serialize;
use serde_json::json;
use tokio::net::TcpListener;

use super::print;
use crate::{
    CommandResult, Ending,
    cli::{Output, Place},
    gateway_files::GatewayFiles,
    ground::Ground,
    raise,
};

#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    good: bool,
    /// Nothing that serving needs is missing, and somebody should know all the same.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    warning: bool,
    detail: String,
}

pub async fn run(place: &Place, output: Output) -> CommandResult {
    let mut findings = Vec::new();
    let mut find = |what, result: Result<String, String>| {
        let good = result.is_ok();
        findings.push(Finding { what, good, warning: false, detail: result.unwrap_or_else(|detail| detail) });
    };
    let mut exposures = None;
    match Ground::of(place) {
        Err(problem) => find("configuration", Err(problem.to_string())),
        Ok(ground) => {
            let from =
                ground.config_path.as_ref().map_or_else(|| "built in".to_owned(), |path| path.display().to_string());
            find("configuration", Ok(from));
            exposures = GatewayFiles::of(&ground).ok().map(|files| files.exposures(&ground.config.upstreams));
            find(
                "tools and rules",
                ground
                    .gate()
                    .map(|gate| format!("{} tools, {} rules", gate.catalog().len(), gate.rulebook().rules().len()))
                    .map_err(|problem| problem.to_string()),
            );
            match raise::vault_folder(&ground.config) {
                Ok(Some(folder)) => find("vault folder", Ok(folder.display().to_string())),
                Ok(None) => {}
                Err(problem) => find("vault folder", Err(problem.to_string())),
            }
            find(
                "settings",
                super::serve::check(&ground)
                    .map(|()| "as serving needs them".to_owned())
                    .map_err(|problem| problem.to_string()),
            );
            let store = ground.store().await;
            find(
                "signing key",
                ground
                    .key(store.as_ref().ok())
                    .await
                    .map(|_| "readable by its owner alone".to_owned())
                    .map_err(|fault| fault.to_string()),
            );
            find(
                "database",
                match store {
                    Ok(store) => {
                        let answered =
                            store.ping().await.map(|()| "answers".to_owned()).map_err(|fault| fault.to_string());
                        store.close().await;
                        answered
                    }
                    Err(fault) => Err(fault.to_string()),
                },
            );
            let listen = &ground.config.server.listen;
            find(
                "address",
                TcpListener::bind(listen)
                    .await
                    .map(|_| format!("{listen} is free"))
                    .map_err(|fault| format!("{listen}: {fault}; another Toolgate may be running, or choose --listen")),
            );
        }
    }
    if let Some(exposures) = exposures {
        findings.extend(exposures.into_iter().map(|detail| Finding {
            what: "upstream",
            good: true,
            warning: true,
            detail,
        }));
    }
    let text: String = findings
        .iter()
        .map(|finding| {
            let word = match (finding.good, finding.warning) {
                (false, _) => "BAD",
                (true, true) => "warn",
                (true, false) => "good",
            };
            format!("{word:<4} {}: {}\n", finding.what, finding.detail)
        })
        .collect();
    let good = findings.iter().all(|finding| finding.good);
    print(output, &json!({"good": good, "findings": findings}), &text)?;
    Ok(if good { Ending::Good } else { Ending::No })
}
