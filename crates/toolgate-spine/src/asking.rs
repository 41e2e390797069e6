//! What is asked of a person, and how it is said: to the approver, to the caller, to programs.

use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};
use toolgate_core::{
    Caller, Denial, Tool, hex,
    redact::{Redactor, cut},
    tool::Undoing,
};
use toolgate_store::{Approval, AskFault, Binding, NewApproval, Plan, Scope, Wide};

use crate::exact_numbers::exact_value;
use crate::{Books, Breadth, Guarded, Outcome, Spine, approving::NoYes, books::now, offload::contained};

/// How long a source may take to say what a call would do, while its caller waits for the question to be asked.
const PREVIEW_WITHIN: Duration = Duration::from_secs(5);
/// Longest preview that is kept whole.
const PREVIEW: usize = 8 << 10;

/// What an approver is shown: this is what runs.
#[derive(Serialize)]
struct Shown<'a> {
    tool: &'a str,
    arguments: Value,
    why: &'a str,
    rule: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    undo: Option<Value>,
    preview: Preview,
}

/// The tool's attribute `undo` for approvers: the tool that undoes the call, or why nothing does.
fn declared_undo(tool: &Tool) -> Option<Value> {
    match tool.facts.undo.as_ref()? {
        Undoing::By(counterpart) => Some(json!({"kind": "compensation", "tool": counterpart.tool})),
        Undoing::Never(why) => Some(json!({"kind": "impossible", "why": why})),
    }
}

/// Logs for the operator how a new approval is answered. Callers are not told: a model must not learn the command.
fn tell_operator(approval: &Approval) {
    let bound = &approval.binding;
    tracing::info!(
        target: "toolgate::approvals", approval = %approval.id, tool = %bound.tool, principal = %bound.asked_by,
        "approve with: toolgate approvals approve {}", approval.short_id()
    );
}

/// What stands in a plan's approval where a call has its tool.
pub(crate) const PLAN: &str = "plan";

/// What an approver of a plan is shown.
pub(crate) fn shown_of_plan(plan: &Value, why: &str) -> String {
    json!({ "tool": PLAN, "arguments": plan, "why": why }).to_string()
}

/// The tools that run on a yes.
pub(crate) fn tools_of(approval: &Approval) -> Vec<String> {
    if approval.binding.tool != PLAN {
        return vec![approval.binding.tool.clone()];
    }
    let shown: Value = serde_json::from_str(&approval.shown).unwrap_or_default();
    let calls = shown.pointer("/arguments/calls").and_then(Value::as_array).cloned().unwrap_or_default();
    let tools: Vec<String> = calls.iter().filter_map(|call| Some(call.get("tool")?.as_str()?.to_owned())).collect();
    // of a plan that can't be read nobody may say that they may
    if tools.len() == calls.len() && !tools.is_empty() { tools } else { vec![PLAN.to_owned()] }
}

/// What the call would do: in its source's words, or nothing more than the call itself.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Preview {
    Native {
        result: Value,
    },
    Static,
    Failed {
        message: &'static str,
    },
    /// More than a person is shown: what runs comes first.
    LeftOut {
        message: &'static str,
    },
}

/// What a person is asked to say yes to.
pub(crate) enum Question<'a> {
    /// A call, or more than one of its kind. Put together when nobody has asked yet: a preview is part of it.
    Call { guarded: &'a Guarded, denial: &'a Denial, breadth: Option<Breadth> },
    /// A plan of calls, as it is shown: with previews, and without where those are too large.
    Plan { plan: &'a Plan, scope: &'a Scope, owner: String, shown: Vec<String>, four_eyes: bool },
}

impl Question<'_> {
    /// Asks, or finds what was asked before.
    pub(crate) async fn ask(&self, books: &Books, binding: &Binding) -> Result<Approval, NoYes> {
        match self {
            Self::Call { guarded, denial, breadth } => ask(books, guarded, binding, denial, *breadth).await,
            Self::Plan { owner, shown, four_eyes, .. } => {
                let asked_at = now();
                let found = books.store.approvals().asked(binding, false, asked_at).await.map_err(AskFault::Store)?;
                if let Some(found) = found.filter(|found| found.four_eyes || !four_eyes) {
                    return Ok(found);
                }
                if let Some(denied) = books.denied_lately(binding, false).await.map_err(AskFault::Store)? {
                    return Err(NoYes::Denied(Box::new(denied)));
                }
                let shown = books.first_askable(owner, shown.clone()).await?;
                let new = NewApproval {
                    binding: binding.clone(),
                    owner: owner.clone(),
                    shown,
                    four_eyes: *four_eyes,
                    asked_at,
                    expires: asked_at.saturating_add(millis(books.settings.approval_ttl)),
                    wide: None,
                };
                let asked = books.store.approvals().ask(new).await?;
                tell_operator(&asked);
                Ok(asked)
            }
        }
    }
}

/// The person behind a caller, who says yes where no rule names another.
pub(crate) fn owner_of(caller: &Caller) -> String {
    caller.person().unwrap_or_else(|| caller.principal())
}

