//! Builds the sandbox plan of one command from the limits of rules, the protected places, the places
//! that the command line opens, and the host's settings.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use tokio_util::sync::CancellationToken;
use toolwright_base::shown_path;
use toolwright_command_protocol::{
    CommandNetwork, HiddenPlace, MissingPlace, PlaceKind, SandboxLevel, SandboxPlan, WritablePlaces,
};
use toolwright_files::real_place;
use toolwright_policy::{FileLimits, LimitedStart, NamedPlaces, PolicyPlaces};
use toolwright_process::{SandboxNetwork, SandboxSettings, SandboxWrites};

use super::{
    opened_places::{OpenedPlaces, Openings},
    protected_places::{ProtectedPlaces, is_placeholder},
    shared_memory,
};
use crate::place_finder::{
    FoundPlace, LinkedFile, NotAllFound, PlaceEntry, PlaceFinder, PlaceMark, PlaceSearch,
};

/// How many directory entries are searched for files that rules limit.
pub(super) const MAX_ENTRIES: usize = 200_000;
/// How many places a plan may limit. Each one is a mount.
const MAX_PLACES: usize = 4_096;

/// How many places of one kind are reported by name.
const MAX_REPORTED: usize = 8;

/// The input of a plan.
pub(super) struct PlanSources<'a> {
    pub(super) level: SandboxLevel,
    pub(super) limits: &'a FileLimits,
    /// Identifies the policy.
    pub(super) policy: u64,
    pub(super) places: &'a PolicyPlaces,
    pub(super) named: &'a NamedPlaces,
    /// True when a person confirmed the line.
    pub(super) is_confirmed: bool,
    /// True in plan mode, where a command must not change anything.
    pub(super) is_plan_mode: bool,
    pub(super) settings: &'a SandboxSettings,
    pub(super) temporary: &'a [PathBuf],
    pub(super) finder: &'a PlaceFinder,
    pub(super) cancel: &'a CancellationToken,
}

/// A plan, and what it does not enforce.
#[derive(Debug, Default)]
pub(super) struct BuiltPlan {
    pub(super) plan: SandboxPlan,
    pub(super) incomplete: Option<String>,
    pub(super) not_enforced: Vec<String>,
    pub(super) watched: Vec<PathBuf>,
    pub(super) to_be_made: Vec<PathBuf>,
}

/// A plan under construction.
struct PlanBuilder<'a> {
    from: &'a PlanSources<'a>,
    opened_by_line: OpenedPlaces,
    hidden: BTreeMap<PathBuf, PlaceKind>,
    read_only: BTreeSet<PathBuf>,
    missing: BTreeMap<PathBuf, PlaceKind>,
    built: BuiltPlan,
}

impl PlanSources<'_> {
    /// Makes the plan.
    pub(super) fn plan(&self) -> BuiltPlan {
        let protected = ProtectedPlaces::find(self.places);
        let is_protected = |path: &Path| protected.existing.iter().any(|it| path.starts_with(it));
        let mut builder = PlanBuilder {
            opened_by_line: OpenedPlaces::of(self.named, self.limits, &|path| {
                self.places.is_protected_place(path) || is_protected(path)
            }),
            from: self,
            hidden: BTreeMap::new(),
            read_only: BTreeSet::new(),
            missing: BTreeMap::new(),
            built: BuiltPlan::default(),
        };
        match self.level {
            SandboxLevel::Namespaces if !self.limits.is_empty() => builder.limited(),
            SandboxLevel::Landlock if !self.limits.is_empty() => {
                let words = "rules about files: this machine refuses namespaces, and Landlock alone does not \
                             close single files";
                builder.built.not_enforced.push(words.to_owned());
            }
            _ => {}
        }
        builder.protected(protected);
        builder.finish()
    }
}

