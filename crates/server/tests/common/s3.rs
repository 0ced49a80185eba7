//! A bucket of a real S3 server, which checks signatures and runs in this process; with the conditions on writing that
//! the server itself does not know yet, and with the faults of a network on command.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::body::Incoming;
use hyper::header::{IF_MATCH, IF_NONE_MATCH};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use md5::{Digest, Md5};
use s3s::Body;
use s3s::auth::SimpleAuth;
use s3s::service::{S3ServiceBuilder, SharedS3Service};
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, watch};

/// The server; it stops when this is dropped.
pub struct S3 {
    pub folder: TempDir,
    endpoint: String,
    shared: Arc<Shared>,
    state: watch::Sender<State>,
    _runtime: tokio::runtime::Runtime,
}

/// The way in which the store answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum State {
    Well,
    /// Answers each request with an error.
    Failing,
    /// Answers no request until the state changes.
    Hanging,
}

struct Shared {
    service: SharedS3Service,
    root: PathBuf,
    /// Held while a condition is checked and its write is done, so that no other write comes between.
    writing: Mutex<()>,
    /// Requests that hang.
    hanging: AtomicUsize,
    /// Whether the store checks the conditions of writes.
    is_conditional: bool,
    conditional_writes: AtomicUsize,
}

impl S3 {
    /// Starts a store with the bucket `results`. Its keys are what cargo puts into the environment of tests.
    pub fn start() -> Self {
        Self::new(true)
    }

    /// Starts a store that ignores the conditions of writes, as older stores do.
    pub fn that_ignores_conditions() -> Self {
        Self::new(false)
    }

    fn new(is_conditional: bool) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(folder.path().join("results")).expect("a bucket");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let mut builder = S3ServiceBuilder::new(FileSystem::new(folder.path()).expect("a store"));
        let secret = env!("CARGO_PKG_VERSION");
        builder.set_auth(SimpleAuth::from_single(env!("CARGO_PKG_NAME"), secret));
        let shared = Arc::new(Shared {
            service: builder.build().into_shared(),
            root: folder.path().to_owned(),
            writing: Mutex::default(),
            hanging: AtomicUsize::new(0),
            is_conditional,
            conditional_writes: AtomicUsize::new(0),
        });
        let listener = runtime
            .block_on(TcpListener::bind("127.0.0.1:0"))
            .expect("a free port");
        let endpoint = format!("http://{}", listener.local_addr().expect("its address"));
        let (state, states) = watch::channel(State::Well);
        let answering = shared.clone();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (shared, states) = (answering.clone(), states.clone());
                let answer = service_fn(move |request| {
                    let (shared, states) = (shared.clone(), states.clone());
                    async move { Ok::<_, Infallible>(shared.answer(request, states).await) }
                });
                let connection =
                    http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
                tokio::spawn(async move {
                    let _ = connection.await;
                });
            }
        });
        Self {
            folder,
            endpoint,
            shared,
            state,
            _runtime: runtime,
        }
    }

    /// The URL at which the store listens.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    pub fn becomes(&self, state: State) {
        self.state.send_replace(state);
    }

    /// Requests that hang now.
    pub fn hanging(&self) -> usize {
        self.shared.hanging.load(Ordering::SeqCst)
    }

    /// Writes with a condition so far.
    pub fn conditional_writes(&self) -> usize {
        self.shared.conditional_writes.load(Ordering::SeqCst)
    }

    /// Returns the configuration table with which nodes share their results in this store.
    pub fn keys(&self) -> String {
        format!(
            "[store]\ns3 = {{ bucket = \"results\", folder = \"andon\", endpoint = \"{}\", \
             access_key_env = \"CARGO_PKG_NAME\", secret_key_env = \"CARGO_PKG_VERSION\" }}\n\
             allow = [\"127.0.0.1\"]\n",
            self.endpoint
        )
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        self.becomes(State::Well);
    }
}

impl Shared {
    async fn answer(
        &self,
        request: Request<Incoming>,
        mut states: watch::Receiver<State>,
    ) -> Response<Body> {
        let state = *states.borrow();
        if state == State::Hanging {
            self.hanging.fetch_add(1, Ordering::SeqCst);
            let _ = states.wait_for(|state| *state != State::Hanging).await;
            self.hanging.fetch_sub(1, Ordering::SeqCst);
        }
        if *states.borrow() == State::Failing {
            return status(StatusCode::INTERNAL_SERVER_ERROR);
        }
        let condition = |name| Some(request.headers().get(name)?.to_str().ok()?.to_owned());
        let (is, is_not) = (condition(IF_MATCH), condition(IF_NONE_MATCH));
        let path = self.root.join(request.uri().path().trim_start_matches('/'));
        let writes = request.method() == Method::PUT;
        let _turn = match writes {
            true => Some(self.writing.lock().await),
            false => None,
        };
        let tag = std::fs::read(path)
            .ok()
            .map(|bytes| format!("\"{:x}\"", Md5::digest(bytes)));
        let unchanged = tag.is_some() && tag == is_not;
        if !writes && unchanged {
            return status(StatusCode::NOT_MODIFIED);
        }
        let taken = is_not.as_deref() == Some("*") && tag.is_some();
        if writes && is.is_some() {
            self.conditional_writes.fetch_add(1, Ordering::SeqCst);
        }
        if writes && self.is_conditional && (taken || is.is_some() && is != tag) {
            return status(StatusCode::PRECONDITION_FAILED);
        }
        let called = self.service.as_ref().call(request.map(Body::from)).await;
        called.unwrap_or_else(|_| status(StatusCode::INTERNAL_SERVER_ERROR))
    }
}

fn status(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
