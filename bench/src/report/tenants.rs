//! The line about tenants.

use crate::run::Tenants;
use crate::workload::TENANT_TOOLS;

pub(super) fn tenants_line(tenants: Option<&Tenants>) -> String {
    let Some(of) = tenants else { return String::new() };
    format!(
        "- W7, {} tenants with {} overrides and {TENANT_TOOLS} tools: a new tenant's first list {:.1} ms, its next {:.1} ms; \
         an override is set in {:.1} ms, then the list of its tenant takes {:.1} ms and another's {:.1} ms; memory {:.1} MiB\n",
        of.tenants, of.overrides, of.cold_ms, of.next_ms, of.switch_ms, of.concerned_ms, of.other_ms, of.memory_mib,
    )
}
