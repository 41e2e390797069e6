//! The spine's own tools: flows, plans and taking back. They are doors to the path itself, so that nothing is done twice.

mod plans;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{json, value::to_raw_value};
use toolgate_core::{
    Facts, Tool,
    tool::{Effect, Example, Limits, WhenDenied},
};
use toolgate_spine::{Recorded, SourceFault, Spine, SpineDoor, ToolAnswer, ToolOffer, ToolSource};

use crate::definitions::{BadPack, compact, offers};

const DEFINITIONS: &str = include_str!("tools.json");

/// The pack's tools, without the spine they lead to.
pub fn offered() -> Result<Vec<ToolOffer>, BadPack> {
    offers("pack 'spine'", &compact(DEFINITIONS), facts)
}

pub struct SpinePack {
    door: Arc<SpineDoor>,
    offers: Vec<ToolOffer>,
}

impl SpinePack {
    pub fn new(door: Arc<SpineDoor>) -> Result<Self, BadPack> {
        Ok(Self { door, offers: offered()? })
    }
}

/// What they do to the world is on record elsewhere: a flow in the store, an undo as a call of its own.
fn facts(tool: &str) -> Facts {
    let (example, description) = match tool {
        "flow.open" => (
            r#"{"name":"rename-docs","allowlist":["vault.search","vault.rename"]}"#,
            "フローを開きます。フローは名前と、呼び出せるツールの一覧を持つ一連の呼び出しです。",
        ),
        "flow.close" => (r#"{"flow":"flow_…"}"#, "フローを閉じます。フロー内の承認も終了します。"),
        "plan.propose" => (
            r#"{"calls":[{"id":"find","tool":"vault.search","arguments":{"query":"minutes"}},{"tool":"vault.rename","arguments":{"id":{"$from":"find","path":"/items/0/id"},"newName":"minutes.txt"}}]}"#,
            "プランを提案します。プランは順番に実行される呼び出しの一覧です。この時点では何も実行されません。",
        ),
        "plan.preview" => (r#"{"plan":"plan_…"}"#, "プランの各ステップが何をするかを、実行せずに表示します。"),
        "plan.execute" => (
            r#"{"plan":"plan_…","on_failure":"undo"}"#,
            "プランを実行します。承認が必要な場合は、プラン全体について一度だけ承認を求めます。最初に失敗したステップで停止します。",
        ),
        "plan.show" => {
            (r#"{"plan":"plan_…"}"#, "プランの状態、各ステップの結果、レシート、次にできることを表示します。")
        }
        _ => (r#"{"receipt":"rcpt_…"}"#, "以前の呼び出しの結果を取り消します。"),
    };
    Facts {
        effect: match tool {
            "plan.preview" | "plan.show" => Effect::Read,
            _ => Effect::Log,
        },
        limits: Limits { timeout_ms: plans::timeout_ms(tool), ..Limits::default() },
        redact: plans::redacted(tool),
        when_denied: WhenDenied::Explained,
        help_names: true,
        group: Some("spine".to_owned()),
        example: Some(Example(example.to_owned())),
        descriptions: [("ja".to_owned(), description.to_owned())].into(),
        ..Facts::default()
    }
}

#[derive(Deserialize)]
struct Opening {
    name: String,
    allowlist: Option<Vec<String>>,
    ttl: Option<u64>,
}

#[derive(Deserialize)]
struct Closing {
    flow: String,
}

#[derive(Deserialize)]
struct Undoing {
    receipt: Option<String>,
    flow: Option<String>,
    plan: Option<String>,
}

#[async_trait]
impl ToolSource for SpinePack {
    fn name(&self) -> &str {
        "spine"
    }

    fn tools(&self) -> Vec<ToolOffer> {
        self.offers.clone()
    }

    fn plannable(&self, _tool: &Tool) -> bool {
        false
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        let spine = self.door.spine().ok_or_else(|| SourceFault::unavailable("the spine is not up yet"))?;
        let answer = match call.tool().own_name.as_str() {
            "flow.open" => open(&spine, &call).await?,
            "flow.close" => close(&spine, &call).await?,
            "plan.propose" => plans::propose(&spine, &call).await?,
            "plan.preview" => plans::preview(&spine, &call).await?,
            "plan.execute" => plans::execute(&spine, &call).await?,
            "plan.show" => plans::show(&spine, &call).await?,
            _ => undo(&spine, &call).await?,
        };
        Ok(answer.never_undone("it is the way itself, not something done along it"))
    }
}

fn read<'a, T: Deserialize<'a>>(call: &'a Recorded) -> Result<T, SourceFault> {
    serde_json::from_str(call.arguments().get()).map_err(|fault| SourceFault::unavailable(fault.to_string()))
}

fn answer(value: &serde_json::Value, is_error: bool) -> Result<ToolAnswer, SourceFault> {
    ToolAnswer::structured(value, is_error).map_err(|fault| SourceFault::unavailable(fault.to_string()))
}

fn failure(problem: impl std::fmt::Display) -> Result<ToolAnswer, SourceFault> {
    let problem = problem.to_string();
    Ok(ToolAnswer::failure(&json!({ "error": problem }), &problem))
}

async fn open(spine: &Spine, call: &Recorded) -> Result<ToolAnswer, SourceFault> {
    let Opening { name, allowlist, ttl } = read(call)?;
    let ttl = ttl.map(Duration::from_secs);
    match spine.open_flow(call.caller(), &name, allowlist, ttl).await {
        Ok(opened) => answer(&json!(opened), false),
        Err(problem) => failure(problem),
    }
}

async fn close(spine: &Spine, call: &Recorded) -> Result<ToolAnswer, SourceFault> {
    let Closing { flow } = read(call)?;
    match spine.close_flow(call.caller(), &flow).await {
        Ok(()) => answer(&json!({ "closed": true }), false),
        Err(problem) => failure(problem),
    }
}

async fn undo(spine: &Spine, call: &Recorded) -> Result<ToolAnswer, SourceFault> {
    let caller = Arc::new(call.caller().clone());
    let receipts = match read(call)? {
        Undoing { receipt: Some(receipt), .. } => vec![receipt],
        Undoing { plan: Some(plan), .. } => return plans::undo(spine, &caller, &plan, call.lang()).await,
        Undoing { flow, .. } => match spine.receipts_of_flow(&caller, &flow.unwrap_or_default()).await {
            Ok(receipts) if receipts.is_empty() => return failure("nothing of this flow can be taken back"),
            Ok(receipts) => receipts,
            Err(problem) => return failure(problem),
        },
    };
    let (mut undone, mut own, mut failed) = (Vec::new(), Vec::new(), None);
    for receipt in receipts {
        match spine.undo(&caller, &receipt, call.lang()).await {
            Ok(done) => {
                undone.push(receipt);
                own.push(done.receipt);
            }
            // what came before it may build on it, so that the rest stays
            Err(problem) => {
                failed = Some((receipt, problem.to_string()));
                break;
            }
        }
    }
    undo_answer(&undone, &own, failed)
}

/// `own` are the receipts that the undos left: to undo those is to do it again.
fn undo_answer(undone: &[String], own: &[String], failed: Option<(String, String)>) -> Result<ToolAnswer, SourceFault> {
    let is_error = failed.is_some();
    let failed = failed.map(|(receipt, reason)| json!({ "receipt": receipt, "reason": reason }));
    let answered = answer(&json!({ "undone": undone, "receipts": own, "failed": Vec::from_iter(failed) }), is_error)?;
    match own {
        [only] => {
            let only = to_raw_value(only).map_err(|fault| SourceFault::unavailable(fault.to_string()))?;
            Ok(answered.with_meta("toolgate/receipt", &only))
        }
        _ => Ok(answered),
    }
}
