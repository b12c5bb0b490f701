//! What the service conforms to: the requirements of 18-088 that hold, by their URIs, as its root lists them
//! (section 9.2.1), those of Tasking (17-079r1), and extensions by theirs. What is not listed is not there.

macro_rules! requirements {
    ($($uri:literal)* ; $($other:expr),* $(,)?) => {
        &[
            $(concat!("http://www.opengis.net/spec/iot_sensing/1.1/req/", $uri),)*
            $($other),*
        ]
    };
}

/// The list.
pub(crate) const CONFORMANCE: &[&str] = requirements! {
    "datamodel"
    "datamodel/thing/properties"
    "datamodel/thing/relations"
    "datamodel/location/properties"
    "datamodel/location/relations"
    "datamodel/historical-location/properties"
    "datamodel/historical-location/relations"
    "datamodel/datastream/properties"
    "datamodel/datastream/relations"
    "datamodel/sensor/properties"
    "datamodel/sensor/relations"
    "datamodel/observed-property/properties"
    "datamodel/observed-property/relations"
    "datamodel/observation/properties"
    "datamodel/observation/relations"
    "datamodel/feature-of-interest/properties"
    "datamodel/feature-of-interest/relations"
    "datamodel/entity-control-information/common-control-information"
    "resource-path/resource-path-to-entities"
    "request-data"
    "request-data/order"
    "request-data/expand"
    "request-data/select"
    "request-data/status-code"
    "request-data/query-status-code"
    "request-data/orderby"
    "request-data/top"
    "request-data/skip"
    "request-data/count"
    "request-data/filter"
    "request-data/built-in-filter-operations"
    "request-data/built-in-query-functions"
    "request-data/pagination"
    "create-update-delete"
    "create-update-delete/create-entity"
    "create-update-delete/link-to-existing-entities"
    "create-update-delete/deep-insert"
    "create-update-delete/deep-insert-status-code"
    "create-update-delete/update-entity"
    "create-update-delete/update-entity-put"
    "create-update-delete/update-entity-jsonpatch"
    "create-update-delete/delete-entity"
    "create-update-delete/historical-location-auto-creation"
    "create-update-delete/historical-location-manual-creation"
    "batch-request/batch-request"
    "data-array/data-array"
    "multi-datastream"
    "multi-datastream/properties"
    "multi-datastream/relations"
    "multi-datastream/constraints"
    "create-observations-via-mqtt/observations-creation"
    "receive-updates-via-mqtt/receive-updates"
    ;
    "http://www.opengis.net/spec/iot_tasking/1.0/req/tasking-capability",
    "http://www.opengis.net/spec/iot_tasking/1.0/req/task",
    "http://www.opengis.net/spec/iot_tasking/1.0/req/actuator",
    "http://www.opengis.net/spec/iot_tasking/1.0/req/create-tasks",
    "http://www.opengis.net/spec/iot_tasking/1.0/req/create-tasks-via-mqtt",
    "http://www.opengis.net/spec/iot_tasking/1.0/req/receive-updates-via-mqtt",
    "https://fraunhoferiosb.github.io/FROST-Server/extensions/JsonBatchRequest.html",
    "https://fraunhoferiosb.github.io/FROST-Server/extensions/GeoJSON-ResultFormat.html",
    concat!(
        "https://github.com/INSIDE-information-systems/SensorThingsAPI/blob/master/",
        "CSV-ResultFormat/CSV-ResultFormat.md"
    ),
    "https://fraunhoferiosb.github.io/FROST-Server/extensions/MqttExpand.html",
    "https://fraunhoferiosb.github.io/FROST-Server/extensions/MqttFilter.html",
};
