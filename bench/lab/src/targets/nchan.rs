//! nginx with nchan: the publish and subscribe module that Debian ships.
//!
//! One worker, as its authors advise for one processor, and a message buffer that no cell fills.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::{Program, Running, Settings, Target, bound_to_bench, free_port, start_listening};
use weir_bench_load::load::wire::{PublishWire, SubscribeWire};
use weir_bench_model::cell::Scheme;

pub(super) const TARGET: Target = Target {
    name: "nchan",
    about: "nginx with libnginx-mod-nchan, one worker, messages in memory",
    look: |_| look().map(|(_, version)| version),
    start,
    publish: Some(publish),
    subscribe,
    replay: None,
};

const MODULE: &str = "/usr/lib/nginx/modules/ngx_nchan_module.so";

const NGINX: Program = Program {
    name: "nginx",
    package: "nginx",
    asked_by: "-v",
};

fn look() -> Result<(PathBuf, String), String> {
    let nginx = NGINX.found()?;
    match Path::new(MODULE).is_file() {
        true => Ok(nginx),
        false => Err(format!(
            "absent: no {MODULE}; `apt-get install libnginx-mod-nchan` brings it"
        )),
    }
}

fn start(settings: &Settings, folder: &Path) -> Result<Running, String> {
    let (nginx, version) = look()?;
    let address = SocketAddr::from((settings.host(), free_port()?));
    let file = folder.join("nginx.conf");
    std::fs::write(&file, configuration(folder, address)).map_err(|e| e.to_string())?;
    let mut command = bound_to_bench(settings, &nginx)?;
    command
        .arg("-c")
        .arg(&file)
        .arg("-e")
        .arg(folder.join("error.log"));
    start_listening(command, address, version, &folder.join("stderr.log"))
}

fn configuration(folder: &Path, address: SocketAddr) -> String {
    let folder = folder.display();
    format!(
        "load_module {MODULE};
daemon off;
master_process off;
pid {folder}/nginx.pid;
worker_rlimit_nofile 20000;
events {{ worker_connections 15000; }}
http {{
  access_log off;
  tcp_nodelay on;
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
  client_max_body_size 16m;
  client_body_buffer_size 1m;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  nchan_shared_memory_size 512M;
  server {{
    listen {address} backlog=4096;
    location ~ ^/pub/(.+)$ {{
      nchan_publisher;
      nchan_channel_id $1;
      nchan_message_buffer_length 100000;
      nchan_message_timeout 20s;
    }}
    location ~ ^/sub/(.+)$ {{
      nchan_subscriber websocket eventsource longpoll;
      nchan_channel_id $1;
      nchan_subscriber_first_message newest;
    }}
  }}
}}
"
    )
}

fn publish(topic: &str) -> PublishWire {
    PublishWire::Http {
        head: format!("POST /pub/{topic} HTTP/1.1\r\nHost: localhost\r\n"),
    }
}

fn subscribe(scheme: Scheme, topic: &str) -> Option<SubscribeWire> {
    let get =
        |fields: &str| format!("GET /sub/{topic} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n");
    match scheme {
        Scheme::LongPolling => Some(SubscribeWire::LongPoll {
            request: get(""),
            again: get("If-Modified-Since: {last-modified}\r\nIf-None-Match: {etag}\r\n"),
        }),
        Scheme::Sse => Some(SubscribeWire::Stream {
            request: get("Accept: text/event-stream\r\n"),
        }),
        Scheme::WebSocket => Some(SubscribeWire::Stream {
            request: get(
                "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
            ),
        }),
        Scheme::Polling
        | Scheme::Streaming
        | Scheme::SseBare
        | Scheme::WebSocketBare
        | Scheme::Mqtt
        | Scheme::MqttQos1
        | Scheme::Observe => None,
    }
}
