//! Fake services of three clouds on loopback: those that issue credentials with a lifetime of seconds, and buckets that
//! refuse all other credentials. A real S3 server verifies signatures of S3.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HOST};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use s3s::auth::{S3Auth, SecretKey};
use s3s::service::{S3ServiceBuilder, SharedS3Service};
use s3s::{Body, S3Error, S3ErrorCode, S3Result};
use s3s_fs::FileSystem;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::common::sample;

/// The fake services of all three clouds, on one address. They stop when this is dropped.
pub(super) struct Cloud {
    /// The folders in it are buckets.
    pub(super) buckets: TempDir,
    pub(super) address: String,
    state: Arc<State>,
    _runtime: tokio::runtime::Runtime,
}

struct State {
    root: PathBuf,
    life: Duration,
    issued: Arc<Issued>,
    s3: SharedS3Service,
    is_down: AtomicBool,
    /// Number of requests to services that issue credentials.
    asked: AtomicUsize,
    /// Number of requests to buckets without a valid credential.
    refused: AtomicUsize,
    /// The credentials of requests to buckets.
    seen: Mutex<BTreeSet<String>>,
    /// The only token that the services accept as proof of identity.
    subject: Mutex<String>,
}

#[derive(Default)]
struct Issued {
    /// The expiry of each credential, by its key or token.
    ends: Mutex<BTreeMap<String, SystemTime>>,
}

impl Cloud {
    /// Starts the fake cloud services, with a bucket `assets-eu` that has `a.jpg` to `d.jpg`, and an empty bucket
    /// `results`. Credentials are valid for `life`.
    pub(super) fn start(life: Duration) -> Self {
        let buckets = tempfile::tempdir().unwrap();
        for bucket in ["assets-eu", "results"] {
            std::fs::create_dir(buckets.path().join(bucket)).unwrap();
        }
        for name in ["a", "b", "c", "d"] {
            let file = buckets.path().join(format!("assets-eu/{name}.jpg"));
            std::fs::copy(sample("jpeg/420.jpg"), file).unwrap();
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let issued = Arc::<Issued>::default();
        let mut builder = S3ServiceBuilder::new(FileSystem::new(buckets.path()).unwrap());
        builder.set_auth(Known(issued.clone()));
        let state = Arc::new(State {
            root: buckets.path().to_owned(),
            life,
            issued,
            s3: builder.build().into_shared(),
            is_down: AtomicBool::new(false),
            asked: AtomicUsize::new(0),
            refused: AtomicUsize::new(0),
            seen: Mutex::default(),
            subject: Mutex::default(),
        });
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let answering = state.clone();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = answering.clone();
                let answer = service_fn(move |request| {
                    let state = state.clone();
                    async move { Ok::<_, Infallible>(state.answer(request).await) }
                });
                let connection =
                    http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
                tokio::spawn(async move {
                    let _ = connection.await;
                });
            }
        });
        Self {
            buckets,
            address,
            state,
            _runtime: runtime,
        }
    }

    /// Makes the services that issue credentials fail, or succeed again.
    pub(super) fn is_down(&self, down: bool) {
        self.state.is_down.store(down, Ordering::SeqCst);
    }

    /// Makes this the only token that the services accept as proof of identity.
    pub(super) fn trusts(&self, token: &str) {
        token.clone_into(&mut self.state.subject.lock().unwrap());
    }

    /// Returns how many credentials were requested.
    pub(super) fn asked(&self) -> usize {
        self.state.asked.load(Ordering::SeqCst)
    }

    /// Returns how many requests the buckets refused.
    pub(super) fn refused(&self) -> usize {
        self.state.refused.load(Ordering::SeqCst)
    }

    /// Returns how many different credentials the buckets have received.
    pub(super) fn seen(&self) -> usize {
        self.state.seen.lock().unwrap().len()
    }
}

/// Looks up the secret of each issued access key, for the S3 server.
struct Known(Arc<Issued>);

