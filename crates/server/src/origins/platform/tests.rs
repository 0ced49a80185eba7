//! Tests of credential providers that are not configured, or wrongly, and of their errors. The integration tests of the
//! program have services that issue credentials.

use std::path::Path;

use super::chain::{Chain, Platform};
use super::rotation::Issuer;
use super::{aws, azure, google};
use crate::config::Environment;

/// A loopback address on which nothing listens.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Returns the error of Amazon's providers, with a configuration file of profiles.
async fn aws_error(profiles: &str, variables: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".aws")).unwrap();
    std::fs::write(folder.path().join(".aws/config"), profiles).unwrap();
    let mut all = vec![
        ("HOME", folder.path().to_str().unwrap()),
        ("AWS_EC2_METADATA_SERVICE_ENDPOINT", NOWHERE),
        ("AWS_ENDPOINT_URL_STS", NOWHERE),
    ];
    all.extend(variables);
    let platform = Platform::new(Environment::of(&all), "eu-central-1").unwrap();
    let issued = Chain::new(platform, aws::PROVIDERS).issue().await;
    issued.err().expect("an error")
}

#[tokio::test]
async fn an_error_names_every_provider_that_was_asked_and_why_it_has_none() {
    let error = aws_error("", &[]).await;
    for part in [
        "instance metadata: failed to connect to IMDS: PUT http://127.0.0.1:9/latest/api/token: \
         no connection to 127.0.0.1:9",
        "environment: AWS_ACCESS_KEY_ID is not set",
        "profile: there is no profile `default`",
        "web identity: AWS_WEB_IDENTITY_TOKEN_FILE is not set",
        "container: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or AWS_CONTAINER_CREDENTIALS_FULL_URI is not set",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let error = aws_error("", &[("AWS_EC2_METADATA_DISABLED", "true")]).await;
    assert!(error.starts_with("no provider is set up: "), "{error}");
    assert!(
        error.ends_with("AWS_EC2_METADATA_DISABLED is true"),
        "{error}"
    );
}

#[tokio::test]
async fn a_provider_that_is_set_up_and_fails_is_not_passed_over() {
    let missing = "/no/such/token";
    for (profiles, variables, part) in [
        (
            "",
            &[("AWS_ACCESS_KEY_ID", "AKIA")][..],
            "environment: AWS_ACCESS_KEY_ID is set, and AWS_SECRET_ACCESS_KEY is not",
        ),
        (
            "",
            &[("AWS_PROFILE", "shop")],
            "profile: there is no profile `shop`",
        ),
        (
            "[profile shop]\nregion = x\n",
            &[("AWS_PROFILE", "shop")],
            "profile `shop` has neither a role nor keys",
        ),
        (
            "[default]\nrole_arn = r\nsource_profile = b\n[profile b]\nrole_arn = r\nsource_profile = default\n",
            &[],
            "lead in a circle",
        ),
        (
            "[default]\nrole_arn = r\n",
            &[],
            "needs either `source_profile` or `credential_source`",
        ),
        (
            "[default]\nrole_arn = r\ncredential_source = Moon\n",
            &[],
            "known are Environment, Ec2InstanceMetadata and EcsContainer",
        ),
        (
            "[default]\ncredential_process = /bin/keys\n",
            &[],
            "has `credential_process`: Andon runs no other program. Run it yourself",
        ),
        (
            "[profile dev]\nsso_session = work\nsso_account_id = 1\nsso_role_name = r\n",
            &[("AWS_PROFILE", "dev")],
            "profile `dev` has `sso_session`: its credentials end when a person's login ends",
        ),
        (
            "",
            &[("AWS_WEB_IDENTITY_TOKEN_FILE", missing)],
            "AWS_WEB_IDENTITY_TOKEN_FILE is set, and AWS_ROLE_ARN is not",
        ),
        (
            "",
            &[
                ("AWS_WEB_IDENTITY_TOKEN_FILE", missing),
                ("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/reader"),
            ],
            "/no/such/token cannot be read",
        ),
        (
            "",
            &[("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://8.8.8.8/role")],
            "8.8.8.8 is a public address, which needs https",
        ),
        (
            "[default]\nrole_arn = arn:aws:iam::123456789012:role/reader\nsource_profile = default\n\
             aws_access_key_id = AKIA\naws_secret_access_key = secret\n",
            &[],
            "role arn:aws:iam::123456789012:role/reader: failed to send AWS STS AssumeRole request: \
             GET http://127.0.0.1:9/: no connection to 127.0.0.1:9",
        ),
    ] {
        let error = aws_error(profiles, variables).await;
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[tokio::test]
async fn errors_of_google_and_azure_name_the_file_or_variable() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("account.json");
    let google_error = async |text: &str| {
        std::fs::write(&file, text).unwrap();
        let variables = [
            ("GOOGLE_APPLICATION_CREDENTIALS", file.to_str().unwrap()),
            ("HOME", "/nowhere"),
        ];
        let platform = Platform::new(Environment::of(&variables), "").unwrap();
        let chain = Chain::new(platform, google::PROVIDERS);
        chain.issue().await.err().expect("an error")
    };
    for (text, part) in [
        ("none", "account.json: it is not JSON"),
        ("{}", "its `type` is missing; known are service_account"),
        (
            r#"{"type": "external_account"}"#,
            "it has no `credential_source`",
        ),
        (
            r#"{"type": "external_account", "credential_source": {"environment_id": "aws1"}}"#,
            "those of AWS, certificates and programs are not supported",
        ),
        (
            r#"{"type": "external_account", "credential_source": {"file": "/no/such/token"}}"#,
            "/no/such/token cannot be read",
        ),
        (
            r#"{"type": "authorized_user", "client_id": "x"}"#,
            "it has no `client_secret`",
        ),
    ] {
        let error = google_error(text).await;
        assert!(error.contains(part), "{part}: {error}");
        assert!(error.starts_with("credentials file: "), "{error}");
    }
    for (variables, part) in [
        (
            &[("AZURE_CLIENT_SECRET", "s")][..],
            "client secret: AZURE_CLIENT_ID is not set",
        ),
        (
            &[("AZURE_FEDERATED_TOKEN_FILE", "/no/such/token")],
            "workload identity: /no/such/token cannot be read",
        ),
        (
            &[("AZURE_POD_IDENTITY_AUTHORITY_HOST", NOWHERE)],
            "machine identity: GET http://127.0.0.1:9/metadata/identity/oauth2/token: no connection",
        ),
    ] {
        let platform = Platform::new(Environment::of(variables), "").unwrap();
        let chain = Chain::new(platform, azure::PROVIDERS);
        let error = chain.issue().await.err().expect("an error");
        assert!(error.contains(part), "{part}: {error}");
    }
    assert!(!Path::new("/no/such/token").exists());
}
