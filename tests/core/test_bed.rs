//! A workspace in a temporary directory and a pipeline over it.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use toolwright::{
    pipeline::{CallOptions, Limits, Pipeline, ToolCall},
    registry::ToolSource,
    session::Sessions,
    tool::ToolOutput,
    tools::ToolSet,
    workspace::Roots,
};

pub(crate) struct TestBed {
    dir: TempDir,
    pub(crate) pipeline: Pipeline,
}

impl TestBed {
    pub(crate) fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    pub(crate) fn with_limits(limits: Limits) -> Self {
        let dir = TempDir::new().unwrap();
        let roots = Roots::new(dir.path(), &[]).unwrap();
        let pipeline = Pipeline::new(Sessions::new(roots.into()), limits);
        for set in ToolSet::ALL {
            for tool in set.tools() {
                pipeline.registry.register(tool, ToolSource::Builtin(set.as_str())).unwrap();
            }
        }
        Self { dir, pipeline }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) async fn call(&self, name: &str, input: Value) -> ToolOutput {
        self.call_with(name, input, CallOptions::default()).await
    }

    pub(crate) async fn call_with(
        &self,
        name: &str,
        input: Value,
        options: CallOptions,
    ) -> ToolOutput {
        self.pipeline.call(ToolCall { name: name.to_owned(), input }, options).await
    }
}
