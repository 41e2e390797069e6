//! Taking back: an undo is a call like any other, decided, recorded and receipted; its yes is the one its call had.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::value::RawValue;
use toolgate_core::{Caller, Denial, Kind, Lang, Tool};
use toolgate_store::{Paging, Receipt, ReceiptFilter, ReceiptState, Scope, UndoFault, UndoKind, UndoRecord, Undoing};

use crate::{
    Books, Call, Client, Decided, Guarded, House, Outcome, SourceFault, Spine, ToolAnswer, Undo,
    answer::said,
    books::{call_id, now, scope_of},
    counterpart::CounterCall,
    noting::{Named, Noted, Ran},
    receipts::{self, Done, leave},
};

/// How much longer than its tool's time an undo may take, with everything around it.
const MARGIN: Duration = Duration::from_secs(60);

/// How much of a tool's words is repeated.
const SAID: usize = 300;

/// Why nothing was taken back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UndoProblem {
    #[error("{0}")]
    Refused(String),
    #[error("the gate does not let this caller take it back: {}", .0.message)]
    Denied(Denial),
    #[error("nothing was taken back, the world moved on: {0}")]
    Conflict(String),
    #[error("whether it was taken back is not known: {0}; look before trying again")]
    Unknown(String),
}

impl Spine {
    /// Takes back what a receipt stands for, and leaves a receipt of its own.
    pub async fn undo(&self, caller: &Arc<Caller>, receipt: &str, lang: Lang) -> Result<ToolAnswer, UndoProblem> {
        self.undo_within(&scope_of(caller), caller, receipt, lang).await
    }

    /// The same for whoever runs this Toolgate: anybody's receipt, in the operator's own name.
    pub async fn undo_as_operator(
        &self,
        operator: &Arc<Caller>,
        receipt: &str,
        lang: Lang,
    ) -> Result<ToolAnswer, UndoProblem> {
        self.undo_within(&Scope::Everything, operator, receipt, lang).await
    }

    pub(crate) async fn undo_within(
        &self,
        scope: &Scope,
        caller: &Arc<Caller>,
        receipt: &str,
        lang: Lang,
    ) -> Result<ToolAnswer, UndoProblem> {
        let Some(books) = &self.books else { return Err(UndoProblem::Refused("nothing keeps receipts here".into())) };
        let mut undoing = books.store.receipts().begin_undo(scope, receipt, now()).await;
        if matches!(undoing, Err(UndoFault::Undoing { .. })) {
            self.end_what_was_left(books, receipt).await;
            undoing = books.store.receipts().begin_undo(scope, receipt, now()).await;
        }
        let Undoing { receipt, record } = undoing.map_err(refused)?;
        let started = Instant::now();
        let house = self.house();
        let record = record.as_ref().map_or("null", UndoRecord::as_str);
        match self.take_back(books, &house, caller, &receipt, record, lang, started).await {
            Ok(answer) => Ok(answer),
            Err(problem) => {
                let receipts = books.store.receipts();
                let kept = match &problem {
                    UndoProblem::Unknown(_) => receipts.undo_unknown(&receipt.id).await,
                    _ => receipts.undo_failed(&receipt.id).await,
                };
                if let Err(fault) = kept {
                    tracing::error!(receipt = receipt.id, %fault, "what became of an undo could not be kept");
                }
                Err(problem)
            }
        }
    }

    /// An undo that has taken longer than it may was begun by a process that has ended: it may have taken effect or not, and
    /// nobody will say any more.
    async fn end_what_was_left(&self, books: &Books, receipt: &str) {
        let receipts = books.store.receipts();
        let ended = async {
            let begun = receipts.undoing(now()).await?;
            let Some(left) = begun.into_iter().find(|left| left.id == receipt) else { return Ok(()) };
            let house = self.house();
            let longest = house.gate.catalog().find(&left.tool).map(|tool| house.timeout(tool)).unwrap_or_default();
            let before = now().saturating_sub(i64::try_from((longest + MARGIN).as_millis()).unwrap_or(i64::MAX));
            if receipts.undoing(before).await?.iter().any(|old| old.id == receipt) {
                receipts.undo_unknown(receipt).await?;
            }
            Ok::<_, UndoFault>(())
        };
        if let Err(fault) = ended.await {
            tracing::warn!(receipt, %fault, "an undo that was left could not be ended");
        }
    }

