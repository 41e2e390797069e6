//! The store's rows beat a credential's word about its tenant.

use std::sync::{Arc, atomic::Ordering};

use toolgate_core::caller::Role;
use toolgate_server::identity::{Claims, Credentials, Identify, TenantRow};

use crate::world::{World, assert_rejected, user, world};

fn claims() -> Claims {
    let word = |text: &str| Some(text.to_owned());
    Claims { tenant: word("acme"), role: word("owner"), plan: word("enterprise"), ..user("ada") }
}

fn member(world: &World, user: &str, role: Role) {
    let row = TenantRow {
        plan: Some("free".into()),
        role: Some(role),
        overrides: Arc::new([("x".to_owned(), false)].into_iter().collect()),
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

#[tokio::test]
async fn who_names_no_tenant_acts_for_the_first_one() {
    let world = world();
    member(&world, "ada", Role::Admin);
    for credential in [world.mint(user("ada")), world.api_key(user("ada"))] {
        let caller = world.bearer(&credential).await.caller;
        let tenant = caller.tenant.as_ref().unwrap();
        assert_eq!((tenant.id.as_str(), tenant.role, tenant.plan.as_deref()), ("acme", Role::Admin, Some("free")));
    }
    let nobody = world.bearer(&world.mint(user("bob"))).await.caller;
    assert_eq!(nobody.tenant, None);
}

#[tokio::test]
async fn who_acts_for_a_member_acts_within_the_members_tenant_and_has_no_role_there() {
    let world = world();
    member(&world, "ada", Role::Owner);
    let key = world.task("t1", Some("ada"));
    let of_task = Claims { task: Some("t1".into()), ..Claims::default() };
    let by_key = world.task_header(&key).await.caller;
    let by_token = world.bearer(&world.mint(of_task)).await.caller;
    for caller in [by_key, by_token] {
        let tenant = caller.tenant.as_ref().unwrap();
        assert_eq!((tenant.id.as_str(), tenant.role, tenant.plan.as_deref()), ("acme", Role::Member, Some("free")));
        assert_eq!(tenant.overrides.get("x"), Some(&false), "what the tenant switched off is off for it too");
    }
    let of_nobody = world.task("t2", None);
    assert_eq!(world.task_header(&of_nobody).await.caller.tenant, None);
    // beside a credential that names a tenant, that one counts
    world.rows.tenants.lock().unwrap().insert(
        ("zeta".into(), Some("ada".into())),
        TenantRow { plan: None, role: Some(Role::Admin), overrides: Arc::default() },
    );
    let named = world.mint(Claims { tenant: Some("zeta".into()), ..user("ada") });
    let both = Credentials { bearer: Some(&named), task_keys: &[&key], ..Credentials::default() };
    let caller = world.ask(both).await.caller;
    assert_eq!(caller.tenant.as_ref().unwrap().id, "zeta");
    assert!(caller.task.is_some());
}

#[tokio::test]
async fn nobody_is_answered_while_it_is_not_known_what_changed() {
    let world = world();
    world.rows.down.store(true, Ordering::SeqCst);
    let refused = world.identity.identify(Credentials::default()).await.unwrap_err();
    assert_eq!(refused.last_known.unwrap().principal(), "anonymous", "a list is shown all the same");
}

#[tokio::test]
async fn while_rows_can_not_be_read_only_what_was_known_is_said_and_nothing_is_decided() {
    let world = world();
    member(&world, "ada", Role::Admin);
    let (known, unknown) = (world.mint(user("ada")), world.mint(claims()));
    world.bearer(&known).await;
    world.rows.down.store(true, Ordering::SeqCst);
    let last_known = async |token: &str| {
        let asked = Credentials { bearer: Some(token), ..Credentials::default() };
        world.identity.identify(asked).await.unwrap_err().last_known
    };
    assert_eq!(last_known(&known).await.unwrap().tenant.as_ref().unwrap().role, Role::Admin);
    let stranger = last_known(&unknown).await.unwrap();
    assert_eq!((stranger.principal(), &stranger.tenant), ("user:ada".to_owned(), &None), "its claims are not believed");
    assert_eq!(last_known("not a token").await, None);
    world.rows.down.store(false, Ordering::SeqCst);
    assert_eq!(world.bearer(&known).await.caller.tenant.as_ref().unwrap().role, Role::Admin);
}
