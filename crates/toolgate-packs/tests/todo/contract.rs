//! What clients are promised: the definitions as they are listed. A change here breaks somebody.

use std::collections::BTreeMap;

use serde_json::Value;
use toolgate_packs::todo::offered;

use crate::world::{World, user_named};

/// The specification's own words, `user_id` included.
const SPECIFIED: &str = include_str!("specified.json");
/// The whole list as clients get it.
const LISTED: &str = include_str!("listed.json");

async fn listed(world: &World) -> Value {
    let listing = world.spine.gate().listing(&user_named("ann")).unwrap();
    serde_json::from_slice(&listing.page(toolgate_core::Kind::Tool, 0).unwrap().items).unwrap()
}

fn by_name(tools: &Value) -> BTreeMap<String, Value> {
    let named = |tool: &Value| (tool["name"].as_str().unwrap().to_owned(), tool.clone());
    tools.as_array().unwrap().iter().map(named).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_list_is_as_it_was() {
    World::on_sqlite(|world| async move {
        let (now, then) = (listed(&world).await, serde_json::from_str::<Value>(LISTED).unwrap());
        assert_eq!(by_name(&now), by_name(&then), "the promised definitions have changed; now: {now:#}");
        assert_eq!(now, then, "the order has changed");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_list_is_the_specifications_without_the_bound_argument() {
    World::on_sqlite(|world| async move {
        let listed = by_name(&listed(&world).await);
        let specified = by_name(&serde_json::from_str(SPECIFIED).unwrap());
        assert_eq!(listed.keys().collect::<Vec<_>>(), specified.keys().collect::<Vec<_>>());
        for (name, mut tool) in specified {
            let schema = &mut tool["parameters"];
            schema["properties"].as_object_mut().unwrap().shift_remove("user_id").unwrap();
            schema["required"].as_array_mut().unwrap().retain(|argument| argument != "user_id");
            let mut given = listed[&name]["inputSchema"].clone();
            if name == "list_tasks" {
                // pages are ours: nobody has to ask for one, and everybody can read how
                for page in ["before", "limit"] {
                    given["properties"].as_object_mut().unwrap().shift_remove(page).unwrap();
                    assert!(!given["required"].to_string().contains(page), "{page}");
                }
            }
            // none required: the keyword may be left out
            for schema in [&mut given, &mut *schema] {
                if schema["required"] == Value::Array(vec![]) {
                    schema.as_object_mut().unwrap().shift_remove("required");
                }
            }
            assert_eq!(&given, schema, "{name}");
            assert_eq!(listed[&name]["description"], tool["description"], "{name}");
            let output = &listed[&name]["outputSchema"];
            assert_eq!(output["type"], "object", "{name}");
            for (property, schema) in tool["returns"].as_object().unwrap() {
                assert_eq!(&output["properties"][property], schema, "{name}: {property}");
            }
        }
    })
    .await;
}

#[test]
fn every_tool_binds_the_user_and_only_the_list_is_a_read() {
    for offer in offered().unwrap() {
        let bound: Vec<_> = offer.facts.bind.iter().map(|(name, from)| format!("{name} = {from}")).collect();
        assert_eq!(bound, ["user_id = caller.user"], "{}", offer.name);
        assert_eq!(
            offer.facts.effect.to_string(),
            if offer.name == "list_tasks" { "read" } else { "write" },
            "{}",
            offer.name
        );
        assert_eq!(offer.facts.permission.to_string(), "signed_in", "{}", offer.name);
    }
}
