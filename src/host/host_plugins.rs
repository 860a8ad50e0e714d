//! The plugins of a registry: where their files are, and when they are read.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::json;

use crate::{
    pipeline::Pipeline,
    plugin::{PluginDirectory, PluginError, PluginWatch},
    session::configuration_directory,
    state::{PluginsChange, StateEvent},
    workspace::real_place,
};

/// The variable that names the plugin directory, if the host does not.
pub(super) const TOOLS_DIRECTORY_VARIABLE: &str = "TOOLWRIGHT_TOOLS_DIR";

/// The plugin directory of a registry, and the watch on it.
pub(super) struct HostPlugins {
    directory: Arc<PluginDirectory>,
    watch: Arc<Mutex<WatchState>>,
}

/// Whether the directory is watched.
enum WatchState {
    /// The host does not want it, or the registry is closed.
    Off,
    /// From the first loading on.
    Wanted,
    On(#[expect(dead_code, reason = "dropping it ends the watch")] PluginWatch),
}

impl HostPlugins {
    /// The plugins of the directory that is used.
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

    /// The directories whose files are code: the one that is used, and the user's in any case.
    pub(super) fn protected_places(&self) -> Vec<PathBuf> {
        let all = usual_directory().into_iter().chain(self.directory.path().map(Path::to_owned));
        let mut places: Vec<PathBuf> =
            all.flat_map(|it| [real_place(&it), Some(it)]).flatten().collect();
        places.sort();
        places.dedup();
        places
    }

    /// Work that loads the plugins, and begins to watch them if the host wants that.
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
        *self.watch.lock().unwrap_or_else(PoisonError::into_inner) = WatchState::Off;
    }
}

/// Begins before the files are read, so that no change is missed.
fn begin_to_watch(
    directory: &Arc<PluginDirectory>,
    watch: &Mutex<WatchState>,
    pipeline: &Arc<Pipeline>,
) -> Option<PluginError> {
    let path = directory.path()?.to_owned();
    let mut state = watch.lock().unwrap_or_else(PoisonError::into_inner);
    if !matches!(*state, WatchState::Wanted) {
        return None;
    }
    // A registry that nobody holds any more is not kept alive by its watch.
    let (plugins, calls) = (Arc::downgrade(directory), Arc::downgrade(pipeline));
    let reload = move || {
        if let (Some(plugins), Some(pipeline)) = (plugins.upgrade(), calls.upgrade()) {
            tell_changes(&plugins, &pipeline);
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

/// Reads the files again, and tells the host if that changed anything: it asked for nothing, so it would not
/// learn of a file that broke.
fn tell_changes(plugins: &PluginDirectory, pipeline: &Pipeline) {
    let Some(errors) = plugins.load_changes_into(&pipeline.registry) else { return };
    let change = PluginsChange {
        success: errors.is_empty(),
        tool_count: pipeline.registry.snapshot().len(),
        errors: errors.iter().map(|it| json!(it)).collect(),
    };
    pipeline.sessions.shared().events.send(&StateEvent::Plugins(change));
}

/// The directory that the host names, none for an empty text, or else that of the environment, or else the
/// user's.
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
