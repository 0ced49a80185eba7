//! Reads the values of imgproxy's Helm chart before version 1, which had keys of its own below `features` instead of
//! variables in `env`.

use super::super::assignments::{Assignment, Leaf, below};
use super::super::document::Document;

/// Groups of keys below `features` in the values of imgproxy's chart, each with the prefix of its variables after
/// `IMGPROXY_`. For a group that is not listed, the prefix is its own name.
const GROUPS: &[(&str, &str)] = &[
    ("urlSignature", ""),
    ("server", ""),
    ("security", ""),
    ("compression", ""),
    ("formats", ""),
    ("presets", ""),
    ("aws", ""),
    ("gcs", "GCS_"),
    ("abs", "ABS_"),
    ("azure", "ABS_"),
    ("watermark", "WATERMARK_"),
    ("fallbackImage", "FALLBACK_IMAGE_"),
    ("unsharpening", "UNSHARPENING_"),
    ("smartCrop", "SMART_CROP_"),
    ("videoThumbnails", "VIDEO_THUMBNAIL_"),
    ("errorReporting", ""),
    ("logging", "LOG_"),
    ("memoryUsageTweaks", ""),
    ("miscellaneous", ""),
];

/// Keys below `features` in the values of imgproxy's chart whose variables do not follow from their names, with these
/// variables.
const OTHERS: &[(&str, &str)] = &[
    ("server.readTimeout", "IMGPROXY_READ_REQUEST_TIMEOUT"),
    ("server.writeTimeout", "IMGPROXY_WRITE_RESPONSE_TIMEOUT"),
    ("server.name", "IMGPROXY_SERVER_NAME"),
    (
        "security.allowLinkSourceAddresses",
        "IMGPROXY_ALLOW_LINK_LOCAL_SOURCE_ADDRESSES",
    ),
    (
        "formatsSupportDetection.webp.enabled",
        "IMGPROXY_ENABLE_WEBP_DETECTION",
    ),
    (
        "formatsSupportDetection.webp.enforced",
        "IMGPROXY_ENFORCE_WEBP",
    ),
    (
        "formatsSupportDetection.avif.enabled",
        "IMGPROXY_ENABLE_AVIF_DETECTION",
    ),
    (
        "formatsSupportDetection.avif.enforced",
        "IMGPROXY_ENFORCE_AVIF",
    ),
    ("clientHintsSupport.enabled", "IMGPROXY_ENABLE_CLIENT_HINTS"),
    (
        "videoThumbnails.enabled",
        "IMGPROXY_ENABLE_VIDEO_THUMBNAILS",
    ),
    ("formats.preferred", "IMGPROXY_PREFERRED_FORMATS"),
    ("formats.skipProcessing", "IMGPROXY_SKIP_PROCESSING_FORMATS"),
    ("skipProcessing.formats", "IMGPROXY_SKIP_PROCESSING_FORMATS"),
    ("presets.definitions", "IMGPROXY_PRESETS"),
    ("aws.enabled", "IMGPROXY_USE_S3"),
    ("aws.accountId", "AWS_ACCOUNT_ID"),
    ("aws.iamRoleName", "AWS_IAM_ROLE_NAME"),
    ("aws.accessKeyId", "AWS_ACCESS_KEY_ID"),
    ("aws.secretAccessKey", "AWS_SECRET_ACCESS_KEY"),
    ("gcs.enabled", "IMGPROXY_USE_GCS"),
    ("gcs.jsonKey", "IMGPROXY_GCS_KEY"),
    ("abs.enabled", "IMGPROXY_USE_ABS"),
    ("abs.accountName", "IMGPROXY_ABS_NAME"),
    ("abs.accountKey", "IMGPROXY_ABS_KEY"),
    ("azure.enabled", "IMGPROXY_USE_ABS"),
    ("azure.accountName", "IMGPROXY_ABS_NAME"),
    ("azure.accountKey", "IMGPROXY_ABS_KEY"),
    ("prometheus.enabled", "IMGPROXY_PROMETHEUS_BIND"),
];

