//! Connections to an origin. A host name is looked up once, a [`Guard`] checks each of its addresses, and the
//! connection goes to an address that passed, not to the name again.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use tower_service::Service;

use super::tls;
use crate::error::{Late, OriginError};
use crate::net::Guard;

/// Returns the builder of a client that keeps up to `most` idle connections to each host.
pub(crate) fn pool(most: usize) -> legacy::Builder {
    let mut builder = legacy::Client::builder(TokioExecutor::new());
    builder
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_CONNECTION)
        .pool_max_idle_per_host(most);
    builder
}

/// How long an idle connection is kept. This is less than the usual keep-alive time of servers, so that this side
/// closes the connection first.
const IDLE_CONNECTION: Duration = Duration::from_secs(20);

/// Makes connections to an origin, only to addresses that a [`Guard`] permits, and with TLS for https.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) guard: Arc<Guard>,
    pub(crate) names: Arc<dyn Names>,
    pub(crate) tls: TlsConnector,
    /// Time limit for name look-up, connection and TLS handshake together.
    pub(crate) timeout: Duration,
}

/// A resolver of host names.
pub(crate) trait Names: fmt::Debug + Send + Sync {
    /// Looks up all addresses of `host`.
    fn look_up(&self, host: String) -> LookUp;
}

/// The future of [`Names::look_up`].
pub(crate) type LookUp = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// The system's resolver: hosts file, DNS, and any other source that the system is configured with.
#[derive(Debug)]
pub(crate) struct SystemNames;

/// Limits concurrent look-ups to two: the system's look-up blocks a thread and cannot be cancelled, and an unreachable
/// name server must not take up the threads that read files.
static LOOK_UPS: Semaphore = Semaphore::const_new(2);

impl Names for SystemNames {
    fn look_up(&self, host: String) -> LookUp {
        Box::pin(async move {
            let slot = LOOK_UPS.acquire().await.map_err(io::Error::other)?;
            let task = tokio::task::spawn_blocking(move || {
                let addresses = std::net::ToSocketAddrs::to_socket_addrs(&(host.as_str(), 0));
                // The slot is taken until the look-up is over, even if the caller stops waiting.
                drop(slot);
                addresses.map(|all| all.map(|address| address.ip()).collect())
            });
            task.await.map_err(io::Error::other)?
        })
    }
}

impl Connector {
    /// Creates a connector to the addresses that the guard permits. `ca` is a PEM file of further trusted certificates.
    ///
    /// # Errors
    /// A message about that file.
    pub(crate) fn new(guard: Guard, ca: Option<&Path>, timeout: Duration) -> Result<Self, String> {
        Ok(Self {
            guard: Arc::new(guard),
            names: Arc::new(SystemNames),
            tls: tls::connector(ca)?,
            timeout,
        })
    }

    async fn connect(self, uri: Uri) -> Result<Stream, OriginError> {
        let until = Instant::now() + self.timeout;
        let late = OriginError::Slow {
            late: Late::Connection,
            after: self.timeout,
        };
        timeout_at(until, self.open(&uri, until))
            .await
            .unwrap_or(Err(late))
    }

    async fn open(&self, uri: &Uri, until: Instant) -> Result<Stream, OriginError> {
        let host = uri.host().ok_or(OriginError::UnknownName)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let secure = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });

        let addresses = self.permitted_addresses(host, port).await?;
        let stream = connect_to_first(&addresses, port, until).await?;
        // Small requests should not wait for acknowledgements. If this fails, they are only slower.
        let _ = stream.set_nodelay(true);
        if !secure {
            return Ok(TokioIo::new(Box::new(stream)));
        }
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| {
            OriginError::Insecure(format!("{host} is no name that a certificate can have"))
        })?;
        let stream = self.tls.connect(name, stream).await;
        let stream = stream.map_err(|error| OriginError::Insecure(tls::why(&error, host)))?;
        Ok(TokioIo::new(Box::new(stream)))
    }

    /// Returns the addresses of `host` that may be connected to.
    async fn permitted_addresses(&self, host: &str, port: u16) -> Result<Vec<IpAddr>, OriginError> {
        let mut addresses = match host.parse() {
            Ok(address) => vec![address],
            // This includes unusual spellings of addresses: the system resolves them, and the guard sees the outcome.
            Err(_) => self
                .names
                .look_up(host.to_owned())
                .await
                .map_err(|_| OriginError::UnknownName)?,
        };
        let first = *addresses.first().ok_or(OriginError::UnknownName)?;
        addresses.retain(|address| self.guard.permits(*address, port));
        match addresses.is_empty() {
            true => Err(OriginError::Denied(SocketAddr::new(first, port))),
            false => Ok(addresses),
        }
    }
}

