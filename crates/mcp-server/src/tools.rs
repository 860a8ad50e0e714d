//! What a server needs to know of the tools it serves.

use std::{future::Future, pin::Pin};

use serde_json::{Map, Value};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

/// The tools behind a server.
pub trait Tools: Send + Sync + 'static {
    /// All tools, in the order they are told.
    fn list(&self) -> Vec<Definition>;

    /// One tool.
    fn find(&self, name: &str) -> Option<Definition>;

    /// Takes note of a call, in the order in which the client made its calls. They run side by side, and
    /// whatever depends on their order is settled here.
    fn arrive(&self, name: &str) -> Box<dyn Arrived>;
}

/// A call that has come in and does not run yet.
pub trait Arrived: Send + Sync {
    /// Runs it to its end, however it ends.
    fn call(self: Box<Self>, call: Call) -> Pin<Box<dyn Future<Output = Answer> + Send>>;
}

/// A tool as clients are told of it.
#[derive(Clone, Debug)]
pub struct Definition {
    /// What it is called by.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// What a model is told.
    pub description: String,
    /// The JSON Schema of its input.
    pub input_schema: Map<String, Value>,
    /// The JSON Schema of the data in its answers, if they have to fit one.
    pub output_schema: Option<Map<String, Value>>,
    /// Hints of the protocol on what it does.
    pub annotations: Value,
    /// What else a client may know.
    pub meta: Map<String, Value>,
}

/// One call.
#[derive(Debug)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// Its input.
    pub arguments: Map<String, Value>,
    /// What the client said besides.
    pub meta: Map<String, Value>,
    /// Cancelled when the client gives the call up or is gone.
    pub cancel: CancellationToken,
    /// Where steps go, if the client wants to know of them.
    pub steps: Option<UnboundedSender<Step>>,
}

/// How far a call has come.
#[derive(Clone, Debug)]
pub struct Step {
    /// So far.
    pub progress: f64,
    /// In all, if that is known.
    pub total: Option<f64>,
    /// In words.
    pub message: Option<String>,
}

/// What came of a call.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// What a model is told.
    pub content: Vec<Block>,
    /// The same as data.
    pub structured: Option<Value>,
    /// Whether the call failed.
    pub is_error: bool,
    /// What a client may know besides.
    pub meta: Map<String, Value>,
}

/// A piece of an answer.
#[derive(Clone, Debug)]
pub enum Block {
    /// Text.
    Text(String),
    /// A picture.
    Image {
        /// In base64.
        data: String,
        /// Its type.
        mime_type: String,
    },
    /// Any block of the protocol, as it is.
    Other(Map<String, Value>),
}
