//! From `[[upstreams]]` to a connection: the program or the address, with values read from where the configuration says.

use toolgate_upstream::{ChildSandbox, ChildUser, ClientCredentials, SecretText, Transport, UpstreamConfig};

use crate::{
    bounded_file::read_text,
    child_programs::{find_user, reaper},
    config::{self, Config, Given},
    gateway_files::GatewayFiles,
    upstreams::UpstreamProblem,
};

/// Finds the sandboxes that would not hold.
pub fn check_sandboxes(config: &Config, files: &GatewayFiles) -> Result<(), UpstreamProblem> {
    config.upstreams.iter().filter(|upstream| upstream.enabled).try_for_each(|one| sandbox(one, files).map(drop))
}

fn sandbox(upstream: &config::Upstream, files: &GatewayFiles) -> Result<Option<ChildSandbox>, UpstreamProblem> {
    files.sandbox(upstream).map_err(|reason| UpstreamProblem::Sandbox { upstream: upstream.name.clone(), reason })
}

/// The connection that the configuration describes.
pub fn connection(
    upstream: &config::Upstream,
    config: &Config,
    files: &GatewayFiles,
) -> Result<UpstreamConfig, UpstreamProblem> {
    let read = |name: &str, given: &Given| value(&upstream.name, name, given);
    let transport = match (&upstream.command, &upstream.url) {
        (Some(command), _) => Transport::Child {
            command: command.clone(),
            args: upstream.args.clone(),
            env: upstream
                .env
                .iter()
                .map(|(name, given)| Ok((name.clone(), read(name, given)?)))
                .collect::<Result<_, _>>()?,
            cwd: upstream.cwd.clone(),
            user: upstream.user.as_deref().map(|user| as_user(&upstream.name, user)).transpose()?,
            sandbox: sandbox(upstream, files)?,
            reaper: reaper(),
        },
        (None, url) => Transport::Http {
            auth: upstream.auth.as_ref().map(|auth| credentials(upstream, auth)).transpose()?,
            url: url.clone().unwrap_or_default(),
            headers: upstream
                .headers
                .iter()
                .map(|(name, given)| Ok((name.clone(), read(name, given)?)))
                .collect::<Result<_, _>>()?,
        },
    };
    let defaults = UpstreamConfig::new(&upstream.name, transport);
    Ok(UpstreamConfig {
        include: upstream.include.clone(),
        exclude: upstream.exclude.clone(),
        timeout_ms: upstream.timeout_ms.unwrap_or(config.limits.timeout_ms),
        ask: upstream
            .ask
            .as_ref()
            .map_or(defaults.ask, |asked| asked.iter().map(|question| question.asking()).collect()),
        caller_concurrency: upstream.caller_concurrency.and_then(|most| usize::try_from(most).ok()),
        concurrency: upstream.concurrency.and_then(|most| usize::try_from(most).ok()).unwrap_or(defaults.concurrency),
        ..defaults
    })
}

fn as_user(upstream: &str, user: &str) -> Result<ChildUser, UpstreamProblem> {
    let problem = |reason| UpstreamProblem::User { upstream: upstream.to_owned(), user: user.to_owned(), reason };
    find_user(user).map_err(problem)
}

fn credentials(upstream: &config::Upstream, auth: &config::Auth) -> Result<ClientCredentials, UpstreamProblem> {
    Ok(ClientCredentials {
        token_url: auth.token_url.clone(),
        issuer: auth.issuer.clone(),
        client_id: auth.client_id.clone(),
        client_secret: value(&upstream.name, "client_secret", &auth.client_secret)?,
        scopes: auth.scopes.clone(),
        resource: auth.resource.clone(),
    })
}

fn value(upstream: &str, name: &str, given: &Given) -> Result<SecretText, UpstreamProblem> {
    match given {
        Given::Text(text) => Ok(SecretText::new(text.clone())),
        Given::Env(from) => std::env::var(&from.env).map(SecretText::new).map_err(|_| UpstreamProblem::NotSet {
            upstream: upstream.to_owned(),
            name: name.to_owned(),
            variable: from.env.clone(),
        }),
        Given::File(from) => {
            read_text(&from.file).map(|text| SecretText::new(text.trim_end_matches(['\r', '\n']))).map_err(|fault| {
                UpstreamProblem::Unreadable { path: from.file.display().to_string(), reason: fault.to_string() }
            })
        }
    }
}
