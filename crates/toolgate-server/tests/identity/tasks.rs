//! Task identity: the header's secret key, trusted public ids, and task tokens.

use toolgate_server::identity::{Claims, Credentials, IdentityConfig};

use crate::world::{agent, assert_anonymous, assert_rejected, user, world, world_of};

#[tokio::test]
async fn the_header_carries_the_tasks_secret_key_and_the_row_says_what_the_task_is() {
    let world = world();
    let key = world.task("t1", Some("ada"));
    world.change_task("t1", |row| row.is_orchestrator = true);
    let caller = world.task_header(&key).await.caller;
    let task = caller.task.as_ref().unwrap();
    assert_eq!((task.id.as_str(), task.process.as_deref(), task.orchestrator), ("t1", Some("p1"), true));
    assert!(caller.user.is_none(), "a task acts as itself, not as its owner");
}

#[tokio::test]
async fn an_unknown_or_finished_task_is_simply_no_task() {
    let world = world();
    let key = world.task("t1", None);
    assert_anonymous(&world.task_header("unknown").await);
    // The row is also not live when an ancestor has finished; the store works that out.
    world.change_task("t1", |row| row.live = false);
    assert_anonymous(&world.task_header(&key).await);
    let ada = world.user("ada");
    let shown = Credentials { bearer: Some(&ada), task_keys: &[&key], ..Credentials::default() };
    assert_eq!(world.ask(shown).await.caller.principal(), "user:ada");
    for (key, is_named_in_vain) in [("unknown", true), (&*key, true), ("", false)] {
        assert_eq!(world.task_header(key).await.caller.unknown_task, is_named_in_vain, "{key}");
    }
    world.change_task("t1", |row| row.live = true);
    assert!(!world.task_header(&key).await.caller.unknown_task);
}

#[tokio::test]
async fn a_public_id_is_no_key_unless_ids_are_trusted() {
    let strict = world();
    strict.task("t1", None);
    assert_anonymous(&strict.task_header("t1").await);
    let trusting = world_of(IdentityConfig { trust_task_ids: true, ..IdentityConfig::default() });
    let key = trusting.task("t1", None);
    assert_eq!(trusting.task_header("t1").await.caller.principal(), "task:t1");
    assert_eq!(trusting.task_header(&key).await.caller.principal(), "task:t1");
}

#[tokio::test]
async fn the_first_task_header_wins() {
    let world = world();
    let (first, second) = (world.task("t1", None), world.task("t2", None));
    let shown = |keys: [&str; 2]| keys.map(str::to_owned);
    for (keys, expected) in [(shown([&first, &second]), "task:t1"), (shown(["unknown", &second]), "anonymous")] {
        let keys = keys.each_ref().map(String::as_str);
        let identified = world.ask(Credentials { task_keys: &keys, ..Credentials::default() }).await;
        assert_eq!(identified.caller.principal(), expected);
        assert!(identified.rejected.is_none());
    }
}

#[tokio::test]
async fn a_task_token_holds_while_its_task_is_live_and_says_nothing_after() {
    let world = world();
    world.task("t1", Some("ada"));
    let task = Claims { task: Some("t1".into()), ..Claims::default() };
    let token = world.mint(task.clone());
    let of_user = world.mint(Claims { task: task.task.clone(), ..user("ada") });
    let of_agent = world.mint(Claims { task: task.task.clone(), ..agent("bot", Some("ada")) });
    assert_eq!(world.bearer(&token).await.caller.principal(), "task:t1");
    assert_eq!(world.bearer(&of_user).await.caller.principal(), "user:ada task:t1");
    assert_eq!(world.bearer(&of_agent).await.caller.principal(), "user:ada agent:bot task:t1");
    world.change_task("t1", |row| row.live = false);
    for token in [&token, &of_user, &of_agent] {
        assert_anonymous(&world.bearer(token).await);
    }
}

#[tokio::test]
async fn no_claim_makes_an_orchestrator() {
    let world = world();
    world.task("t1", None);
    let token = world.mint(Claims { task: Some("t1".into()), ..Claims::default() });
    assert!(!world.bearer(&token).await.caller.task.as_ref().unwrap().orchestrator);
    world.change_task("t1", |row| row.is_orchestrator = true);
    assert!(world.bearer(&token).await.caller.task.as_ref().unwrap().orchestrator);
}

#[tokio::test]
async fn a_token_that_names_another_users_task_is_refused() {
    let world = world();
    world.task("t1", Some("bob"));
    assert_rejected(&world.bearer(&world.mint(Claims { task: Some("t1".into()), ..user("ada") })).await);
}

#[tokio::test]
async fn a_task_token_before_a_task_header_wins() {
    let world = world();
    world.task("t1", None);
    let (token, key) = (world.mint(Claims { task: Some("t1".into()), ..Claims::default() }), world.task("t2", None));
    let shown =
        || Credentials { bearer: Some(&token), task_keys: std::slice::from_ref(&KEY), ..Credentials::default() };
    const KEY: &str = "secret-of-t2";
    assert_eq!(key, KEY);
    assert_eq!(world.ask(shown()).await.caller.principal(), "task:t1");
    world.change_task("t1", |row| row.live = false);
    assert_anonymous(&world.ask(shown()).await);
}
