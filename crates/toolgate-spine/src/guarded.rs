//! Second step: bind, validate, ask the rules over arguments, and keep within limits.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Instant,
};

use indexmap::IndexMap;
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};
use toolgate_core::{Caller, Decision, Denial, Gate, Lang, Tool, has_reserved_key};

use crate::{
    ArgumentFault, Decided, Outcome, ToolAnswer,
    name_variant::{NameVariant, TooManyNames, name_variant},
    schema_check::Unchecked,
};

/// What is wrong with the arguments.
enum Misfit {
    /// A name that could be taken for another.
    Name(NameVariant),
    /// A value that the schema does not allow.
    Value(ArgumentFault),
}

/// A call whose arguments are complete, valid and allowed.
pub struct Guarded {
    pub(crate) decided: Decided,
    pub(crate) arguments: Box<RawValue>,
    // INVARIANT: made only by `guard`
    _by_guard: (),
}

/// Credentials that some clients can only send as arguments. The gate has read them; no tool ever sees them, whatever its
/// schema declares.
const CREDENTIAL_ARGUMENTS: [&str; 2] = ["session_token", "coordinator_token"];

type RawObject = IndexMap<String, Box<RawValue>>;

impl Decided {
    pub(crate) fn guard(self, given: Option<&RawValue>) -> Result<Guarded, Box<Outcome>> {
        let (decided, arguments) = self.fitted(given, &[])?;
        decided.take_rate()?;
        Ok(Guarded { decided, arguments, _by_guard: () })
    }

    /// The call as something to look at, which counts against no rate.
    pub(crate) fn previewed(self, given: Option<&RawValue>) -> Result<Previewed, Box<Outcome>> {
        let (decided, arguments) = self.fitted(given, &[])?;
        Ok(Previewed { guarded: Guarded { decided, arguments, _by_guard: () } })
    }

    /// Counts the call against the rates of its tool.
    fn take_rate(&self) -> Result<(), Box<Outcome>> {
        let Some(guard) = self.house.guard(&self.tool) else { return Err(Box::new(Outcome::Unknown)) };
        let own = || guard.rate.as_ref().and_then(|rate| rate.take(&self.caller.principal(), Instant::now()).err());
        let all = || guard.total_rate.as_ref().and_then(|rate| rate.take("", Instant::now()).err());
        let Some(wait) = own().or_else(all) else { return Ok(()) };
        let seconds = wait.as_secs() + 1;
        let message = format!("{} was called too often. Try again in {seconds} s.", self.tool.called());
        Err(Box::new(self.house.refused(&self.tool, "rate_limited", message, Some(seconds))))
    }

    /// Everything that depends on the arguments. Those at `unknown`, which are JSON pointers, are not known yet: what
    /// depends on them is left to the call itself.
    pub(crate) fn fitted(
        mut self,
        given: Option<&RawValue>,
        unknown: &[String],
    ) -> Result<(Self, Box<RawValue>), Box<Outcome>> {
        let house = Arc::clone(&self.house);
        let Some(guard) = house.guard(&self.tool) else { return Err(Box::new(Outcome::Unknown)) };
        let limits = &self.tool.facts.limits;
        let most = limits.argument_bytes.unwrap_or(house.defaults.argument_bytes);
        if given.is_some_and(|given| given.get().len() as u64 > most) {
            return Err(self.refuse(
                "argument_too_large",
                format!("The arguments of {} '{}' are larger than {most} bytes.", self.tool.kind, self.tool.wire_name),
            ));
        }
        let arguments = self.bound(given)?;
        if may_hold_reserved_key(arguments.get()) && has_reserved_key(arguments.get()) {
            let what = "the arguments have a key that is reserved and can't be passed on";
            return Err(self.misfit(&self.fault(what, String::new())));
        }
        let value: Value = serde_json::from_str(arguments.get()).map_err(|fault| self.invalid_json(&fault))?;
        let charge = |steps| house.check_limit.charge(&self.caller.principal(), steps);
        let (lang, bound) = (self.lang, &self.tool.facts.bind);
        let checked = guard.check(&value, charge, |validator| {
            let variant = name_variant(&guard.schema, bound.keys(), &value)?;
            Ok(match variant {
                Some(variant) => Some(Misfit::Name(variant)),
                None => ArgumentFault::of(guard, validator, &value, unknown, lang).map(Misfit::Value),
            })
        });
        let misfit = checked.map_err(|unchecked| self.unchecked(unchecked))?;
        let misfit = misfit.map_err(|TooManyNames| self.unchecked(Unchecked::TooLarge))?;
        let fault = misfit.map(|misfit| match misfit {
            Misfit::Value(fault) => fault,
            Misfit::Name(NameVariant { path, name, meant }) => {
                let what = format!("Argument '{name}' is '{meant}' in another case, so that it could be taken for it");
                let (keyword, property) = ("additionalProperties".to_owned(), Some(name));
                ArgumentFault { keyword, property, ..self.fault(&what, path) }
            }
        });
        if let Some(fault) = fault {
            return Err(self.misfit(&fault));
        }
        if !unknown.is_empty() {
            self.needs = self.needs.take().or_else(|| self.may_need_approval());
            return Ok((self, arguments));
        }
        match house.gate.decide_arguments(
            &self.view,
            &self.caller,
            &self.tool,
            (false, self.dry_run),
            Some(&arguments),
            self.lang,
        ) {
            Decision::Allow => {}
            // the rule over arguments says more of why
            Decision::NeedsApproval(denial) => self.needs = Some(denial),
            Decision::Deny(denial) => return Err(Box::new(Outcome::denied(self.tool, denial, &self.caller))),
        }
        Ok((self, arguments))
    }

