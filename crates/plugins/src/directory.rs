//! The plugin directory: reads its files and registers their tools.
//!
//! A reload replaces all plugin tools in one step. An invalid file keeps its previous tools, and an invalid
//! definition keeps its previous tool, so that a mistake in an editor removes no tool. Deleting a file
//! removes its tools.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use toolwright_base::{regular_file, shown_path};
use toolwright_core::{DynTool, Registry, ToolSource};

use super::{
    definition::PluginToolDefinition,
    manifest::{CheckedFile, ManifestCheck, ToolProblems},
    plugin_tool::PluginTool,
};

/// The extension of plugin files.
const ENDING: &str = "json";
/// The largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// The maximum number of files that are read.
const MAX_FILES: usize = 1_000;
/// The maximum number of directory entries that are examined.
const MAX_ENTRIES: usize = 20_000;

/// An error in a plugin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginError {
    /// The file or directory.
    pub source: String,
    /// The tool, if the error concerns one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// What is wrong.
    pub message: String,
}

/// A directory of plugin files.
#[derive(Default)]
pub struct PluginDirectory {
    path: Option<PathBuf>,
    /// True if it was configured explicitly, so that its absence is an error.
    has_to_exist: bool,
    loaded: Mutex<LoadedPlugins>,
}

/// The result of the last load.
#[derive(Default)]
struct LoadedPlugins {
    /// The loaded files, by path.
    files: BTreeMap<PathBuf, LoadedFile>,
    errors: Vec<PluginError>,
}

/// A loaded file.
#[derive(Clone, Default)]
struct LoadedFile {
    plugin: String,
    tools: Vec<Arc<PluginTool>>,
}

impl LoadedPlugins {
    /// The plugin name and definition of each tool.
    fn tools(&self) -> Vec<(String, PluginToolDefinition)> {
        let of_file = |file: &LoadedFile| {
            let tool = |it: &Arc<PluginTool>| (file.plugin.clone(), it.definition().clone());
            file.tools.iter().map(tool).collect::<Vec<_>>()
        };
        self.files.values().flat_map(of_file).collect()
    }
}

/// A tool that is about to be registered.
struct PluginCandidate {
    tool: Arc<PluginTool>,
    plugin: String,
    file: PathBuf,
}

impl PluginDirectory {
    /// The default plugin directory. It need not exist.
    pub fn usual(path: Option<PathBuf>) -> Self {
        Self { path, ..Self::default() }
    }

    /// A directory that was configured explicitly. If it does not exist, loading reports an error.
    pub fn named(path: PathBuf) -> Self {
        Self { path: Some(path), has_to_exist: true, ..Self::default() }
    }

    /// Its path; `None` if no plugins are used.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Reads all files and replaces the plugin tools of the registry in one step. Returns the errors. Blocks
    /// while it reads.
    pub fn load_into(&self, registry: &Registry) -> Vec<PluginError> {
        // Locked for the whole load, so that the reload that starts last also takes effect last.
        let mut loaded = self.loaded.lock();
        self.load(&mut loaded, registry);
        loaded.errors.clone()
    }

    /// The same, but returns `None` if neither the tools nor the errors changed.
    pub fn load_changes_into(&self, registry: &Registry) -> Option<Vec<PluginError>> {
        let mut loaded = self.loaded.lock();
        let before = (loaded.tools(), loaded.errors.clone());
        self.load(&mut loaded, registry);
        (before != (loaded.tools(), loaded.errors.clone())).then(|| loaded.errors.clone())
    }

    fn load(&self, loaded: &mut LoadedPlugins, registry: &Registry) {
        let Some(directory) = &self.path else { return };
        let mut errors = Vec::new();
        let listed = self.listed(directory, &mut errors);
        let (paths, check) = match listed.and_then(|it| Ok((it, ManifestCheck::new()?))) {
            Ok(both) => both,
            Err(cause) => {
                errors.push(error_of(directory, None, cause));
                loaded.errors = errors;
                return;
            }
        };
        let mut files = BTreeMap::new();
        for path in paths {
            let before = loaded.files.get(&path).cloned().unwrap_or_default();
            let read = read_json(&path).and_then(|value| check.file(&value));
            let file = match read {
                Ok(file) => in_use(file, &before, &path, &mut errors),
                Err(cause) => {
                    let kept = kept_note(before.tools.len());
                    errors.push(error_of(&path, None, format!("{cause}{kept}")));
                    before
                }
            };
            files.insert(path, file);
        }
        register(&files, registry, &mut errors);
        *loaded = LoadedPlugins { files, errors };
    }

