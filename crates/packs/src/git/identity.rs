//! The author and committer of commits.

use std::path::Path;

use super::{environment::Mode, invocation::Invocation, options::Identity, repository::Repository};
use trunkline_toolbox::ToolError;

/// Settings with the operator's identity, unless the repository's own settings name one.
pub(super) async fn settings(repository: &Repository<'_>) -> Result<Vec<(&'static str, String)>, ToolError> {
    let mut settings = Vec::new();
    for key in ["user.name", "user.email"] {
        let named = repository.read("config").args(["--get", key]).run().await?;
        if named.is_success() && !named.text().is_empty() {
            continue;
        }
        let value = match &repository.git().options().identity {
            Identity::Repository => None,
            Identity::Person { name, email } => {
                Some(if key == "user.name" { name.clone() } else { email.clone() })
            }
            Identity::SettingsFile(path) => from_file(repository, path, key).await?,
        };
        settings.extend(value.map(|value| (key, value)));
    }
    Ok(settings)
}

async fn from_file(repository: &Repository<'_>, file: &Path, key: &str) -> Result<Option<String>, ToolError> {
    let git = repository.git();
    let command = Invocation::new(git, Mode::Read, Path::new("/"), repository.deadline()).unconfined();
    let output =
        command.args(["config", "--includes", "--file"]).arg(file).args(["--get", key]).run().await?;
    Ok(Some(output.text()).filter(|value| output.is_success() && !value.is_empty()))
}
