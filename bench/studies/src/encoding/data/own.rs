//! What weir's own Sensor Observation Service answers, and requests that it takes.
//!
//! The service runs in this process, on a hub whose files are in memory, and is asked as by HTTP. How much it
//! knows is chosen so that a document has the published size; no text is padded. Requests are made of
//! answers: what one gateway said, another that knows nothing takes, or there is no document.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use weir_binding::{Answer, AsItIs, AtOnce, Call, Gathered, Pending, Service};
use weir_codec::by_name;
use weir_embedded::EmbeddedHistory;
use weir_hub::{Hub, Log, Media, Principal, Publish};
use weir_log::{DiskLog, Options, SimDisk};
use weir_model::{Limits, Time};
use weir_sos::Sos;

use super::series::{Precision, Series, batch, temperatures};
use weir_bench_model::limits::DOCUMENT_BYTES_MAX;
use weir_bench_model::random::Random;

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Own {
    /// GetCapabilities, as it is answered.
    Capabilities,
    /// DescribeSensor, as it is answered: SensorML 1.0.1.
    Sensor,
    /// RegisterSensor with that description.
    Registration,
    /// GetObservation, as it is answered: O&M 1.0 with a block of values.
    Observations,
    /// InsertObservation with such a block.
    Insertion,
}

/// A document, and the observations in it.
pub(super) type Made = (String, Option<Vec<Series>>);

/// A document of so many bytes, as near as one thing more or less comes.
pub(super) fn of_bytes(kind: Own, bytes: usize, random: &Random) -> Result<Made, String> {
    nearest(bytes, maker(kind, bytes, random)?).map(|(_, made)| made)
}

/// Lengths of the document that [`of_bytes`] gives, and of those with one thing less and one more.
#[cfg(test)]
pub(super) fn lengths_around(
    kind: Own,
    bytes: usize,
    random: &Random,
) -> Result<[usize; 3], String> {
    let make = maker(kind, bytes, random)?;
    let (count, made) = nearest(bytes, &make)?;
    Ok([make(count - 1)?.0, made.0, make(count + 1)?.0].map(|xml| xml.len()))
}

/// What makes a document of so many things where one of about so many bytes is wanted.
fn maker(
    kind: Own,
    bytes: usize,
    random: &Random,
) -> Result<impl Fn(usize) -> Result<Made, String>, String> {
    let sections = match kind {
        Own::Capabilities => sections_within(bytes)?,
        _ => SECTIONS[0],
    };
    Ok(move |count| match kind {
        Own::Capabilities => Ok((capabilities(count, sections)?, None)),
        _ => of_count(kind, count, &mut random.clone()),
    })
}

/// The document nearest to a size of those of one thing, of two, and so on, and how many it is of; each is longer
/// than the one before.
fn nearest(
    bytes: usize,
    make: impl Fn(usize) -> Result<Made, String>,
) -> Result<(usize, Made), String> {
    let length = |count| make(count).map(|(xml, _)| xml.len());
    let (mut from, mut to) = ((1, length(1)?), (11, length(11)?));
    for _ in 0..NEARINGS {
        let each = (to.1 as f64 - from.1 as f64) / (to.0 as f64 - from.0 as f64);
        if each <= 0.0 {
            return Err(format!("as long of {} things as of {}", to.0, from.0));
        }
        let more = ((bytes as f64 - to.1 as f64) / each).round();
        let count = (to.0 as f64 + more).max(1.0) as usize;
        if count == to.0 {
            break;
        }
        (from, to) = (to, (count, length(count)?));
    }
    walked(bytes, to.0, make)
}

/// Steps towards a size: documents grow by nearly the same with each thing.
const NEARINGS: usize = 4;

/// From a document near to a size the nearest, by one thing more or less at a time.
fn walked(
    bytes: usize,
    count: usize,
    make: impl Fn(usize) -> Result<Made, String>,
) -> Result<(usize, Made), String> {
    let (mut count, mut made) = (count, make(count)?);
    loop {
        let next = match made.0.len() < bytes {
            true => count + 1,
            false => count.saturating_sub(1),
        };
        if next == 0 {
            return Ok((count, made));
        }
        let other = make(next)?;
        if other.0.len().abs_diff(bytes) >= made.0.len().abs_diff(bytes) {
            return Ok((count, made));
        }
        (count, made) = (next, other);
    }
}

