//! Upstreams that nobody has accepted anything of: accepted as they are, asked about at the terminal, or left to wait.

use std::{
    collections::BTreeSet,
    sync::{Arc, mpsc as blocking},
    thread,
};

use tokio::sync::mpsc;
use toolgate_core::pin::{Acceptance, Choice, Digest, Lock};
use toolgate_upstream::Definition;

use super::upstream::{
    claim::{ToolLine, has_hidden_warnings, tool_lines},
    outcome,
};
use crate::{
    terminal,
    upstreams::{self, Upstreams},
};

/// The treatment of an upstream's tools when the upstream is seen for the first time.
pub enum Newcomers {
    /// `--accept-new`
    Accept,
    Ask(Asking),
    Wait,
}

/// Whoever sits at the terminal is asked once for each upstream, one question at a time.
pub struct Asking {
    asked: BTreeSet<String>,
    questions: blocking::Sender<Question>,
    answers: mpsc::UnboundedReceiver<Approved>,
}

struct Question {
    upstream: String,
    offered: Vec<Definition>,
    tools: Vec<(String, Digest)>,
}

/// The tools that somebody has seen and agreed to: no more is accepted.
pub struct Approved {
    upstream: String,
    tools: Vec<(String, Digest)>,
    /// What became of the answer, for the terminal.
    told: blocking::Sender<String>,
}

impl Newcomers {
    /// A person can be asked only where there is one to read the question and answer it.
    pub fn of(accept_new: bool, may_ask: bool) -> Self {
        if accept_new {
            return Self::Accept;
        }
        if may_ask && terminal::can_ask() {
            return Self::Ask(Asking::start());
        }
        Self::Wait
    }

    /// Returns true if the lock changed.
    pub fn look_at(&mut self, upstreams: &Upstreams, lock: &mut Lock) -> bool {
        match self {
            Self::Accept => upstreams.accept_new(lock),
            Self::Ask(asking) => {
                asking.ask_about(upstreams, lock);
                false
            }
            Self::Wait => false,
        }
    }

    /// The next upstream that somebody accepts. Never comes where nobody is asked.
    pub async fn answered(&mut self) -> Approved {
        if let Self::Ask(asking) = self
            && let Some(approved) = asking.answers.recv().await
        {
            return approved;
        }
        std::future::pending().await
    }
}

impl Asking {
    /// Questions are put by a thread of its own: reading a terminal can't be called off, and must not hold up the end.
    fn start() -> Self {
        let (questions, waiting) = blocking::channel::<Question>();
        let (yes, answers) = mpsc::unbounded_channel();
        thread::spawn(move || {
            while let Ok(question) = waiting.recv() {
                ask(question, &yes);
            }
        });
        Self { asked: BTreeSet::new(), questions, answers }
    }

    fn ask_about(&mut self, upstreams: &Upstreams, lock: &Lock) {
        for (name, offered) in upstreams.newcomers(lock) {
            if offered.is_empty() || !self.asked.insert(name.clone()) {
                continue;
            }
            let judged = upstreams::judge(lock, &name, &offered);
            let tools = judged.into_iter().filter_map(|judged| Some((judged.name, judged.digest?))).collect();
            let _ = self.questions.send(Question { upstream: name, offered, tools });
        }
    }
}

impl Approved {
    /// Pins the tools that are still offered as they were shown.
    pub fn accept(&self, upstreams: &Upstreams, lock: &mut Lock) -> Acceptance {
        let Some(upstream) = upstreams.get(&self.upstream).map(Arc::clone) else { return Acceptance::default() };
        let reviewed: Vec<(&str, Digest)> = self.tools.iter().map(|(name, digest)| (name.as_str(), *digest)).collect();
        lock.accept(&self.upstream, Choice::Reviewed(&reviewed), &upstreams::named(&upstream.definitions()))
    }

    /// Tells the person what became of the answer.
    pub fn tell(&self, acceptance: &Acceptance, lock: &str) {
        let _ = self.told.send(outcome(&self.upstream, acceptance, lock));
    }

    pub fn tell_fault(&self, fault: &str) {
        let _ = self.told.send(format!("not accepted: {fault}\n"));
    }
}

/// One question, up to what became of its answer: the next one waits for that.
fn ask(question: Question, yes: &mpsc::UnboundedSender<Approved>) {
    let Question { upstream, offered, tools } = question;
    let lines: Vec<ToolLine> = offered.iter().map(|definition| ToolLine::of(definition, Vec::new())).collect();
    let mut text =
        format!("\nThe upstream '{upstream}' is new. It offers:\n{}", tool_lines(&lines, terminal::summary_width()));
    if has_hidden_warnings(&lines) {
        text.push_str(&format!("   ! warnings: toolgate upstream diff {upstream} --full\n"));
    }
    terminal::tell(&text);
    let count = lines.len();
    let what = if count == 1 { "this tool".to_owned() } else { format!("these {count} tools") };
    if !terminal::confirm(&format!("Accept {what}?")) {
        terminal::tell(&format!("not accepted; later: toolgate upstream accept {upstream}\n"));
        return;
    }
    let (told, outcome) = blocking::channel();
    if yes.send(Approved { upstream, tools, told }).is_ok()
        && let Ok(outcome) = outcome.recv()
    {
        terminal::tell(&outcome);
    }
}
