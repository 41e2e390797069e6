//! No byte string that was not issued is accepted, and nothing that was issued is ever printed.

use std::sync::{Arc, Mutex, OnceLock};

use proptest::prelude::*;
use toolgate_server::identity::{Claims, Credentials, Identify, IdentityConfig, IdentityError, OwnTokens, Secret};
use tracing::{Event, Metadata, Subscriber, field::Visit, span};

use crate::{
    issuer::{Issuer, Signer},
    world::{World, agent, assert_rejected, own_key, user, world, world_of},
};

/// One gate with an issuer, and one valid credential of each form.
struct Fixture {
    runtime: tokio::runtime::Runtime,
    world: World,
    _issuer: Issuer,
    valid: Vec<String>,
}

fn fixture() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (world, issuer, valid) = runtime.block_on(async {
            let issuer = Issuer::start(Signer::rs256("k")).await;
            let config = IdentityConfig { issuers: vec![issuer.config("corp")], ..IdentityConfig::default() };
            let world = world_of(config);
            let valid = vec![
                world.user("ada"),
                world.agent("bot", Some("ada")),
                world.api_key(user("ada")),
                issuer.sign(&issuer.claims("ada")),
            ];
            for token in &valid {
                assert!(world.holds(token).await);
            }
            (world, issuer, valid)
        });
        Fixture { runtime, world, _issuer: issuer, valid }
    })
}

fn accepted(token: &str) -> bool {
    let fixture = fixture();
    fixture.runtime.block_on(async {
        let t = || Some(token.into());
        for credentials in [
            Credentials { bearer: Some(token), ..Credentials::default() },
            Credentials { session_token: t(), ..Credentials::default() },
            Credentials { coordinator_token: t(), ..Credentials::default() },
            Credentials { task_keys: &[token], ..Credentials::default() },
        ] {
            if fixture.world.identity.identify(credentials).await.unwrap().caller.is_signed_in() {
                return true;
            }
        }
        false
    })
}

#[derive(Debug, Clone)]
enum Mutation {
    Replace(prop::sample::Index, char),
    Remove(prop::sample::Index),
    Insert(prop::sample::Index, char),
    Truncate(prop::sample::Index),
    Append(String),
    Swap(prop::sample::Index, prop::sample::Index),
    Graft(usize),
}

fn letter() -> impl Strategy<Value = char> {
    prop_oneof![proptest::char::range('!', '~'), Just('.'), Just('='), Just('_'), any::<char>()]
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        (at(), letter()).prop_map(|(at, to)| Mutation::Replace(at, to)),
        at().prop_map(Mutation::Remove),
        (at(), letter()).prop_map(|(at, new)| Mutation::Insert(at, new)),
        at().prop_map(Mutation::Truncate),
        "[ -~]{1,8}".prop_map(Mutation::Append),
        (at(), at()).prop_map(|(a, b)| Mutation::Swap(a, b)),
        (0_usize..3).prop_map(Mutation::Graft),
    ]
}

fn mutated(token: &str, donor: &str, mutation: &Mutation) -> String {
    let mut letters: Vec<char> = token.chars().collect();
    match mutation {
        Mutation::Replace(at, to) => letters[at.index(token.len())] = *to,
        Mutation::Remove(at) => drop(letters.remove(at.index(token.len()))),
        Mutation::Insert(at, new) => letters.insert(at.index(token.len() + 1), *new),
        Mutation::Truncate(at) => letters.truncate(at.index(token.len())),
        Mutation::Append(more) => letters.extend(more.chars()),
        Mutation::Swap(a, b) => letters.swap(a.index(token.len()), b.index(token.len())),
        Mutation::Graft(part) => {
            let (mut own, other): (Vec<_>, Vec<_>) = (token.split('.').collect(), donor.split('.').collect());
            if let (Some(mine), Some(theirs)) = (own.get_mut(*part), other.get(*part)) {
                *mine = theirs;
            }
            return own.join(".");
        }
    }
    letters.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn no_random_text_is_accepted(text in prop_oneof![
        any::<String>(), "[A-Za-z0-9_-]{0,60}\\.[A-Za-z0-9_-]{0,120}\\.[A-Za-z0-9_-]{0,60}",
        "tgk_[a-z2-7]{8}_[A-Za-z0-9_-]{43}", "sess_[A-Za-z0-9]{0,40}",
    ]) {
        prop_assert!(!accepted(&text));
    }

    #[test]
    fn no_mutation_of_a_valid_credential_is_accepted(
        which in 0_usize..4, donor in 0_usize..4, mutations in prop::collection::vec(mutation(), 1..3),
    ) {
        let valid = &fixture().valid;
        let mut text = valid[which].clone();
        for mutation in &mutations {
            if !text.is_empty() && text.is_ascii() {
                text = mutated(&text, &valid[donor], mutation);
            }
        }
        prop_assume!(!valid.contains(&text));
        prop_assert!(!accepted(&text));
    }
}