impl PlanBuilder<'_> {
    /// Adds the places that rules limit.
    fn limited(&mut self) {
        let mut starts: Vec<PathBuf> = Vec::new();
        for start in self.from.limits.starts() {
            let Some(place) = real_place(start.path()) else { continue };
            let kind = place.symlink_metadata().ok().map(|it| kind_of(it.is_dir()));
            let LimitedStart::Place(written) = &start else {
                starts.extend(kind.map(|_| place));
                continue;
            };
            if leads_around(written, &place, self.from.places) {
                self.not_closed(written);
                continue;
            }
            let mark = self.mark_of(written);
            match kind {
                Some(PlaceKind::Directory) => {
                    let is_open = self.opened_by_line.may_read_in(&place)
                        || self.opened_by_line.may_read(&place, self.from.limits);
                    if mark.is_hidden && !is_open {
                        self.hide(place, PlaceKind::Directory);
                        continue;
                    }
                    if mark.is_locked && !self.opened_by_line.may_read_in(&place) {
                        self.lock(place.clone());
                    }
                    // There may be hidden files inside.
                    starts.push(place);
                }
                Some(PlaceKind::File) => self.file(place, mark),
                None => {}
            }
        }
        for (written, is_directory) in self.from.limits.spelled_out() {
            let Some(place) = real_place(&written) else { continue };
            if (place.symlink_metadata().is_err() || is_placeholder(&place))
                && !self.opened_by_line.may_change(&place, self.from.limits)
                && !self.is_named_below(&place)
            {
                self.missing.insert(place, kind_of(is_directory));
            }
        }
        starts.sort();
        starts.dedup();
        let starts: Vec<PathBuf> = starts
            .iter()
            .filter(|it| !it.ancestors().skip(1).any(|above| starts.iter().any(|it| it == above)))
            .cloned()
            .collect();
        if !starts.is_empty() {
            self.walk(&starts);
        }
        self.other_names();
    }

    /// What rules say about a path, regardless of what the line opens. The finder caches this.
    fn mark_of(&self, path: &Path) -> PlaceMark {
        let limit = self.from.limits.of_file(path);
        PlaceMark { is_hidden: limit.reading.is_some(), is_locked: limit.editing.is_some() }
    }

    fn walk(&mut self, starts: &[PathBuf]) {
        let from = self.from;
        let mark_of = |path: &Path| {
            let limit = from.limits.of_file(path);
            PlaceMark { is_hidden: limit.reading.is_some(), is_locked: limit.editing.is_some() }
        };
        let found = {
            let opened = &self.opened_by_line;
            let enters =
                |path: &Path| opened.may_read_in(path) || opened.may_read(path, from.limits);
            from.finder.find(&self.search(starts, &mark_of, &enters))
        };
        for FoundPlace { path, kind, mark } in found.places {
            match kind {
                PlaceEntry::Directory if mark.is_hidden && self.is_only_unlisted(&path) => {
                    let words = format!("`{}` cannot be listed", shown_path(&path));
                    self.built.incomplete.get_or_insert(words);
                }
                PlaceEntry::Directory if mark.is_hidden => self.hide(path, PlaceKind::Directory),
                PlaceEntry::Directory => self.lock(path),
                PlaceEntry::File => self.file(path, mark),
                PlaceEntry::Link => self.link(&path, mark),
            }
        }
        if let Some(reason) = found.not_all {
            self.not_all(reason);
        }
    }

    /// True for a directory around the workspace that no rule closes. It was found only because it
    /// cannot be listed.
    fn is_only_unlisted(&self, directory: &Path) -> bool {
        self.from.places.roots.iter().any(|it| it.starts_with(directory))
            && self.mark_of(directory) == PlaceMark::default()
    }

    fn search<'s>(
        &'s self,
        starts: &'s [PathBuf],
        mark_of: &'s (dyn Fn(&Path) -> PlaceMark + 's),
        enters: &'s (dyn Fn(&Path) -> bool + 's),
    ) -> PlaceSearch<'s> {
        PlaceSearch {
            starts,
            mark_of,
            policy: self.from.policy,
            enters,
            max_entries: MAX_ENTRIES,
            max_places: MAX_PLACES,
            cancel: self.from.cancel,
        }
    }

    fn not_all(&mut self, reason: NotAllFound) {
        self.built.incomplete.get_or_insert_with(|| match reason {
            NotAllFound::TooManyEntries => format!(
                "there are more than {MAX_ENTRIES} files and directories where rules limit files, and only \
                 that many are searched"
            ),
            NotAllFound::TooManyPlaces => {
                format!("rules limit more than {MAX_PLACES} places, and only that many are closed")
            }
            NotAllFound::TooDeep => {
                "a directory is nested too deep: its path is too long to open it".to_owned()
            }
            NotAllFound::Cancelled => "the call was cancelled".to_owned(),
        });
    }

    /// Adds a file that rules limit.
    fn file(&mut self, path: PathBuf, mark: PlaceMark) {
        if mark.is_hidden && !self.opened_by_line.may_read(&path, self.from.limits) {
            self.hide(path, PlaceKind::File);
        } else if mark.is_locked {
            self.lock(path);
        }
    }

    /// Adds a link that rules limit. The limit applies to its target.
    fn link(&mut self, link: &Path, mark: PlaceMark) {
        let Ok(place) = link.canonicalize() else { return };
        let Ok(metadata) = place.symlink_metadata() else { return };
        if leads_around(link, &place, self.from.places) {
            self.not_closed(link);
        } else if metadata.is_dir() && mark.is_hidden {
            self.hide(place, PlaceKind::Directory);
        } else if metadata.is_dir() {
            self.lock(place);
        } else if !self.opened_by_line.may_read(link, self.from.limits) {
            self.file(place, mark);
        }
    }

    fn not_closed(&mut self, link: &Path) {
        self.built.not_enforced.push(format!(
            "`{}` leads to a directory that contains the workspace, and is not closed",
            shown_path(link)
        ));
    }

    fn hide(&mut self, path: PathBuf, kind: PlaceKind) {
        if self.opened_by_line.may_read(&path, self.from.limits) {
            self.lock(path);
        } else {
            self.hidden.insert(path, kind);
        }
    }

    fn lock(&mut self, path: PathBuf) {
        if !self.opened_by_line.may_change(&path, self.from.limits) {
            self.read_only.insert(path);
        }
    }

    /// Closes files under their other names (hard links) too.
    fn other_names(&mut self) {
        let hidden: Vec<(PathBuf, PlaceKind)> =
            self.hidden.iter().map(|(path, kind)| (path.clone(), *kind)).collect();
        for path in self.names_of(&hidden) {
            self.hide(path, PlaceKind::File);
        }
        let locked = self.read_only.iter().filter(|it| !self.hidden.contains_key(*it));
        let locked: Vec<(PathBuf, PlaceKind)> =
            locked.map(|it| (it.clone(), kind_of(it.is_dir()))).collect();
        for path in self.names_of(&locked) {
            if !self.hidden.contains_key(&path) {
                self.lock(path);
            }
        }
    }

    /// The other names of files, where they lie below the roots.
    fn names_of(&mut self, places: &[(PathBuf, PlaceKind)]) -> Vec<PathBuf> {
        let mut linked: Vec<LinkedFile> = Vec::new();
        for (path, kind) in places {
            match kind {
                PlaceKind::File => linked.extend(LinkedFile::at(path)),
                PlaceKind::Directory => {
                    let (files, is_all) = self.from.finder.linked_below(path);
                    linked.extend(files);
                    if !is_all {
                        self.built.not_enforced.push(format!(
                            "`{}` has more files than are searched for other names (hard links)",
                            shown_path(path)
                        ));
                    }
                }
            }
        }
        if linked.is_empty() {
            return Vec::new();
        }
        // A file may be closed both by itself and with its directory.
        linked.sort_by(|one, other| one.path.cmp(&other.path));
        linked.dedup();
        let roots = self.from.places.roots.clone();
        let (names, not_all) = {
            let search = self.search(&roots, &|_| PlaceMark::default(), &|_| false);
            self.from.finder.other_names(&linked, &search)
        };
        for path in names.incomplete.iter().take(MAX_REPORTED) {
            self.built.not_enforced.push(format!(
                "`{}` has another name (a hard link) that was not found below the roots; it is open there",
                shown_path(path)
            ));
        }
        if let Some(reason) = not_all {
            self.not_all(reason);
        }
        names.found
    }

    /// Adds the protected places: files that other programs run or trust.
    fn protected(&mut self, protected: ProtectedPlaces) {
        let ProtectedPlaces { existing, missing, watched, git_settings, links } = protected;
        for link in links.iter().take(MAX_REPORTED) {
            self.built.not_enforced.push(format!(
                "`{}` is a link: its target is protected, but the link itself can be replaced",
                shown_path(link)
            ));
        }
        let opens_settings = self.from.named.changes_git_settings;
        for place in existing {
            let is_settings = opens_settings
                && (git_settings.contains(&place)
                    || place.ends_with(".gitconfig")
                    || place.ends_with(".gitmodules"))
                && self.from.limits.of_named_file(&place).editing.is_none();
            if !is_settings {
                self.lock(place);
            }
        }
        for (place, kind) in missing {
            if !self.opened_by_line.may_change(&place, self.from.limits)
                && !self.is_named_below(&place)
            {
                self.missing.insert(place, kind);
            }
        }
        let limits = self.from.limits;
        self.built.watched = watched;
        self.built.watched.retain(|it| {
            !self.opened_by_line.may_change(it, limits) && !self.from.named.changed.contains(it)
        });
    }

    /// True when the line changes a path inside this missing directory.
    fn is_named_below(&self, place: &Path) -> bool {
        self.from.named.changed.iter().any(|it| it.starts_with(place))
    }

    fn finish(mut self) -> BuiltPlan {
        let from = self.from;
        let Openings { mut opened, mut to_be_made } =
            self.opened_by_line.open_within(&mut self.read_only);
        // A placeholder of another command is not a real file. This command needs its own placeholder
        // for the same path.
        let placeholders: Vec<PathBuf> =
            self.read_only.iter().filter(|it| is_placeholder(it)).cloned().collect();
        for place in placeholders {
            self.read_only.remove(&place);
            let kind = kind_of(place.is_dir());
            self.missing.insert(place, kind);
        }
        let writable = self.writable();
        if let WritablePlaces::Below(directories) = &writable {
            let is_writable = |it: &Path| directories.iter().any(|below| it.starts_with(below));
            self.read_only.retain(|it| is_writable(it));
            self.missing.retain(|it, _| is_writable(it));
            opened.retain(|it| is_writable(it));
            to_be_made.retain(|it| is_writable(it));
        }
        // A place inside one that is already closed needs no separate mount.
        let hidden = self.hidden.clone();
        let is_in_hidden =
            |it: &Path| it.ancestors().skip(1).any(|above| hidden.contains_key(above));
        self.hidden.retain(|it, _| !is_in_hidden(it));
        self.read_only.retain(|it| !is_in_hidden(it) && !hidden.contains_key(it));
        let all = self.read_only.clone();
        let is_in_closed = |it: &Path| {
            let nearest = it
                .ancestors()
                .skip(1)
                .find(|above| all.contains(*above) || opened.contains(*above));
            nearest.is_some_and(|above| !opened.contains(above))
        };
        self.read_only.retain(|it| !is_in_closed(it));
        self.missing.retain(|it, _| {
            !is_in_closed(it) && !is_in_hidden(it) && it.parent().is_some_and(can_be_written)
        });
        let mut built = self.built;
        built.to_be_made = to_be_made;
        built.plan = SandboxPlan {
            level: from.level,
            hidden: self
                .hidden
                .into_iter()
                .map(|(path, kind)| HiddenPlace { path, kind })
                .collect(),
            read_only: self.read_only.into_iter().collect(),
            missing: self
                .missing
                .into_iter()
                .map(|(path, kind)| MissingPlace { path, kind })
                .collect(),
            writable,
            opened: opened.into_iter().collect(),
            network: match from.settings.network {
                SandboxNetwork::Allow => CommandNetwork::Open,
                SandboxNetwork::Deny => CommandNetwork::Closed,
                SandboxNetwork::Hosts(_) => CommandNetwork::Proxied,
            },
            has_own_memory: false,
            limits: from.settings.limits,
        };
        if from.level == SandboxLevel::Namespaces {
            let note = shared_memory::separate(&mut built.plan, from);
            built.not_enforced.extend(note);
        }
        built
    }

    /// Where the command may write, before protected and limited places are removed.
    fn writable(&mut self) -> WritablePlaces {
        let from = self.from;
        let mut directories: BTreeSet<PathBuf> = from.temporary.iter().cloned().collect();
        if !from.is_plan_mode {
            if from.settings.writes == SandboxWrites::Anywhere {
                return WritablePlaces::Everywhere;
            }
            directories.extend(from.places.roots.iter().cloned());
            directories.extend(from.settings.writable.iter().cloned());
            if from.is_confirmed {
                // A person confirmed a line that names these places.
                let named = from.named.changed.iter().filter_map(|place| {
                    let is_enough = place.exists() && !from.named.replaced.contains(place);
                    let mut around = place.ancestors().skip(usize::from(!is_enough));
                    around.find(|it| it.exists()).filter(|it| it.parent().is_some())
                });
                directories.extend(named.map(Path::to_owned));
            }
        }
        let real: BTreeSet<PathBuf> =
            directories.iter().filter_map(|it| it.canonicalize().ok()).collect();
        let outermost =
            real.iter().filter(|it| !it.ancestors().skip(1).any(|above| real.contains(above)));
        WritablePlaces::Below(outermost.cloned().collect())
    }
}

const fn kind_of(is_directory: bool) -> PlaceKind {
    if is_directory { PlaceKind::Directory } else { PlaceKind::File }
}

/// True when this user can create files in a directory.
fn can_be_written(directory: &Path) -> bool {
    rustix::fs::access(directory, rustix::fs::Access::WRITE_OK).is_ok()
}

/// True for a link to a directory that contains the workspace. If the whole directory were closed,
/// nothing would be left to work with. A path in the home is the exception: a rule about `~` means
/// exactly that.
pub(crate) fn leads_around(written: &Path, place: &Path, places: &PolicyPlaces) -> bool {
    let contains = |directory: &Path, it: &PathBuf| it.starts_with(directory);
    written != place
        && places.roots.iter().chain(&places.home).any(|it| contains(place, it))
        && !places.home.iter().any(|it| contains(written, it))
}