    /// What a caller did in a flow and can take back, newest first.
    pub async fn receipts_of_flow(&self, caller: &Caller, flow: &str) -> Result<Vec<String>, UndoProblem> {
        self.undoable(&scope_of(caller), flow).await
    }

    /// What anybody did in a flow and can be taken back, newest first.
    pub async fn receipts_of_flow_as_operator(&self, flow: &str) -> Result<Vec<String>, UndoProblem> {
        self.undoable(&Scope::Everything, flow).await
    }

    async fn undoable(&self, scope: &Scope, flow: &str) -> Result<Vec<String>, UndoProblem> {
        let Some(books) = &self.books else { return Err(UndoProblem::Refused("nothing keeps receipts here".into())) };
        let filter =
            ReceiptFilter { flow: Some(flow.to_owned()), state: Some(ReceiptState::Done), ..ReceiptFilter::default() };
        let (mut found, mut paging) = (Vec::new(), Paging::default());
        loop {
            let page = books.store.receipts().list(scope, &filter, &paging).await;
            let page = page.map_err(|fault| UndoProblem::Refused(fault.to_string()))?;
            // an undo is not taken back with the rest: that would do it all again
            let own = page.items.into_iter().filter(|receipt| receipt.undoes.is_none());
            found.extend(own.filter(|receipt| receipt.undo.kind != UndoKind::Impossible).map(|receipt| receipt.id));
            match page.next {
                Some(mark) => paging.after = Some(mark),
                None => return Ok(found),
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "one step of a path, and nothing else calls it")]
    async fn take_back(
        &self,
        books: &Books,
        house: &Arc<House>,
        caller: &Arc<Caller>,
        receipt: &Receipt,
        record: &str,
        lang: Lang,
        started: Instant,
    ) -> Result<ToolAnswer, UndoProblem> {
        let way = Way::of(receipt, record)?;
        let gone = || UndoProblem::Refused(format!("tool '{}' is not here any more", way.tool()));
        let call = Call::of(Kind::Tool, way.tool(), way.arguments(), lang);
        let decided = match Decided::decide(house, caller, &call) {
            Ok(decided) => decided,
            Err(outcome) => return Err(turned_away(*outcome).unwrap_or_else(gone)),
        };
        let tool = Arc::clone(&decided.tool);
        let source = house.sources.get(&tool.source).cloned().ok_or_else(gone)?;
        let id = call_id(now());
        let guarded = match &way {
            Way::Native { record, .. } => Guarded::undoing(decided, record.clone()),
            Way::Counterpart(call) => {
                let guarded = decided.guard(Some(&call.arguments));
                guarded.map_err(|outcome| turned_away(*outcome).unwrap_or_else(gone))?
            }
        };
        let mut noted = Noted::of(house, caller, &id, Named::known(&tool, way.tool()), way.arguments())
            .undoing(&receipt.id)
            .part_of(receipt.plan.as_deref());
        // the yes its call had covers this; a call that needed none covers nothing
        let taken = match receipt.approval {
            Some(_) => None,
            None => {
                let sought = self.approved(&guarded, &call, None).await;
                sought.map_err(|outcome| turned_away(*outcome).unwrap_or_else(gone))?
            }
        };
        let recorded = self.recorder().record(Some(books), Box::new(guarded), taken, &mut noted).await;
        let recorded = recorded.map_err(|outcome| turned_away(*outcome).unwrap_or_else(gone))?;
        let timeout = house.timeout(&tool);
        let run = async {
            match &way {
                Way::Native { record, .. } => source.undo(recorded, record).await,
                Way::Counterpart(_) => source.run(recorded).await,
            }
        };
        let result = Client::default().within(timeout, run).await;
        let (answer, problem) = match result {
            Some(Ok(answer)) if way.failed(&answer) => {
                let why = said(&answer.into_bytes()).unwrap_or_else(|| "it failed".to_owned());
                let why = why.chars().take(SAID).collect::<String>();
                (None, Some(UndoProblem::Conflict(format!("tool '{}' said: {why}", tool.wire_name))))
            }
            Some(Ok(answer)) => (Some(answer), None),
            Some(Err(SourceFault::InputRequired(_))) => {
                let why = format!("tool '{}' wants an answer first, and nobody can be asked", tool.wire_name);
                (None, Some(UndoProblem::Refused(why)))
            }
            Some(Err(SourceFault::Conflict(why))) => (None, Some(UndoProblem::Conflict(why))),
            Some(Err(SourceFault::Rejected { message, .. })) => (None, Some(UndoProblem::Refused(message))),
            Some(Err(fault)) => (None, Some(UndoProblem::Unknown(fault.to_string()))),
            None => (None, Some(UndoProblem::Unknown(format!("no answer within {} ms", timeout.as_millis())))),
        };
        let outcome = match &answer {
            Some(answer) => Outcome::Answered(answer.clone().into_bytes()),
            None => Outcome::Unavailable { tool: Arc::clone(&tool), message: String::new() },
        };
        let outcome = self.on_record(house, noted, outcome, (Ran::Write, false), started).await;
        if let Outcome::Unrecorded { message } = outcome {
            return Err(UndoProblem::Unknown(message));
        }
        let Some(answer) = answer else { return Err(problem.unwrap_or_else(gone)) };
        let undo = match (answer.undo().clone(), way.arguments()) {
            // so that taking this back does it again
            (Undo::Unsaid, Some(input)) => house.undo_of(&tool, input, &answer.clone().into_bytes()),
            (undo, _) => undo,
        };
        self.receipted(books, house, caller, &tool, (&id, receipt), (answer, undo)).await
    }

    async fn receipted(
        &self,
        books: &Books,
        house: &House,
        caller: &Caller,
        tool: &Arc<Tool>,
        (call, undone): (&str, &Receipt),
        (answer, undo): (ToolAnswer, Undo),
    ) -> Result<ToolAnswer, UndoProblem> {
        let unknown = |fault: String| UndoProblem::Unknown(fault);
        let bytes = answer.into_bytes();
        let input = serde_json::json!({ "undo": undone.id }).to_string();
        let (undoes, plan) = (Some(undone.id.as_str()), undone.plan.as_deref());
        let done = Done { house, caller, tool, call, input: &input, undo: &undo, approval: None, undoes, plan };
        let own = leave(books, &done, Some(&bytes)).await.map_err(|fault| unknown(fault.to_string()))?;
        let finished = books.store.receipts().finish_undo(&undone.id, &own.id).await;
        finished.map_err(|fault| unknown(fault.to_string()))?;
        Ok(ToolAnswer::raw(receipts::receipted(&bytes, &own)))
    }
}

/// How a receipt's call is taken back.
enum Way {
    /// By its own tool's source, given this.
    Native {
        tool: String,
        record: Box<RawValue>,
    },
    Counterpart(CounterCall),
}

impl Way {
    fn of(receipt: &Receipt, record: &str) -> Result<Self, UndoProblem> {
        let unreadable = |_| UndoProblem::Refused("what its receipt keeps can't be read".to_owned());
        if receipt.undo.kind == UndoKind::Compensation {
            return serde_json::from_str(record).map(Self::Counterpart).map_err(unreadable);
        }
        let record = RawValue::from_string(record.to_owned()).map_err(unreadable)?;
        Ok(Self::Native { tool: receipt.tool.clone(), record })
    }

