//! Plans for real directories, from rules, protected places and command lines.

mod workspaces;

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::Arc,
};

use pretty_assertions::assert_eq;
use proptest::{
    collection::vec,
    prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest},
    sample::select,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright_base::PermissionMode;
use toolwright_command_protocol::{PlaceKind, WritablePlaces};
use toolwright_policy::{Layer, PolicyConfig, PolicyPlaces, PolicySources};
use toolwright_process::SandboxWrites;
use toolwright_tools::catalogue;

use super::*;
use crate::plan_builder::BuiltPlan;

/// A project with a repository, a home and a directory for temporary files.
struct PlanBed {
    _directory: TempDir,
    base: PathBuf,
    plans: SandboxPlans,
    settings: SandboxSettings,
    mode: PermissionMode,
    is_confirmed: bool,
    home: &'static str,
}

impl PlanBed {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let base = directory.path().canonicalize().unwrap();
        let folders = ["project/.git/hooks", "project/.git/info", "project/src", "home", "tmp"];
        for folder in folders {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        let bed = Self {
            _directory: directory,
            base,
            plans: SandboxPlans::default(),
            settings: SandboxSettings::default(),
            mode: PermissionMode::Default,
            is_confirmed: false,
            home: "home",
        };
        bed.write("project/.git/config");
        bed
    }

    fn write(&self, name: &str) {
        let path = self.base.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }

    fn engine(&self, policy: &Value) -> Arc<PolicyEngine> {
        let places = PolicyPlaces {
            home: Some(self.base.join(self.home)),
            ..PolicyPlaces::of_project(self.base.join("project"))
        };
        let config = PolicyConfig::from_json(policy, Layer::Options).unwrap();
        let layers = vec![(Layer::Options, config)];
        let tools = Arc::new(catalogue());
        let sources = PolicySources { layers, mode: self.mode, places, tools };
        Arc::new(PolicyEngine::new(sources).unwrap())
    }

    fn plan_of(&self, engine: &Arc<PolicyEngine>, line: &str) -> BuiltPlan {
        let known = self.plans.following_links(&self.plans.of(engine));
        let named = engine_named(self, engine, line);
        PlanSources {
            level: SandboxLevel::Namespaces,
            limits: &known.limits,
            policy: known.number,
            places: engine.places(),
            named: &named,
            is_confirmed: self.is_confirmed,
            is_plan_mode: self.mode.is_plan(),
            settings: &self.settings,
            temporary: &[self.base.join("tmp")],
            finder: &self.plans.finder,
            cancel: &CancellationToken::new(),
        }
        .plan()
    }

    fn plan(&self, policy: &Value, line: &str) -> BuiltPlan {
        self.plan_of(&self.engine(policy), line)
    }

    fn shown<'a>(&self, paths: impl IntoIterator<Item = &'a Path>) -> Vec<String> {
        let below = |it: &Path| it.strip_prefix(&self.base).unwrap_or(it).display().to_string();
        paths.into_iter().map(below).collect()
    }

    fn hidden(&self, built: &BuiltPlan) -> Vec<String> {
        self.shown(built.plan.hidden.iter().map(|it| it.path.as_path()))
    }

    fn read_only(&self, built: &BuiltPlan) -> Vec<String> {
        self.shown(built.plan.read_only.iter().map(PathBuf::as_path))
    }

    fn missing(&self, built: &BuiltPlan) -> Vec<String> {
        self.shown(built.plan.missing.iter().map(|it| it.path.as_path()))
    }

    fn opened(&self, built: &BuiltPlan) -> Vec<String> {
        self.shown(built.plan.opened.iter().map(PathBuf::as_path))
    }
}

fn engine_named(bed: &PlanBed, engine: &PolicyEngine, line: &str) -> NamedPlaces {
    engine.named_places(&Question {
        tool: "Bash",
        origin: Origin::Builtin,
        side_effect: SideEffect::Network,
        kind: &catalogue().find("Bash").unwrap().kind,
        annotations: &Annotations::default(),
        input: &Value::Null,
        accesses: &[Access::Run(line.to_owned())],
        directory: &bed.base.join("project"),
        follow_links: Some(&real_place),
    })
}

