//! `tenant`, `user`, `override` and `catalog`: calls of the pack `admin` in the operator's name.

mod files;
mod render;

use std::sync::Arc;

use serde_json::{Map, Value, json, value::to_raw_value};
use toolgate_core::{Caller, Kind};
use toolgate_packs::admin::NAME;
use toolgate_spine::{Call, Outcome, Spine};
use toolgate_store::Store;

use super::{books, print, say};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{
        CatalogCommand, Changing, FileFormat, Looking, MemberCommand, Most, Output, OverrideCommand, Place, Position,
        TenantCommand, UserCommand,
    },
    ground::Ground,
    operator,
    upstreams::Upstreams,
};
use files::List;

pub async fn tenant(command: TenantCommand) -> CommandResult {
    match command {
        TenantCommand::Add { id, name, plan, owner, changing } => {
            let arguments = given([("id", Some(id)), ("name", name), ("plan", plan), ("owner", owner)]);
            change(changing, "admin_create_tenant", arguments).await
        }
        TenantCommand::List { most, looking } => {
            listed(looking, "admin_list_tenants", json!({}), ("tenants", most)).await
        }
        TenantCommand::Show { id, looking } => {
            let (arguments, look) = (json!({ "tenant": id }), At::look(&looking.place).await?);
            let shown = look.tenant(arguments).await;
            look.end(looking.output, shown, render::fields).await
        }
        TenantCommand::Change { id, name, plan, changing } => {
            let arguments = given([("tenant", Some(id)), ("name", name), ("plan", plan)]);
            change(changing, "admin_change_tenant", arguments).await
        }
        TenantCommand::Remove { id, changing } => {
            change(changing, "admin_remove_tenant", json!({ "tenant": id })).await
        }
        TenantCommand::Member(MemberCommand::Set { tenant, user, role, changing }) => {
            change(changing, "admin_set_member", json!({ "tenant": tenant, "user": user, "role": role })).await
        }
        TenantCommand::Member(MemberCommand::Remove { tenant, user, changing }) => {
            change(changing, "admin_remove_member", json!({ "tenant": tenant, "user": user })).await
        }
        TenantCommand::Member(MemberCommand::List { tenant, most, looking }) => {
            listed(looking, "admin_list_members", json!({ "tenant": tenant }), ("members", most)).await
        }
    }
}

pub async fn user(command: UserCommand) -> CommandResult {
    match command {
        UserCommand::Add { user, name, email, changing } => {
            let arguments = given([("user", Some(user)), ("name", name), ("email", email)]);
            change(changing, "admin_add_user", arguments).await
        }
        UserCommand::List { most, looking } => listed(looking, "admin_list_users", json!({}), ("users", most)).await,
        UserCommand::Show { user, looking } => {
            look(looking, "admin_get_user", json!({ "user": user }), render::fields).await
        }
        UserCommand::Change { user, name, email, changing } => {
            let mut arguments = given([("user", Some(user)), ("name", name), ("email", email)]);
            take_away(&mut arguments);
            change(changing, "admin_change_user", arguments).await
        }
        UserCommand::Remove { user, changing } => change(changing, "admin_remove_user", json!({ "user": user })).await,
    }
}

pub async fn switch(command: OverrideCommand) -> CommandResult {
    match command {
        OverrideCommand::Set { tenant, tool, position, reason, changing } => {
            let mut arguments = given([("tenant", Some(tenant)), ("tool_name", Some(tool)), ("reason", reason)]);
            put(&mut arguments, "is_enabled", (position == Position::On).into());
            change(changing, "admin_set_override", arguments).await
        }
        OverrideCommand::Remove { tenant, tool, changing } => {
            change(changing, "admin_remove_override", json!({ "tenant": tenant, "tool_name": tool })).await
        }
        OverrideCommand::List { tenant, looking } => {
            let table = |value: &Value| render::rows(value, "overrides");
            look(looking, "admin_list_overrides", json!({ "tenant": tenant }), table).await
        }
        OverrideCommand::Import { file, changing } => {
            change(changing, "admin_import", files::read(&file, List::Overrides)?).await
        }
        OverrideCommand::Export { format, looking } => export(looking, List::Overrides, format).await,
    }
}

