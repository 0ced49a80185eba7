//! W3C Trace Context: what an origin hears of the trace that a request belongs to.

use crate::common::origin::Origin;
use crate::common::{House, sample};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

fn origin() -> Origin {
    let image = std::fs::read(sample("jpeg/420.jpg")).expect("a sample");
    Origin::start(image, "Cache-Control: max-age=60\r\n")
}

#[test]
fn an_origin_hears_of_the_trace_with_a_span_of_this_server() {
    let origin = origin();
    let house = House::with(&origin.keys());
    let parent = format!("00-{TRACE}-{CALLER}-01");
    let headers = [("Traceparent", &*parent), ("tracestate", "vendor=1")];
    let asked = house.request("GET", "/small_light(dw=20)/far/a.jpg", &headers);
    assert_eq!(asked.status, 200);
    let told = origin.told("traceparent").remove(0).expect("a trace");
    let fields: Vec<&str> = told.split('-').collect();
    let [version, trace, span, flags] = fields[..] else {
        panic!("four fields: {told}");
    };
    assert_eq!((version, trace, flags), ("00", TRACE, "01"));
    assert!(span.len() == 16 && span != CALLER, "{told}");
    assert_eq!(origin.told("tracestate"), [Some("vendor=1".to_owned())]);
}

#[test]
fn a_request_without_a_good_parent_begins_no_trace() {
    let origin = origin();
    let house = House::with(&origin.keys());
    let upper = format!("00-{}-{CALLER}-01", TRACE.to_uppercase());
    for (number, parent) in ["", &upper, "00-0-0-00"].iter().enumerate() {
        let headers = [("traceparent", *parent), ("tracestate", "vendor=1")];
        let target = format!("/small_light(dw=20)/far/{number}.jpg");
        assert_eq!(house.request("GET", &target, &headers).status, 200);
    }
    assert_eq!(house.get("/small_light(dw=20)/far/none.jpg").status, 200);
    for name in ["traceparent", "tracestate"] {
        assert_eq!(origin.told(name), vec![None; 4], "{name}");
    }
}

#[test]
fn a_trace_changes_nothing_about_what_is_cached() {
    let origin = origin();
    let house = House::with(&origin.keys());
    let target = "/small_light(dw=20)/far/a.jpg";
    let first = house.get(target);
    let parent = format!("00-{TRACE}-{CALLER}-00");
    let traced = house.request("GET", target, &[("traceparent", &parent)]);
    assert_eq!(traced.body, first.body);
    assert!(traced.header("cache-status").expect("it").contains("; hit"));
    assert_eq!(origin.asked(), 1);
}
