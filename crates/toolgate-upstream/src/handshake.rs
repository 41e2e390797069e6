//! Finding out which era an upstream speaks: the newer is asked for first, the older is the fallback.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;
use toolgate_spine::LogLevel;

use crate::{
    UpstreamConfig,
    child::ChildLink,
    config::Transport,
    counts::Counts,
    era::{self, Era, LEGACY, MODERN},
    fault::{Fault, shortened},
    http::{Credentials, HttpLink},
    link::{Ask, Link},
    message::Value,
    questions,
};

/// An upstream that is ready for requests.
pub(crate) struct Live {
    pub(crate) link: Link,
    pub(crate) era: Era,
    capabilities: Capabilities,
    /// The least urgent log message it was asked for, in the older era.
    pub(crate) log_level: tokio::sync::Mutex<Option<LogLevel>>,
    /// Cancelled when the connection is over.
    pub(crate) gone: CancellationToken,
}

impl Live {
    pub(crate) async fn close(&self) {
        self.gone.cancel();
        self.link.close(&self.era).await;
    }

    pub(crate) fn offers(&self, capability: &str) -> bool {
        self.capabilities.get(capability).is_some_and(serde_json::Value::is_object)
    }

    /// Whether it has a part of a capability: `listChanged`, `subscribe`.
    pub(crate) fn does(&self, capability: &str, part: &str) -> bool {
        self.capabilities.get(capability).is_some_and(|given| given.get(part) == Some(&serde_json::Value::Bool(true)))
    }
}

type Capabilities = serde_json::Map<String, serde_json::Value>;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Greeting {
    supported_versions: Option<Vec<String>>,
    protocol_version: Option<String>,
    capabilities: Capabilities,
}

/// What asking for the newer era came to.
enum Probed {
    Modern(Capabilities),
    /// It does not know the newer era, or offers the older only.
    Older,
}

pub(crate) async fn open(
    config: &UpstreamConfig,
    counts: &Arc<Counts>,
    credentials: Option<&Arc<Credentials>>,
) -> Result<Live, Fault> {
    let link = match &config.transport {
        Transport::Child { .. } => Link::Child(ChildLink::start(config, Arc::clone(counts))?),
        Transport::Http { .. } => Link::Http(HttpLink::new(config, Arc::clone(counts), credentials.cloned())?),
    };
    let (era, capabilities) = greet(&link, config.patience.probe).await?;
    Ok(Live { link, era, capabilities, log_level: tokio::sync::Mutex::default(), gone: CancellationToken::new() })
}

async fn greet(link: &Link, patience: Duration) -> Result<(Era, Capabilities), Fault> {
    let discover = link.ask(Some(&Era::Modern), Ask { method: "server/discover", ..Ask::default() });
    tokio::pin!(discover);
    if let Ok(answer) = tokio::time::timeout(patience, &mut discover).await {
        return match probed(answer)? {
            Probed::Modern(capabilities) => Ok((Era::Modern, capabilities)),
            Probed::Older => initialize(link).await,
        };
    }
    // Too old, or slow to start. Once `initialize` is sent its answer decides, whatever becomes of the first question.
    let older = initialize(link);
    tokio::pin!(older);
    let mut late = None;
    loop {
        tokio::select! {
            biased;
            answer = &mut discover, if late.is_none() => late = Some(answer),
            answer = &mut older => {
                // it was only slow: having heard the first question, it takes no handshake
                if late.is_none() && matches!(answer, Err(Fault::Refused { .. })) {
                    late = tokio::time::timeout(patience, discover).await.ok();
                }
                return match (answer, late.map(probed)) {
                    (Err(_), Some(Ok(Probed::Modern(capabilities)))) => Ok((Era::Modern, capabilities)),
                    (answer, _) => answer,
                };
            }
        }
    }
}

fn probed(answer: Result<Bytes, Fault>) -> Result<Probed, Fault> {
    let versions = match answer {
        Ok(result) => {
            let Ok(greeting) = serde_json::from_slice::<Greeting>(&result) else { return Ok(Probed::Older) };
            match greeting.supported_versions {
                Some(versions) if versions.iter().any(|version| version == MODERN) => {
                    return Ok(Probed::Modern(greeting.capabilities));
                }
                Some(versions) => versions,
                // something that answers anything to everything
                None => return Ok(Probed::Older),
            }
        }
        Err(Fault::Refused { code: -32022, data, .. }) => {
            #[derive(Deserialize)]
            struct Data {
                supported: Vec<String>,
            }
            let data = data.and_then(|data| serde_json::from_str::<Data>(&data).ok());
            data.map(|data| data.supported).unwrap_or_default()
        }
        Err(Fault::Refused { code: code @ (-32020 | -32021), message, .. }) => {
            return Err(Fault::protocol(format!("it refuses a plain request: {} ({code})", shortened(&message, 200))));
        }
        Err(Fault::Refused { .. } | Fault::Protocol { .. }) => return Ok(Probed::Older),
        // whoever stands in front of it says nothing of its age
        Err(fault @ Fault::Status { status: 300..=399 | 401 | 403 | 429 | 502..=504, .. }) => return Err(fault),
        Err(Fault::Status { .. }) => return Ok(Probed::Older),
        Err(fault) => return Err(fault),
    };
    if versions.iter().any(|version| LEGACY.contains(&version.as_str())) {
        return Ok(Probed::Older);
    }
    let versions = shortened(&versions.join(", "), 200);
    Err(Fault::protocol(format!("it offers only versions that are not known here: {versions}")))
}

async fn initialize(link: &Link) -> Result<(Era, Capabilities), Fault> {
    let (client, capabilities) = (era::client_info(), questions::declared(&link.calls().allowed));
    let members = [
        ("protocolVersion", Value::Text(LEGACY.first().unwrap_or(&MODERN))),
        ("capabilities", Value::Json(&capabilities)),
        ("clientInfo", Value::Json(&client)),
    ];
    let result = link.ask(None, Ask { method: "initialize", members: &members, ..Ask::default() }).await?;
    let greeting: Greeting = serde_json::from_slice(&result)
        .map_err(|fault| Fault::protocol(format!("its answer to initialize can't be read ({fault})")))?;
    let version = greeting.protocol_version.unwrap_or_default();
    let Some(agreed) = LEGACY.into_iter().find(|known| *known == version) else {
        let version = shortened(&version, 40);
        return Err(Fault::protocol(format!("it wants version '{version}', which is not known here")));
    };
    let era = Era::Legacy(agreed);
    link.notify(&era, "notifications/initialized").await?;
    Ok((era, greeting.capabilities))
}
