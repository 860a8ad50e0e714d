//! Long command lines are judged off the async threads.

use std::pin::pin;

use futures_util::FutureExt as _;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolwright_base::ErrorKind;
use toolwright_pipeline::{CallOptions, ToolCall};
use toolwright_policy::{Layer, PolicyConfig};
use toolwright_test_bed::TestBed;

fn denying_bed() -> TestBed {
    let bed = TestBed::new();
    let config =
        PolicyConfig::from_json(&json!({ "deny": ["Bash(rm:*)"] }), Layer::Options).unwrap();
    bed.pipeline.policy.change(|it| it.layers.push((Layer::Options, config))).unwrap();
    bed
}

#[tokio::test]
async fn a_long_line_is_judged_off_thread_and_can_be_cancelled_meanwhile() {
    let bed = denying_bed();
    let call = |line: String, options| {
        let call = ToolCall { name: "Bash".to_owned(), input: json!({ "command": line }) };
        bed.pipeline.call(call, options)
    };
    let short = pin!(call("rm x".to_owned(), CallOptions::default())).now_or_never().unwrap();
    assert_eq!(short.error.unwrap().kind, ErrorKind::PolicyDenied);

    let long = format!("{}rm x", "echo a; ".repeat(1_000));
    let mut judged = pin!(call(long.clone(), CallOptions::default()));
    assert!(judged.as_mut().now_or_never().is_none(), "it was judged on the caller's thread");
    assert_eq!(judged.await.error.unwrap().kind, ErrorKind::PolicyDenied);

    let cancel = CancellationToken::new();
    let options = CallOptions { cancel: cancel.clone(), ..CallOptions::default() };
    let mut ended = pin!(call(long, options));
    assert!(ended.as_mut().now_or_never().is_none());
    cancel.cancel();
    assert_eq!(ended.await.error.unwrap().kind, ErrorKind::Cancelled);
}
