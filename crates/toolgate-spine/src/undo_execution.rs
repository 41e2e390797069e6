//! An undo as a call: decided, limited, approved as its call was, recorded, run to its end, counted and receipted.
//!
//! INVARIANT: an undo that may have taken effect never makes its receipt undoable again.

use std::{sync::Arc, time::Instant};

use serde_json::value::RawValue;
use toolgate_core::{Caller, Kind, Lang, Tool};
use toolgate_store::{Receipt, UndoKind};

use crate::{
    Books, Call, Client, Decided, Guarded, House, Outcome, Recorded, SourceFault, Spine, ToolAnswer, ToolSource, Undo,
    UndoAnswer, UndoProblem,
    answer::said,
    approving::Yes,
    books::{call_id, now},
    conclude::Slot,
    counterpart::CounterCall,
    noting::{Named, Noted, Ran},
    receipts::{self, Done, leave},
    recorded::CallTrace,
};

/// How much of a tool's words is repeated.
const SAID: usize = 300;

/// An undo that has begun and that nobody else can begin.
pub(crate) struct BegunUndo {
    pub(crate) receipt: Receipt,
    /// What the receipt keeps for its undo.
    pub(crate) record: String,
    pub(crate) caller: Arc<Caller>,
    pub(crate) lang: Lang,
}

/// An undo that nothing stands in the way of.
struct AdmittedUndo {
    tool: Arc<Tool>,
    source: Arc<dyn ToolSource>,
    guarded: Guarded,
    approval: Option<Yes>,
    slot: Slot,
}

impl Spine {
    pub(crate) async fn run_undo(&self, books: &Books, begun: BegunUndo) -> Result<UndoAnswer, UndoProblem> {
        let started = Instant::now();
        let house = self.house();
        let BegunUndo { receipt, record, caller, lang } = &begun;
        let way = UndoMethod::of(receipt, record)?;
        let id = call_id(now());
        let trace = CallTrace { id: &id, started };
        let gone = || UndoProblem::Refused(format!("tool '{}' is not here any more", way.tool()));
        let noted = |named: Named<'_>| {
            let noted = Noted::of(&house, caller, &id, named, way.arguments());
            noted.undoing(&receipt.id).part_of(receipt.plan.as_deref())
        };
        let call = Call::of(Kind::Tool, way.tool(), way.arguments(), *lang);
        let admitted = match self.admit_undo(&house, &begun, &way, &call).await {
            Ok(admitted) => admitted,
            Err(outcome) => {
                self.note(caller, &outcome, trace);
                let named = Named { tool: outcome.tool(), kind: Kind::Tool, asked: way.tool() };
                let outcome = self.on_record(&house, noted(named), *outcome, (Ran::No, false), started).await;
                return Err(turned_away(outcome).unwrap_or_else(gone));
            }
        };
        let AdmittedUndo { tool, source, guarded, approval, slot } = admitted;
        let mut noted = noted(Named::known(&tool, way.tool()));
        let recorded = self.recorder().record(Some(books), Box::new(guarded), approval, &mut noted).await;
        let recorded = recorded.map_err(|outcome| turned_away(*outcome).unwrap_or_else(gone))?;
        let timeout = house.timeout(&tool);
        let result = Client::default().within(timeout, self.undo_to_its_end(source, recorded, way.clone())).await;
        drop(slot);
        let undo = result.as_ref().and_then(|result| result.as_ref().ok()).map(|answer| answer.undo().clone());
        let outcome = house.conclude(&tool, result, timeout);
        let problem = problem_of(&tool, &outcome);
        let answered = match &outcome {
            Outcome::Answered(result) if problem.is_none() => Some(result.clone()),
            _ => None,
        };
        let outcome = match outcome {
            // "undone" is said only of what was
            Outcome::Answered(_) if problem.is_some() => {
                Outcome::Unavailable { tool: Arc::clone(&tool), message: String::new() }
            }
            outcome => outcome,
        };
        match &problem {
            None => self.recorder().answered(&tool, caller, &trace),
            Some(_) => self.note(caller, &outcome, trace),
        }
        let outcome = self.on_record(&house, noted, outcome, (Ran::Write, false), started).await;
        let undo = match (undo.unwrap_or_default(), &answered, way.arguments()) {
            // so that taking this back does it again
            (Undo::Unsaid, Some(output), Some(input)) => house.undo_of(&tool, input, output),
            (undo, ..) => undo,
        };
        let left = LeftUndo { house: &house, begun: &begun, tool: &tool, call: &id, undo: &undo };
        match (answered, outcome, problem) {
            (_, Outcome::Unrecorded { message }, None | Some(UndoProblem::Unknown(_))) => {
                Err(UndoProblem::Unknown(message))
            }
            (Some(result), _, None) => left.receipted(books, &result).await,
            (_, _, Some(UndoProblem::Unknown(why))) => {
                if let Err(fault) = left.leave(books, None).await {
                    tracing::error!(receipt = receipt.id, %fault, "an undo whose end is not known left no receipt");
                }
                Err(UndoProblem::Unknown(why))
            }
            (_, _, problem) => Err(problem.unwrap_or_else(gone)),
        }
    }

    /// Everything before the record, within the limits of the tool that takes it back.
    async fn admit_undo(
        &self,
        house: &Arc<House>,
        begun: &BegunUndo,
        way: &UndoMethod,
        call: &Call<'_>,
    ) -> Result<AdmittedUndo, Box<Outcome>> {
        let decided = Decided::decide(house, &begun.caller, call)?;
        let tool = Arc::clone(&decided.tool);
        let source = house.sources.get(&tool.source).cloned().ok_or_else(|| Box::new(Outcome::Unknown))?;
        let guarded = match way {
            UndoMethod::Native { record, .. } => Guarded::undoing(decided, record.clone())?,
            UndoMethod::Compensation(call) => decided.guard(Some(&call.arguments))?,
        };
        // the approval of the call covers its undo; a call that needed none covers nothing
        let approval = match begun.receipt.approval {
            Some(_) => None,
            None => self.approved(&guarded, call, None).await?,
        };
        match house.slot(&tool, &begun.caller) {
            Ok(slot) => Ok(AdmittedUndo { tool, source, guarded, approval, slot }),
            Err(outcome) => {
                self.give_back(approval).await;
                Err(outcome)
            }
        }
    }

    /// An undo that takes longer than its time is not cut off: it may be half done.
    async fn undo_to_its_end(
        &self,
        source: Arc<dyn ToolSource>,
        call: Recorded,
        way: UndoMethod,
    ) -> Result<ToolAnswer, SourceFault> {
        let running = self.running.spawn(async move {
            match way {
                UndoMethod::Native { record, .. } => source.undo(call, &record).await,
                UndoMethod::Compensation(_) => source.run(call).await,
            }
        });
        running.await.unwrap_or_else(|_| Err(SourceFault::Failed))
    }
}

