//! A connection to a server: opening it, and sending requests over it.

use std::io;
use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde::{Deserialize, Serialize};
use tokio::net::{TcpStream, UnixStream};

use super::{Endpoint, Tls};

/// The HTTP version that a connection uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum HttpVersion {
    /// HTTP/1.1.
    #[default]
    #[serde(rename = "1.1")]
    One,
    /// HTTP/2 without TLS.
    #[serde(rename = "2")]
    Two,
}

/// An open HTTP connection.
#[derive(Debug)]
pub enum Connection {
    /// A connection with HTTP/1.1.
    One(http1::SendRequest<Full<Bytes>>),
    /// A connection with HTTP/2.
    Two(http2::SendRequest<Full<Bytes>>),
}

impl Connection {
    /// Connects and performs the HTTP handshake. Must be called in a Tokio runtime.
    ///
    /// # Errors
    /// If the server cannot be reached, or speaks another protocol.
    pub async fn open(endpoint: &Endpoint, http: HttpVersion) -> io::Result<Self> {
        match endpoint {
            Endpoint::Tcp(address) => {
                let stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                Self::shake_hands(TokioIo::new(stream), http).await
            }
            Endpoint::Unix(path) => {
                Self::shake_hands(TokioIo::new(UnixStream::connect(path).await?), http).await
            }
        }
    }

    /// Connects with TLS and performs the handshake of HTTP/1.1. Must be called in a Tokio runtime.
    ///
    /// # Errors
    /// If the server cannot be reached, speaks another protocol, or has a certificate that is not accepted.
    pub async fn open_secure(address: SocketAddr, tls: &Tls) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let stream = tls.connect(stream).await?;
        Self::shake_hands(TokioIo::new(stream), HttpVersion::One).await
    }

    async fn shake_hands<I>(io: I, http: HttpVersion) -> io::Result<Self>
    where
        I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
    {
        // Errors of this background task are also returned by the request in progress, so they need no handling here.
        match http {
            HttpVersion::One => {
                let (sender, connection) = http1::handshake(io).await.map_err(io::Error::other)?;
                tokio::spawn(async move { drop(connection.await) });
                Ok(Self::One(sender))
            }
            HttpVersion::Two => {
                let (sender, connection) = http2::handshake(TokioExecutor::new(), io)
                    .await
                    .map_err(io::Error::other)?;
                tokio::spawn(async move { drop(connection.await) });
                Ok(Self::Two(sender))
            }
        }
    }

    /// Waits until the connection is ready for the next request.
    ///
    /// # Errors
    /// If the server has closed the connection.
    pub async fn ready(&mut self) -> hyper::Result<()> {
        match self {
            Self::One(sender) => sender.ready().await,
            Self::Two(sender) => sender.ready().await,
        }
    }

    /// Sends a request, and waits for the status and headers of its response. The body is read from the returned
    /// response.
    ///
    /// # Errors
    /// If the connection breaks, or the response is not valid HTTP.
    pub async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> hyper::Result<Response<Incoming>> {
        match self {
            Self::One(sender) => sender.send_request(request).await,
            Self::Two(sender) => sender.send_request(request).await,
        }
    }
}
