//! Taking back: which receipts can be undone, by whom, and what state an undo leaves them in. The undo itself is a call like
//! any other (`undo_execution.rs`).

use std::{sync::Arc, time::Duration};

use toolgate_core::{Caller, Denial, Lang, tool};
use toolgate_store::{Paging, Receipt, ReceiptFilter, ReceiptState, Scope, UndoFault, UndoKind, UndoRecord, Undoing};

use crate::{
    Books, House, Spine, ToolAnswer,
    books::{now, scope_of},
    undo_execution::BegunUndo,
};

/// How much longer than its tool's time an undo may take, with everything around it.
const MARGIN: Duration = Duration::from_secs(60);

/// An undo that took effect.
#[derive(Debug)]
pub struct UndoAnswer {
    /// The answer of the tool that took it back.
    pub answer: ToolAnswer,
    /// The receipt that the undo itself left: undone in turn, it does the call again.
    pub receipt: String,
}

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
    pub async fn undo(&self, caller: &Arc<Caller>, receipt: &str, lang: Lang) -> Result<UndoAnswer, UndoProblem> {
        self.undo_within(&scope_of(caller), caller, receipt, lang).await
    }

    /// The same for whoever runs this Toolgate: anybody's receipt, in the operator's own name.
    pub async fn undo_as_operator(
        &self,
        operator: &Arc<Caller>,
        receipt: &str,
        lang: Lang,
    ) -> Result<UndoAnswer, UndoProblem> {
        self.undo_within(&Scope::Everything, operator, receipt, lang).await
    }

    pub(crate) async fn undo_within(
        &self,
        scope: &Scope,
        caller: &Arc<Caller>,
        receipt: &str,
        lang: Lang,
    ) -> Result<UndoAnswer, UndoProblem> {
        let Some(books) = &self.books else { return Err(UndoProblem::Refused("nothing keeps receipts here".into())) };
        let mut undoing = books.store.receipts().begin_undo(scope, receipt, now()).await;
        if matches!(undoing, Err(UndoFault::Undoing { .. })) {
            self.end_what_was_left(books, receipt).await;
            undoing = books.store.receipts().begin_undo(scope, receipt, now()).await;
        }
        let Undoing { receipt, record } = undoing.map_err(refused)?;
        let record = record.as_ref().map_or("null", UndoRecord::as_str).to_owned();
        let begun = BegunUndo { receipt, record, caller: Arc::clone(caller), lang };
        // an undo goes on by itself, as any call with an effect: its caller may go meanwhile
        let Some(spine) = self.this.upgrade() else { return self.end_undo(books, begun).await };
        let ended = self.running.spawn(async move {
            match spine.books() {
                Some(books) => spine.end_undo(books, begun).await,
                None => Err(UndoProblem::Unknown("nothing keeps receipts here".into())),
            }
        });
        ended.await.unwrap_or_else(|fault| Err(UndoProblem::Unknown(fault.to_string())))
    }

    /// From undoing to where the undo leads.
    async fn end_undo(&self, books: &Books, begun: BegunUndo) -> Result<UndoAnswer, UndoProblem> {
        let id = begun.receipt.id.clone();
        let ended = Box::pin(self.run_undo(books, begun)).await;
        if let Err(problem) = &ended {
            let receipts = books.store.receipts();
            let kept = match problem {
                UndoProblem::Unknown(_) => receipts.undo_unknown(&id).await,
                _ => receipts.undo_failed(&id).await,
            };
            if let Err(fault) = kept {
                tracing::error!(receipt = id, %fault, "what became of an undo could not be kept");
            }
        }
        ended
    }

    /// An undo that has taken longer than it may was begun by a process that has ended: it may have taken effect or not, and
    /// nobody will say any more.
    async fn end_what_was_left(&self, books: &Books, receipt: &str) {
        let receipts = books.store.receipts();
        let ended = async {
            let begun = receipts.undoing(now()).await?;
            let Some(left) = begun.into_iter().find(|left| left.id == receipt) else { return Ok(()) };
            let longest = longest_undo(&self.house(), &left);
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
}

/// The time that the undo of a receipt may take: that of the tool that undoes it, or the default where that tool is not
/// known any more.
fn longest_undo(house: &House, receipt: &Receipt) -> Duration {
    let catalog = house.gate.catalog();
    let own = catalog.find(&receipt.tool);
    let undoing = match receipt.undo.kind {
        UndoKind::Compensation => own.and_then(|tool| match &tool.facts.undo {
            Some(tool::Undoing::By(counterpart)) => catalog.find(&counterpart.tool),
            _ => None,
        }),
        _ => own,
    };
    undoing.map_or(Duration::from_millis(house.defaults.timeout_ms), |tool| house.timeout(tool))
}

fn refused(fault: UndoFault) -> UndoProblem {
    UndoProblem::Refused(fault.to_string())
}