pub async fn catalog(command: CatalogCommand) -> CommandResult {
    match command {
        CatalogCommand::List { looking } => {
            look(looking, "admin_list_catalog", json!({}), |value| render::rows(value, "tools")).await
        }
        CatalogCommand::Show { tool, looking } => {
            look(looking, "admin_get_catalog_tool", json!({ "tool_name": tool }), render::fields).await
        }
        CatalogCommand::Set { tool, display_name, group, enabled_by_default, min_plan, reason, changing } => {
            let texts = [("display_name", display_name), ("group", group), ("min_plan", min_plan), ("reason", reason)];
            let mut arguments = given(texts);
            take_away(&mut arguments);
            put(&mut arguments, "tool_name", tool.into());
            if let Some(enabled) = enabled_by_default {
                put(&mut arguments, "enabled_by_default", enabled.into());
            }
            change(changing, "admin_set_catalog_tool", arguments).await
        }
        CatalogCommand::Reset { tool, changing } => {
            change(changing, "admin_reset_catalog_tool", json!({ "tool_name": tool })).await
        }
        CatalogCommand::Disable { tool, reason, changing } => {
            let arguments = given([("tool_name", Some(tool)), ("reason", reason)]);
            change(changing, "admin_disable_tool", arguments).await
        }
        CatalogCommand::Enable { tool, changing } => {
            change(changing, "admin_enable_tool", json!({ "tool_name": tool })).await
        }
        CatalogCommand::Import { file, changing } => {
            change(changing, "admin_import", files::read(&file, List::Catalog)?).await
        }
        CatalogCommand::Export { format, looking } => export(looking, List::Catalog, format).await,
    }
}

/// The arguments that were given.
fn given<const N: usize>(arguments: [(&str, Option<String>); N]) -> Value {
    let given = arguments.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into())));
    Value::Object(given.collect())
}

fn put(arguments: &mut Value, name: &str, value: Value) {
    if let Some(arguments) = arguments.as_object_mut() {
        arguments.insert(name.to_owned(), value);
    }
}

/// An empty text takes a value away.
fn take_away(arguments: &mut Value) {
    for value in arguments.as_object_mut().into_iter().flat_map(Map::values_mut) {
        if value == "" {
            *value = Value::Null;
        }
    }
}

async fn change(changing: Changing, tool: &str, mut arguments: Value) -> CommandResult {
    if changing.dry_run {
        put(&mut arguments, "dryRun", true.into());
    }
    let at = At::change(&changing.place, changing.by).await?;
    let done = at.call(tool, arguments).await;
    at.end(changing.output, done, render::changes).await
}

async fn look(looking: Looking, tool: &str, arguments: Value, text: impl Fn(&Value) -> String) -> CommandResult {
    let at = At::look(&looking.place).await?;
    let found = at.call(tool, arguments).await;
    at.end(looking.output, found, text).await
}

async fn listed(looking: Looking, tool: &str, arguments: Value, (name, most): (&str, Most)) -> CommandResult {
    let at = At::look(&looking.place).await?;
    let found = at.gathered(tool, arguments, name, most.limit).await;
    let cut = found.as_ref().is_ok_and(|(_, cut)| *cut);
    let rows = found.map(|(rows, _)| Value::Array(rows));
    let ended = at.end(looking.output, rows, render::table).await;
    books::note_cut(cut, most.limit);
    ended
}

async fn export(looking: Looking, list: List, format: FileFormat) -> CommandResult {
    let at = At::look(&looking.place).await?;
    let found = at.call("admin_export", json!({})).await;
    at.closed().await;
    match found {
        Ok(value) if looking.output.json => print(looking.output, &list.of(&value), "")?,
        Ok(value) => say(&files::written(&value, list, format)?)?,
        Err(no) => return no.ended(looking.output),
    }
    Ok(Ending::Good)
}

/// Calls about a tool that must be here. The others also take back what was said of a tool that is gone.
const NEED_A_TOOL: [&str; 4] =
    ["admin_set_override", "admin_get_catalog_tool", "admin_set_catalog_tool", "admin_disable_tool"];

/// Where calls are made, and in whose name.
struct At {
    store: Store,
    spine: Arc<Spine>,
    caller: Arc<Caller>,
    prefix: String,
}

/// Why a call did not do what it was asked to.
enum No {
    /// The arguments are wrong.
    Wrong(Value),
    /// The answer is no.
    Refused(Value),
}

impl At {
    /// Makes a store where there is none yet.
    async fn change(place: &Place, by: Option<String>) -> Result<Self, Misuse> {
        let ground = operator::ground(place)?;
        let store = ground.store().await?;
        Self::of(&ground, store, by).await
    }

    async fn look(place: &Place) -> Result<Self, Misuse> {
        Self::of(&operator::ground(place)?, books::store(place).await?, None).await
    }

