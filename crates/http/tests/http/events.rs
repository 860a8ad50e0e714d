//! The stream of events: order, resuming, gaps, stalled readers, its end.

#![expect(clippy::indexing_slicing, reason = "tests")]

use std::sync::Arc;

use http::StatusCode;
use pretty_assertions::assert_eq;
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};
use toolwright_http::{AccessRules, HttpServer, HttpService, ServerAddress};
use toolwright_pipeline::MessageBus;

use crate::events_bed::{ServedBed, read_event};

fn bed() -> ServedBed {
    ServedBed::new(json!({}))
}

#[tokio::test]
async fn events_come_in_order_with_ids_without_gaps_to_every_reader() {
    let bed = bed();
    let (mut one, mut other) = (bed.follow(None).await, bed.follow(None).await);
    for number in 0..3 {
        bed.call("diagnostic_echo", json!({ "text": number.to_string() })).await;
    }
    for events in [&mut one, &mut other] {
        let mut seen = Vec::new();
        for _ in 0..9 {
            let event = events.next().await.unwrap();
            assert_eq!(event.name, "call");
            seen.push((event.number(), event.data["number"].as_u64().unwrap()));
        }
        let expected: Vec<(u64, u64)> = (1..=9_u64).map(|it| (it, it.div_ceil(3))).collect();
        assert_eq!(seen, expected);
    }
}

#[tokio::test]
async fn a_reader_that_reconnects_gets_the_events_it_missed() {
    let bed = bed();
    let mut events = bed.follow(None).await;
    bed.call("diagnostic_echo", json!({})).await;
    let first = events.next().await.unwrap();
    drop(events);
    bed.call("diagnostic_echo", json!({})).await;
    let mut again = bed.follow(Some(&first.id)).await;
    for number in 2..=6 {
        assert_eq!(again.next().await.unwrap().number(), number);
    }
    // A new reader starts with the next event.
    let mut fresh = bed.follow(None).await;
    bed.call("diagnostic_echo", json!({})).await;
    assert_eq!(fresh.next().await.unwrap().number(), 7);
}

#[tokio::test]
async fn the_position_is_sent_first_so_that_no_event_is_lost() {
    let bed = bed();
    bed.call("diagnostic_echo", json!({})).await;
    let greeting = bed.follow(None).await.block().await.unwrap();
    let (retry, id) = greeting.split_once("\nid: ").unwrap();
    assert_eq!(retry, "retry: 1000");
    bed.call("diagnostic_echo", json!({})).await;
    assert_eq!(bed.follow(Some(id)).await.next().await.unwrap().number(), 4);
}

#[tokio::test]
async fn an_unknown_or_future_id_is_answered_with_a_gap_first() {
    let bed = bed();
    bed.call("diagnostic_echo", json!({})).await;
    let id = bed.follow(None).await.block().await.unwrap();
    let name = id.rsplit_once("id: ").unwrap().1.rsplit_once('-').unwrap().0.to_owned();
    for foreign in ["0123abcd-2", &format!("{name}-99"), "nonsense", ""] {
        let mut events = bed.follow(Some(foreign)).await;
        let gap = events.next().await.unwrap();
        assert_eq!((gap.name.as_str(), &gap.data), ("gap", &json!({ "missed": 3 })), "{foreign}");
        assert_eq!(gap.id, format!("{name}-3"));
        let again = bed.follow(Some(&gap.id)).await.block().await.unwrap();
        assert!(again.ends_with(&gap.id), "no second gap: {again}");
    }
}

#[tokio::test]
async fn a_reader_that_reconnects_too_late_learns_how_many_events_it_missed() {
    let bed = bed();
    let mut events = bed.follow(None).await;
    bed.call("diagnostic_echo", json!({})).await;
    let first = events.next().await.unwrap();
    for _ in 0..1_500 {
        bed.call("diagnostic_echo", json!({})).await;
    }
    let mut again = bed.follow(Some(&first.id)).await;
    let gap = again.next().await.unwrap();
    // 1,501 calls send 4,503 events, of which 4,096 are kept and one was seen.
    assert_eq!((gap.name.as_str(), gap.data), ("gap", json!({ "missed": 4_503 - 4_096 - 1 })));
    assert_eq!(again.next().await.unwrap().number(), 4_503 - 4_096 + 1);
}

