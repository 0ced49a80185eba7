//! Buckets with `credentials = "platform"`: `andon serve` under load, while services on loopback issue credentials that
//! expire within seconds. No request fails. `./dev credentials` runs the long test, 10 minutes of credentials that are
//! valid for 5 s.

mod cloud;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use self::cloud::Cloud;
use crate::common::{Client, Served};
use tempfile::TempDir;

/// Lifetime of credentials in these tests, unless a test says otherwise.
const LIFE: Duration = Duration::from_secs(3);

/// Starts a server whose environment has only these variables.
fn serve(folder: &TempDir, cloud: &Cloud, origin: &str, variables: &[(&str, String)]) -> Served {
    let config = format!(
        "metrics.allow = \"all\"\n[cache]\nmemory = \"0\"\nsources = \"0\"\n{}\n",
        origin.replace("CLOUD", &cloud.address)
    );
    Served::start_with(folder.path(), &config, |command| {
        command
            .env_clear()
            .env("HOME", folder.path())
            .envs(variables.iter().map(|(name, value)| (name, value)));
    })
}

fn s3_origin() -> &'static str {
    "[[origin]]\ns3 = { bucket = \"assets-eu\", region = \"eu-central-1\", endpoint = \"http://CLOUD\", credentials = \"platform\" }\n\
     allow = [\"127.0.0.1\"]"
}

fn gcs_origin() -> &'static str {
    "[[origin]]\ngcs = { bucket = \"assets-eu\", endpoint = \"http://CLOUD\", credentials = \"platform\" }\n\
     allow = [\"127.0.0.1\"]"
}

fn azure_origin() -> &'static str {
    "[[origin]]\nazure = { container = \"assets-eu\", account = \"shop\", endpoint = \"http://CLOUD\", credentials = \"platform\" }\n\
     allow = [\"127.0.0.1\"]"
}

