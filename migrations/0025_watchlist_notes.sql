-- What an owner writes beside a group and beside a stock of it; empty for nothing.
ALTER TABLE watchlists ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE watchlist_stocks ADD COLUMN note TEXT NOT NULL DEFAULT '';
