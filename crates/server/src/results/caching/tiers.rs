//! Describes for `andon explain` where a server would look up and store a result.

use std::sync::Arc;
use std::time::Duration;

use andon_dialects::ImageRequest;
use andon_pixels::{Codec, Plan};
use andon_recipe::Facts;

use super::life::NOT_SHARED;
use super::name::Names;
use super::{Terms, Worth};
use crate::config::{Config, StoreConfig, StorePlace};
use crate::request::negotiation::SettledRequest;
use crate::sources::resolver::OpenSource;

/// Returns the key of a planned result and its cache tiers in the order of look-ups, each with a description.
#[must_use]
pub fn tiers(
    config: &Config,
    codecs: &[&dyn Codec],
    request: &ImageRequest,
    facts: &Facts,
    input: &OpenSource,
    plan: &Plan,
) -> Vec<(&'static str, String)> {
    let asked = SettledRequest {
        request: Arc::new(request.clone()),
        negotiated: false,
        is_open: false,
    };
    let source = &request.source.place();
    let terms = match input.freshness() {
        None => Terms::of_file(&config.cache, source),
        Some(freshness) => Terms::of_origin(&config.cache, source, freshness),
    };
    let terms = terms.with_overlays(&config.cache, input.overlays());
    let cost = Duration::from_nanos(plan.cost().nanos);
    let resolved = Names::new(config, codecs).resolve(&asked, facts);
    let key = resolved.map(|resolved| ("key", resolved.key.to_string()));
    let remark = match terms.shared {
        true => String::new(),
        false => format!("; not kept: {NOT_SHARED}"),
    };
    let memory = match config.cache.memory.0 {
        0 => "off".to_owned(),
        _ => format!("{}{remark}", config.cache.memory),
    };
    let disk = match config.cache.disk.as_ref().filter(|disk| disk.size.0 > 0) {
        None => "off".to_owned(),
        Some(disk) => format!("{}, {}{remark}", disk.path.display(), disk.size),
    };
    let store = config.store.as_ref();
    let store = store.map_or_else(
        || "off".to_owned(),
        |store| describe_store(store, cost, &terms),
    );
    let tiers = [("memory", memory), ("disk", disk), ("store", store)];
    key.into_iter().chain(tiers).collect()
}

fn describe_store(store: &StoreConfig, cost: Duration, terms: &Terms) -> String {
    let place = match &store.place {
        StorePlace::Folder(root) => root.display().to_string(),
        StorePlace::Bucket(kind, bucket) => {
            format!("{kind}://{}/{}", bucket.bucket, bucket.folder)
        }
    };
    match Worth::of(store).check(cost, terms) {
        Ok(()) => format!(
            "{place}, also for other nodes: {:.1} ms of processor time is `store.min_cost` ({:.1} ms) or more",
            cost.as_secs_f64() * 1e3,
            store.min_cost.0.as_secs_f64() * 1e3
        ),
        Err(why) => format!("{place}; looked up, but not stored: {why}"),
    }
}
