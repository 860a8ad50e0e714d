//! Unusual workspaces: with links, new, or deeper than the longest path.

use std::time::{Duration, SystemTime};

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn a_rule_that_names_files_through_a_link_applies_to_the_files() {
    let mut bed = PlanBed::new();
    for name in ["home/a.pem", "home/.aws/credentials", "other/b.pem", "project/c.pem"] {
        bed.write(name);
    }
    bed.home = "linked";
    let link = bed.base.join("linked");
    symlink("home", &link).unwrap();
    symlink("..", bed.base.join("project/up")).unwrap();
    let deny = ["Read(~/**/*.pem)", "Edit(~/made)", "Read(./up/**)"];
    let engine = bed.engine(&json!({ "deny": deny, "ask": ["Read(~/.aws/cred*)"] }));
    let built = bed.plan_of(&engine, "npm test");
    assert_eq!(bed.hidden(&built), ["home/.aws/credentials", "home/a.pem"]);
    assert!(bed.missing(&built).contains(&"home/made".to_owned()), "{built:?}");
    assert!(
        built.not_enforced.concat().contains("contains the workspace"),
        "{:?}",
        built.not_enforced
    );
    let confirmed = bed.plan_of(&engine, "cat ~/.aws/credentials");
    assert_eq!(bed.hidden(&confirmed), ["home/a.pem"]);
    fs::remove_file(&link).unwrap();
    symlink("other", &link).unwrap();
    assert_eq!(bed.hidden(&bed.plan_of(&engine, "npm test")), ["other/b.pem"]);
}

#[test]
fn a_linked_repository_is_protected_and_the_link_is_reported() {
    let bed = PlanBed::new();
    let git = bed.base.join("project/.git");
    fs::rename(&git, bed.base.join("main.git")).unwrap();
    symlink("../main.git", &git).unwrap();
    let built = bed.plan(&json!({}), "npm test");
    assert_eq!(bed.read_only(&built), ["main.git/config", "main.git/hooks"]);
    assert!(built.not_enforced.concat().contains(".git` is a link"), "{:?}", built.not_enforced);
}

#[test]
fn a_new_project_gets_no_placeholders_and_new_protected_files_are_reported() {
    let bed = PlanBed::new();
    let is_in = |places: &[String]| places.iter().any(|it| it == "project/.vscode");
    let made = |built: &BuiltPlan| bed.shown(built.watched.iter().map(PathBuf::as_path));
    let built = bed.plan(&json!({}), "npm test");
    assert_eq!((is_in(&bed.missing(&built)), is_in(&made(&built))), (true, false));
    fs::remove_dir_all(bed.base.join("project/src")).unwrap();
    let built = bed.plan(&json!({}), "npm create vite .");
    assert_eq!((is_in(&bed.missing(&built)), is_in(&made(&built))), (false, true));
    bed.write("project/.vscode/tasks.json");
    let built = bed.plan(&json!({}), "npm test");
    assert!(is_in(&bed.read_only(&built)), "{built:?}");
}

#[test]
fn a_tree_deeper_than_the_longest_path_is_reported() {
    let bed = PlanBed::new();
    let name = "d".repeat(250);
    let mut directory = rustix::fs::open(
        bed.base.join("project"),
        rustix::fs::OFlags::DIRECTORY,
        rustix::fs::Mode::empty(),
    )
    .unwrap();
    for _ in 0..18 {
        rustix::fs::mkdirat(&directory, &name, rustix::fs::Mode::RWXU).unwrap();
        let flags = rustix::fs::OFlags::DIRECTORY;
        directory =
            rustix::fs::openat(&directory, &name, flags, rustix::fs::Mode::empty()).unwrap();
    }
    let incomplete = bed.plan(&json!({ "deny": ["Read(*.pem)"] }), "npm test").incomplete;
    assert!(incomplete.as_deref().unwrap_or_default().contains("too deep"), "{incomplete:?}");
}

#[test]
fn a_placeholder_is_not_mistaken_for_a_directory() {
    let bed = PlanBed::new();
    let parent = bed.base.join("home/.config/toolwright");
    fs::create_dir_all(&parent).unwrap();
    let file = parent.join("policy.json");
    let places = PolicyPlaces {
        protected: vec![file.clone()],
        ..PolicyPlaces::of_project(bed.base.join("project"))
    };
    let missing = || crate::protected_places::ProtectedPlaces::find(&places).missing;
    assert!(missing().contains_key(&file));
    let time = SystemTime::UNIX_EPOCH - Duration::from_secs(1_234_567_891);
    let opened = fs::File::open(&parent).unwrap();
    opened.set_modified(time + Duration::from_nanos(123_456_789)).unwrap();
    assert!(missing().contains_key(&parent));
    assert!(!missing().contains_key(&file));
}