/// Requests images on four connections until the buckets have received `seen` different credentials, and calls
/// `meanwhile` repeatedly. Returns the number of requests.
fn load_until(served: &Served, cloud: &Cloud, seen: usize, meanwhile: impl Fn()) -> usize {
    let (requests, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for name in ["a", "b", "c", "d"] {
            let (requests, is_over) = (&requests, &is_over);
            scope.spawn(move || {
                let mut client = served.client();
                while !is_over.load(Ordering::SeqCst) {
                    ask(&mut client, &format!("/r/fit:20x20/{name}.jpg"));
                    requests.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let until = Instant::now() + Duration::from_secs(60);
        while cloud.seen() < seen && Instant::now() < until {
            meanwhile();
            std::thread::sleep(Duration::from_millis(20));
        }
        is_over.store(true, Ordering::SeqCst);
    });
    assert!(cloud.seen() >= seen, "only {} credentials", cloud.seen());
    requests.load(Ordering::SeqCst)
}

fn ask(client: &mut Client, target: &str) {
    let reply = client.get(target).unwrap();
    let said = String::from_utf8_lossy(&reply.body);
    assert_eq!(reply.status, 200, "{target}: {said}");
}

/// Serves under load until three credentials were used, and checks that no request was refused and that credentials
/// were not requested more often than they expired.
fn rotates(
    origin: &str,
    exchanges: usize,
    variables: &[(&str, &str)],
    prepare: impl Fn(&Path, &Cloud),
) {
    let (folder, cloud) = (tempfile::tempdir().unwrap(), Cloud::start(LIFE));
    prepare(folder.path(), &cloud);
    let path = folder.path().to_str().unwrap();
    let variables: Vec<_> = variables
        .iter()
        .map(|(name, value)| {
            let value = value.replace("CLOUD", &cloud.address);
            (*name, value.replace("FOLDER", path))
        })
        .collect();
    let served = serve(&folder, &cloud, origin, &variables);
    load_until(&served, &cloud, 3, || {});
    assert_eq!(cloud.refused(), 0);
    // The next credential may already have been requested.
    assert!(
        cloud.asked() <= exchanges * (cloud.seen() + 1),
        "{}",
        cloud.asked()
    );
    let said = served.stop();
    assert!(
        said.contains("credentials of the platform in use"),
        "{said}"
    );
    assert!(
        !said.contains("ERROR") && !said.contains("not renewed"),
        "{said}"
    );
    assert!(
        !said.contains("secret-of") && !said.contains("token-of"),
        "{said}"
    );
}

#[test]
fn keys_of_an_ec2_machine_rotate_without_a_failed_request() {
    let variables = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://CLOUD/")];
    rotates(s3_origin(), 3, &variables, |_, _| {});
}

#[test]
fn keys_of_an_eks_pod_rotate_without_a_failed_request() {
    let variables = [
        (
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            "http://CLOUD/v1/credentials",
        ),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "FOLDER/pod-token"),
    ];
    rotates(s3_origin(), 1, &variables, |folder, cloud| {
        fs::write(folder.join("pod-token"), "pod\n").unwrap();
        cloud.trusts("pod");
    });
}

#[test]
fn keys_of_an_ecs_container_rotate_without_a_failed_request() {
    let variables = [
        (
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            "http://CLOUD/v1/credentials",
        ),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "task"),
    ];
    rotates(s3_origin(), 1, &variables, |_, cloud| cloud.trusts("task"));
}

#[test]
fn keys_of_a_role_that_a_profile_assumes_rotate_without_a_failed_request() {
    let variables = [
        ("AWS_ENDPOINT_URL_STS", "http://CLOUD"),
        ("AWS_PROFILE", "shop"),
    ];
    rotates(s3_origin(), 1, &variables, |folder, _| {
        fs::create_dir(folder.join(".aws")).unwrap();
        let config = "[profile shop]\nrole_arn = arn:aws:iam::123456789012:role/reader\nsource_profile = base\n\
                      external_id = shop\n";
        fs::write(folder.join(".aws/config"), config).unwrap();
        let keys = "[base]\naws_access_key_id = AKIDBASE\naws_secret_access_key = secret\n";
        fs::write(folder.join(".aws/credentials"), keys).unwrap();
    });
}

#[test]
fn tokens_of_googles_metadata_server_rotate_without_a_failed_request() {
    rotates(
        gcs_origin(),
        1,
        &[("GCE_METADATA_HOST", "CLOUD")],
        |_, _| {},
    );
}

#[test]
fn tokens_of_a_federated_google_account_rotate_without_a_failed_request() {
    let variables = [("GOOGLE_APPLICATION_CREDENTIALS", "FOLDER/account.json")];
    rotates(gcs_origin(), 2, &variables, |folder, cloud| {
        cloud.trusts("cluster");
        fs::write(folder.join("subject.json"), "{\"id\": \"cluster\"}").unwrap();
        let account = serde_json::json!({
            "type": "external_account", "audience": "pool", "subject_token_type": "jwt",
            "token_url": format!("http://{}/google/exchange", cloud.address),
            "service_account_impersonation_url": format!("http://{}/google/impersonate", cloud.address),
            "credential_source": {
                "file": folder.join("subject.json"),
                "format": { "type": "json", "subject_token_field_name": "id" },
            },
        });
        fs::write(folder.join("account.json"), account.to_string()).unwrap();
    });
}

#[test]
fn tokens_of_an_azure_machine_rotate_without_a_failed_request() {
    let variables = [("AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://CLOUD")];
    rotates(azure_origin(), 1, &variables, |_, _| {});
}

#[test]
fn tokens_of_an_azure_app_rotate_without_a_failed_request() {
    let variables = [
        ("IDENTITY_ENDPOINT", "http://CLOUD/msi/token"),
        ("IDENTITY_HEADER", "app"),
    ];
    rotates(azure_origin(), 1, &variables, |_, cloud| {
        cloud.trusts("app")
    });
}

#[test]
fn tokens_of_an_azure_pod_rotate_without_a_failed_request() {
    let variables = [
        ("AZURE_AUTHORITY_HOST", "http://CLOUD/"),
        ("AZURE_TENANT_ID", "tenant"),
        ("AZURE_CLIENT_ID", "client"),
        ("AZURE_FEDERATED_TOKEN_FILE", "FOLDER/azure-token"),
    ];
    rotates(azure_origin(), 1, &variables, |folder, cloud| {
        fs::write(folder.join("azure-token"), "pod").unwrap();
        cloud.trusts("pod");
    });
}

/// Waits for a condition, for up to a minute.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "not after a minute: {what}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A token file as a kubelet maintains it: a link to a link to a folder that is replaced by another one.
struct Projected {
    folder: TempDir,
}

impl Projected {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("..data/token", folder.path().join("token")).unwrap();
        Self { folder }
    }

    fn file(&self) -> String {
        self.folder
            .path()
            .join("token")
            .to_str()
            .unwrap()
            .to_owned()
    }

    fn replace(&self, token: &str) {
        let path = |name: &str| self.folder.path().join(name);
        fs::create_dir(path(&format!("..{token}"))).unwrap();
        fs::write(path(&format!("..{token}/token")), token).unwrap();
        std::os::unix::fs::symlink(format!("..{token}"), path("..data_tmp")).unwrap();
        fs::rename(path("..data_tmp"), path("..data")).unwrap();
    }
}