async fn ask(
    books: &Books,
    guarded: &Guarded,
    binding: &Binding,
    denial: &Denial,
    breadth: Option<Breadth>,
) -> Result<Approval, NoYes> {
    let (decided, asked_at) = (&guarded.decided, now());
    let four_eyes = decided.tool.facts.four_eyes;
    let approvals = books.store.approvals();
    let found = approvals.asked(binding, breadth.is_some(), asked_at).await.map_err(AskFault::Store)?;
    if let Some(found) = found.filter(|found| found.four_eyes || !four_eyes) {
        return Ok(found);
    }
    if let Some(denied) = books.denied_lately(binding, breadth.is_some()).await.map_err(AskFault::Store)? {
        return Err(NoYes::Denied(Box::new(denied)));
    }
    let redactor = decided.house.guard(&decided.tool).map(|guard| guard.redactor.clone()).unwrap_or_default();
    let redactor = redactor.with_digests(&books.redaction_key);
    let arguments = redactor.json(guarded.arguments.get());
    let mut shown = Shown {
        tool: &binding.tool,
        arguments: exact_value(&arguments),
        why: &denial.message,
        rule: &denial.rule,
        undo: declared_undo(&decided.tool),
        preview: preview(guarded, &redactor).await,
    };
    let full = serde_json::to_string(&shown).unwrap_or_default();
    shown.preview = Preview::LeftOut { message: "the preview is too large to be shown" };
    let texts = vec![full, serde_json::to_string(&shown).unwrap_or_default()];
    let ttl = millis(books.settings.approval_ttl);
    // it can't last longer than what any approval may
    let wide = breadth
        .map(|breadth| Wide { uses: breadth.uses, until: asked_at.saturating_add(millis(breadth.lasts).min(ttl)) });
    let expires = asked_at.saturating_add(ttl);
    let owner = owner_of(&decided.caller);
    let shown = books.first_askable(&owner, texts).await?;
    let new = NewApproval {
        binding: binding.clone(),
        owner,
        shown,
        four_eyes,
        asked_at,
        // once what was asked for is over, there is nothing left to grant
        expires: wide.map_or(expires, |wide| wide.until.min(expires)),
        wide,
    };
    let asked = approvals.ask(new).await?;
    tell_operator(&asked);
    Ok(asked)
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

async fn preview(guarded: &Guarded, redactor: &Redactor) -> Preview {
    let decided = &guarded.decided;
    let Some(source) = decided.house.sources.get(&decided.tool.source).cloned() else { return Preview::Static };
    let previewed = guarded.previewed();
    match tokio::time::timeout(PREVIEW_WITHIN, contained(source.preview(&previewed))).await {
        Ok(Ok(None)) => Preview::Static,
        Ok(Ok(Some(answer))) => {
            let text = String::from_utf8_lossy(&answer.into_bytes()).into_owned();
            let text = cut(redactor.json(&text), PREVIEW);
            Preview::Native { result: exact_value(&text) }
        }
        Ok(Err(_)) => Preview::Failed { message: "a dry run of this call fails as things are now" },
        Err(_) => Preview::Failed { message: "the dry run took too long" },
    }
}

/// What a yes allows, in a sentence without an end.
pub fn what_is_approved(approval: &Approval) -> String {
    let tool = &approval.binding.tool;
    match approval.wide {
        None if tool == PLAN => "this plan as it is shown, once".to_owned(),
        None => format!("'{tool}' with these arguments, once"),
        Some(wide) => format!(
            "'{tool}' with ANY arguments, up to {} times, for at most {} s from when it was asked, in flow '{}'",
            wide.uses,
            wide.until.saturating_sub(approval.asked_at) / 1000,
            approval.binding.flow.as_deref().unwrap_or_default()
        ),
    }
}

/// An approval for programs: the same from the command line, over HTTP and in a notice.
pub fn approval_json(approval: &Approval) -> Value {
    let bound = &approval.binding;
    let shown = serde_json::from_str(&approval.shown).unwrap_or_else(|_| Value::from(approval.shown.as_str()));
    json!({
        "id": approval.id, "state": approval.state.as_str(), "what": what_is_approved(approval),
        "tool": bound.tool, "shown": shown,
        "asked_by": bound.asked_by, "owner": approval.owner, "tenant": bound.tenant, "flow": bound.flow,
        "asked_at": approval.asked_at, "expires": approval.expires, "four_eyes": approval.four_eyes,
        "uses_left": approval.uses_left,
        "wide": approval.wide.map(|wide| json!({"uses": wide.uses, "until": wide.until})),
        "answered_by": approval.answered_by, "answered_at": approval.answered_at, "reason": approval.reason,
        "tool_digest": hex(&bound.tool_digest), "arguments_digest": hex(&bound.arguments_digest),
        "rulebook_digest": hex(&bound.rulebook_digest),
    })
}

impl Spine {
    /// The result that a model reads of a call that waits for a person: what is asked, and how to go on. How a person answers
    /// is not part of it: a model with a shell could follow it.
    pub fn needs_approval(&self, tool: &Tool, denial: &Denial, approval: Option<&Approval>) -> Bytes {
        let Some(approval) = approval else { return self.denied(tool, denial) };
        let id = &approval.id;
        let shown: Value = serde_json::from_str(&approval.shown).unwrap_or_default();
        let what = what_is_approved(approval);
        let text = format!(
            "{} Approval {id} is required. A person answers it; then call again with the same arguments.",
            denial.message
        );
        let mut value = serde_json::to_value(denial).unwrap_or_default();
        if let Some(value) = value.as_object_mut() {
            let more = json!({
                "approval": id, "what": what, "arguments": shown.get("arguments"), "expires": approval.expires,
                "four_eyes": approval.four_eyes, "again": {"_meta": {"toolgate/approval": id}},
            });
            value.extend(more.as_object().cloned().unwrap_or_default());
        }
        self.house().failure(tool, &value, &text).into_bytes()
    }
}

impl Outcome {
    /// What a person is asked, where the call waits for one.
    pub fn approval(&self) -> Option<&Approval> {
        match self {
            Self::NeedsApproval { approval, .. } => approval.as_deref(),
            _ => None,
        }
    }
}
