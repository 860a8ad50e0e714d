//! The tools of a host by name. Readers get snapshots, so that a registration never affects a running
//! call.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
};

use parking_lot::RwLock;
use tokio::sync::watch;
use toolwright_base::{ErrorKind, NAME_RULE, SHOWN_NAME, ToolError, is_valid_name, shortened};

use crate::tool::DynTool;

/// The origin of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolSource {
    /// Part of toolwright, in the tool set of this name.
    Builtin(&'static str),
    /// Implemented by the host.
    Host,
    /// Defined in a file of the plugin directory.
    Plugin {
        /// The plugin name that the file gives to all its tools.
        plugin: String,
    },
    /// Provided by an MCP server.
    Mcp {
        /// The server's name.
        server: String,
    },
}

impl ToolSource {
    /// The name of the origin in listings.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Builtin(_) => "builtin",
            Self::Host => "host",
            Self::Plugin { .. } => "plugin",
            Self::Mcp { .. } => "mcp",
        }
    }
}

/// One registration of a tool. Registering a name again makes a new registration with a new id.
#[derive(Clone)]
pub struct Entry {
    /// The unique id of this registration.
    pub id: u64,
    /// The registered tool.
    pub tool: Arc<dyn DynTool>,
    /// The origin of the tool.
    pub source: ToolSource,
}

/// All registrations at one moment, ordered by name.
#[derive(Clone, Default)]
pub struct Snapshot {
    tools: BTreeMap<NameKey, Entry>,
    /// The tools that have aliases. They are few.
    aliased: BTreeSet<NameKey>,
    disabled: HashSet<String>,
    /// Built-in tools that were replaced by another tool of the same name, by registration id.
    replaced: BTreeMap<u64, Entry>,
    next_id: u64,
    /// Counts changes of the list of tools and of the disabled names.
    generation: u64,
}

/// The tools of one host. Changing it replaces the snapshot that readers get.
#[derive(Default)]
pub struct Registry {
    current: RwLock<Arc<Snapshot>>,
    /// The generation of the current snapshot, for tasks that wait for the next one.
    generation: watch::Sender<u64>,
}

