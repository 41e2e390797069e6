use toolgate_store::team::Passkey;

use crate::world::{PASSKEY, World};

/// Fails until it has to wait; gives the seconds.
async fn exhaust(world: &World, agent: &str) -> i64 {
    for _ in 0..40 {
        let answer = world.authenticate(agent, "wrong passkey").await;
        if answer["code"] == "too_many_attempts" {
            return answer["retry_after"].as_i64().unwrap();
        }
        assert_eq!(answer["code"], "invalid_credentials");
    }
    panic!("nothing slows it down")
}

on_both! {
    async fn guessing_one_agent_from_one_address_is_slowed_down_there_alone(world: World) {
        world.give_task("ann").await;
        let (guesser, honest) = (world.at("203.0.113.7"), world.at("198.51.100.1"));
        assert_eq!(exhaust(&guesser, "ann").await, 1);
        let refused = guesser.authenticate("ann", PASSKEY).await;
        assert_eq!(refused["code"], "too_many_attempts", "not even the right one is looked at");
        assert_eq!(refused["error"], "Too many failed attempts. Try again in 1 s.");
        assert_eq!(refused.get("action"), None);
        assert_eq!(honest.authenticate("ann", PASSKEY).await["success"], true);
    }

    async fn who_waits_may_try_again_and_the_right_passkey_gets_in(world: World) {
        world.give_task("ann").await;
        let guesser = world.at("203.0.113.7");
        let first = exhaust(&guesser, "ann").await;
        world.pass(first * 1000);
        assert_eq!(guesser.authenticate("ann", "wrong passkey").await["code"], "invalid_credentials");
        let second = guesser.authenticate("ann", "wrong passkey").await;
        assert!(second["retry_after"].as_i64().unwrap() > first, "{second}");
        world.pass(second["retry_after"].as_i64().unwrap() * 1000);
        assert_eq!(guesser.authenticate("ann", PASSKEY).await["success"], true);
    }

    async fn an_unknown_agent_is_slowed_down_alike(world: World) {
        let guesser = world.at("203.0.113.7");
        assert_eq!(exhaust(&guesser, "nobody").await, 1);
    }

    async fn trying_many_agents_slows_down_the_address_but_not_who_signed_in_from_it_before(world: World) {
        world.give_task("ann").await;
        world.write_to("ann").await;
        let shared = world.at("203.0.113.7");
        assert_eq!(shared.authenticate("ann", PASSKEY).await["success"], true);
        let mut slowed = false;
        for number in 0..40 {
            slowed |= shared.authenticate(&format!("agent-{number}"), "wrong passkey").await["code"] == "too_many_attempts";
        }
        assert!(slowed, "an agent at a time does not get round it");
        assert_eq!(shared.authenticate("bob", PASSKEY).await["code"], "too_many_attempts");
        assert_eq!(shared.authenticate("ann", PASSKEY).await["success"], true);
        assert_eq!(world.at("198.51.100.1").authenticate("bob", PASSKEY).await["code"], "no_purpose");
    }

    async fn who_guesses_elsewhere_is_slowed_down_with_the_right_passkey_too(world: World) {
        world.give_task("ann").await;
        world.write_to("ann").await;
        let (own, guesser) = (world.at("198.51.100.1"), world.at("203.0.113.7"));
        assert_eq!(own.authenticate("ann", PASSKEY).await["success"], true);
        exhaust(&guesser, "ann").await;
        let right = guesser.authenticate("ann", PASSKEY).await;
        assert_eq!(right["code"], "too_many_attempts", "a guess is looked at or not, right or wrong");
        assert_eq!(own.authenticate("ann", PASSKEY).await["success"], true, "failures elsewhere lock nobody out");
    }

    async fn where_an_agent_signed_in_before_it_has_more_attempts_and_each_is_counted(world: World) {
        world.give_task("ann").await;
        world.write_to("ann").await;
        let shared = world.at("203.0.113.7");
        assert_eq!(shared.authenticate("ann", PASSKEY).await["success"], true);
        for _ in 0..29 {
            assert_eq!(shared.authenticate("ann", "wrong passkey").await["code"], "invalid_credentials");
        }
        assert_eq!(shared.authenticate("ann", PASSKEY).await["success"], true, "a neighbour's failures do not lock it out");
        let wait = exhaust(&shared, "ann").await;
        assert_eq!(shared.authenticate("ann", PASSKEY).await["code"], "too_many_attempts", "nor does a guess get through");
        world.pass(wait * 1000);
        assert_eq!(shared.authenticate("ann", PASSKEY).await["code"], "no_purpose", "the passkey is looked at again");
    }

    async fn a_passkey_that_was_replaced_is_a_guess_like_any_other(world: World) {
        world.give_task("ann").await;
        let own = world.at("203.0.113.7");
        assert_eq!(own.authenticate("ann", PASSKEY).await["success"], true);
        let hash = Passkey::new("another passkey").unwrap().hash().unwrap();
        world.store.team().credentials().set("ann", &hash, world.now()).await.unwrap();
        let mut slowed = false;
        for _ in 0..40 {
            slowed |= own.authenticate("ann", PASSKEY).await["code"] == "too_many_attempts";
        }
        assert!(slowed, "every check of a passkey is counted");
    }

    async fn without_an_address_it_is_slowed_down_by_agent(world: World) {
        world.give_task("ann").await;
        exhaust(&world, "bob").await;
        assert_eq!(world.authenticate("ann", PASSKEY).await["success"], true);
        assert_eq!(world.authenticate("bob", PASSKEY).await["code"], "too_many_attempts");
        assert_eq!(world.at("203.0.113.7").authenticate("bob", PASSKEY).await["code"], "no_purpose");
    }
}
