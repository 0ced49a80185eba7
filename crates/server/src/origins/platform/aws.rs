//! Amazon's providers, in the order of its SDKs. `reqsign` speaks with the services; the profiles and their chains of
//! roles are read here, because `reqsign` knows only profiles with keys in them.

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

type Answered = Result<Found<AwsKeys>, String>;

/// `AWS_ACCESS_KEY_ID` and its companions.
fn environment(platform: &Platform) -> Answered {
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

/// The profile `AWS_PROFILE` or `default` of the shared configuration files.
async fn profile(platform: &Platform) -> Answered {
    let environment = platform.environment.clone();
    let read = tokio::task::spawn_blocking(move || Profiles::read(&environment)).await;
    let profiles = read.map_err(|error| error.to_string())??;
    let named = platform.environment.get("AWS_PROFILE");
    let name = named.unwrap_or("default");
    if profiles.get(name).is_none() && named.is_none() {
        return Ok(Found::Absent("there is no profile `default`".to_owned()));
    }
    let mut visited = Vec::new();
    match of_profile(platform, &profiles, name, &mut visited).await? {
        None if named.is_some() => Err(format!("profile `{name}` has neither a role nor keys")),
        None => Ok(Found::Absent(format!(
            "profile `{name}` has neither a role nor keys"
        ))),
        Some(keys) => issued(keys),
    }
}

/// Returns the credentials of a profile: those of its role, or its keys; `None` if it has neither. `visited` are the
/// profiles whose roles are assumed with them.
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
        let own = keys_of(profile);
        // A role may name its own profile as the one with the keys.
        let is_base = visited.last().is_some_and(|last| last == name);
        let Some(role) = profile.get("role_arn").filter(|_| !is_base) else {
            return match (own, foreign_source(profile)) {
                (None, Some((key, why))) => Err(format!("profile `{name}` has `{key}`: {why}")),
                (own, _) => Ok(own),
            };
        };
        if visited.iter().any(|before| before == name) {
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
        Ok(Some(assumed(platform, profile, role, source).await?))
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

/// Returns the key of a profile whose credentials come from a program, or from a person who logs in by one, and what to
/// do instead.
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

/// Returns the credentials that `credential_source` of a profile names.
async fn of_source(platform: &Platform, source: &str) -> Result<AwsKeys, String> {
    let found = match source {
        "Environment" => environment(platform)?,
        "Ec2InstanceMetadata" => instance(platform).await?,
        "EcsContainer" => container(platform).await?,
        _ => {
            return Err(format!(
                "`credential_source = {source}` is not known; known are Environment, Ec2InstanceMetadata and EcsContainer"
            ));
        }
    };
    match found {
        Found::Issued(keys, _) => Ok(keys),
        Found::Absent(why) => Err(format!("`credential_source = {source}`: {why}")),
    }
}

/// Returns the credentials of a role that is assumed with those of `source`.
async fn assumed(
    platform: &Platform,
    profile: &Profile,
    role: &str,
    source: AwsKeys,
) -> Result<AwsKeys, String> {
    let (context, sent) = context(platform);
    let own = profile.get("region").map(str::to_owned);
    let region = own.unwrap_or_else(|| region(platform));
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
    asked(&provider, &context, &sent, &format!("role {role}")).await
}

/// A role and a token file, as Kubernetes puts them into the environment of a pod (IRSA).
async fn web_identity(platform: &Platform) -> Answered {
    let variable = |name: &str| platform.environment.get(name);
    let (file, role) = ("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN");
    match (variable(file), variable(role)) {
        (None, _) => Ok(Found::Absent(format!("{file} is not set"))),
        (Some(_), None) => Err(format!("{file} is set, and {role} is not")),
        (Some(file), Some(role)) => {
            let session = variable("AWS_ROLE_SESSION_NAME");
            issued(with_web_identity(platform, role, file.into(), session).await?)
        }
    }
}

async fn with_web_identity(
    platform: &Platform,
    role: &str,
    file: PathBuf,
    session: Option<&str>,
) -> Result<AwsKeys, String> {
    let (context, sent) = context(platform);
    let provider = AssumeRoleWithWebIdentityCredentialProvider::with_config(role.to_owned(), file)
        .with_region(region(platform))
        .with_regional_sts_endpoint()
        .with_role_session_name(session.unwrap_or("andon").to_owned());
    asked(&provider, &context, &sent, &format!("role {role}")).await
}

/// The endpoint of a container (ECS, Fargate) or of a pod (EKS Pod Identity).
async fn container(platform: &Platform) -> Answered {
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
    let (context, sent) = context(platform);
    let provider = ECSCredentialProvider::new();
    issued(asked(&provider, &context, &sent, "").await?)
}

/// The metadata service of an EC2 machine, version 2.
async fn instance(platform: &Platform) -> Answered {
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
    let (context, sent) = context(platform);
    let provider = IMDSv2CredentialProvider::new().with_endpoint(endpoint);
    issued(asked(&provider, &context, &sent, "").await?)
}

fn region(platform: &Platform) -> String {
    let named = ["AWS_REGION", "AWS_DEFAULT_REGION"]
        .into_iter()
        .find_map(|name| platform.environment.get(name));
    named.unwrap_or(&platform.region).to_owned()
}

fn issued(keys: AwsKeys) -> Answered {
    let expires_at = keys.expires_in.map(|end| end.as_system_time());
    Ok(Found::Issued(keys, expires_at))
}

/// Asks a provider of `reqsign`; `whom` is added to its errors.
async fn asked(
    provider: &impl ProvideCredential<Credential = AwsKeys>,
    context: &Context,
    sent: &Sent,
    whom: &str,
) -> Result<AwsKeys, String> {
    let keys = match provider.provide_credential(context).await {
        Ok(Some(keys)) => return Ok(keys),
        Ok(None) => "it has no credentials".to_owned(),
        Err(error) => sentence(&error, &sent.failure()),
    };
    Err(match whom {
        "" => keys,
        whom => format!("{whom}: {keys}"),
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

/// Returns what `reqsign` works with: our client, our environment, and files; and a record of what the client sent.
fn context(platform: &Platform) -> (Context, Sent) {
    let sent = Sent {
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
        .with_http_send(sent.clone());
    (context, sent)
}

/// Our client, with the reason why its last request failed, which some providers leave out of their errors.
#[derive(Clone, Debug)]
struct Sent {
    client: Arc<Client>,
    failure: Arc<Mutex<Option<String>>>,
}

impl Sent {
    fn failure(&self) -> Option<String> {
        let failure = self.failure.lock();
        failure.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl HttpSend for Sent {
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

const MOST_MESSAGE: usize = 600;
