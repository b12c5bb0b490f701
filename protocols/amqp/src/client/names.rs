//! Topics of the hub and routing keys of brokers (AMQP 0.9.1 section 3.1.3.3): levels against words.
//!
//! `/` stands for `.` and `+` for `*`, and each the other way round; `#` is the same. So every text has exactly
//! one counterpart, whatever it holds: a topic with a point in it comes back with its point. RabbitMQ's own
//! MQTT does the same to `/`, by which its clients and weir's see the same topics.

use alloc::string::String;

/// The routing key or pattern of a topic or filter, and the other way round.
pub fn swapped(text: &str) -> String {
    let other = |character| match character {
        '/' => '.',
        '.' => '/',
        '+' => '*',
        '*' => '+',
        same => same,
    };
    text.chars().map(other).collect()
}

/// The topic of a routing key, or why there is none.
pub fn topic_of(key: &str) -> Result<String, &'static str> {
    let topic = swapped(key);
    match topic {
        _ if topic.is_empty() => Err("its routing key is empty"),
        _ if topic.contains(['+', '#', '\0']) => {
            Err("its routing key holds `*`, `#` or NUL, which no topic does")
        }
        topic => Ok(topic),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn levels_are_words_and_wildcards_are_wildcards() {
        assert_eq!(swapped("a/+/c/#"), "a.*.c.#");
        assert_eq!(swapped("site.1/t"), "site/1.t");
        assert_eq!(topic_of("site/1.t"), Ok("site.1/t".into()));
        assert!(topic_of("a.*").is_err() && topic_of("").is_err() && topic_of("a.#").is_err());
    }

    proptest! {
        #[test]
        fn every_topic_comes_back_as_it_was(text in "[a-c/.*+#é ]{0,12}") {
            prop_assert_eq!(swapped(&swapped(&text)), text);
        }
    }
}
