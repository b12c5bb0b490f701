SELECT
    (SELECT o.time FROM weir.observation o
     WHERE o.datastream = e.datastream AND o.time >= e.since AND o.time <= e.until
         AND coalesce(o.description, 0) = e.number
     ORDER BY o.time LIMIT 1),
    (SELECT o.time FROM weir.observation o
     WHERE o.datastream = e.datastream AND o.time >= e.since AND o.time <= e.until
         AND coalesce(o.description, 0) = e.number
     ORDER BY o.time DESC LIMIT 1),
    e.end_last, e.result_first, e.result_last, e.number
FROM weir.datastream d JOIN weir.extent e ON e.datastream = d.id
WHERE d.topic = $1 AND d.counted ORDER BY e.number
