//! Changes of many rows together: all or nothing, only of what nobody changed meanwhile, and back again.

use toolgate_core::caller::Role;
use toolgate_store::{
    Store,
    tenants::{CatalogChange, CatalogRow, Edit, EditFault, Member, Row, User},
};

use crate::{
    bed::Bed,
    tenants::{joins, put, switched, tenant},
};

fn made(row: Row) -> Edit {
    Edit { before: None, after: Some(row) }
}

fn member(user: &str, role: Role) -> Row {
    Row::Member { tenant: "acme".into(), member: Member { user: user.into(), role, since: 3 } }
}

/// A tenant with an owner and a switch, and a word on a tool.
fn whole() -> Vec<Edit> {
    let says = CatalogChange { disabled: true, ..CatalogChange::default() };
    let said = CatalogRow { tool: "echo".into(), says, changed_by: "operator".into(), reason: None, changed_at: 4 };
    let ada = User { id: "ada".into(), name: None, email: Some("ada@acme.example".into()), created_at: 1 };
    // whatever the order: what refers to another comes after it
    [
        Row::Override(switched("acme", "echo", false)),
        member("ada", Role::Owner),
        Row::Tenant(tenant("acme", 2)),
        Row::User(ada),
        Row::Catalog(said),
    ]
    .map(made)
    .into()
}

async fn there(store: &Store, edits: &[Edit]) -> Vec<bool> {
    let mut found = Vec::new();
    for edit in edits {
        let row = edit.after.as_ref().or(edit.before.as_ref()).unwrap();
        let current = store.edits().current(row).await.unwrap();
        assert!(current.is_none() || current.as_ref() == Some(row), "{current:?}");
        found.push(current.is_some());
    }
    found
}

on_both! {
    async fn rows_of_every_kind_come_and_go_together(bed: Bed) {
        let store = bed.open().await;
        let (edits, whole) = (store.edits(), whole());
        assert!(edits.commit(edits.moment().await.unwrap(), &whole).await.unwrap());
        assert_eq!(there(&store, &whole).await, [true; 5]);
        let back: Vec<Edit> = whole.iter().cloned().map(Edit::reversed).collect();
        assert!(edits.commit(edits.moment().await.unwrap(), &back).await.unwrap());
        assert_eq!(there(&store, &whole).await, [false; 5]);
    }

    async fn what_somebody_changed_meanwhile_is_left_alone(bed: Bed) {
        let store = bed.open().await;
        let (edits, whole) = (store.edits(), whole());
        let moment = edits.moment().await.unwrap();
        put(&store, [Row::Tenant(tenant("beta", 1))]).await.unwrap();
        assert!(!edits.commit(moment, &whole).await.unwrap());
        assert_eq!(there(&store, &whole).await, [false; 5]);
    }

    async fn one_that_can_not_be_leaves_all_undone(bed: Bed) {
        let store = bed.open().await;
        let (edits, mut whole) = (store.edits(), whole());
        whole.push(made(Row::Override(switched("nowhere", "echo", true))));
        assert!(edits.commit(edits.moment().await.unwrap(), &whole).await.is_err());
        whole.pop();
        assert_eq!(there(&store, &whole).await, [false; 5]);
    }

    async fn a_tenant_that_has_an_owner_keeps_one(bed: Bed) {
        let store = bed.open().await;
        let (edits, tenants) = (store.edits(), store.tenants());
        edits.commit(edits.moment().await.unwrap(), &whole()).await.unwrap();
        put(&store, joins("acme", "bob", Role::Member, 4)).await.unwrap();
        let demoted = Edit { before: Some(member("ada", Role::Owner)), after: Some(member("ada", Role::Admin)) };
        let last = EditFault::LastOwner { tenant: "acme".into(), user: "ada".into() };
        let refused = edits.commit(edits.moment().await.unwrap(), std::slice::from_ref(&demoted)).await;
        assert_eq!(refused.unwrap_err(), last);
        let before = Row::Member { tenant: "acme".into(), member: tenants.member("acme", "bob").await.unwrap().unwrap() };
        let promoted = Edit { before: Some(before), after: Some(member("bob", Role::Owner)) };
        assert!(edits.commit(edits.moment().await.unwrap(), &[demoted, promoted]).await.unwrap(), "in one step");
        assert_eq!(tenants.member("acme", "ada").await.unwrap().unwrap().role, Role::Admin);
    }

    async fn of_many_who_change_one_thing_at_once_each_sees_what_was_before(bed: Bed) {
        let store = bed.open().await;
        put(&store, [Row::Tenant(tenant("acme", 1))]).await.unwrap();
        let changing = (0..12).map(|number| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut after = switched("acme", "echo", true);
                after.changed_at = number;
                loop {
                    let moment = store.edits().moment().await.unwrap();
                    let before = store.edits().current(&Row::Override(after.clone())).await.unwrap();
                    let edit = Edit { before: before.clone(), after: Some(Row::Override(after.clone())) };
                    if store.edits().commit(moment, &[edit]).await.unwrap() {
                        return before;
                    }
                }
            })
        });
        let mut seen = Vec::new();
        for changed in changing.collect::<Vec<_>>() {
            seen.push(match changed.await.unwrap() {
                Some(Row::Override(before)) => before.changed_at,
                _ => -1,
            });
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 12, "no change is lost between two others");
    }
}