/// A document of so many properties or observations; of capabilities, with all sections, of so many datastreams.
pub(super) fn of_count(kind: Own, count: usize, random: &mut Random) -> Result<Made, String> {
    match kind {
        Own::Capabilities => Ok((capabilities(count, SECTIONS[0])?, None)),
        Own::Sensor => Ok((sensor(count)?, None)),
        Own::Registration => Ok((registration(&sensor(count)?)?, None)),
        Own::Observations | Own::Insertion => {
            let series = temperatures(count, 1, Precision::Hundredths, random);
            let one = series.first().ok_or("no observations")?;
            let answer = observations(one)?;
            let xml = match kind {
                Own::Insertion => insertion(one, &answer)?,
                _ => answer,
            };
            Ok((xml, Some(series)))
        }
    }
}

/// What a client asks of the capabilities, the most first: what is said of operations and filters, which is the
/// same whatever is offered, is longer than the smallest published files.
const SECTIONS: [&str; 3] = [
    "All",
    "ServiceIdentification,ServiceProvider,FilterCapabilities,Contents",
    "ServiceIdentification,ServiceProvider,Contents",
];

/// The most that is asked so that a document may still be as short.
fn sections_within(bytes: usize) -> Result<&'static str, String> {
    for sections in SECTIONS {
        if capabilities(1, sections)?.len() <= bytes {
            return Ok(sections);
        }
    }
    Ok(SECTIONS[SECTIONS.len() - 1])
}

/// What a station of the capabilities observes, and in which unit.
const OBSERVED: [(&str, &str); 4] = [
    ("temperature", "Cel"),
    ("relative_humidity", "%"),
    ("air_pressure", "hPa"),
    ("wind_speed", "m/s"),
];

/// The capabilities of so many datastreams, four a station, of which the last may have fewer.
fn capabilities(datastreams: usize, sections: &str) -> Result<String, String> {
    let house = House::new()?;
    for (station, first) in (0..datastreams).step_by(OBSERVED.len()).enumerate() {
        let count = OBSERVED.len().min(datastreams - first);
        house.publish(&station_of(station + 1, &OBSERVED[..count]))?;
    }
    house.get(&format!(
        "request=GetCapabilities&AcceptVersions=1.0.0&Sections={sections}"
    ))
}

fn station_of(station: usize, observed: &[(&str, &str)]) -> String {
    let name = format!("urn:ogc:object:feature:Sensor:station-{station}");
    let (latitude, longitude) = (40.0 + station as f64 / 1000.0, station as f64 / 100.0);
    let observations: Vec<String> = observed
        .iter()
        .map(|(property, unit)| {
            format!(
                r#"{{"topic":"coast/station-{station}/{property}","sensor":"{name}",
                   "type":"{PROPERTY}{property}","unit":"{unit}","value":1,
                   "time":"2010-01-01T00:00:00Z","lat":{latitude},"lon":{longitude}}}"#
            )
        })
        .collect();
    observations.join(",")
}

const PROPERTY: &str = "urn:ogc:def:property:OGC::";
const SENSOR: &str = "urn:ogc:object:feature:Sensor:station-1";

/// A sensor that observes so many properties.
fn sensor(properties: usize) -> Result<String, String> {
    let house = House::new()?;
    let observations: Vec<String> = (1..=properties)
        .map(|number| {
            format!(
                r#"{{"topic":"coast/station-1/p{number}","sensor":"{SENSOR}","unit":"Cel","value":1,
                   "type":"{PROPERTY}temperature-{number}","time":"2010-01-01T00:00:00Z","lat":40,"lon":1}}"#
            )
        })
        .collect();
    house.publish(&observations.join(","))?;
    house.get(&format!(
        "request=DescribeSensor&version=1.0.0&procedure={SENSOR}\
         &outputFormat=text/xml;subtype=\"sensorML/1.0.1\""
    ))
}

