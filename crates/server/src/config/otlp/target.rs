//! Where telemetry is sent, and with what: the keys of `[otlp]` and the standard variables of the environment. A key
//! overrides the variable for the same thing.

use std::collections::BTreeMap;

use hyper::HeaderMap;
use percent_encoding::percent_decode_str;
use url::Url;

use super::{CollectorUrl, OtlpConfig, header};
use crate::config::{Config, ConfigError, Environment, Listen};

/// A collector, and the data that each message to it contains about the sender.
#[derive(Clone, Debug)]
pub(crate) struct OtlpTarget {
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    /// Attributes of the resource that telemetry is about, which is this server.
    pub(crate) resource: BTreeMap<String, String>,
}

impl OtlpTarget {
    /// Returns the collector that the configuration or the environment names, if any does. If only variables name one, and
    /// one of them is invalid, returns `None`: they may be meant for every program of a cluster, and OpenTelemetry's
    /// specification requires that invalid ones are ignored with a warning (see [`otlp_warnings`]).
    ///
    /// # Errors
    /// If a key is invalid, or if `otlp.url` is set and a variable is invalid. The error contains no values of headers.
    pub(crate) fn of(
        config: &Config,
        environment: &Environment,
    ) -> Result<Option<Self>, ConfigError> {
        match Self::read(config, environment) {
            Err(_) if config.otlp.url.is_none() => Ok(None),
            result => result,
        }
    }

    fn read(config: &Config, environment: &Environment) -> Result<Option<Self>, ConfigError> {
        if is_disabled(environment) {
            return Ok(None);
        }
        let url = match (&config.otlp.url, environment.get(ENDPOINT)) {
            (Some(url), _) => Some(url.clone()),
            (None, Some(text)) if !wants_grpc(environment) => {
                let read = CollectorUrl::try_from(text.to_owned());
                Some(read.map_err(|why| of_variable(ENDPOINT, &why))?)
            }
            (None, _) => None,
        };
        let Some(CollectorUrl(url)) = url else {
            return Ok(None);
        };
        Ok(Some(Self {
            url,
            headers: headers(&config.otlp, environment)?,
            resource: resource(config, environment)?,
        }))
    }
}

/// Returns warnings about a collector that is not used, or can probably not be reached.
pub(crate) fn otlp_warnings(config: &Config, environment: &Environment) -> Vec<String> {
    let mut warnings = Vec::new();
    if is_disabled(environment) {
        return warnings;
    }
    if config.otlp.url.is_none()
        && let Err(why) = OtlpTarget::read(config, environment)
    {
        warnings.push(format!("no telemetry is sent: {why}"));
    }
    let config = &config.otlp;
    let endpoint = config.url.as_ref().map(|url| url.0.to_string());
    let endpoint = endpoint.or_else(|| environment.get(ENDPOINT).map(str::to_owned));
    if config.url.is_none() && endpoint.is_some() && wants_grpc(environment) {
        warnings.push(format!(
            "{ENDPOINT} is not used, because {PROTOCOL} is grpc and telemetry is sent over HTTP; set `otlp.url` to the collector's \
             port for HTTP, which is usually 4318"
        ));
    } else if endpoint.is_some_and(|url| url.trim_end_matches('/').ends_with(":4317")) {
        warnings.push(
            "the collector's port 4317 is usually for gRPC; telemetry is sent over HTTP, for which it is usually 4318"
                .to_owned(),
        );
    }
    warnings
}

/// Whether the environment switches all telemetry off.
fn is_disabled(environment: &Environment) -> bool {
    let is_true = |text: &str| text.trim().eq_ignore_ascii_case("true");
    environment.get(DISABLED).is_some_and(is_true)
}

/// Whether the environment asks for gRPC, so that its endpoint is no address for HTTP.
fn wants_grpc(environment: &Environment) -> bool {
    environment.get(PROTOCOL) == Some("grpc")
}