#[test]
fn a_default_policy_hides_nothing_and_protects_the_protected_places() {
    let bed = PlanBed::new();
    for name in ["project/.npmrc", "project/.vscode/tasks.json", "home/.bashrc", "home/.ssh/id"] {
        bed.write(name);
    }
    let built = bed.plan(&json!({}), "npm test");
    assert_eq!(bed.hidden(&built), [] as [&str; 0]);
    assert_eq!(
        bed.read_only(&built),
        [
            "home/.bashrc",
            "home/.ssh",
            "project/.git/config",
            "project/.git/hooks",
            "project/.npmrc",
            "project/.vscode",
        ]
    );
    let missing = bed.missing(&built);
    for name in ["project/.claude", "project/.toolwright", "home/.zshrc", "home/.profile"] {
        assert!(missing.contains(&name.to_owned()), "{name}: {missing:?}");
    }
    for name in ["project/.git", "project/.gitmodules", "home/.bash_profile", "project/.npmrc"] {
        assert!(!missing.contains(&name.to_owned()), "{name}: {missing:?}");
    }
    assert_eq!(built.plan.writable, WritablePlaces::Everywhere);
    let watched = bed.shown(built.watched.iter().map(PathBuf::as_path));
    assert!(watched.contains(&"project/.gitmodules".to_owned()), "{watched:?}");
    assert_eq!((built.incomplete, built.not_enforced), (None, Vec::new()));
}

#[test]
fn a_file_that_rules_deny_reading_is_hidden_under_all_its_names() {
    let bed = PlanBed::new();
    for name in [".env", "a/b/.env", "a/secrets/key", "src/main.rs", "data/x"] {
        bed.write(&format!("project/{name}"));
    }
    bed.write("home/token");
    let project = bed.base.join("project");
    fs::hard_link(project.join(".env"), project.join("src/copy")).unwrap();
    fs::hard_link(project.join("a/secrets/key"), project.join("src/key")).unwrap();
    symlink(bed.base.join("home/token"), project.join("a/b/link.env")).unwrap();
    let deny = ["Read(.env)", "Read(**/secrets/**)", "Read(*.env)", "Read(./data/**)"];
    let built = bed.plan(&json!({ "deny": deny }), "npm test");
    assert_eq!(
        bed.hidden(&built),
        [
            "home/token",
            "project/.env",
            "project/a/b/.env",
            "project/a/secrets",
            "project/data",
            "project/src/copy",
            "project/src/key",
        ]
    );
    let kinds = built.plan.hidden.iter().filter(|it| it.kind == PlaceKind::Directory).count();
    assert_eq!(kinds, 2);
    fs::hard_link(project.join(".env"), bed.base.join("elsewhere")).unwrap();
    let built = bed.plan(&json!({ "deny": deny }), "npm test");
    assert_eq!(built.not_enforced.len(), 1, "{:?}", built.not_enforced);
    // A new hard link does not change the directory of the original.
    fs::hard_link(project.join("data/x"), project.join("src/later")).unwrap();
    let built = bed.plan(&json!({ "deny": deny }), "npm test");
    assert!(bed.hidden(&built).contains(&"project/src/later".to_owned()), "{built:?}");
}

#[test]
fn a_file_that_rules_deny_editing_is_read_only_and_cannot_be_created() {
    let bed = PlanBed::new();
    bed.write("project/locked/a");
    bed.write("project/src/x.lock");
    let deny = ["Edit(./locked/**)", "Edit(*.lock)", "Edit(new.txt)", "Edit(./made/**)"];
    let built = bed.plan(&json!({ "deny": deny }), "npm test");
    let read_only = bed.read_only(&built);
    for name in ["project/locked", "project/src/x.lock"] {
        assert!(read_only.contains(&name.to_owned()), "{name}: {read_only:?}");
    }
    let missing = bed.missing(&built);
    for name in ["project/new.txt", "project/made"] {
        assert!(missing.contains(&name.to_owned()), "{name}: {missing:?}");
    }
    let project = bed.base.join("project");
    fs::hard_link(project.join(".git/config"), project.join("config-too")).unwrap();
    let whole = bed.plan(&json!({ "deny": ["Edit(.git/**)"] }), "npm test");
    assert!(bed.read_only(&whole).contains(&"project/config-too".to_owned()));
    assert!(bed.read_only(&whole).contains(&"project/.git".to_owned()));
    assert!(!bed.read_only(&whole).contains(&"project/.git/hooks".to_owned()));
}