impl Registry {
    /// The current registrations.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.read())
    }

    /// Signals that the tools have changed: registered, removed, replaced, disabled or enabled. The
    /// number grows with each change. Changes in quick succession may be signalled as one. A snapshot
    /// taken after a signal includes the change.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }

    /// Registers a tool, replacing one of the same name. Returns the id of the registration.
    pub fn register(&self, tool: Arc<dyn DynTool>, source: ToolSource) -> Result<u64, ToolError> {
        let name = tool.spec().name.clone();
        if !is_valid_name(&name) {
            let shown = shortened(&name, SHOWN_NAME);
            return Err(ToolError::new(
                ErrorKind::InvalidTool,
                format!("`{shown}` cannot be a tool's name; use {NAME_RULE}"),
            ));
        }
        Ok(self.change(|snapshot| {
            snapshot.next_id += 1;
            let id = snapshot.next_id;
            let replaced = snapshot.insert(NameKey(name), Entry { id, tool, source });
            // A host may wrap a built-in tool under the same name. Its wrapper still calls the built-in tool.
            if let Some(entry) = replaced.filter(|it| matches!(it.source, ToolSource::Builtin(_))) {
                snapshot.replaced.insert(entry.id, entry);
            }
            id
        }))
    }

    /// Removes the tool with a name or an alias. Returns the name it was registered under.
    pub fn unregister(&self, name: &str) -> Option<String> {
        self.change(|snapshot| {
            let real = NameKey(snapshot.find(name)?.tool.spec().name.clone());
            snapshot.remove(&real).map(|_| real.0)
        })
    }

    /// Removes every MCP tool whose name begins with the prefix. Returns their names.
    pub fn unregister_mcp(&self, prefix: &str) -> Vec<String> {
        let first = NameKey(prefix.to_owned());
        self.change(|snapshot| {
            // Names with the same prefix are adjacent, so only those are visited.
            let removed: Vec<NameKey> = snapshot
                .tools
                .range(&first..)
                .take_while(|(name, _)| name.begins_with(&first))
                .filter(|(name, entry)| {
                    matches!(entry.source, ToolSource::Mcp { .. }) && name.0.starts_with(prefix)
                })
                .map(|(name, _)| name.clone())
                .collect();
            for name in &removed {
                snapshot.remove(name);
            }
            removed.into_iter().map(|name| name.0).collect()
        })
    }

    /// Replaces all plugin tools in one step: a reader sees either the old ones or the new ones. A tool
    /// that was registered before keeps its registration. A tool whose name is already taken is left
    /// out; for each of these, returns its index in `tools` and the source of the other tool.
    pub fn replace_plugins(
        &self,
        tools: Vec<(Arc<dyn DynTool>, String)>,
    ) -> Vec<(usize, ToolSource)> {
        let is_plugin = |it: &Entry| matches!(it.source, ToolSource::Plugin { .. });
        let tools = tools.into_iter().map(|(tool, plugin)| (tool, ToolSource::Plugin { plugin }));
        let outcomes = self.replace(is_plugin, tools);
        let refused = |(index, it): (usize, Result<u64, ToolSource>)| Some((index, it.err()?));
        outcomes.into_iter().enumerate().filter_map(refused).collect()
    }

    /// Replaces the tools of an MCP server in one step, like [`Self::replace_plugins`]. `old` are the
    /// ids of its registrations. Returns for each tool the id of its registration, or the source of the
    /// other tool with its name.
    pub fn replace_mcp_server(
        &self,
        server: &str,
        old: &[u64],
        tools: Vec<Arc<dyn DynTool>>,
    ) -> Vec<Result<u64, ToolSource>> {
        let source = || ToolSource::Mcp { server: server.to_owned() };
        self.replace(|it| old.contains(&it.id), tools.into_iter().map(|tool| (tool, source())))
    }

    fn replace(
        &self,
        is_old: impl Fn(&Entry) -> bool,
        tools: impl Iterator<Item = (Arc<dyn DynTool>, ToolSource)>,
    ) -> Vec<Result<u64, ToolSource>> {
        self.change(|snapshot| {
            let generation = snapshot.generation;
            let ids = |it: &Snapshot| it.entries().map(|it| it.id).collect::<Vec<_>>();
            let ids_before = ids(snapshot);
            let names: Vec<NameKey> = snapshot
                .tools
                .iter()
                .filter(|(_, entry)| is_old(entry))
                .map(|(name, _)| name.clone())
                .collect();
            let mut before = BTreeMap::new();
            for name in names {
                if let Some(entry) = snapshot.remove(&name) {
                    before.insert(name, entry);
                }
            }
            let mut outcomes = Vec::new();
            for (tool, source) in tools {
                let name = NameKey(tool.spec().name.clone());
                if let Some(other) = snapshot.find(&name.0) {
                    outcomes.push(Err(other.source.clone()));
                    continue;
                }
                let same = before.remove(&name).filter(|it| Arc::ptr_eq(&it.tool, &tool));
                let id = same.map_or_else(
                    || {
                        snapshot.next_id += 1;
                        snapshot.next_id
                    },
                    |it| it.id,
                );
                snapshot.insert(name, Entry { id, tool, source });
                outcomes.push(Ok(id));
            }
            // Loading the same definitions again is not a change.
            if ids(snapshot) == ids_before {
                snapshot.generation = generation;
            }
            outcomes
        })
    }

    /// Disables tools, including ones that are not registered yet. If one name is invalid, none is
    /// disabled. A name is a tool's name, an alias, or a prefix, such as `mcp__server__*` or
    /// `mcp__server`.
    pub fn disable(&self, names: &[String]) -> Result<(), ToolError> {
        let names = names.iter().map(|it| checked_name(it)).collect::<Result<Vec<_>, _>>()?;
        self.change(|snapshot| {
            for name in names {
                snapshot.generation += u64::from(snapshot.disabled.insert(name));
            }
        });
        Ok(())
    }

    /// Enables disabled tools, by name or alias. If one name is invalid, none is enabled.
    pub fn enable(&self, names: &[String]) -> Result<(), ToolError> {
        let names = names.iter().map(|it| checked_name(it)).collect::<Result<Vec<_>, _>>()?;
        self.change(|snapshot| {
            for name in names {
                let all = snapshot.find(&name).map(all_names).unwrap_or_default();
                let before = snapshot.disabled.len();
                snapshot.disabled.retain(|it| *it != name && !all.contains(it));
                snapshot.generation += u64::from(snapshot.disabled.len() < before);
            }
        });
        Ok(())
    }

    fn change<T>(&self, change: impl FnOnce(&mut Snapshot) -> T) -> T {
        let mut current = self.current.write();
        // The snapshot is copied only if a reader still has it.
        let snapshot = Arc::make_mut(&mut current);
        let changed = change(snapshot);
        let now = snapshot.generation;
        drop(current);
        // Another change may have been signalled in between: the number only grows.
        self.generation.send_if_modified(|signalled| {
            let is_new = now > *signalled;
            *signalled = now.max(*signalled);
            is_new
        });
        changed
    }
}

