//! Properties of messages by names that are there once.
//!
//! MQTT's user properties may repeat a name; a map of AMQP may not (1.0 section 1.6.23), and who reads one with a
//! dictionary keeps the last. The values of one name stand in their order with commas between them, as those of a
//! field of HTTP (RFC 9110 section 5.3).

/// The same properties, each name where it is first.
pub(super) fn distinct(properties: &[(String, String)]) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::with_capacity(properties.len());
    for (name, value) in properties {
        match all.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => {
                values.push_str(weir_binding::bridge::BETWEEN);
                values.push_str(value);
            }
            None => all.push((name.clone(), value.clone())),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_name_stand_together_in_their_order() {
        let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let given = [("via", "a"), ("unit", "Cel"), ("via", "b")].map(pair);
        let wanted = [("via", "a, b"), ("unit", "Cel")].map(pair);
        assert_eq!(distinct(&given), wanted);
    }
}