    /// The files of the directory, by name.
    fn listed(
        &self,
        directory: &Path,
        errors: &mut Vec<PluginError>,
    ) -> Result<Vec<PathBuf>, String> {
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(err) if err.kind() == io::ErrorKind::NotFound => {
                if self.has_to_exist {
                    let cause =
                        "the plugin directory does not exist; create it, or name another one";
                    errors.push(error_of(directory, None, cause.to_owned()));
                }
                return Ok(Vec::new());
            }
            Err(err) => return Err(format!("the plugin directory cannot be read: {err}")),
        };
        let mut paths = Vec::new();
        for entry in entries.take(MAX_ENTRIES) {
            let path = entry.map_err(|err| err.to_string())?.path();
            // Editors create hidden files while they write.
            let is_hidden =
                path.file_name().is_some_and(|it| it.as_encoded_bytes().starts_with(b"."));
            if path.extension().is_some_and(|it| it == ENDING) && !is_hidden {
                paths.push(path);
            }
        }
        paths.sort();
        if paths.len() > MAX_FILES {
            let cause = format!(
                "the plugin directory has {} files, and only the first {MAX_FILES} are used",
                paths.len()
            );
            errors.push(error_of(directory, None, cause));
            paths.truncate(MAX_FILES);
        }
        Ok(paths)
    }
}

fn error_of(source: &Path, tool_name: Option<&str>, message: String) -> PluginError {
    PluginError { source: shown_path(source), tool_name: tool_name.map(str::to_owned), message }
}

const fn kept_note(kept: usize) -> &'static str {
    if kept > 0 { "; its tools stay as they were" } else { "" }
}

/// Reads a JSON file. Only regular files are opened, and links are not followed: the target of a link may
/// change without an event from the watcher.
fn read_json(path: &Path) -> Result<Value, String> {
    let file =
        regular_file::open_named(path).map_err(|err| match regular_file::other_kind(&err) {
            Some(kind) => format!("it is {kind}, and plugins are plain files"),
            None => format!("it cannot be read: {err}"),
        })?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|err| format!("it cannot be read: {err}"))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("it is larger than {MAX_FILE_BYTES} bytes"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    serde_json::from_str(text).map_err(|err| format!("it is not valid JSON: {err}"))
}

/// The tools of a file. A tool with an unchanged definition is reused.
fn in_use(
    file: CheckedFile,
    before: &LoadedFile,
    path: &Path,
    errors: &mut Vec<PluginError>,
) -> LoadedFile {
    let old = |name: &str| before.tools.iter().find(|it| it.definition().name == name);
    let mut tools: Vec<Arc<PluginTool>> = Vec::new();
    for tool in file.tools {
        match tool {
            Ok(tool) => {
                let same = old(&tool.definition().name)
                    .filter(|it| it.definition() == tool.definition())
                    .map(Arc::clone);
                tools.push(same.unwrap_or_else(|| Arc::new(tool)));
            }
            Err(ToolProblems { name, problems }) => {
                let kept = name.as_deref().and_then(old);
                let note = kept.map_or("", |_| "; the tool stays as it was");
                let message = format!("{}{note}", problems.join("; "));
                errors.push(error_of(path, name.as_deref(), message));
                tools.extend(kept.map(Arc::clone));
            }
        }
    }
    LoadedFile { plugin: file.name, tools }
}

/// Replaces the plugin tools of a registry. If two tools have the same name, the first one is used.
fn register(
    files: &BTreeMap<PathBuf, LoadedFile>,
    registry: &Registry,
    errors: &mut Vec<PluginError>,
) {
    let mut candidates: Vec<PluginCandidate> = Vec::new();
    let mut first: BTreeMap<String, PathBuf> = BTreeMap::new();
    for (path, file) in files {
        for tool in &file.tools {
            let name = &tool.definition().name;
            if let Some(other) = first.get(name) {
                let cause =
                    format!("`{}` has a tool of this name already; rename one", shown_path(other));
                errors.push(error_of(path, Some(name), cause));
                continue;
            }
            first.insert(name.clone(), path.clone());
            let (tool, plugin) = (Arc::clone(tool), file.plugin.clone());
            candidates.push(PluginCandidate { tool, plugin, file: path.clone() });
        }
    }
    let tools = candidates
        .iter()
        .map(|it| -> (Arc<dyn DynTool>, String) {
            let tool: Arc<PluginTool> = Arc::clone(&it.tool);
            (tool, it.plugin.clone())
        })
        .collect();
    for (index, source) in registry.replace_plugins(tools) {
        let Some(PluginCandidate { tool, file, .. }) = candidates.get(index) else { continue };
        let whose = match source {
            ToolSource::Builtin(_) => "a built-in tool",
            ToolSource::Host => "a tool of the host",
            ToolSource::Mcp { .. } => "a tool of an MCP server",
            ToolSource::Plugin { .. } => "another plugin tool",
        };
        let cause = format!("{whose} has this name already; rename the tool");
        errors.push(error_of(file, Some(&tool.definition().name), cause));
    }
}
