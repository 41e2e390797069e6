//! Interactions outside the protocol to which a server of the older era sent clients, by its names for them.
//!
//! INVARIANT: the end of one is told once, to the client that was sent there; a name under which two were sent is nobody's.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use serde::Deserialize;
use serde_json::value::RawValue;
use toolgate_spine::{Asking, Client};

use crate::{fault::Fault, message::Request};

/// The error that says where a client must go before its call can run.
pub(crate) const ADDRESS_REQUIRED: i64 = -32042;
/// Names that are remembered; of more, the oldest are forgotten.
const MOST: usize = 1024;
/// Of one answer.
const MOST_AT_ONCE: usize = 16;
const NAME_BYTES: usize = 256;

#[derive(Default)]
pub(crate) struct Elsewhere(Mutex<Sent>);

#[derive(Default)]
struct Sent {
    /// `None` for a name under which two clients were sent.
    by_name: HashMap<String, (u64, Option<Client>)>,
    count: u64,
}

/// What a client was sent to, and what has ended.
#[derive(Deserialize)]
struct Elicitation {
    mode: Option<String>,
    #[serde(rename = "elicitationId")]
    name: String,
}

impl Elsewhere {
    /// A question was put to a client; it may send it to an address.
    pub(crate) fn asked(&self, asking: Asking, request: &Request<'_>, client: &Client) {
        if asking == Asking::Elicitation
            && let Some(params) = request.params
        {
            self.sent(params, client);
        }
    }

    /// A call was refused; it may be that its client must go to some addresses first.
    pub(crate) fn refused(&self, fault: &Fault, client: &Client) {
        #[derive(Deserialize)]
        struct Data<'a> {
            #[serde(borrow)]
            elicitations: Vec<&'a RawValue>,
        }
        let Fault::Refused { code: ADDRESS_REQUIRED, data: Some(data), .. } = fault else { return };
        let Ok(data) = serde_json::from_str::<Data<'_>>(data) else { return };
        data.elicitations.into_iter().take(MOST_AT_ONCE).for_each(|one| self.sent(one, client));
    }

    fn sent(&self, params: &RawValue, client: &Client) {
        let Ok(elicitation) = serde_json::from_str::<Elicitation>(params.get()) else { return };
        if elicitation.mode.as_deref() != Some("url") || elicitation.name.len() > NAME_BYTES {
            return;
        }
        let mut sent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Sent { by_name, count } = &mut *sent;
        *count += 1;
        // sent there again, by another call perhaps, it is still the same one's
        let others = by_name
            .get(&elicitation.name)
            .is_some_and(|(_, known)| !known.as_ref().is_some_and(|known| known.is(client)));
        by_name.insert(elicitation.name, (*count, (!others).then(|| client.without_place())));
        if by_name.len() > MOST {
            let oldest = by_name.iter().min_by_key(|(_, (at, _))| *at).map(|(name, _)| name.clone());
            oldest.and_then(|name| by_name.remove(&name));
        }
    }

    /// Tells the client whose it is; else says why nobody is told.
    pub(crate) fn ended(&self, params: &RawValue) -> Result<(), &'static str> {
        let elicitation = serde_json::from_str::<Elicitation>(params.get()).map_err(|_| "it has no name")?;
        let mut sent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match sent.by_name.get(&elicitation.name) {
            None => return Err("nobody was sent there under this name, or it has ended before"),
            Some((_, None)) => return Err("several clients were sent there under this name"),
            Some((_, Some(_))) => {}
        }
        let client = sent.by_name.remove(&elicitation.name).and_then(|(_, client)| client).unwrap_or_default();
        drop(sent);
        if client.ended(params) { Ok(()) } else { Err("its client has no stream to hear of it") }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;
    use toolgate_spine::{Line, Said};

    use super::*;

    fn client() -> (Client, mpsc::Receiver<Said>) {
        let (said, heard) = mpsc::channel(4);
        let capabilities = raw(r#"{"elicitation":{"url":{}}}"#);
        (Client::on(Line { said, wants_progress: false, log: None, capabilities, address: None }), heard)
    }

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    fn refusal(names: &[&str]) -> Fault {
        let one = |name: &&str| format!(r#"{{"mode":"url","elicitationId":"{name}","url":"https://x"}}"#);
        let all = names.iter().map(one).collect::<Vec<_>>().join(",");
        let data = Some(format!(r#"{{"elicitations":[{all}]}}"#));
        Fault::Refused { code: ADDRESS_REQUIRED, message: String::new(), data }
    }

    fn end(elsewhere: &Elsewhere, name: &str) -> Result<(), &'static str> {
        elsewhere.ended(&raw(&format!(r#"{{"elicitationId":"{name}"}}"#)))
    }

    #[test]
    fn an_end_is_told_once_and_to_its_own_client_alone() {
        let elsewhere = Elsewhere::default();
        let ((one, mut one_heard), (other, mut other_heard)) = (client(), client());
        elsewhere.refused(&refusal(&["a", "a", "b"]), &one);
        elsewhere.refused(&refusal(&["c"]), &other);
        assert!(end(&elsewhere, "a").is_ok());
        assert!(matches!(one_heard.try_recv(), Ok(Said::Ended(params)) if params.get() == r#"{"elicitationId":"a"}"#));
        assert!(end(&elsewhere, "a").unwrap_err().contains("ended before"));
        assert!(end(&elsewhere, "unheard of").is_err());
        assert!(elsewhere.ended(&raw("{}")).is_err());
        elsewhere.refused(&refusal(&["b"]), &other);
        for _ in 0..2 {
            assert!(end(&elsewhere, "b").unwrap_err().contains("several clients"), "it may be either's");
        }
        assert!(one_heard.try_recv().is_err() && other_heard.try_recv().is_err());
        drop(other_heard);
        assert!(end(&elsewhere, "c").unwrap_err().contains("no stream"));
    }

    #[test]
    fn the_place_of_a_call_that_was_called_off_is_free_again() {
        let (said, _heard) = mpsc::channel(4);
        let places = toolgate_spine::CallPlaces::new(1, 1, 1);
        let line = Line { said, wants_progress: false, log: None, capabilities: raw("{}"), address: None };
        let client = Client::with_place(line, None, places.enter(None));
        let elsewhere = Elsewhere::default();
        elsewhere.refused(&refusal(&["a"]), &client);
        assert!(places.is_full());
        drop(client);
        assert!(!places.is_full(), "though its client is remembered");
    }

    #[test]
    fn what_is_no_address_is_not_remembered_and_too_many_make_the_oldest_forgotten() {
        let elsewhere = Elsewhere::default();
        let (client, _heard) = client();
        let long = "x".repeat(NAME_BYTES + 1);
        elsewhere.refused(&refusal(&[&long]), &client);
        assert!(end(&elsewhere, &long).is_err());
        let form = RawValue::from_string(r#"{"mode":"form","elicitationId":"f"}"#.to_owned()).unwrap();
        let request = Request { id: "1", method: "elicitation/create".to_owned(), params: Some(&form) };
        elsewhere.asked(Asking::Elicitation, &request, &client);
        assert!(end(&elsewhere, "f").is_err());
        for number in 0..=MOST {
            elsewhere.refused(&refusal(&[&number.to_string()]), &client);
        }
        assert!(end(&elsewhere, "0").is_err());
        assert!(end(&elsewhere, "1").is_ok());
    }
}
