//! A tool's counterpart: the call of another tool that takes back what this one did, or shows what it would do. Facts say
//! which, and make its arguments out of the call's own (JMESPath over `input` and `output`).

use jmespath::{Expression, Variable};
use jsonschema::Validator;
use serde::{Deserialize, Serialize};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};
use toolgate_core::{
    Kind, Tool,
    tool::{Counterpart, Effect, Undoing},
};

use crate::{House, Undo, house::Guard, schema_check::Unchecked};

/// The call of a counterpart, as a receipt keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CounterCall {
    pub(crate) tool: String,
    pub(crate) arguments: Box<RawValue>,
}

/// Whether this can be asked of a call.
pub fn check_expression(expression: &str) -> Result<(), String> {
    jmespath::compile(expression).map(drop).map_err(|fault| fault.to_string())
}

impl CounterCall {
    /// `output` is absent before the call has run.
    pub(crate) fn of(counterpart: &Counterpart, input: &RawValue, output: Option<&[u8]>) -> Result<Self, String> {
        #[derive(Serialize)]
        struct Asked<'a> {
            input: &'a RawValue,
            #[serde(skip_serializing_if = "Option::is_none")]
            output: Option<&'a RawValue>,
        }
        let output = output.map(serde_json::from_slice::<&RawValue>).transpose().map_err(|fault| fault.to_string())?;
        let asked = serde_json::to_string(&Asked { input, output }).map_err(|fault| fault.to_string())?;
        let expression = jmespath::compile(&counterpart.arguments).map_err(|fault| fault.to_string())?;
        let arguments = arguments(&expression, &asked)?;
        Ok(Self { tool: counterpart.tool.clone(), arguments })
    }
}

fn arguments(expression: &Expression<'_>, asked: &str) -> Result<Box<RawValue>, String> {
    let found = expression.search(Variable::from_json(asked)?).map_err(|fault| fault.to_string())?;
    if !found.is_object() {
        return Err("the expression gives no object of arguments".to_owned());
    }
    to_raw_value(&found).map_err(|fault| fault.to_string())
}

impl Guard {
    /// The reason why a source's own value would not fit, in words.
    fn fit(&self, value: &Value) -> Result<(), String> {
        let fault = |validator: &Validator| {
            if validator.is_valid(value) {
                return None;
            }
            let fault = self.cost.can_explain(value).then(|| validator.validate(value).err()).flatten();
            Some(fault.map_or_else(|| "it does not fit its schema".to_owned(), |fault| fault.to_string()))
        };
        match self.check(value, |_| Ok(()), fault) {
            Ok(None) => Ok(()),
            Ok(Some(why)) => Err(why),
            Err(Unchecked::Unusable) => Err("its schema can't be used".to_owned()),
            Err(_) => Err("it is too large to be checked".to_owned()),
        }
    }
}

impl House {
    /// How a call that worked is taken back, where its source has nothing to say: by its tool's fact.
    pub(crate) fn undo_of(&self, tool: &Tool, input: &RawValue, output: &[u8]) -> Undo {
        let counterpart = match &tool.facts.undo {
            None => return Undo::Unsaid,
            Some(Undoing::Never(why)) => return Undo::Impossible(why.clone()),
            Some(Undoing::By(counterpart)) => counterpart,
        };
        let made = CounterCall::of(counterpart, input, Some(output)).and_then(|call| {
            // better said in the receipt than when somebody needs it
            if let Some(guard) = self.gate().catalog().find(&call.tool).and_then(|tool| self.guard(tool)) {
                let value = serde_json::from_str(call.arguments.get()).map_err(|fault| fault.to_string())?;
                guard.fit(&value)?;
            }
            to_raw_value(&call).map_err(|fault| fault.to_string())
        });
        match made {
            Ok(call) => Undo::Counterpart(call),
            Err(why) => Undo::Impossible(format!("'{}' can't be called with what came of it: {why}", counterpart.tool)),
        }
    }

    /// The call that shows what a call would do, by its tool's fact. Only what reads is ever called.
    pub(crate) fn preview_of(&self, tool: &Tool, input: &RawValue) -> Option<CounterCall> {
        let counterpart = tool.facts.preview.as_ref()?;
        let found = self.gate().catalog().find(&counterpart.tool);
        if !found.is_some_and(|found| found.kind == Kind::Tool && found.facts.effect == Effect::Read) {
            tracing::warn!(tool = %tool.name, preview = counterpart.tool, "there is no such tool that reads");
            return None;
        }
        match CounterCall::of(counterpart, input, None) {
            Ok(call) => Some(call),
            Err(why) => {
                tracing::warn!(tool = %tool.name, preview = counterpart.tool, "it can't be asked: {why}");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(expression: &str, input: &str, output: Option<&str>) -> Result<String, String> {
        let counterpart = Counterpart { tool: "other".to_owned(), arguments: expression.to_owned() };
        let input = RawValue::from_string(input.to_owned()).unwrap();
        let call = CounterCall::of(&counterpart, &input, output.map(str::as_bytes));
        call.map(|call| call.arguments.get().to_owned())
    }

    #[test]
    fn arguments_come_from_the_input_and_the_output() {
        let moved =
            made("{source: input.destination, destination: input.source}", r#"{"source":"a","destination":"b"}"#, None);
        assert_eq!(moved.unwrap(), r#"{"destination":"a","source":"b"}"#);
        let deleted =
            made("{id: output.structuredContent.id}", "{}", Some(r#"{"structuredContent":{"id":12345678901234}}"#));
        assert_eq!(deleted.unwrap(), r#"{"id":12345678901234}"#);
    }

    #[test]
    fn what_gives_no_arguments_is_said() {
        assert!(made("input.missing", "{}", None).unwrap_err().contains("no object"));
        assert!(made("{a: ", "{}", None).is_err() && check_expression("{a: ").is_err());
        assert!(check_expression("{a: input.b}").is_ok());
    }
}
