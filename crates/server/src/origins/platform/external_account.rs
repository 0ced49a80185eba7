//! Workload identity federation: Google's token service takes a token of another issuer, such as a Kubernetes cluster,
//! and issues one of its own, or has one issued for a service account (AIP-4117).

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
/// A sentence about the part of the file that cannot work, or about the service that failed.
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
        None => token.found(),
        Some(url) => {
            let url = url
                .as_str()
                .ok_or("its `service_account_impersonation_url` is no text")?;
            impersonated(platform, account, url, token.text()).await
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

/// Returns a token of the service account that the account in the file may act as.
async fn impersonated(
    platform: &Platform,
    account: &Value,
    url: &str,
    token: String,
) -> Result<Found<Bearer>, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Impersonated {
        access_token: String,
        expire_time: String,
    }
    let options = account.get("service_account_impersonation");
    let seconds = options
        .and_then(|options| options.get("token_lifetime_seconds"))
        .and_then(Value::as_u64)
        .unwrap_or(3600);
    let wanted = json!({ "scope": [SCOPE], "lifetime": format!("{seconds}s") });
    let request = Request::post(url)
        .header(CONTENT_TYPE, "application/json")
        .header(AUTHORIZATION, format!("Bearer {token}"))
        .body(wanted.to_string().into())
        .map_err(|error| format!("{url} is not a URL: {error}"))?;
    let body = platform.client.success(request).await?;
    let issued: Impersonated = serde_json::from_slice(&body)
        .map_err(|_| format!("{url}: its response is not a token in JSON"))?;
    let end: Timestamp = issued
        .expire_time
        .parse()
        .map_err(|_| format!("{url}: `{}` is no time", issued.expire_time))?;
    let end: SystemTime = end.as_system_time();
    Ok(Found::Issued(Bearer(issued.access_token), Some(end)))
}

/// What Google's own libraries ask for. What the account may do decides IAM.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
