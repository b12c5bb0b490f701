//! What the bindings declare, opened: listeners, sockets for datagrams, and where WebSockets go.
//!
//! What it deliberately does not do: serve any of them. All is opened before the first thread starts, so
//! that a port that cannot be had is told at once and nothing is half open.

use crate::config::Config;
use crate::context::Mount;
use crate::fault::RunFault;
use crate::listen::{Listener, Socket};
use crate::settings;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use weir_binding::{Binding, ConfigFault, Endpoint, Place, Transport};
use weir_carrier::Datagrams;
use weir_carrier::tls::Acceptor;

/// A binding and its section.
pub(crate) type Named = (&'static str, Arc<dyn Binding>);

/// What takes WebSockets, as what listens carries it.
fn endpoint(mount: &Mount, listener: &Listener) -> Result<Endpoint, RunFault> {
    let scheme = match listener.tls {
        Some(_) => "wss",
        None => "ws",
    };
    let address = listener.socket.local_addr();
    Ok(Endpoint {
        transport: format!("{}+{scheme}", mount.subprotocol),
        place: Place::Address(address.map_err(|e| RunFault::Io(listener.name.into(), e))?),
        is_web: true,
        ways: mount.binding.ways(),
    })
}

/// All that was opened.
pub(crate) struct Opened {
    pub(crate) listeners: Vec<Listener>,
    /// Each network thread's own.
    pub(crate) datagrams: Vec<Vec<Socket>>,
    pub(crate) mounts: Vec<Mount>,
}

impl Opened {
    /// Opens everything, for this many network threads.
    pub(crate) fn of(
        config: &Config,
        bindings: &[Named],
        threads: usize,
        may_be_exposed: bool,
    ) -> Result<Self, RunFault> {
        let mut opened = Self {
            listeners: Vec::new(),
            datagrams: (0..threads).map(|_| Vec::new()).collect(),
            mounts: Vec::new(),
        };
        for (section, binding) in bindings {
            for transport in binding.transports() {
                let door = Door {
                    config,
                    section,
                    binding,
                    may_be_exposed,
                };
                opened.open(&door, &transport)?;
            }
        }
        Ok(opened)
    }

    /// What listens with TLS, and what each offers (ALPN).
    pub(crate) fn acceptors(&self) -> Vec<(Acceptor, Vec<String>)> {
        let listeners = self.listeners.iter();
        let secure = listeners.filter_map(|it| Some((it.tls.clone()?, it.alpn.clone())));
        secure.collect()
    }

    /// What listens by its name in the ready line.
    pub(crate) fn addresses(&self) -> Result<Vec<(&'static str, SocketAddr)>, RunFault> {
        let listeners = self.listeners.iter();
        let listeners = listeners.map(|listener| (listener.name, listener.socket.local_addr()));
        let datagrams = self.datagrams.first().into_iter().flatten();
        let datagrams = datagrams.map(|socket| (socket.name, socket.socket.local_addr()));
        let all = listeners
            .chain(datagrams)
            .map(|(name, address)| match address {
                Ok(address) => Ok((name, address)),
                Err(error) => Err(RunFault::Io(name.into(), error)),
            });
        all.collect()
    }

    /// What clients can be told of.
    pub(crate) fn endpoints(&self) -> Result<Vec<Endpoint>, RunFault> {
        let listeners = self.listeners.iter().map(|it| &it.binding);
        let sockets = self.datagrams.first().into_iter().flatten();
        let bindings = listeners.chain(sockets.map(|it| &it.binding));
        let mut endpoints = Vec::new();
        for ((name, address), binding) in self.addresses()?.into_iter().zip(bindings) {
            endpoints.push(Endpoint {
                transport: name.into(),
                place: Place::Address(address),
                is_web: binding.is_web(),
                ways: binding.ways(),
            });
        }
        let web = self.listeners.iter().filter(|it| it.binding.is_web());
        for listener in web {
            for mount in &self.mounts {
                endpoints.push(endpoint(mount, listener)?);
            }
        }
        Ok(endpoints)
    }

    fn open(&mut self, door: &Door<'_>, transport: &Transport) -> Result<(), RunFault> {
        match transport {
            Transport::WebSocket { path, subprotocol } => self.mounts.push(Mount {
                path,
                subprotocol,
                binding: door.binding.clone(),
            }),
            Transport::Stream { .. } | Transport::Datagram { .. } => {
                if let Some((key, listen)) = transport.listens() {
                    self.listen(door, transport, key, listen)?;
                }
            }
        }
        Ok(())
    }

    fn listen(
        &mut self,
        door: &Door<'_>,
        transport: &Transport,
        key: &str,
        listen: &str,
    ) -> Result<(), RunFault> {
        match transport {
            Transport::Stream {
                name, tls, alpn, ..
            } => {
                let tls = match tls {
                    true => match door.acceptor(alpn)? {
                        Some(acceptor) => Some(acceptor),
                        None => return Ok(()),
                    },
                    false => None,
                };
                let address = door.address(key, listen)?;
                let socket = TcpListener::bind(address);
                self.listeners.push(Listener {
                    name,
                    binding: door.binding.clone(),
                    socket: socket.map_err(|error| door.unable(key, address, &error))?,
                    tls,
                    alpn: alpn.iter().map(|name| (*name).to_owned()).collect(),
                });
            }
            Transport::Datagram { name, .. } => {
                let mut address = door.address(key, listen)?;
                let shared = self.datagrams.len() > 1;
                for sockets in &mut self.datagrams {
                    let unable = |error: io::Error| door.unable(key, address, &error);
                    let socket = Datagrams::bind(address, shared).map_err(unable)?;
                    // The kernel's choice of a port holds for all threads.
                    address = socket.local_addr().map_err(unable)?;
                    sockets.push(Socket {
                        name,
                        binding: door.binding.clone(),
                        socket,
                    });
                }
            }
            Transport::WebSocket { .. } => {}
        }
        Ok(())
    }
}

/// Where one transport of a binding is opened.
struct Door<'a> {
    config: &'a Config,
    section: &'static str,
    binding: &'a Arc<dyn Binding>,
    may_be_exposed: bool,
}

impl Door<'_> {
    fn fault(&self, key: &str, problem: String) -> RunFault {
        let key = format!("{}.{key}", self.section);
        RunFault::Config(self.config.locate(&ConfigFault { key, problem }))
    }

    /// What accepts TLS; `None` where no certificate is set.
    fn acceptor(&self, alpn: &[&str]) -> Result<Option<weir_carrier::tls::Acceptor>, RunFault> {
        let located = |fault: ConfigFault| RunFault::Config(self.config.locate(&fault));
        settings::acceptor(self.config, alpn).map_err(located)
    }

    fn address(&self, key: &str, listen: &str) -> Result<SocketAddr, RunFault> {
        let address = settings::address(listen).map_err(|problem| self.fault(key, problem))?;
        match address.ip().is_loopback() || self.may_be_exposed {
            true => Ok(address),
            false => Err(RunFault::Exposed(address)),
        }
    }

    /// Why nothing listens there, and what to do where another program does.
    fn unable(&self, key: &str, address: SocketAddr, error: &io::Error) -> RunFault {
        if error.kind() != io::ErrorKind::AddrInUse {
            return self.fault(key, format!("cannot listen at {address}: {error}"));
        }
        let other = SocketAddr::new(address.ip(), address.port().wrapping_add(1));
        let section = self.section;
        self.fault(
            key,
            format!(
                "{address} is in use by another program: stop that one, or take another port, \
                 for example --set {section}.{key}={other}"
            ),
        )
    }
}