#[tokio::test]
async fn ten_thousand_events_for_a_stalled_reader_do_not_block_the_server() {
    let bed = bed();
    let service = HttpService::new(Arc::clone(&bed.registry), AccessRules::default());
    let at = ServerAddress { host: "127.0.0.1".to_owned(), port: 0 };
    let server = HttpServer::open(service, &at).await.unwrap();
    let connect = async |path: &str| {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", server.address());
        stream.write_all(head.as_bytes()).await.unwrap();
        BufReader::new(stream)
    };
    let mut stalled = connect("/api/events").await;
    let mut line = String::new();
    while !line.starts_with("id: ") {
        line.clear();
        stalled.read_line(&mut line).await.unwrap();
    }
    let text = "x".repeat(5_000);
    for _ in 0..3_400 {
        bed.call("diagnostic_echo", json!({ "text": text })).await;
    }
    // The server answers other clients.
    let mut answer = String::new();
    connect("/health").await.read_line(&mut answer).await.unwrap();
    assert_eq!(answer, "HTTP/1.1 200 OK\r\n");
    // The events that the reader gets and those reported as missed are all events.
    let (mut seen, mut missed, mut block) = (0, 0, String::new());
    while seen + missed < 10_200 {
        let mut line = String::new();
        assert_ne!(stalled.read_line(&mut line).await.unwrap(), 0, "the stream has ended");
        if line.starts_with("id: ") {
            block.clear();
        }
        block.push_str(&line);
        if !line.starts_with("data: ") {
            continue;
        }
        let event = read_event(&block).unwrap();
        if event.name == "gap" {
            missed += event.data["missed"].as_u64().unwrap();
        } else {
            seen += 1;
        }
        assert_eq!(event.number(), seen + missed);
    }
    assert!(missed > 1_000, "{missed} of them were not kept for it");
}

#[tokio::test(start_paused = true)]
async fn an_idle_stream_sends_a_keep_alive_comment() {
    let bed = bed();
    let mut events = bed.follow(None).await;
    events.block().await.unwrap();
    let before = tokio::time::Instant::now();
    assert_eq!(events.block().await.unwrap(), ": nothing new");
    assert_eq!(before.elapsed().as_secs(), 15);
}

#[tokio::test]
async fn closing_the_registry_ends_the_streams_and_refuses_new_ones() {
    let bed = bed();
    let mut events = bed.follow(None).await;
    bed.call("diagnostic_echo", json!({})).await;
    bed.registry.close();
    for number in 1..=3 {
        assert_eq!(events.next().await.unwrap().number(), number, "earlier events are still sent");
    }
    assert!(events.next().await.is_none());
    let (status, refusal) = bed.get("/api/events").await;
    assert_eq!(
        (status, &refusal["type"]),
        (StatusCode::SERVICE_UNAVAILABLE, &json!("RegistryClosed"))
    );
}

#[tokio::test]
async fn the_number_of_streams_is_limited() {
    let bed = bed();
    let mut all = Vec::new();
    for _ in 0..64 {
        all.push(bed.follow(None).await);
    }
    let (status, refusal) = bed.get("/api/events").await;
    assert_eq!(
        (status, &refusal["type"]),
        (StatusCode::SERVICE_UNAVAILABLE, &json!("TooManyStreams"))
    );
    all.pop();
    bed.follow(None).await;
}

#[tokio::test]
async fn a_change_of_the_tools_is_sent_once_and_also_to_readers_that_reconnect() {
    let bed = bed();
    let tools = &bed.registry.pipeline.registry;
    let mut events = bed.follow(None).await;
    let id = events.block().await.unwrap().rsplit_once("id: ").unwrap().1.to_owned();
    tools.disable(&["Bash".to_owned()]).unwrap();
    let event = events.next().await.unwrap();
    assert_eq!((event.name.as_str(), event.number()), ("tools", 1));
    tools.disable(&["Bash".to_owned()]).unwrap();
    bed.call("diagnostic_echo", json!({})).await;
    assert_eq!(events.next().await.unwrap().name, "call");
    drop(events);
    tools.enable(&["Bash".to_owned()]).unwrap();
    let mut again = bed.follow(Some(&id)).await;
    let mut names = Vec::new();
    for _ in 0..5 {
        names.push(again.next().await.unwrap().name);
    }
    assert_eq!(names, ["tools", "call", "call", "call", "tools"]);
}

#[tokio::test]
async fn two_services_of_a_registry_send_the_same_events_with_the_same_ids() {
    let mut bed = bed();
    let mut one = bed.follow(None).await;
    bed.call("diagnostic_echo", json!({})).await;
    let id = one.next().await.unwrap().id;
    bed.service = HttpService::new(Arc::clone(&bed.registry), AccessRules::default());
    assert_eq!(bed.follow(Some(&id)).await.next().await.unwrap().number(), 2);
}

#[tokio::test]
async fn registries_that_share_a_bus_share_its_requests() {
    let bed = ServedBed::with_bus(json!({}), MessageBus::without_listeners());
    let mut events = bed.follow(None).await;
    let asking = tokio::spawn({
        let bus = Arc::clone(&bed.bus);
        async move {
            let minute = std::time::Duration::from_mins(1);
            bus.request(json!({ "toolName": "x" }), minute, &<_>::default()).await
        }
    });
    let (id, details) = bed.asked(&mut events).await;
    assert_eq!(details, json!({ "toolName": "x" }));
    let answered = bed.post(&format!("/api/confirmations/{id}"), json!({ "approved": true })).await;
    assert_eq!(answered, (StatusCode::OK, json!({ "settled": true })));
    assert!(asking.await.unwrap().unwrap().approved);
}
