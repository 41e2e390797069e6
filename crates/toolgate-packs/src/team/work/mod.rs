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

use std::pin::Pin;

use toolgate_core::Tool;
use toolgate_spine::{ArgumentFault, Recorded, ToolAnswer};

use super::{TeamPack, failure::Failure};

pub(super) use facts::facts;

/// What a tool will say.
pub(super) type Answering<'a> = Pin<Box<dyn Future<Output = Result<ToolAnswer, Failure>> + Send + 'a>>;

/// `None` for a tool that is not one of these. Each on the heap: all of them side by side would not fit on a stack.
pub(super) fn run<'a>(pack: &'a TeamPack, call: &'a Recorded) -> Option<Answering<'a>> {
    let answering: Answering<'a> = match call.tool().own_name.as_str() {
        "get_next_action" => Box::pin(next_action::get_next_action(pack, call)),
        "get_my_task" => Box::pin(seeing::get_my_task(pack, call)),
        "get_my_task_progress" => Box::pin(seeing::get_my_task_progress(pack, call)),
        "get_task" => Box::pin(seeing::get_task(pack, call)),
        "list_team_tasks" => Box::pin(seeing::list_team_tasks(pack, call)),
        "create_task" => Box::pin(making::create_task(pack, call)),
        "create_tasks_batch" => Box::pin(making::create_tasks_batch(pack, call)),
        "split_task" => Box::pin(making::split_task(pack, call)),
        "update_task_status" => Box::pin(changing::update_task_status(pack, call)),
        "assign_task" => Box::pin(changing::assign_task(pack, call)),
        "report_completed" => Box::pin(changing::report_completed(pack, call)),
        "select_action" => Box::pin(changing::select_action(pack, call)),
        "request_task" => Box::pin(requesting::request_task(pack, call)),
        "approve_task_request" => Box::pin(requesting::approve_task_request(pack, call)),
        "reject_task_request" => Box::pin(requesting::reject_task_request(pack, call)),
        "get_pending_messages" => Box::pin(talking::get_pending_messages(pack, call)),
        "respond_chat" => Box::pin(talking::respond_chat(pack, call)),
        "send_message" => Box::pin(talking::send_message(pack, call)),
        "start_conversation" => Box::pin(conversing::start_conversation(pack, call)),
        "end_conversation" => Box::pin(conversing::end_conversation(pack, call)),
        "get_task_conversations" => Box::pin(conversing::get_task_conversations(pack, call)),
        "get_conversation_messages" => Box::pin(conversing::get_conversation_messages(pack, call)),
        "delegate_to_chat_session" => Box::pin(delegating::delegate_to_chat_session(pack, call)),
        "report_delegation_completed" => Box::pin(delegating::report_delegation_completed(pack, call)),
        "notify_task_session" => Box::pin(delegating::notify_task_session(pack, call)),
        "get_notifications" => Box::pin(delegating::get_notifications(pack, call)),
        _ => return None,
    };
    Some(answering)
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
