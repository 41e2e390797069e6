//! Conversations of two agents of a project: begun by one, taken up by the other, ended by either, known to be over by both.

use std::sync::Arc;

use super::{
    conversation::{Conversation, NewConversation, TalkFault, conversation_columns},
    conversation_state::{ACTIVE_MS, ConversationState, PENDING_MS},
    message::{Message, message_columns},
    sending::NewMessage,
};
use crate::{
    Change, StoreError,
    engine::{Engine, Touched, Write},
    error::Fault,
    fresh,
    statement::{Statement, Value},
};

/// Made for one agent in one project; a conversation of others does not exist for it.
pub struct Conversations {
    pub(super) engine: Arc<Engine>,
    pub(super) project: String,
    pub(super) agent: String,
}

macro_rules! with {
    ($one:literal) => {
        concat!("project = $1 AND (initiator = ", $one, " OR participant = ", $one, ")")
    };
}
const GET: &str =
    concat!("SELECT ", conversation_columns!(), " FROM team_conversations WHERE ", with!("$2"), " AND id = $3");
/// Few: those that are open, and those that are over without the agent knowing.
const OPEN: &str = concat!(
    "SELECT ",
    conversation_columns!(),
    " FROM (
        SELECT ",
    conversation_columns!(),
    " FROM team_conversations WHERE project = $1 AND initiator = $2 AND NOT initiator_knows
        UNION ALL
        SELECT ",
    conversation_columns!(),
    " FROM team_conversations WHERE project = $1 AND participant = $2 AND NOT participant_knows
    ) mine ORDER BY created_at, id LIMIT 1000"
);
const BETWEEN: &str = concat!(
    "SELECT ",
    conversation_columns!(),
    " FROM team_conversations WHERE project = $1 AND one = $2 AND other = $3
    AND state IN ('pending', 'active')"
);
const BEGIN: &str = concat!(
    "INSERT INTO team_conversations (id, project, initiator, participant, one, other, purpose, task, state, turns, max_turns,
        created_at, last_at, initiator_knows, participant_knows, last_message)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'pending', 1, $9, $10, $10, FALSE, FALSE, $11)
    ON CONFLICT (project, one, other) WHERE state IN ('pending', 'active') DO NOTHING RETURNING ",
    conversation_columns!()
);
const EXPIRE: &str = "UPDATE team_conversations SET state = 'expired' WHERE project = $1 AND one = $2 AND other = $3
    AND ((state = 'pending' AND created_at <= $4) OR (state = 'active' AND last_at <= $5))";
const ACCEPT: &str = concat!(
    "UPDATE team_conversations SET state = 'active', last_at = $4
    WHERE project = $1 AND participant = $2 AND id = $3 AND state = 'pending' AND created_at > $5 RETURNING ",
    conversation_columns!()
);
/// Both sides' ways to know are set by who they are.
const END: &str = concat!(
    "UPDATE team_conversations SET state = 'terminating', ended_by = $2, last_at = $4,
        initiator_knows = initiator_knows OR initiator = $2, participant_knows = participant_knows OR participant = $2
    WHERE ",
    with!("$2"),
    " AND id = $3 AND (state = 'active' OR (state = 'pending' AND $5)) RETURNING ",
    conversation_columns!()
);
/// What is open past its time is over from here on; what one side ended has ended once the other knows.
const TELL: &str = concat!(
    "UPDATE team_conversations SET
        state = CASE WHEN state IN ('pending', 'active') THEN 'expired'
            WHEN state = 'terminating' AND (initiator = $2 OR initiator_knows) AND (participant = $2 OR participant_knows)
            THEN 'ended' ELSE state END,
        initiator_knows = initiator_knows OR initiator = $2, participant_knows = participant_knows OR participant = $2
    WHERE ", with!("$2"), " AND id = $3
    AND ((initiator = $2 AND NOT initiator_knows) OR (participant = $2 AND NOT participant_knows))
    AND (state IN ('terminating', 'expired') OR (state = 'pending' AND created_at <= $4)
        OR (state = 'active' AND last_at <= $5))
    RETURNING ",
    conversation_columns!()
);
const SPEAK: &str = concat!(
    "UPDATE team_conversations SET turns = turns + 1, last_at = $5, last_message = $6,
        state = CASE WHEN turns + 1 >= max_turns THEN 'terminating' ELSE state END,
        ended_by = CASE WHEN turns + 1 >= max_turns THEN $2 ELSE ended_by END,
        initiator_knows = initiator_knows OR (turns + 1 >= max_turns AND initiator = $2),
        participant_knows = participant_knows OR (turns + 1 >= max_turns AND participant = $2)
    WHERE project = $1 AND id = $3 AND turns < max_turns
    AND ((initiator = $2 AND participant = $4) OR (initiator = $4 AND participant = $2))
    AND ((state = 'pending' AND initiator = $2 AND created_at > $7) OR (state = 'active' AND last_at > $8))
    RETURNING ",
    conversation_columns!()
);
const OF_TASK: &str = concat!(
    "SELECT ",
    conversation_columns!(),
    " FROM team_conversations WHERE project = $1 AND task = $2 ORDER BY created_at DESC, id DESC
    LIMIT 100"
);
const SAID: &str = concat!(
    "SELECT ",
    message_columns!(),
    " FROM team_messages WHERE project = $1 AND conversation = $2
    ORDER BY turn DESC LIMIT $3"
);