type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl S3Auth for Known {
    fn get_secret_key<'a, 'b, 'c>(&'a self, key: &'b str) -> Answer<'c, S3Result<SecretKey>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        Box::pin(async move {
            match self.0.is_valid(key) {
                true => Ok(SecretKey::from(format!("secret-of-{key}"))),
                false => Err(S3Error::new(S3ErrorCode::InvalidAccessKeyId)),
            }
        })
    }
}

impl Issued {
    /// Issues a new key or token.
    fn next(&self, life: Duration) -> (String, SystemTime) {
        let mut ends = self.ends.lock().unwrap();
        let name = format!("ASIA{:016}", ends.len());
        let end = SystemTime::now() + life;
        ends.insert(name.clone(), end);
        (name, end)
    }

    fn is_valid(&self, name: &str) -> bool {
        let ends = self.ends.lock().unwrap();
        ends.get(name).is_some_and(|end| SystemTime::now() < *end)
    }
}

impl State {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let path = request.uri().path().to_owned();
        let bucket = path.split('/').nth(1).unwrap_or_default();
        if ["assets-eu", "results"].contains(&bucket) {
            return self.bucket(request).await;
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.is_down.load(Ordering::SeqCst) {
            return text(StatusCode::SERVICE_UNAVAILABLE, "the service is down");
        }
        let (head, body) = request.into_parts();
        let body = Body::from(body).store_all_unlimited().await.unwrap();
        let form = String::from_utf8(body.to_vec()).unwrap();
        let header = |name: &str| head.headers.get(name).and_then(|it| it.to_str().ok());
        let query = head.uri.query().unwrap_or_default();
        let subject = self.subject.lock().unwrap().clone();
        let proves = |key: &str| {
            form.split('&')
                .any(|pair| pair == format!("{key}={subject}"))
        };
        match path.as_str() {
            "/latest/api/token" if head.method == Method::PUT => {
                assert!(header("x-aws-ec2-metadata-token-ttl-seconds").is_some());
                text(StatusCode::OK, "metadata-token")
            }
            _ if path.starts_with("/latest/") && header("x-aws-ec2-metadata-token").is_none() => {
                text(StatusCode::UNAUTHORIZED, "no token")
            }
            "/latest/meta-data/iam/security-credentials/" => text(StatusCode::OK, "reader"),
            "/latest/meta-data/iam/security-credentials/reader" => self.keys_in_json(),
            "/v1/credentials" if header("authorization") == Some(&subject) => self.keys_in_json(),
            "/" if query.contains("Action=AssumeRole&") => {
                // Signed for the service's name, with the first credential of the chain.
                let host = head.headers.get(HOST).unwrap().to_str().unwrap();
                let signed = header("authorization").unwrap_or_default();
                let is_signed = host == "sts.eu-central-1.amazonaws.com"
                    && signed.contains("Credential=AKIDBASE/")
                    && signed.contains("/eu-central-1/sts/aws4_request");
                match is_signed && query.contains("ExternalId=shop") {
                    true => self.keys_in_xml("AssumeRole"),
                    false => text(StatusCode::FORBIDDEN, host),
                }
            }
            "/" if form.contains("Action=AssumeRoleWithWebIdentity") => {
                match proves("WebIdentityToken") {
                    true => self.keys_in_xml("AssumeRoleWithWebIdentity"),
                    false => text(StatusCode::FORBIDDEN, "another token"),
                }
            }
            "/computeMetadata/v1/instance/service-accounts/default/token"
                if header("metadata-flavor") == Some("Google") =>
            {
                self.token()
            }
            "/google/exchange" if proves("subject_token") => self.token(),
            "/google/impersonate" => {
                let bearer = header("authorization").and_then(|it| it.strip_prefix("Bearer "));
                match bearer.is_some_and(|token| self.issued.is_valid(token)) {
                    true => self.token_in_json(),
                    false => text(StatusCode::UNAUTHORIZED, "no token"),
                }
            }
            "/tenant/oauth2/v2.0/token" if proves("client_assertion") => self.token(),
            "/metadata/identity/oauth2/token" if header("metadata") == Some("true") => {
                self.managed_token()
            }
            "/msi/token" if header("x-identity-header") == Some(&subject) => self.managed_token(),
            _ => text(StatusCode::NOT_FOUND, &path),
        }
    }

