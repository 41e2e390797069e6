//! Who asks outside MCP, and what is for operators alone.

use http::{StatusCode, request::Parts};

use toolgate_mcp::{Identified, IdentityUnavailable};

use super::{Site, json::Problem, route::by_header};

impl Site {
    /// Who asks outside MCP, within the flow that the credential names, as over MCP.
    pub(super) async fn identified(&self, head: &Parts) -> Result<Identified, IdentityUnavailable> {
        let Identified { caller, rejected } = self.identify.identify(by_header(head)).await?;
        Ok(Identified { caller: self.spine.within_configured_flow(caller), rejected })
    }

    /// An operator in person: a task or an agent that carries an operator's credential is still a task or an agent.
    pub(super) async fn for_operators(&self, head: &Parts, message: &str) -> Result<(), Problem> {
        let remedy = "send an operator's token: toolgate token mint --user NAME --operator";
        let identified = match self.identified(head).await {
            Ok(identified) => identified,
            Err(fault) => {
                let message = fault.to_string();
                return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message, "try again"));
            }
        };
        let Identified { caller, rejected } = identified;
        if caller.operator && caller.task.is_none() && caller.agent.is_none() {
            Ok(())
        } else if caller.operator || caller.is_signed_in() {
            Err(Problem::new(StatusCode::FORBIDDEN, "operators_only", message, remedy))
        } else {
            Err(Problem::not_signed_in(message, rejected, remedy))
        }
    }
}
