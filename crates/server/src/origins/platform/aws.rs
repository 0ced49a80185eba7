//! Amazon's credential providers, in the order of its SDKs. `reqsign` implements the protocols of the services. The
//! profiles and their chains of roles are read here, because `reqsign` supports only profiles with keys.

use std::error::Error as _;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use hyper::{Request, Response};
use reqsign_aws_v4::{
    AssumeRoleCredentialProvider, AssumeRoleWithWebIdentityCredentialProvider,
    ECSCredentialProvider, IMDSv2CredentialProvider, RequestSigner, StaticCredentialProvider,
};
use reqsign_core::{Context, ErrorKind, FileRead, HttpSend, ProvideCredential, Signer, StaticEnv};

use super::AwsKeys;
use super::chain::{Found, Platform, Provider};
use super::client::Client;
use crate::config::{Profile, Profiles};

pub(super) const PROVIDERS: &[Provider<AwsKeys>] = &[
    Provider {
        name: "environment",
        ask: |platform| Box::pin(async { environment(platform) }),
    },
    Provider {
        name: "profile",
        ask: |platform| Box::pin(profile(platform)),
    },
    Provider {
        name: "web identity",
        ask: |platform| Box::pin(web_identity(platform)),
    },
    Provider {
        name: "container",
        ask: |platform| Box::pin(container(platform)),
    },
    Provider {
        name: "instance metadata",
        ask: |platform| Box::pin(instance(platform)),
    },
];

type ProviderResult = Result<Found<AwsKeys>, String>;

/// Returns the credentials in `AWS_ACCESS_KEY_ID` and related variables.
fn environment(platform: &Platform) -> ProviderResult {
    let variable = |name: &str| platform.environment.get(name).map(str::to_owned);
    let (id, secret) = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY");
    match (variable(id), variable(secret)) {
        (Some(access_key_id), Some(secret_access_key)) => Ok(Found::Issued(
            AwsKeys {
                access_key_id,
                secret_access_key,
                session_token: variable("AWS_SESSION_TOKEN"),
                expires_in: None,
            },
            None,
        )),
        (None, None) => Ok(Found::Absent(format!("{id} is not set"))),
        (None, Some(_)) => Err(format!("{secret} is set, and {id} is not")),
        (Some(_), None) => Err(format!("{id} is set, and {secret} is not")),
    }
}

/// Returns the credentials of the profile `AWS_PROFILE` or `default` in the shared configuration files.
async fn profile(platform: &Platform) -> ProviderResult {
    let environment = platform.environment.clone();
    let result = tokio::task::spawn_blocking(move || Profiles::read(&environment)).await;
    let profiles = result.map_err(|error| error.to_string())??;
    let profile_variable = platform.environment.get("AWS_PROFILE");
    let name = profile_variable.unwrap_or("default");
    if profiles.get(name).is_none() && profile_variable.is_none() {
        return Ok(Found::Absent("there is no profile `default`".to_owned()));
    }
    let mut visited = Vec::new();
    match of_profile(platform, &profiles, name, &mut visited).await? {
        None if profile_variable.is_some() => {
            Err(format!("profile `{name}` has neither a role nor keys"))
        }
        None => Ok(Found::Absent(format!(
            "profile `{name}` has neither a role nor keys"
        ))),
        Some(keys) => with_expiry(keys),
    }
}

/// Returns the credentials of a profile: those of its role, or its keys; `None` if it has neither. `visited` are the
/// profiles whose roles depend on this one.
fn of_profile<'a>(
    platform: &'a Platform,
    profiles: &'a Profiles,
    name: &'a str,
    visited: &'a mut Vec<String>,
) -> Pin<Box<dyn Future<Output = Result<Option<AwsKeys>, String>> + Send + 'a>> {
    Box::pin(async move {
        let profile = profiles
            .get(name)
            .ok_or_else(|| format!("there is no profile `{name}`"))?;
        let keys = keys_of(profile);
        // A role may name its own profile as the one with the keys.
        let is_base = visited.last().is_some_and(|last| last == name);
        let Some(role) = profile.get("role_arn").filter(|_| !is_base) else {
            return match (keys, foreign_source(profile)) {
                (None, Some((key, why))) => Err(format!("profile `{name}` has `{key}`: {why}")),
                (keys, _) => Ok(keys),
            };
        };
        if visited.iter().any(|earlier| earlier == name) {
            return Err(format!(
                "the roles of the profiles {} and {name} lead in a circle",
                visited.join(", ")
            ));
        }
        visited.push(name.to_owned());
        if let Some(file) = profile.get("web_identity_token_file") {
            let session = profile.get("role_session_name");
            let keys = with_web_identity(platform, role, file.into(), session).await?;
            return Ok(Some(keys));
        }
        let source = match (
            profile.get("source_profile"),
            profile.get("credential_source"),
        ) {
            (Some(source), None) => of_profile(platform, profiles, source, visited)
                .await?
                .ok_or_else(|| format!("profile `{source}` has neither a role nor keys"))?,
            (None, Some(source)) => of_source(platform, source).await?,
            _ => {
                return Err(format!(
                    "profile `{name}` has a role, and needs either `source_profile` or `credential_source` to assume it"
                ));
            }
        };
        Ok(Some(assume_role(platform, profile, role, source).await?))
    })
}

