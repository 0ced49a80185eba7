use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use super::super::timeout_stream::Waits;
use super::*;
use crate::http::{FastBody, Simple};
use crate::origins::{Blocking, Entry, OpenFile, Root};

const HIT: &str = "GET /hit HTTP/1.1\r\nHost: h\r\n\r\n";
const MISS: &str = "GET /miss HTTP/1.1\r\nHost: h\r\n\r\n";
const REPLY: &str = "head,body";

struct Hits;

impl FastResponder for Hits {
    fn answer(
        &self,
        asked: &Simple<'_>,
        sends_files: bool,
        head: &mut Vec<u8>,
    ) -> Option<FastBody> {
        assert!(sends_files);
        let body = match asked.target {
            "/hit" => FastBody::Bytes(Bytes::from_static(b"body")),
            "/file" => FastBody::File(Arc::new(file()), 4),
            _ => return None,
        };
        head.extend_from_slice(b"head,");
        Some(body)
    }
}

/// Returns a file that begins with the image "body", followed by other bytes.
fn file() -> OpenFile {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "body and more").unwrap();
    let root = Root::open(folder.path()).unwrap();
    match root.entry("a", Blocking::Allowed).unwrap() {
        Entry::File(file) => file,
        Entry::Folder => panic!("no file"),
    }
}

type Lane = FastPath<DuplexStream, Hits>;

/// Returns a client, hyper's side of the connection, and the activity that both share. The stream between them
/// holds `holds` bytes.
fn lane(holds: usize) -> (DuplexStream, Lane, Arc<Activity>) {
    lane_after(Arrival::default(), holds)
}

fn lane_after(arrival: Arrival, holds: usize) -> (DuplexStream, Lane, Arc<Activity>) {
    let (client, server) = duplex(holds);
    let activity = Arc::new(Activity::default());
    let waits = Waits {
        idle: Duration::from_secs(10),
        head: Duration::from_secs(10),
        write: Duration::from_secs(10),
        stall: None,
    };
    let stream = TimeoutStream::new(server, activity.clone(), waits);
    let lane = FastPath::new(stream, activity.clone(), Arc::new(Hits), arrival);
    (client, lane, activity)
}

async fn read(lane: &mut Lane) -> String {
    let mut buffer = [0; 1024];
    let length = lane.read(&mut buffer).await.unwrap();
    String::from_utf8_lossy(&buffer[..length]).into_owned()
}

async fn reply(client: &mut DuplexStream) -> String {
    let mut reply = [0; REPLY.len()];
    client.read_exact(&mut reply).await.unwrap();
    String::from_utf8_lossy(&reply).into_owned()
}

/// Checks that hyper reads what is sent, without a reply of the fast path.
async fn hyper_gets(client: &mut DuplexStream, lane: &mut Lane, bytes: &str) {
    client.write_all(bytes.as_bytes()).await.unwrap();
    assert_eq!(read(lane).await, bytes);
}

#[tokio::test]
async fn hyper_hears_only_of_what_cannot_be_answered_at_once() {
    let (mut client, mut lane, activity) = lane(1024);
    let asking = tokio::spawn(async move {
        for _ in 0..3 {
            client.write_all(HIT.as_bytes()).await.unwrap();
            assert_eq!(reply(&mut client).await, REPLY);
        }
        client.write_all(MISS.as_bytes()).await.unwrap();
        client
    });
    assert_eq!(read(&mut lane).await, MISS);
    assert_eq!(activity.request_count(), 3);
    assert!(!activity.is_answering());
    asking.await.unwrap();
}

#[tokio::test]
async fn what_came_before_it_was_read_from_comes_first() {
    let arrival = Arrival {
        bytes: format!("{HIT}{}", &MISS[..9]).into(),
        reply: None,
    };
    let (mut client, mut lane, _) = lane_after(arrival, 1024);
    client.write_all(&MISS.as_bytes()[9..]).await.unwrap();
    assert_eq!(read(&mut lane).await, format!("{HIT}{}", &MISS[..9]));
    assert_eq!(read(&mut lane).await, &MISS[9..]);

    let arrival = Arrival {
        bytes: HIT.into(),
        reply: None,
    };
    let (mut client, mut lane, _) = lane_after(arrival, 1024);
    hyper_gets(&mut client, &mut lane, MISS).await;
    assert_eq!(reply(&mut client).await, REPLY);
}

#[tokio::test]
async fn a_reply_that_was_begun_is_finished_and_the_connection_closed() {
    let mut begun = Reply::new(
        b"head,".into(),
        FastBody::Bytes(Bytes::from_static(b"body")),
    );
    begun.sent_bytes = 3;
    let arrival = Arrival {
        bytes: Vec::new(),
        reply: Some(begun),
    };
    let (mut client, mut lane, activity) = lane_after(arrival, 2);
    assert!(activity.is_answering());
    let closing = tokio::spawn(async move {
        assert_eq!(read(&mut lane).await, "");
        lane.shutdown().await.unwrap();
    });
    let mut rest = String::new();
    client.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "d,body");
    closing.await.unwrap();
    assert!(!activity.is_answering());
}

