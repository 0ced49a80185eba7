//! TLS of a client, and which server certificates it accepts.

use std::io;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The TLS configuration of a client, for one server name.
#[derive(Clone)]
pub struct Tls {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Tls").field(&self.name).finish()
    }
}

impl Tls {
    /// Creates the configuration for the server that a `Host` header names, with or without a port. The server's
    /// certificate must be issued by an authority that browsers trust, unless `takes_any` is set, which accepts any
    /// certificate.
    ///
    /// # Errors
    /// If the host is neither a valid name nor an IP address.
    pub fn new(host: &str, takes_any: bool) -> io::Result<Self> {
        let name = ServerName::try_from(without_port(host).to_owned()).map_err(io::Error::other)?;
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?;
        let config = match takes_any {
            true => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
                .with_no_client_auth(),
            false => {
                let roots = webpki_roots::TLS_SERVER_ROOTS.iter().cloned();
                builder
                    .with_root_certificates(RootCertStore::from_iter(roots))
                    .with_no_client_auth()
            }
        };
        let connector = TlsConnector::from(Arc::new(config));
        Ok(Self { connector, name })
    }

    /// Performs the TLS handshake.
    ///
    /// # Errors
    /// If the server's certificate is not accepted, or the server does not speak TLS.
    pub(crate) async fn connect(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.connector.connect(self.name.clone(), stream).await
    }
}

/// Returns why a certificate was not accepted, or `None` if the error has another cause.
pub(crate) fn refused_certificate(error: &io::Error) -> Option<String> {
    let Error::InvalidCertificate(wrong) = error.get_ref()?.downcast_ref::<Error>()? else {
        return None;
    };
    Some(match wrong {
        CertificateError::UnknownIssuer => {
            "its certificate is of no authority that browsers trust".to_owned()
        }
        // webpki returns `Other` for a certificate authority's certificate used as a server's, as `openssl req -x509`
        // creates it.
        CertificateError::Other(_) => {
            "its certificate is not one for a server, such as one that it has signed itself"
                .to_owned()
        }
        other => format!("its certificate is not accepted: {other}"),
    })
}

/// Returns a host without its port, and an IPv6 address without its brackets.
fn without_port(host: &str) -> &str {
    let is_port = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) && (!name.contains(':') || name.ends_with(']')) => name,
        _ => host,
    };
    name.trim_start_matches('[').trim_end_matches(']')
}

/// A verifier that accepts any certificate whose private key the server has, including self-signed ones.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_verified_without_its_port() {
        for (host, name) in [
            ("shop.example", "shop.example"),
            ("shop.example:8443", "shop.example"),
            ("127.0.0.1:8443", "127.0.0.1"),
            ("[::1]:8443", "::1"),
            ("[::1]", "::1"),
            ("::1", "::1"),
        ] {
            assert_eq!(without_port(host), name);
            assert!(Tls::new(host, false).is_ok(), "{host}");
        }
        assert!(Tls::new("not a host", false).is_err());
    }
}