#[test]
fn a_line_opens_the_files_it_names_that_rules_ask_about() {
    let bed = PlanBed::new();
    for name in [".env", "a/.env", "secrets/one", "secrets/two"] {
        bed.write(&format!("project/{name}"));
    }
    let ask = json!({ "ask": ["Read(.env)", "Read(secrets/**)"] });
    let all = ["project/.env", "project/a/.env", "project/secrets"];
    assert_eq!(bed.hidden(&bed.plan(&ask, "npm test")), all);
    let named = bed.plan(&ask, "cat .env");
    assert_eq!(bed.hidden(&named), ["project/a/.env", "project/secrets"]);
    assert!(bed.read_only(&named).contains(&"project/.env".to_owned()));
    let inner = bed.plan(&ask, "cat secrets/one");
    assert_eq!(bed.hidden(&inner), ["project/.env", "project/a/.env", "project/secrets/two"]);
    let folder = bed.plan(&ask, "ls secrets");
    assert_eq!(bed.hidden(&folder), ["project/.env", "project/a/.env"]);
    assert!(bed.read_only(&folder).contains(&"project/secrets".to_owned()));
    let wild = bed.plan(&ask, "cat secrets/*");
    assert_eq!(bed.hidden(&wild), ["project/.env", "project/a/.env"]);
    // Denied files stay closed, even if the line names them.
    let deny = json!({ "deny": ["Read(.env)"], "ask": ["Read(secrets/**)"] });
    assert_eq!(bed.hidden(&bed.plan(&deny, "cat .env secrets/one")).first().unwrap(), all[0]);
    // Naming a directory above a file does not open the file.
    assert_eq!(bed.hidden(&bed.plan(&ask, "grep -r x .")), all);
}

#[test]
fn a_line_opens_protected_places_that_it_names() {
    let bed = PlanBed::new();
    bed.write("project/.git/hooks/pre-push");
    bed.write("project/.vscode/tasks.json");
    let policy = json!({});
    let closed = ["project/.git/config", "project/.git/hooks", "project/.vscode"];
    assert_eq!(bed.read_only(&bed.plan(&policy, "rm -rf .")), closed);
    let made = bed.plan(&policy, "echo x > .git/hooks/pre-commit");
    assert_eq!(bed.read_only(&made), closed);
    assert_eq!(bed.opened(&made), ["project/.git/hooks/pre-commit"]);
    assert_eq!(
        bed.shown(made.to_be_made.iter().map(PathBuf::as_path)),
        ["project/.git/hooks/pre-commit"]
    );
    let replaced = bed.plan(&policy, "sed -i s/a/b/ .vscode/tasks.json");
    assert_eq!(bed.read_only(&replaced), ["project/.git/config", "project/.git/hooks"]);
    let replaced = bed.plan(&policy, "mv x .git/hooks/pre-commit");
    assert_eq!(
        bed.read_only(&replaced),
        ["project/.git/config", "project/.git/hooks/pre-push", "project/.vscode"]
    );
    let removed = bed.plan(&policy, "rm -rf .vscode");
    assert_eq!(bed.read_only(&removed), ["project/.git/config", "project/.git/hooks"]);
    let mentioned = bed.plan(&policy, "python3 -c 'open(\".vscode/tasks.json\", \"w\")'");
    assert_eq!(bed.read_only(&mentioned), ["project/.git/config", "project/.git/hooks"]);
    let new = bed.plan(&policy, "mkdir .claude");
    assert!(!bed.missing(&new).contains(&"project/.claude".to_owned()));
}

