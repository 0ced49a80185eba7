use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

use super::*;

const TIME: Duration = Duration::from_secs(10);
const WAITS: Waits = Waits {
    idle: TIME,
    head: TIME,
    write: TIME,
    stall: None,
};

#[tokio::test(start_paused = true)]
async fn a_head_that_trickles_in_is_given_up() {
    let (mut client, server) = duplex(1024);
    let mut server = TimeoutStream::new(server, Arc::default(), WAITS);
    let trickle = tokio::spawn(async move {
        while client.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(3)).await;
        }
    });
    let error = server.read_to_end(&mut Vec::new()).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    drop(server);
    trickle.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_answer_may_take_longer_than_a_head() {
    let (mut client, server) = duplex(1024);
    let activity = Arc::new(Activity::default());
    let mut server = TimeoutStream::new(server, activity.clone(), WAITS);
    client.write_all(b"GET").await.unwrap();
    server.read_exact(&mut [0; 3]).await.unwrap();
    let answering = activity.answering();
    let waiting = tokio::time::timeout(5 * TIME, server.read_u8()).await;
    assert!(waiting.is_err(), "it went on waiting for the client");
    drop(answering);
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_kept_longer_than_a_head_may_take() {
    let (mut client, server) = duplex(1024);
    let waits = Waits {
        idle: 6 * TIME,
        ..WAITS
    };
    let mut server = TimeoutStream::new(server, Arc::default(), waits);
    client.write_all(b"GET").await.unwrap();
    server.read_exact(&mut [0; 3]).await.unwrap();
    server.write_all(b"answer").await.unwrap();
    let next = tokio::spawn(async move {
        tokio::time::sleep(5 * TIME).await;
        client.write_all(b"G").await.unwrap();
        client
    });
    assert_eq!(server.read_u8().await.unwrap(), b'G');
    let _client = next.await.unwrap();
    // From here on a head is under way.
    let began = Instant::now();
    let error = server.read_u8().await.unwrap_err();
    assert_eq!(
        (error.kind(), began.elapsed()),
        (io::ErrorKind::TimedOut, TIME)
    );
}

#[tokio::test(start_paused = true)]
async fn who_reads_before_the_reply_is_over_waits_no_longer_than_others() {
    let (mut client, server) = duplex(1024);
    let activity = Arc::new(Activity::default());
    let mut server = TimeoutStream::new(server, activity.clone(), WAITS);
    client.write_all(b"GET").await.unwrap();
    server.read_exact(&mut [0; 3]).await.unwrap();
    let answering = activity.answering();
    let began = Instant::now();
    let ending = tokio::spawn(async move {
        tokio::time::sleep(2 * TIME).await;
        drop(answering);
    });
    // Nothing wakes the reader but the end of the reply.
    let error = server.read_u8().await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert_eq!(began.elapsed(), 3 * TIME);
    ending.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_nobody_takes_is_given_up() {
    let (_client, server) = duplex(16);
    let mut server = TimeoutStream::new(server, Arc::default(), WAITS);
    let error = server.write_all(&[0; 64]).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_that_goes_on_reading_gets_its_reply() {
    let (mut client, server) = duplex(16);
    let mut server = TimeoutStream::new(server, Arc::default(), WAITS);
    let reader = tokio::spawn(async move {
        let mut taken = 0;
        while taken < 64 {
            tokio::time::sleep(Duration::from_secs(9)).await;
            taken += client.read(&mut [0; 16]).await.unwrap();
        }
    });
    server.write_all(&[0; 64]).await.unwrap();
    reader.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_which_nothing_is_written_is_given_up_where_that_is_asked_for() {
    let (_client, server) = duplex(64);
    let waits = Waits {
        stall: Some(3 * TIME),
        ..WAITS
    };
    let activity = Arc::new(Activity::default());
    let mut server = TimeoutStream::new(server, activity.clone(), waits);
    let _answering = activity.answering();
    let began = Instant::now();
    assert!(
        tokio::time::timeout(2 * TIME, server.read_u8())
            .await
            .is_err()
    );
    server.write_all(b"frame").await.unwrap();
    let error = server.read_u8().await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert_eq!(began.elapsed(), 5 * TIME);
}