/// Keys below `features` in the values of imgproxy's chart that are `true` or `false`, but whose variables get another
/// value for `true`, with that value.
const SWITCHES: &[(&str, &str)] = &[("prometheus.enabled", ":8081")];

/// Groups below `features` by which the values of imgproxy's chart are recognised, because no other chart has them.
const MARKS: [&str; 3] = [
    "urlSignature",
    "formatsSupportDetection",
    "clientHintsSupport",
];

/// Returns the environment variables that imgproxy's Helm chart generates from the values in `text`.
pub(super) fn variables(text: &str) -> Vec<Assignment> {
    let leaves = below(text, "features");
    let group = |leaf: &Leaf| leaf.path.split('.').next().unwrap_or_default().to_owned();
    if !leaves.iter().any(|leaf| MARKS.contains(&&*group(leaf))) {
        return Vec::new();
    }
    let is_off = |leaf: &Leaf| {
        let switch = format!("{}.enabled", group(leaf));
        let is_switch = |other: &&Leaf| other.path == switch;
        (leaves.iter().find(is_switch)).is_some_and(|switch| switch.value != "true")
    };
    let on = leaves.iter().filter(|leaf| !is_off(leaf));
    on.filter_map(|leaf| {
        let switch = SWITCHES.iter().find(|(path, _)| *path == leaf.path);
        let value = switch.map_or(&*leaf.value, |(_, value)| value);
        Some(Assignment {
            name: variable(&leaf.path)?,
            value: value.into(),
            at: leaf.at,
        })
    })
    .collect()
}

/// Adds a note on how to mount the volume with images in the values of Andon's Helm chart, if the values of imgproxy's
/// chart mount one.
pub(super) fn volume(text: &str, out: &mut Document) {
    let leaves = below(text, "persistence");
    let leaf = |path: &str| leaves.iter().find(|leaf| leaf.path == path);
    let value = |path: &str, otherwise: &str| {
        let own_value = leaf(path).map(|leaf| leaf.value.to_string());
        own_value
            .filter(|it| !it.is_empty())
            .unwrap_or_else(|| otherwise.to_owned())
    };
    let Some(switch) = leaf("enabled").filter(|leaf| leaf.value == "true") else {
        return;
    };
    let claim = value("existingClaim", "NAME");
    let path = value("mountPath", "/images");
    let part =
        leaf("subPath").map_or_else(String::new, |leaf| format!(", subPath: {}", leaf.value));
    let then = match out.of_origins("fs.root") {
        Some(_) => format!(
            "and `ANDON_ORIGIN__0__FS__ROOT=. andon config check` checks this file where there is no {path} (0: the first \
             [[origin]])"
        ),
        None => "but IMGPROXY_LOCAL_FILESYSTEM_ROOT is not set, without which imgproxy serves no `local://`: nothing here reads \
                 it either, unless an [[origin]] has it as its `fs.root`"
            .to_owned(),
    };
    let why = format!(
        "the chart of Andon mounts a claim by `pictures: {{existingClaim: {claim}, mountPath: {path}{part}}}` in its values, {then}"
    );
    out.note(switch.at, "persistence", &why);
}

/// Returns the name of the environment variable of imgproxy that its Helm chart sets from a key of the chart's values.
/// `path` is the key without `features.` at its beginning, such as `server.readTimeout`. `None` for keys without a
/// variable: some that are called `enabled`, and those below `custom`, which are names of variables already.
fn variable(path: &str) -> Option<String> {
    if let Some((_, name)) = OTHERS.iter().find(|(other, _)| *other == path) {
        return Some((*name).to_owned());
    }
    let (group, rest) = path.split_once('.').unwrap_or(("", path));
    // Keys below `custom` are variables already.
    if rest == "enabled" || group == "custom" {
        return None;
    }
    let entry = GROUPS.iter().find(|(name, _)| *name == group);
    let start = entry.map_or_else(|| format!("{}_", upper(group)), |(_, it)| (*it).to_owned());
    Some(format!("IMGPROXY_{start}{}", upper(rest)))
}

