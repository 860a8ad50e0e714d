//! The plugins of a registry: where their files are, and when they are loaded.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use serde_json::json;
use toolwright_core::configuration_directory;
use toolwright_files::real_place;
use toolwright_pipeline::Pipeline;
use toolwright_plugins::{PluginDirectory, PluginError, PluginWatch};
use toolwright_store::{PluginsChange, StateEvent};

/// The variable with the plugin directory, used if the host sets none.
pub(super) const TOOLS_DIRECTORY_VARIABLE: &str = "TOOLWRIGHT_TOOLS_DIR";

/// The plugin directory of a registry, and the watch on it.
pub(super) struct HostPlugins {
    directory: Arc<PluginDirectory>,
    watch: Arc<Mutex<WatchState>>,
}

/// Whether the directory is watched.
enum WatchState {
    /// The host did not ask for it, or the registry is closed.
    Off,
    /// It starts when the plugins are first loaded.
    Wanted,
    On(#[expect(dead_code, reason = "dropping it ends the watch")] PluginWatch),
}

impl HostPlugins {
    /// Chooses the plugin directory. Loads nothing yet.
    pub(super) fn new(
        option: Option<&str>,
        variable: Option<&str>,
        is_watched: bool,
        project: &Path,
    ) -> Self {
        let directory = plugin_directory(option, variable, project);
        let state = if is_watched { WatchState::Wanted } else { WatchState::Off };
        Self { directory: Arc::new(directory), watch: Arc::new(Mutex::new(state)) }
    }

    /// The directories with plugin code: the directory in use, and always the user's directory.
    pub(super) fn protected_places(&self) -> Vec<PathBuf> {
        let all = usual_directory().into_iter().chain(self.directory.path().map(Path::to_owned));
        let mut places: Vec<PathBuf> =
            all.flat_map(|it| [real_place(&it), Some(it)]).flatten().collect();
        places.sort();
        places.dedup();
        places
    }

    /// A closure that loads the plugins, and starts to watch them if the host asked for it.
    pub(super) fn loading(
        &self,
        pipeline: &Arc<Pipeline>,
    ) -> impl FnOnce() -> Vec<PluginError> + Send + 'static {
        let (directory, watch) = (Arc::clone(&self.directory), Arc::clone(&self.watch));
        let pipeline = Arc::clone(pipeline);
        move || {
            let not_watched = begin_to_watch(&directory, &watch, &pipeline);
            let mut errors = directory.load_into(&pipeline.registry);
            errors.extend(not_watched);
            errors
        }
    }

    /// Ends the watch for good.
    pub(super) fn stop_watching(&self) {
        *self.watch.lock() = WatchState::Off;
    }
}

/// Starts the watch. Called before the files are read, so that no change is missed.
fn begin_to_watch(
    directory: &Arc<PluginDirectory>,
    watch: &Mutex<WatchState>,
    pipeline: &Arc<Pipeline>,
) -> Option<PluginError> {
    let path = directory.path()?.to_owned();
    let mut state = watch.lock();
    if !matches!(*state, WatchState::Wanted) {
        return None;
    }
    // Weak, so that the watch does not keep the registry alive.
    let (plugins, calls) = (Arc::downgrade(directory), Arc::downgrade(pipeline));
    let reload = move || {
        if let (Some(plugins), Some(pipeline)) = (plugins.upgrade(), calls.upgrade()) {
            reload_changes(&plugins, &pipeline);
        }
    };
    match PluginWatch::start(path.clone(), reload) {
        Ok(started) => {
            *state = WatchState::On(started);
            None
        }
        Err(cause) => Some(PluginError {
            source: path.display().to_string(),
            tool_name: None,
            message: format!("the plugin directory cannot be watched: {cause}"),
        }),
    }
}

/// Loads changed files and sends the host an event if anything changed. Without the event, the host would not
/// learn about a file that became invalid.
fn reload_changes(plugins: &PluginDirectory, pipeline: &Pipeline) {
    let Some(errors) = plugins.load_changes_into(&pipeline.registry) else { return };
    let change = PluginsChange {
        success: errors.is_empty(),
        tool_count: pipeline.registry.snapshot().len(),
        errors: errors.iter().map(|it| json!(it)).collect(),
    };
    pipeline.sessions.shared().stored.events.send(&StateEvent::Plugins(change));
}

/// The plugin directory: the host's option (empty for none), or the environment variable, or the user's directory.
pub(super) fn plugin_directory(
    option: Option<&str>,
    variable: Option<&str>,
    project: &Path,
) -> PluginDirectory {
    match option.or_else(|| variable.filter(|it| !it.is_empty())) {
        None => PluginDirectory::usual(usual_directory()),
        Some("") => PluginDirectory::usual(None),
        Some(path) => PluginDirectory::named(project.join(path)),
    }
}

fn usual_directory() -> Option<PathBuf> {
    Some(configuration_directory()?.join("toolwright").join("tools"))
}
