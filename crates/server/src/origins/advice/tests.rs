use hyper::header::HeaderValue;
use proptest::prelude::*;

use super::*;

fn said(reader: Reader, status: u16, region: Option<&'static str>, body: &str) -> Option<String> {
    let mut headers = HeaderMap::new();
    headers.extend(region.map(|it| {
        let name = header::HeaderName::from_static("x-amz-bucket-region");
        (name, HeaderValue::from_static(it))
    }));
    reader.on_reply(&ErrorResponse {
        status: StatusCode::from_u16(status).unwrap(),
        headers: &headers,
        body,
    })
}

fn page(code: &str, more: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>No.</Message>{more}</Error>"
    )
}

#[test]
fn each_code_names_the_setting_and_the_way_out() {
    let (s3, gcs, azure) = (
        Reader::Operator(Store::S3),
        Reader::Operator(Store::Gcs),
        Reader::Operator(Store::Azure),
    );
    for (reader, status, code, parts) in [
        (s3, 404, "NoSuchBucket", ["no bucket", "`s3.bucket`"]),
        (
            s3,
            403,
            "InvalidAccessKeyId",
            ["access key", "`s3.access_key_env`"],
        ),
        (
            s3,
            403,
            "SignatureDoesNotMatch",
            ["signature", "`s3.secret_key_env`"],
        ),
        (s3, 403, "RequestTimeTooSkewed", ["clock", "NTP"]),
        (
            s3,
            301,
            "PermanentRedirect",
            ["another region", "`s3.region`"],
        ),
        (
            s3,
            400,
            "ExpiredToken",
            ["expired", "`s3.session_token_env`"],
        ),
        (
            s3,
            403,
            "AccessDenied",
            ["s3:GetObject", "`s3.access_key_env`"],
        ),
        (gcs, 404, "NoSuchBucket", ["no bucket", "`gcs.bucket`"]),
        (
            gcs,
            403,
            "AccessDenied",
            ["Storage Object Viewer", "`gcs.credentials_env`"],
        ),
        (
            azure,
            404,
            "ContainerNotFound",
            ["no bucket", "`azure.container`"],
        ),
        (
            azure,
            403,
            "AuthenticationFailed",
            ["signature", "`azure.access_key_env`"],
        ),
        (
            Reader::Command,
            404,
            "NoSuchBucket",
            ["after s3://", "AWS_REGION"],
        ),
        (
            Reader::Command,
            403,
            "SignatureDoesNotMatch",
            ["signature", "AWS_SECRET_ACCESS_KEY"],
        ),
    ] {
        let said = said(reader, status, None, &page(code, "")).expect(code);
        for part in parts {
            assert!(said.contains(part), "{code}: {said}");
        }
        assert!(said.ends_with(&format!("({code})")), "{code}: {said}");
    }
}

#[test]
fn the_region_is_named_if_the_store_does() {
    let s3 = Reader::Operator(Store::S3);
    let in_body = page("AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>");
    for (status, region, body) in [
        (400, None, in_body.as_str()),
        (301, Some("eu-west-1"), ""),
        (301, Some("eu-west-1"), &page("PermanentRedirect", "")),
    ] {
        let said = said(s3, status, region, body).unwrap();
        assert!(
            said.contains("the region eu-west-1: set `s3.region`"),
            "{said}"
        );
    }
    let other = said(s3, 400, None, &page("AuthorizationHeaderMalformed", "")).unwrap();
    assert_eq!(other, "the store says AuthorizationHeaderMalformed");
}

#[test]
fn a_missing_object_needs_no_advice_and_an_unknown_code_is_repeated() {
    let s3 = Reader::Operator(Store::S3);
    assert_eq!(said(s3, 404, None, &page("NoSuchKey", "")), None);
    assert_eq!(said(s3, 404, None, ""), None);
    assert_eq!(
        said(
            Reader::Operator(Store::Azure),
            404,
            None,
            &page("BlobNotFound", "")
        ),
        None
    );
    let unknown = said(s3, 400, None, &page("Odd", ""));
    assert_eq!(unknown.as_deref(), Some("the store says Odd"));
}

#[test]
fn an_error_of_the_library_is_one_line_in_our_words() {
    let denied = object_store::Error::PermissionDenied {
        path: "a".to_owned(),
        source: page("InvalidAccessKeyId", "").into(),
    };
    let said = Reader::Command.on_error(&denied);
    assert!(
        said.contains("AWS_ACCESS_KEY_ID (InvalidAccessKeyId)"),
        "{said}"
    );
    let refused =
        OriginError::Unreachable(ErrorKind::ConnectionRefused, ([127, 0, 0, 1], 9000).into());
    let failed = object_store::Error::Generic {
        store: "S3",
        source: Box::new(refused),
    };
    let said = Reader::Operator(Store::S3).on_error(&failed);
    assert_eq!(
        said,
        "the origin could not be reached: connection refused: nothing listens at 127.0.0.1:9000: check `s3.endpoint`"
    );
    let other = object_store::Error::Generic {
        store: "S3",
        source: "one\ntwo".into(),
    };
    let said = Reader::Command.on_error(&other);
    assert!(said.contains("one two") && !said.contains('\n'), "{said}");
}

proptest! {
    #[test]
    fn whatever_a_store_answers_is_one_line_of_its_words_at_most(
        status in 300..600_u16,
        body in "(<Code>|</Code>|<Region>|</|[ -~\n]){0,40}",
    ) {
        for reader in [Reader::Command, Reader::Operator(Store::S3), Reader::Operator(Store::Azure)] {
            if let Some(said) = said(reader, status, None, &body) {
                prop_assert!(!said.contains(['\n', '<']) && said.len() < 400, "{}", said);
            }
        }
    }
}