/// What a receipt of an undo is made from.
struct LeftUndo<'a> {
    house: &'a House,
    begun: &'a BegunUndo,
    tool: &'a Arc<Tool>,
    call: &'a str,
    undo: &'a Undo,
}

impl LeftUndo<'_> {
    /// `None` where it is not known what came of the undo.
    async fn leave(&self, books: &Books, result: Option<&bytes::Bytes>) -> Result<Receipt, toolgate_store::StoreError> {
        let Self { house, begun: BegunUndo { receipt, caller, .. }, tool, call, undo } = self;
        let input = serde_json::json!({ "undo": receipt.id }).to_string();
        let (undoes, plan) = (Some(receipt.id.as_str()), receipt.plan.as_deref());
        leave(books, &Done { house, caller, tool, call, input: &input, undo, approval: None, undoes, plan }, result)
            .await
    }

    async fn receipted(&self, books: &Books, result: &bytes::Bytes) -> Result<UndoAnswer, UndoProblem> {
        let unknown = |fault: String| UndoProblem::Unknown(fault);
        let own = self.leave(books, Some(result)).await.map_err(|fault| unknown(fault.to_string()))?;
        let finished = books.store.receipts().finish_undo(&self.begun.receipt.id, &own.id).await;
        finished.map_err(|fault| unknown(fault.to_string()))?;
        Ok(UndoAnswer { answer: ToolAnswer::raw(receipts::receipted(result, &own)), receipt: own.id })
    }
}

/// How the call of a receipt is taken back.
#[derive(Clone)]
enum UndoMethod {
    /// By the source of its own tool, given this record.
    Native { tool: String, record: Box<RawValue> },
    /// By the call of another tool.
    Compensation(CounterCall),
}

impl UndoMethod {
    fn of(receipt: &Receipt, record: &str) -> Result<Self, UndoProblem> {
        let unreadable = |_| UndoProblem::Refused("what its receipt keeps can't be read".to_owned());
        if receipt.undo.kind == UndoKind::Compensation {
            return serde_json::from_str(record).map(Self::Compensation).map_err(unreadable);
        }
        let record = RawValue::from_string(record.to_owned()).map_err(unreadable)?;
        Ok(Self::Native { tool: receipt.tool.clone(), record })
    }

    fn tool(&self) -> &str {
        match self {
            Self::Native { tool, .. } => tool,
            Self::Compensation(call) => &call.tool,
        }
    }

    fn arguments(&self) -> Option<&RawValue> {
        match self {
            Self::Native { .. } => None,
            Self::Compensation(call) => Some(&call.arguments),
        }
    }
}

/// Why an undo that ran is not done. Unknown, unless the source says that it changed nothing or the protocol says that the
/// call did not run: a tool may fail after its effect.
fn problem_of(tool: &Tool, outcome: &Outcome) -> Option<UndoProblem> {
    let wants = |what: &str| UndoProblem::Refused(format!("tool '{}' wants {what} first", tool.wire_name));
    match outcome {
        Outcome::Answered(result) if receipts::is_error(result) => {
            let why: String = said(result).unwrap_or_else(|| "it failed".to_owned()).chars().take(SAID).collect();
            Some(UndoProblem::Unknown(format!("tool '{}' failed and said: {why}", tool.wire_name)))
        }
        Outcome::Answered(_) => None,
        Outcome::Refused { code: "conflict", message, .. } => Some(UndoProblem::Conflict(message.clone())),
        Outcome::Rejected { message, .. } if !outcome.may_have_taken_effect() => {
            Some(UndoProblem::Refused(message.clone()))
        }
        Outcome::InputRequired { .. } => Some(wants("an answer, and nobody can be asked,")),
        Outcome::NeedsApproval { .. } => Some(wants("an approval of its own")),
        Outcome::Refused { message, .. } | Outcome::Unavailable { message, .. } | Outcome::Rejected { message, .. } => {
            Some(UndoProblem::Unknown(message.clone()))
        }
        _ => Some(UndoProblem::Unknown("it failed".to_owned())),
    }
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
        Outcome::Unrecorded { message } | Outcome::Refused { message, .. } | Outcome::Unavailable { message, .. } => {
            Some(UndoProblem::Refused(message))
        }
        _ => None,
    }
}