#[tokio::test]
async fn the_fast_path_opens_again_when_hypers_reply_is_on_its_way() {
    let (mut client, mut lane, activity) = lane(1024);
    hyper_gets(&mut client, &mut lane, MISS).await;
    let answering = activity.answering();
    lane.write_all(b"first").await.unwrap();
    lane.flush().await.unwrap();
    hyper_gets(&mut client, &mut lane, HIT).await;
    let second = activity.answering();
    drop(answering);
    lane.write_all(b" second").await.unwrap();
    drop(second);
    hyper_gets(&mut client, &mut lane, HIT).await;
    drop(activity.answering());
    lane.write_all(b" third.").await.unwrap();
    lane.flush().await.unwrap();

    client.write_all(HIT.as_bytes()).await.unwrap();
    client.shutdown().await.unwrap();
    assert_eq!(read(&mut lane).await, "");
    drop(lane);
    let mut all = String::new();
    client.read_to_string(&mut all).await.unwrap();
    assert_eq!(all, format!("first second third.{REPLY}"));
}

#[tokio::test]
async fn whose_requests_do_not_come_one_by_one_is_hypers_for_good() {
    for bytes in [
        &HIT[..7],
        &HIT.repeat(2),
        "GET /hit HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
    ] {
        let (mut client, mut lane, activity) = lane(1024);
        hyper_gets(&mut client, &mut lane, bytes).await;
        drop(activity.answering());
        lane.flush().await.unwrap();
        hyper_gets(&mut client, &mut lane, HIT).await;
    }
}

#[tokio::test]
async fn a_client_that_takes_its_replies_in_pieces_gets_all_of_them() {
    let (mut client, mut lane, activity) = lane(4);
    let asking = tokio::spawn(async move {
        for _ in 0..20 {
            client.write_all(MISS.as_bytes()).await.unwrap();
            assert_eq!(reply(&mut client).await, REPLY);
        }
        client
    });
    for _ in 0..20 {
        // A stream so narrow brings requests in pieces; this one came whole.
        let mut request = [0; MISS.len()];
        lane.stream.read_exact(&mut request).await.unwrap();
        assert!(lane.receive(HIT.as_bytes()));
        lane.flush().await.unwrap();
        assert!(!activity.is_answering());
    }
    asking.await.unwrap();
}

#[tokio::test]
async fn hyper_is_told_of_the_end_after_the_reply_to_a_last_request() {
    let (mut client, mut lane, activity) = lane(4);
    let asking = tokio::spawn(async move {
        let mut all = String::new();
        client.read_to_string(&mut all).await.unwrap();
        all
    });
    assert!(lane.receive(b"GET /hit HTTP/1.0\r\n\r\n"));
    assert_eq!(lane.read(&mut [0; 64]).await.unwrap(), 0);
    lane.shutdown().await.unwrap();
    drop(lane);
    assert_eq!(asking.await.unwrap(), REPLY);
    assert!(!activity.is_answering());
}

#[tokio::test]
async fn a_file_is_sent_as_far_as_it_is_wanted() {
    let (mut client, mut lane, activity) = lane(3);
    let asking = tokio::spawn(async move { reply(&mut client).await });
    assert!(lane.receive(b"GET /file HTTP/1.1\r\nHost: h\r\n\r\n"));
    lane.flush().await.unwrap();
    assert_eq!(asking.await.unwrap(), REPLY);
    assert!(!activity.is_answering());
}

#[tokio::test]
async fn a_connection_is_shut_down_after_its_reply() {
    let (mut client, mut lane, activity) = lane(4);
    assert!(lane.receive(HIT.as_bytes()));
    let ending = tokio::spawn(async move {
        lane.shutdown().await.unwrap();
    });
    let mut all = String::new();
    client.read_to_string(&mut all).await.unwrap();
    assert_eq!(all, REPLY);
    ending.await.unwrap();
    assert!(!activity.is_answering());
}
#[tokio::test(start_paused = true)]
async fn a_connection_that_asks_on_is_kept_and_one_that_asks_nothing_more_is_not() {
    let (mut client, mut lane, _) = lane(1024);
    let asking = tokio::spawn(async move {
        for _ in 0..5 {
            client.write_all(HIT.as_bytes()).await.unwrap();
            assert_eq!(reply(&mut client).await, REPLY);
            tokio::time::sleep(Duration::from_secs(9)).await;
        }
        client
    });
    let began = tokio::time::Instant::now();
    let error = lane.read(&mut [0; 1024]).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert!(began.elapsed() >= Duration::from_secs(4 * 9 + 10));
    asking.await.unwrap();
}