/// Tries the addresses one after the other and returns the first connection. Each attempt gets a share of the remaining
/// time, so that an unreachable address leaves time for the next.
async fn connect_to_first(
    addresses: &[IpAddr],
    port: u16,
    until: Instant,
) -> Result<TcpStream, OriginError> {
    let mut last = OriginError::UnknownName;
    for (index, address) in addresses.iter().enumerate() {
        let remaining = until.saturating_duration_since(Instant::now());
        let share = remaining / u32::try_from(addresses.len() - index).unwrap_or(u32::MAX);
        let address = SocketAddr::new(*address, port);
        let connection = TcpStream::connect(address);
        match timeout_at(Instant::now() + share, connection).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = OriginError::Unreachable(error.kind(), address),
            Err(_) => last = OriginError::Unreachable(io::ErrorKind::TimedOut, address),
        }
    }
    Err(last)
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = OriginError;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, OriginError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OriginError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}

/// A connection, with or without TLS.
pub(crate) type Stream = TokioIo<Box<dyn Io>>;

/// A stream of bytes in both directions.
pub(crate) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

impl Connection for Box<dyn Io> {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origins::http::tls;

    /// A test resolver that answers each look-up with the next of its prepared answers.
    #[derive(Debug)]
    struct Answers(std::sync::Mutex<Vec<Vec<IpAddr>>>);

    impl Names for Answers {
        fn look_up(&self, _: String) -> LookUp {
            let mut answers = self.0.lock().unwrap();
            let answer = match answers.is_empty() {
                true => Vec::new(),
                false => answers.remove(0),
            };
            Box::pin(std::future::ready(Ok(answer)))
        }
    }

    fn connector(answers: &[&[&str]], allow: &[&str]) -> Connector {
        let read = |answer: &&[&str]| answer.iter().map(|text| text.parse().unwrap()).collect();
        let allow = allow.iter().map(|text| text.parse().unwrap()).collect();
        let ports = (1..=u16::MAX).collect();
        Connector {
            guard: Arc::new(Guard::allowing(allow, ports)),
            names: Arc::new(Answers(answers.iter().map(read).collect::<Vec<_>>().into())),
            tls: tls::connector(None).unwrap(),
            timeout: Duration::from_secs(20),
        }
    }

    async fn trouble(connector: &Connector, uri: &str) -> Option<OriginError> {
        connector.clone().connect(uri.parse().unwrap()).await.err()
    }

    #[tokio::test]
    async fn a_name_with_good_and_bad_addresses_is_only_met_at_the_good_ones() {
        let mixed: &[&str] = &["10.0.0.1", "8.8.8.8", "::ffff:127.0.0.1", "2002:7f00:1::"];
        let connector = connector(&[mixed], &[]);
        let permitted = connector
            .permitted_addresses("mixed.test", 80)
            .await
            .unwrap();
        assert_eq!(permitted, ["8.8.8.8".parse::<IpAddr>().unwrap()]);
    }

