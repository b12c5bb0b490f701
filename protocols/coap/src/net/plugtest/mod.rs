//! The resources of the ETSI CoAP plugtests, behind the feature and the key `plugtest`: what test suites of
//! others ask for.
//!
//! What it deliberately does not do: have to do with observations. Nothing here reaches the hub.

mod resources;

use super::condition;
use super::extra::Extra;
use crate::wire::{Code, Link, Message, Number};
use resources::{Resource, initial, links, path_links};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

/// How long `/separate` takes.
const SEPARATE_DELAY: Duration = Duration::from_millis(1500);
/// Resources that clients may create.
const CREATED_MAX: usize = 64;
/// Largest body kept, bytes.
const BODY_BYTES_MAX: usize = 64 << 10;

/// The resources and what became of them.
#[derive(Debug)]
pub(super) struct Plugtest {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    resources: BTreeMap<String, Resource>,
    /// Counts changes: versions, entity tags and names of what is created.
    changes: u64,
    created: u64,
    watchers: Vec<Waker>,
}

impl Default for Plugtest {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                resources: initial(),
                changes: 1,
                created: 0,
                watchers: Vec::new(),
            }),
        }
    }
}

/// Where clients may create what is not there.
fn may_be_created(path: &str) -> bool {
    let below = [
        "/large-create/",
        "/test",
        "/validate",
        "/obs",
        "/large-update",
    ];
    let numbered = path.strip_prefix("/create");
    numbered.is_some() || below.iter().any(|known| path.starts_with(known))
}

impl Plugtest {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Extra for Plugtest {
    fn holds(&self, path: &str) -> bool {
        let methods = [
            "/location-query",
            "/large-create",
            "/large-post",
            "/path",
            "/query",
        ];
        self.lock().resources.contains_key(path) || methods.contains(&path) || may_be_created(path)
    }

    fn links(&self) -> Vec<Link> {
        links()
    }

    fn delay(&self, path: &str) -> Option<Duration> {
        path.starts_with("/separate").then_some(SEPARATE_DELAY)
    }

    fn version(&self, path: &str) -> Option<u64> {
        let state = self.lock();
        let resource = state.resources.get(path).filter(|known| known.observable)?;
        Some(resource.version + resource.ticks())
    }

    fn watch(&self, waker: &Waker) {
        let mut state = self.lock();
        if !state.watchers.iter().any(|known| known.will_wake(waker)) {
            state.watchers.push(waker.clone());
        }
    }

    // [RFC7641-4.2-5] [RFC7641-4.2-6]
    fn told(&self, path: &str, request: &Message) -> Message {
        let state = self.lock();
        let Some(resource) = state.resources.get(path) else {
            return Message::diagnostic(Code::NOT_FOUND, "it was deleted");
        };
        if resource.reformatted {
            return Message::diagnostic(Code::NOT_ACCEPTABLE, "its Content-Format changed");
        }
        resource.read(&request.options)
    }

    fn answer(&self, path: &str, request: &Message) -> Message {
        let mut state = self.lock();
        let answer = match request.code {
            Code::GET | Code::FETCH => state.get(path, request),
            Code::PUT => state.put(path, request),
            Code::POST => state.post(path, request),
            Code::DELETE => state.delete(path),
            _ => Message::diagnostic(Code::METHOD_NOT_ALLOWED, "GET, PUT, POST, DELETE"),
        };
        let watchers = match answer.code {
            Code::CHANGED | Code::CREATED | Code::DELETED => std::mem::take(&mut state.watchers),
            _ => Vec::new(),
        };
        drop(state);
        watchers.into_iter().for_each(Waker::wake);
        answer
    }
}

impl State {
    fn get(&self, path: &str, request: &Message) -> Message {
        let text = |text: String, format: u32| {
            let mut message = Message::new(Code::CONTENT).with_payload(text);
            message.options.push_uint(Number::CONTENT_FORMAT, format);
            message
        };
        match path {
            "/query" => {
                let arguments = request.options.all(Number::URI_QUERY);
                let arguments = arguments.map(|argument| String::from_utf8_lossy(argument));
                let arguments: Vec<_> = arguments.collect();
                text(format!("query: {}", arguments.join(" ")), 0)
            }
            "/path" => text(path_links(), 40),
            _ => match self.resources.get(path) {
                Some(resource) => resource.read(&request.options),
                None => Message::diagnostic(Code::NOT_FOUND, "nothing is there"),
            },
        }
    }

