//! The five tiers of discovery: a stranger, a bad token, a user of no tenant, a member, and who administers the tenant; in
//! every era and on standard streams. And what each change of rights does to the next list and the next call.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::bed::{
    home::Home,
    message::{ERAS, Era, Message},
    served::Served,
};

const CONFIG: &str = "[packs.gate]\n[packs.fitness]\n[packs.admin]\n";

/// The seed's public tools.
const PUBLIC: [&str; 17] = [
    "analyze_activity",
    "analyze_meal_nutrition",
    "analyze_performance_trends",
    "calculate_daily_nutrition",
    "calculate_metrics",
    "compare_activities",
    "detect_patterns",
    "get_activities",
    "get_activity_intelligence",
    "get_athlete",
    "get_configuration_catalog",
    "get_configuration_profiles",
    "get_food_details",
    "get_stats",
    "search_food",
    "suggest_goals",
    "validate_configuration",
];
/// Those of them that run for anybody.
const OPEN: [&str; 3] = ["get_configuration_catalog", "get_configuration_profiles", "validate_configuration"];
/// Of a plan above the lowest.
const PAID: [&str; 2] = ["analyze_performance_trends", "detect_patterns"];

struct World {
    home: Home,
    gate: Served,
}

/// `acme` is on the lowest plan; ada owns it, adam administers it, bill pays and mia is a member.
fn world() -> World {
    let home = Home::with(CONFIG);
    home.json(&["tenant", "add", "acme", "--plan", "starter", "--owner", "ada"]);
    for (user, role) in [("adam", "admin"), ("bill", "billing"), ("mia", "member")] {
        home.json(&["tenant", "member", "set", "acme", user, "--role", role]);
    }
    let gate = home.serve();
    World { home, gate }
}

impl World {
    fn token(&self, user: &str) -> String {
        self.home.mint(&format!("--user {user}"))
    }

    /// Names with a star where they are marked.
    fn list(&self, era: Era, token: Option<&str>) -> BTreeSet<String> {
        names(&self.gate.ask(&token.iter().fold(Message::list(era), |list, token| list.bearer(token))).result())
    }

    fn call(&self, era: Era, token: Option<&str>, tool: &str) -> String {
        let call = Message::call(era, tool, json!({}));
        self.gate.ask(&token.iter().fold(call, |call, token| call.bearer(token))).verdict()
    }
}

fn names(result: &Value) -> BTreeSet<String> {
    let tools = result["tools"].as_array().unwrap();
    let starred = |tool: &Value| {
        let star = if tool["_meta"]["toolgate/callable"] == false { "*" } else { "" };
        format!("{}{star}", tool["name"].as_str().unwrap())
    };
    tools.iter().map(starred).collect()
}

fn strangers_list() -> BTreeSet<String> {
    let public = PUBLIC.map(|name| if OPEN.contains(&name) { name.to_owned() } else { format!("{name}*") });
    public.into_iter().chain(["help".to_owned()]).collect()
}

fn has(list: &BTreeSet<String>, name: &str) -> bool {
    list.contains(name) || list.contains(&format!("{name}*"))
}

#[test]
fn unauthenticated_gets_the_public_tools_only() {
    let world = world();
    for era in ERAS {
        let list = world.list(era, None);
        assert_eq!(list, strangers_list());
        for never in ["connect_provider", "disconnect_provider", "set_goal", "save_recipe", "admin_list_tools"] {
            assert!(!has(&list, never));
        }
    }
    let mut pipe = world.home.stdio(None);
    assert_eq!(names(&pipe.ask(&Message::list(Era::Late))["result"]), strangers_list());
}

#[test]
fn an_invalid_or_expired_token_falls_back_without_an_error() {
    let world = world();
    let good = world.token("mia");
    let spoiled = format!("{}x", &good[..good.len() - 1]);
    let expired = world.home.mint("--user mia --ttl 1s");
    let until_expired = || world.list(Era::Modern, Some(&expired)) == strangers_list();
    super::bed::wait::until("the token expires", || until_expired().then_some(()));
    for era in ERAS {
        for token in [spoiled.as_str(), "nonsense", expired.as_str()] {
            assert_eq!(world.list(era, Some(token)), strangers_list(), "{era:?}");
        }
    }
}

#[test]
fn authenticated_gets_more_and_of_no_tenant_every_tool_that_is_not_an_admins() {
    let world = world();
    let nora = world.token("nora");
    for era in ERAS {
        let list = world.list(era, Some(&nora));
        assert!(PUBLIC.iter().all(|name| has(&list, name)));
        for more in ["connect_provider", "set_goal", "save_recipe", "update_user_configuration"] {
            assert!(list.contains(more), "{more} in {list:?}");
        }
        assert!(!list.iter().any(|name| name.starts_with("admin_")));
        for paid in PAID {
            assert!(list.contains(&format!("{paid}*")), "above the lowest plan: listed and marked");
            assert_eq!(world.call(era, Some(&nora), paid), "plan_restricted");
        }
        assert_eq!(world.call(era, Some(&nora), "get_configuration_catalog"), "ok");
    }
}

