//! What a server offers, as its capabilities say (OGC 12-006 section 8.1).

use crate::identifiers::topic_of;
use weir_codec::document::Element;
use weir_model::{Filter, Time};

/// What one procedure observes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offering {
    pub(super) id: String,
    pub(super) procedure: String,
    pub(super) properties: Vec<String>,
    /// The end of its phenomenon times.
    pub(super) newest: Option<Time>,
}

impl Offering {
    /// The properties whose topics are wanted.
    pub(super) fn wanted(&self, filters: &[Filter]) -> Vec<String> {
        let matches = |property: &&String| {
            let topic = topic_of(&self.procedure, property);
            filters.iter().any(|filter| filter.matches(&topic))
        };
        self.properties.iter().filter(matches).cloned().collect()
    }
}

/// The offerings of a document; those without an identifier or a procedure cannot be asked for.
pub(super) fn offerings(root: &Element) -> Vec<Offering> {
    let contents = root.child("contents").and_then(Element::first);
    let Some(contents) = contents else {
        return Vec::new();
    };
    let shared = texts(contents, "observableProperty");
    let all = contents.all("offering").filter_map(Element::first);
    all.filter_map(|own| offering(own, &shared)).collect()
}

fn offering(element: &Element, shared: &[String]) -> Option<Offering> {
    let own = texts(element, "observableProperty");
    let time = element.child("phenomenonTime");
    let end = time.and_then(|time| {
        time.find("endPosition")
            .or_else(|| time.find("timePosition"))
    });
    Some(Offering {
        id: element.child("identifier")?.text(),
        procedure: element.child("procedure")?.text(),
        properties: if own.is_empty() { shared.to_vec() } else { own },
        newest: end.and_then(|end| end.text().parse().ok()),
    })
}

fn texts(element: &Element, name: &str) -> Vec<String> {
    element.all(name).map(Element::text).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_codec::document::read_xml;

    #[test]
    fn properties_that_all_offerings_have_stand_once() {
        let root = read_xml(
            br#"<sos:Capabilities xmlns:sos="http://www.opengis.net/sos/2.0"
            xmlns:s="http://www.opengis.net/swes/2.0" xmlns:gml="http://www.opengis.net/gml/3.2">
            <sos:contents><sos:Contents>
            <s:offering><sos:ObservationOffering><s:identifier>o1</s:identifier>
            <s:procedure>urn:weir:procedure:kitchen</s:procedure>
            <sos:phenomenonTime><gml:TimePeriod gml:id="p">
            <gml:beginPosition>2026-01-01T00:00:00Z</gml:beginPosition>
            <gml:endPosition>2026-01-02T00:00:00Z</gml:endPosition></gml:TimePeriod></sos:phenomenonTime>
            </sos:ObservationOffering></s:offering>
            <s:offering><sos:ObservationOffering><s:identifier>o2</s:identifier>
            <s:procedure>urn:s</s:procedure><s:observableProperty>level</s:observableProperty>
            </sos:ObservationOffering></s:offering>
            <s:observableProperty>temp</s:observableProperty></sos:Contents></sos:contents>
            </sos:Capabilities>"#,
        );
        let all = offerings(&root.unwrap());
        assert_eq!(all[0].properties, ["temp"]);
        assert_eq!(all[0].newest, "2026-01-02T00:00:00Z".parse().ok());
        assert_eq!(all[1].properties, ["level"]);
        let filters = [Filter::parse("kitchen/#").unwrap()];
        assert_eq!(all[0].wanted(&filters), ["temp"]);
        assert!(all[1].wanted(&filters).is_empty());
    }
}
