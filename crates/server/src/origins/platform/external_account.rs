//! Workload identity federation (AIP-4117): Google's token service exchanges a token of another issuer, such as a
//! Kubernetes cluster, for one of its own, or for one of a service account.

use std::path::Path;
use std::time::SystemTime;

use hyper::Request;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use reqsign_core::time::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use url::form_urlencoded::Serializer;

use super::Bearer;
use super::chain::{Found, Platform};
use super::google::{Token, file, member, post_form};

/// Returns a token for the account that a file of type `external_account` describes.
///
/// # Errors
/// A message about the part of the file that cannot work, or about the service that failed.
pub(super) async fn token(platform: &Platform, account: &Value) -> Result<Found<Bearer>, String> {
    let source = account
        .get("credential_source")
        .ok_or("it has no `credential_source`")?;
    let subject = subject_token(platform, source).await?;
    let form = Serializer::new(String::new())
        .append_pair(
            "grant_type",
            "urn:ietf:params:oauth:grant-type:token-exchange",
        )
        .append_pair("audience", member(account, "audience")?)
        .append_pair("scope", SCOPE)
        .append_pair(
            "requested_token_type",
            "urn:ietf:params:oauth:token-type:access_token",
        )
        .append_pair("subject_token", subject.trim())
        .append_pair("subject_token_type", member(account, "subject_token_type")?)
        .finish();
    let body = post_form(platform, member(account, "token_url")?, form).await?;
    let token = Token::read(&body)?;
    match account.get("service_account_impersonation_url") {
        None => token.into_credentials(),
        Some(url) => {
            let url = url
                .as_str()
                .ok_or("its `service_account_impersonation_url` is no text")?;
            impersonate(platform, account, url, token.text()).await
        }
    }
}

/// Returns the token of the other issuer, from a file or a URL.
async fn subject_token(platform: &Platform, source: &Value) -> Result<String, String> {
    let of = |key: &str| source.get(key).and_then(Value::as_str);
    let text = match (of("file"), of("url")) {
        (Some(path), _) => file(Path::new(path)).await?,
        (None, Some(url)) => {
            let mut request = Request::get(url);
            let headers = source.get("headers").and_then(Value::as_object);
            for (name, value) in headers.into_iter().flatten() {
                request = request.header(name, value.as_str().unwrap_or_default());
            }
            let request = request.body(Default::default());
            let request = request
                .map_err(|error| format!("its `credential_source` cannot be asked: {error}"))?;
            let body = platform.client.success(request).await?;
            String::from_utf8_lossy(&body).into_owned()
        }
        (None, None) => {
            return Err(
                "its `credential_source` has neither `file` nor `url`; those of AWS, certificates and programs are not \
                 supported"
                    .to_owned(),
            );
        }
    };
    let format = source.get("format");
    let field = format.and_then(|format| format.get("subject_token_field_name"));
    match field.and_then(Value::as_str) {
        None => Ok(text),
        Some(field) => {
            let object: Value = serde_json::from_str(&text)
                .map_err(|error| format!("the subject token is not in JSON: {error}"))?;
            Ok(member(&object, field)?.to_owned())
        }
    }
}

/// Returns a token of a service account that the account in the file may impersonate.
async fn impersonate(
    platform: &Platform,
    account: &Value,
    url: &str,
    token: String,
) -> Result<Found<Bearer>, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ServiceAccountToken {
        access_token: String,
        expire_time: String,
    }
    let options = account.get("service_account_impersonation");
    let seconds = options
        .and_then(|options| options.get("token_lifetime_seconds"))
        .and_then(Value::as_u64)
        .unwrap_or(3600);
    let token_request = json!({ "scope": [SCOPE], "lifetime": format!("{seconds}s") });
    let request = Request::post(url)
        .header(CONTENT_TYPE, "application/json")
        .header(AUTHORIZATION, format!("Bearer {token}"))
        .body(token_request.to_string().into())
        .map_err(|error| format!("{url} is not a URL: {error}"))?;
    let body = platform.client.success(request).await?;
    let account_token: ServiceAccountToken = serde_json::from_slice(&body)
        .map_err(|_| format!("{url}: its response is not a token in JSON"))?;
    let end: Timestamp = account_token
        .expire_time
        .parse()
        .map_err(|_| format!("{url}: `{}` is no time", account_token.expire_time))?;
    let end: SystemTime = end.as_system_time();
    Ok(Found::Issued(Bearer(account_token.access_token), Some(end)))
}

/// The scope that Google's own libraries request. IAM decides what the account may actually do.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
