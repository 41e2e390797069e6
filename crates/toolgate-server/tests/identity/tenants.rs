//! The store's rows beat a credential's word about its tenant.

use std::sync::atomic::Ordering;

use toolgate_core::caller::Role;
use toolgate_server::identity::{Claims, TenantRow};

use crate::world::{World, assert_rejected, user, world};

fn claims() -> Claims {
    let word = |text: &str| Some(text.to_owned());
    Claims { tenant: word("acme"), role: word("owner"), plan: word("enterprise"), ..user("ada") }
}

fn member(world: &World, user: &str, role: Role) {
    let row = TenantRow {
        plan: Some("free".into()),
        role: Some(role),
        overrides: [("x".to_owned(), false)].into_iter().collect::<std::collections::BTreeMap<_, _>>().into(),
    };
    world.rows.tenants.lock().unwrap().insert(("acme".into(), Some(user.into())), row);
    world.rows.revision.fetch_add(1, Ordering::SeqCst);
}

#[tokio::test]
async fn rows_beat_claims() {
    let world = world();
    member(&world, "ada", Role::Member);
    for credential in [world.mint(claims()), world.api_key(claims())] {
        let caller = world.bearer(&credential).await.caller;
        let tenant = caller.tenant.as_ref().unwrap();
        assert_eq!((tenant.role, tenant.plan.as_deref()), (Role::Member, Some("free")));
        assert_eq!(tenant.overrides.get("x"), Some(&false));
    }
}

#[tokio::test]
async fn a_credential_naming_a_tenant_its_user_is_not_in_is_refused() {
    let world = world();
    member(&world, "bob", Role::Owner);
    assert_rejected(&world.bearer(&world.mint(claims())).await);
    assert_rejected(&world.bearer(&world.api_key(claims())).await);
    let nobody = Claims { user: None, ..claims() };
    assert_rejected(&world.bearer(&world.mint(nobody)).await);
}

#[tokio::test]
async fn where_the_store_does_not_manage_the_tenant_the_claims_are_all_there_is() {
    let world = world();
    let tenant = world.bearer(&world.mint(claims())).await.caller.tenant.clone().unwrap();
    assert_eq!((tenant.role, tenant.plan.as_deref()), (Role::Owner, Some("enterprise")));
}

#[tokio::test]
async fn a_remembered_token_follows_a_change_of_rows_at_once() {
    let world = world();
    let token = world.mint(claims());
    member(&world, "ada", Role::Admin);
    assert_eq!(world.bearer(&token).await.caller.tenant.as_ref().unwrap().role, Role::Admin);
    let reads = world.rows.reads.load(Ordering::SeqCst);
    world.bearer(&token).await;
    assert_eq!(world.rows.reads.load(Ordering::SeqCst), reads, "remembered");
    member(&world, "ada", Role::Billing);
    assert_eq!(world.bearer(&token).await.caller.tenant.as_ref().unwrap().role, Role::Billing);
    world.rows.tenants.lock().unwrap().clear();
    member(&world, "bob", Role::Owner);
    assert_rejected(&world.bearer(&token).await);
}
