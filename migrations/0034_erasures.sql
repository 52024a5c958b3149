-- Owners who are being deleted with everything that they have. The row is the order and how far it is; it goes last.
CREATE TABLE erasures (
  owner TEXT PRIMARY KEY,
  actor TEXT NOT NULL, -- the id of the key that asked for it, or "local" or "root"
  asked_by TEXT NOT NULL, -- whose key that is
  begun_at INTEGER NOT NULL, -- epoch ms
  phase TEXT NOT NULL, -- deleting, waiting or ending
  quiet_at INTEGER, -- epoch ms; from then on nothing can be on its way that began before
  counts TEXT NOT NULL, -- JSON: what was deleted so far
  problem TEXT -- why the last attempt got no further
) WITHOUT ROWID;

-- Nothing that was on its way when an owner left is stored any more: such a row is left out, and the other rows of its statement stay.
CREATE TRIGGER settings_of_leavers BEFORE INSERT ON settings
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER provider_tokens_of_leavers BEFORE INSERT ON provider_tokens
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER secrets_of_leavers BEFORE INSERT ON secrets
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER audit_log_of_leavers BEFORE INSERT ON audit_log
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER watchlists_of_leavers BEFORE INSERT ON watchlists
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER schedules_of_leavers BEFORE INSERT ON schedules
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER schedule_runs_of_leavers BEFORE INSERT ON schedule_runs
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER notification_channels_of_leavers BEFORE INSERT ON notification_channels
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER deliveries_of_leavers BEFORE INSERT ON deliveries
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER delivery_parts_of_leavers BEFORE INSERT ON delivery_parts
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER channel_tests_of_leavers BEFORE INSERT ON channel_tests
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER conversations_of_leavers BEFORE INSERT ON conversations
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER analyses_of_leavers BEFORE INSERT ON analyses
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER feedback_of_leavers BEFORE INSERT ON feedback
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER security_preferences_of_leavers BEFORE INSERT ON security_preferences
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER advice_ledger_of_leavers BEFORE INSERT ON advice_ledger
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER shares_of_leavers BEFORE INSERT ON shares
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER chat_sessions_of_leavers BEFORE INSERT ON chat_sessions
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER model_calls_of_leavers BEFORE INSERT ON model_calls
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER decision_signals_of_leavers BEFORE INSERT ON decision_signals
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER signal_feedback_of_leavers BEFORE INSERT ON signal_feedback
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER portfolio_books_of_leavers BEFORE INSERT ON portfolio_books
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER portfolio_accounts_of_leavers BEFORE INSERT ON portfolio_accounts
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER portfolio_events_of_leavers BEFORE INSERT ON portfolio_events
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER portfolio_rates_of_leavers BEFORE INSERT ON portfolio_rates
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER alert_rules_of_leavers BEFORE INSERT ON alert_rules
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER alert_triggers_of_leavers BEFORE INSERT ON alert_triggers
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER saved_screens_of_leavers BEFORE INSERT ON saved_screens
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER screen_runs_of_leavers BEFORE INSERT ON screen_runs
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER page_screenings_of_leavers BEFORE INSERT ON page_screenings
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER screening_owners_of_leavers BEFORE INSERT ON screening_owners
WHEN EXISTS (SELECT 1 FROM erasures WHERE owner = NEW.owner)
BEGIN
  SELECT RAISE(IGNORE);
END;

-- What reaches its owner by way of another row, or names it in its body.
CREATE TRIGGER watchlist_stocks_of_leavers BEFORE INSERT ON watchlist_stocks
WHEN EXISTS (
  SELECT 1 FROM erasures JOIN watchlists USING (owner) WHERE watchlists.id = NEW.watchlist_id
)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER analysis_snapshots_of_leavers BEFORE INSERT ON analysis_snapshots
WHEN EXISTS (
  SELECT 1 FROM erasures JOIN analyses USING (owner) WHERE analyses.id = NEW.analysis_id
)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER alert_states_of_leavers BEFORE INSERT ON alert_states
WHEN EXISTS (
  SELECT 1 FROM erasures JOIN alert_rules USING (owner) WHERE alert_rules.id = NEW.rule_id
)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER untold_notices_of_leavers BEFORE INSERT ON untold_notices
WHEN EXISTS (
  SELECT 1 FROM erasures
  WHERE owner = CASE WHEN json_valid(NEW.body) THEN json_extract(NEW.body, '$.owner') END
)
BEGIN
  SELECT RAISE(IGNORE);
END;