/// Converts a name such as `maxSrcFileSize` to `MAX_SRC_FILE_SIZE`.
fn upper(name: &str) -> String {
    let mut upper = String::with_capacity(name.len() + 8);
    let mut is_inside = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && is_inside {
            upper.push('_');
        }
        is_inside = !c.is_ascii_uppercase();
        upper.push(if c == '.' {
            '_'
        } else {
            c.to_ascii_uppercase()
        });
        is_inside &= c != '.';
    }
    upper
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> Vec<(String, String)> {
        let all = variables(text).into_iter();
        all.map(|it| (it.name, it.value.as_str().unwrap_or_default().to_owned()))
            .collect()
    }

    #[test]
    fn keys_are_the_variables_that_the_chart_makes_of_them() {
        let text = "\
image: {repo: darthsim}
features:
  urlSignature: {enabled: true, key: ab, salt: cd, signatureSize: 16}
  server: {readTimeout: 10, pathPrefix: /img, soReuseport: false}
  security: {maxSrcFileSize: 1000, sourceUrlEncryptionKey: ''}
  formatsSupportDetection:
    webp: {enabled: true, enforced: false}
  presets: {definitions: 'a=w:1', onlyPresets: true}
  aws: {enabled: false, accessKeyId: X}
  gcs: {enabled: true, endpoint: http://g}
  prometheus: {enabled: true, namespace: images}
  clientHintsSupport: {enabled:}
";
        let expected = [
            ("IMGPROXY_KEY", "ab"),
            ("IMGPROXY_SALT", "cd"),
            ("IMGPROXY_SIGNATURE_SIZE", "16"),
            ("IMGPROXY_READ_REQUEST_TIMEOUT", "10"),
            ("IMGPROXY_PATH_PREFIX", "/img"),
            ("IMGPROXY_SO_REUSEPORT", "false"),
            ("IMGPROXY_MAX_SRC_FILE_SIZE", "1000"),
            ("IMGPROXY_SOURCE_URL_ENCRYPTION_KEY", ""),
            ("IMGPROXY_ENABLE_WEBP_DETECTION", "true"),
            ("IMGPROXY_ENFORCE_WEBP", "false"),
            ("IMGPROXY_PRESETS", "a=w:1"),
            ("IMGPROXY_ONLY_PRESETS", "true"),
            ("IMGPROXY_USE_GCS", "true"),
            ("IMGPROXY_GCS_ENDPOINT", "http://g"),
            ("IMGPROXY_PROMETHEUS_BIND", ":8081"),
            ("IMGPROXY_PROMETHEUS_NAMESPACE", "images"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(set(text), expected);
        let indented: String = text.lines().map(|line| format!("  {line}\n")).collect();
        assert_eq!(set(&format!("imgproxy:\n{indented}")), expected);
        assert_eq!(variables(text)[0].at.line, 3);
        let off = text.replace("prometheus: {enabled: true", "prometheus: {enabled: false");
        assert!(
            set(&off)
                .iter()
                .all(|(name, _)| !name.contains("PROMETHEUS"))
        );
    }

    #[test]
    fn features_of_other_charts_are_none_of_imgproxy() {
        assert_eq!(set("features:\n  server: {readTimeout: 10}\n"), []);
        assert_eq!(set("features: [a, b]\n"), []);
    }

    #[test]
    fn names_are_written_in_capitals() {
        for (name, is) in [
            ("maxSrcFileSize", "MAX_SRC_FILE_SIZE"),
            ("ttl", "TTL"),
            ("bugsnag.key", "BUGSNAG_KEY"),
            ("useS3Path", "USE_S3_PATH"),
            ("baseURL", "BASE_URL"),
        ] {
            assert_eq!(upper(name), is);
        }
    }
}
