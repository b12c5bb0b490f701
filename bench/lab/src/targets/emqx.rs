//! EMQX, which no registry of Debian, Maven, npm, pip, cargo or Go has: named, not started.

use super::Target;
use super::mosquitto::{publish, subscribe};

pub(super) const TARGET: Target = Target {
    name: "emqx",
    about: "EMQX by MQTT 3.1.1; where one runs already, give its address",
    look: |_| Err(ABSENT.into()),
    start: |_, _| Err(ABSENT.into()),
    publish: Some(publish),
    subscribe,
    replay: None,
};

const ABSENT: &str = "absent: no package registry has it; of one that runs already, `--target \
                      mqtt://HOST:PORT` tells where";
