-- An agent's messages came in one by one among everybody's, so that each lies on a page of its own. Here they lie together, whole:
-- reading a desk takes as many pages as the messages fill, however many others there are.
CREATE INDEX team_messages_on_desk ON team_messages
    (project, receiver, number, id, sender, content, task, conversation, turn, at) WHERE receiver IS NOT NULL;
