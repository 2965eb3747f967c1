-- Version 1 of the tables, for SQLite. The log is `event`; rows are appended, and only compaction removes any.
CREATE TABLE bandit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- never used again
    name TEXT NOT NULL UNIQUE,
    head INTEGER NOT NULL,                  -- number of the last event; 0: reserved, nothing has happened yet
    hash BLOB NOT NULL,                     -- of the log up to it
    first INTEGER NOT NULL                  -- number of the first event that is not in an archive
);
CREATE TABLE event (
    bandit INTEGER NOT NULL,                -- id of the bandit
    number INTEGER NOT NULL,                -- 1, 2, 3, ... without gaps
    own_id TEXT,                            -- of a decision: the client's own id, if it gave one
    about INTEGER,                          -- of feedback and expiry: the number of the decision; of late feedback: minus it
    body BLOB NOT NULL,                     -- msgpack, see events.py
    hash BLOB NOT NULL,                     -- of the log up to this event
    PRIMARY KEY (bandit, number)
) WITHOUT ROWID;
CREATE UNIQUE INDEX event_own_id ON event (bandit, own_id) WHERE own_id IS NOT NULL;
CREATE UNIQUE INDEX event_about ON event (bandit, about) WHERE about IS NOT NULL;
CREATE TABLE snapshot (
    bandit INTEGER NOT NULL,                -- id of the bandit
    number INTEGER NOT NULL,                -- the last event that it contains
    hash BLOB NOT NULL,                     -- of the log up to that event
    data BLOB NOT NULL,                     -- see ledger.py
    PRIMARY KEY (bandit, number)
);
