//! `/api/v1/admin`: each request is one call of one tool of the pack `admin`, through the same path as over MCP and in the same
//! caller's name. The answer is `{success, message, data?}`.

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header, request::Parts};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json, value::to_raw_value};
use toolgate_core::{Caller, Decision, Found, Gate, Kind, Tool};
use toolgate_mcp::Identified;
use toolgate_spine::{Call, Outcome};

use super::{
    Site,
    admin_routes::{ROUTES, Route, methods, within},
    body::RequestBody,
    json::{Problem, members, read, sent},
    route::{Answer, preflight},
};

/// The pack behind all of this.
const PACK: &str = "admin";
/// Room for a large import.
const BODY_BYTES: usize = 16 << 20;

/// Whether this path is one of ours.
pub(super) fn is_here(path: &str) -> bool {
    within(path).is_some()
}

/// The tool of the pack, whatever name it is listed under.
pub(super) fn tool_of<'g>(gate: &'g Gate, own_name: &str) -> Option<&'g Arc<Tool>> {
    gate.catalog().tools().find(|tool| &*tool.source == PACK && tool.own_name.as_str() == own_name)
}

impl Site {
    pub(super) async fn admin(&self, head: &Parts, body: RequestBody, browser: bool) -> Answer {
        let path = within(head.uri.path()).unwrap_or_default();
        let allowed = methods(path).join(", ");
        if head.method == Method::OPTIONS && browser && !allowed.is_empty() {
            return listing_methods(preflight(head), header::ACCESS_CONTROL_ALLOW_METHODS, &allowed);
        }
        let Identified { caller, rejected } = match self.identified(head).await {
            Ok(identified) => identified,
            Err(fault) => return failed(unavailable(fault.to_string())),
        };
        if !caller.is_signed_in() {
            let remedy = "send a bearer token: toolgate token mint --user NAME";
            return failed(Problem::not_signed_in("sign in first", rejected, remedy));
        }
        let matched = |route: &&Route| head.method.as_str() == route.method;
        let found = ROUTES.iter().filter(matched).find_map(|route| Some((route, route.matched(path)?)));
        let Some((route, in_path)) = found else {
            if allowed.is_empty() {
                return failed(nothing("nothing is at this address", "see GET /api/v1/openapi.json"));
            }
            let message = format!("this address takes {allowed}");
            let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", message, "use one of those");
            return listing_methods(failed(problem), header::ALLOW, &allowed);
        };
        let gate = self.spine.gate();
        let Some(tool) = tool_of(&gate, route.tool) else {
            let remedy = "add [packs.admin] to toolgate.toml";
            return failed(nothing("the pack 'admin' is not loaded", remedy));
        };
        // whoever may not call it is told so before a body is read
        if !is_callable(&gate, &caller, tool) {
            if body.seat().is_some_and(|seat| !seat.take()) {
                return failed(Problem::overloaded("too many requests are being answered"));
            }
            let named = in_path.into_iter().map(|(name, value)| Ok((name.to_owned(), decoded(value)?.into())));
            return match named.collect::<Result<Map<String, Value>, Problem>>() {
                Ok(arguments) => self.call(&caller, tool, arguments).await,
                Err(problem) => failed(problem),
            };
        }
        match arguments(head, body, route, tool, in_path).await {
            Ok(arguments) => self.call(&caller, tool, arguments).await,
            Err(problem) => failed(problem),
        }
    }

    async fn call(&self, caller: &Arc<Caller>, tool: &Tool, arguments: Map<String, Value>) -> Answer {
        let Ok(arguments) = to_raw_value(&arguments) else {
            return failed(Problem::wrong("the arguments are no JSON"));
        };
        let call = Call::of(Kind::Tool, tool.name.as_str(), Some(&arguments), self.spine.gate().lang());
        match self.spine.call(caller, call).await {
            Outcome::Answered(result) => answered(&result),
            Outcome::Refused { code: "invalid_arguments", answer, .. } => answered(&answer.into_bytes()),
            outcome => failed(problem(outcome)),
        }
    }
}

/// Whether the rules let this caller call the tool, whatever they say of its arguments.
fn is_callable(gate: &Gate, caller: &Caller, tool: &Tool) -> bool {
    let found = gate.view(caller).map(|view| gate.find(&view, caller, tool.name.as_str(), false, false, gate.lang()));
    matches!(found, Some(Found::Tool { decision: Decision::Allow | Decision::NeedsApproval(_), .. }))
}

