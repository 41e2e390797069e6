//! The rulebook: the rules that ship with Toolgate and the operator's own, parsed, validated and ready to decide.

mod addresses;
mod approve;
mod arguments;
mod checks;
mod evaluate;
mod known;
mod load;
mod problem;
mod reads;
mod vocabulary;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicU64, Ordering},
};

use cedar_policy::Schema;

pub use approve::AskedFacts;
pub use arguments::{ArgumentTypes, DeclaredType};
pub use evaluate::{CallFacts, Subject, ToolAttributes};
pub use problem::RuleProblem;

use crate::{caller::Caller, decision::Lang, tool::Tool};

/// The rules every Toolgate starts with.
pub const SHIPPED_RULES: &str = include_str!("../../../../rulebook/toolgate.cedar");
/// What rules can read.
pub const SHIPPED_SCHEMA: &str = include_str!("../../../../rulebook/toolgate.cedarschema");

/// How the ids of permits about approving begin.
const APPROVE_PERMIT: &str = "permit-approve";

/// A file of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFile {
    pub name: String,
    pub text: String,
}

impl RuleFile {
    pub fn shipped() -> Self {
        Self { name: "rulebook/toolgate.cedar".to_owned(), text: SHIPPED_RULES.to_owned() }
    }
}

/// What the rulebook must know of a tool to read rules about it.
#[derive(Debug, Clone)]
pub struct ToolSignature<'a> {
    pub name: &'a str,
    /// The tool's definition, whose input schema types its arguments.
    pub definition: &'a serde_json::value::RawValue,
    /// Types the operator declared for arguments that have no single type of their own.
    pub declared: BTreeMap<String, DeclaredType>,
}

/// One rule with what its annotations say.
#[derive(Debug, Clone)]
pub struct Rule {
    pub id: String,
    pub file: String,
    pub order: i64,
    pub code: String,
    /// The cascade's name for this condition.
    pub source: Option<String>,
    /// Failing it tells nothing of a tool that is hidden when denied.
    pub hides: bool,
    /// Failing it asks for an approval instead of refusing.
    pub needs_approval: bool,
    /// It reads arguments.
    pub reads_arguments: bool,
    /// It is about lists alone, so no call asks it.
    pub about_lists: bool,
    /// It is about who may approve, so no call and no list asks it.
    pub about_approvals: bool,
    /// It is written for one tool's own action, so it is asked once a call's arguments are known.
    own_action: bool,
    message: Texts,
    remedy: Option<Texts>,
}

#[derive(Debug, Clone)]
struct Texts {
    en: String,
    ja: Option<String>,
}

impl Texts {
    fn get(&self, lang: Lang) -> &str {
        match lang {
            Lang::Ja => self.ja.as_deref().unwrap_or(&self.en),
            Lang::En => &self.en,
        }
    }
}

/// All rules, in the order they are asked.
#[derive(Debug)]
pub struct Rulebook {
    /// Distinguishes this rulebook from every other loaded by this process, for per-thread parsed copies.
    id: u64,
    rules: Vec<Rule>,
    /// Cedar text and policy id of each policy, from which every thread parses its own set.
    policies: Vec<(String, String)>,
    schema: Schema,
    /// Tools whose calls have an action of their own, with the types of their arguments.
    arguments: BTreeMap<String, ArgumentTypes>,
    /// Tools that some rule names, so that they can't share another tool's decision.
    named_tools: BTreeSet<String>,
    reads_tool_name: bool,
    reads_identity: bool,
    plans: Vec<String>,
    /// Of every rule's text, in the order they are asked, and of the plans.
    digest: [u8; 32],
    sign_in: Texts,
    task_header: String,
    asked: AtomicU64,
    notes: Vec<RuleProblem>,
}

/// What the rulebook needs beside the rules.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Plan names, lowest first.
    pub plans: Vec<String>,
    /// `authenticate` is loaded, so that a denial can point to it.
    pub has_authenticate: bool,
    /// The header that carries a task's key.
    pub task_header: String,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            plans: ["starter", "professional", "enterprise"].map(str::to_owned).to_vec(),
            has_authenticate: false,
            task_header: "X-Toolgate-Task-ID".to_owned(),
        }
    }
}

impl Rulebook {
    /// Rules in the order they are asked, the permit left out.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// What an operator should know of rules that stand: each may hold for less than it seems to.
    pub fn notes(&self) -> &[RuleProblem] {
        &self.notes
    }

    /// How often Cedar was asked so far. Remembered verdicts ask nothing.
    pub fn evaluations(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// Rules over arguments exist for this tool.
    pub fn reads_arguments_of(&self, tool: &str) -> bool {
        self.arguments.contains_key(tool)
    }

    /// The same rules have the same digest, in whatever process.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// The rank of a plan. Unknown or absent: the lowest.
    pub fn plan_rank(&self, plan: Option<&str>) -> usize {
        plan.and_then(|plan| self.plans.iter().position(|known| known == plan)).unwrap_or(0)
    }

    pub fn plans(&self) -> &[String] {
        &self.plans
    }

    /// Whether some rule reads who the caller is, beyond what kind of caller it is.
    pub(crate) fn reads_identity(&self) -> bool {
        self.reads_identity
    }

    /// The header that carries a task's key.
    pub fn task_header(&self) -> &str {
        &self.task_header
    }

    /// The tool shares its decisions only with itself.
    pub(crate) fn singles_out(&self, tool: &str) -> bool {
        self.reads_tool_name || self.named_tools.contains(tool)
    }

    pub(crate) fn rule(&self, index: usize) -> Option<&Rule> {
        self.rules.get(index)
    }

    /// A rule's message with its places filled.
    pub(crate) fn words(&self, rule: &Rule, caller: &Caller, tool: &Tool, lang: Lang) -> (String, Option<String>) {
        let fill = |text: &str| self.fill(text, caller, tool, lang);
        (fill(rule.message.get(lang)), rule.remedy.as_ref().map(|remedy| fill(remedy.get(lang))))
    }

    fn fill(&self, text: &str, caller: &Caller, tool: &Tool, lang: Lang) -> String {
        let purpose = caller.agent.as_ref().and_then(|agent| agent.purpose).map_or("none", |purpose| purpose.as_str());
        let missing: Vec<&str> = tool.facts.oauth_scopes.difference(&caller.scopes).map(String::as_str).collect();
        let lowest = self.plans.first().map_or("", String::as_str);
        text.replace("{kind}", tool.kind.word(lang))
            .replace("{tool}", tool.wire_name.as_str())
            .replace("{purpose}", purpose)
            .replace("{runtime}", caller.runtime.as_str())
            .replace("{min_plan}", tool.facts.min_plan.as_deref().unwrap_or(lowest))
            .replace("{scopes}", &missing.join(" "))
            .replace("{unbound}", &tool.unbound(caller).collect::<Vec<_>>().join(", "))
            .replace("{sign_in}", self.sign_in.get(lang))
            .replace("{task_header}", &self.task_header)
            .trim_end()
            .to_owned()
    }
}
