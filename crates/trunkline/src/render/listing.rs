//! Formats the lists of a server as an overview.

use super::{FAINT, HEADING, NAME, indent, json, safe, signature};
use std::fmt::Write as _;
use trunkline_client::ServerInfo;
use trunkline_protocol::{
    Raw,
    message::{Prompt, Resource, ResourceTemplate, Tool},
};

/// The schemas under their tools: shown or hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schemas {
    Show,
    Hide,
}

/// `name version · MCP revision · transport`.
pub(crate) fn server(info: &ServerInfo) -> String {
    let name =
        safe::line(info.title.as_deref().or(info.name.as_deref()).unwrap_or("a server without a name"));
    let version =
        info.version.as_deref().map(|version| format!(" {}", safe::line(version))).unwrap_or_default();
    let (revision, transport) = (info.revision, info.transport);
    format!("{NAME}{name}{NAME:#}{version} {FAINT}· MCP {revision} · {transport}{FAINT:#}\n")
}

pub(crate) fn tools(tools: &[Tool], schemas: Schemas) -> String {
    let mut out = heading("Tools", tools.len());
    for tool in tools {
        let arguments = signature::of_schema(&tool.input_schema);
        let about = tool.description.as_deref().or(tool.title.as_deref());
        entry(&mut out, &tool.name, &arguments, about);
        if schemas == Schemas::Show {
            schema(&mut out, "takes", &tool.input_schema);
            tool.output_schema.iter().for_each(|raw| schema(&mut out, "gives", raw));
        }
    }
    out
}

pub(crate) fn resources(resources: &[Resource]) -> String {
    let mut out = heading("Resources", resources.len());
    for resource in resources {
        let about = resource.description.as_deref().or(resource.title.as_deref()).unwrap_or(&resource.name);
        entry(&mut out, &resource.uri, &mime(resource.mime_type.as_deref()), Some(about));
    }
    out
}

pub(crate) fn templates(templates: &[ResourceTemplate]) -> String {
    let mut out = heading("Resource templates", templates.len());
    for template in templates {
        let about = template.description.as_deref().or(template.title.as_deref()).unwrap_or(&template.name);
        entry(&mut out, &template.uri_template, &mime(template.mime_type.as_deref()), Some(about));
    }
    out
}

pub(crate) fn prompts(prompts: &[Prompt]) -> String {
    let mut out = heading("Prompts", prompts.len());
    for prompt in prompts {
        let argument = |(name, required): (&str, bool)| {
            format!("{}{}", safe::line(name), if required { "" } else { "?" })
        };
        let arguments: Vec<String> = prompt
            .arguments
            .iter()
            .flatten()
            .map(|each| argument((&each.name, each.required == Some(true))))
            .collect();
        let about = prompt.description.as_deref().or(prompt.title.as_deref());
        entry(&mut out, &prompt.name, &format!("({})", arguments.join(", ")), about);
    }
    out
}

pub(crate) fn instructions(text: &str) -> String {
    let mut out = format!("\n{HEADING}Instructions{HEADING:#}\n");
    indent(&mut out, &safe::text(text), 2);
    out
}

fn heading(name: &str, count: usize) -> String {
    format!("\n{HEADING}{name}{HEADING:#} {FAINT}({count}){FAINT:#}\n")
}

fn mime(mime: Option<&str>) -> String {
    mime.map(|mime| format!(" {}", safe::line(mime))).unwrap_or_default()
}

/// Appends a name, its signature or URI, and the first line of its description.
fn entry(out: &mut String, name: &str, after: &str, about: Option<&str>) {
    let name = safe::line(name);
    let first = about.and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
    let about = first.map(|text| format!("      {}\n", safe::line(text))).unwrap_or_default();
    write!(out, "  {NAME}{name}{NAME:#}{FAINT}{after}{FAINT:#}\n{about}").expect("a String takes any text");
}

fn schema(out: &mut String, label: &str, raw: &Raw) {
    writeln!(out, "      {FAINT}{label}{FAINT:#}").expect("a String takes any text");
    indent(out, &safe::json(&json::pretty(raw)), 8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn tools_show_name_arguments_and_first_line() {
        let tool = r#"{"name":"echo","description":"Says it\u001b[2J again.\nAnd more.","inputSchema":{"properties":{"m":{"type":"string"}},"required":["m"]}}"#;
        let tool: Tool = serde_json::from_str(tool).unwrap();
        assert_eq!(
            plain(&tools(std::slice::from_ref(&tool), Schemas::Hide)),
            "\nTools (1)\n  echo(m: string)\n      Says it␛[2J again.\n"
        );
        assert!(plain(&tools(&[tool], Schemas::Show)).contains("        {\n          \"properties\": {"));
    }

    #[test]
    fn prompts_show_their_arguments() {
        let prompt = r#"{"name":"p","arguments":[{"name":"a","required":true},{"name":"b"}]}"#;
        let prompt: Prompt = serde_json::from_str(prompt).unwrap();
        assert_eq!(plain(&prompts(&[prompt])), "\nPrompts (1)\n  p(a, b?)\n");
    }
}
