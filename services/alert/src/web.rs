//! Alerts to a Web address: a `POST` of weir's JSON.

use crate::letter::Letter;
use crate::limits::POST_TIME_MAX;
use crate::verdict::Verdict;
use bytes::Bytes;
use std::io;
use tokio::time::timeout;
use weir_binding::{Caller, Gateway, Post};
use weir_codec::{FORMATS, Format, by_name};

/// A Web address.
#[derive(Debug)]
pub(crate) struct Web {
    pub(crate) url: String,
    /// `Bearer ...`.
    pub(crate) authorization: Option<String>,
    /// Certificates in PEM that are trusted beside the Web's.
    pub(crate) roots: Option<Bytes>,
}

impl Web {
    /// Posts once.
    pub(crate) async fn post(&self, context: &dyn Gateway, letter: &Letter<'_>) -> Verdict {
        let format = format();
        let mut body = Vec::new();
        (format.encode)(letter.batch, &mut body);
        let mut fields = vec![("Idempotency-Key", letter.key)];
        let authorization = self.authorization.as_deref();
        fields.extend(authorization.map(|token| ("Authorization", token)));
        let post = Post {
            media: format.media,
            body: Bytes::from(body),
            fields: &fields,
        };
        let mut caller = match self.caller(context) {
            Ok(caller) => caller,
            Err(error) => return Verdict::Later(error.to_string()),
        };
        match timeout(POST_TIME_MAX, caller.post(post)).await {
            Ok(Ok((status, answer))) => Verdict::of_http(status, &answer),
            Ok(Err(error)) => Verdict::Later(error.to_string()),
            Err(_) => Verdict::Later(format!("no answer in {} s", POST_TIME_MAX.as_secs())),
        }
    }

    fn caller(&self, context: &dyn Gateway) -> io::Result<Box<dyn Caller>> {
        context.poster(&self.url, self.roots.as_ref())
    }
}

fn format() -> &'static Format {
    by_name("json").unwrap_or(&FORMATS[0])
}