#[test]
fn git_commands_that_change_settings_open_the_settings() {
    let bed = PlanBed::new();
    for line in ["git config user.name x", "git remote add origin x", "git checkout -b y"] {
        assert_eq!(bed.read_only(&bed.plan(&json!({}), line)), ["project/.git/hooks"], "{line}");
    }
    let closed = ["project/.git/config", "project/.git/hooks"];
    assert_eq!(bed.read_only(&bed.plan(&json!({}), "git commit -m x")), closed);
    let denied = bed.plan(&json!({ "deny": ["Edit(.git/config)"] }), "git config user.name x");
    assert_eq!(bed.read_only(&denied), closed);
}

#[test]
fn the_repository_of_a_worktree_is_protected() {
    let bed = PlanBed::new();
    let project = bed.base.join("project");
    fs::rename(project.join(".git"), bed.base.join("main.git")).unwrap();
    let own = bed.base.join("main.git/worktrees/project");
    fs::create_dir_all(&own).unwrap();
    fs::write(project.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    fs::write(own.join("gitdir"), "x").unwrap();
    let built = bed.plan(&json!({}), "npm test");
    assert_eq!(
        bed.read_only(&built),
        [
            "main.git/config",
            "main.git/hooks",
            "main.git/worktrees/project/commondir",
            "main.git/worktrees/project/gitdir",
            "project/.git",
        ]
    );
}

#[test]
fn commands_write_only_where_the_host_and_the_mode_let_them() {
    let mut bed = PlanBed::new();
    bed.write("home/.bashrc");
    fs::create_dir_all(bed.base.join("cache")).unwrap();
    bed.settings.writes = SandboxWrites::Workspace;
    bed.settings.writable = vec![bed.base.join("cache"), bed.base.join("none")];
    let below = |built: &BuiltPlan| match &built.plan.writable {
        WritablePlaces::Everywhere => Vec::new(),
        WritablePlaces::Below(all) => bed.shown(all.iter().map(PathBuf::as_path)),
    };
    let built = bed.plan(&json!({}), "npm test");
    assert_eq!(below(&built), ["cache", "project", "tmp"]);
    // The whole home is read-only already, so it needs no entries.
    assert_eq!(bed.read_only(&built), ["project/.git/config", "project/.git/hooks"]);
    assert!(!bed.missing(&built).iter().any(|it| it.starts_with("home")));
    let outside = format!("cp x {}", bed.base.join("home/x").display());
    assert_eq!(below(&bed.plan(&json!({}), &outside)), ["cache", "project", "tmp"]);
    bed.is_confirmed = true;
    let below = |built: &BuiltPlan| match &built.plan.writable {
        WritablePlaces::Everywhere => Vec::new(),
        WritablePlaces::Below(all) => bed.shown(all.iter().map(PathBuf::as_path)),
    };
    assert_eq!(below(&bed.plan(&json!({}), &outside)), ["cache", "home", "project", "tmp"]);
    bed.write("home/notes");
    let one = format!("echo x >> {}", bed.base.join("home/notes").display());
    assert_eq!(below(&bed.plan(&json!({}), &one)), ["cache", "home/notes", "project", "tmp"]);
    bed.mode = PermissionMode::Plan;
    let built = bed.plan(&json!({}), "npm test");
    let WritablePlaces::Below(all) = &built.plan.writable else { panic!("everywhere") };
    let hook = bed.plan(&json!({}), "echo x > .git/hooks/pre-commit");
    assert_eq!((bed.opened(&hook).len(), hook.to_be_made.len()), (0, 0));
    assert_eq!(bed.shown(all.iter().map(PathBuf::as_path)), ["tmp"]);
}

#[test]
fn the_hosts_own_files_get_no_placeholders() {
    let bed = PlanBed::new();
    let places = PolicyPlaces {
        home: Some(bed.base.join("home")),
        protected: vec![
            bed.base.join("project/.toolwright/store.db"),
            bed.base.join("home/policy.json"),
            bed.base.join("home/toolwright/policy.json"),
            bed.base.join("home/.config/toolwright/policy.json"),
        ],
        made_by_host: vec![bed.base.join("project/.toolwright/store.db")],
        ..PolicyPlaces::of_project(bed.base.join("project"))
    };
    let found = crate::protected_places::ProtectedPlaces::find(&places);
    let missing = bed.shown(found.missing.keys().map(PathBuf::as_path));
    assert!(!missing.iter().any(|it| it.starts_with("project/.toolwright")), "{missing:?}");
    for name in ["home/policy.json", "home/toolwright"] {
        assert!(missing.contains(&name.to_owned()), "{name}: {missing:?}");
    }
    assert!(!missing.contains(&"home/.config".to_owned()), "{missing:?}");
}

/// Every file and directory below a directory.
fn everything(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(path) = open.pop() {
        for entry in fs::read_dir(path).unwrap().flatten() {
            let is_directory = entry.file_type().unwrap().is_dir();
            found.push(entry.path());
            open.extend(is_directory.then(|| entry.path()));
        }
    }
    found
}

const NAMES: [&str; 9] =
    ["a", "b", ".env", "secrets", "key.pem", ".git", "hooks", ".npmrc", ".vscode"];
const PATTERNS: [&str; 16] = [
    ".env",
    "**/secrets/**",
    "*.pem",
    "./a/**",
    "a",
    "./a/b/key.pem",
    "**/.env",
    "b/*",
    "secrets/",
    "**",
    "./secrets/key.pem",
    "{a,b}/.env",
    "[ab]/**",
    "**/a/.env",
    "~/.ssh/**",
    ".git/**",
];
const LINES: [&str; 9] = [
    "npm test",
    "cat a/.env",
    "rm -rf .",
    "echo x > notes",
    "ls secrets a",
    "git status",
    "cp -r a b",
    "grep -r x .",
    "find . -delete",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn files_unreadable_by_read_are_hidden_and_protected_files_are_read_only(
        files in vec(vec(select(&NAMES[..]), 1..5), 1..12),
        denied in vec((select(&["Read", "Edit", "Grep"][..]), select(&PATTERNS[..])), 0..3),
        asked in vec(select(&PATTERNS[..]), 0..2),
        line in select(&LINES[..]),
    ) {
        let bed = PlanBed::new();
        for names in &files {
            let path = bed.base.join("project").join(names.join("/"));
            // The name may already be taken by a file or a directory.
            let _ = fs::create_dir_all(path.parent().unwrap());
            let _ = fs::write(&path, "x");
        }
        let deny: Vec<String> = denied.iter().map(|(tool, it)| format!("{tool}({it})")).collect();
        let ask: Vec<String> = asked.iter().map(|it| format!("Read({it})")).collect();
        let engine = bed.engine(&json!({ "deny": deny, "ask": ask }));
        let kind = catalogue().find("Read").unwrap().kind;
        let named = engine_named(&bed, &engine, line);
        let built = bed.plan_of(&engine, line);
        prop_assert_eq!(&built.incomplete, &None);
        let is_hidden = |path: &Path| built.plan.hidden.iter().any(|it| path.starts_with(&it.path));
        let is_closed = |path: &Path| {
            let nearest = path.ancestors().find(|it| {
                built.plan.read_only.iter().chain(&built.plan.opened).any(|closed| closed == it)
            });
            nearest.is_some_and(|it| built.plan.read_only.iter().any(|closed| closed == it))
        };
        for path in everything(&bed.base.join("project")) {
            let is_named = named.read.iter().chain(&named.changed).any(|it| path.starts_with(it));
            let limit = bed.plans.of(&engine).limits.of_named_file(&path);
            // A confirmation does not open a denied file.
            let is_open = is_named && limit.reading != Some(toolwright_policy::Action::Deny);
            let is_unseen = engine.hides("Read", &kind, &path);
            prop_assert!(
                !is_unseen || is_open || path.is_dir() || is_hidden(&path),
                "{:?} can be read: {:?}", path, built.plan
            );
            if is_hidden(&path) {
                prop_assert!(is_unseen || engine.hides("Bash", &kind, &path), "{:?} is hidden", path);
            }
        }
        let top = bed.base.join("project");
        for name in [".npmrc", ".vscode", ".git/hooks", ".git/config", ".git/hooks/a"] {
            let place = top.join(name);
            let is_named = named.changed.contains(&place);
            prop_assert!(
                place.symlink_metadata().is_err() || is_named || is_closed(&place) || is_hidden(&place),
                "{:?} can be changed: {:?}", place, built.plan
            );
        }
    }
}