/// From the path, the query and the body: each argument from one of them.
async fn arguments(
    head: &Parts,
    body: RequestBody,
    route: &Route,
    tool: &Tool,
    in_path: Vec<(&'static str, &str)>,
) -> Result<Map<String, Value>, Problem> {
    let mut arguments: Map<String, Value> = match route.has_body() && !body.is_empty() {
        true => read(head, body, BODY_BYTES).await?,
        false => Map::new(),
    };
    let twice = |name: &str| Problem::wrong(format!("argument '{name}' is given twice"));
    let definition: Value = serde_json::from_str(tool.definition.get()).unwrap_or_default();
    for (name, value) in members(head.uri.query().unwrap_or_default()) {
        let (name, value) = (decoded(&name.replace('+', " "))?.into_owned(), value.replace('+', " "));
        let value = typed(&definition, &name, &decoded(&value)?);
        if arguments.insert(name.clone(), value).is_some() {
            return Err(twice(&name));
        }
    }
    for (name, value) in in_path {
        if arguments.insert(name.to_owned(), decoded(value)?.into()).is_some() {
            return Err(twice(name));
        }
    }
    Ok(arguments)
}

fn decoded(text: &str) -> Result<Cow<'_, str>, Problem> {
    percent_decode_str(text).decode_utf8().map_err(|_| Problem::wrong("the address is not UTF-8"))
}

/// A query holds text alone; what the tool takes as a number or a truth value is meant as one.
fn typed(definition: &Value, name: &str, text: &str) -> Value {
    let property = definition.pointer("/inputSchema/properties").and_then(|properties| properties.get(name));
    let read = match property.and_then(|property| property.get("type")).and_then(Value::as_str) {
        Some("integer") => text.parse::<i64>().ok().map(Value::from),
        Some("boolean") => text.parse::<bool>().ok().map(Value::from),
        _ => None,
    };
    read.unwrap_or_else(|| text.into())
}

/// The tool's own answer, good or not.
fn answered(result: &Bytes) -> Answer {
    let mut result: Value = serde_json::from_slice(result).unwrap_or_default();
    let content = result.get_mut("structuredContent").map(Value::take).unwrap_or_default();
    if result.get("isError").and_then(Value::as_bool) == Some(true) {
        let text = |key: &str| content.get(key).and_then(Value::as_str).map(str::to_owned);
        let code = text("code").unwrap_or_else(|| "failed".to_owned());
        let status = match code.as_str() {
            "validation" | "invalid_arguments" => StatusCode::BAD_REQUEST,
            "not_found" => StatusCode::NOT_FOUND,
            "conflict" => StatusCode::CONFLICT,
            "owner_required" | "operator_required" => StatusCode::FORBIDDEN,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        let message = text("error").or_else(|| text("message")).unwrap_or_default();
        return failed(Problem { status, code, message, remedy: text("remedy") });
    }
    let message =
        match (content.get("dry_run").and_then(Value::as_bool), content.get("changed").and_then(Value::as_bool)) {
            (Some(true), _) => "nothing was changed: this is what would be",
            (_, Some(true)) => "changed",
            (_, Some(false)) => "nothing was to be changed",
            _ => "found",
        };
    let mut body = json!({ "success": true, "message": message, "data": content });
    if let (Some(receipt), Some(body)) = (result.pointer("/_meta/toolgate~1receipt"), body.as_object_mut()) {
        body.insert("receipt".to_owned(), receipt.clone());
    }
    sent(StatusCode::OK, &body)
}

fn problem(outcome: Outcome) -> Problem {
    match outcome {
        Outcome::Denied { denial, .. } => denial.into(),
        Outcome::NeedsApproval { denial, approval, .. } => {
            let mut problem = Problem::from(denial);
            if let Some(approval) = approval {
                problem.remedy = Some(format!("have approval {} granted, and send the request again", approval.id));
            }
            problem
        }
        // hidden from this caller: here that there is such an address is no secret
        Outcome::Unknown => {
            let message = "this is for an admin or owner of the tenant, or for the operator";
            Problem::new(StatusCode::FORBIDDEN, "not_allowed", message, "send the token of one who may")
        }
        Outcome::Refused { code, message, .. } => {
            let status = match code {
                "rate_limited" => StatusCode::TOO_MANY_REQUESTS,
                "argument_too_large" => StatusCode::PAYLOAD_TOO_LARGE,
                _ => StatusCode::SERVICE_UNAVAILABLE,
            };
            Problem { status, code: code.to_owned(), message, remedy: None }
        }
        Outcome::Unbound { argument, .. } => {
            Problem::wrong(format!("argument '{argument}' is not known of this caller"))
        }
        Outcome::Unrecorded { message } => unavailable(message),
        _ => unavailable("this can't be done now".to_owned()),
    }
}

fn nothing(message: &str, remedy: &str) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "unknown", message, remedy)
}

fn unavailable(message: String) -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "unavailable",
        message,
        "try again, and tell the operator if it stays",
    )
}

fn failed(problem: Problem) -> Answer {
    problem.answer_with(|body| drop(body.insert("success".to_owned(), false.into())))
}

fn listing_methods(mut answer: Answer, name: header::HeaderName, methods: &str) -> Answer {
    if let Ok(methods) = HeaderValue::from_str(methods) {
        answer.headers_mut().insert(name, methods);
    }
    answer
}
