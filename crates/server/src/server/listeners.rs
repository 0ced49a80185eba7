//! The listeners of a running server, which a reload closes and opens.

use std::sync::Arc;

use andon_pixels::Codec;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::acceptor::Acceptor;
use super::current::{Current, Generation};
use super::io_threads::IoThreads;
use super::place::{Bound, Place, bind_all, places};
use super::reload::StartError;
use crate::config::Config;
use crate::http::Inherited;

/// The listeners of a running server.
pub(super) struct Listeners {
    pub(super) codecs: &'static [&'static dyn Codec],
    pub(super) current: Arc<Current>,
    pub(super) inherited: Inherited,
    pub(super) acceptors: JoinSet<()>,
    pub(super) io_threads: Arc<IoThreads>,
    /// For each address, the channel that stops its acceptors.
    pub(super) closers: Vec<(Place, watch::Sender<bool>)>,
}

impl Listeners {
    /// Begins to accept the connections of an address.
    pub(super) fn open(&mut self, bound: Bound) {
        let (stopping, is_stopping) = watch::channel(false);
        self.closers.push((bound.place.clone(), stopping));
        let is_split = bound.listeners.len() > 1;
        for (thread, listener) in bound.listeners.into_iter().enumerate() {
            let acceptor = Acceptor {
                thread,
                is_split,
                is_inherited: bound.is_inherited,
                place: bound.place.clone(),
                current: self.current.clone(),
                io_threads: self.io_threads.clone(),
                stopping: is_stopping.clone(),
            };
            let accepting = acceptor.accept_all(listener);
            self.acceptors
                .spawn_on(accepting, self.io_threads.handle(thread));
        }
    }

    /// Changes to another configuration. Everything that can fail comes first, so that a refused configuration changes
    /// nothing.
    ///
    /// # Errors
    /// If the configuration is invalid, or if something that it names cannot be opened or bound.
    pub(super) async fn rebuild(&mut self, config: &Config) -> Result<(), StartError> {
        let before = self.current.app();
        let generation =
            Generation::of(config, self.codecs, before.metrics.clone(), Some(&before))?;
        drop(before);
        let mut new_places = places(config);
        let (staying, leaving): (Vec<_>, Vec<_>) =
            (self.closers.drain(..)).partition(|(place, _)| new_places.contains(place));
        new_places.retain(|place| !staying.iter().any(|(stays, _)| stays == place));
        self.closers = staying;
        let split = self.io_threads.count();
        let bound = bind_all(new_places, config.socket_mode, &self.inherited, split).await;
        let result = bound.map_err(StartError::from).and_then(|new_bound| {
            generation.app.resize(config)?;
            Ok(new_bound)
        });
        let new_bound = match result {
            Ok(new_bound) => new_bound,
            Err(error) => {
                self.closers.extend(leaving);
                return Err(error);
            }
        };
        generation.app.begin_exporting();
        let before = self.current.replace(generation);
        before.app.end_exporting().await;
        // The old app is dropped together with its last request.
        drop(before);
        for (_, closer) in leaving {
            // Fails when the acceptor is closed already.
            let _ = closer.send(true);
        }
        for bound in new_bound {
            self.open(bound);
        }
        Ok(())
    }

    /// Goes on accepting for the grace period, and then finishes the accepted requests, within the shutdown timeout.
    pub(super) async fn close(mut self) {
        let timeouts = self.current.generation().connection_config.timeouts;
        self.current.app().readiness.stop();
        tokio::time::sleep(timeouts.grace.0).await;
        for (_, closer) in &self.closers {
            // Fails when the acceptor is closed already.
            let _ = closer.send(true);
        }
        let closing = async { while self.acceptors.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(timeouts.shutdown.0, closing).await;
        // Close the connections that are still open after the timeout.
        self.acceptors.shutdown().await;
        self.current.app().end_exporting().await;
        let app = Arc::into_inner(self.current).map(|current| current.into_generation().app);
        if let Some(app) = app.and_then(Arc::into_inner) {
            app.finish().await;
        }
    }
}
