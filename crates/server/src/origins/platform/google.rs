//! Google's credential providers, in the order of its libraries: the credentials file, then the metadata server.

use std::path::Path;
use std::time::{Duration, SystemTime};

use hyper::Request;
use hyper::header::CONTENT_TYPE;
use object_store::gcp::GoogleCloudStorageBuilder;
use serde::Deserialize;
use serde_json::Value;
use url::form_urlencoded::Serializer;

use super::Bearer;
use super::chain::{Found, Platform, Provider};
use super::external_account;

pub(super) const PROVIDERS: &[Provider<Bearer>] = &[
    Provider {
        name: "credentials file",
        ask: |platform| Box::pin(credentials_file(platform)),
    },
    Provider {
        name: "metadata server",
        ask: |platform| Box::pin(metadata_server(platform)),
    },
];

/// A token in the format of OAuth 2.0 services (RFC 6749, 5.1).
#[derive(Deserialize)]
pub(super) struct Token {
    access_token: String,
    /// Lifetime in seconds. Some services send it as text.
    expires_in: Value,
}

impl Token {
    /// Parses the token in a response.
    ///
    /// # Errors
    /// A message about the response, without the token.
    pub(super) fn read(body: &[u8]) -> Result<Self, String> {
        // serde's own message quotes the input, which may be the token.
        serde_json::from_slice(body).map_err(|_| "its response is not a token in JSON".to_owned())
    }

    /// Returns the token as credentials with the time at which they expire.
    pub(super) fn into_credentials(self) -> Result<Found<Bearer>, String> {
        let text = self.expires_in.as_str().map(str::parse);
        let seconds = self.expires_in.as_u64().or(text.and_then(Result::ok));
        let seconds = seconds.ok_or("its token does not say when it expires")?;
        let end = SystemTime::now() + Duration::from_secs(seconds);
        Ok(Found::Issued(Bearer(self.access_token), Some(end)))
    }

    pub(super) fn text(self) -> String {
        self.access_token
    }
}

/// Returns a token for the account in the file `GOOGLE_APPLICATION_CREDENTIALS`, or in the file that `gcloud auth
/// application-default login` writes.
async fn credentials_file(platform: &Platform) -> Result<Found<Bearer>, String> {
    let variable = platform.environment.get("GOOGLE_APPLICATION_CREDENTIALS");
    let Some(file) = platform.environment.google_file() else {
        return Ok(Found::Absent(
            "GOOGLE_APPLICATION_CREDENTIALS is not set".to_owned(),
        ));
    };
    let text = match tokio::fs::read_to_string(&file).await {
        Ok(text) => text,
        Err(_) if variable.is_none() => {
            let why = "GOOGLE_APPLICATION_CREDENTIALS is not set, and gcloud has left no file";
            return Ok(Found::Absent(why.to_owned()));
        }
        Err(error) => return Err(format!("{} cannot be read: {error}", file.display())),
    };
    let of_file = |why: String| format!("{}: {why}", file.display());
    let result = of_account(platform, &text).await;
    result.map_err(of_file)
}

async fn of_account(platform: &Platform, text: &str) -> Result<Found<Bearer>, String> {
    let account: Value =
        serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    match account.get("type").and_then(Value::as_str) {
        Some("service_account") => service_account(text).await,
        Some("external_account") => external_account::token(platform, &account).await,
        Some("authorized_user") => authorized_user(platform, &account).await,
        other => Err(format!(
            "its `type` is {}; known are service_account, external_account and authorized_user",
            other.unwrap_or("missing")
        )),
    }
}

/// Returns a token that is signed with the key of a service account, without any request.
async fn service_account(text: &str) -> Result<Found<Bearer>, String> {
    let store = GoogleCloudStorageBuilder::new()
        // Tokens are for all buckets.
        .with_bucket_name("any")
        .with_service_account_key(text)
        .with_http_connector(super::object_store::NoConnection)
        .build()
        .map_err(|error| error.to_string())?;
    let token = store.credentials().get_credential().await;
    let token = token.map_err(|error| error.to_string())?;
    let end = SystemTime::now() + SIGNED_FOR;
    Ok(Found::Issued(Bearer(token.bearer.clone()), Some(end)))
}

/// Returns a token of a user who logged in with `gcloud`.
async fn authorized_user(platform: &Platform, account: &Value) -> Result<Found<Bearer>, String> {
    let of = |key: &str| member(account, key);
    let form = Serializer::new(String::new())
        .append_pair("grant_type", "refresh_token")
        .append_pair("client_id", of("client_id")?)
        .append_pair("client_secret", of("client_secret")?)
        .append_pair("refresh_token", of("refresh_token")?)
        .finish();
    let uri = account.get("token_uri").and_then(Value::as_str);
    let uri = uri.unwrap_or("https://oauth2.googleapis.com/token");
    let body = post_form(platform, uri, form).await?;
    Token::read(&body)?.into_credentials()
}

/// Returns a token from the metadata server of a machine, a pod or a function.
async fn metadata_server(platform: &Platform) -> Result<Found<Bearer>, String> {
    let names = ["GCE_METADATA_HOST", "GCE_METADATA_ROOT"];
    let variable = names.iter().find_map(|name| platform.environment.get(name));
    let host = variable.unwrap_or("metadata.google.internal");
    let request = Request::get(format!(
        "http://{host}/computeMetadata/v1/instance/service-accounts/default/token"
    ))
    .header("Metadata-Flavor", "Google")
    .body(Default::default())
    .map_err(|error| format!("{host} is not a host: {error}"))?;
    let body = platform.client.success(request).await?;
    Token::read(&body)?.into_credentials()
}

/// Sends a form and returns the body of the successful response.
pub(super) async fn post_form(
    platform: &Platform,
    uri: &str,
    form: String,
) -> Result<bytes::Bytes, String> {
    let request = Request::post(uri)
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(form.into())
        .map_err(|error| format!("{uri} is not a URL: {error}"))?;
    platform.client.success(request).await
}

/// Returns the text of a member of a JSON object.
pub(super) fn member<'a>(object: &'a Value, key: &str) -> Result<&'a str, String> {
    let text = object.get(key).and_then(Value::as_str);
    text.ok_or_else(|| format!("it has no `{key}`"))
}

/// Reads a text file, such as one with a token or a JSON object.
pub(super) async fn file(path: &Path) -> Result<String, String> {
    let text = tokio::fs::read_to_string(path).await;
    text.map_err(|error| format!("{} cannot be read: {error}", path.display()))
}

/// How long a token that is signed with a service account's key is valid, less a minute for clocks that differ.
const SIGNED_FOR: Duration = Duration::from_secs(3540);
