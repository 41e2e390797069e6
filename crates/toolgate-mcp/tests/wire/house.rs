//! A small house to stand behind the wire, and who is known in it.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use tokio::sync::watch;
use toolgate_core::{
    Blueprint, Caller, Gate, Tool,
    caller::{Agent, AgentKind, UserId},
};
use toolgate_mcp::{
    Credentials, Identified, Identify, IdentityUnavailable, ProcessMemory, Rejection, Wire, WireConfig,
};
use toolgate_spine::{House, LimitDefaults, Spine};

use crate::source::Fixture;
pub use crate::wares::{everything, tools};

/// Everything a test can turn.
pub struct Site {
    pub wire: Wire,
    pub spine: Arc<Spine>,
    pub names: Arc<Names>,
    pub fixture: Arc<Fixture>,
    pub down: watch::Sender<bool>,
}

impl Site {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut WireConfig)) -> Self {
        let fixture = Arc::new(Fixture::default());
        let names = Arc::new(Names::default());
        let spine = Spine::new(house(&fixture, everything(), 1000));
        let (down, shutdown) = watch::channel(false);
        let mut config = WireConfig::new(b"a key for tests".to_vec(), shutdown);
        change(&mut config);
        let wire = Wire::new(spine.clone(), names.clone(), Arc::new(ProcessMemory::default()), config);
        Self { wire, spine, names, fixture, down }
    }

    /// With nothing behind the gate but tools.
    pub fn of_tools() -> Self {
        let site = Self::new();
        site.fixture.tools_alone.store(true, Ordering::SeqCst);
        site
    }

    /// Puts a house with these tools in force.
    pub fn replace(&self, tools: Vec<Tool>, page_size: usize) {
        self.spine.replace(house(&self.fixture, tools, page_size));
    }
}

fn house(fixture: &Arc<Fixture>, tools: Vec<Tool>, page_size: usize) -> House {
    let gate = Gate::new(Blueprint { tools, page_size, ..Blueprint::default() }).unwrap();
    House::new(gate, vec![fixture.clone()], LimitDefaults::default()).unwrap()
}

/// Knows a caller by the token's text: `user:NAME`, `agent:NAME`; anything else is not valid.
#[derive(Default)]
pub struct Names {
    /// Where credentials were found, newest last.
    pub seen: Mutex<Vec<String>>,
    /// Tokens that no longer count.
    pub revoked: Mutex<BTreeSet<String>>,
    pub out_of_order: std::sync::atomic::AtomicBool,
    /// Callers that are being identified, and the most there ever were.
    pub at_once: AtomicUsize,
    pub most_at_once: AtomicUsize,
}

#[async_trait]
impl Identify for Names {
    async fn identify(&self, found: Credentials<'_>) -> Result<Identified, IdentityUnavailable> {
        let now = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(now, Ordering::SeqCst);
        tokio::task::yield_now().await;
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        if self.out_of_order.load(Ordering::SeqCst) {
            return Err(IdentityUnavailable { reason: "disk 7 is full".to_owned(), last_known: None });
        }
        let places = [
            ("bearer", found.bearer),
            ("meta", found.meta_token.as_deref()),
            ("params", found.params_token.as_deref()),
            ("session", found.session_token.as_deref()),
            ("coordinator", found.coordinator_token.as_deref()),
            ("task", found.task_keys.first().copied()),
        ];
        let mut caller = Caller::anonymous();
        let mut rejected = None;
        for (place, token) in places {
            let Some(token) = token else { continue };
            self.seen.lock().unwrap().push(format!("{place}={token}"));
            let revoked = self.revoked.lock().unwrap().contains(token);
            match token.split_once(':').filter(|_| !revoked) {
                Some(("user", name)) => caller.user = Some(UserId::own(name).unwrap()),
                Some(("agent", id)) => {
                    caller.agent = Some(Agent {
                        id: id.to_owned(),
                        kind: AgentKind::Worker,
                        project: None,
                        purpose: None,
                        session: None,
                    });
                }
                _ => rejected = Some(Rejection::Invalid),
            }
        }
        if found.browser {
            self.seen.lock().unwrap().push("browser".to_owned());
        }
        Ok(Identified { caller: Arc::new(caller), rejected })
    }
}
