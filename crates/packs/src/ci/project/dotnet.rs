//! .NET solutions and projects.

use super::{super::roots::Inside, ask::Action, ask::Ask, manifest::with_ending, plan::Plan};

pub(super) fn manifest(directory: &Inside) -> Option<String> {
    let solution = with_ending(directory.path(), &[".sln", ".slnx"]);
    solution.or_else(|| with_ending(directory.path(), &[".csproj", ".fsproj", ".vbproj"]))
}

pub(super) fn plan(ask: &Ask<'_>) -> Plan {
    // Without a target, a directory with several of these files is an error. The `./` keeps a name
    // from being taken for an option.
    let target = format!("./{}", ask.manifest);
    match ask.action {
        Action::Build => Plan::program("dotnet", &["build"]).arg(target).arg("--nologo"),
        Action::RunTests => {
            let plan =
                Plan::program("dotnet", &["test"]).arg(target).arg("--nologo").arg("--logger").arg("trx");
            let plan = plan.arg("--results-directory").arg(ask.scratch.display().to_string());
            match ask.filter {
                Some(filter) => plan.arg("--filter").arg(format!("FullyQualifiedName~{filter}")),
                None => plan,
            }
        }
        Action::Lint => Plan::program("dotnet", &["format"]).arg(target).arg("--verify-no-changes"),
        Action::Restore => Plan::program("dotnet", &["restore"]).arg(target),
    }
}
