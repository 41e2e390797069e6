//! Who may use what: every tool, and callers who may not.

use serde_json::{Value, json};
use toolgate_core::{
    Caller,
    caller::{Agent, AgentKind, Role},
};
use toolgate_packs::admin::offered;
use toolgate_spine::Outcome;

use crate::world::{World, ada, ann, bob, of, operator, user};

/// Arguments that each tool takes.
fn arguments(tool: &str) -> Value {
    let offer = offered().unwrap().into_iter().find(|offer| offer.name == tool).unwrap();
    serde_json::from_str(&offer.facts.example.unwrap().0).unwrap()
}

fn permission(tool: &str) -> String {
    offered().unwrap().into_iter().find(|offer| offer.name == tool).unwrap().facts.permission.to_string()
}

fn names() -> Vec<String> {
    offered().unwrap().into_iter().map(|offer| offer.name).collect()
}

on_both! {
    async fn to_strangers_members_and_billing_every_tool_is_unknown(world: World) {
        world.two_tenants().await;
        let agent = Agent { id: "a".into(), kind: AgentKind::Manager, project: None, purpose: None, session: None };
        let callers = [
            Caller::anonymous(),
            user("eve"),
            of("acme", "mel", Role::Member),
            of("acme", "bil", Role::Billing),
            Caller { agent: Some(agent), ..Caller::default() },
        ];
        for tool in names() {
            for caller in &callers {
                let outcome = world.call(caller, &tool, arguments(&tool)).await;
                // to a stranger and a user alike: no hint that there is such a tool
                assert!(matches!(outcome, Outcome::Unknown), "{tool} {}: {outcome:?}", caller.principal());
            }
        }
        assert_eq!(world.store.tenants().overrides("acme").await.unwrap(), []);
    }

    async fn what_is_the_operators_is_denied_to_a_tenants_admins(world: World) {
        world.two_tenants().await;
        for tool in names() {
            for caller in [ada(), ann()] {
                let outcome = world.call(&caller, &tool, arguments(&tool)).await;
                match permission(&tool).as_str() {
                    // on their list, marked: so they are told
                    "operator_only" => match outcome {
                        Outcome::Denied { denial, .. } => assert_eq!(denial.code, "operator_required", "{tool}"),
                        other => panic!("{tool}: {other:?}"),
                    },
                    _ => assert!(matches!(outcome, Outcome::Answered(_)), "{tool}: {outcome:?}"),
                }
            }
        }
    }

    async fn another_tenant_answers_byte_for_byte_as_none(world: World) {
        world.two_tenants().await;
        let switch = world.store.clone();
        for tool in names() {
            let offer = offered().unwrap().into_iter().find(|offer| offer.name == tool).unwrap();
            let definition: Value = serde_json::from_str(offer.definition.get()).unwrap();
            let takes_tenant = definition["inputSchema"]["properties"].get("tenant").is_some();
            if permission(&tool) != "admin_only" || !takes_tenant {
                continue;
            }
            let asked = |tenant: &str| {
                let mut arguments = arguments(&tool);
                arguments["tenant"] = json!(tenant);
                arguments
            };
            for (caller, other, none) in [(ada(), "beta", "gone"), (bob(), "acme", "none")] {
                let (theirs, missing) =
                    (world.bytes(&caller, &tool, asked(other)).await, world.bytes(&caller, &tool, asked(none)).await);
                let theirs = String::from_utf8(theirs).unwrap().replace(other, none);
                assert_eq!(theirs, String::from_utf8(missing).unwrap(), "{tool}");
                assert!(theirs.contains("not_found"), "{tool}: {theirs}");
            }
        }
        assert_eq!(switch.tenants().overrides("beta").await.unwrap(), []);
    }

    async fn the_operator_names_the_tenant_and_others_need_not(world: World) {
        world.two_tenants().await;
        let (code, error) = world.bad(&operator(), "admin_list_tools", json!({})).await;
        assert_eq!((code.as_str(), error.contains("'tenant' is required")), ("validation", true));
        assert_eq!(world.good(&ann(), "admin_get_tenant", json!({})).await["tenant"]["id"], "acme");
        assert_eq!(world.good(&operator(), "admin_get_tenant", json!({"tenant": "beta"})).await["tenant"]["id"], "beta");
        let unmanaged = of("elsewhere", "eve", Role::Owner);
        let (code, error) = world.bad(&unmanaged, "admin_get_tenant", json!({})).await;
        assert_eq!((code.as_str(), error.as_str()), ("not_found", "There is no tenant 'elsewhere'."));
    }

    async fn a_dry_run_is_decided_like_the_call(world: World) {
        world.two_tenants().await;
        let dry = json!({"tenant": "beta", "tool_name": "add_task", "is_enabled": false, "dryRun": true});
        assert_eq!(world.bad(&ada(), "admin_set_override", dry.clone()).await.0, "not_found");
        assert!(matches!(world.call(&of("beta", "mel", Role::Member), "admin_set_override", dry).await, Outcome::Unknown));
    }

    async fn names_that_no_row_can_hold_are_refused_in_words(world: World) {
        world.two_tenants().await;
        for (tool, arguments, word) in [
            ("admin_set_member", json!({"user": "a\u{0}b", "role": "member"}), "user"),
            ("admin_set_member", json!({"user": "/x", "role": "member"}), "user"),
            ("admin_set_member", json!({"user": "x", "role": "king"}), "role"),
            ("admin_set_override", json!({"tool_name": "add_task"}), "is_enabled"),
            ("admin_set_override", json!({"tool_name": "add_task", "is_enabled": true, "colour": 1}), "colour"),
            ("admin_list_members", json!({"after": "nonsense"}), "after"),
            ("admin_list_members", json!({"limit": 0}), "limit"),
        ] {
            let (code, error) = world.bad(&ada(), tool, arguments.clone()).await;
            assert_eq!((code.as_str(), error.contains(word)), ("validation", true), "{tool} {arguments}: {error}");
        }
        let (code, error) = world.bad(&ada(), "admin_set_override", json!({"tool_name": "ad_task", "is_enabled": true})).await;
        assert_eq!((code.as_str(), error.as_str()), ("not_found", "There is no tool 'ad_task'; did you mean 'add_task'?"));
    }

    async fn a_store_that_is_gone_says_so_and_nothing_of_why(world: World) {
        world.two_tenants().await;
        world.store.close().await;
        match world.call(&ada(), "admin_list_overrides", json!({})).await {
            Outcome::Answered(bytes) => {
                let text = String::from_utf8(bytes.to_vec()).unwrap();
                assert!(text.contains("internal") && text.contains("can't be reached"), "{text}");
            }
            Outcome::Unrecorded { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}