#[test]
fn a_pods_web_identity_token_is_read_from_its_folder_in_the_sandbox_whenever_it_is_replaced() {
    let (folder, cloud) = (tempfile::tempdir().unwrap(), Cloud::start(LIFE));
    let projected = Projected::new();
    projected.replace("token-0");
    cloud.trusts("token-0");
    let variables = [
        ("AWS_ENDPOINT_URL_STS", format!("http://{}", cloud.address)),
        (
            "AWS_ROLE_ARN",
            "arn:aws:iam::123456789012:role/reader".to_owned(),
        ),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", projected.file()),
    ];
    let served = serve(&folder, &cloud, s3_origin(), &variables);
    for rotation in 1..4 {
        load_until(&served, &cloud, rotation, || {});
        let token = format!("token-{rotation}");
        projected.replace(&token);
        cloud.trusts(&token);
    }
    assert_eq!(cloud.refused(), 0);
    let said = served.stop();
    assert!(
        !said.contains("ERROR") && !said.contains("not renewed"),
        "{said}"
    );
}

#[test]
fn a_service_that_is_down_costs_nothing_before_the_end_and_is_named_afterwards() {
    let (folder, cloud) = (tempfile::tempdir().unwrap(), Cloud::start(LIFE));
    let endpoint = format!("http://{}", cloud.address);
    let variables = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", endpoint)];
    let served = serve(&folder, &cloud, s3_origin(), &variables);
    let mut client = served.client();
    ask(&mut client, "/a.jpg");
    cloud.is_down(true);
    let began = Instant::now();
    let failed = loop {
        let reply = client.get("/a.jpg").unwrap();
        match reply.status {
            200 => std::thread::sleep(Duration::from_millis(5)),
            _ => break reply,
        }
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "they never expire"
        );
    };
    assert_eq!(failed.status, 502);
    assert_eq!(
        String::from_utf8(failed.body).unwrap(),
        "the server has no valid credentials for the origin\n"
    );
    assert_eq!(cloud.refused(), 0);
    // A renewal without valid credentials, which is logged. Most requests fail without credentials.
    let (tried, mut requests) = (cloud.asked(), 0);
    while cloud.asked() < tried + 2 {
        assert_eq!(client.get("/a.jpg").unwrap().status, 502);
        requests += 1;
    }
    assert!(requests > 20, "{requests} requests for two renewals");
    cloud.is_down(false);
    wait_until("it recovers", || {
        client.get("/a.jpg").unwrap().status == 200
    });
    let metrics = String::from_utf8(served.get("/metrics").body).unwrap();
    assert!(metrics.contains("result=\"credentials\""), "{metrics}");
    let said = served.stop();
    for part in [
        "credentials of the platform not renewed; those in use are still valid",
        "no credentials of the platform",
        "instance metadata: ",
        "the service is down",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn urls_name_the_buckets_that_a_pattern_covers_and_no_others() {
    let (folder, cloud) = (
        tempfile::tempdir().unwrap(),
        Cloud::start(Duration::from_secs(600)),
    );
    let endpoint = format!("http://{}", cloud.address);
    let origin = s3_origin().replace("bucket = \"assets-eu\"", "buckets = [\"assets-*\"]");
    let origin = format!("{origin}\n[imgproxy]\nprefix = \"/ip\"\n");
    let variables = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", endpoint)];
    let served = serve(&folder, &cloud, &origin, &variables);
    for target in [
        "/r/fit:20x20/s3://assets-eu/a.jpg",
        "/r/fit:20x20/s3:/assets-eu/a.jpg",
        "/r/fit:20x20/s3%3A%2F%2Fassets-eu%2Fa.jpg",
        "/ip/insecure/rs:fit:20:20/plain/s3://assets-eu/a.jpg",
    ] {
        ask(&mut served.client(), target);
    }
    let seen = cloud.seen();
    for (target, status) in [
        ("/r/fit:20x20/s3://results/a.jpg", 403),
        ("/r/fit:20x20/s3://assets-eu@evil/a.jpg", 403),
        ("/r/fit:20x20/s3://assets-eu/../results/a.jpg", 400),
        ("/r/fit:20x20/gs://assets-eu/a.jpg", 403),
        ("/r/fit:20x20/s3://assets-eu/missing.jpg", 404),
        ("/assets-eu/a.jpg", 404),
    ] {
        let reply = served.get(target);
        let said = String::from_utf8_lossy(&reply.body);
        assert_eq!(reply.status, status, "{target}: {said}");
    }
    assert_eq!((cloud.seen(), cloud.refused(), seen), (1, 0, 1));
}

#[test]
fn nodes_share_results_in_a_bucket_with_credentials_of_the_platform() {
    let (folder, cloud) = (
        tempfile::tempdir().unwrap(),
        Cloud::start(Duration::from_secs(600)),
    );
    let store = "[store]\nallow = [\"127.0.0.1\"]\nmin_cost = \"0s\"\nmin_life = \"0s\"\npoll = \"20ms\"\ntimeout = \"10s\"\n\
                 s3 = { bucket = \"results\", region = \"eu-central-1\", endpoint = \"http://CLOUD\", credentials = \"platform\" }";
    let origin = format!("{}\n{store}", s3_origin());
    let variables = [
        (
            "AWS_EC2_METADATA_SERVICE_ENDPOINT",
            format!("http://{}", cloud.address),
        ),
        ("ANDON_STORE_SECRET", "a secret of all nodes".to_owned()),
    ];
    let served = serve(&folder, &cloud, &origin, &variables);
    wait_until("the store is ready", || {
        let metrics = String::from_utf8(served.get("/metrics").body).unwrap();
        metrics.lines().any(|line| line == "andon_store_ready 1")
    });
    ask(&mut served.client(), "/r/fit:20x20/a.jpg");
    let results = cloud.buckets.path().join("results/results");
    wait_until("a result is stored", || results.exists());
    assert_eq!(cloud.refused(), 0);
}

#[test]
fn a_command_reads_a_bucket_with_the_credentials_of_a_pod() {
    let (folder, cloud) = (
        tempfile::tempdir().unwrap(),
        Cloud::start(Duration::from_secs(600)),
    );
    cloud.trusts("pod");
    let output = std::process::Command::new(crate::common::program())
        .args(["convert", "fit:20x20,as:png", "s3://assets-eu/", "-o"])
        .arg(folder.path().join("out"))
        .env_clear()
        .env("AWS_ENDPOINT_URL", format!("http://{}", cloud.address))
        .env(
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            format!("http://{}/v1/credentials", cloud.address),
        )
        .env("AWS_CONTAINER_AUTHORIZATION_TOKEN", "pod")
        .output();
    crate::common::printed(output.unwrap());
    assert!(folder.path().join("out/a.png").exists());
    assert_eq!(cloud.refused(), 0);
}

/// 10 minutes, or `ANDON_SECONDS` seconds, of credentials that are valid for 5 s.
#[test]
#[ignore = "takes 10 minutes; ./dev credentials"]
fn ten_minutes_of_five_second_credentials_cost_no_request() {
    let seconds = std::env::var("ANDON_SECONDS").map_or(600, |text| text.parse().unwrap());
    let life = Duration::from_secs(5);
    let (folder, cloud) = (tempfile::tempdir().unwrap(), Cloud::start(life));
    let endpoint = format!("http://{}", cloud.address);
    let variables = [
        ("AWS_EC2_METADATA_SERVICE_ENDPOINT", endpoint.clone()),
        ("GCE_METADATA_HOST", cloud.address.clone()),
        ("AZURE_POD_IDENTITY_AUTHORITY_HOST", endpoint),
    ];
    let origin = [s3_origin(), gcs_origin(), azure_origin()];
    let origin: String = ["/", "/gcs", "/azure"]
        .iter()
        .zip(origin)
        .map(|(prefix, origin)| format!("{origin}\nprefix = \"{prefix}\"\n"))
        .collect();
    let served = serve(&folder, &cloud, &origin, &variables);
    let until = Instant::now() + Duration::from_secs(seconds);
    let requests: usize = std::thread::scope(|scope| {
        let served = &served;
        let asking = ["", "/gcs", "/azure"].map(|prefix| {
            scope.spawn(move || {
                let (mut client, mut requests) = (served.client(), 0);
                while Instant::now() < until {
                    ask(&mut client, &format!("{prefix}/a.jpg"));
                    requests += 1;
                }
                requests
            })
        });
        asking.map(|it| it.join().unwrap()).iter().sum()
    });
    let (seen, asked) = (cloud.seen(), cloud.asked());
    println!(
        "{requests} requests in {seconds} s with {seen} credentials, for which {asked} requests were sent: 0 errors"
    );
    assert_eq!(cloud.refused(), 0);
    assert!(seen as u64 > 3 * seconds / 5, "{seen} credentials");
    let said = served.stop();
    assert!(
        !said.contains("ERROR") && !said.contains("not renewed"),
        "{said}"
    );
}
