-- Version 2: under which description of its datastream (sensor, observed property, unit) an observation was made.

-- What each description says, as of the last observation that was written under it.
CREATE TABLE weir.description (
    datastream integer NOT NULL,
    number smallint NOT NULL,
    sensor text,
    property text,
    unit text,
    PRIMARY KEY (datastream, number)
);

-- The number of its description; rows of before have none, and are of the first. A gateway that knows version 1
-- alone writes none, so that the database refuses it and says why.
ALTER TABLE weir.observation ADD COLUMN description smallint;
ALTER TABLE weir.latest ADD COLUMN description smallint;
ALTER TABLE weir.observation
    ADD CONSTRAINT "tables of version 2: upgrade the gateway that writes here"
    CHECK (description IS NOT NULL) NOT VALID;

CREATE OR REPLACE VIEW weir.observations AS
SELECT d.topic, weir.instant(o.time) AS time, o.number, o.truth, o.text, o.json, o.latitude, o.longitude,
       weir.instant(o.time_end) AS time_end, weir.instant(o.result_time) AS result_time,
       weir.instant(o.valid_from) AS valid_from, weir.instant(o.valid_to) AS valid_to,
       o.quality, o.feature, o.parameters, o.time AS nanoseconds, o.cursor, o.item,
       s.sensor, s.property, s.unit
FROM weir.datastream d JOIN weir.observation o ON o.datastream = d.id
LEFT JOIN weir.description s ON s.datastream = d.id AND s.number = coalesce(o.description, 0);

CREATE OR REPLACE VIEW weir.latest_observations AS
SELECT d.topic, weir.instant(o.time) AS time, o.number, o.truth, o.text, o.json, o.latitude, o.longitude,
       o.time AS nanoseconds, s.sensor, s.property, s.unit
FROM weir.datastream d JOIN weir.latest o ON o.datastream = d.id
LEFT JOIN weir.description s ON s.datastream = d.id AND s.number = coalesce(o.description, 0);