impl Snapshot {
    fn insert(&mut self, name: NameKey, entry: Entry) -> Option<Entry> {
        if entry.tool.aliases().is_empty() {
            self.aliased.remove(&name);
        } else {
            self.aliased.insert(name.clone());
        }
        self.generation += 1;
        self.tools.insert(name, entry)
    }

    fn remove(&mut self, name: &NameKey) -> Option<Entry> {
        self.aliased.remove(name);
        let removed = self.tools.remove(name);
        self.generation += u64::from(removed.is_some());
        removed
    }

    /// The tool with a name or an alias.
    pub fn find(&self, name: &str) -> Option<&Entry> {
        let by_alias = || {
            let mut aliased = self.aliased.iter().filter_map(|it| self.tools.get(it));
            aliased.find(|entry| entry.tool.aliases().contains(&name))
        };
        self.exact(name).or_else(by_alias)
    }

    /// The tool that a model calls by a name. Gemini accepts only names that begin with a letter or
    /// `_`, so its definitions put a `_` before other names (see `provider`).
    pub fn find_called(&self, name: &str) -> Option<&Entry> {
        let prefixed = || self.exact(name.strip_prefix('_')?);
        self.find(name)
            .or_else(|| prefixed().filter(|it| needs_gemini_prefix(&it.tool.spec().name)))
    }

    fn exact(&self, name: &str) -> Option<&Entry> {
        self.tools.get(&NameKey(name.to_owned()))
    }

    /// The replaced built-in tool with this registration id.
    pub fn find_replaced(&self, id: u64) -> Option<&Entry> {
        self.replaced.get(&id)
    }

    /// All tools, ordered by name.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.tools.values()
    }

    /// All tools that are not disabled, ordered by name.
    pub fn enabled(&self) -> impl Iterator<Item = &Entry> {
        self.entries().filter(|entry| !self.is_disabled(&entry.tool.spec().name))
    }

    /// The number of registered tools.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// True when no tool is registered.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// True when the tool is disabled, under any of its names.
    pub fn is_disabled(&self, name: &str) -> bool {
        if self.disabled.is_empty() {
            return false;
        }
        let is_off = |name: &String| {
            let starts = self.disabled.iter().filter_map(|it| it.strip_suffix('*'));
            self.disabled.contains(name) || starts.into_iter().any(|it| name.starts_with(it))
        };
        let names = self.find(name).map_or_else(|| vec![name.to_owned()], all_names);
        names.iter().any(is_off)
    }
}

/// Checks the name of a tool, or a prefix followed by `*`.
fn checked_name(name: &str) -> Result<String, ToolError> {
    let is_server = name.strip_prefix("mcp__").is_some_and(|it| !it.contains("__"));
    match name.strip_suffix('*') {
        None if is_server && is_valid_name(name) => Ok(format!("{name}__*")),
        start if is_valid_name(start.unwrap_or(name)) => Ok(name.to_owned()),
        _ => {
            let shown = shortened(name, SHOWN_NAME);
            let message = format!(
                "`{shown}` is not a tool's name; use {NAME_RULE}, with a `*` at the end for every name with \
                 this prefix, or write a rule to deny only some of a tool's calls"
            );
            Err(ToolError::new(ErrorKind::InvalidOptions, message))
        }
    }
}

fn all_names(entry: &Entry) -> Vec<String> {
    let aliases = entry.tool.aliases().iter().map(|it| (*it).to_owned());
    std::iter::once(entry.tool.spec().name.clone()).chain(aliases).collect()
}

/// True for names that begin with a digit or `-`, which only Gemini refuses.
pub fn needs_gemini_prefix(name: &str) -> bool {
    name.starts_with(|it: char| it.is_ascii_digit() || it == '-')
}

/// A name, ordered like JavaScript's `localeCompare`: first `_`, then `-`, digits and letters. Case
/// only decides between names that are otherwise equal.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NameKey(String);

impl NameKey {
    fn weights(&self) -> impl Iterator<Item = u8> {
        self.0.bytes().map(|byte| match byte {
            b'_' => 1,
            b'-' => 2,
            _ => byte.to_ascii_lowercase(),
        })
    }

    /// True when the name begins with the other, ignoring case.
    fn begins_with(&self, beginning: &Self) -> bool {
        self.weights().take(beginning.0.len()).eq(beginning.weights())
    }
}

impl Ord for NameKey {
    fn cmp(&self, other: &Self) -> Ordering {
        let lower_case_first = || other.0.cmp(&self.0);
        self.weights().cmp(other.weights()).then_with(lower_case_first)
    }
}

impl PartialOrd for NameKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;
