//! The addresses under `/api/v1/admin`, as data: which call of which tool each of them is. A word in braces is the argument of
//! that name; all others come in the query, or in the body of a request that has one.

/// One address with one method.
pub(super) struct Route {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    /// By the name the pack itself has for it.
    pub(super) tool: &'static str,
}

pub(super) const ROOT: &str = "/api/v1";

const fn route(method: &'static str, path: &'static str, tool: &'static str) -> Route {
    Route { method, path, tool }
}

pub(super) const ROUTES: &[Route] = &[
    route("GET", "/admin/tools/catalog", "admin_list_catalog"),
    route("GET", "/admin/tools/catalog/{tool_name}", "admin_get_catalog_tool"),
    route("PUT", "/admin/tools/catalog/{tool_name}", "admin_set_catalog_tool"),
    route("DELETE", "/admin/tools/catalog/{tool_name}", "admin_reset_catalog_tool"),
    route("GET", "/admin/tools/tenant/{tenant}", "admin_list_tools"),
    route("GET", "/admin/tools/tenant/{tenant}/summary", "admin_get_summary"),
    route("GET", "/admin/tools/tenant/{tenant}/override", "admin_list_overrides"),
    route("POST", "/admin/tools/tenant/{tenant}/override", "admin_set_override"),
    route("DELETE", "/admin/tools/tenant/{tenant}/override/{tool_name}", "admin_remove_override"),
    route("GET", "/admin/tools/global-disabled", "admin_list_disabled_tools"),
    route("PUT", "/admin/tools/global-disabled/{tool_name}", "admin_disable_tool"),
    route("DELETE", "/admin/tools/global-disabled/{tool_name}", "admin_enable_tool"),
    route("GET", "/admin/tenants", "admin_list_tenants"),
    route("POST", "/admin/tenants", "admin_create_tenant"),
    route("GET", "/admin/tenants/{tenant}", "admin_get_tenant"),
    route("PATCH", "/admin/tenants/{tenant}", "admin_change_tenant"),
    route("DELETE", "/admin/tenants/{tenant}", "admin_remove_tenant"),
    route("GET", "/admin/tenants/{tenant}/members", "admin_list_members"),
    route("PUT", "/admin/tenants/{tenant}/members/{user}", "admin_set_member"),
    route("DELETE", "/admin/tenants/{tenant}/members/{user}", "admin_remove_member"),
    route("GET", "/admin/users", "admin_list_users"),
    route("POST", "/admin/users", "admin_add_user"),
    route("GET", "/admin/users/{user}", "admin_get_user"),
    route("PATCH", "/admin/users/{user}", "admin_change_user"),
    route("DELETE", "/admin/users/{user}", "admin_remove_user"),
    route("POST", "/admin/import", "admin_import"),
    route("GET", "/admin/export", "admin_export"),
];

impl Route {
    /// Whether its arguments come in a body.
    pub(super) fn has_body(&self) -> bool {
        matches!(self.method, "POST" | "PUT" | "PATCH")
    }

    /// Names of the arguments in the path.
    pub(super) fn in_path(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(argument)
    }

    /// The arguments that a path holds, percent-encoded, if it is one of this address.
    pub(super) fn matched<'p>(&self, path: &'p str) -> Option<Vec<(&'static str, &'p str)>> {
        let (mut own, mut given) = (self.path.split('/'), path.split('/'));
        let mut arguments = Vec::new();
        loop {
            match (own.next(), given.next()) {
                (None, None) => return Some(arguments),
                (Some(own), Some(given)) => match argument(own) {
                    Some(name) if !given.is_empty() => arguments.push((name, given)),
                    None if own == given => {}
                    _ => return None,
                },
                _ => return None,
            }
        }
    }
}

fn argument(step: &'static str) -> Option<&'static str> {
    step.strip_prefix('{')?.strip_suffix('}')
}

/// The path within, if it is one of these.
pub(super) fn within(path: &str) -> Option<&str> {
    let path = path.strip_prefix(ROOT)?;
    path.strip_prefix("/admin").is_some_and(|rest| rest.is_empty() || rest.starts_with('/')).then_some(path)
}

/// The methods that an address takes.
pub(super) fn methods(path: &str) -> Vec<&'static str> {
    ROUTES.iter().filter(|route| route.matched(path).is_some()).map(|route| route.method).collect()
}
