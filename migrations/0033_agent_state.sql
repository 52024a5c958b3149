-- What the agent of a conversation does, for the list; null for rows that nothing was written to since.
ALTER TABLE conversations ADD COLUMN agent_state TEXT;
