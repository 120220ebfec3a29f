//! Builds the built-in tool packs from flags or the configuration.

use super::{
    documents::{self, DocumentParts},
    fetch::ServiceFetch,
};
use crate::{
    environment::{self, Environment},
    failure::Failure,
};
use std::{collections::HashSet, fs, path::PathBuf, sync::Arc};
use trunkline_config::{Builtin, Pack};
use trunkline_packs::{
    ci::{self, CiOptions, ProviderOptions, Token},
    filesystem::{self, FilesystemOptions},
    git::{self, GitOptions},
    sandbox::{self, Protected, Reads, Roots},
};
use trunkline_toolbox::{Template, Tool, Toolbox, ToolboxBuilder};
use trunkline_transport::http::{HttpClient, HttpOptions};

/// Permissions of the packs.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line or the configuration"
)]
pub(crate) struct Packs {
    /// At least one.
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) write: bool,
    pub(crate) run: bool,
    pub(crate) network: bool,
    pub(crate) compatibility: bool,
    pub(crate) github: Vec<String>,
    pub(crate) gitlab: Vec<String>,
    /// Files and directories that control this program, which the tools must not change.
    pub(crate) guarded: Vec<PathBuf>,
    /// Secrets and records, which the tools must not read either.
    pub(crate) private: Vec<PathBuf>,
}

/// A toolbox, before any layer is added.
pub(crate) struct Kit {
    pub(crate) toolbox: Toolbox,
    /// Number of tools.
    pub(crate) tools: usize,
    /// Names of the read-only tools.
    pub(crate) read_only: HashSet<String>,
}

/// The content of a toolbox.
#[derive(Default)]
pub(super) struct Offered {
    pub(super) tools: Vec<Tool>,
    pub(super) templates: Vec<Template>,
}

impl From<Vec<Tool>> for Offered {
    fn from(tools: Vec<Tool>) -> Self {
        Self { tools, templates: Vec::new() }
    }
}

#[cfg(feature = "documents")]
impl From<trunkline_packs::documents::Pack> for Offered {
    fn from(pack: trunkline_packs::documents::Pack) -> Self {
        Self { tools: pack.tools, templates: pack.templates }
    }
}

impl From<&Builtin> for Packs {
    fn from(builtin: &Builtin) -> Self {
        Self {
            roots: builtin.roots.clone(),
            write: builtin.write,
            run: builtin.run,
            network: builtin.network,
            compatibility: builtin.compatibility,
            github: builtin.github.clone(),
            gitlab: builtin.gitlab.clone(),
            guarded: Vec::new(),
            private: Vec::new(),
        }
    }
}

impl Packs {
    /// Adds files that the tools must not change, and those that they must not read either.
    pub(crate) fn guarding(self, guarded: &[PathBuf], private: &[PathBuf]) -> Self {
        Self { guarded: guarded.to_vec(), private: private.to_vec(), ..self }
    }

    /// Opens the root directories, once for the lifetime of the process.
    pub(crate) fn open(&self) -> Result<Roots, Failure> {
        Roots::open(self.roots.clone())
            .map_err(|error| Failure::usage(error.to_string()).hint("choose a directory with --root"))
    }

    /// Restricts this process to its directories (Landlock), as a second layer below the tools'
    /// own checks. `records` are further writable directories, created if missing.
    pub(crate) fn restrict(&self, roots: &Roots, records: Vec<PathBuf>) -> Result<(), Failure> {
        if self.run {
            // Compilers and package managers write to caches all over the home directory.
            tracing::info!("programs may run, so the kernel does not restrict where this process may write");
            return Ok(());
        }
        for folder in &records {
            fs::create_dir_all(folder)
                .map_err(|error| Failure::usage(format!("{}: {error}", folder.display())))?;
        }
        // Git's settings are written to a temporary directory.
        let temporary = std::env::temp_dir();
        let devices = ["/dev/null", "/dev/tty", "/tmp"].map(PathBuf::from);
        let also: Vec<PathBuf> = records.into_iter().chain(devices).chain([temporary]).collect();
        match sandbox::restrict_process(roots, &also, &Reads::Anywhere) {
            Ok(restriction) => {
                tracing::debug!(?restriction, "the kernel restricts where this process may write");
            }
            // The tools' own checks still apply.
            Err(error) => tracing::warn!(%error, "the kernel does not restrict where this process may write"),
        }
        Ok(())
    }

    /// All packs, as one toolbox.
    pub(crate) fn all(
        &self,
        roots: &Roots,
        environment: &Environment,
        parts: &DocumentParts<'_>,
    ) -> Result<Kit, Failure> {
        let mut offer = Offered::from(self.files(roots));
        offer.tools.extend(self.repositories(environment)?);
        offer.tools.extend(self.projects(environment)?);
        let documents = documents::offered(parts, roots, self.protected())?;
        offer.tools.extend(documents.tools);
        offer.templates.extend(documents.templates);
        kit("trunkline", "Trunkline", offer)
    }

