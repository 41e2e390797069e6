//! The gate's own tools. `help` is a view of the decision, so it has nothing of its own to decide.

use async_trait::async_trait;
use serde::Deserialize;
use toolgate_core::{
    Facts, Tool,
    help::Detail,
    tool::{Effect, Example, Permission, WhenDenied},
};
use toolgate_spine::{Recorded, SourceFault, ToolAnswer, ToolOffer, ToolSource};

use crate::definitions::{BadPack, compact, offers};

const DEFINITIONS: &str = include_str!("tools.json");

const HELP_JA: &str = "利用可能なMCPツールの一覧と詳細を表示します。呼び出し元の認証状態とセッションのpurposeに応じて、実際に利用可能なツールのみが表示されます。";

pub struct GatePack {
    offers: Vec<ToolOffer>,
}

impl GatePack {
    pub fn new() -> Result<Self, BadPack> {
        let facts = |_: &str| Facts {
            permission: Permission::Unauthenticated,
            effect: Effect::Read,
            when_denied: WhenDenied::Explained,
            help_names: true,
            group: Some("gate".to_owned()),
            example: Some(Example(r#"{"tool_name":"help"}"#.to_owned())),
            descriptions: [("ja".to_owned(), HELP_JA.to_owned())].into(),
            ..Facts::default()
        };
        Ok(Self { offers: offers("pack 'gate'", &compact(DEFINITIONS), facts)? })
    }
}

#[derive(Deserialize)]
struct HelpArguments {
    tool_name: Option<String>,
}

#[async_trait]
impl ToolSource for GatePack {
    fn name(&self) -> &str {
        "gate"
    }

    fn tools(&self) -> Vec<ToolOffer> {
        self.offers.clone()
    }

    fn plannable(&self, _tool: &Tool) -> bool {
        false
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        let fault = |fault: serde_json::Error| SourceFault::Unavailable(format!("help could not answer: {fault}"));
        let HelpArguments { tool_name } = serde_json::from_str(call.arguments().get()).map_err(fault)?;
        let (gate, view, caller, lang) = (call.gate(), call.view(), call.caller(), call.lang());
        match tool_name {
            None => ToolAnswer::structured(&gate.help(view, caller, lang), false),
            Some(name) => {
                let detail = gate.help_on(view, caller, &name, lang);
                ToolAnswer::structured(&detail, matches!(detail, Detail::NotFound { .. }))
            }
        }
        .map_err(fault)
    }
}
