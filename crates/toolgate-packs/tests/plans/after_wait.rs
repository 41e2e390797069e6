//! A call or a plan that waited for a person: what runs is allowed by the rules as they are then, to the caller as it is
//! then.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use tokio::{sync::mpsc, task::JoinHandle};
use toolgate_core::{Caller, Kind, Lang};
use toolgate_spine::{
    Call, CallPlaces, CallerIdentity, Client, Execution, IdentityLoss, Line, OnFailure, Outcome, PlanProblem, PlanShown,
};
use toolgate_store::{Approval, ApprovalState};

use crate::world::{World, ann, states, user, within_flow};

const WAIT: Option<Duration> = Some(Duration::from_secs(100));

/// Credentials that stand for whom the test says.
#[derive(Debug)]
struct Credentials(Mutex<Result<Arc<Caller>, IdentityLoss>>);

impl Credentials {
    fn of(caller: Caller) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Ok(Arc::new(caller)))))
    }

    fn become_of(&self, now: Result<Caller, IdentityLoss>) {
        *self.0.lock().unwrap() = now.map(Arc::new);
    }
}

#[async_trait]
impl CallerIdentity for Credentials {
    async fn current(&self) -> Result<Arc<Caller>, IdentityLoss> {
        self.0.lock().unwrap().clone()
    }
}

fn line() -> Line {
    let capabilities = RawValue::from_string("{}".to_owned()).unwrap();
    Line { said: mpsc::channel(1).0, wants_progress: false, log: None, capabilities, address: None }
}

fn client(credentials: &Arc<Credentials>) -> Client {
    Client::with_identity(line(), None, None, Some(Arc::clone(credentials) as Arc<dyn CallerIdentity>))
}

fn waiting_call(world: &World, client: Client, tool: &'static str, arguments: Value) -> JoinHandle<Outcome> {
    let spine = Arc::clone(&world.spine);
    tokio::spawn(async move {
        let arguments = to_raw_value(&arguments).unwrap();
        let call = Call { wait: WAIT, client, ..Call::of(Kind::Tool, tool, Some(&arguments), Lang::En) };
        spine.call(&Arc::new(ann()), call).await
    })
}

fn waiting_plan(world: &World, client: Client, plan: &str) -> JoinHandle<Result<PlanShown, PlanProblem>> {
    let (spine, plan) = (Arc::clone(&world.spine), plan.to_owned());
    let how = Execution { on_failure: OnFailure::Stop, wait: WAIT, client, lang: Lang::En };
    tokio::spawn(async move { spine.execute_plan(&Arc::new(ann()), &plan, how).await })
}

/// The one question that nobody has answered.
async fn pending(world: &World) -> String {
    loop {
        let is_pending = |approval: &Approval| approval.state == ApprovalState::Pending;
        match world.approvals().await.into_iter().find(is_pending) {
            Some(approval) => return approval.id,
            None => tokio::task::yield_now().await,
        }
    }
}

async fn state_of(world: &World, approval: &str) -> ApprovalState {
    world.approvals().await.into_iter().find(|one| one.id == approval).unwrap().state
}

fn denied(outcome: &Outcome) -> (&str, &str) {
    match outcome {
        Outcome::Denied { denial, .. } => (&denial.code, &denial.rule),
        other => panic!("{other:?}"),
    }
}

fn sign(key: &str, value: Value) -> Value {
    json!({"tool": "stage.sign", "arguments": {"key": key, "value": value}})
}

const ASKS: &str = r#"@id("asks") @obligation("approval") @message("Asks.") @hides("no")
    forbid (principal, action in Action::"call", resource == Tool::"stage.pay");"#;

