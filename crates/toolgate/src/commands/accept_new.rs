//! Upstreams nobody has accepted anything of: accepted as they are, asked about at the terminal, or left to wait.

use std::{
    collections::BTreeSet,
    io::{BufRead, IsTerminal, Write},
    sync::Arc,
    thread,
};

use tokio::sync::mpsc;
use toolgate_core::pin::{self, Choice, Digest, Lock, visible};
use toolgate_upstream::Definition;

use crate::upstreams::{self, Upstreams};

/// What becomes of an upstream's tools when it is seen for the first time.
pub enum Newcomers {
    /// `--accept-new`
    Accept,
    Ask(Asking),
    Wait,
}

/// Whoever sits at the terminal is asked once for each upstream.
pub struct Asking {
    asked: BTreeSet<String>,
    yes: mpsc::UnboundedSender<Seen>,
    pub answers: mpsc::UnboundedReceiver<Seen>,
}

/// What was shown to whoever said yes: no more is accepted.
pub struct Seen {
    upstream: String,
    tools: Vec<(String, Digest)>,
}

impl Newcomers {
    /// A person can be asked only where there is one to read the question and answer it.
    pub fn of(accept_new: bool, may_ask: bool) -> Self {
        if accept_new {
            return Self::Accept;
        }
        if may_ask && std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
            let (yes, answers) = mpsc::unbounded_channel();
            return Self::Ask(Asking { asked: BTreeSet::new(), yes, answers });
        }
        Self::Wait
    }

    /// Whether the lock changed.
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

    /// The next upstream that someone said yes to. Never comes where nobody is asked.
    pub async fn answered(&mut self) -> Seen {
        if let Self::Ask(asking) = self
            && let Some(seen) = asking.answers.recv().await
        {
            return seen;
        }
        std::future::pending().await
    }
}

impl Asking {
    fn ask_about(&mut self, upstreams: &Upstreams, lock: &Lock) {
        for (name, offered) in upstreams.newcomers(lock) {
            if offered.is_empty() || !self.asked.insert(name.clone()) {
                continue;
            }
            let judged = upstreams::judge(lock, &name, &offered);
            let tools = judged.into_iter().filter_map(|judged| Some((judged.name, judged.digest?))).collect();
            let (seen, yes) = (Seen { upstream: name, tools }, self.yes.clone());
            // a thread of its own: reading a terminal can't be called off, and must not hold up the end
            thread::spawn(move || {
                if asked(&seen, &offered) {
                    let _ = yes.send(seen);
                }
            });
        }
    }
}

impl Seen {
    /// Whether the lock changed.
    pub fn accept(&self, upstreams: &Upstreams, lock: &mut Lock) -> bool {
        let Some(upstream) = upstreams.get(&self.upstream).map(Arc::clone) else { return false };
        let reviewed: Vec<(&str, Digest)> = self.tools.iter().map(|(name, digest)| (name.as_str(), *digest)).collect();
        let offered = upstream.definitions();
        let acceptance = lock.accept(&self.upstream, Choice::Reviewed(&reviewed), &upstreams::named(&offered));
        for refused in &acceptance.refused {
            tracing::warn!(upstream = self.upstream, "{refused}");
        }
        !acceptance.added.is_empty()
    }
}

fn asked(seen: &Seen, offered: &[Definition]) -> bool {
    let names: Vec<String> = seen.tools.iter().map(|(name, _)| visible(name)).collect();
    let mut question = format!("\nUpstream '{}' is new. It offers: {}\n", seen.upstream, names.join(", "));
    for definition in offered {
        for warning in pin::warnings(definition.raw.get()) {
            let (name, path) = (visible(&definition.name), visible(&warning.path));
            question.push_str(&format!("    look: {name}: {} at {path}: {}\n", warning.kind, warning.excerpt));
        }
    }
    question.push_str(&format!("Look at them with: toolgate upstream diff {}\nAccept them? [y/N] ", seen.upstream));
    // not locked while the answer is waited for: the log goes there too
    let mut terminal = std::io::stderr();
    if terminal.write_all(question.as_bytes()).and_then(|()| terminal.flush()).is_err() {
        return false;
    }
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}
