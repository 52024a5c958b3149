-- Rates between currencies that a public source tells: one row a day, units of each currency for one euro.
CREATE TABLE reference_rates (
  source TEXT NOT NULL,
  date TEXT NOT NULL,
  rates TEXT NOT NULL, -- JSON: currency → decimal as text
  fetched_at INTEGER NOT NULL, -- epoch ms
  PRIMARY KEY (source, date)
) WITHOUT ROWID;
