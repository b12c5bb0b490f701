-- What the database of a history holds, version 1; safe to run again.

CREATE SCHEMA IF NOT EXISTS weir;

-- The numbers of the files that were run: a gateway refuses a database that a later one has made.
CREATE TABLE IF NOT EXISTS weir.version (number integer NOT NULL);

-- The last record of the log whose observations are here, as the 64 bits of its cursor, and which log that is.
CREATE TABLE IF NOT EXISTS weir.progress (
    cursor bigint NOT NULL,
    log text
);
INSERT INTO weir.progress SELECT 0, NULL WHERE NOT EXISTS (SELECT FROM weir.progress);

-- One row a datastream. The last columns are the latest end of an interval and the span of result times.
CREATE TABLE IF NOT EXISTS weir.datastream (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    topic text COLLATE "C" NOT NULL UNIQUE,
    end_last bigint,
    result_first bigint,
    result_last bigint
);

-- One row an observation. Times are nanoseconds since 1970; `cursor` and `item` say which record of the log it
-- came in and where there. Of number, truth, text and json one is set, or none where there is no result. In a
-- row that is quoted, text, quality and feature are JSON strings, since they hold a zero byte.
CREATE TABLE IF NOT EXISTS weir.observation (
    datastream integer NOT NULL,
    time bigint NOT NULL,
    cursor bigint NOT NULL,
    item integer NOT NULL,
    number double precision,
    truth boolean,
    text text,
    json json,
    latitude double precision,
    longitude double precision,
    time_end bigint,
    result_time bigint,
    valid_from bigint,
    valid_to bigint,
    quality text,
    feature text,
    parameters json,
    quoted boolean,
    PRIMARY KEY (datastream, time, cursor, item)
);

-- The last observation of each datastream, by the lesser of its time and its arrival (`seen`).
CREATE TABLE IF NOT EXISTS weir.latest (
    LIKE weir.observation,
    seen bigint NOT NULL,
    PRIMARY KEY (datastream)
);

-- Datastreams that were forgotten: their observations are dropped little by little.
CREATE TABLE IF NOT EXISTS weir.forgotten (id integer PRIMARY KEY);

-- An instant as nanoseconds, for conditions that an index serves, and back (to the microsecond).
CREATE OR REPLACE FUNCTION weir.nanoseconds(instant timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT (extract(epoch FROM instant) * 1000000)::bigint * 1000 $$;

CREATE OR REPLACE FUNCTION weir.instant(nanoseconds bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT timestamptz '1970-01-01T00:00:00Z' + nanoseconds / 1000 * interval '1 microsecond' $$;

-- What people ask: WHERE topic = 'kitchen/temperature' AND nanoseconds >= weir.nanoseconds(now() - interval '1 hour')
CREATE OR REPLACE VIEW weir.observations AS
SELECT d.topic, weir.instant(o.time) AS time, o.number, o.truth, o.text, o.json, o.latitude, o.longitude,
       weir.instant(o.time_end) AS time_end, weir.instant(o.result_time) AS result_time,
       weir.instant(o.valid_from) AS valid_from, weir.instant(o.valid_to) AS valid_to,
       o.quality, o.feature, o.parameters, o.time AS nanoseconds, o.cursor, o.item
FROM weir.datastream d JOIN weir.observation o ON o.datastream = d.id;

CREATE OR REPLACE VIEW weir.latest_observations AS
SELECT d.topic, weir.instant(o.time) AS time, o.number, o.truth, o.text, o.json, o.latitude, o.longitude,
       o.time AS nanoseconds
FROM weir.datastream d JOIN weir.latest o ON o.datastream = d.id;
