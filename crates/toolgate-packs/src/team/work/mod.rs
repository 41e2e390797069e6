//! Tasks, messages, conversations, delegations and notifications.

mod changing;
mod conversing;
mod delegating;
mod facts;
mod failures;
mod making;
mod next_action;
mod requesting;
mod seat;
mod seeing;
mod shown;
mod talking;

use toolgate_core::Tool;
use toolgate_spine::{ArgumentFault, Recorded, ToolAnswer};

use super::{TeamPack, failure::Failure};

pub(super) use facts::facts;

/// `None` for a tool that is not one of these.
pub(super) async fn run(pack: &TeamPack, call: &Recorded) -> Option<Result<ToolAnswer, Failure>> {
    Some(match call.tool().own_name.as_str() {
        "get_next_action" => next_action::get_next_action(pack, call).await,
        "get_my_task" => seeing::get_my_task(pack, call).await,
        "get_my_task_progress" => seeing::get_my_task_progress(pack, call).await,
        "get_task" => seeing::get_task(pack, call).await,
        "list_team_tasks" => seeing::list_team_tasks(pack, call).await,
        "create_task" => making::create_task(pack, call).await,
        "create_tasks_batch" => making::create_tasks_batch(pack, call).await,
        "split_task" => making::split_task(pack, call).await,
        "update_task_status" => changing::update_task_status(pack, call).await,
        "assign_task" => changing::assign_task(pack, call).await,
        "report_completed" => changing::report_completed(pack, call).await,
        "select_action" => changing::select_action(pack, call).await,
        "request_task" => requesting::request_task(pack, call).await,
        "approve_task_request" => requesting::approve_task_request(pack, call).await,
        "reject_task_request" => requesting::reject_task_request(pack, call).await,
        "get_pending_messages" => talking::get_pending_messages(pack, call).await,
        "respond_chat" => talking::respond_chat(pack, call).await,
        "send_message" => talking::send_message(pack, call).await,
        "start_conversation" => conversing::start_conversation(pack, call).await,
        "end_conversation" => conversing::end_conversation(pack, call).await,
        "get_task_conversations" => conversing::get_task_conversations(pack, call).await,
        "get_conversation_messages" => conversing::get_conversation_messages(pack, call).await,
        "delegate_to_chat_session" => delegating::delegate_to_chat_session(pack, call).await,
        "report_delegation_completed" => delegating::report_delegation_completed(pack, call).await,
        "get_notifications" => delegating::get_notifications(pack, call).await,
        _ => return None,
    })
}

/// What the schema refuses and the tool itself has words for.
pub(super) fn word(tool: &Tool, fault: &ArgumentFault) -> Option<Failure> {
    let given = |name: &str| fault.arguments.get(name).and_then(|value| value.as_str());
    match (tool.own_name.as_str(), fault.path.as_str()) {
        ("report_completed", "/result") => Some(changing::invalid_result()),
        ("update_task_status", "/status") => given("status").map(changing::invalid_status),
        _ => None,
    }
}
