//! The trace context of the HTTP headers, for a message without one.

use ::http::{HeaderMap, HeaderName};
use trunkline_protocol::{
    Envelope, Frame, Raw, Request,
    message::{
        TraceParent,
        meta::{self, BAGGAGE, TRACEPARENT, TRACESTATE},
    },
};

const PARENT: HeaderName = HeaderName::from_static(TRACEPARENT);

/// Copies the trace context of the headers into `_meta`, unless the message has its own: headers
/// may be written by a proxy.
pub(super) fn adopt(frame: &mut Frame, headers: &HeaderMap) {
    if let Frame::One(Envelope::Request(request)) = frame
        && headers.contains_key(PARENT)
        && let Some(params) = adopted(request, headers)
    {
        request.params = Some(params);
    }
}

/// The parameters with the trace context, if they can hold `_meta`.
fn adopted(request: &Request, headers: &HeaderMap) -> Option<Raw> {
    let parent = text(headers, TRACEPARENT).filter(|text| text.parse::<TraceParent>().is_ok())?;
    let params = request.params.as_ref();
    if meta::get(params, TRACEPARENT).is_some() {
        return None;
    }
    let others = [TRACESTATE, BAGGAGE].into_iter().filter(|key| meta::get(params, key).is_none());
    let found = others.filter_map(|key| text(headers, key).map(|text| (key, text)));
    let keys = [(TRACEPARENT, parent)].into_iter().chain(found);
    // Parameters that cannot hold `_meta` are refused later.
    meta::set(params, keys.map(|(key, text)| (key, Raw::string(&text)))).ok()
}

/// All values of a header, joined: a list may be split over several.
fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let values: Option<Vec<&str>> = headers.get_all(name).iter().map(|value| value.to_str().ok()).collect();
    values.filter(|values| !values.is_empty()).map(|values| values.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_protocol::RequestId;

    const HEADER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn sent(params: &str, given: &[(&'static str, &'static str)]) -> String {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(*name, value.parse().unwrap());
        }
        let params = Some(Raw::parse(params.to_owned()).unwrap());
        let request = Request::new(RequestId::number(1), "tools/call", params);
        let mut frame = Frame::One(Envelope::Request(request));
        adopt(&mut frame, &headers);
        match frame {
            Frame::One(Envelope::Request(request)) => request.params.unwrap().to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn headers_name_the_trace_of_a_request_that_names_none() {
        let given = [("traceparent", HEADER), ("tracestate", "a=1"), ("tracestate", "b=2")];
        let want =
            format!(r#"{{"n":1.0,"_meta":{{"x":1,"traceparent":"{HEADER}","tracestate":"a=1,b=2"}}}}"#);
        assert_eq!(sent(r#"{"n":1.0,"_meta":{"x":1}}"#, &given), want);
    }

    #[test]
    fn what_the_message_says_goes_before_and_nonsense_is_left_alone() {
        let own = r#"{ "_meta":{"traceparent":"mine"}}"#;
        assert_eq!(sent(own, &[("traceparent", HEADER)]), own);
        for bad in [("traceparent", "00-junk"), ("tracestate", "a=1")] {
            assert_eq!(sent(r#"{ "n":1}"#, &[bad]), r#"{ "n":1}"#);
        }
        assert_eq!(sent("[1]", &[("traceparent", HEADER)]), "[1]");
    }
}
