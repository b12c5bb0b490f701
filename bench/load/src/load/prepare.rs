//! What a target is told before anything is measured: requests one after the other, each when the one before was
//! answered with success.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::http::request;
use super::one_by_one::OneByOne;

/// One request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Post {
    /// Where: a path.
    pub path: String,
    /// As `Content-Type` says it.
    pub media_type: String,
    /// What is posted.
    pub body: String,
}

/// Posts them all.
pub fn run(address: SocketAddr, posts: &[Post]) -> Result<(), String> {
    let mut posting = OneByOne::open(address)?;
    posts.iter().try_for_each(|post| {
        let sent = posting.send(&post.request());
        sent.map_err(|e| format!("preparing by POST {}: {e}", post.path))
    })
}

impl Post {
    fn request(&self) -> Vec<u8> {
        let asked = format!("POST {}", self.path);
        let media_type = format!("Content-Type: {}", self.media_type);
        request(&asked, "localhost", &media_type, self.body.as_bytes())
    }
}