    async fn of(ground: &Ground, store: Store, by: Option<String>) -> Result<Self, Misuse> {
        let caller = operator::caller(by)?;
        let spine = operator::spine(ground, &store, &Upstreams::default()).await?;
        let prefix = ground.config.packs.get(NAME).map(|pack| pack.prefix.clone()).unwrap_or_default();
        Ok(Self { store, spine, caller, prefix })
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<Value, No> {
        let refused = |message: String, code: &str| No::Refused(json!({ "error": message, "code": code }));
        if let Some(named) = arguments.get("tool_name").and_then(Value::as_str).filter(|_| NEED_A_TOOL.contains(&tool))
        {
            let gate = self.spine.gate();
            if gate.catalog().find(named).is_none() {
                return Err(No::Wrong(json!({ "error": gate.catalog().not_registered(named), "code": "validation" })));
            }
        }
        let arguments = to_raw_value(&arguments).map_err(|fault| refused(fault.to_string(), "internal"))?;
        let name = format!("{}{tool}", self.prefix);
        let call = Call::of(Kind::Tool, &name, Some(&arguments), self.spine.gate().lang());
        let result = match self.spine.call(&self.caller, call).await {
            Outcome::Answered(result) => result,
            Outcome::Refused { code: "invalid_arguments", answer, .. } => answer.into_bytes(),
            Outcome::Denied { denial, .. } => return Err(refused(denial.message, &denial.code)),
            Outcome::NeedsApproval { denial, approval, .. } => {
                let then = approval.map(|asked| format!(" Grant it: toolgate approvals approve {}", asked.id));
                return Err(refused(format!("{}{}", denial.message, then.unwrap_or_default()), &denial.code));
            }
            Outcome::Refused { code, message, .. } => return Err(refused(message, code)),
            Outcome::Unrecorded { message } | Outcome::Unavailable { message, .. } => {
                return Err(refused(message, "unavailable"));
            }
            _ => return Err(refused(format!("tool '{name}' can't be called here"), "unavailable")),
        };
        let mut result: Value = serde_json::from_slice(&result).unwrap_or_default();
        let mut content = result.get_mut("structuredContent").map(Value::take).unwrap_or_default();
        if result.get("isError").and_then(Value::as_bool) == Some(true) {
            let is_wrong = content.get("code").and_then(Value::as_str) == Some("validation");
            return Err(if is_wrong { No::Wrong(content) } else { No::Refused(content) });
        }
        if let Some(receipt) = result.pointer("/_meta/toolgate~1receipt") {
            put(&mut content, "receipt", receipt.clone());
        }
        Ok(content)
    }

    /// Up to so many of a list that comes in pages, and whether there are more.
    async fn gathered(&self, tool: &str, asked: Value, name: &str, limit: u32) -> Result<(Vec<Value>, bool), No> {
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut found = Vec::new();
        let mut after = Value::Null;
        loop {
            let mut arguments = asked.clone();
            put(&mut arguments, "limit", most.saturating_sub(found.len()).min(500).into());
            if !after.is_null() {
                put(&mut arguments, "after", after);
            }
            let mut page = self.call(tool, arguments).await?;
            if let Some(Value::Array(rows)) = page.get_mut(name).map(Value::take) {
                found.extend(rows);
            }
            after = page.get_mut("next").map(Value::take).unwrap_or_default();
            if after.is_null() || found.len() >= most {
                return Ok((found, !after.is_null()));
            }
        }
    }

    /// The tenant with what it has.
    async fn tenant(&self, arguments: Value) -> Result<Value, No> {
        let mut shown = self.call("admin_get_tenant", arguments.clone()).await?;
        let mut shown = shown.get_mut("tenant").map(Value::take).unwrap_or_default();
        let mut summary = self.call("admin_get_summary", arguments).await?;
        if let Some(summary) = summary.as_object_mut() {
            summary.shift_remove("tenant");
        }
        put(&mut shown, "tools", summary);
        Ok(shown)
    }

    async fn end(self, output: Output, answer: Result<Value, No>, text: impl Fn(&Value) -> String) -> CommandResult {
        self.closed().await;
        match answer {
            Ok(value) => {
                print(output, &value, &text(&value))?;
                Ok(Ending::Good)
            }
            Err(no) => no.ended(output),
        }
    }

    async fn closed(&self) {
        self.spine.drain().await;
        self.store.close().await;
    }
}

impl No {
    fn ended(self, output: Output) -> CommandResult {
        let (Self::Wrong(value) | Self::Refused(value)) = &self;
        let why = value.get("error").and_then(Value::as_str).unwrap_or("it failed").to_owned();
        if let Self::Wrong(_) = self {
            return Err(why.into());
        }
        print(output, value, "")?;
        eprintln!("toolgate: {}", books::line(why));
        Ok(Ending::No)
    }
}