fn headers(config: &OtlpConfig, environment: &Environment) -> Result<HeaderMap, ConfigError> {
    let mut headers = HeaderMap::new();
    let items = pairs(environment.get(HEADERS).unwrap_or_default());
    let items = items.map_err(|why| of_variable(HEADERS, &why))?;
    for (index, (name, value)) in items.iter().enumerate() {
        // The error does not contain the name, which may be part of a secret if the list has another format.
        let wrong = |_| format!("item {} is no header that can be set", index + 1);
        let read = header(name, value).map_err(wrong);
        let (name, value) = read.map_err(|why| of_variable(HEADERS, &why))?;
        headers.insert(name, value);
    }
    for (name, value) in &config.headers.0 {
        let read = header(name, value.reveal());
        let (name, value) = read.map_err(|why| ConfigError::new("otlp.headers", why))?;
        headers.insert(name, value);
    }
    for (name, variable) in &config.headers_env {
        let key = format!("otlp.headers_env.{name}");
        let value = environment.get(variable).ok_or_else(|| {
            let why = format!("the environment variable {variable} is not set");
            ConfigError::new(&*key, why)
        })?;
        let read = header(name, value);
        let (name, value) = read.map_err(|why| ConfigError::new(&*key, why))?;
        headers.insert(name, value);
    }
    Ok(headers)
}

fn resource(
    config: &Config,
    environment: &Environment,
) -> Result<BTreeMap<String, String>, ConfigError> {
    let mut attributes = BTreeMap::from([
        (SERVICE_NAME.to_owned(), "andon".to_owned()),
        (
            "service.version".to_owned(),
            env!("CARGO_PKG_VERSION").to_owned(),
        ),
        ("service.instance.id".to_owned(), instance(config)),
    ]);
    if let Some(text) = environment.get(ATTRIBUTES) {
        attributes.extend(pairs(text).map_err(|why| of_variable(ATTRIBUTES, &why))?);
    }
    if let Some(name) = environment.get(NAME) {
        attributes.insert(SERVICE_NAME.to_owned(), name.to_owned());
    }
    attributes.extend(config.otlp.resource.clone());
    Ok(attributes)
}

/// Returns the identifier of this server among servers of the same name: the host's name, and the port or socket that it
/// listens on. It stays the same after a restart, so that series of metrics continue.
fn instance(config: &Config) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let place = match config.listen.first() {
        Some(Listen::Tcp(address)) => address.rsplit(':').next().unwrap_or_default().to_owned(),
        Some(Listen::Unix(path)) => path.display().to_string(),
        None => String::new(),
    };
    format!("{}:{place}", host.trim())
}

/// Parses `name=value,name=value`, in which values are percent-encoded (the format of W3C Baggage).
///
/// # Errors
/// A sentence without the values, which may be secrets.
fn pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    let items = text.split(',').map(str::trim).enumerate();
    let items = items.filter(|(_, item)| !item.is_empty());
    let pair = |(index, item): (usize, &str)| {
        let number = index + 1;
        let (name, value) = item.split_once('=').ok_or_else(|| {
            format!("item {number} has no `=`; write it like \"name=value,other=value\"")
        })?;
        let value = percent_decode_str(value.trim()).decode_utf8();
        let value = value.map_err(|_| format!("the value of item {number} is not UTF-8"))?;
        Ok((name.trim().to_owned(), value.into_owned()))
    };
    items.map(pair).collect()
}

fn of_variable(name: &str, why: &str) -> ConfigError {
    ConfigError::new("otlp", format!("environment variable {name}: {why}"))
}

