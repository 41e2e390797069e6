//! `approvals approve|deny`: the operator's answer on the command line.

use std::io::IsTerminal;

use serde_json::json;
use toolgate_core::Caller;
use toolgate_spine::{AnswerProblem, Approver, Books, Say, approval_json};
use toolgate_store::{AnswerFault, Approval, ApprovalState, IdKind, Scope, Store};

use crate::{
    CommandResult, Ending, Misuse,
    cli::{Output, Place},
    commands::{
        books::{line, store},
        print, serve,
        short_id::whole_id,
        when,
    },
    config::CommandLineAnswers,
    ground::{self, Ground},
};

pub async fn run(place: &Place, id: &str, by: String, say: Say, output: Output) -> CommandResult {
    let config = Ground::of(place)?.config;
    let settings = serve::book_settings(&config)?;
    let store = store(place).await?;
    if let Some(why) = refusal(config.approvals.command_line, &say) {
        store.close().await;
        let value = json!({"id": id, "answered": false, "code": "command_line", "message": why});
        print(output, &value, &format!("{why}\n"))?;
        return Ok(Ending::No);
    }
    let answered = async {
        let id = whole_id(&store, IdKind::Approval, id).await?;
        let Some(asked) = store.approvals().get(&Scope::Everything, &id, ground::now()).await? else {
            return Ok(Err(AnswerFault::Unknown { id: id.chars().take(100).collect() }.into()));
        };
        let books = Books::open(store.clone(), settings).await?;
        let answered = answered(&books, &asked, &by, say).await;
        books.ledger().close().await;
        Ok::<_, Misuse>(answered)
    };
    let answered = answered.await;
    store.close().await;
    report(id, answered?, output)
}

/// Records the operator's answer to an approval and gives it.
pub async fn answered(books: &Books, asked: &Approval, by: &str, say: Say) -> Result<Approval, AnswerProblem> {
    let operator = Caller { operator: true, ..Caller::default() };
    // the command line is not asked about: no rulebook decides here
    let approver = Approver { by, who: &operator, rules: "" };
    books.answer(&Scope::Everything, asked, &approver, say).await
}

/// Why the command line may not give this answer; `None` where it may. A denial only narrows, so it needs no terminal.
pub fn refusal(allowed: CommandLineAnswers, say: &Say) -> Option<&'static str> {
    match (allowed, say) {
        (CommandLineAnswers::Off, _) => Some(
            "[approvals] command_line = \"off\": nothing is answered on the command line; answer over HTTP with a token \
             that has the scope 'approve'",
        ),
        (CommandLineAnswers::Tty, Say::Yes { .. }) if !std::io::stdin().is_terminal() => Some(
            "[approvals] command_line = \"tty\": only a person at a terminal approves here, and standard input is no \
             terminal; approve at a terminal, or over HTTP with a token that has the scope 'approve'",
        ),
        _ => None,
    }
}

/// The operator's name on the record: the command line is the operator's, and the name says which person it is.
pub fn operator(by: Option<String>) -> Result<String, Misuse> {
    let name = match by {
        Some(name) if name.trim().is_empty() || name.chars().any(char::is_control) => {
            return Err("--by needs a name, without control characters".into());
        }
        Some(name) => name,
        None => std::env::var("USER").ok().filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "operator".into()),
    };
    Ok(format!("operator:{name}"))
}

fn report(id: &str, answered: Result<Approval, AnswerProblem>, output: Output) -> CommandResult {
    match answered {
        Ok(approval) => {
            print(output, &approval_json(&approval), &in_words(&approval))?;
            Ok(Ending::Good)
        }
        Err(AnswerProblem::Fault(AnswerFault::Store(fault))) => Err(fault.into()),
        Err(problem) => {
            let code = match &problem {
                AnswerProblem::Denied(denial) => denial.code.as_str(),
                AnswerProblem::Fault(fault) => fault.code(),
                AnswerProblem::Unrecorded(_) => "unrecorded",
            };
            let value = json!({"id": id, "answered": false, "code": code, "message": problem.to_string()});
            print(output, &value, &format!("{}\n", line(&problem)))?;
            Ok(Ending::No)
        }
    }
}

/// The state of an approval that is not pending any more, on one line.
pub fn in_words(approval: &Approval) -> String {
    let by = approval.answered_by.as_deref().map(|by| format!(" by {}", line(by))).unwrap_or_default();
    match approval.state {
        ApprovalState::Granted => {
            let uses = if approval.uses_left == 1 { "once" } else { &format!("{} times", approval.uses_left) };
            let until = when::show(approval.expires);
            format!(
                "{} is granted{by}: {uses}, until {until}; it runs now if its caller still waits, else when it calls again\n",
                approval.id
            )
        }
        state => format!("{} is {state}{by}\n", approval.id),
    }
}

/// The approval with an id or a unique beginning of one.
pub async fn find(store: &Store, id: &str) -> Result<Option<Approval>, Misuse> {
    let id = whole_id(store, IdKind::Approval, id).await?;
    Ok(store.approvals().get(&Scope::Everything, &id, ground::now()).await?)
}