    /// One pack, as one toolbox.
    pub(crate) fn one(
        &self,
        pack: Pack,
        environment: &Environment,
        parts: &DocumentParts<'_>,
    ) -> Result<Kit, Failure> {
        match pack {
            Pack::Filesystem => kit("trunkline-filesystem", "Files", self.files(&self.open()?).into()),
            Pack::Git => kit("trunkline-git", "Git", self.repositories(environment)?.into()),
            Pack::Ci => kit("trunkline-ci", "CI", self.projects(environment)?.into()),
            Pack::Documents => documents_kit(documents::offered(parts, &self.open()?, self.protected())?),
        }
    }

    pub(super) fn protected(&self) -> Protected {
        Protected::default().and_files(&self.guarded).and_private(&self.private)
    }

    fn files(&self, roots: &Roots) -> Vec<Tool> {
        let access = if self.write { filesystem::Access::ReadWrite } else { filesystem::Access::ReadOnly };
        filesystem::tools(
            roots.clone(),
            FilesystemOptions {
                roots: self.roots.clone(),
                access,
                protected: self.protected(),
                ..FilesystemOptions::default()
            },
        )
    }

    /// The git tools; none if git is not installed.
    fn repositories(&self, environment: &Environment) -> Result<Vec<Tool>, Failure> {
        let mut options = GitOptions::new(self.canonical()?);
        options.guarded = [&self.guarded[..], &self.private].concat();
        options.protected = self.protected();
        if self.write {
            options.access = git::Access::ReadWrite;
            if let Some(home) = environment.get_os(environment::HOME) {
                options.identity = git::Identity::SettingsFile(PathBuf::from(home).join(".gitconfig"));
            }
        }
        if self.network {
            options.network = git::Network::Allowed;
            options.environment = environment.all();
        }
        let packed = git::pack(options.clone()).and_then(|mut tools| {
            if self.compatibility {
                tools.extend(git::compatibility_tools(options)?);
            }
            Ok(tools)
        });
        Ok(packed.unwrap_or_else(|error| {
            tracing::warn!(%error, "the git tools are not offered");
            Vec::new()
        }))
    }

    /// The CI tools; read-only unless running programs is allowed.
    fn projects(&self, environment: &Environment) -> Result<Vec<Tool>, Failure> {
        let mut options = CiOptions::new(self.canonical()?);
        options.environment = environment.all();
        if self.run {
            options.access = ci::Access::Run;
        }
        let github = provider(&self.github, environment::GITHUB_TOKEN, environment, ProviderOptions::github)?;
        let gitlab = provider(&self.gitlab, environment::GITLAB_TOKEN, environment, ProviderOptions::gitlab)?;
        options.providers = github.into_iter().chain(gitlab).collect();
        if !options.providers.is_empty() {
            let client =
                HttpClient::new(HttpOptions::default()).map_err(|error| Failure::usage(error.to_string()))?;
            options.fetch = Some(Arc::new(ServiceFetch(client)));
        }
        ci::pack(options).map_err(|error| Failure::usage(error.to_string()))
    }

    fn canonical(&self) -> Result<Vec<PathBuf>, Failure> {
        let path = |root: &PathBuf| {
            fs::canonicalize(root).map_err(|error| Failure::usage(format!("{}: {error}", root.display())))
        };
        self.roots.iter().map(path).collect()
    }
}

/// The documents pack alone.
pub(super) fn documents_kit(offered: impl Into<Offered>) -> Result<Kit, Failure> {
    kit("trunkline-documents", "Documents", offered.into())
}

fn kit(name: &str, title: &str, offered: Offered) -> Result<Kit, Failure> {
    let Offered { tools, templates } = offered;
    let is_read_only =
        |tool: &&Tool| tool.definition().annotations.is_some_and(|hints| hints.read_only_hint == Some(true));
    let read_only = tools.iter().filter(is_read_only).map(|tool| tool.name().to_owned()).collect();
    let count = tools.len();
    let builder = Toolbox::new(name, env!("CARGO_PKG_VERSION"))
        .title(title)
        .instructions("Tools for one directory: files, git, the project's own checks and documents. Paths are relative to that directory.")
        .tools(tools);
    let toolbox = templates
        .into_iter()
        .fold(builder, ToolboxBuilder::template)
        .build()
        .map_err(|error| Failure::usage(error.to_string()))?;
    Ok(Kit { toolbox, tools: count, read_only })
}

fn provider(
    projects: &[String],
    variable: &str,
    environment: &Environment,
    make: fn(Token) -> ProviderOptions,
) -> Result<Option<ProviderOptions>, Failure> {
    if projects.is_empty() {
        return Ok(None);
    }
    let token = environment.get_filled(variable).ok_or_else(|| {
        Failure::usage(format!("{variable} is not set"))
            .hint("put a token with read access to the project into it")
    })?;
    let mut options = make(Token::new(token));
    options.projects = projects.to_vec();
    Ok(Some(options))
}
