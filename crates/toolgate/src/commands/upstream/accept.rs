//! `upstream accept`: what servers offer is shown, confirmed and written to toolgate.lock.

use serde_json::{Value, json};
use toolgate_core::{
    line_escape,
    pin::{Acceptance, Choice, Judged, State, visible},
};

use super::{
    REVIEW,
    claimed_attributes::{self, ClaimedAttribute, claimed_attributes},
    survey::{ServerReview, Survey},
};
use crate::{
    CommandResult, Ending, Misuse,
    cli::AcceptArgs,
    commands::{next_steps::place_options, print, say},
    terminal,
    upstreams::named,
};

pub async fn run(asked: &AcceptArgs) -> CommandResult {
    let can_ask = !asked.output.json && terminal::can_ask();
    if !asked.tools.is_empty() && asked.names.len() != 1 {
        return Err("--tool is for one server: toolgate upstream accept NAME --tool TOOL".into());
    }
    if !can_ask && !asked.yes && !asked.all && asked.tools.is_empty() {
        return Err(
            "there is no terminal to ask at; accept every tool with --all or --yes, or some with --tool TOOL".into()
        );
    }
    let survey = Survey::take(&asked.place, &asked.names, REVIEW).await?;
    let enabled: Vec<&ServerReview> = survey.reviews.iter().filter(|review| review.is_enabled).collect();
    if enabled.is_empty() {
        return Err("there are no upstreams; add one with toolgate add NAME -- COMMAND".into());
    }
    if let Some(problem) = no_answer(&enabled) {
        return Err(problem.into());
    }
    let mut run = Run { asked, survey: &survey, asks: can_ask && !asked.yes, servers: Vec::new(), is_complete: true };
    // without a name, each server is a question of its own
    let together = if asked.names.is_empty() && !asked.all { 1 } else { enabled.len() };
    for group in enabled.chunks(together) {
        run.review(group)?;
    }
    run.finish()
}

/// Why nothing at all can be accepted, where no server answers.
fn no_answer(reviews: &[&ServerReview]) -> Option<String> {
    let said: Vec<String> = reviews
        .iter()
        .filter_map(|review| Some(format!("the upstream '{}' {}", review.name, line_escape(review.fault.as_ref()?))))
        .collect();
    (said.len() == reviews.len()).then(|| said.join("\n"))
}

/// A run of the command.
struct Run<'r> {
    asked: &'r AcceptArgs,
    survey: &'r Survey,
    asks: bool,
    servers: Vec<(String, Acceptance)>,
    /// Every server answered, and nothing was declined or refused.
    is_complete: bool,
}