    fn keys_in_json(&self) -> Response<Body> {
        let (key, end) = self.issued.next(self.life);
        let body = json!({
            "Code": "Success", "AccessKeyId": key, "SecretAccessKey": format!("secret-of-{key}"),
            "Token": format!("token-of-{key}"), "Expiration": rfc3339(end),
        });
        text(StatusCode::OK, &body.to_string())
    }

    fn keys_in_xml(&self, action: &str) -> Response<Body> {
        let (key, end) = self.issued.next(self.life);
        let body = format!(
            "<{action}Response><{action}Result><Credentials><AccessKeyId>{key}</AccessKeyId>\
             <SecretAccessKey>secret-of-{key}</SecretAccessKey><SessionToken>token-of-{key}</SessionToken>\
             <Expiration>{}</Expiration></Credentials></{action}Result></{action}Response>",
            rfc3339(end)
        );
        text(StatusCode::OK, &body)
    }

    fn token(&self) -> Response<Body> {
        let (token, _) = self.issued.next(self.life);
        let body = json!({
            "access_token": token, "expires_in": self.life.as_secs(), "token_type": "Bearer",
        });
        text(StatusCode::OK, &body.to_string())
    }

    fn token_in_json(&self) -> Response<Body> {
        let (token, end) = self.issued.next(self.life);
        let body = json!({ "accessToken": token, "expireTime": rfc3339(end) });
        text(StatusCode::OK, &body.to_string())
    }

    fn managed_token(&self) -> Response<Body> {
        let (token, end) = self.issued.next(self.life);
        let seconds = end
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let body = json!({ "access_token": token, "expires_on": seconds.to_string() });
        text(StatusCode::OK, &body.to_string())
    }

    /// Answers a request to a bucket, if it has a signature with issued keys or an issued token.
    async fn bucket(&self, request: Request<Incoming>) -> Response<Body> {
        let header = |name: &str| Some(request.headers().get(name)?.to_str().ok()?.to_owned());
        let authorization = header(AUTHORIZATION.as_str()).unwrap_or_default();
        let bearer = authorization.strip_prefix("Bearer ").map(str::to_owned);
        let signer = authorization
            .split_once("Credential=")
            .and_then(|(_, rest)| Some(rest.split_once('/')?.0.to_owned()));
        let used = bearer
            .clone()
            .or_else(|| signer.clone())
            .unwrap_or_default();
        let has_token =
            bearer.is_some() || header("x-amz-security-token") == Some(format!("token-of-{used}"));
        if !self.issued.is_valid(&used) || !has_token {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return text(StatusCode::FORBIDDEN, "no valid credential");
        }
        self.seen.lock().unwrap().insert(used);
        if bearer.is_none() {
            let answered = self.s3.as_ref().call(request.map(Body::from)).await;
            let answered =
                answered.unwrap_or_else(|_| text(StatusCode::INTERNAL_SERVER_ERROR, "s3s"));
            if answered.status() == StatusCode::FORBIDDEN {
                self.refused.fetch_add(1, Ordering::SeqCst);
            }
            return answered;
        }
        let file = self.root.join(request.uri().path().trim_start_matches('/'));
        match std::fs::read(file) {
            Ok(bytes) => {
                let mut response = Response::new(Body::from(bytes));
                let tag = "\"one\"".parse().unwrap();
                response.headers_mut().insert("etag", tag);
                response
            }
            Err(_) => text(StatusCode::NOT_FOUND, "no such object"),
        }
    }
}

fn text(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(text.to_owned()));
    *response.status_mut() = status;
    response
}

/// Formats a time with milliseconds, as in the XML and JSON of the clouds.
fn rfc3339(time: SystemTime) -> String {
    let mut text = Vec::new();
    let time = s3s::dto::Timestamp::from(time);
    let written = time.format(s3s::dto::TimestampFormat::DateTime, &mut text);
    written.unwrap();
    String::from_utf8(text).unwrap()
}
