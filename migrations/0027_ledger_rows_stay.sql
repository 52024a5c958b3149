-- `INSERT OR REPLACE` deletes the row in its way without the trigger for deletions: a known place, or a known report, is refused here.
CREATE TRIGGER advice_ledger_no_replace BEFORE INSERT ON advice_ledger
WHEN EXISTS (
  SELECT 1 FROM advice_ledger
  WHERE owner = NEW.owner AND (place = NEW.place OR query_id = NEW.query_id)
)
BEGIN
  SELECT RAISE(ABORT, 'advice_ledger: this place or this report is there already');
END;
