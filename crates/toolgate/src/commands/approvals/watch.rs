//! `approvals watch`: what is pending and what arrives; at a terminal, each is asked about.

use std::{
    collections::HashSet,
    io::{IsTerminal, Write},
    time::Duration,
};

use tokio::sync::mpsc;
use toolgate_spine::{BookSettings, Books, Say, approval_json, arguments_summary};
use toolgate_store::{Approval, ApprovalFilter, ApprovalState, Scope, Store, StoreError};

use super::{
    answer::{answered, in_words, refusal},
    line_input,
    question::question,
    terminal,
    time_span::span,
};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{Output, Place},
    commands::{
        books::{SUMMARY, gathered, json, line, put, store},
        serve,
        stop_signal::StopSignals,
    },
    ground::{self, Ground},
};

/// The time between two looks at the store: new approvals of other processes are on no change feed.
const PAUSE: Duration = Duration::from_millis(500);
/// Pending approvals that are looked at together.
const MOST: u32 = 1_000;

pub async fn run(place: &Place, by: String, output: Output) -> CommandResult {
    let mut signals = StopSignals::listen()?;
    let config = Ground::of(place)?.config;
    let settings = serve::book_settings(&config)?;
    let store = store(place).await?;
    let at_terminal = !output.json && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let refused = refusal(config.approvals.command_line, &YES).filter(|_| at_terminal);
    refused.iter().for_each(|why| eprintln!("toolgate: {why}"));
    let watched = if at_terminal && refused.is_none() {
        let mut watcher = Watcher::new(store.clone(), settings, by);
        let watched = tokio::select! {
            watched = watcher.watch() => watched,
            () = signals.received() => Ok(()),
        };
        if let Some(books) = &watcher.books {
            books.ledger().close().await;
        }
        put("\n").and(watched)
    } else {
        tokio::select! {
            told = tell_arrivals(&store, output) => told,
            () = signals.received() => Ok(()),
            () = line_input::closed(), if !at_terminal => Ok(()),
        }
    };
    store.close().await;
    watched.map(|()| Ending::Good)
}

const YES: Say = Say::Yes { once: true, holds: None };

/// Pending approvals, the oldest first.
struct Pending {
    store: Store,
    /// The store did not answer the last time, and that was said.
    is_away: bool,
}

impl Pending {
    /// `None` while the store does not answer: it is asked again later.
    async fn look(&mut self) -> Result<Option<Vec<Approval>>, Misuse> {
        let filter = ApprovalFilter { state: Some(ApprovalState::Pending), ..ApprovalFilter::default() };
        let approvals = self.store.approvals();
        let list = async |paging| approvals.list(&Scope::Everything, &filter, ground::now(), &paging).await;
        match gathered(MOST, list).await {
            Ok((mut found, _)) => {
                self.is_away = false;
                found.reverse();
                Ok(Some(found))
            }
            Err(fault) if fault.is::<StoreError>() => {
                if !self.is_away {
                    eprintln!("toolgate: {fault}; trying again");
                }
                self.is_away = true;
                Ok(None)
            }
            Err(fault) => Err(fault),
        }
    }
}

