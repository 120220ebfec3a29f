//! The matrix: the tests of every cell.

/// A module of that name, with a test for every front, pair of eras and transport.
macro_rules! every_cell {
    ($about:ident, $play:path) => {
        mod $about {
            use crate::site::{Cell, Front, Upstream};
            use trunkline_protocol::{Era, Revision};

            every_cell! { $play;
                bridge_legacy_client_legacy_server_stdio: Bridge, NEWEST_LEGACY, Legacy, Stdio;
                bridge_legacy_client_legacy_server_http: Bridge, NEWEST_LEGACY, Legacy, Http;
                bridge_legacy_client_modern_server_stdio: Bridge, NEWEST_LEGACY, Modern, Stdio;
                bridge_legacy_client_modern_server_http: Bridge, NEWEST_LEGACY, Modern, Http;
                bridge_modern_client_legacy_server_stdio: Bridge, NEWEST, Legacy, Stdio;
                bridge_modern_client_legacy_server_http: Bridge, NEWEST, Legacy, Http;
                bridge_modern_client_modern_server_stdio: Bridge, NEWEST, Modern, Stdio;
                bridge_modern_client_modern_server_http: Bridge, NEWEST, Modern, Http;
                gateway_legacy_client_legacy_server_stdio: Gateway, NEWEST_LEGACY, Legacy, Stdio;
                gateway_legacy_client_legacy_server_http: Gateway, NEWEST_LEGACY, Legacy, Http;
                gateway_legacy_client_modern_server_stdio: Gateway, NEWEST_LEGACY, Modern, Stdio;
                gateway_legacy_client_modern_server_http: Gateway, NEWEST_LEGACY, Modern, Http;
                gateway_modern_client_legacy_server_stdio: Gateway, NEWEST, Legacy, Stdio;
                gateway_modern_client_legacy_server_http: Gateway, NEWEST, Legacy, Http;
                gateway_modern_client_modern_server_stdio: Gateway, NEWEST, Modern, Stdio;
                gateway_modern_client_modern_server_http: Gateway, NEWEST, Modern, Http;
            }
        }
    };
    ($play:path; $($name:ident: $front:ident, $client:ident, $server:ident, $upstream:ident;)*) => {$(
        #[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            $play(Cell {
                front: Front::$front,
                client: Revision::$client,
                server: Era::$server,
                upstream: Upstream::$upstream,
            })
            .await;
        }
    )*};
}
