//! Requests of legacy servers: over HTTP on the stream of the session instead of that of the call,
//! and invalid answers.

use crate::{
    faults::{run, text},
    hostile::curious,
    support::*,
};
use serde_json::{Value, json};
use std::collections::HashMap;
use trunkline_client::{ConnectOptions, RevisionChoice, Target};
use trunkline_gateway::upstream::UpstreamOptions;
use trunkline_protocol::{Call, Era, FaultKind, Handler, Part, Question, Reply, message::meta};
use trunkline_testkit::script::{Events, HttpPeer, Incoming};

/// The server's part: sessions, each with its own GET stream.
struct Web {
    peer: HttpPeer,
    streams: HashMap<String, Events>,
    begun: usize,
}

impl Web {
    /// Handles requests until one with this label arrives, which the test answers.
    async fn until(&mut self, label: &str) -> Incoming {
        loop {
            let request = self.peer.next().await;
            let found = request.label();
            match found.as_str() {
                found if found == label => return request,
                "POST initialize" => self.introduce(request).await,
                "POST notifications/initialized" => request.status(202).await,
                "POST tools/list" => request.result(&tools()).await,
                "DELETE" => request.status(200).await,
                "GET" => {
                    let session = session_of(&request);
                    self.streams.insert(session, request.events().await);
                }
                other => panic!("{other}"),
            }
        }
    }

    async fn introduce(&mut self, request: Incoming) {
        self.begun += 1;
        let introduction = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "scripted", "version": "1"},
        });
        let body = request.asked().result(&introduction);
        let session = format!("session-{}", self.begun);
        let headers = [("content-type", "application/json"), ("mcp-session-id", session.as_str())];
        request.answer(200, &headers, body).await;
    }

    /// Sends a request on the GET stream of the call's session.
    async fn ask(&mut self, call: &Incoming, id: &str) {
        let session = session_of(call);
        if !self.streams.contains_key(&session) {
            let request = self.until("GET").await;
            assert_eq!(session_of(&request), session);
            self.streams.insert(session.clone(), request.events().await);
        }
        let params = json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
        let question = json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params});
        self.streams.get_mut(&session).unwrap().message(question.to_string()).await;
    }

    /// Waits for the answer to a request.
    async fn answered(&mut self) -> Value {
        let request = self.until("POST answer").await;
        let answer = request.asked().value();
        request.status(202).await;
        answer
    }
}

fn session_of(request: &Incoming) -> String {
    request.header("mcp-session-id").unwrap().to_owned()
}

fn calling(tool: &str) -> Call {
    let mut call = call_by("ada", tool, &json!({}));
    let capabilities = json!({"elicitation": {}}).into();
    let params = call.params.take();
    call.params = Some(meta::set(params.as_ref(), [(meta::CLIENT_CAPABILITIES, capabilities)]).unwrap());
    call
}

async fn question(reply: &mut Reply) -> Question {
    match reply.next().await {
        Some(Part::Question(question)) => question,
        other => panic!("{other:?}"),
    }
}

#[test]
fn whoever_does_not_answer_holds_up_nobody_else_where_questions_come_on_the_sessions_stream() {
    run(async {
        let mut web = Web { peer: HttpPeer::start().await, streams: HashMap::new(), begun: 0 };
        let connect = ConnectOptions { speak: RevisionChoice::Era(Era::Legacy), ..ConnectOptions::default() };
        let target = Target::url(&web.peer.url()).unwrap();
        let upstream = start("web", target, connect, UpstreamOptions::default());
        let mut first = upstream.call(calling("work"));
        let one = async {
            let call = web.until("POST tools/call").await;
            web.ask(&call, "q-1").await;
            call
        };
        let (forgotten, first_call) = tokio::join!(question(&mut first), one);
        for number in 2..5 {
            let mut next = upstream.call(calling("other"));
            let id = format!("q-{number}");
            let server = async {
                let call = web.until("POST tools/call").await;
                web.ask(&call, &id).await;
                call
            };
            let (asked, call) = tokio::join!(question(&mut next), server);
            assert_ne!(session_of(&call), session_of(&first_call), "that one waits for an answer");
            asked.answer(Ok(json!({"action": "decline"}).into()));
            assert_eq!(web.answered().await["id"], id);
            call.result(&text("fine")).await;
            next.outcome().await.unwrap();
        }
        forgotten.answer(Ok(json!({"action": "accept", "content": {}}).into()));
        assert_eq!(web.answered().await["id"], "q-1");
        first_call.result(&text("at last")).await;
        assert!(first.outcome().await.unwrap().as_str().contains("at last"));
    });
}

#[test]
fn what_cannot_be_an_answer_reaches_no_server() {
    run(async {
        let (_peer, upstream, mut line) = curious().await;
        for answers in [json!(5), json!(null), json!([]), json!({"user_name": 5})] {
            let call =
                Call::new("tools/call", Some(json!({"name": "work", "inputResponses": answers}).into()));
            let fault = upstream.call(call).outcome().await.unwrap_err();
            assert_eq!(fault.kind(), FaultKind::InvalidRequest, "{answers}: {fault}");
        }
        let asked = json!({"name": "work", "inputResponses": {"unasked": {}}});
        let call = begin(&upstream, Call::new("tools/call", Some(asked.into())));
        let asked = line.expect("tools/call").await;
        assert!(asked.params.get("inputResponses").is_none(), "a legacy server knows nothing of them");
        line.answer(&asked, text("fine")).await;
        call.await.unwrap().unwrap();
        upstream.stop().await;
    });
}