fn observations(series: &Series) -> Result<String, String> {
    let house = House::new()?;
    for points in series.points.chunks(OBSERVATIONS_A_MESSAGE) {
        house.store_series(series, points)?;
    }
    house.get(&format!(
        "request=GetObservation&version=1.0.0&offering={}/observations&observedProperty={}\
         &responseFormat=text/xml;subtype=\"om/1.0.0\"",
        series.sensor, series.property
    ))
}

/// Observations that are published at once: within what a message may be.
const OBSERVATIONS_A_MESSAGE: usize = 20_000;

const SOS: &str = r#"xmlns="http://www.opengis.net/sos/1.0" service="SOS" version="1.0.0""#;

fn registration(description: &str) -> Result<String, String> {
    let (_, description) = description.split_once("?>").unwrap_or(("", description));
    let template = format!(
        "<ObservationTemplate><om:Observation><om:samplingTime/><om:procedure/>\
         <om:observedProperty xlink:href=\"{PROPERTY}temperature-1\"/><om:featureOfInterest/>\
         <om:result/></om:Observation></ObservationTemplate>"
    );
    let request = format!(
        "<RegisterSensor {SOS} xmlns:om=\"http://www.opengis.net/om/1.0\" \
         xmlns:xlink=\"http://www.w3.org/1999/xlink\"><SensorDescription>{}</SensorDescription>\
         {template}</RegisterSensor>",
        description.trim()
    );
    House::new()?.post(&request, "AssignedSensorId")?;
    Ok(request)
}

/// The observation of an answer as a request, with the namespaces that its root declares.
fn insertion(series: &Series, answer: &str) -> Result<String, String> {
    let observation = one_of(answer, series.points.len());
    let observation = observation.ok_or("an answer without an observation")?;
    let root = answer.find("<om:ObservationCollection").unwrap_or(0);
    let root = answer[root..].split('>').next().unwrap_or_default();
    let namespaces: Vec<&str> = root
        .split_ascii_whitespace()
        .filter(|word| word.starts_with("xmlns:"))
        .collect();
    let request = format!(
        "<InsertObservation {SOS} {}><AssignedSensorId>{}</AssignedSensorId>{observation}\
         </InsertObservation>",
        namespaces.join(" "),
        series.sensor
    );
    let house = House::new()?;
    house.store_series(series, &series.points[..1])?;
    house.post(&request, "AssignedObservationId")?;
    Ok(request)
}

/// The observation of an answer; its first with all values, where the service answers a long series in several.
fn one_of(answer: &str, count: usize) -> Option<String> {
    let members = answer.match_indices("<om:member>");
    let all: Vec<&str> = members.map(|(at, _)| &answer[at..]).collect();
    let values: Option<Vec<&str>> = all.iter().map(|one| within(one, VALUES)).collect();
    let (first, last) = (within(all.first()?, MEMBER)?, all.last()?);
    let counted = with(first, COUNT, &count.to_string())?;
    let ended = match within(last, END) {
        Some(end) => with(&counted, END, end)?,
        None => counted,
    };
    with(&ended, VALUES, &values?.concat())
}

/// Where a text begins and ends.
type Ends = (&'static str, &'static str);

const MEMBER: Ends = ("<om:member>", "</om:member>");
const VALUES: Ends = ("<swe:values>", "</swe:values>");
const COUNT: Ends = ("<swe:Count><swe:value>", "</swe:value></swe:Count>");
const END: Ends = ("<gml:endPosition>", "</gml:endPosition>");

/// The first text with these ends.
fn within(text: &str, ends: Ends) -> Option<&str> {
    let (_, behind) = text.split_once(ends.0)?;
    Some(behind.split_once(ends.1)?.0)
}

/// A text with another in the place of the first with these ends.
fn with(text: &str, ends: Ends, other: &str) -> Option<String> {
    let (before, behind) = text.split_once(ends.0)?;
    let (_, behind) = behind.split_once(ends.1)?;
    Some(format!("{before}{}{other}{}{behind}", ends.0, ends.1))
}

/// A gateway's hub with the service on it.
struct House {
    hub: Arc<Hub>,
    log: Arc<DiskLog>,
    sos: Sos,
}