    fn unchecked(&self, why: Unchecked) -> Box<Outcome> {
        let called = self.tool.called();
        match why {
            Unchecked::Unusable => self.refuse(
                "schema_unusable",
                format!("The input schema of tool '{}' can't be used, so no call is let through.", self.tool.wire_name),
            ),
            Unchecked::TooLarge => self.refuse(
                "argument_too_large",
                format!("The arguments of {called} are too many to be checked against its schema."),
            ),
            Unchecked::Exhausted(wait) => {
                let seconds = wait.as_secs() + 1;
                let message = format!("Too many large arguments of {called} were checked. Try again in {seconds} s.");
                Box::new(self.house.refused(&self.tool, "rate_limited", message, Some(seconds)))
            }
        }
    }

    /// For arguments that are not known yet: whether a rule over them could ask for an approval.
    fn may_need_approval(&self) -> Option<Denial> {
        let rulebook = self.house.gate.rulebook();
        let asks = rulebook.rules().iter().find(|rule| rule.reads_arguments && rule.needs_approval)?;
        rulebook.reads_arguments_of(self.tool.name.as_str()).then(|| Denial {
            code: "approval_required".to_owned(),
            message: format!("{} may require approval, once its arguments are known.", self.tool.called()),
            rule: asks.id.clone(),
            remedy: None,
            source: None,
        })
    }

    /// The arguments with bound ones filled in and credentials taken out; the very bytes where neither applies.
    fn bound(&self, given: Option<&RawValue>) -> Result<Box<RawValue>, Box<Outcome>> {
        let text = given.map_or("{}", RawValue::get);
        // a name may also be written with escapes
        let mentions = |name: &str| text.contains(name) || text.contains("\\u");
        let bind = &self.tool.facts.bind;
        if bind.is_empty() && !CREDENTIAL_ARGUMENTS.iter().any(|name| mentions(name)) {
            return match given {
                Some(given) => Ok(given.to_owned()),
                None => RawValue::from_string(text.to_owned()).map_err(|fault| self.invalid_json(&fault)),
            };
        }
        let mut arguments: RawObject = serde_json::from_str(text).map_err(|fault| self.invalid_json(&fault))?;
        let before = arguments.len();
        arguments.retain(|name, _| !CREDENTIAL_ARGUMENTS.contains(&name.as_str()));
        if bind.is_empty() && arguments.len() == before {
            return RawValue::from_string(text.to_owned()).map_err(|fault| self.invalid_json(&fault));
        }
        for (name, binding) in bind {
            let Some(value) = binding.value(&self.caller) else {
                return Err(Box::new(Outcome::Unbound { tool: Arc::clone(&self.tool), argument: name.clone() }));
            };
            let same = |given: &RawValue| serde_json::from_str::<String>(given.get()).is_ok_and(|given| given == value);
            if arguments.get(name).is_some_and(|given| !same(given)) {
                let what = format!("Argument '{name}' is filled from the caller and can't be set to another value");
                let fault = self.fault(&what, format!("/{name}"));
                return Err(self.misfit(&ArgumentFault {
                    keyword: "bind".to_owned(),
                    property: Some(name.clone()),
                    ..fault
                }));
            }
            arguments.insert(name.clone(), to_raw_value(value).map_err(|fault| self.invalid_json(&fault))?);
        }
        to_raw_value(&arguments).map_err(|fault| self.invalid_json(&fault))
    }