impl Run<'_> {
    /// Shows what waits at some servers, asks, and accepts.
    fn review(&mut self, group: &[&ServerReview]) -> Result<(), Misuse> {
        let mut text = String::new();
        let mut waiting = 0;
        for review in group {
            let chosen = self.chosen(review);
            waiting += chosen.len();
            self.is_complete &= review.fault.is_none();
            text.push_str(&review.text_of(&chosen, self.asked.full, terminal::summary_width()));
            if chosen.is_empty() && review.fault.is_none() && self.asked.tools.is_empty() {
                text.push_str(&format!("Nothing of '{}' waits to be accepted.\n", review.name));
            }
        }
        self.tell(&text)?;
        if waiting == 0 && self.asked.tools.is_empty() {
            return Ok(());
        }
        if self.asks && !terminal::confirm(&question(waiting, group)) {
            self.is_complete = false;
            let names: Vec<&str> = group.iter().map(|review| review.name.as_str()).collect();
            let options = place_options(&self.asked.place);
            return self.tell(&format!("not accepted; later: toolgate upstream accept {}{options}\n", names.join(" ")));
        }
        group.iter().filter(|review| review.fault.is_none()).try_for_each(|review| self.accept(review))
    }

    /// The tools of a server that would be accepted.
    fn chosen<'s>(&self, review: &'s ServerReview) -> Vec<&'s Judged> {
        let is_chosen = |judged: &&Judged| self.asked.tools.is_empty() || self.asked.tools.contains(&judged.name);
        review.waiting().filter(is_chosen).collect()
    }

    /// INVARIANT: what is accepted is what was shown. The server is not asked again.
    fn accept(&mut self, review: &ServerReview) -> Result<(), Misuse> {
        let file = self.survey.ground.lock_file();
        let mut lock = file.read()?;
        let names: Vec<&str> = self.asked.tools.iter().map(String::as_str).collect();
        let choice = if names.is_empty() { Choice::All } else { Choice::Named(&names) };
        let acceptance = lock.accept(&review.name, choice, &named(&review.offered));
        file.write(&lock)?;
        self.is_complete &= acceptance.refused.is_empty();
        self.tell(&outcome(&review.name, &acceptance, &file.path().display().to_string()))?;
        self.servers.push((review.name.clone(), acceptance));
        Ok(())
    }

    fn finish(self) -> CommandResult {
        let accepted: Vec<(String, String)> = self
            .servers
            .iter()
            .flat_map(|(server, acceptance)| {
                let tools = acceptance.added.iter().chain(&acceptance.changed);
                tools.map(move |tool| (server.clone(), tool.clone()))
            })
            .chain(self.accepted_before())
            .collect();
        let claimed = claimed_attributes(self.survey, &accepted);
        let written = self.offer(&claimed)?;
        if self.asked.output.json {
            let silent = self
                .survey
                .reviews
                .iter()
                .filter_map(|review| Some(json!({"upstream": review.name, "fault": review.fault.as_ref()?})));
            let value = json!({
                "servers": self.servers.iter().map(server_json).chain(silent).collect::<Vec<_>>(),
                "lock": self.survey.ground.lock_file().path().display().to_string(),
                "claimed": claimed_attributes::json(&claimed),
                "attributes_written": written,
            });
            print(self.asked.output, &value, "")?;
        }
        Ok(if self.is_complete { Ending::Good } else { Ending::No })
    }

    /// With `--attributes`, the tools that were accepted before: their attributes may not have been written then.
    fn accepted_before(&self) -> Vec<(String, String)> {
        let reviews = self.survey.reviews.iter().filter(|_| self.asked.attributes);
        let accepted = |review: &ServerReview| {
            let tools = review.judged.iter().filter(|judged| judged.state == State::Accepted);
            tools.map(|judged| (review.name.clone(), judged.name.clone())).collect::<Vec<_>>()
        };
        reviews.flat_map(accepted).collect()
    }

    /// Offers the attributes that servers claim. Whether they were written.
    fn offer(&self, claimed: &[ClaimedAttribute]) -> Result<bool, Misuse> {
        let Some(path) = self.survey.ground.config_path.as_ref().filter(|_| !claimed.is_empty()) else {
            return Ok(false);
        };
        let shown = path.display();
        let count = counted(claimed.len(), "tool");
        if !self.asked.attributes {
            let block = claimed_attributes::render(claimed);
            self.tell(&format!("\nAttributes for {count}, by the servers' own claims:\n\n{block}\n"))?;
            if !self.asks {
                self.tell(&format!("If you believe them, put them into {shown}, or have --attributes do it.\n"))?;
                return Ok(false);
            }
            if !terminal::confirm(&format!("Write them to {shown}?")) {
                self.tell(&format!("not written; {shown} is as it was\n"))?;
                return Ok(false);
            }
        }
        claimed_attributes::write(path, claimed)?;
        self.tell(&format!("attributes of {count} written to {shown}\n"))?;
        Ok(true)
    }

    fn tell(&self, text: &str) -> Result<(), Misuse> {
        if self.asked.output.json { Ok(()) } else { say(text) }
    }
}

fn question(waiting: usize, group: &[&ServerReview]) -> String {
    let is_gone = |judged: &Judged| judged.state == State::Gone;
    let gone = group.iter().flat_map(|review| review.waiting()).filter(|judged| is_gone(judged)).count();
    let servers = group.iter().filter(|review| review.waiting().next().is_some()).count();
    let of = if servers > 1 { format!(" of {servers} servers") } else { String::new() };
    let gone = if gone > 0 { format!(", {gone} of them gone and forgotten then") } else { String::new() };
    match waiting {
        1 => format!("Accept this tool{of}{gone}?"),
        _ => format!("Accept these {waiting} tools{of}{gone}?"),
    }
}

/// What was written: "accepted 14 tools of 'files'; toolgate.lock written".
pub fn outcome(server: &str, acceptance: &Acceptance, lock: &str) -> String {
    let mut parts = Vec::new();
    if !acceptance.added.is_empty() {
        parts.push(format!("accepted {}", counted(acceptance.added.len(), "tool")));
    }
    if !acceptance.changed.is_empty() {
        parts.push(format!("accepted {} as changed", counted(acceptance.changed.len(), "tool")));
    }
    if !acceptance.removed.is_empty() {
        let gone: Vec<String> = acceptance.removed.iter().map(|tool| visible(tool)).collect();
        parts.push(format!("forgot {} that {} gone", gone.join(", "), if gone.len() == 1 { "is" } else { "are" }));
    }
    let mut text: String = acceptance.refused.iter().map(|refused| format!("{refused}\n")).collect();
    match parts.as_slice() {
        [] if acceptance.refused.is_empty() => {
            text.push_str(&format!("the tools of '{server}' were accepted already\n"));
        }
        [] => text.push_str(&format!("nothing of '{server}' was accepted\n")),
        _ => text.push_str(&format!("{} of '{server}'; {lock} written\n", parts.join(", "))),
    }
    text
}

fn server_json((server, acceptance): &(String, Acceptance)) -> Value {
    json!({"upstream": server, "added": acceptance.added, "changed": acceptance.changed, "removed": acceptance.removed,
        "refused": acceptance.refused.iter().map(ToString::to_string).collect::<Vec<_>>()})
}

fn counted(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}
