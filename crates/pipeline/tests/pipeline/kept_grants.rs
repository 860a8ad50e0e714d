//! "Always allow" answers that are kept after the conversation.

use std::{
    sync::{
        Arc, Mutex, OnceLock, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use toolwright_base::{ErrorKind, PermissionMode};
use toolwright_pipeline::{
    BusEvent, CallOptions, ConfirmationAnswer, Confirmations, MessageBus, RememberGrants,
};
use toolwright_policy::{Layer, PolicyConfig};
use toolwright_store::{
    EntryPage, GrantScope, ListRequest, SetOutcome, StateEvent, Store, StoreBackend, StoreError,
    StoreLimits, StoredValue, Version,
};
use toolwright_test_bed::{TestBed, bed_on, kind, store};

/// A registry whose confirmation requests are all answered with "always allow".
struct Agreeable {
    bed: TestBed,
    asked: Arc<AtomicUsize>,
    events: Arc<Mutex<Vec<StateEvent>>>,
}

impl Agreeable {
    fn on(store: &Store, project: &str, remember: RememberGrants) -> Self {
        let mut bed = bed_on(store, project);
        let asked = Arc::new(AtomicUsize::new(0));
        let line: Arc<OnceLock<Weak<MessageBus>>> = Arc::default();
        let bus = Arc::new(MessageBus::new({
            let (asked, line) = (Arc::clone(&asked), Arc::clone(&line));
            move |event| {
                if let BusEvent::Request { id, .. } = event {
                    asked.fetch_add(1, Ordering::SeqCst);
                    let (bus, id) = (line.get().unwrap().upgrade().unwrap(), id.clone());
                    tokio::spawn(async move {
                        let always = ConfirmationAnswer {
                            approved: true,
                            always_allow: true,
                            ..ConfirmationAnswer::default()
                        };
                        assert!(bus.respond(&id, always));
                    });
                }
                true
            }
        }));
        line.set(Arc::downgrade(&bus)).unwrap();
        bed.pipeline.confirmations = Confirmations::new(bus, Duration::from_hours(1));
        bed.pipeline.policy.change(|it| it.mode = PermissionMode::Default).unwrap();
        bed.pipeline.remember_grants = remember;
        let events: Arc<Mutex<Vec<StateEvent>>> = Arc::default();
        let received = Arc::clone(&events);
        bed.pipeline
            .sessions
            .shared()
            .stored
            .events
            .listen(move |event| received.lock().unwrap().push(event.clone()));
        Self { bed, asked, events }
    }

    /// Makes a call in a session, and returns how many confirmations it requested.
    async fn questions(&self, session: &str, name: &str, input: Value) -> usize {
        let before = self.asked.load(Ordering::SeqCst);
        let options =
            CallOptions { session_id: Some(session.to_owned()), ..CallOptions::default() };
        let output = self.bed.call_with(name, input, options).await;
        assert_eq!(kind(&output), None, "{}", output.joined_text());
        self.asked.load(Ordering::SeqCst) - before
    }

    fn warnings(&self) -> Vec<String> {
        let events = self.events.lock().unwrap();
        let warnings = events.iter().filter_map(|it| match it {
            StateEvent::Warning(text) => Some(text.clone()),
            _ => None,
        });
        warnings.collect()
    }
}

fn add(task: &str) -> Value {
    json!({ "action": "add", "task": task })
}

#[tokio::test]
async fn a_grant_applies_in_its_scope_only() {
    for (remember, in_project, elsewhere) in [
        (RememberGrants::Session, 1, 1),
        (RememberGrants::Project, 0, 1),
        (RememberGrants::User, 0, 0),
    ] {
        let store = store();
        let here = Agreeable::on(&store, "here", remember);
        assert_eq!(here.questions("a", "write_todos", add("1")).await, 1);
        assert_eq!(here.questions("a", "write_todos", add("2")).await, 0);
        assert_eq!(here.questions("b", "write_todos", add("3")).await, in_project, "{remember:?}");
        let later = Agreeable::on(&store, "here", remember);
        assert_eq!(later.questions("c", "write_todos", add("4")).await, in_project, "{remember:?}");
        let other = Agreeable::on(&store, "there", remember);
        assert_eq!(other.questions("a", "write_todos", add("5")).await, elsewhere, "{remember:?}");
    }
}

#[tokio::test]
async fn a_file_of_the_project_is_never_granted_in_another_project() {
    let store = store();
    let write = || json!({ "path": "a.txt", "content": "x" });
    let here = Agreeable::on(&store, "here", RememberGrants::User);
    assert_eq!(here.questions("a", "write_file", write()).await, 1);
    let kept = here.bed.pipeline.load_grants().await.unwrap();
    let kept: Vec<_> = kept.iter().map(|it| (it.rule.as_str(), it.scope)).collect();
    assert_eq!(kept, [("Edit(./a.txt)", GrantScope::Project)]);
    let later = Agreeable::on(&store, "here", RememberGrants::User);
    assert_eq!(later.questions("b", "write_file", write()).await, 0);
    let other = Agreeable::on(&store, "there", RememberGrants::User);
    assert_eq!(other.questions("a", "write_file", write()).await, 1);
}

#[tokio::test]
async fn a_kept_grant_never_overrides_a_rule_that_denies_or_asks() {
    let store = store();
    let here = Agreeable::on(&store, "here", RememberGrants::Project);
    here.questions("a", "write_todos", add("1")).await;
    let rule = |change: fn(&mut PolicyConfig)| {
        let later = Agreeable::on(&store, "here", RememberGrants::Project);
        let mut config = PolicyConfig::default();
        change(&mut config);
        later.bed.pipeline.policy.change(|it| it.layers.push((Layer::User, config))).unwrap();
        later
    };
    let asking = rule(|it| it.ask = vec!["TodoWrite".to_owned()]);
    assert_eq!(asking.questions("b", "write_todos", add("2")).await, 1);
    let denying = rule(|it| it.deny = vec!["TodoWrite".to_owned()]);
    let denied = denying.bed.call("write_todos", add("3")).await;
    assert_eq!(kind(&denied), Some(ErrorKind::PolicyDenied));
}

#[tokio::test]
async fn a_forgotten_grant_asks_again_in_every_session() {
    let store = store();
    let here = Agreeable::on(&store, "here", RememberGrants::Project);
    here.questions("a", "write_todos", add("1")).await;
    let grants = here.bed.pipeline.load_grants().await.unwrap();
    let [grant] = grants.as_slice() else { unreachable!("one grant was given: {grants:?}") };
    let rule = grant.rule.clone();
    assert_eq!(*here.events.lock().unwrap(), [StateEvent::Grant(grant.clone())]);
    assert!(here.bed.pipeline.forget_grant(&rule).await.unwrap());
    assert!(!here.bed.pipeline.forget_grant(&rule).await.unwrap());
    assert_eq!(here.bed.pipeline.load_grants().await.unwrap(), []);
    assert_eq!(here.questions("a", "write_todos", add("2")).await, 1);
    assert_eq!(here.bed.pipeline.policy.session_grants(), [("a".to_owned(), vec![rule])]);
}

#[tokio::test]
async fn invalid_rules_in_a_store_are_ignored() {
    let store = store();
    let here = Agreeable::on(&store, "here", RememberGrants::User);
    here.questions("a", "write_todos", add("1")).await;
    let foreign = |rule: &str| json!({ "rule": rule, "grantedAt": 1 }).to_string();
    let key = |rule: &str| format!("grants/user/{}", blake3::hash(rule.as_bytes()).to_hex());
    store.set(&key("Bash((("), &foreign("Bash(((")).await.unwrap();
    store.set("grants/user/other", &foreign("memory")).await.unwrap();
    store.set("grants/user/text", "not JSON").await.unwrap();
    let later = Agreeable::on(&store, "here", RememberGrants::User);
    assert_eq!(later.questions("b", "write_todos", add("2")).await, 0);
    assert_eq!(later.questions("b", "memory", json!({ "action": "list" })).await, 1);
    assert_eq!(later.warnings(), Vec::<String>::new());
}

/// A store whose operations all fail.
struct Broken;

#[async_trait]
impl StoreBackend for Broken {
    async fn get(&self, _: &str) -> Result<Option<StoredValue>, StoreError> {
        Err(StoreError::Unavailable("unplugged".to_owned()))
    }

    async fn set(&self, _: &str, _: &str, _: Option<&Version>) -> Result<SetOutcome, StoreError> {
        Err(StoreError::Unavailable("unplugged".to_owned()))
    }

    async fn delete(&self, _: &str, _: Option<&Version>) -> Result<bool, StoreError> {
        Err(StoreError::Unavailable("unplugged".to_owned()))
    }

    async fn list(&self, _: &ListRequest) -> Result<EntryPage, StoreError> {
        Err(StoreError::Unavailable("unplugged".to_owned()))
    }

    fn location(&self) -> String {
        "nowhere".to_owned()
    }
}

#[tokio::test]
async fn a_failing_store_loses_the_grant_but_the_call_runs() {
    let store = Store::new(Arc::new(Broken), StoreLimits::default());
    let here = Agreeable::on(&store, "here", RememberGrants::Project);
    let write = || {
        std::fs::remove_file(here.bed.root().join("a.txt")).ok();
        json!({ "path": "a.txt", "content": "x" })
    };
    assert_eq!(here.questions("a", "write_file", write()).await, 1);
    assert_eq!(
        here.warnings(),
        [
            "earlier \"always allow\" answers could not be read, so the user is asked again: the store cannot be \
             used: unplugged",
            "`Edit(./a.txt)` is allowed in this session only, because it could not be stored: the store \
             cannot be used: unplugged",
        ]
    );
    assert_eq!(here.questions("a", "write_file", write()).await, 0);
    assert_eq!(here.questions("b", "write_file", write()).await, 1);
    let tool = here.bed.call("memory", json!({ "action": "get", "key": "k" })).await;
    assert_eq!(kind(&tool), Some(ErrorKind::Memory));
    assert_eq!(tool.joined_text(), "the store cannot be used: unplugged");
}
