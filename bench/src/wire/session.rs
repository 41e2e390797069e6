//! A caller on a connection, ready to ask: with `initialize` done where the era has it.

use serde_json::Value;

use super::connection::{Answer, Connection};
use super::request::{Caller, Request};
use crate::failure::Failure;
use crate::workload::{Era, Work};

pub(crate) struct Session {
    connection: Connection,
    caller: Caller,
    id: Option<String>,
}

impl Session {
    pub(crate) async fn open(caller: Caller) -> Result<Self, Failure> {
        let mut connection = Connection::open(caller.address).await?;
        let id = match caller.era {
            Era::Sessions => Some(initialize(&mut connection, &caller).await?),
            Era::Raw | Era::Stateless => None,
        };
        Ok(Self { connection, caller, id })
    }

    /// Makes room for a large answer beforehand, so that its growth is not timed.
    pub(crate) fn make_room(&mut self, bytes: usize) {
        self.connection.make_room(bytes);
    }

    pub(crate) fn request(&self, work: Work) -> Request {
        self.caller.request(work, self.id.as_deref())
    }

    pub(crate) fn call(&self, tool: &str, arguments: &str) -> Request {
        self.caller.call(tool, arguments, self.id.as_deref())
    }

    pub(crate) async fn ask(&mut self, request: &Request) -> Result<Answer<'_>, Failure> {
        self.connection.exchange(request.bytes()).await
    }
}

async fn initialize(connection: &mut Connection, caller: &Caller) -> Result<String, Failure> {
    let answer = connection.exchange(&caller.initialize()).await?;
    let body: Option<Value> = serde_json::from_slice(&answer.body).ok();
    let good = answer.head.status == 200 && body.is_some_and(|body| body.get("result").is_some());
    let id = match &answer.head.session {
        Some(id) if good => id.clone(),
        _ => return Err(Failure::Answer(format!("initialize: {}", answer.excerpt()))),
    };
    let answer = connection.exchange(&caller.initialized(&id)).await?;
    if answer.head.status >= 300 {
        let what = format!("notifications/initialized: {}", answer.excerpt());
        return Err(Failure::Answer(what));
    }
    Ok(id)
}
