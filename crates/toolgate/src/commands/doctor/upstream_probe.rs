//! Every upstream, started or called now, all at the same time.

use std::time::Duration;

use tokio::{task::JoinSet, time::timeout};
use toolgate_core::{
    pin::{Lock, State},
    terminal_escape,
};

use super::{Finding, Severity};
use crate::{
    commands::books::counted,
    config::{Config, Upstream},
    gateway_files::GatewayFiles,
    ground::Ground,
    program_search::missing_program,
    upstreams::{self, Upstreams},
};

/// The longest an upstream may take to answer.
const TIMEOUT: Duration = Duration::from_secs(10);

pub async fn look(ground: &Ground) -> Vec<Finding> {
    let enabled: Vec<&Upstream> = ground.config.upstreams.iter().filter(|upstream| upstream.enabled).collect();
    if enabled.is_empty() {
        return Vec::new();
    }
    let file = ground.lock_file();
    let lock = match file.read() {
        Ok(lock) => lock,
        Err(problem) => return vec![Finding::of("lock", Err(problem.into()))],
    };
    let accepted: usize = enabled.iter().map(|upstream| lock.accepted(&upstream.name).count()).sum();
    let detail = format!("{}: {} accepted", file.path().display(), counted(accepted, "tool"));
    let mut findings = vec![Finding::new("lock", Severity::Good, detail)];
    let files = match GatewayFiles::of(ground) {
        Ok(files) => files,
        Err(problem) => return vec![Finding::of("upstream", Err(problem))],
    };
    let mut probes = JoinSet::new();
    for (index, upstream) in enabled.into_iter().enumerate() {
        if let Some(missing) = missing_program(upstream) {
            findings.push(Finding::new("upstream", Severity::Bad, missing));
            continue;
        }
        let config = Config { upstreams: vec![upstream.clone()], ..ground.config.clone() };
        let (name, files, lock) = (upstream.name.clone(), files.clone(), lock.clone());
        probes.spawn(async move { (index, probe(&name, &config, files, &lock).await) });
    }
    let mut answers = probes.join_all().await;
    answers.sort_by_key(|(index, _)| *index);
    findings.extend(answers.into_iter().map(|(_, finding)| finding));
    findings
}

async fn probe(name: &str, config: &Config, files: GatewayFiles, lock: &Lock) -> Finding {
    let mut running = Upstreams::beside(files);
    if let Err(problem) = running.follow(config).await {
        return Finding::of("upstream", Err(problem.into()));
    }
    let Some(connection) = running.get(name) else {
        return Finding::new("upstream", Severity::Bad, format!("the upstream '{name}' was not started"));
    };
    // the first failure counts: the supervisor would go on trying
    let mut states = connection.states();
    let _ = timeout(TIMEOUT, states.wait_for(|state| *state != toolgate_upstream::State::Starting)).await;
    let answered = connection.ready(Duration::ZERO).await;
    let judged = upstreams::judge(lock, name, &connection.definitions());
    running.stop().await;
    if let Err(fault) = answered {
        let fault = terminal_escape(&fault.to_string());
        return Finding::new("upstream", Severity::Bad, format!("the upstream '{name}' does not answer: {fault}"));
    }
    let count = |wanted: fn(&State) -> bool| judged.iter().filter(|judged| wanted(&judged.state)).count();
    let waiting = count(|state| matches!(state, State::New | State::Changed { .. }));
    let detail = format!("'{name}' answers with {}", counted(count(|state| !matches!(state, State::Gone)), "tool"));
    match waiting {
        0 => Finding::new("upstream", Severity::Good, detail),
        _ => {
            let next = format!("{detail}, {waiting} of them not accepted as they are: toolgate upstream diff {name}");
            Finding::new("upstream", Severity::Warning, next)
        }
    }
}
