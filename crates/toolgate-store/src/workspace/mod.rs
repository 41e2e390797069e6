//! What tasks leave for each other: results and artifacts within a process, knowledge within a tenant, and a search over
//! all of it.

mod artifacts;
mod knowledge;
mod results;
mod search;

pub use self::{
    artifacts::{Artifact, ArtifactFormat, ArtifactRepository, NewArtifact},
    knowledge::{Knowledge, KnowledgeRepository, KnowledgeVersion},
    results::{NewResult, ResultRepository, TaskResult, Which},
    search::{Found, FoundPage, Source},
};
use crate::{
    StoreError,
    error::Fault,
    statement::{Row, check_id},
};

/// The tenant as it is stored: an empty one is none, since no tenant's id is empty.
fn tenant_of(tenant: Option<&str>) -> Result<String, StoreError> {
    tenant.map_or(Ok(()), check_id).map_err(|fault| fault.during("open a workspace"))?;
    Ok(tenant.unwrap_or_default().to_owned())
}

fn process_of(process: &str) -> Result<String, StoreError> {
    check_id(process).map_err(|fault| fault.during("open a workspace"))?;
    Ok(process.to_owned())
}

fn names(row: &mut Row) -> Result<Vec<String>, Fault> {
    let text = row.text()?;
    serde_json::from_str(&text).map_err(|_| Fault::Other("a stored list is not a list of names".to_owned()))
}

fn json(names: &[String]) -> Result<String, Fault> {
    serde_json::to_string(names).map_err(|fault| Fault::Other(fault.to_string()))
}