    // [RFC7252-5.1-2] [RFC7252-5.8.3-1] [RFC7252-5.8.3-2] [RFC7252-5.8.3-3]
    fn put(&mut self, path: &str, request: &Message) -> Message {
        let found = self.resources.get(path);
        let tag = found.map(Resource::tag);
        if let Err(refused) = condition::check(&request.options, tag.as_deref()) {
            return refused;
        }
        if request.payload.len() > BODY_BYTES_MAX || self.created >= CREATED_MAX as u64 * 1000 {
            return Message::diagnostic(Code::REQUEST_ENTITY_TOO_LARGE, "64 kB at most");
        }
        let crowded = self.resources.len() >= initial().len() + CREATED_MAX;
        match found {
            Some(known) if !known.writable => {
                return Message::diagnostic(Code::METHOD_NOT_ALLOWED, "it cannot be changed");
            }
            None if !may_be_created(path) || crowded => {
                return Message::diagnostic(Code::FORBIDDEN, "nothing can be created here");
            }
            _ => {}
        }
        self.changes += 1;
        let version = self.changes << 20;
        match self.resources.get_mut(path) {
            Some(known) => {
                known.write(request, version);
                Message::new(Code::CHANGED)
            }
            None => {
                let mut created = Resource::created();
                created.write(request, version);
                created.reformatted = false;
                self.resources.insert(path.to_owned(), created);
                Message::new(Code::CREATED)
            }
        }
    }

    // [RFC7252-5.8.2-1]
    fn post(&mut self, path: &str, request: &Message) -> Message {
        let mut created = Message::new(Code::CREATED);
        match path {
            "/test" => {
                for segment in ["location1", "location2", "location3"] {
                    created
                        .options
                        .push(Number::LOCATION_PATH, segment.as_bytes());
                }
                created
            }
            "/location-query" => {
                for argument in ["first=1", "second=2"] {
                    created
                        .options
                        .push(Number::LOCATION_QUERY, argument.as_bytes());
                }
                created
            }
            "/large-create" => {
                self.created += 1;
                let name = self.created.to_string();
                let put = self.put(&format!("/large-create/{name}"), request);
                if put.code != Code::CREATED {
                    return put;
                }
                created.options.push(Number::LOCATION_PATH, b"large-create");
                created.options.push(Number::LOCATION_PATH, name.as_bytes());
                created
            }
            "/large-post" => {
                let text = String::from_utf8_lossy(&request.payload).to_uppercase();
                let answer = Message::new(Code::CHANGED);
                let mut answer = answer.with_payload(text.repeat(1 + 2048 / text.len().max(1)));
                answer.options.push_uint(Number::CONTENT_FORMAT, 0);
                answer
            }
            _ if self.resources.contains_key(path) => Message::new(Code::CHANGED),
            _ => Message::diagnostic(Code::NOT_FOUND, "nothing is there"),
        }
    }

    // [RFC7252-5.1-2] [RFC7252-5.8.4-1]
    fn delete(&mut self, path: &str) -> Message {
        if path.starts_with("/separate") || path.starts_with("/seg") {
            Message::diagnostic(Code::METHOD_NOT_ALLOWED, "it cannot be deleted")
        } else {
            // What is not there is deleted too (RFC 7252 section 5.8.4).
            self.resources.remove(path);
            Message::new(Code::DELETED)
        }
    }
}

#[cfg(test)]
mod tests;
