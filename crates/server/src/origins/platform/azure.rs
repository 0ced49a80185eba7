//! Azure's credential providers, in the order of its SDKs: a client secret, the token file of a Kubernetes pod, and the
//! managed identity of an app or a machine.

use std::path::Path;
use std::time::{Duration, SystemTime};

use hyper::Request;
use serde_json::Value;
use url::form_urlencoded::Serializer;

use super::Bearer;
use super::chain::{Found, Platform, Provider};
use super::google::{Token, file, member, post_form};

pub(super) const PROVIDERS: &[Provider<Bearer>] = &[
    Provider {
        name: "client secret",
        ask: |platform| Box::pin(client_secret(platform)),
    },
    Provider {
        name: "workload identity",
        ask: |platform| Box::pin(workload_identity(platform)),
    },
    Provider {
        name: "app identity",
        ask: |platform| Box::pin(app_identity(platform)),
    },
    Provider {
        name: "machine identity",
        ask: |platform| Box::pin(machine_identity(platform)),
    },
];

type ProviderResult = Result<Found<Bearer>, String>;

/// Returns a token for the secret in `AZURE_CLIENT_SECRET`.
async fn client_secret(platform: &Platform) -> ProviderResult {
    let Some(secret) = platform.environment.get("AZURE_CLIENT_SECRET") else {
        return Ok(Found::Absent("AZURE_CLIENT_SECRET is not set".to_owned()));
    };
    of_tenant(platform, &[("client_secret", secret)]).await
}

/// Returns a token for the token file that Kubernetes provides in a pod.
async fn workload_identity(platform: &Platform) -> ProviderResult {
    let Some(path) = platform.environment.get("AZURE_FEDERATED_TOKEN_FILE") else {
        return Ok(Found::Absent(
            "AZURE_FEDERATED_TOKEN_FILE is not set".to_owned(),
        ));
    };
    let assertion = file(Path::new(path)).await?;
    let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    let proof = [
        ("client_assertion_type", kind),
        ("client_assertion", assertion.trim()),
    ];
    of_tenant(platform, &proof).await
}

/// Returns a token for the application `AZURE_CLIENT_ID` of `AZURE_TENANT_ID`, which authenticates with the form
/// parameters `proof`.
async fn of_tenant(platform: &Platform, proof: &[(&str, &str)]) -> ProviderResult {
    let variable = |name: &str| {
        let value = platform.environment.get(name);
        value.ok_or_else(|| format!("{name} is not set"))
    };
    let authority = platform.environment.get("AZURE_AUTHORITY_HOST");
    let authority = authority.unwrap_or("https://login.microsoftonline.com");
    let form = Serializer::new(String::new())
        .append_pair("grant_type", "client_credentials")
        .append_pair("scope", "https://storage.azure.com/.default")
        .append_pair("client_id", variable("AZURE_CLIENT_ID")?)
        .extend_pairs(proof)
        .finish();
    let uri = format!(
        "{}/{}/oauth2/v2.0/token",
        authority.trim_end_matches('/'),
        variable("AZURE_TENANT_ID")?
    );
    let body = post_form(platform, &uri, form).await?;
    Token::read(&body)?.into_credentials()
}

/// Returns a token of the managed identity of App Service, Container Apps and Functions.
async fn app_identity(platform: &Platform) -> ProviderResult {
    let variable = |name: &str| platform.environment.get(name);
    let (Some(endpoint), Some(secret)) =
        (variable("IDENTITY_ENDPOINT"), variable("IDENTITY_HEADER"))
    else {
        return Ok(Found::Absent("IDENTITY_ENDPOINT is not set".to_owned()));
    };
    let header = ("X-IDENTITY-HEADER", secret);
    managed_identity(platform, endpoint, "2019-08-01", header).await
}

/// Returns a token of the managed identity of a machine, from its metadata service.
async fn machine_identity(platform: &Platform) -> ProviderResult {
    let host = platform
        .environment
        .get("AZURE_POD_IDENTITY_AUTHORITY_HOST");
    let host = host.unwrap_or("http://169.254.169.254");
    let endpoint = format!(
        "{}/metadata/identity/oauth2/token",
        host.trim_end_matches('/')
    );
    managed_identity(platform, &endpoint, "2018-02-01", ("Metadata", "true")).await
}

async fn managed_identity(
    platform: &Platform,
    endpoint: &str,
    version: &str,
    header: (&str, &str),
) -> ProviderResult {
    let client = platform.environment.get("AZURE_CLIENT_ID");
    let query = Serializer::new(String::new())
        .append_pair("api-version", version)
        .append_pair("resource", "https://storage.azure.com/")
        .extend_pairs(client.map(|client| ("client_id", client)))
        .finish();
    let request = Request::get(format!("{endpoint}?{query}"))
        .header(header.0, header.1)
        .body(Default::default())
        .map_err(|error| format!("{endpoint} is not a URL: {error}"))?;
    let body = platform.client.success(request).await?;
    let token: Value = serde_json::from_slice(&body)
        .map_err(|error| format!("its response is not a token in JSON: {error}"))?;
    // The time is in seconds since 1970, as a number or as text.
    let end = token.get("expires_on");
    let text = end.and_then(Value::as_str).map(str::parse);
    let end = end.and_then(Value::as_u64).or(text.and_then(Result::ok));
    let end = end.ok_or("its token does not say when it expires")?;
    let end = SystemTime::UNIX_EPOCH + Duration::from_secs(end);
    let token = member(&token, "access_token")?.to_owned();
    Ok(Found::Issued(Bearer(token), Some(end)))
}
