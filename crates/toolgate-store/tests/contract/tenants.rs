//! Tenants, members, switches, users and the catalogue.

use toolgate_core::caller::Role;
use toolgate_store::{
    Paging, Store, StoreError,
    tenants::{CatalogChange, CatalogRow, MemberFault, Override, Switch, Tenant, TenantChange, User, UserChange},
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

fn row(tool: &str, says: CatalogChange) -> CatalogRow {
    CatalogRow { tool: tool.into(), says, changed_by: "operator".into(), reason: None, changed_at: 7 }
}

async fn roles(store: &Store, tenant: &str) -> Vec<(String, Role)> {
    let page = store.tenants().members(tenant, &Paging::default()).await.unwrap();
    page.items.into_iter().map(|member| (member.user, member.role)).collect()
}

on_both! {
    async fn tenants_are_added_once_changed_and_removed_with_what_is_theirs(bed: Bed) {
        let store = bed.open().await;
        let tenants = store.tenants();
        assert_eq!(tenants.add(tenant("acme", 1)).await.unwrap(), tenant("acme", 1));
        tenants.add(tenant("beta", 2)).await.unwrap();
        assert!(matches!(tenants.add(tenant("acme", 3)).await, Err(StoreError::Duplicate { .. })));
        assert!(matches!(tenants.add(tenant("no spaces", 3)).await, Err(StoreError::Invalid { .. })));

        let change = TenantChange { plan: Some("enterprise".into()), ..TenantChange::default() };
        let changed = tenants.change("acme", change.clone()).await.unwrap().unwrap();
        assert_eq!(changed, Tenant { plan: "enterprise".into(), ..tenant("acme", 1) });
        assert_eq!(tenants.change("nobody", change).await.unwrap(), None);
        let listed = tenants.list(&Paging::default()).await.unwrap().items;
        assert_eq!(listed, [tenant("beta", 2), changed.clone()]);

        tenants.set_member("acme", "ada", Role::Owner, 1).await.unwrap();
        tenants.set_override(switched("acme", "echo", false)).await.unwrap();
        assert_eq!(tenants.remove("acme").await.unwrap(), Some(changed));
        assert_eq!(tenants.remove("acme").await.unwrap(), None);
        assert_eq!(tenants.overrides("acme").await.unwrap(), []);
        assert_eq!(tenants.of_user("ada").await.unwrap(), []);
        assert!(store.users().get("ada").await.unwrap().is_some(), "a person outlives a tenant");
    }

    async fn members_have_one_role_and_the_last_owner_stays(bed: Bed) {
        let store = bed.open().await;
        let tenants = store.tenants();
        tenants.add(tenant("acme", 1)).await.unwrap();
        let unknown = tenants.set_member("nowhere", "ada", Role::Owner, 1).await.unwrap_err();
        assert_eq!(unknown, MemberFault::UnknownTenant { tenant: "nowhere".into() });

        tenants.set_member("acme", "ada", Role::Owner, 1).await.unwrap();
        tenants.set_member("acme", "corp/bob", Role::Member, 2).await.unwrap();
        let last = MemberFault::LastOwner { tenant: "acme".into(), user: "ada".into() };
        assert_eq!(tenants.set_member("acme", "ada", Role::Admin, 3).await.unwrap_err(), last);
        assert_eq!(tenants.remove_member("acme", "ada").await.unwrap_err(), last);
        assert_eq!(roles(&store, "acme").await, [("corp/bob".into(), Role::Member), ("ada".into(), Role::Owner)]);

        tenants.set_member("acme", "corp/bob", Role::Owner, 4).await.unwrap();
        assert_eq!(tenants.set_member("acme", "ada", Role::Billing, 5).await.unwrap().role, Role::Billing);
        assert_eq!(tenants.remove_member("acme", "ada").await.unwrap().unwrap().role, Role::Billing);
        assert_eq!(tenants.remove_member("acme", "ada").await.unwrap(), None);
        assert_eq!(tenants.member("acme", "corp/bob").await.unwrap().unwrap().since, 2, "since it came, not since its role");
    }

    async fn two_owners_who_leave_at_once_leave_one(bed: Bed) {
        let store = bed.open().await;
        for round in 0..20 {
            let (id, tenants) = (format!("t{round}"), store.tenants());
            tenants.add(tenant(&id, 1)).await.unwrap();
            tenants.set_member(&id, "ada", Role::Owner, 1).await.unwrap();
            tenants.set_member(&id, "bob", Role::Owner, 1).await.unwrap();
            let leave = |user: &'static str| {
                let (store, id) = (store.clone(), id.clone());
                tokio::spawn(async move { store.tenants().remove_member(&id, user).await })
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
            tenants.add(tenant(id, 1)).await.unwrap();
            tenants.set_member(id, "ada", Role::Owner, since).await.unwrap();
        }
        assert_eq!(tenants.first_of_user("ada").await.unwrap().unwrap().tenant, "early");
        let all: Vec<_> = tenants.of_user("ada").await.unwrap().into_iter().map(|of| of.tenant).collect();
        assert_eq!(all, ["early", "between", "late"]);
        assert_eq!(tenants.first_of_user("nobody").await.unwrap(), None);
    }

    async fn overrides_are_one_for_each_tenant_and_tool(bed: Bed) {
        let store = bed.open().await;
        let tenants = store.tenants();
        tenants.add(tenant("acme", 1)).await.unwrap();
        tenants.add(tenant("beta", 2)).await.unwrap();
        tenants.set_override(switched("acme", "echo", false)).await.unwrap();
        let on = tenants.set_override(switched("acme", "echo", true)).await.unwrap();
        assert_eq!(on, switched("acme", "echo", true));
        tenants.set_override(switched("beta", "echo", false)).await.unwrap();
        tenants.set_override(switched("acme", "add", false)).await.unwrap();
        let facts = tenants.facts("acme").await.unwrap().unwrap();
        assert_eq!(facts.plan, "starter");
        assert_eq!(facts.overrides.iter().collect::<Vec<_>>(), [(&"add".to_owned(), &false), (&"echo".to_owned(), &true)]);
        assert_eq!(tenants.facts("nobody").await.unwrap(), None);

        let all = tenants.overrides_after(("", ""), 2).await.unwrap();
        assert_eq!(all.iter().map(|one| (&*one.tenant, &*one.tool)).collect::<Vec<_>>(), [("acme", "add"), ("acme", "echo")]);
        assert_eq!(tenants.overrides_after(("acme", "echo"), 2).await.unwrap(), [switched("beta", "echo", false)]);

        assert_eq!(tenants.remove_override("acme", "add").await.unwrap(), Some(switched("acme", "add", false)));
        assert_eq!(tenants.remove_override("acme", "add").await.unwrap(), None);
        let unknown = tenants.set_override(switched("nowhere", "echo", true)).await.unwrap_err();
        assert_eq!(unknown, MemberFault::UnknownTenant { tenant: "nowhere".into() });
    }

    async fn many_switches_are_set_together_or_not_at_all(bed: Bed) {
        let store = bed.open().await;
        let tenants = store.tenants();
        tenants.add(tenant("acme", 1)).await.unwrap();
        tenants.set_override(switched("acme", "old", true)).await.unwrap();
        let switch = |tenant: &str, tool: &str, enabled| Switch {
            tenant: tenant.into(),
            tool: tool.into(),
            enabled,
            reason: None,
        };
        let both = vec![switch("acme", "new", Some(true)), switch("nowhere", "new", Some(true))];
        assert!(tenants.set_overrides(both, "operator", 9).await.is_err());
        assert_eq!(tenants.overrides("acme").await.unwrap().len(), 1);
        let wanted = vec![switch("acme", "new", Some(true)), switch("acme", "old", None)];
        tenants.set_overrides(wanted, "operator", 9).await.unwrap();
        let left = tenants.overrides("acme").await.unwrap();
        assert_eq!(left.iter().map(|one| (&*one.tool, one.enabled)).collect::<Vec<_>>(), [("new", true)]);
    }

    async fn users_are_known_by_their_membership_or_before(bed: Bed) {
        let store = bed.open().await;
        let ada = User { id: "ada".into(), name: Some("Ada".into()), email: None, created_at: 1 };
        assert_eq!(store.users().add(ada.clone()).await.unwrap(), ada);
        assert!(matches!(store.users().add(ada.clone()).await, Err(StoreError::Duplicate { .. })));
        let change = UserChange { email: Some("ada@acme.example".into()), ..UserChange::default() };
        let changed = store.users().change("ada", change).await.unwrap().unwrap();
        assert_eq!(changed, User { email: Some("ada@acme.example".into()), ..ada });
        store.tenants().add(tenant("acme", 1)).await.unwrap();
        store.tenants().set_member("acme", "bob", Role::Member, 2).await.unwrap();
        let listed: Vec<_> = store.users().list(&Paging::default()).await.unwrap().items.into_iter().map(|user| user.id).collect();
        assert_eq!(listed, ["bob", "ada"]);
        assert!(store.users().remove("bob").await.unwrap().is_some());
        assert_eq!(store.tenants().member("acme", "bob").await.unwrap(), None);
        assert_eq!(store.users().remove("bob").await.unwrap(), None);
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
        store.catalog().set(vec![row("trends", paid.clone()), row("echo", off.clone())]).await.unwrap();
        assert_eq!(store.catalog().list().await.unwrap(), [row("echo", off), row("trends", paid.clone())]);
        assert_eq!(store.catalog().get("trends").await.unwrap(), Some(row("trends", paid)));
        store.catalog().set(vec![row("trends", CatalogChange::default())]).await.unwrap();
        assert_eq!(store.catalog().get("trends").await.unwrap(), None);
    }
}