fn keys_of(profile: &Profile) -> Option<AwsKeys> {
    Some(AwsKeys {
        access_key_id: profile.get("aws_access_key_id")?.to_owned(),
        secret_access_key: profile.get("aws_secret_access_key")?.to_owned(),
        session_token: profile.get("aws_session_token").map(str::to_owned),
        expires_in: None,
    })
}

/// Returns the setting of a profile that names a source of credentials that Andon does not support (another program, or
/// the login of a person), and advice on what to do instead. `None` if the profile has no such setting.
fn foreign_source(profile: &Profile) -> Option<(&'static str, &'static str)> {
    const PROGRAM: &str = "Andon runs no other program. Run it yourself and set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and \
                           AWS_SESSION_TOKEN, or use a profile with a role (`role_arn` with `credential_source`) or keys";
    const LOGIN: &str = "its credentials end when a person's login ends (`aws sso login`), which a server cannot renew. Use a \
                         profile with a role (`role_arn` with `credential_source`) or keys; to try something out, \
                         `aws configure export-credentials --format env` prints variables";
    let sources = [
        ("credential_process", PROGRAM),
        ("sso_session", LOGIN),
        ("sso_start_url", LOGIN),
    ];
    sources
        .into_iter()
        .find(|(key, _)| profile.get(key).is_some())
}

/// Returns the credentials from the source that `credential_source` of a profile names.
async fn of_source(platform: &Platform, source: &str) -> Result<AwsKeys, String> {
    let result = match source {
        "Environment" => environment(platform)?,
        "Ec2InstanceMetadata" => instance(platform).await?,
        "EcsContainer" => container(platform).await?,
        _ => {
            return Err(format!(
                "`credential_source = {source}` is not known; known are Environment, Ec2InstanceMetadata and EcsContainer"
            ));
        }
    };
    match result {
        Found::Issued(keys, _) => Ok(keys),
        Found::Absent(why) => Err(format!("`credential_source = {source}`: {why}")),
    }
}

/// Assumes a role with the credentials `source`, and returns the credentials of the role.
async fn assume_role(
    platform: &Platform,
    profile: &Profile,
    role: &str,
    source: AwsKeys,
) -> Result<AwsKeys, String> {
    let (context, sender) = context(platform);
    let profile_region = profile.get("region").map(str::to_owned);
    let region = profile_region.unwrap_or_else(|| region(platform));
    let source = match &source.session_token {
        Some(token) => {
            StaticCredentialProvider::new(&source.access_key_id, &source.secret_access_key)
                .with_session_token(token)
        }
        None => StaticCredentialProvider::new(&source.access_key_id, &source.secret_access_key),
    };
    let signer = Signer::new(context.clone(), source, RequestSigner::new("sts", &region));
    let mut provider = AssumeRoleCredentialProvider::new(role.to_owned(), signer)
        .with_region(region)
        .with_regional_sts_endpoint()
        .with_role_session_name(
            profile
                .get("role_session_name")
                .unwrap_or("andon")
                .to_owned(),
        );
    if let Some(id) = profile.get("external_id") {
        provider = provider.with_external_id(id.to_owned());
    }
    if let Some(seconds) = profile.get("duration_seconds") {
        let seconds = seconds
            .parse()
            .map_err(|_| format!("`duration_seconds = {seconds}` is not a number"))?;
        provider = provider.with_duration_seconds(seconds);
    }
    provide(&provider, &context, &sender, &format!("role {role}")).await
}

/// Returns the credentials of a role that are issued for a token (IRSA). Kubernetes names the role and the token's file
/// in the environment of a pod.
async fn web_identity(platform: &Platform) -> ProviderResult {
    let variable = |name: &str| platform.environment.get(name);
    let (file, role) = ("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN");
    match (variable(file), variable(role)) {
        (None, _) => Ok(Found::Absent(format!("{file} is not set"))),
        (Some(_), None) => Err(format!("{file} is set, and {role} is not")),
        (Some(file), Some(role)) => {
            let session = variable("AWS_ROLE_SESSION_NAME");
            with_expiry(with_web_identity(platform, role, file.into(), session).await?)
        }
    }
}

async fn with_web_identity(
    platform: &Platform,
    role: &str,
    file: PathBuf,
    session: Option<&str>,
) -> Result<AwsKeys, String> {
    let (context, sender) = context(platform);
    let provider = AssumeRoleWithWebIdentityCredentialProvider::with_config(role.to_owned(), file)
        .with_region(region(platform))
        .with_regional_sts_endpoint()
        .with_role_session_name(session.unwrap_or("andon").to_owned());
    provide(&provider, &context, &sender, &format!("role {role}")).await
}

