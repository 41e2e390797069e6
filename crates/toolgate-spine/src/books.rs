//! What outlives a call: the ledger, and what people say about calls.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use aws_lc_rs::rand;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio_util::sync::CancellationToken;
use toolgate_core::{Caller, Tool, hex};
use toolgate_store::{
    Rights, Scope, Store, StoreError,
    ledger::{Ledger, LedgerSettings},
};

use crate::{BookLimits, record_budget::RecordBudget};

/// The ledger and the store, open. Clones share them.
#[derive(Clone)]
pub struct Books {
    pub(crate) store: Store,
    pub(crate) rights: Rights,
    pub(crate) ledger: Ledger,
    pub(crate) settings: BookSettings,
    /// Tells redacted values apart for approvers.
    pub(crate) redaction_key: Arc<[u8]>,
    /// Bounds the records of answers that were not the approver's to give.
    pub(crate) refused_answers: RecordBudget,
    /// Cancelled when the gateway stops: a call that waits for a person is answered then.
    pub(crate) stopping: CancellationToken,
}

#[derive(Debug, Clone)]
pub struct BookSettings {
    /// How long an approval may be answered, and used once it is granted.
    pub approval_ttl: Duration,
    /// Callers whose own client may be asked for an approval: principals, or `*` for all.
    pub ask_clients_of: Vec<String>,
    pub ledger: LedgerSettings,
    pub limits: BookLimits,
}

impl Default for BookSettings {
    fn default() -> Self {
        Self {
            approval_ttl: Duration::from_secs(60 * 60),
            ask_clients_of: Vec::new(),
            ledger: LedgerSettings::default(),
            limits: BookLimits::default(),
        }
    }
}

impl Books {
    pub async fn open(store: Store, settings: BookSettings) -> Result<Self, StoreError> {
        let ledger = store.ledger(settings.ledger.clone()).await?;
        let mut fresh = vec![0; 32];
        // without randomness there is no key, and then every redacted value looks the same
        if rand::fill(&mut fresh).is_err() {
            fresh.clear();
        }
        let redaction_key = store.secrets().get_or_create("redaction-key", move || fresh).await?.into();
        Ok(Self {
            rights: store.rights(),
            store,
            ledger,
            settings,
            redaction_key,
            refused_answers: RecordBudget::default(),
            stopping: CancellationToken::new(),
        })
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(crate) fn may_ask_client_of(&self, principal: &str) -> bool {
        self.settings.ask_clients_of.iter().any(|known| known == "*" || known == principal)
    }
}

/// What a caller owns in the books.
pub(crate) fn scope_of(caller: &Caller) -> Scope {
    Scope::principal(caller.tenant.as_ref().map(|tenant| tenant.id.as_str()), &caller.principal())
}

/// Who acts, for people who look at it later, and to decide the same again. Of a flow's list and a tenant's switches it has
/// what is about this tool; that a flow has no list is said too.
pub(crate) fn actor(caller: &Caller, tool: Option<&Tool>) -> Box<RawValue> {
    #[derive(Serialize)]
    struct Actor<'a> {
        #[serde(flatten)]
        who: &'a Caller,
        #[serde(skip_serializing_if = "Option::is_none")]
        flow: Option<Within>,
    }
    #[derive(Serialize)]
    struct Within {
        id: String,
        allowlist: Option<BTreeSet<String>>,
    }
    let plain = caller.flow.is_none() && caller.tenant.as_ref().is_none_or(|tenant| tenant.overrides.is_empty());
    if plain {
        return to_raw_value(caller).unwrap_or_default();
    }
    let mut who = caller.clone();
    if let Some(tenant) = &mut who.tenant
        && !tenant.overrides.is_empty()
    {
        let named = |name: &str| tenant.overrides.get_key_value(name).map(|(name, on)| (name.clone(), *on));
        tenant.overrides = Arc::new(tool.and_then(|tool| tool.found_in(named)).into_iter().collect());
    }
    let flow = who.flow.take().map(|flow| Within {
        id: flow.id,
        allowlist: flow
            .allowlist
            .map(|names| tool.and_then(|tool| tool.found_in(|name| names.get(name).cloned())).into_iter().collect()),
    });
    to_raw_value(&Actor { who: &who, flow }).unwrap_or_default()
}

/// Unix milliseconds.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A name of a call that sorts by time: the time, a word of this process that no other has, and how many it had before.
pub(crate) fn call_id(now: i64) -> Arc<str> {
    static PROCESS: OnceLock<[u8; 6]> = OnceLock::new();
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let process = PROCESS.get_or_init(|| {
        let mut random = [0; 6];
        // a name that is not random is still one: the time and the place in the ledger tell calls apart
        let _ = rand::fill(&mut random);
        random
    });
    let calls = CALLS.fetch_add(1, Ordering::Relaxed);
    let ([_, _, time @ ..], [_, _, _, _, calls @ ..]) = (now.to_be_bytes(), calls.to_be_bytes());
    let mut id = [0; 16];
    id.iter_mut().zip(time.iter().chain(process).chain(&calls)).for_each(|(place, byte)| *place = *byte);
    ["call_", &hex(&id)].concat().into()
}
