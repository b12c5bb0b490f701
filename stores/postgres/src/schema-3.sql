-- Version 3: from when to when each description of a datastream has observations, which all of them need not be read for.

-- No observation made under it is before `since` or after `until`; the nearest one may be an hour from there, so that
-- it is written seldom. The others are what was written of ends of intervals and of result times.
CREATE TABLE weir.extent (
    datastream integer NOT NULL,
    number smallint NOT NULL,
    since bigint NOT NULL,
    until bigint NOT NULL,
    end_last bigint,
    result_first bigint,
    result_last bigint,
    PRIMARY KEY (datastream, number)
);

-- Whether all of its observations are counted there; those of before are, one datastream after the other.
ALTER TABLE weir.datastream ADD COLUMN counted boolean;
ALTER TABLE weir.datastream ALTER COLUMN counted SET DEFAULT true;
CREATE INDEX datastream_uncounted ON weir.datastream (id) WHERE counted IS NULL;

-- A gateway that knows version 2 alone would leave it out, so the database refuses what it writes and says why.
ALTER TABLE weir.latest ADD COLUMN version smallint;
ALTER TABLE weir.latest
    ADD CONSTRAINT "tables of version 3: upgrade the gateway that writes here"
    CHECK (version IS NOT NULL) NOT VALID;
