//! TLS of our own: the certificate, read again when its files change.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;

use crate::config::{ConfigError, TlsConfig};

/// What accepts connections as `[tls]` says; `None` where it names no certificate.
///
/// # Errors
/// About the files: missing, unreadable, or not a pair.
pub(crate) fn acceptor(config: &TlsConfig) -> Result<Option<TlsAcceptor>, ConfigError> {
    let (Some(certificate), Some(key)) = (&config.certificate, &config.key) else {
        return Ok(None);
    };
    let provider = Arc::new(ring::default_provider());
    let pair = Pair {
        certificate: certificate.clone(),
        key: key.clone(),
    };
    let wrong = |error: String| ConfigError::new("tls", error);
    let resolver = Certificate(Arc::new(Kept {
        newest: Mutex::new(Newest {
            stamp: pair.stamp().ok(),
            certified: pair.read(&provider).map_err(wrong)?,
            looked: Instant::now(),
        }),
        pair,
        provider: provider.clone(),
    }));
    let mut server = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(error.to_string()))?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(resolver));
    if config.http2 {
        server.alpn_protocols.push(HTTP2.to_vec());
    }
    server.alpn_protocols.push(b"http/1.1".to_vec());
    Ok(Some(TlsAcceptor::from(Arc::new(server))))
}

/// HTTP/2's name in ALPN.
pub(crate) const HTTP2: &[u8] = b"h2";

/// A certificate and the key to it.
#[derive(Debug)]
struct Pair {
    certificate: PathBuf,
    key: PathBuf,
}

/// What changes when a file does: its time, its length, and which file it is.
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

/// The certificate in force, for every client alike.
#[derive(Debug)]
struct Certificate(Arc<Kept>);

#[derive(Debug)]
struct Kept {
    pair: Pair,
    provider: Arc<CryptoProvider>,
    newest: Mutex<Newest>,
}

#[derive(Debug)]
struct Newest {
    certified: Arc<CertifiedKey>,
    /// Of the files that were read last, also if they were no good.
    stamp: Option<Stamp>,
    looked: Instant,
}

impl Kept {
    /// No code panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Newest> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the files again if they have changed. While only one of the two has, the old pair stays.
    fn look(&self) {
        let stamp = self.pair.stamp().ok();
        if self.lock().stamp == stamp {
            return;
        }
        let read = self.pair.read(&self.provider);
        let mut newest = self.lock();
        newest.stamp = stamp;
        match read {
            Ok(certified) => {
                newest.certified = certified;
                tracing::info!("the certificate was read again");
            }
            Err(error) => tracing::warn!("the certificate stays as it was: {error}"),
        }
    }
}

impl ResolvesServerCert for Certificate {
    /// Looks at the files once a second at most, elsewhere: this handshake does not wait for a disk.
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let mut newest = self.0.lock();
        if newest.looked.elapsed() >= EVERY {
            newest.looked = Instant::now();
            let kept = self.0.clone();
            tokio::task::spawn_blocking(move || kept.look());
        }
        Some(newest.certified.clone())
    }
}

const EVERY: Duration = Duration::from_secs(1);
