//! The server's own TLS. Its certificate is read again when the files change.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::config::{ConfigError, TlsConfig};

/// Accepts TLS connections as `[tls]` configures.
#[derive(Clone)]
pub(crate) struct Tls {
    acceptor: TlsAcceptor,
    certificate: Arc<Certificate>,
    /// Lock that is held while the files of the certificate are checked for changes, so that a hanging disk blocks only
    /// one thread.
    looking: Arc<tokio::sync::Mutex<()>>,
}

impl Tls {
    /// Loads the configured certificate and key and creates the TLS settings. Returns `None` if no certificate is
    /// configured.
    ///
    /// # Errors
    /// If the files are missing, unreadable, or not a matching pair.
    pub(crate) fn new(config: &TlsConfig) -> Result<Option<Self>, ConfigError> {
        let (Some(certificate), Some(key)) = (&config.certificate, &config.key) else {
            return Ok(None);
        };
        let provider = Arc::new(ring::default_provider());
        let pair = Pair {
            certificate: certificate.clone(),
            key: key.clone(),
        };
        let wrong = |error: String| ConfigError::new("tls", error);
        let certificate = Arc::new(Certificate {
            newest: Mutex::new(Newest {
                stamp: pair.stamp().ok(),
                certified_key: pair.read(&provider).map_err(wrong)?,
            }),
            pair,
            provider: provider.clone(),
        });
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(error.to_string()))?
            .with_no_client_auth()
            .with_cert_resolver(certificate.clone());
        if config.http2 {
            server.alpn_protocols.push(HTTP2.to_vec());
        }
        server.alpn_protocols.push(b"http/1.1".to_vec());
        Ok(Some(Self {
            acceptor: TlsAcceptor::from(Arc::new(server)),
            certificate,
            looking: Arc::default(),
        }))
    }

    /// Performs the handshake with the certificate that is in the files now. If checking the files takes too long, the
    /// certificate that was read last is used.
    ///
    /// # Errors
    /// If the handshake fails.
    pub(crate) async fn accept<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
    ) -> io::Result<TlsStream<S>> {
        let look = async {
            let (certificate, turn) = (self.certificate.clone(), self.looking.clone());
            let turn = turn.lock_owned().await;
            let look = move || {
                certificate.look();
                drop(turn);
            };
            // `look` does not panic, so there is no error.
            let _ = task::spawn_blocking(look).await;
        };
        // After the time limit as well, there is a certificate: the one that was read last.
        let _ = tokio::time::timeout(MOST_LOOKING, look).await;
        self.acceptor.accept(stream).await
    }
}

/// The name of HTTP/2 in ALPN.
pub(crate) const HTTP2: &[u8] = b"h2";

/// The paths of a certificate and its key.
#[derive(Debug)]
struct Pair {
    certificate: PathBuf,
    key: PathBuf,
}

/// Modification time, length in bytes and inode number of the certificate's file and of the key's. They differ after a
/// file has changed.
type Stamp = [(SystemTime, u64, u64); 2];

impl Pair {
    fn stamp(&self) -> io::Result<Stamp> {
        let of = |path: &Path| {
            let file = fs::metadata(path)?;
            Ok::<_, io::Error>((file.modified()?, file.len(), file.ino()))
        };
        Ok([of(&self.certificate)?, of(&self.key)?])
    }

    fn read(&self, provider: &CryptoProvider) -> Result<Arc<CertifiedKey>, String> {
        let wrong =
            |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let chain = CertificateDer::pem_file_iter(&self.certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| wrong(&self.certificate, &error))?;
        if chain.is_empty() {
            return Err(wrong(&self.certificate, &"there is no certificate in it"));
        }
        let key =
            PrivateKeyDer::from_pem_file(&self.key).map_err(|error| wrong(&self.key, &error))?;
        CertifiedKey::from_der(chain, key, provider)
            .map(Arc::new)
            .map_err(|error| {
                wrong(
                    &self.key,
                    &format_args!("{error} (with {})", self.certificate.display()),
                )
            })
    }
}

/// The certificate in use, which is the same for all clients.
#[derive(Debug)]
struct Certificate {
    pair: Pair,
    provider: Arc<CryptoProvider>,
    newest: Mutex<Newest>,
}

#[derive(Debug)]
struct Newest {
    certified_key: Arc<CertifiedKey>,
    /// Stamp of the files that were read last, even if they were invalid.
    stamp: Option<Stamp>,
}

impl Certificate {
    /// Locks the newest certificate. No code panics while it holds this lock, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, Newest> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the certificate and its key again if their files have changed. If only one of the files has been replaced
    /// so far, the old pair stays in use.
    fn look(&self) {
        let stamp = self.pair.stamp().ok();
        if self.lock().stamp == stamp {
            return;
        }
        let result = self.pair.read(&self.provider);
        let mut newest = self.lock();
        newest.stamp = stamp;
        match result {
            Ok(certified_key) => {
                newest.certified_key = certified_key;
                tracing::info!("the certificate was read again");
            }
            Err(error) => tracing::warn!("the certificate stays as it was: {error}"),
        }
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.lock().certified_key.clone())
    }
}

/// How long a handshake waits for the check of the certificate's files.
const MOST_LOOKING: Duration = Duration::from_millis(250);
