//! Who belongs to a tenant: roles, owners, and pages of them.

use serde_json::{Value, json};
use toolgate_core::caller::Role;

use crate::world::{World, ada, ann, operator};

on_both! {
    async fn an_admin_seats_members_and_only_owners_make_owners(world: World) {
        world.two_tenants().await;
        let seated = world.good(&ann(), "admin_set_member", json!({"user": "corp/mel", "role": "member"})).await;
        let kinds: Vec<&Value> = seated["changes"].as_array().unwrap().iter().map(|change| &change["kind"]).collect();
        assert_eq!(kinds, ["member", "user"], "who was not known is, from here on");
        world.change(&ann(), "admin_set_member", json!({"user": "corp/mel", "role": "billing"})).await;
        for (tool, arguments) in [
            ("admin_set_member", json!({"user": "corp/mel", "role": "owner"})),
            ("admin_set_member", json!({"user": "ada", "role": "member"})),
            ("admin_remove_member", json!({"user": "ada"})),
        ] {
            assert_eq!(world.bad(&ann(), tool, arguments).await.0, "owner_required", "{tool}");
        }
        world.change(&ada(), "admin_set_member", json!({"user": "corp/mel", "role": "owner"})).await;
        world.change(&operator(), "admin_set_member", json!({"tenant": "acme", "user": "corp/mel", "role": "admin"})).await;
        assert_eq!(world.store.tenants().member("acme", "corp/mel").await.unwrap().unwrap().role, Role::Admin);
    }

    async fn the_last_owner_stays(world: World) {
        world.two_tenants().await;
        for caller in [ada(), operator()] {
            for (tool, arguments) in [
                ("admin_set_member", json!({"tenant": "acme", "user": "ada", "role": "admin"})),
                ("admin_remove_member", json!({"tenant": "acme", "user": "ada"})),
            ] {
                let (code, error) = world.bad(&caller, tool, arguments).await;
                assert_eq!((code.as_str(), error.contains("last owner")), ("conflict", true), "{error}");
            }
        }
        let dry = json!({"user": "ada", "role": "admin", "dryRun": true});
        assert_eq!(world.bad(&ada(), "admin_set_member", dry).await.0, "conflict", "a dry run says so too");
        let (code, error) = world.bad(&operator(), "admin_remove_user", json!({"user": "ada"})).await;
        assert_eq!((code.as_str(), error.contains("tenant 'acme'")), ("conflict", true), "{error}");
    }

    async fn members_come_in_pages_newest_first(world: World) {
        world.two_tenants().await;
        for number in 0..5 {
            let user = format!("u{number}");
            world.change(&ann(), "admin_set_member", json!({"user": user, "role": "member"})).await;
        }
        let (mut seen, mut after) = (Vec::new(), Value::Null);
        loop {
            let mut asked = json!({"limit": 3});
            if !after.is_null() {
                asked["after"] = after;
            }
            let page = world.good(&ann(), "admin_list_members", asked).await;
            seen.extend(page["members"].as_array().unwrap().iter().map(|row| row["user"].as_str().unwrap().to_owned()));
            after = page["next"].clone();
            if after.is_null() {
                break;
            }
        }
        assert_eq!(seen.len(), 7);
        assert_eq!(seen.last().unwrap(), "ada");
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 7, "nobody twice");
    }

    async fn who_is_no_member_can_not_be_removed(world: World) {
        world.two_tenants().await;
        let (code, error) = world.bad(&ann(), "admin_remove_member", json!({"user": "bob"})).await;
        assert_eq!((code.as_str(), error.as_str()), ("not_found", "'bob' is no member of tenant 'acme'."));
    }
}
