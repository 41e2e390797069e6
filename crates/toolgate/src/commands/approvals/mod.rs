//! `approvals list|watch|show|approve|deny`: calls that wait for a person, and the operator's answers.

mod answer;
mod diff;
mod line_input;
mod list;
mod question;
mod show;
mod terminal;
mod time_span;
mod watch;

use toolgate_spine::Say;
use toolgate_store::ApprovalFilter;

pub use answer::operator;

use super::books::ended;
use crate::{CommandResult, cli::ApprovalsCommand, ground};

pub async fn run(command: ApprovalsCommand) -> CommandResult {
    ended(match command {
        ApprovalsCommand::List { state, flow, by, limit, place, output } => {
            let filter = ApprovalFilter { state, flow, asked_by: by, owner: None };
            list::run(&place, &filter, limit, output).await
        }
        ApprovalsCommand::Watch { by, place, output } => watch::run(&place, operator(by)?, output).await,
        ApprovalsCommand::Show { id, place, output } => show::run(&place, &id, output).await,
        ApprovalsCommand::Approve { id, by, until, once, place, output } => {
            let holds = until.as_deref().map(ground::duration).transpose()?;
            answer::run(&place, &id, operator(by)?, Say::Yes { once, holds }, output).await
        }
        ApprovalsCommand::Deny { id, by, reason, place, output } => {
            answer::run(&place, &id, operator(by)?, Say::No { reason }, output).await
        }
    })
}
