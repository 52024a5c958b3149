-- Ids that somebody began to make a conversation under, where the runtime keeps a file for every object that is ever asked:
-- an id that is in neither this table nor the index was never used, and its object is not asked.
CREATE TABLE conversation_claims (
  owner TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (owner, id)
) WITHOUT ROWID;
