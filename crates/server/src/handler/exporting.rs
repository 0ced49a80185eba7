//! What a server exports to a collector besides its requests: metrics and log lines.

use std::sync::Arc;

use crate::handler::App;

impl App {
    /// Exports the log lines of this process from now on, and the metrics at each interval, if there is a collector. Needs
    /// a tokio runtime.
    pub(crate) fn begin_exporting(self: &Arc<Self>) {
        if let Some(exporter) = &self.log.exporter {
            let app = Arc::downgrade(self);
            exporter.attach(move || app.upgrade().inspect(|app| app.export_metrics()).is_some());
        }
    }

    /// Stops exporting log lines and metrics, because another app takes over or the server ends.
    pub(crate) async fn end_exporting(&self) {
        if let Some(exporter) = &self.log.exporter {
            exporter.detach().await;
        }
    }

    /// Exports the metrics as they are now, if there is a collector.
    pub(super) fn export_metrics(&self) {
        if let Some(exporter) = &self.log.exporter {
            exporter.export(&self.metric_set());
        }
    }
}
