-- Version 1 of the tables, for PostgreSQL. The log is `event`; rows are appended, and only compaction removes any.
CREATE TABLE bandit (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- never used again
    name TEXT NOT NULL UNIQUE,
    head BIGINT NOT NULL,                  -- number of the last event; 0: reserved, nothing has happened yet
    hash BYTEA NOT NULL,                     -- of the log up to it
    first BIGINT NOT NULL                  -- number of the first event that is not in an archive
);
CREATE TABLE event (
    bandit BIGINT NOT NULL,                 -- id of the bandit
    number BIGINT NOT NULL,                -- 1, 2, 3, ... without gaps
    own_id TEXT,                            -- of a decision: the client's own id, if it gave one
    about BIGINT,                          -- of feedback and expiry: the number of the decision; of late feedback: minus it
    body BYTEA NOT NULL,                     -- msgpack, see events.py
    hash BYTEA NOT NULL,                     -- of the log up to this event
    PRIMARY KEY (bandit, number)
);
CREATE UNIQUE INDEX event_own_id ON event (bandit, own_id) WHERE own_id IS NOT NULL;
CREATE UNIQUE INDEX event_about ON event (bandit, about) WHERE about IS NOT NULL;
CREATE TABLE snapshot (
    bandit BIGINT NOT NULL,                 -- id of the bandit
    number BIGINT NOT NULL,                -- the last event that it contains
    hash BYTEA NOT NULL,                     -- of the log up to that event
    data BYTEA NOT NULL,                     -- see ledger.py
    PRIMARY KEY (bandit, number)
);
CREATE TABLE wakeful_schema (version BIGINT NOT NULL);
INSERT INTO wakeful_schema VALUES (1);
