//! What a request says, whatever it came as.

use crate::comparison::Comparison;
use crate::exception::Exception;
use crate::limits::{VALUE_BYTES_MAX, VALUES_MAX};
use crate::moment::Temporal;
use crate::region::Region;
use crate::relation::Period;
use bytes::Bytes;
use weir_codec::crs::Crs;
use weir_codec::document::Element;

/// Which of the two services.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Version {
    V1,
    #[default]
    V2,
}

impl Version {
    /// As requests and reports spell it.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Version::V1 => "1.0.0",
            Version::V2 => "2.0.0",
        }
    }

    pub(crate) fn named(text: &str) -> Option<Self> {
        match text {
            "1.0.0" => Some(Version::V1),
            "2.0.0" => Some(Version::V2),
            _ => None,
        }
    }
}

/// The parameters of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params {
    /// Name of the operation.
    pub(crate) operation: String,
    /// Values by name.
    values: Vec<(String, Vec<String>)>,
    /// Whether lists came as text, in which a comma may stand encoded.
    pub(crate) lists_are_text: bool,
    pub(crate) temporal: Temporal,
    /// When what is asked for was valid.
    pub(crate) valid: Option<Period>,
    pub(crate) region: Region,
    /// How results are to compare (SOS 1.0.0).
    pub(crate) comparison: Option<Comparison>,
    /// The request as a tree, where it was XML or EXI.
    pub(crate) element: Option<Element>,
    /// The whole document, where it holds a message.
    pub(crate) message: Option<Bytes>,
    /// The observations of a request in JSON.
    pub(crate) json: Option<serde_json::Value>,
}

impl Params {
    /// An operation without any.
    pub(crate) fn of(operation: &str) -> Self {
        Self {
            operation: operation.to_owned(),
            ..Self::default()
        }
    }

    /// Adds a value; a name is the same in any case.
    pub(crate) fn add(&mut self, name: &str, value: &str) -> Result<(), Exception> {
        let value = value.trim();
        if value.is_empty() {
            return Ok(());
        }
        if value.len() > VALUE_BYTES_MAX {
            let sentence = format!("a value is longer than {VALUE_BYTES_MAX} bytes");
            return Err(Exception::invalid(name, sentence));
        }
        let known = self
            .values
            .iter_mut()
            .find(|(own, _)| own.eq_ignore_ascii_case(name));
        match known {
            None => self.values.push((name.to_owned(), vec![value.to_owned()])),
            Some((_, all)) if all.len() < VALUES_MAX => all.push(value.to_owned()),
            Some(_) => {
                let sentence = format!("more than {VALUES_MAX} values");
                return Err(Exception::invalid(name, sentence));
            }
        }
        Ok(())
    }

    /// All values of a parameter.
    pub(crate) fn all(&self, name: &str) -> &[String] {
        let known = self
            .values
            .iter()
            .find(|(own, _)| own.eq_ignore_ascii_case(name));
        known.map_or(&[], |(_, all)| all)
    }

    /// Takes the parts of a value in its place.
    pub(crate) fn separate(&mut self, name: &str, value: &str) {
        for (own, all) in &mut self.values {
            if own.eq_ignore_ascii_case(name) {
                let parts = std::mem::take(all).into_iter().flat_map(|one| {
                    let separates = one == value;
                    let parts = one.split(',').map(str::trim).map(str::to_owned);
                    if separates {
                        parts.collect()
                    } else {
                        vec![one]
                    }
                });
                *all = parts.collect();
            }
        }
    }

    /// The one value of a parameter.
    pub(crate) fn one(&self, name: &str) -> Result<Option<&str>, Exception> {
        match self.all(name) {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            _ => Err(Exception::invalid(name, format!("`{name}` may stand once"))),
        }
    }

    /// The one value of a parameter that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<&str, Exception> {
        self.one(name)?.ok_or_else(|| Exception::missing(name))
    }

    /// The element that must be there below the request.
    pub(crate) fn required_element(&self, name: &str) -> Result<&Element, Exception> {
        let child = self.element.as_ref().and_then(|root| root.child(name));
        child.ok_or_else(|| Exception::missing(name))
    }

    /// The service's version that is asked for. GetCapabilities negotiates instead.
    pub(crate) fn version(&self) -> Result<Version, Exception> {
        let text = self.required("version")?;
        Version::named(text).ok_or_else(|| {
            let sentence = format!("version `{text}` is not spoken: 2.0.0 and 1.0.0 are");
            Exception::invalid("version", sentence)
        })
    }

    /// Geometries are answered in one reference system, so a request may ask for that alone (OGC 06-009r6 table 4).
    pub(crate) fn check_system(&self) -> Result<(), Exception> {
        let name = "srsName";
        match self.one(name)? {
            Some(system) if Crs::named(system) != Some(Crs::Epsg4326) => {
                let sentence = format!("answers are in EPSG 4326, not in `{system}`");
                Err(Exception::invalid(name, sentence))
            }
            _ => Ok(()),
        }
    }

    /// The parameter `service` must say `SOS`.
    pub(crate) fn check_service(&self) -> Result<(), Exception> {
        match self.required("service")? {
            "SOS" => Ok(()),
            other => Err(Exception::invalid(
                "service",
                format!("`{other}` is not spoken here: SOS is"),
            )),
        }
    }
}
