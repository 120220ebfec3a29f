//! Servers that show each identity something else.

use super::{Client, Gateway, raw};
use crate::{
    GatewayOptions,
    catalog::Rules,
    gateway::{PersonalOptions, Source},
    upstream::{ConnectAs, Identity, InProcess, Upstream, UpstreamOptions},
};
use futures_util::FutureExt;
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use trunkline_protocol::{
    Call, Caller, Connect, Fault, FaultKind, Handler, Part, Reply, message::Implementation, method,
};

/// A server that lists a tool named after the caller and, if it looks at that, its tenant.
struct Mirror {
    sees_tenants: bool,
}

struct MirrorOf(String);

impl ConnectAs for Mirror {
    fn identity(&self, caller: &Caller) -> Identity {
        let tenant = caller.header("x-tenant").filter(|_| self.sees_tenants);
        Identity::of([caller.id.as_str(), tenant.unwrap_or_default()])
    }

    fn connect_as(&self, caller: &Caller) -> Arc<dyn Connect> {
        let name = format!("{}{}", caller.id, caller.header("x-tenant").unwrap_or_default());
        Arc::new(InProcess(Arc::new(MirrorOf(name))))
    }
}

impl Handler for MirrorOf {
    fn call(&self, call: Call) -> Reply {
        Reply::ready(match call.method.as_ref() {
            method::DISCOVER => Ok(raw(r#"{"capabilities":{"tools":{}}}"#)),
            method::TOOLS_LIST => {
                Ok(json!({"tools": [{"name": self.0, "inputSchema": {"type": "object"}}]}).into())
            }
            method::TOOLS_CALL => Ok(json!({"content": [], "whose": self.0}).into()),
            _ => Err(Fault::new(FaultKind::NotAvailable, "no")),
        })
    }
}

fn mirror() -> Arc<dyn Source> {
    seeing(true)
}

fn seeing(sees_tenants: bool) -> Arc<dyn Source> {
    let name = "mirror".parse().unwrap();
    Upstream::personal(name, Arc::new(Mirror { sees_tenants }), UpstreamOptions::default())
}

/// A subscription that was acknowledged.
async fn listening(client: &Client, gateway: &Gateway) -> Reply {
    let mut reply =
        client.start(gateway, method::LISTEN, &json!({"notifications": {"toolsListChanged": true}}));
    let first = reply.next().await;
    assert!(matches!(&first, Some(Part::Notification(n)) if n.method == method::ACKNOWLEDGED), "{first:?}");
    reply
}

fn gateway(most: usize) -> Gateway {
    let mut options = GatewayOptions::new(Implementation::new("gate", "1"));
    options.servers = vec![mirror()];
    options.grace = Duration::from_secs(5);
    options.personal = PersonalOptions { most, idle: Duration::from_mins(5) };
    Gateway::new(options).unwrap()
}

fn with_tenant(id: &str, tenant: &str) -> Client {
    let headers = BTreeMap::from([("x-tenant".to_owned(), tenant.to_owned())]);
    let mut client = Client::named(id, &[]);
    client.caller = Arc::new(client.caller.carrying(headers, None));
    client
}

#[tokio::test(start_paused = true)]
async fn s05_each_identity_sees_its_own_lists_which_nobody_may_cache() {
    let gateway = gateway(10);
    let (ada, bob, other) = (Client::named("ada", &[]), Client::named("bob", &[]), with_tenant("ada", "2"));
    for _ in 0..2 {
        for (client, own) in [(&ada, "mirror_ada"), (&bob, "mirror_bob"), (&other, "mirror_ada2")] {
            assert_eq!(client.names(&gateway, method::TOOLS_LIST).await, [own]);
            let called = client.ask(&gateway, method::TOOLS_CALL, json!({"name": own})).await.unwrap();
            assert_eq!(format!("mirror_{}", called.member_as::<String>("whose").unwrap()), own);
        }
    }
    bob.ask(&gateway, method::TOOLS_CALL, json!({"name": "mirror_ada"})).await.unwrap_err();
    let listed = ada.ask(&gateway, method::TOOLS_LIST, json!({})).await.unwrap();
    assert_eq!(listed.member_as::<String>("cacheScope").unwrap(), "private");
    assert_eq!(gateway.personal_catalogs(), 3);
    // New rules hold for all of them.
    let mut rules = Rules::default();
    rules.main.tools.deny.push("*_ada".to_owned());
    gateway.replace(&rules, vec![mirror()]).unwrap();
    assert_eq!(bob.names(&gateway, method::TOOLS_LIST).await, ["mirror_bob"]);
    assert!(ada.names(&gateway, method::TOOLS_LIST).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn catalogs_are_bounded_for_all_and_for_one_caller_and_end_when_unused() {
    let gateway = gateway(20);
    for number in 0..50 {
        with_tenant("ada", &number.to_string()).names(&gateway, method::TOOLS_LIST).await;
    }
    assert_eq!(gateway.personal_catalogs(), 16, "of one caller");
    for number in 0..50 {
        Client::named(&format!("caller{number}"), &[]).names(&gateway, method::TOOLS_LIST).await;
    }
    assert_eq!(gateway.personal_catalogs(), 20, "of all callers");
    // One with a call in flight is neither replaced nor ended.
    let ada = Client::named("ada", &[]);
    let busy = ada.start(&gateway, method::LISTEN, &json!({"notifications": {"toolsListChanged": true}}));
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert_eq!(gateway.personal_catalogs(), 1);
    drop(busy);
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert_eq!(gateway.personal_catalogs(), 0);
    assert_eq!(ada.names(&gateway, method::TOOLS_LIST).await, ["mirror_ada"]);
}

/// A reload does not reach a dropped catalog, so its subscriptions must end.
#[tokio::test(start_paused = true)]
async fn s05_a_reload_ends_subscriptions_of_catalogs_that_nobody_gets_any_more() {
    let gateway = gateway(10);
    let (one, two) = (with_tenant("ada", "1"), with_tenant("ada", "2"));
    let mut subscriptions = [listening(&one, &gateway).await, listening(&two, &gateway).await];
    // Both tenants become one identity, so one of the two catalogs is left over.
    gateway.replace(&Rules::default(), vec![seeing(false)]).unwrap();
    assert_eq!(gateway.personal_catalogs(), 1);
    let ended = subscriptions.each_mut().map(|reply| {
        std::iter::from_fn(|| reply.next().now_or_never().flatten())
            .any(|part| matches!(part, Part::Final(Ok(_))))
    });
    assert_eq!(ended.iter().filter(|ended| **ended).count(), 1);
    // No server differs by caller any more.
    let ada = listening(&one, &gateway).await;
    gateway.replace(&Rules::default(), Vec::new()).unwrap();
    assert_eq!(gateway.personal_catalogs(), 0);
    ada.outcome().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn l04_callers_that_only_listen_give_way_to_one_that_calls() {
    let gateway = gateway(2);
    let [ada, bob, eve] = ["ada", "bob", "eve"].map(|id| Client::named(id, &[]));
    let idle = listening(&ada, &gateway).await;
    let mut busy = listening(&bob, &gateway).await;
    let refused = eve.ask(&gateway, method::TOOLS_LIST, json!({})).await.unwrap_err();
    assert_eq!(refused.kind(), FaultKind::Overloaded, "they have just come");
    tokio::time::sleep(Duration::from_mins(2)).await;
    assert_eq!(bob.names(&gateway, method::TOOLS_LIST).await, ["mirror_bob"]);
    assert_eq!(eve.names(&gateway, method::TOOLS_LIST).await, ["mirror_eve"]);
    assert_eq!(idle.outcome().await.unwrap_err().kind(), FaultKind::Overloaded);
    let told = std::iter::from_fn(|| busy.next().now_or_never().flatten());
    assert!(!told.into_iter().any(|part| matches!(part, Part::Final(_))), "bob has just called");
    assert_eq!(gateway.personal_catalogs(), 2);
}
