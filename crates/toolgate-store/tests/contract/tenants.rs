//! Tenants, members, switches, users and the catalogue, as they are read after they were changed.

use toolgate_core::caller::Role;
use toolgate_store::{
    Paging, Store,
    tenants::{CatalogChange, CatalogRow, Edit, EditFault, Member, Override, Row, Tenant, User},
};

use crate::bed::Bed;

pub(crate) fn tenant(id: &str, at: i64) -> Tenant {
    Tenant { id: id.into(), name: format!("{id} Inc."), plan: "starter".into(), created_at: at }
}

pub(crate) fn switched(tenant: &str, tool: &str, enabled: bool) -> Override {
    Override {
        tenant: tenant.into(),
        tool: tool.into(),
        enabled,
        changed_by: "user:ada".into(),
        reason: Some("why".into()),
        changed_at: 5,
    }
}

fn user(id: &str, at: i64) -> User {
    User { id: id.into(), name: None, email: None, created_at: at }
}

fn member(tenant: &str, user: &str, role: Role, since: i64) -> Row {
    Row::Member { tenant: tenant.into(), member: Member { user: user.into(), role, since } }
}

/// Somebody who is known from then on.
pub(crate) fn joins(tenant: &str, id: &str, role: Role, since: i64) -> [Row; 2] {
    [Row::User(user(id, since)), member(tenant, id, role, since)]
}

fn said(tool: &str, says: CatalogChange) -> CatalogRow {
    CatalogRow { tool: tool.into(), says, changed_by: "operator".into(), reason: None, changed_at: 7 }
}

/// Puts rows in, whatever was there, once nobody else comes in between.
pub(crate) async fn put(store: &Store, rows: impl IntoIterator<Item = Row>) -> Result<(), EditFault> {
    change(store, rows.into_iter().map(|row| (row, true)).collect()).await
}

async fn take(store: &Store, row: Row) -> Result<(), EditFault> {
    change(store, vec![(row, false)]).await
}

async fn change(store: &Store, rows: Vec<(Row, bool)>) -> Result<(), EditFault> {
    loop {
        let moment = store.edits().moment().await?;
        let mut edits = Vec::new();
        for (row, stays) in &rows {
            let before = store.edits().current(row).await?;
            edits.push(Edit { before, after: stays.then(|| row.clone()) });
        }
        if store.edits().commit(moment, &edits).await? {
            return Ok(());
        }
    }
}

async fn roles(store: &Store, tenant: &str) -> Vec<(String, Role)> {
    let page = store.tenants().members(tenant, &Paging::default()).await.unwrap();
    page.items.into_iter().map(|member| (member.user, member.role)).collect()
}

