-- One index for each way in which the history is asked for: all of an owner, one listing, one kind; each in the order in which it is
-- shown, and with the columns that are only counted or compared.
CREATE INDEX analyses_by_time ON analyses (owner, created_at DESC, id DESC);
CREATE INDEX analyses_by_listing ON analyses (owner, key, created_at DESC, id DESC, report_type);
CREATE INDEX analyses_by_kind ON analyses (owner, report_type, created_at DESC, id DESC);
DROP INDEX analyses_by_age;
DROP INDEX analyses_by_key;
