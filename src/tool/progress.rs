//! News of a running call, on their way to the host.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

/// One piece of news.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Progress {
    /// The tool begins to run: validated, allowed and confirmed.
    Start {
        /// The tool's name.
        tool: String,
        /// The call's id.
        tool_use_id: String,
    },
    /// A piece of output, in order.
    Output {
        /// The new text alone.
        text: String,
    },
    /// How far the work has come.
    Step {
        /// Work done, rising.
        progress: f64,
        /// All of the work, where it is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        /// What is being done.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// The tool has ended.
    End {
        /// The tool's name.
        tool: String,
        /// The call's id.
        tool_use_id: String,
        /// How long it ran.
        elapsed_ms: f64,
        /// True when the result is an error.
        is_error: bool,
    },
}

/// Takes progress; one that nobody listens to costs nothing.
#[derive(Clone, Default)]
pub struct ProgressSink(Option<Arc<dyn Fn(Progress) + Send + Sync>>);

impl ProgressSink {
    /// A sink that hands each piece to a function, which must not block.
    pub fn new(listener: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    /// True when somebody listens.
    pub fn is_watched(&self) -> bool {
        self.0.is_some()
    }

    /// Hands on one piece.
    pub fn send(&self, progress: Progress) {
        if let Some(listener) = &self.0 {
            listener(progress);
        }
    }
}

impl fmt::Debug for ProgressSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ProgressSink").field(&self.is_watched()).finish()
    }
}