/// Prints a line for each pending approval that was not there before, until nobody reads any more.
async fn tell_arrivals(store: &Store, output: Output) -> Result<(), Misuse> {
    let mut pending = Pending { store: store.clone(), is_away: false };
    let mut told: HashSet<String> = HashSet::new();
    loop {
        if let Some(found) = pending.look().await? {
            for approval in found.iter().filter(|approval| !told.contains(&approval.id)) {
                let text = if output.json { approval_json(approval).to_string() } else { arrival(approval) };
                if !put(&format!("{text}\n"))? {
                    return Ok(());
                }
            }
            told = found.into_iter().map(|approval| approval.id).collect();
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn arrival(approval: &Approval) -> String {
    let shown = json(&approval.shown);
    let arguments = shown.get("arguments").map(|arguments| arguments_summary(arguments, SUMMARY)).unwrap_or_default();
    let left = span(approval.expires.saturating_sub(ground::now()));
    let bound = &approval.binding;
    format!("{}  {}  by {}  {left} left  {arguments}", approval.short_id(), line(&bound.tool), line(&bound.asked_by))
}

/// The person at the terminal, and the approval that the person is asked about.
struct Watcher {
    pending: Pending,
    settings: BookSettings,
    by: String,
    /// Open from the first answer on.
    books: Option<Books>,
    /// Not asked about again.
    skipped: HashSet<String>,
    current: Option<Current>,
}

struct Current {
    approval: Approval,
    /// The person denies, and is asked why.
    wants_reason: bool,
}

/// The meaning of a line that was typed.
enum Typed {
    Quit,
    GoOn,
}

impl Watcher {
    fn new(store: Store, settings: BookSettings, by: String) -> Self {
        let pending = Pending { store, is_away: false };
        Self { pending, settings, by, books: None, skipped: HashSet::new(), current: None }
    }

    /// Ends when the person quits or the terminal is gone.
    async fn watch(&mut self) -> Result<(), Misuse> {
        put(&format!("Watching for approvals as {}. Answer with a letter and Enter; q quits.\n", line(&self.by)))?;
        let mut lines = line_input::lines();
        let mut said_idle = false;
        loop {
            if self.current.is_none() && !self.ask_next(&mut lines).await? && !said_idle {
                said_idle = true;
                put("Nothing is pending.\n")?;
            }
            said_idle &= self.current.is_none();
            tokio::select! {
                typed = lines.recv() => match typed {
                    None => return Ok(()),
                    Some(typed) => {
                        if matches!(self.take(typed.trim()).await?, Typed::Quit) {
                            return Ok(());
                        }
                    }
                },
                () = tokio::time::sleep(PAUSE) => self.look_again().await?,
            }
        }
    }

    /// Shows the oldest approval that nobody answered. False if there is none.
    async fn ask_next(&mut self, lines: &mut mpsc::Receiver<String>) -> Result<bool, Misuse> {
        let Some(mut found) = self.pending.look().await? else { return Ok(true) };
        found.retain(|approval| !self.skipped.contains(&approval.id));
        let count = found.len();
        let Some(approval) = found.into_iter().next() else { return Ok(false) };
        let more = if count > 1 { format!("({count} are pending)\n") } else { String::new() };
        let text = format!("\n{}{more}", question(&approval, ground::now()));
        // what was typed before the question is there does not answer it
        terminal::forget_typed();
        while lines.try_recv().is_ok() {}
        put(&format!("{text}{}", prompt(&approval)))?;
        self.current = Some(Current { approval, wants_reason: false });
        Ok(true)
    }

    /// Says so where the approval that is shown was answered elsewhere, or is over.
    async fn look_again(&mut self) -> Result<(), Misuse> {
        let Some(current) = &self.current else { return Ok(()) };
        let id = &current.approval.id;
        let approvals = self.pending.store.approvals();
        match approvals.get(&Scope::Everything, id, ground::now()).await {
            Ok(Some(approval)) if approval.state == ApprovalState::Pending => return Ok(()),
            Ok(Some(approval)) => put(&format!("\nAnswered elsewhere or over: {}", in_words(&approval)))?,
            Ok(None) => put(&format!("\nApproval {id} is not there any more.\n"))?,
            // looked at again when the next is shown
            Err(_) => return Ok(()),
        };
        self.current = None;
        Ok(())
    }

    async fn take(&mut self, typed: &str) -> Result<Typed, Misuse> {
        let Some(current) = &mut self.current else {
            return Ok(if matches!(typed, "q" | "quit") { Typed::Quit } else { Typed::GoOn });
        };
        let is_wide = current.approval.wide.is_some();
        let say = match typed.to_ascii_lowercase().as_str() {
            _ if current.wants_reason => Say::No { reason: (!typed.is_empty()).then(|| typed.to_owned()) },
            "y" | "yes" => YES,
            "a" | "all" if is_wide => Say::Yes { once: false, holds: None },
            "n" | "no" => {
                current.wants_reason = true;
                put("Reason, which the caller is told (empty: none): ")?;
                return Ok(Typed::GoOn);
            }
            "s" | "skip" => {
                put(&format!("{} stays pending.\n", current.approval.short_id()))?;
                self.skipped.extend(self.current.take().map(|current| current.approval.id));
                return Ok(Typed::GoOn);
            }
            "q" | "quit" => return Ok(Typed::Quit),
            _ => {
                put(&prompt(&current.approval))?;
                return Ok(Typed::GoOn);
            }
        };
        self.answer(say).await?;
        Ok(Typed::GoOn)
    }

    async fn answer(&mut self, say: Say) -> Result<(), Misuse> {
        let Some(Current { approval, .. }) = self.current.take() else { return Ok(()) };
        let books = match &self.books {
            Some(books) => books,
            None => self.books.insert(Books::open(self.pending.store.clone(), self.settings.clone()).await?),
        };
        let text = match answered(books, &approval, &self.by, say).await {
            Ok(approval) => in_words(&approval),
            Err(problem) => format!("{}\n", line(&problem)),
        };
        put(&text)?;
        std::io::stdout().flush()?;
        Ok(())
    }
}

fn prompt(approval: &Approval) -> String {
    match approval.wide {
        None => "Approve? [y]es, [n]o, [s]kip, [q]uit: ".to_owned(),
        Some(_) => "Approve? [y]es, this call once; [a]ll that is asked for; [n]o, [s]kip, [q]uit: ".to_owned(),
    }
}
