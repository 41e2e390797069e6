//! What came of a call, as the gate passes it on.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use toolgate_spine::{Asking, Client, InputRequired, SourceFault, ToolAnswer};

use crate::{
    Fault,
    elsewhere::ADDRESS_REQUIRED,
    fault::shortened,
    marks::{part_without_marks, without_marks},
    questions, scan,
    upstream::Inner,
};

impl Inner {
    /// `asked`: the client that the upstream may ask for more input, in its answer.
    pub(crate) fn concluded(
        &self,
        answer: Result<Bytes, Fault>,
        asked: Option<&Client>,
    ) -> Result<ToolAnswer, SourceFault> {
        let unavailable = |fault: &Fault| SourceFault::Unavailable(fault.about(&self.config.name));
        let most = self.config.result_bytes;
        match answer {
            Ok(result) if result.len() > most => Err(unavailable(&Fault::TooLarge { most })),
            Ok(result) => self.passed_on(result, asked).map_err(|fault| unavailable(&fault))?,
            // an error that asks, of one that may not
            Err(Fault::Refused { code: ADDRESS_REQUIRED, .. }) if !self.config.ask.contains(&Asking::Elicitation) => {
                let why = "ask in its entry in the configuration leaves that out".to_owned();
                Err(unavailable(&Fault::MayNotAsk { what: Asking::Elicitation.capability(), why }))
            }
            // an error of its own reaches the client as it came: some tell the client what to do
            Err(Fault::Refused { code, message, data }) => {
                let data = data.map(|data| part_without_marks(&data).unwrap_or(data));
                Err(SourceFault::Rejected { code, message, data })
            }
            Err(Fault::TooLarge { .. }) => Err(unavailable(&Fault::TooLarge { most })),
            Err(fault) => Err(unavailable(&fault)),
        }
    }

    /// The result as it came, but for `resultType`: the gate's own wire says that in the caller's era.
    fn passed_on(&self, result: Bytes, asked: Option<&Client>) -> Result<Result<ToolAnswer, SourceFault>, Fault> {
        if result.first() != Some(&b'{') {
            return Err(Fault::protocol("the result of a call is no object"));
        }
        let result = without_marks(result);
        if memchr::memmem::find(&result, b"resultType").is_none() {
            return Ok(Ok(ToolAnswer::raw(result)));
        }
        let text = std::str::from_utf8(&result).map_err(|_| Fault::protocol("the result of a call is not UTF-8"))?;
        match (scan::member(text, "resultType"), asked) {
            (None, _) => Ok(Ok(ToolAnswer::raw(result))),
            (Some("\"complete\""), _) => {
                let rest = scan::without(text, "resultType").map(Bytes::from);
                Ok(Ok(ToolAnswer::raw(rest.unwrap_or(result))))
            }
            (Some("\"input_required\""), Some(client)) => {
                self.input_required(text, client).map(|input| Err(SourceFault::InputRequired(input)))
            }
            (Some(kind), _) => Err(Fault::protocol(format!("it answered a call with a {}", shortened(kind, 40)))),
        }
    }

    /// The questions of an upstream that it may ask, every one of them.
    fn input_required(&self, result: &str, client: &Client) -> Result<InputRequired, Fault> {
        #[derive(Deserialize)]
        struct Question<'a> {
            method: String,
            #[serde(borrow)]
            params: Option<&'a RawValue>,
        }
        let wrong = |what: &str| Fault::protocol(format!("it asks for input with {what}"));
        let state = scan::member(result, "requestState").map(serde_json::from_str::<String>).transpose();
        let state = state.map_err(|_| wrong("a requestState that is no text"))?;
        let requests = scan::member(result, "inputRequests");
        if requests.is_none() && state.is_none() {
            return Err(wrong("neither questions nor a state"));
        }
        if requests.is_some_and(|requests| !requests.starts_with('{')) {
            return Err(wrong("inputRequests that are no object"));
        }
        for (_, question) in requests.map(scan::members).into_iter().flatten() {
            let text = requests.and_then(|requests| requests.get(question)).unwrap_or_default();
            let question =
                serde_json::from_str::<Question<'_>>(text).map_err(|_| wrong("a question without a method"))?;
            let asking = Asking::of_method(&question.method);
            let asking = asking.ok_or_else(|| wrong(&format!("the method '{}'", shortened(&question.method, 40))))?;
            let params = question.params.map_or("{}", RawValue::get);
            questions::admitted(client, &self.config.ask, asking, params)
                .map_err(|fault| Fault::MayNotAsk { what: asking.capability(), why: fault.message })?;
        }
        Ok(InputRequired { requests: requests.map(str::to_owned), state })
    }
}
