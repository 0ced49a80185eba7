//! The addresses that a server listens on, and what each of them serves.

use std::io;

use crate::config::{Config, Listen, SocketMode};
use crate::http::{Address, Inherited, Listener};
use crate::request::route::Purpose;

/// An address to listen on, and what it serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) listen: Listen,
    pub(super) purpose: Purpose,
    pub(super) is_tls: bool,
    /// Whether each connection begins with a header of the PROXY protocol.
    pub(super) is_proxied: bool,
}

/// A bound address: its listeners, and what they serve.
pub(super) struct Bound {
    pub(super) place: Place,
    /// One listener per I/O thread; a single one for a Unix socket or an inherited socket, or if the system does not
    /// allow more.
    pub(super) listeners: Vec<Listener>,
    /// Whether the socket belongs to another process too, and goes on collecting connections after this server has
    /// closed it.
    pub(super) is_inherited: bool,
    pub(super) address: Address,
}

impl Bound {
    async fn new(
        place: Place,
        mode: SocketMode,
        inherited: &Inherited,
        split: usize,
    ) -> io::Result<Self> {
        let inherited_listener = inherited.listener(&place.listen).await?;
        let is_inherited = inherited_listener.is_some();
        let listener = match inherited_listener {
            Some(listener) => listener,
            None => Listener::bind(&place.listen, mode)
                .await
                .map_err(|error| inherited.in_the_way(error, &place.listen))?,
        };
        let address = match listener.address()? {
            Address::Tcp(address) if place.is_tls => Address::Tls(address),
            address => address,
        };
        let split = if is_inherited { 1 } else { split };
        let listeners = listener.split(split)?;
        Ok(Self {
            is_inherited,
            address,
            place,
            listeners,
        })
    }
}

/// Binds all `places`, each with `split` listeners, among which the system distributes new connections. Unix sockets
/// and inherited sockets have a single listener, and so do addresses for which the system does not allow more.
///
/// # Errors
/// The first address that cannot be bound.
pub(super) async fn bind_all(
    places: Vec<Place>,
    mode: SocketMode,
    inherited: &Inherited,
    split: usize,
) -> io::Result<Vec<Bound>> {
    let mut bound = Vec::new();
    for place in places {
        bound.push(Bound::new(place, mode, inherited, split).await?);
    }
    Ok(bound)
}

/// Returns every address of a configuration and what it serves.
pub(super) fn places(config: &Config) -> Vec<Place> {
    let places_of = |listens: &[Listen], purpose, is_tls| {
        let place = |listen: &Listen| Place {
            listen: listen.clone(),
            purpose,
            is_tls,
            is_proxied: config.proxy.protocol.contains(listen),
        };
        listens.iter().map(place).collect::<Vec<_>>()
    };
    [
        places_of(&config.listen, Purpose::Images, false),
        places_of(&config.tls.listen, Purpose::Images, true),
        places_of(config.metrics.listen.as_slice(), Purpose::Metrics, false),
    ]
    .concat()
}