/// Returns the credentials from the endpoint of a container (ECS, Fargate) or of a pod (EKS Pod Identity).
async fn container(platform: &Platform) -> ProviderResult {
    let names = [
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    ];
    if names
        .iter()
        .all(|name| platform.environment.get(name).is_none())
    {
        return Ok(Found::Absent(format!("{} is not set", names.join(" or "))));
    }
    let (context, sender) = context(platform);
    let provider = ECSCredentialProvider::new();
    with_expiry(provide(&provider, &context, &sender, "").await?)
}

/// Returns the credentials from the metadata service of an EC2 machine, version 2.
async fn instance(platform: &Platform) -> ProviderResult {
    let variable = |name: &str| platform.environment.get(name);
    let is_set =
        |name: &str, value: &str| variable(name).is_some_and(|set| set.eq_ignore_ascii_case(value));
    if is_set("AWS_EC2_METADATA_DISABLED", "true") {
        return Ok(Found::Absent(
            "AWS_EC2_METADATA_DISABLED is true".to_owned(),
        ));
    }
    let endpoint = match variable("AWS_EC2_METADATA_SERVICE_ENDPOINT") {
        Some(endpoint) => endpoint.trim_end_matches('/'),
        None if is_set("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "IPv6") => {
            "http://[fd00:ec2::254]"
        }
        None => "http://169.254.169.254",
    };
    let (context, sender) = context(platform);
    let provider = IMDSv2CredentialProvider::new().with_endpoint(endpoint);
    with_expiry(provide(&provider, &context, &sender, "").await?)
}

fn region(platform: &Platform) -> String {
    let variable = ["AWS_REGION", "AWS_DEFAULT_REGION"]
        .into_iter()
        .find_map(|name| platform.environment.get(name));
    variable.unwrap_or(&platform.region).to_owned()
}

fn with_expiry(keys: AwsKeys) -> ProviderResult {
    let expires_at = keys.expires_in.map(|end| end.as_system_time());
    Ok(Found::Issued(keys, expires_at))
}

/// Requests credentials from a provider of `reqsign`. Its errors are prefixed with `whom`.
async fn provide(
    provider: &impl ProvideCredential<Credential = AwsKeys>,
    context: &Context,
    sender: &RecordingSender,
    whom: &str,
) -> Result<AwsKeys, String> {
    let error = match provider.provide_credential(context).await {
        Ok(Some(keys)) => return Ok(keys),
        Ok(None) => "it has no credentials".to_owned(),
        Err(error) => sentence(&error, &sender.failure()),
    };
    Err(match whom {
        "" => error,
        whom => format!("{whom}: {error}"),
    })
}

/// Returns an error of `reqsign` in one line, with its causes and the failure of its last request.
fn sentence(error: &reqsign_core::Error, failure: &Option<String>) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    let mut add = |more: &str| {
        if !text.contains(more) {
            text = format!("{text}: {more}");
        }
    };
    while let Some(cause) = next {
        add(&cause.to_string());
        next = cause.source();
    }
    if let Some(failure) = failure {
        add(failure);
    }
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(MOST_MESSAGE).collect()
}

/// Returns the context for `reqsign`: this module's client and environment, and access to files. Also returns the
/// sender, which records failures.
fn context(platform: &Platform) -> (Context, RecordingSender) {
    let sender = RecordingSender {
        client: platform.client.clone(),
        failure: Arc::default(),
    };
    let variables = platform.environment.all();
    let environment = StaticEnv {
        home_dir: platform.environment.get("HOME").map(PathBuf::from),
        envs: variables
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    };
    let context = Context::new()
        .with_env(environment)
        .with_file_read(Files)
        .with_http_send(sender.clone());
    (context, sender)
}

/// Sends requests with this module's client, and records why the last one failed, which some providers omit from their
/// errors.
#[derive(Clone, Debug)]
struct RecordingSender {
    client: Arc<Client>,
    failure: Arc<Mutex<Option<String>>>,
}

impl RecordingSender {
    fn failure(&self) -> Option<String> {
        let failure = self.failure.lock();
        failure.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl HttpSend for RecordingSender {
    async fn http_send(&self, request: Request<Bytes>) -> reqsign_core::Result<Response<Bytes>> {
        self.client.send(request).await.map_err(|why| {
            let failure = self.failure.lock();
            *failure.unwrap_or_else(PoisonError::into_inner) = Some(why.clone());
            reqsign_core::Error::unexpected(why)
        })
    }
}

#[derive(Debug)]
struct Files;

impl FileRead for Files {
    async fn file_read(&self, path: &str) -> reqsign_core::Result<Vec<u8>> {
        tokio::fs::read(path).await.map_err(|error| {
            let kind = ErrorKind::ConfigInvalid;
            reqsign_core::Error::new(kind, format!("{path} cannot be read: {error}"))
        })
    }
}

/// Maximum number of characters of an error.
const MOST_MESSAGE: usize = 600;
