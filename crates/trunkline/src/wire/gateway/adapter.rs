//! Adapters: servers that offer other tools than their own.

use crate::{failure::Failure, wire::documents::DocumentParts};
use std::{path::PathBuf, sync::Arc};
use trunkline_client::Target;
use trunkline_config::Local;
use trunkline_protocol::Connect;

#[cfg(feature = "documents")]
pub(super) use docling_mcp::Adapting;

/// The adapter of a server; `None` if it has none. Changes how the server is started. `guarded`
/// are the guarded and the private files of the gateway.
#[cfg(feature = "documents")]
pub(super) fn prepare(
    local: &Local,
    target: &mut Target,
    guarded: (&[PathBuf], &[PathBuf]),
) -> Result<Option<Adapting>, Failure> {
    let adapting = local.adapter.as_ref().map(|adapted| Adapting::new(adapted, guarded)).transpose()?;
    if let (Some(adapting), Target::Command(command)) = (&adapting, target) {
        command.environment.push(adapting.variable());
    }
    Ok(adapting)
}

#[cfg(feature = "documents")]
mod docling_mcp {
    use super::{Arc, Connect, DocumentParts, Failure, PathBuf};
    use crate::wire::{
        documents::converting,
        packs::{Kit, Packs, documents_kit},
    };
    use trunkline_config::{Adapted, Adapter};
    use trunkline_packs::documents::{AdaptedConnect, DocumentsOptions, Engine, ExchangeFolder, pack};
    use trunkline_protocol::{Fault, FaultKind};

    /// An adapter for `docling-mcp`.
    pub(crate) struct Adapting {
        folder: ExchangeFolder,
        packs: Packs,
    }

    impl Adapting {
        pub(super) fn new(
            adapted: &Adapted,
            (guarded, private): (&[PathBuf], &[PathBuf]),
        ) -> Result<Self, Failure> {
            let Adapted { adapter: Adapter::DoclingMcp, roots } = adapted;
            let folder = ExchangeFolder::new().map_err(|error| {
                Failure::usage(format!("a directory for documents cannot be created: {error}"))
                    .hint("the directory for temporary files must be writable")
            })?;
            let packs = Packs { roots: roots.clone(), ..Packs::default() }.guarding(guarded, private);
            Ok(Self { folder, packs })
        }

        pub(super) fn variable(&self) -> (String, String) {
            (ExchangeFolder::VARIABLE.to_owned(), self.folder.path().display().to_string())
        }

        /// The adapted connector, and the tools that it offers.
        pub(crate) fn around(
            self,
            connect: Arc<dyn Connect>,
            parts: &DocumentParts<'_>,
        ) -> Result<(Arc<dyn Connect>, Kit), Failure> {
            let roots = self.packs.open()?;
            let options = converting::options(parts, &roots, self.packs.protected())?;
            let offered = documents_kit(pack(options.clone()))?;
            let adapted = AdaptedConnect::new(connect, self.folder, move |server| {
                let options = DocumentsOptions { engine: Engine::DoclingMcp(server), ..options.clone() };
                let kit = documents_kit(pack(options));
                kit.map(|kit| kit.toolbox)
                    .map_err(|failure| Fault::new(FaultKind::CannotStart, failure.reason()))
            });
            Ok((Arc::new(adapted), offered))
        }
    }
}

/// Never made: this build cannot convert documents.
#[cfg(not(feature = "documents"))]
pub(super) enum Adapting {}

#[cfg(not(feature = "documents"))]
pub(super) fn prepare(
    local: &Local,
    _: &mut Target,
    _: (&[PathBuf], &[PathBuf]),
) -> Result<Option<Adapting>, Failure> {
    match &local.adapter {
        None => Ok(None),
        Some(_) => Err(Failure::usage("this build has no adapters")
            .hint("build with the feature `documents`, or remove `adapter`")),
    }
}

#[cfg(not(feature = "documents"))]
impl Adapting {
    pub(super) fn around(
        self,
        _: Arc<dyn Connect>,
        _: &DocumentParts<'_>,
    ) -> Result<(Arc<dyn Connect>, crate::wire::packs::Kit), Failure> {
        match self {}
    }
}