/// Takes a turn, if the conversation is open and of these two.
pub(super) fn speak(talks: &Conversations, id: &str, to: &str, message: &str, now: i64) -> Statement {
    let values = [
        Value::id(&talks.project),
        Value::id(&talks.agent),
        Value::id(id),
        Value::id(to),
        Value::int(now),
        Value::id(message),
        Value::int(now - PENDING_MS),
        Value::int(now - ACTIVE_MS),
    ];
    Statement::new(SPEAK, values)
}

impl Conversations {
    pub(super) fn new(engine: Arc<Engine>, project: &str, agent: &str) -> Self {
        Self { engine, project: project.to_owned(), agent: agent.to_owned() }
    }

    pub async fn get(&self, id: &str) -> Result<Option<Conversation>, StoreError> {
        self.engine.find("look up a conversation", Statement::new(GET, self.about(id))).await
    }

    /// Those that go on, and those that are over without the agent knowing.
    pub async fn open(&self) -> Result<Vec<Conversation>, StoreError> {
        let values = [Value::id(&self.project), Value::id(&self.agent)];
        self.engine.read("list an agent's conversations", Statement::new(OPEN, values)).await
    }

    /// The one that goes on with somebody.
    pub async fn with(&self, partner: &str, now: i64) -> Result<Option<Conversation>, StoreError> {
        let between = Statement::new(BETWEEN, self.pair(partner));
        let found: Option<Conversation> = self.engine.find("look for a conversation", between).await?;
        Ok(found.filter(|talk| talk.state_at(now).is_open()))
    }

    /// Begins one with its first message, unless the two have one.
    pub async fn start(&self, new: &NewConversation, now: i64) -> Result<(Conversation, Message), TalkFault> {
        let operation = "start a conversation";
        let failed = |fault: Fault| fault.during(operation);
        let (id, first) = (fresh::id("conv_").map_err(failed)?, fresh::id("msg_").map_err(failed)?);
        self.expire(&new.participant, now).await?;
        let [project, one, other] = self.pair(&new.participant);
        let values = [
            Value::id(&id),
            project,
            Value::id(&self.agent),
            Value::id(&new.participant),
            one,
            other,
            Value::maybe_text(new.purpose.as_deref()),
            Value::maybe_id(new.task.as_deref()),
            Value::int(new.max_turns),
            Value::int(now),
            Value::id(&first),
        ];
        let message = NewMessage {
            to: Some(new.participant.clone()),
            content: new.first.clone(),
            task: new.task.clone(),
            conversation: Some(id.clone()),
        };
        let write = self.said(Some(Statement::new(BEGIN, values)), &first, &message, now);
        let said: Vec<Message> = self.engine.write(operation, write).await?;
        match (said.into_iter().next(), self.get(&id).await?) {
            (Some(message), Some(talk)) => Ok((talk, message)),
            _ => match self.with(&new.participant, now).await? {
                Some(talk) => Err(TalkFault::Exists { id: talk.id, partner: new.participant.clone() }),
                None => Err(TalkFault::Unsaid),
            },
        }
    }

    /// One that nobody took up or went on with makes room for the next.
    async fn expire(&self, partner: &str, now: i64) -> Result<(), StoreError> {
        let values = self.pair(partner).into_iter().chain([Value::int(now - PENDING_MS), Value::int(now - ACTIVE_MS)]);
        let expire = Write::new(Statement::new(EXPIRE, values));
        self.engine.write::<Touched>("start a conversation", expire).await.map(drop)
    }

