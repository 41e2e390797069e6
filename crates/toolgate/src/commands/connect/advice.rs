//! What a person should know once a client is connected: whom it acts for, what it still reaches past the gateway, and
//! whether the gateway runs.

use serde_json::json;
use toolgate_core::Caller;
use toolgate_server::health_probe;

use super::{
    Plan, Report,
    clients::ClientPlace,
    direct::{self, Behind, DirectServers},
    insert,
};
use crate::{
    Misuse,
    cli::{Client, ConnectArgs},
    commands::token_show,
    ground::Ground,
};

/// What is looked at.
pub struct Advice<'a> {
    pub wish: &'a ConnectArgs,
    pub client: Client,
    pub place: &'a ClientPlace,
    pub ground: &'a Ground,
    pub plan: &'a Plan,
    /// Of commands that lead to the same gateway.
    pub options: String,
}

impl Advice<'_> {
    /// Whether the client will be an anonymous caller, as far as that can be said.
    pub async fn who(&self, report: &mut Report) {
        // the files of a project are named relative to it
        let is_project = self.wish.file.is_none() && self.place.file.is_relative();
        if is_project && (self.wish.user.is_some() || self.plan.token.is_some()) {
            let file = self.place.file.display();
            report.note(format!("{file} belongs to this folder's project and holds a credential: keep it out of git"));
        }
        let Some(token) = &self.plan.token else {
            if self.wish.user.is_none() {
                self.anonymous(report).await;
            }
            return;
        };
        // tokens of another gateway can't be judged here
        if self.wish.url.is_none()
            && let Ok(Some(reason)) = token_show::refusal(self.ground, token).await
        {
            report.set("token_problem", &reason);
            report.note(format!(
                "The token would not be accepted here: {reason}. The client would be anonymous; give --user NAME"
            ));
        }
    }

    async fn anonymous(&self, report: &mut Report) {
        let seen = self.ground.stored_gate(async |_| Ok(())).await.ok();
        let seen = seen.and_then(|(gate, _)| Some((gate.listing(&Caller::anonymous())?.len(), gate.catalog().len())));
        let seen = seen.map(|(sees, of)| {
            report.set("anonymous", json!({ "sees": sees, "of": of }));
            format!(" and sees {sees} of {of} tools")
        });
        report.note(format!("This client will be anonymous{}; give --user NAME", seen.unwrap_or_default()));
    }

    /// Servers that the client still reaches directly, and those that no upstream stands for.
    pub fn servers(&self, report: &mut Report, after: &str) -> Result<(), Misuse> {
        let (file, key, removed) = (&self.place.file, self.place.key, &self.plan.removed);
        let behind = Behind { upstreams: &self.ground.config.upstreams };
        let before = insert::all(file, self.plan.text(), key)?;
        let now_removed: Vec<&str> =
            removed.iter().map(String::as_str).filter(|name| before.contains_key(*name)).collect();
        if !now_removed.is_empty() {
            let options = self.same_file();
            let client = self.client.name();
            let verb = if self.wish.dry_run { "Would be taken" } else { "Taken" };
            report.note(format!(
                "{verb} out of the file: {}. Bring them back: toolgate connect {client} --undo{options}",
                now_removed.join(", ")
            ));
        }
        for name in now_removed {
            if before.get(name).is_some_and(|server| behind.is_another(name, server)) {
                report.note(format!(
                    "The upstream '{name}' is another program or address than the '{name}' of the client; compare them"
                ));
            }
        }
        let left = DirectServers::of(&insert::all(file, after, key)?).names;
        let outside: Vec<&String> = left.iter().filter(|name| !behind.has(name)).collect();
        if !left.is_empty() {
            let mut warning = direct::sentence(&left);
            if outside.len() < left.len() {
                let (client, options) = (self.client.name(), self.same_entry());
                warning.push_str(&format!(" Take them out: toolgate connect {client} --replace{options}"));
            }
            report.note(warning);
        }
        let shown = file.display().to_string();
        for name in &outside {
            report.note(direct::not_behind(name, self.client, &shown, &self.options));
        }
        report.set("not_behind", &outside);
        report.set("removed", removed);
        report.set("direct", &left);
        Ok(())
    }

    /// The options that lead to the same file.
    fn same_file(&self) -> String {
        self.wish.file.as_ref().map(|file| format!(" --file {}", file.display())).unwrap_or_default()
    }

    /// The options that make the same entry again.
    fn same_entry(&self) -> String {
        let stdio = if self.wish.stdio { " --stdio" } else { "" };
        let url = self.wish.url.as_ref().map(|url| format!(" --url {url}")).unwrap_or_default();
        format!("{}{stdio}{url}{}", self.same_file(), self.options)
    }

    /// Whether a server answers at the address now.
    pub async fn health(&self, report: &mut Report, url: Option<&str>) {
        let Some(health) = url.filter(|_| !self.wish.dry_run).and_then(health_probe::health_url) else { return };
        let answers = health_probe::answers(&health).await;
        report.set("server_answers", answers);
        report.note(if answers {
            format!("A server answers at {health}.")
        } else {
            format!("No server answers at {health} now; start it: toolgate serve{}", self.options)
        });
    }
}