#[test]
fn a_member_is_shown_what_a_call_would_pass_and_billing_is_no_admin() {
    let world = world();
    for user in ["mia", "bill"] {
        let token = world.token(user);
        for era in ERAS {
            let list = world.list(era, Some(&token));
            assert!(!list.iter().any(|name| name.ends_with('*')), "nothing that can't be called: {list:?}");
            assert!(PAID.iter().all(|name| !has(&list, name)), "also what is advertised to others: {list:?}");
            assert!(!list.iter().any(|name| name.starts_with("admin_")));
            assert_eq!(world.call(era, Some(&token), "admin_list_tools"), "-32602", "not even there");
        }
    }
}

#[test]
fn an_admin_and_an_owner_see_every_tool_and_what_they_can_not_call_is_marked_with_its_source() {
    let world = world();
    for user in ["ada", "adam"] {
        let token = world.token(user);
        for era in ERAS {
            let list = world.list(era, Some(&token));
            assert!(list.contains("admin_list_tools") && list.contains("admin_set_override"));
            assert!(list.contains("admin_create_tenant*"), "the operator's");
            assert_eq!(world.call(era, Some(&token), "admin_list_tools"), "ok");
            assert_eq!(world.call(era, Some(&token), "admin_create_tenant"), "operator_required");
        }
        let list = world.gate.ask(&Message::list(Era::Modern).bearer(&token)).result();
        let paid = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "detect_patterns").unwrap();
        assert_eq!(paid["_meta"]["toolgate/code"], "plan_restricted");
        assert_eq!(paid["_meta"]["toolgate/source"], "plan_restriction");
    }
}

#[test]
fn a_token_in_the_parameters_works_and_the_header_wins() {
    let world = world();
    let (ada, mia) = (world.token("ada"), world.token("mia"));
    let mut pipe = world.home.stdio(None);
    for era in ERAS {
        let in_params = |token: &str| Message::list(era).param("token", json!(token));
        let in_meta = |token: &str| Message::list(era).meta("toolgate/token", json!(token));
        for asked in [in_params(&ada), in_meta(&ada)] {
            assert!(has(&names(&world.gate.ask(&asked).result()), "admin_list_tools"));
            assert!(has(&names(&pipe.ask(&asked)["result"]), "admin_list_tools"));
        }
        let both = in_params(&ada).bearer(&mia);
        assert!(!has(&names(&world.gate.ask(&both).result()), "admin_list_tools"));
    }
}

#[test]
fn authentication_is_required_to_call_except_what_says_otherwise() {
    let world = world();
    for era in ERAS {
        for tool in ["get_activities", "search_food", "set_goal"] {
            assert_eq!(world.call(era, None, tool), "authentication_required", "{tool}");
        }
        assert_eq!(world.call(era, None, "get_configuration_profiles"), "ok");
        assert_eq!(world.call(era, None, "admin_list_tools"), "-32602");
    }
}

#[test]
fn a_plan_a_switch_and_a_role_count_from_the_next_list_and_call_on() {
    let world = world();
    let mia = world.token("mia");
    let seen = |tool: &str| (has(&world.list(Era::Modern, Some(&mia)), tool), world.call(Era::Late, Some(&mia), tool));
    let change = |arguments: &[&str]| drop(world.home.json(arguments));

    assert!(seen("get_stats").0);
    change(&["override", "set", "acme", "get_stats", "off", "--reason", "audit"]);
    assert_eq!(seen("get_stats"), (false, "disabled_for_tenant".to_owned()));
    change(&["override", "set", "acme", "set_goal", "off"]);
    assert_eq!(seen("set_goal"), (false, "disabled_for_tenant".to_owned()));
    change(&["override", "remove", "acme", "get_stats"]);
    assert_ne!(seen("get_stats").1, "disabled_for_tenant");

    assert_eq!(seen("detect_patterns").1, "plan_restricted");
    change(&["override", "set", "acme", "detect_patterns", "on"]);
    assert_eq!(seen("detect_patterns").1, "plan_restricted", "a switch lifts no plan");
    change(&["tenant", "change", "acme", "--plan", "professional"]);
    assert_ne!(seen("detect_patterns").1, "plan_restricted");

    change(&["catalog", "disable", "detect_patterns", "--reason", "broken"]);
    assert_eq!(seen("detect_patterns"), (false, "globally_disabled".to_owned()));
    assert!(!has(&world.list(Era::Modern, None), "detect_patterns"), "for strangers too");
    change(&["catalog", "enable", "detect_patterns"]);
    assert_ne!(seen("detect_patterns").1, "globally_disabled");

    change(&["tenant", "member", "set", "acme", "mia", "--role", "admin"]);
    assert_eq!(seen("admin_list_tools"), (true, "ok".to_owned()));
    change(&["tenant", "member", "remove", "acme", "mia"]);
    assert_eq!(seen("admin_list_tools"), (false, "-32602".to_owned()));
}