    /// Takes up a conversation that somebody else began. `None` if there is nothing to take up any more.
    pub async fn accept(&self, id: &str, now: i64) -> Result<Option<Conversation>, StoreError> {
        let values = self.about(id).into_iter().chain([Value::int(now), Value::int(now - PENDING_MS)]);
        self.engine.write_first("take up a conversation", Write::new(Statement::new(ACCEPT, values))).await
    }

    /// Ends one that goes on: the other is told when it looks next.
    pub async fn end(&self, id: &str, now: i64) -> Result<Conversation, TalkFault> {
        let talk = self.get(id).await?.ok_or_else(|| TalkFault::unknown(id))?;
        let state = talk.state_at(now);
        let not_open = |state| TalkFault::NotOpen { id: id.to_owned(), state };
        if state != ConversationState::Active {
            return Err(not_open(state));
        }
        match self.finish(&talk, false, now).await? {
            Some(ended) => Ok(ended),
            None => {
                let now_is = self.get(id).await?.map_or(ConversationState::Ended, |talk| talk.state_at(now));
                Err(not_open(now_is))
            }
        }
    }

    /// Ends every one of the agent's, since it is gone.
    pub async fn end_all(&self, now: i64) -> Result<(), StoreError> {
        for talk in self.open().await? {
            if talk.state.is_open() {
                self.finish(&talk, true, now).await?;
            }
        }
        Ok(())
    }

    async fn finish(&self, talk: &Conversation, pending: bool, now: i64) -> Result<Option<Conversation>, StoreError> {
        let values = self.about(&talk.id).into_iter().chain([Value::int(now), Value::Bool(pending)]);
        let agents = vec![talk.partner(&self.agent).to_owned()];
        let write =
            Write::new(Statement::new(END, values)).announcing(Change::Team { project: self.project.clone(), agents });
        self.engine.write_first("end a conversation", write).await
    }

    /// The agent is told that one is over. `None` if it knew.
    pub async fn tell(&self, id: &str, now: i64) -> Result<Option<Conversation>, StoreError> {
        let values = self.about(id).into_iter().chain([Value::int(now - PENDING_MS), Value::int(now - ACTIVE_MS)]);
        self.engine.write_first("tell of a conversation's end", Write::new(Statement::new(TELL, values))).await
    }

    /// Of a task of the project, whoever has them, the newest first.
    pub async fn of_task(&self, task: &str) -> Result<Vec<Conversation>, StoreError> {
        let values = [Value::id(&self.project), Value::id(task)];
        self.engine.read("list a task's conversations", Statement::new(OF_TASK, values)).await
    }

    /// The last that was said in one of the agent's own, the oldest first.
    pub async fn messages(&self, id: &str, limit: u32) -> Result<Option<Vec<Message>>, StoreError> {
        let Some(talk) = self.get(id).await? else { return Ok(None) };
        let values = [Value::id(&self.project), Value::id(&talk.id), Value::int(i64::from(limit))];
        let mut said: Vec<Message> = self.engine.read("read a conversation", Statement::new(SAID, values)).await?;
        said.reverse();
        Ok(Some(said))
    }

    fn about(&self, id: &str) -> [Value; 3] {
        [Value::id(&self.project), Value::id(&self.agent), Value::id(id)]
    }

    fn pair(&self, partner: &str) -> [Value; 3] {
        let (one, other) =
            if self.agent.as_str() < partner { (self.agent.as_str(), partner) } else { (partner, self.agent.as_str()) };
        [Value::id(&self.project), Value::id(one), Value::id(other)]
    }
}

#[cfg(test)]
mod tests {
    use super::{super::machine::Machine, *};

    #[test]
    fn what_the_statements_do_are_steps() {
        use ConversationState::{Active, Ended, Expired, Pending, Terminating};
        for (sql, from, to) in [
            (EXPIRE, Pending, Expired),
            (EXPIRE, Active, Expired),
            (ACCEPT, Pending, Active),
            (END, Active, Terminating),
            (END, Pending, Terminating),
            (TELL, Terminating, Ended),
            (TELL, Pending, Expired),
            (SPEAK, Active, Terminating),
            (SPEAK, Pending, Terminating),
        ] {
            assert!(sql.contains(&format!("'{to}'")) && sql.contains(&format!("'{from}'")), "{sql}");
            assert!(from.step(to).is_ok(), "{from} to {to}");
        }
    }
}