    fn tool(&self) -> &str {
        match self {
            Self::Native { tool, .. } => tool,
            Self::Counterpart(call) => &call.tool,
        }
    }

    fn arguments(&self) -> Option<&RawValue> {
        match self {
            Self::Native { .. } => None,
            Self::Counterpart(call) => Some(&call.arguments),
        }
    }

    /// Another tool knows no conflicts: it fails.
    fn failed(&self, answer: &ToolAnswer) -> bool {
        matches!(self, Self::Counterpart(_)) && receipts::is_error(&answer.clone().into_bytes())
    }
}

fn refused(fault: UndoFault) -> UndoProblem {
    UndoProblem::Refused(fault.to_string())
}

fn turned_away(outcome: Outcome) -> Option<UndoProblem> {
    match outcome {
        Outcome::Denied { denial, .. } => Some(UndoProblem::Denied(denial)),
        Outcome::NeedsApproval { denial, approval, .. } => Some(UndoProblem::Refused(match approval {
            Some(asked) => {
                format!("{} Approval {} is asked for; take it back once it is granted.", denial.message, asked.id)
            }
            None => denial.message,
        })),
        Outcome::Unrecorded { message } | Outcome::Refused { message, .. } => Some(UndoProblem::Refused(message)),
        _ => None,
    }
}