/// The clock of these gateways: 2026-01-01T00:00:00Z.
const NOW: Time = Time::from_millis(1_767_225_600_000);

impl House {
    fn new() -> Result<Self, String> {
        let log = DiskLog::open(Arc::new(SimDisk::new()), Options::default());
        let log = Arc::new(log.map_err(|error| error.to_string())?);
        let options = weir_embedded::Options::default();
        let history = EmbeddedHistory::on(Arc::new(SimDisk::new()), options);
        let history = Arc::new(history.map_err(|error| error.to_string())?);
        let hub = Hub::start(log.clone(), history, Limits::default(), NOW);
        let hub = hub.map_err(|fault| fault.to_string())?;
        let sos = Sos::new(hub.clone());
        Ok(Self { hub, log, sos })
    }

    /// Publishes observations, each at its own topic.
    fn publish(&self, observations: &str) -> Result<(), String> {
        self.store(format!(r#"{{"observations":[{observations}]}}"#).into_bytes())
    }

    /// Publishes some observations of a series.
    fn store_series(&self, series: &Series, points: &[(Time, f64)]) -> Result<(), String> {
        let some = Series {
            points: points.to_vec(),
            ..series.clone()
        };
        let json = by_name("json").ok_or("this build has no json")?;
        let mut body = Vec::new();
        (json.encode)(&batch(&[some]), &mut body);
        self.store(body)
    }

    fn store(&self, body: Vec<u8>) -> Result<(), String> {
        let format = by_name("json").ok_or("this build has no json")?;
        let publish = Publish::new("coast", Media::Format(format), Bytes::from(body));
        let everybody = Principal::unrestricted();
        let caller = self.hub.caller(NOW, &everybody);
        let published = caller.and_then(|caller| caller.publish(publish));
        published.map_err(|fault| fault.to_string())?;
        self.commit()
    }

    fn commit(&self) -> Result<(), String> {
        let committed = self.log.wait_committed(self.log.head());
        committed.map_err(|fault| fault.to_string())
    }

    /// Asks by KVP.
    fn get(&self, query: &str) -> Result<String, String> {
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name.to_owned(), value.to_owned())
        };
        let mut pairs = vec![("service".to_owned(), "SOS".to_owned())];
        pairs.extend(query.split('&').map(pair));
        self.ask("GET", pairs, "")
    }

    /// Sends a request, whose answer has an element of this name.
    fn post(&self, request: &str, element: &str) -> Result<(), String> {
        let answer = self.ask("POST", Vec::new(), request)?;
        match answer.contains(element) {
            true => Ok(()),
            false => Err(format!("weir's own SOS answered {answer:.200}")),
        }
    }

    fn ask(
        &self,
        method: &str,
        query: Vec<(String, String)>,
        body: &str,
    ) -> Result<String, String> {
        let answer = self.sos.call(Call {
            principal: Principal::unrestricted(),
            peer: None,
            scheme: Some("http"),
            now: NOW,
            method: method.into(),
            path: "/sos".into(),
            query,
            raw_query: String::new(),
            headers: vec![
                ("host".into(), "127.0.0.1:8080".into()),
                ("content-type".into(), "application/xml".into()),
            ],
            body: Bytes::copy_from_slice(body.as_bytes()),
            wrapper: Arc::new(AsItIs),
            workers: Arc::new(AtOnce),
            websocket: None,
            incoming: Default::default(),
        });
        let mut pending: Box<dyn Pending> = match answer {
            Answer::Later(pending) => pending,
            Answer::Pieces(pieces) => {
                Box::new(Gathered::new(pieces, DOCUMENT_BYTES_MAX, Arc::default()))
            }
            _ => return Err("the service answered otherwise than later".into()),
        };
        let mut context = Context::from_waker(Waker::noop());
        let response = loop {
            match pending.poll(&mut context) {
                Poll::Ready(response) => break response,
                Poll::Pending => self.commit()?,
            }
        };
        let text = String::from_utf8_lossy(&response.body).into_owned();
        match response.status {
            200 => Ok(text),
            status => Err(format!("weir's own SOS answered {status}: {text:.300}")),
        }
    }
}