    #[tokio::test]
    async fn each_connection_is_judged_by_the_address_it_is_made_to() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let uri = format!("http://rebinding.test:{port}/");
        // The name is asked once per connection, so no second answer can slip in between.
        let connector = connector(
            &[&["127.0.0.1"], &["127.0.0.2"], &["127.0.0.1"]],
            &["127.0.0.1"],
        );
        assert_eq!(trouble(&connector, &uri).await, None);
        let denied = trouble(&connector, &uri).await;
        assert!(matches!(denied, Some(OriginError::Denied(_))), "{denied:?}");
        assert_eq!(trouble(&connector, &uri).await, None);
        assert_eq!(
            trouble(&connector, &uri).await,
            Some(OriginError::UnknownName)
        );
    }

    #[tokio::test]
    async fn odd_spellings_of_an_address_are_read_by_the_system_and_judged_by_the_guard() {
        let connector = Connector {
            names: Arc::new(SystemNames),
            ..connector(&[], &[])
        };
        for host in [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0177.0.0.1",
            "017700000001",
            "0",
            "0.0.0.0",
            "10.1",
            "0xa9fea9fe",
            "169.254.43518",
            "0251.0376.0251.0376",
            "[::1]",
            "[::]",
            "[::ffff:7f00:1]",
            "[::ffff:127.0.0.1]",
            "[::127.0.0.1]",
            "[64:ff9b::7f00:1]",
            "[64:ff9b:1::7f00:1]",
            "[2002:7f00:1::]",
            "[2001:0:1::1]",
            "[fe80::5efe:7f00:1]",
            "[fd00:ec2::254]",
            "localhost",
            "LOCALHOST",
            "localhost.",
        ] {
            // A spelling that the system does not know is as good as refused.
            let trouble = trouble(&connector, &format!("http://{host}:9/")).await;
            assert!(
                matches!(
                    trouble,
                    Some(OriginError::Denied(_) | OriginError::UnknownName)
                ),
                "{host}: {trouble:?}"
            );
        }
    }

    /// Returns the parts of an address in every mixture of decimal, octal and hexadecimal.
    fn mixtures(parts: &[u32]) -> Vec<String> {
        let Some((first, rest)) = parts.split_first() else {
            return vec![String::new()];
        };
        let rest = mixtures(rest);
        let spell = [
            format!("{first}"),
            format!("0{first:o}"),
            format!("0x{first:x}"),
            format!("0X{first:X}"),
            format!("0x{first:08x}"),
        ];
        let joined = |one: &String, rest: &String| match rest.is_empty() {
            true => one.clone(),
            false => format!("{one}.{rest}"),
        };
        spell
            .iter()
            .flat_map(|one| rest.iter().map(move |rest| joined(one, rest)))
            .collect()
    }

    /// Returns every spelling of an address, with one to four parts, that C libraries and browsers read.
    fn spellings(address: std::net::Ipv4Addr) -> Vec<String> {
        let [a, b, c, d] = address.octets().map(u32::from);
        [
            &[a, b, c, d][..],
            &[a, b, c << 8 | d],
            &[a, b << 16 | c << 8 | d],
            &[a << 24 | b << 16 | c << 8 | d],
        ]
        .iter()
        .flat_map(|parts| mixtures(parts))
        .collect()
    }

    #[tokio::test]
    async fn thousands_of_spellings_of_forbidden_addresses_lead_nowhere() {
        let connector = Connector {
            names: Arc::new(SystemNames),
            ..connector(&[], &[])
        };
        let mut tried = 0;
        for address in [
            "127.0.0.1",
            "169.254.169.254",
            "10.0.0.1",
            "192.168.1.1",
            "172.16.0.1",
            "100.100.100.200",
            "192.0.0.192",
            "169.254.42.42",
            "169.254.0.23",
            "168.63.129.16",
        ] {
            for host in spellings(address.parse().unwrap()) {
                // As it would stand in a configuration or in a request to the system...
                let permitted = connector.permitted_addresses(&host, 80).await;
                assert!(matches!(permitted, Err(OriginError::Denied(_))), "{host}");
                // ...and as a redirect's URL is read.
                let url = url::Url::parse(&format!("http://{host}/")).unwrap();
                let host = url.host_str().unwrap();
                let permitted = connector.permitted_addresses(host, 80).await;
                assert!(matches!(permitted, Err(OriginError::Denied(_))), "{host}");
                tried += 1;
            }
        }
        assert_eq!(tried, 10 * (625 + 125 + 25 + 5));
    }

    #[tokio::test]
    async fn names_of_metadata_services_lead_nowhere_whatever_is_allowed() {
        let everything = ["0.0.0.0/0", "::/0"];
        for (name, addresses) in [
            ("metadata.google.internal", &["169.254.169.254"][..]),
            ("metadata.google.internal.", &["fd20:ce::254"]),
            ("metadata.tencentyun.com", &["169.254.0.23"]),
            ("metadata.scaleway.test", &["169.254.42.42", "fd00:42::42"]),
            (
                "metadata.oracle.test",
                &["192.0.0.192", "fd00:c1::a9fe:a9fe"],
            ),
            ("100-100-100-200.test", &["100.100.100.200"]),
            (
                "instance-data.ec2.internal",
                &["169.254.169.254", "fd00:ec2::254"],
            ),
            (
                "rebinding.test",
                &["::ffff:169.254.170.2", "64:ff9b::a9fe:aa17"],
            ),
        ] {
            let connector = connector(&[addresses], &everything);
            let denied = trouble(&connector, &format!("http://{name}/")).await;
            assert!(
                matches!(denied, Some(OriginError::Denied(_))),
                "{name}: {denied:?}"
            );
        }
        let connector = connector(&[&["169.254.169.254", "127.0.0.1"]], &everything);
        let permitted = connector
            .permitted_addresses("mixed.test", 80)
            .await
            .unwrap();
        assert_eq!(permitted, ["127.0.0.1".parse::<IpAddr>().unwrap()]);
    }

    #[tokio::test]
    async fn a_dead_address_leaves_time_for_the_next() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connector = connector(&[&["127.0.0.9", "127.0.0.1"]], &["127.0.0.0/8"]);
        assert_eq!(
            trouble(&connector, &format!("http://two.test:{port}/")).await,
            None
        );
    }
}