    /// Arguments that do not fit, in the source's words if it has any.
    fn misfit(&self, fault: &ArgumentFault) -> Box<Outcome> {
        let worded = self.house.sources.get(&self.tool.source).and_then(|source| {
            // a source without words for it is one that fails over it
            catch_unwind(AssertUnwindSafe(|| source.word(&self.tool, fault))).ok().flatten()
        });
        let answer = worded.unwrap_or_else(|| {
            let place = if fault.path.is_empty() { "the arguments".to_owned() } else { format!("'{}'", fault.path) };
            let message = format!("Invalid arguments for tool '{}': {} at {place}.", self.tool.wire_name, fault.message);
            self.house.failure(
                &self.tool,
                &serde_json::json!({"code": "invalid_arguments", "message": message, "rule": "input_schema", "path": fault.path}),
                &message,
            )
        });
        let (tool, message) = (Arc::clone(&self.tool), fault.message.clone());
        Box::new(Outcome::Refused { tool, code: "invalid_arguments", message, answer })
    }

    fn invalid_json(&self, fault: &serde_json::Error) -> Box<Outcome> {
        self.misfit(&self.fault(&format!("not an object of arguments ({fault})"), String::new()))
    }

    fn fault(&self, what: &str, path: String) -> ArgumentFault {
        let (keyword, message) = ("type".to_owned(), what.to_owned());
        ArgumentFault { path, keyword, property: None, message, arguments: Value::Null, lang: self.lang }
    }

    pub(crate) fn refuse(&self, code: &'static str, message: String) -> Box<Outcome> {
        Box::new(self.house.refused(&self.tool, code, message, None))
    }
}

/// False where no key of the text can be reserved; the wire has looked at what comes from a client.
fn may_hold_reserved_key(text: &str) -> bool {
    text.contains("serde_json") || text.contains("\\u")
}

/// A call that is looked at and never runs: nothing takes it that runs anything.
pub struct Previewed {
    pub(crate) guarded: Guarded,
}

impl Previewed {
    pub fn caller(&self) -> &Caller {
        &self.guarded.decided.caller
    }

    pub fn tool(&self) -> &Tool {
        &self.guarded.decided.tool
    }

    /// Complete and valid, as a run would get them.
    pub fn arguments(&self) -> &RawValue {
        &self.guarded.arguments
    }

    pub fn lang(&self) -> Lang {
        self.guarded.decided.lang
    }

    /// The gate that decided it.
    pub fn gate(&self) -> &Gate {
        self.guarded.decided.house.gate()
    }
}

impl Guarded {
    /// The taking back of an earlier call, with what that call said it takes. The gate has decided; there is no schema for
    /// what a source wrote for itself. The rates hold for it as for any call.
    pub(crate) fn undoing(decided: Decided, record: Box<RawValue>) -> Result<Self, Box<Outcome>> {
        decided.take_rate()?;
        Ok(Self { decided, arguments: record, _by_guard: () })
    }

    /// A call that fits, to be approved before it is made: it is guarded once more when it is.
    pub(crate) fn to_be_approved(decided: Decided, arguments: Box<RawValue>) -> Self {
        Self { decided, arguments, _by_guard: () }
    }

    /// A call that was guarded before, and fits under other rules too. It counts against the rates once.
    pub(crate) fn fitted_again(decided: Decided, arguments: Box<RawValue>) -> Self {
        Self { decided, arguments, _by_guard: () }
    }

    /// The very call, to be looked at.
    pub(crate) fn previewed(&self) -> Previewed {
        let (decided, arguments) = (self.decided.clone(), self.arguments.clone());
        Previewed { guarded: Self { decided, arguments, _by_guard: () } }
    }

    /// What a call would do, without doing it: the arguments it would run with. A read gives no more than that either.
    pub(crate) fn preview(&self) -> ToolAnswer {
        let tool: &Tool = &self.decided.tool;
        // it goes on record as well, so that what is secret stays out of it
        let house = &self.decided.house;
        let redactor = house.guard(tool).map_or(&house.plain, |guard| &guard.redactor);
        let shown = redactor.json(self.arguments.get());
        let text = format!("Dry run: tool '{}' was not run. It would be called with {shown}", tool.wire_name);
        let kind = RawValue::from_string("\"static\"".to_owned());
        let answer = ToolAnswer::text(&text);
        kind.map_or_else(|_| answer.clone(), |kind| answer.clone().with_meta("toolgate/dryRun", &kind))
    }
}