on_both! {
    async fn a_rule_over_arguments_that_was_made_meanwhile_holds(world: World) {
        world.change(ASKS, |_| {});
        let waiting = waiting_call(&world, Client::default(), "stage.pay", json!({"cents": 500}));
        let asked = pending(&world).await;
        let large = r#"@id("large") @message("Too much.") @hides("no")
            forbid (principal, action == Action::"call:stage.pay", resource) when { context.arguments.cents > 100 };"#;
        world.change(&format!("{ASKS}\n{large}"), |_| {});
        world.grant(&asked).await;
        assert_eq!(denied(&waiting.await.unwrap()).1, "large");
        assert_eq!((world.stage.runs(), state_of(&world, &asked).await), (vec![], ApprovalState::Granted), "nothing is used up");
    }

    async fn an_approval_given_under_other_rules_covers_nothing(world: World) {
        let waiting = waiting_call(&world, Client::default(), "stage.sign", sign("a", json!(1))["arguments"].clone());
        let asked = pending(&world).await;
        world.change(ASKS, |_| {});
        world.grant(&asked).await;
        assert_eq!(denied(&waiting.await.unwrap()).0, "approval_mismatch");
        assert_eq!(world.stage.runs(), []);
    }

    async fn a_reload_that_changes_no_rule_and_no_definition_changes_nothing(world: World) {
        let waiting = waiting_call(&world, Client::default(), "stage.sign", sign("a", json!(1))["arguments"].clone());
        let asked = pending(&world).await;
        world.change("", |_| {});
        world.grant(&asked).await;
        let outcome = waiting.await.unwrap();
        assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
        assert_eq!(world.stage.values(), json!({"a": 1}));
    }

    async fn a_caller_whose_credentials_ended_meanwhile_does_not_run(world: World) {
        for (now, code) in [
            (Err(IdentityLoss::Ended), Some("identity_ended")),
            (Ok(Caller::anonymous()), Some("identity_ended")),
            (Ok(user("bob")), Some("identity_ended")),
            (Err(IdentityLoss::Unavailable), None),
            (Ok(within_flow("f", &["stage.get"])), Some("not_in_flow")),
        ] {
            let credentials = Credentials::of(ann());
            let waiting = waiting_call(&world, client(&credentials), "stage.sign", sign("a", json!(1))["arguments"].clone());
            let asked = pending(&world).await;
            credentials.become_of(now.clone());
            world.grant(&asked).await;
            match (waiting.await.unwrap(), code) {
                (Outcome::Unavailable { message, .. }, None) => assert!(message.contains("who calls"), "{message}"),
                (outcome, Some("not_in_flow")) => assert!(matches!(outcome, Outcome::Denied { .. } | Outcome::Unknown), "{outcome:?}"),
                (outcome, code) => assert_eq!(Some(denied(&outcome).0), code),
            }
            assert_eq!((world.stage.runs(), state_of(&world, &asked).await), (vec![], ApprovalState::Granted), "{now:?}");
            // used up, so that the next question is a new one
            world.outcome(&ann(), "stage.sign", sign("a", json!(1))["arguments"].clone()).await;
            assert_eq!(state_of(&world, &asked).await, ApprovalState::Spent);
            let receipt = world.newest_receipt().await;
            world.good(&ann(), "undo", json!({ "receipt": receipt })).await;
            world.stage.forget_runs();
        }
    }

    async fn a_plan_whose_caller_ended_meanwhile_stays_where_it_is(world: World) {
        let plan = world.propose(json!([sign("a", json!(1))])).await;
        let credentials = Credentials::of(ann());
        let waiting = waiting_plan(&world, client(&credentials), &plan);
        let asked = pending(&world).await;
        credentials.become_of(Err(IdentityLoss::Ended));
        world.grant(&asked).await;
        assert_eq!(waiting.await.unwrap().unwrap_err().code(), "identity_ended");
        assert_eq!((world.stage.runs(), states(&world.show(&plan).await)), (vec![], vec!["waiting".to_owned()]));
        assert_eq!(world.execute(&plan, "stop").await["state"], "done", "whoever is let in goes on with it");
    }

    async fn a_filled_step_that_waits_for_its_approval_holds_no_place(world: World) {
        let plan = world.propose(json!([sign("a", json!(1)), sign("b", json!({"$from": 1, "path": "/key"}))])).await;
        let asked = world.asked(&plan).await;
        world.grant(&asked).await;
        let places = CallPlaces::new(1, 1, 1);
        let client = Client::with_place(line(), None, places.enter(None));
        assert!(places.is_full());
        let waiting = waiting_plan(&world, client, &plan);
        let own = pending(&world).await;
        while places.is_full() {
            tokio::task::yield_now().await;
        }
        world.grant(&own).await;
        assert!(waiting.await.unwrap().unwrap().is_done());
    }

    async fn an_approval_that_a_step_did_not_come_to_use_is_given_back(world: World) {
        world.change("", |offer| {
            if offer.name == "stage.sign" {
                offer.facts.limits.per_minute = Some(1);
            }
        });
        let plan = world.propose(json!([
            {"tool": "stage.put", "arguments": {"key": "a", "value": 1}}, sign("b", json!({"$from": 1, "path": "/key"})),
        ])).await;
        let asked = world.asked(&plan).await;
        world.grant(&asked).await;
        let own = world.asked(&plan).await;
        world.grant(&own).await;
        // the one call of this minute
        world.outcome(&ann(), "stage.sign", sign("other", json!(1))["arguments"].clone()).await;
        let failed = world.execute(&plan, "stop").await;
        assert_eq!((&failed["state"], &failed["steps"][1]["reason"]["code"]), (&json!("failed"), &json!("rate_limited")));
        assert_eq!(state_of(&world, &own).await, ApprovalState::Granted);
    }
}
