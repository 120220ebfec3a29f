//! An adapter for `docling-mcp`: its sessions offer our tools, with documents instead of keys.
//!
//! That server converts paths and URLs, keeps the document under a key of its own, and writes its
//! JSON to a directory. The adapter gives it files of one private directory only
//! ([`ExchangeFolder`]), and takes the JSON from there. Everything else is as with our own
//! converter: which files may be read, how URLs are fetched, handles, resources and exports.

mod exchange_folder;
mod server;

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use trunkline_protocol::{
    Call, Connect, ConnectError, Era, Fault, Handler, Notification, Notify, Profile, Raw, Reply, Revision,
    Session, method,
};
use trunkline_toolbox::Toolbox;

pub use exchange_folder::ExchangeFolder;
pub use server::DoclingMcp;

/// Makes the toolbox of one session, whose tools convert with the given server.
type MakeToolbox = dyn Fn(DoclingMcp) -> Result<Toolbox, Fault> + Send + Sync;

/// Opens sessions with `docling-mcp` that offer our tools.
#[derive(Clone)]
pub struct AdaptedConnect {
    inner: Arc<dyn Connect>,
    folder: ExchangeFolder,
    toolbox: Arc<MakeToolbox>,
}

struct AdaptedSession {
    session: Arc<dyn Session>,
    toolbox: Toolbox,
    introduction: Raw,
}

impl AdaptedConnect {
    /// The server must have been told to write to `folder`, in [`ExchangeFolder::VARIABLE`].
    pub fn new(
        inner: Arc<dyn Connect>,
        folder: ExchangeFolder,
        toolbox: impl Fn(DoclingMcp) -> Result<Toolbox, Fault> + Send + Sync + 'static,
    ) -> Self {
        Self { inner, folder, toolbox: Arc::new(toolbox) }
    }
}

impl Connect for AdaptedConnect {
    fn connect(&self, profile: Profile) -> BoxFuture<'static, Result<Arc<dyn Session>, ConnectError>> {
        let Self { folder, toolbox, .. } = self.clone();
        let connecting = self.inner.connect(profile);
        Box::pin(async move {
            let session = connecting.await?;
            let toolbox = toolbox(DoclingMcp::new(Arc::clone(&session), folder))?;
            let introduction = toolbox.call(Call::new(method::DISCOVER, None)).outcome().await?;
            Ok(Arc::new(AdaptedSession { session, toolbox, introduction }) as Arc<dyn Session>)
        })
    }
}

impl Handler for AdaptedSession {
    fn call(&self, call: Call) -> Reply {
        if call.method != method::DISCOVER {
            return self.toolbox.call(call);
        }
        // The gateway asks this to find out if the server is alive.
        let ping = match self.session.revision().era() {
            Era::Modern => method::DISCOVER,
            Era::Legacy => method::PING,
        };
        let asked = self.session.call(Call { method: ping.into(), ..call });
        let introduction = self.introduction.clone();
        Reply::from_future(async move {
            match asked.outcome().await {
                // An error that the server itself answers is a sign of life, too.
                Err(fault) if fault.peer().is_none() => Err(fault),
                _ => Ok(introduction),
            }
        })
    }

    /// Ignores notifications, as a toolbox does.
    fn notify(&self, _notice: Notify) {}
}

impl Session for AdaptedSession {
    fn introduction(&self) -> Raw {
        self.introduction.clone()
    }

    /// The newest, because the toolbox answers; so all callers share one process.
    fn revision(&self) -> Revision {
        Revision::NEWEST
    }

    /// Never called: our tools do not change.
    fn on_event(&self, _listener: Box<dyn Fn(Notification) + Send + Sync>) {}

    fn lost(&self) -> BoxFuture<'static, Fault> {
        self.session.lost()
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        self.session.close()
    }
}

impl fmt::Debug for AdaptedConnect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdaptedConnect").field("folder", &self.folder).finish_non_exhaustive()
    }
}