on_both! {
    async fn tenants_are_listed_changed_and_removed_with_what_is_theirs(bed: Bed) {
        let store = bed.open().await;
        let tenants = store.tenants();
        put(&store, [Row::Tenant(tenant("acme", 1)), Row::Tenant(tenant("beta", 2))]).await.unwrap();
        let unfit = put(&store, [Row::Tenant(tenant("no spaces", 3))]).await.unwrap_err();
        assert!(unfit.to_string().contains("letters, digits"), "{unfit}");

        let changed = Tenant { plan: "enterprise".into(), ..tenant("acme", 1) };
        put(&store, [Row::Tenant(changed.clone())]).await.unwrap();
        assert_eq!(tenants.list(&Paging::default()).await.unwrap().items, [tenant("beta", 2), changed.clone()]);

        put(&store, joins("acme", "ada", Role::Owner, 1)).await.unwrap();
        put(&store, [Row::Override(switched("acme", "echo", false))]).await.unwrap();
        take(&store, Row::Tenant(changed)).await.unwrap();
        assert_eq!(tenants.get("acme").await.unwrap(), None);
        assert_eq!(tenants.overrides("acme").await.unwrap(), []);
        assert_eq!(tenants.of_user("ada").await.unwrap(), []);
        assert!(store.users().get("ada").await.unwrap().is_some(), "a person outlives a tenant");
    }

    async fn members_have_one_role_and_the_last_owner_stays(bed: Bed) {
        let store = bed.open().await;
        put(&store, [Row::Tenant(tenant("acme", 1))]).await.unwrap();
        assert!(put(&store, joins("nowhere", "ada", Role::Owner, 1)).await.is_err());
        put(&store, joins("acme", "ada", Role::Owner, 1)).await.unwrap();
        put(&store, joins("acme", "corp/bob", Role::Member, 2)).await.unwrap();
        let last = EditFault::LastOwner { tenant: "acme".into(), user: "ada".into() };
        assert_eq!(put(&store, [member("acme", "ada", Role::Admin, 1)]).await.unwrap_err(), last);
        assert_eq!(take(&store, member("acme", "ada", Role::Owner, 1)).await.unwrap_err(), last);
        assert_eq!(roles(&store, "acme").await, [("corp/bob".into(), Role::Member), ("ada".into(), Role::Owner)]);

        put(&store, [member("acme", "corp/bob", Role::Owner, 2)]).await.unwrap();
        put(&store, [member("acme", "ada", Role::Billing, 1)]).await.unwrap();
        assert_eq!(roles(&store, "acme").await, [("corp/bob".into(), Role::Owner), ("ada".into(), Role::Billing)]);
        take(&store, member("acme", "ada", Role::Billing, 1)).await.unwrap();
        assert_eq!(store.tenants().member("acme", "ada").await.unwrap(), None);
    }

    async fn two_owners_who_leave_at_once_leave_one(bed: Bed) {
        let store = bed.open().await;
        for round in 0..20 {
            let id = format!("t{round}");
            put(&store, [Row::Tenant(tenant(&id, 1))]).await.unwrap();
            put(&store, joins(&id, "ada", Role::Owner, 1)).await.unwrap();
            put(&store, joins(&id, "bob", Role::Owner, 1)).await.unwrap();
            let leave = |user: &'static str| {
                let (store, id) = (store.clone(), id.clone());
                tokio::spawn(async move { take(&store, member(&id, user, Role::Owner, 1)).await })
            };
            let (ada, bob) = (leave("ada"), leave("bob"));
            let left = [ada.await.unwrap().is_ok(), bob.await.unwrap().is_ok()];
            assert_eq!(left.iter().filter(|left| **left).count(), 1, "{left:?}");
        }
    }

    async fn a_users_first_tenant_is_the_one_it_was_in_longest(bed: Bed) {
        let store = bed.open().await;
        let tenants = store.tenants();
        for (id, since) in [("late", 3), ("early", 1), ("between", 2)] {
            put(&store, [Row::Tenant(tenant(id, 1))]).await.unwrap();
            put(&store, joins(id, "ada", Role::Owner, since)).await.unwrap();
        }
        assert_eq!(tenants.first_of_user("ada").await.unwrap().unwrap().tenant, "early");
        let all: Vec<_> = tenants.of_user("ada").await.unwrap().into_iter().map(|of| of.tenant).collect();
        assert_eq!(all, ["early", "between", "late"]);
        assert_eq!(tenants.first_of_user("nobody").await.unwrap(), None);
    }

    async fn overrides_are_one_for_each_tenant_and_tool(bed: Bed) {
        let store = bed.open().await;
        let tenants = store.tenants();
        put(&store, [Row::Tenant(tenant("acme", 1)), Row::Tenant(tenant("beta", 2))]).await.unwrap();
        for (of, tool, on) in [("acme", "echo", false), ("acme", "echo", true), ("beta", "echo", false), ("acme", "add", false)] {
            put(&store, [Row::Override(switched(of, tool, on))]).await.unwrap();
        }
        assert_eq!(tenants.get_override("acme", "echo").await.unwrap(), Some(switched("acme", "echo", true)));
        let facts = tenants.facts("acme").await.unwrap().unwrap();
        assert_eq!(facts.plan, "starter");
        assert_eq!(facts.overrides.iter().collect::<Vec<_>>(), [(&"add".to_owned(), &false), (&"echo".to_owned(), &true)]);
        assert_eq!(tenants.facts("nobody").await.unwrap(), None);

        let all = tenants.overrides_after(("", ""), 2).await.unwrap();
        assert_eq!(all.iter().map(|one| (&*one.tenant, &*one.tool)).collect::<Vec<_>>(), [("acme", "add"), ("acme", "echo")]);
        assert_eq!(tenants.overrides_after(("acme", "echo"), 2).await.unwrap(), [switched("beta", "echo", false)]);
        take(&store, Row::Override(switched("acme", "add", false))).await.unwrap();
        assert_eq!(tenants.get_override("acme", "add").await.unwrap(), None);
    }

    async fn users_are_known_by_their_membership_or_before(bed: Bed) {
        let store = bed.open().await;
        put(&store, [Row::User(user("ada", 1))]).await.unwrap();
        let named = User { email: Some("ada@acme.example".into()), ..user("ada", 1) };
        put(&store, [Row::User(named.clone())]).await.unwrap();
        assert_eq!(store.users().get("ada").await.unwrap(), Some(named));
        put(&store, [Row::Tenant(tenant("acme", 1))]).await.unwrap();
        put(&store, joins("acme", "bob", Role::Member, 2)).await.unwrap();
        let listed = store.users().list(&Paging::default()).await.unwrap().items;
        assert_eq!(listed.into_iter().map(|user| user.id).collect::<Vec<_>>(), ["bob", "ada"]);
        take(&store, Row::User(user("bob", 2))).await.unwrap();
        assert_eq!(store.tenants().member("acme", "bob").await.unwrap(), None);
    }

    async fn the_catalogue_holds_what_is_said_and_nothing_else(bed: Bed) {
        let store = bed.open().await;
        let off = CatalogChange { disabled: true, ..CatalogChange::default() };
        let paid = CatalogChange {
            display_name: Some("Trends".into()),
            group: Some("analysis".into()),
            enabled_by_default: Some(false),
            min_plan: Some("professional".into()),
            disabled: false,
        };
        let (echo, trends) = (said("echo", off), said("trends", paid));
        put(&store, [Row::Catalog(trends.clone()), Row::Catalog(echo.clone())]).await.unwrap();
        assert_eq!(store.catalog().list().await.unwrap(), [echo, trends.clone()]);
        assert_eq!(store.catalog().get("trends").await.unwrap(), Some(trends.clone()));
        take(&store, Row::Catalog(trends)).await.unwrap();
        assert_eq!(store.catalog().get("trends").await.unwrap(), None);
    }
}
