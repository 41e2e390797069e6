//! From a wish to a change that is made, shown or taken back: the same rows each time.

use serde_json::{json, value::RawValue, value::to_raw_value};
use toolgate_spine::ToolAnswer;
use toolgate_store::{
    StoreError,
    tenants::{Edit, MemberFault},
};

use super::{desk::Desk, shown, wishes, written};
use crate::failure::Failure;

/// How often a change is tried again when others come in between. Each time one of them got through.
const TRIES: usize = 200;

/// Why something can't be taken back.
pub(super) enum Stays {
    /// The world moved on.
    Conflict(String),
    /// It could not even be tried.
    Failure(Failure),
}

impl From<Failure> for Stays {
    fn from(failure: Failure) -> Self {
        if failure.code == "internal" { Self::Failure(failure) } else { Self::Conflict(failure.error) }
    }
}

/// Rows to change, and why that could not be taken back, if so.
pub(super) struct Wanted {
    pub(super) edits: Vec<Edit>,
    pub(super) final_for: Option<&'static str>,
}

impl From<Vec<Edit>> for Wanted {
    fn from(edits: Vec<Edit>) -> Self {
        Self { edits, final_for: None }
    }
}

pub(super) async fn change(desk: &Desk<'_>, tool: &str, arguments: &RawValue) -> Result<ToolAnswer, Failure> {
    for _ in 0..TRIES {
        let moment = desk.store.edits().moment().await.map_err(|fault| Failure::store(&fault))?;
        let Wanted { edits, final_for } = wanted(desk, tool, arguments).await?;
        if edits.is_empty() {
            return Ok(answer(&edits, false)?.never_undone("Nothing was changed."));
        }
        if desk.store.edits().commit(moment, &edits).await.map_err(refused)? {
            let answer = answer(&edits, false)?;
            return match final_for {
                Some(why) => Ok(answer.never_undone(why)),
                None => Ok(answer.undone_by(record(&edits)?)),
            };
        }
    }
    Err(busy())
}

pub(super) async fn preview(desk: &Desk<'_>, tool: &str, arguments: &RawValue) -> Result<ToolAnswer, Failure> {
    answer(&wanted(desk, tool, arguments).await?.edits, true)
}

async fn wanted(desk: &Desk<'_>, tool: &str, arguments: &RawValue) -> Result<Wanted, Failure> {
    let mut wanted = wishes::wanted(desk, tool, arguments).await?;
    wanted.edits.retain(|edit| edit.before != edit.after);
    desk.may(&wanted.edits)?;
    Ok(wanted)
}

/// Everything as it was before, if it still is as the change left it.
pub(super) async fn take_back(desk: &Desk<'_>, done: Vec<Edit>) -> Result<ToolAnswer, Stays> {
    let back: Vec<Edit> = done.into_iter().rev().map(Edit::reversed).collect();
    desk.may(&back)?;
    let edits = desk.store.edits();
    for _ in 0..TRIES {
        let moment = edits.moment().await.map_err(|fault| Failure::store(&fault))?;
        for edit in &back {
            let Some(row) = edit.before.as_ref().or(edit.after.as_ref()) else { continue };
            if edits.current(row).await.map_err(|fault| Failure::store(&fault))? != edit.before {
                return Err(Stays::Conflict(format!("{} was changed since.", shown::named(row))));
            }
        }
        if edits.commit(moment, &back).await.map_err(refused)? {
            return Ok(answer(&back, false)?.undone_by(record(&back)?));
        }
    }
    Err(busy().into())
}

fn answer(edits: &[Edit], dry_run: bool) -> Result<ToolAnswer, Failure> {
    let changes: Vec<_> = edits.iter().filter_map(shown::change).collect();
    written(&json!({ "changed": !dry_run && !edits.is_empty(), "dry_run": dry_run, "changes": changes }))
}

fn record(edits: &[Edit]) -> Result<Box<RawValue>, Failure> {
    to_raw_value(edits).map_err(|_| Failure::internal("What takes it back can't be written."))
}

fn busy() -> Failure {
    Failure::conflict("Others change the same all the time. Try again.")
}

fn refused(fault: MemberFault) -> Failure {
    match fault {
        MemberFault::UnknownTenant { tenant } => super::desk::no_tenant(&tenant),
        MemberFault::LastOwner { tenant, user } => Failure::conflict(format!(
            "'{user}' is the last owner of tenant '{tenant}'. Make somebody else an owner first."
        )),
        MemberFault::Store(fault @ StoreError::Duplicate { .. }) => Failure::conflict(fault.to_string()),
        MemberFault::Store(fault) => Failure::store(&fault),
    }
}
