//! From a wish to a change that is made, shown or taken back: the same rows each time.

use serde_json::{json, value::RawValue, value::to_raw_value};
use toolgate_spine::{OUTCOME_UNKNOWN, ToolAnswer};
use toolgate_store::{
    Paging, StoreError,
    tenants::{Edit, EditFault, Override, Row},
};

use super::{
    desk::{self, Desk},
    shown,
    standings::warnings,
    wishes, written,
};
use crate::failure::Failure;

/// How often a change is tried again when others come in between. Each time one of them got through.
const TRIES: usize = 200;

/// Why something can't be taken back.
pub(super) enum Stays {
    /// The world moved on.
    Conflict(String),
    /// Nobody knows whether it was.
    Failure(Failure),
}

impl From<Failure> for Stays {
    fn from(failure: Failure) -> Self {
        // one commit makes all of it: unless that may have been taken, nothing was done
        if failure.code == OUTCOME_UNKNOWN { Self::Failure(failure) } else { Self::Conflict(failure.error) }
    }
}

/// Rows to change, and why that could not be taken back, if so.
pub(super) struct Wanted {
    pub(super) edits: Vec<Edit>,
    pub(super) final_for: Option<&'static str>,
    /// What was asked for and left out, in words.
    pub(super) skipped: Vec<String>,
}

impl From<Vec<Edit>> for Wanted {
    fn from(edits: Vec<Edit>) -> Self {
        Self { edits, final_for: None, skipped: Vec::new() }
    }
}

pub(super) async fn change(desk: &Desk<'_>, tool: &str, arguments: &RawValue) -> Result<ToolAnswer, Failure> {
    for _ in 0..TRIES {
        let moment = desk.store.edits().moment().await.map_err(|fault| Failure::store(&fault))?;
        let Wanted { edits, final_for, skipped } = wanted(desk, tool, arguments).await?;
        if edits.is_empty() {
            let warnings = warnings(desk, &edits, skipped).await;
            return Ok(answer(&edits, &warnings, false)?.never_undone("Nothing was changed."));
        }
        if desk.store.edits().commit(moment, &edits).await.map_err(refused)? {
            let answer = answer(&edits, &warnings(desk, &edits, skipped).await, false)?;
            return match final_for {
                Some(why) => Ok(answer.never_undone(why)),
                None => Ok(answer.undone_by(record(&edits)?)),
            };
        }
    }
    Err(busy())
}

pub(super) async fn preview(desk: &Desk<'_>, tool: &str, arguments: &RawValue) -> Result<ToolAnswer, Failure> {
    let Wanted { edits, skipped, .. } = wanted(desk, tool, arguments).await?;
    desk.store.edits().check(&edits).await.map_err(refused)?;
    answer(&edits, &warnings(desk, &edits, skipped).await, true)
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
        for row in back.iter().filter(|edit| edit.after.is_none()).filter_map(|edit| edit.before.as_ref()) {
            if takes_more(desk, row, &back).await.map_err(|fault| Failure::store(&fault))? {
                return Err(Stays::Conflict(format!("{} has members or overrides since.", shown::named(row))));
            }
        }
        if edits.commit(moment, &back).await.map_err(refused)? {
            return Ok(answer(&back, &[], false)?.undone_by(record(&back)?));
        }
    }
    Err(busy().into())
}

/// Whether a row would take others with it that came since.
async fn takes_more(desk: &Desk<'_>, row: &Row, edits: &[Edit]) -> Result<bool, StoreError> {
    let tenants = desk.store.tenants();
    let goes = |tenant: &str, user: &str| {
        let is_it =
            |row: &Row| matches!(row, Row::Member { tenant: of, member } if of == tenant && member.user == user);
        edits.iter().filter_map(|edit| edit.before.as_ref()).any(is_it)
    };
    let switched_back = |switched: &Override| {
        edits.iter().any(|edit| edit.before.as_ref().is_some_and(|row| *row == Row::Override(switched.clone())))
    };
    Ok(match row {
        Row::User(user) => tenants.of_user(&user.id).await?.iter().any(|of| !goes(&of.tenant, &user.id)),
        Row::Tenant(tenant) => {
            // as many as the change itself knows of, and one more
            let paging =
                Paging { limit: u32::try_from(edits.len()).unwrap_or(u32::MAX).saturating_add(1), after: None };
            let members = tenants.members(&tenant.id, &paging).await?;
            members.items.iter().any(|member| !goes(&tenant.id, &member.user))
                || members.next.is_some()
                || !tenants.overrides(&tenant.id).await?.iter().all(switched_back)
        }
        _ => false,
    })
}

fn answer(edits: &[Edit], warnings: &[String], dry_run: bool) -> Result<ToolAnswer, Failure> {
    let changes: Vec<_> = edits.iter().filter_map(shown::change).collect();
    let mut answer = json!({ "changed": !dry_run && !edits.is_empty(), "dry_run": dry_run, "changes": changes });
    if let Some(answer) = answer.as_object_mut().filter(|_| !warnings.is_empty()) {
        answer.insert("warnings".to_owned(), warnings.into());
    }
    written(&answer)
}

/// Who came to be known by becoming a member stays known: others may know it by now.
fn record(edits: &[Edit]) -> Result<Box<RawValue>, Failure> {
    let by_the_way = |edit: &&Edit| match (&edit.before, &edit.after) {
        (None, Some(Row::User(user))) => desk::seats(edits, &user.id),
        _ => false,
    };
    let kept: Vec<&Edit> = edits.iter().filter(|edit| !by_the_way(edit)).collect();
    to_raw_value(&kept).map_err(|_| Failure::internal("What takes it back can't be written."))
}

fn busy() -> Failure {
    Failure::conflict("Others change the same all the time. Try again.")
}

fn refused(fault: EditFault) -> Failure {
    match fault {
        EditFault::LastOwner { tenant, user } => Failure::conflict(format!(
            "'{user}' is the last owner of tenant '{tenant}'. Make somebody else an owner first."
        )),
        EditFault::Store(fault @ StoreError::Duplicate { .. }) => Failure::conflict(fault.to_string()),
        EditFault::Store(fault) => Failure::store(&fault),
    }
}
