//! The option `index`: whether searches use an index of the workspace, and how much memory it may use.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_search::{IndexMode, IndexPhase, IndexSettings, IndexStatus};

/// The mode, or an object with the mode and the memory limit.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum IndexOptions {
    Mode(IndexModeOption),
    Detailed(DetailedIndexOptions),
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum IndexModeOption {
    #[default]
    Auto,
    On,
    Off,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DetailedIndexOptions {
    #[serde(default)]
    mode: IndexModeOption,
    #[serde(default)]
    #[schemars(range(min = 1, max = 65_536))]
    max_memory_mb: Option<u32>,
}

impl Default for IndexOptions {
    fn default() -> Self {
        Self::Mode(IndexModeOption::default())
    }
}

impl IndexOptions {
    pub(super) fn settings(&self) -> IndexSettings {
        let (mode, megabytes) = match self {
            Self::Mode(mode) => (*mode, None),
            Self::Detailed(detailed) => (detailed.mode, detailed.max_memory_mb),
        };
        let mode = match mode {
            IndexModeOption::Auto => IndexMode::Auto,
            IndexModeOption::On => IndexMode::On,
            IndexModeOption::Off => IndexMode::Off,
        };
        let bytes = megabytes.and_then(|it| usize::try_from(it).ok()?.checked_mul(1024 * 1024));
        IndexSettings { mode, max_memory: bytes.unwrap_or(IndexSettings::DEFAULT_MAX_MEMORY) }
    }
}

/// The status of one root's index, for the host.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexStatusInfo {
    root: String,
    state: &'static str,
    files: usize,
    learned: usize,
    memory_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_build_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_cold: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cold_subtrees: Vec<ColdSubtreeInfo>,
}

/// A directory that the index does not cover.
#[derive(Serialize)]
struct ColdSubtreeInfo {
    path: String,
    why: String,
}

impl IndexStatusInfo {
    pub(super) fn of(status: IndexStatus) -> Self {
        let shown = |path: &std::path::Path| toolwright_base::path_to_text(path).into_owned();
        let subtree =
            |(path, why)| ColdSubtreeInfo { path: shown(std::path::Path::new(&path)), why };
        Self {
            root: shown(&status.root),
            state: match status.phase {
                IndexPhase::Off => "off",
                IndexPhase::Cold => "cold",
                IndexPhase::Building => "building",
                IndexPhase::Warm => "warm",
            },
            files: status.files,
            learned: status.learned,
            memory_bytes: status.memory_bytes,
            last_build_ms: status.last_build.and_then(|it| u64::try_from(it.as_millis()).ok()),
            why_cold: status.why_cold,
            cold_subtrees: status.cold_subtrees.into_iter().map(subtree).collect(),
        }
    }
}
