-- What owners hold, as what happened: accounts, and the trades, payments, dividends and splits of each. All figures are
-- decimals of at most eight places, as text.

-- One row an owner: a write takes the next numbers and names itself, so that two writes at one time cannot both count.
CREATE TABLE portfolio_books (
  owner TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  next_id INTEGER NOT NULL,
  writer TEXT NOT NULL -- of the newest version
) WITHOUT ROWID;

CREATE TABLE portfolio_accounts (
  owner TEXT NOT NULL,
  id INTEGER NOT NULL,
  name TEXT NOT NULL,
  broker TEXT,
  market TEXT NOT NULL,
  base_currency TEXT NOT NULL,
  is_active INTEGER NOT NULL DEFAULT 1, -- a hidden account keeps its events
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (owner, id)
) WITHOUT ROWID;

CREATE TABLE portfolio_events (
  owner TEXT NOT NULL,
  id INTEGER NOT NULL, -- in the order of booking
  account INTEGER NOT NULL,
  kind TEXT NOT NULL, -- trade, cash, dividend or split
  date TEXT NOT NULL, -- of the market's calendar
  symbol TEXT, -- null for cash
  market TEXT,
  currency TEXT NOT NULL,
  side TEXT, -- buy or sell; in or out for cash
  quantity TEXT, -- of a trade
  amount TEXT NOT NULL, -- the price of a trade, the sum of a payment, the dividend a share, or the ratio of a split
  fee TEXT,
  tax TEXT,
  uid TEXT, -- the broker's or the client's own number of a trade
  note TEXT,
  created_at TEXT NOT NULL,
  PRIMARY KEY (owner, id)
) WITHOUT ROWID;

CREATE INDEX portfolio_events_of_accounts ON portfolio_events (owner, account, date, id);
CREATE UNIQUE INDEX portfolio_event_uids ON portfolio_events (owner, account, uid) WHERE uid IS NOT NULL;

-- Rates that the owner gave: one unit of a currency in units of another.
CREATE TABLE portfolio_rates (
  owner TEXT NOT NULL,
  currency TEXT NOT NULL,
  quote TEXT NOT NULL,
  date TEXT NOT NULL,
  rate TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (owner, currency, quote, date)
) WITHOUT ROWID;