/// Everything logged, as text.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        self.0.lock().unwrap().push_str(&format!("{field}={value:?} "));
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        span.record(&mut self.clone());
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        values.record(&mut self.clone());
    }
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

#[tokio::test]
async fn nothing_prints_or_logs_a_credential() {
    // For the whole process: what another thread logged first would otherwise decide what is listened to here.
    let log = Log::default();
    tracing::subscriber::set_global_default(log.clone()).unwrap();
    let secret = Some(Secret::new(*b"canary-coordinator"));
    let issuer = Issuer::start(Signer::eddsa("k")).await;
    let config = IdentityConfig {
        coordinator_secret: secret,
        issuers: vec![issuer.config("corp")],
        ..IdentityConfig::default()
    };
    let world = world_of(config);
    let mut printed = String::new();
    let foreign = issuer.sign(&issuer.claims("ada"));
    let minted = world.identity.mint(&user("ada"), crate::world::HOUR).unwrap();
    let (record, key) = toolgate_server::identity::ApiKey::generate(&user("ada"), None).unwrap();
    let task = world.task("t1", None);
    let mut secrets =
        vec![minted.expose().to_owned(), key.expose().to_owned(), foreign, task, "canary-coordinator".into()];
    secrets.extend([world.agent("bot", None), "sess_canary".into(), "canary-garbage".into(), "tgk_canary".into()]);
    secrets.push(format!("{}x", minted.expose()));
    for secret in &secrets {
        let t = || Some(secret.as_str().into());
        let keys = [secret.as_str()];
        let places = [
            Credentials { bearer: Some(secret), ..Credentials::default() },
            Credentials { meta_token: t(), params_token: t(), ..Credentials::default() },
            Credentials { session_token: t(), coordinator_token: t(), ..Credentials::default() },
            Credentials { task_keys: &keys, ..Credentials::default() },
        ];
        for credentials in places {
            let identified = world.identity.identify(credentials).await.unwrap();
            printed.push_str(&format!("{:?} {}", identified.caller, identified.caller.principal()));
        }
    }
    world.rows.down.store(true, std::sync::atomic::Ordering::SeqCst);
    let down = world
        .identity
        .identify(Credentials { bearer: Some(key.expose()), ..Credentials::default() })
        .await
        .err()
        .unwrap();
    printed.push_str(&format!("{down} {down:?} {:?} {minted:?} {key:?} {record:?}", world.identity));
    let tokens = OwnTokens::new(own_key(), "toolgate", std::time::Duration::ZERO).unwrap();
    let error: IdentityError =
        tokens.mint(&Claims { kind: Some("x".into()), ..agent("a", None) }, crate::world::HOUR).unwrap_err();
    printed.push_str(&format!("{tokens:?} {:?} {error} {error:?}", own_key()));
    let logged = log.0.lock().unwrap().clone();
    assert!(logged.contains("a credential was refused"), "the log was listened to");
    for text in [&printed, &logged] {
        for secret in &secrets {
            let tail = &secret[secret.len().saturating_sub(20)..];
            assert!(!text.contains(tail), "found …{tail}");
        }
        assert!(!text.contains("canary") && !text.contains("42, 42"));
    }
}

#[tokio::test]
async fn an_endless_token_is_refused_before_it_is_read() {
    let world = world();
    assert_rejected(&world.bearer(&"a.".repeat(1_000_000)).await);
    assert_rejected(&world.bearer(&format!("{}.{}.{}", "A".repeat(9000), "B".repeat(9000), "C".repeat(9000))).await);
}
