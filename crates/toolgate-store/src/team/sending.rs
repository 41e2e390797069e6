//! Saying something: to an agent, in a conversation or outside of one.

use super::{
    conversation::{Conversation, TalkFault},
    conversations::{Conversations, speak},
    message::{Message, message_columns},
};
use crate::{
    Change,
    engine::Write,
    fresh,
    statement::{Statement, Value},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// Nobody: then it is only in the sender's own history.
    pub to: Option<String>,
    pub content: String,
    pub task: Option<String>,
    /// One that is open, of these two.
    pub conversation: Option<String>,
}

/// A message counts in a conversation only if its turn was taken, which the conversation itself says.
macro_rules! turn_taken {
    () => {
        "(CAST($3 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM team_conversations WHERE id = $3 AND last_message = $4))"
    };
}
const RECEIVE: &str = concat!(
    "INSERT INTO team_desks (project, agent, received, read, answered, sent) SELECT $1, $2, 1, 0, 0, 0 WHERE ",
    turn_taken!(),
    " ON CONFLICT (project, agent) DO UPDATE SET received = team_desks.received + 1 RETURNING agent"
);
/// What is said to the sender of the newest message is an answer.
const SEND: &str = concat!(
    "INSERT INTO team_desks (project, agent, received, read, answered, sent) SELECT $1, $2, 0, 0, 0, 1 WHERE ",
    turn_taken!(),
    " ON CONFLICT (project, agent) DO UPDATE SET sent = team_desks.sent + 1,
        answered = CASE WHEN EXISTS (SELECT 1 FROM team_messages WHERE project = $1 AND receiver = $2
            AND number = team_desks.received AND sender = $5) THEN team_desks.received ELSE team_desks.answered END
    RETURNING agent"
);
const SAY: &str = concat!(
    "INSERT INTO team_messages (id, project, sender, receiver, number, content, task, conversation, turn, at)
    SELECT $3, $1, $2, desk.agent, desk.received, $5, $6, talk.id, talk.turns, $8
    FROM (SELECT 1 AS one) said
    LEFT JOIN team_desks desk ON desk.project = $1 AND desk.agent = $4
    LEFT JOIN team_conversations talk ON talk.id = $7 AND talk.last_message = $3
    WHERE CAST($7 AS TEXT) IS NULL OR talk.id IS NOT NULL RETURNING ",
    message_columns!()
);

impl Conversations {
    /// Says it, in its turn where it belongs to a conversation. The last turn ends the conversation.
    pub async fn send(&self, new: &NewMessage, now: i64) -> Result<Message, TalkFault> {
        let id = fresh::id("msg_").map_err(|fault| fault.during("send a message"))?;
        let write = match (&new.conversation, &new.to) {
            (Some(conversation), Some(to)) => self.said(Some(speak(self, conversation, to, &id, now)), &id, new, now),
            _ => self.said(None, &id, new, now),
        };
        let said: Vec<Message> = self.engine.write("send a message", write).await?;
        match (said.into_iter().next(), &new.conversation) {
            (Some(message), _) => Ok(message),
            (None, Some(conversation)) => Err(self.why_silent(conversation, now).await?),
            (None, None) => Err(TalkFault::Unsaid),
        }
    }

    /// What saying it takes, after what gives it its turn.
    pub(super) fn said(&self, turn: Option<Statement>, id: &str, new: &NewMessage, now: i64) -> Write {
        let conversation = || Value::maybe_id(new.conversation.as_deref());
        let desk = |agent: &str| [Value::id(&self.project), Value::id(agent), conversation(), Value::id(id)];
        let send = desk(&self.agent).into_iter().chain([Value::maybe_id(new.to.as_deref())]);
        let mut desks = vec![(self.agent.as_str(), Statement::new(SEND, send))];
        if let Some(to) = &new.to {
            desks.push((to, Statement::new(RECEIVE, desk(to))));
        }
        // everybody takes desks in one order, so that no two wait for each other
        desks.sort_by_key(|(agent, _)| *agent);
        let say = [
            Value::id(&self.project),
            Value::id(&self.agent),
            Value::id(id),
            Value::maybe_id(new.to.as_deref()),
            Value::text(&new.content),
            Value::maybe_id(new.task.as_deref()),
            conversation(),
            Value::int(now),
        ];
        let desks = desks.into_iter().map(|(_, statement)| statement);
        let statements = turn.into_iter().chain(desks).chain([Statement::new(SAY, say)]).collect();
        let news = |to: &String| Change::Team { project: self.project.clone(), agents: vec![to.clone()] };
        Write { statements, announce: new.to.as_ref().map(news) }
    }

    async fn why_silent(&self, id: &str, now: i64) -> Result<TalkFault, TalkFault> {
        let found: Option<Conversation> = self.get(id).await?;
        Ok(match found {
            None => TalkFault::unknown(id),
            Some(talk) => TalkFault::NotOpen { id: talk.id.clone(), state: talk.state_at(now) },
        })
    }
}
