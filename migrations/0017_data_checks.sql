-- What the consistency checks say of a report's figures, for lists; null where none failed or warns.
ALTER TABLE analyses ADD COLUMN data_checks TEXT;
