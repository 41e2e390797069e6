//! How much a server of the older era says: one level for everybody, so the least urgent that some client wants.

use toolgate_spine::Client;

use crate::{UpstreamConfig, era::Era, handshake::Live, link::Ask, message::Value};

impl Live {
    /// Asks for log messages as this client wants them, unless somebody has asked for as much before. A server that does
    /// not answer holds up the call only so long, and once.
    pub(crate) async fn hear(&self, client: &Client, config: &UpstreamConfig) {
        let Some(wanted) = client.log_level() else { return };
        if self.era == Era::Modern || !self.offers("logging") {
            return;
        }
        let mut set = self.log_level.lock().await;
        if set.is_some_and(|set| set <= wanted) {
            return;
        }
        *set = Some(wanted);
        let level = serde_json::to_string(&wanted).unwrap_or_default();
        let members = [("level", Value::Json(&level))];
        let ask = Ask { method: "logging/setLevel", members: &members, ..Ask::default() };
        let asked = Box::pin(self.link.ask(Some(&self.era), ask));
        match tokio::time::timeout(config.patience.probe, asked).await {
            Ok(Ok(_)) => {}
            Ok(Err(fault)) => {
                tracing::debug!(target: "toolgate::upstream", upstream = config.name, "its log level stays: it {fault}");
            }
            Err(_) => {
                tracing::debug!(target: "toolgate::upstream", upstream = config.name, "its log level stays: no answer");
            }
        }
    }
}