const SERVICE_NAME: &str = "service.name";

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
const NAME: &str = "OTEL_SERVICE_NAME";
const ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";
const DISABLED: &str = "OTEL_SDK_DISABLED";

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    fn target(text: &str, variables: &[(&str, &str)]) -> Result<Option<OtlpTarget>, String> {
        let config = Config::parse(text, Path::new("/etc/andon")).unwrap();
        let target = OtlpTarget::of(&config, &Environment::of(variables));
        target.map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_is_sent_unless_a_collector_is_named() {
        assert!(
            target("", &[(HEADERS, "a=b"), (NAME, "c")])
                .unwrap()
                .is_none()
        );
        let named = [(ENDPOINT, "http://a.test:4318"), (DISABLED, "TRUE")];
        assert!(target("", &named).unwrap().is_none());
        let url = target("", &named[..1]).unwrap().unwrap().url;
        assert_eq!(url.as_str(), "http://a.test:4318/");
    }

    #[test]
    fn keys_override_variables() {
        let text = "listen = [\"127.0.0.1:8081\"]\n[otlp]\nurl = \"https://b.test\"\nheaders = { X-One = \"b\" }\n\
                    headers_env = { x-two = \"TWO\" }\nresource = { \"service.name\" = \"b\" }\n";
        let variables = [
            (ENDPOINT, "http://a.test"),
            (PROTOCOL, "grpc"),
            (HEADERS, "x-one=a, x-two=a,x-three=a%20b=,"),
            ("TWO", "b"),
            (NAME, "a"),
            (
                ATTRIBUTES,
                "service.name=z,deployment.environment.name=live",
            ),
        ];
        let target = target(text, &variables).unwrap().unwrap();
        assert_eq!(target.url.as_str(), "https://b.test/");
        let header = |name: &str| target.headers[name].to_str().unwrap().to_owned();
        assert_eq!((header("x-one"), header("x-two")), ("b".into(), "b".into()));
        assert_eq!(header("x-three"), "a b=");
        let shown = format!("{target:?}");
        assert!(!shown.contains("a b="), "{shown}");
        let attribute = |name: &str| target.resource[name].clone();
        assert_eq!(attribute("service.name"), "b");
        assert_eq!(attribute("deployment.environment.name"), "live");
        assert_eq!(attribute("service.version"), env!("CARGO_PKG_VERSION"));
        assert!(attribute("service.instance.id").ends_with(":8081"));
    }

    #[test]
    fn an_endpoint_for_grpc_is_not_used_and_warned_of() {
        let variables = [(ENDPOINT, "http://a.test:4317"), (PROTOCOL, "grpc")];
        assert!(target("", &variables).unwrap().is_none());
        for count in [1, 2] {
            let environment = Environment::of(&variables[..count]);
            let warnings = otlp_warnings(&Config::default(), &environment);
            assert!(warnings.concat().contains("4318"), "{warnings:?}");
        }
        let off = [variables[0], (DISABLED, "true")];
        let warnings = otlp_warnings(&Config::default(), &Environment::of(&off));
        assert!(warnings.is_empty(), "{warnings:?}");
    }

    #[test]
    fn an_error_names_key_and_variable_and_no_secret() {
        let url = "[otlp]\nurl = \"http://a.test\"\n";
        let keys = format!("{url}headers_env = {{ x-key = \"KEY\" }}\n");
        for (text, variable, said) in [
            (&*keys, ("OTHER", "s3cret"), "variable KEY is not set"),
            (&keys, ("KEY", "s3cret\n"), "`otlp.headers_env.x-key`"),
            (url, (HEADERS, "s3cret"), "item 1 has no `=`"),
            (url, (HEADERS, "a=b,host=s3cret"), "item 2 is no header"),
            (
                url,
                (HEADERS, "Authorization: Bearer s3cret="),
                "item 1 is no header",
            ),
            (url, (HEADERS, "a=s3cret%ff"), "item 1 is not UTF-8"),
            (url, (ATTRIBUTES, "s3cret"), ATTRIBUTES),
        ] {
            let error = target(text, &[variable]).unwrap_err();
            assert!(error.contains(said) && !error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn variables_alone_that_cannot_work_are_warned_of_and_ignored() {
        for (variables, said) in [
            (&[(ENDPOINT, "http://u:s3cret@a.test")][..], ENDPOINT),
            (&[(ENDPOINT, "collector:4317")], ENDPOINT),
            (&[(ENDPOINT, "http://a.test"), (HEADERS, "s3cret")], HEADERS),
        ] {
            assert!(target("", variables).unwrap().is_none(), "{variables:?}");
            let warnings = otlp_warnings(&Config::default(), &Environment::of(variables)).concat();
            assert!(warnings.contains(said), "{warnings}");
            assert!(!warnings.contains("s3cret"), "{warnings}");
        }
    }

    proptest! {
        #[test]
        fn any_list_is_read_without_a_panic(text in any::<String>()) {
            let _ = pairs(&text);
        }

        #[test]
        fn what_was_written_is_read(all in proptest::collection::vec(("[a-z.]{1,8}", "\\PC{0,8}"), 0..4)) {
            let written = |(name, value): &(String, String)| {
                format!("{name}={}", percent_encoding::utf8_percent_encode(value, percent_encoding::NON_ALPHANUMERIC))
            };
            let text: Vec<_> = all.iter().map(written).collect();
            prop_assert_eq!(pairs(&text.join(",")).unwrap(), all);
        }
    }
}
