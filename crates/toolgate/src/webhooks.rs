//! From `[[approvals.webhooks]]` to addresses that can be told.

use toolgate_server::{identity::Secret, webhooks::Webhook};

use crate::{
    Misuse,
    bounded_file::read_text,
    config::{Config, Given},
};

/// Everything wrong is found here, before serving.
pub fn webhooks(config: &Config) -> Result<Vec<Webhook>, Misuse> {
    let mut webhooks = Vec::new();
    for given in &config.approvals.webhooks {
        let secret = match &given.secret {
            Given::Text(text) => text.clone(),
            Given::Env(from) => std::env::var(&from.env)
                .map_err(|_| format!("[[approvals.webhooks]] secret: the variable {} is not set", from.env))?,
            Given::File(from) => read_text(&from.file)
                .map_err(|fault| format!("[[approvals.webhooks]] secret: {}: {fault}", from.file.display()))?,
        };
        let secret = Secret::new(secret.trim_end_matches(['\r', '\n']).as_bytes());
        let webhook = Webhook::new(&given.url, secret, &given.events);
        webhooks.push(webhook.map_err(|fault| format!("[[approvals.webhooks]]: {fault}"))?);
    }
    Ok(webhooks)
}
