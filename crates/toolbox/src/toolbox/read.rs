//! `resources/read`, `prompts/get` and `completion/complete`.

use super::{Inner, read_params, results, run};
use crate::{
    CompletionRequest, Context, Limits, ReadRequest, Resource, Template, ToolError,
    completion::Completer,
    context::{Outbox, Request},
    prompt::Writer,
};
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc};
use trunkline_protocol::{
    Fault, FaultKind, Number, Outcome, Raw,
    message::{
        CacheScope, CompleteParams, CompleteResult, Completion, GetPromptParams, PromptArgument,
        ReadResourceResult, Reference, ResourceContents, ResourceParams, completion::MAX_VALUES,
    },
};

impl Inner {
    pub(super) async fn read_resource(
        self: &Arc<Self>,
        request: Request,
        params: Option<&Raw>,
        outbox: Arc<Outbox>,
    ) -> Outcome {
        let params: ResourceParams = read_params(params)?;
        let uri = params.uri;
        if uri.starts_with(results::SCHEME) {
            let kept = self.results.read(&uri, &request.caller).ok_or_else(|| not_found(&uri))?;
            let mut result = ReadResourceResult::new(vec![ResourceContents::Text(kept)]);
            result.cache_scope = Some(CacheScope::Private);
            return Ok(result.to_raw());
        }
        let catalog = self.catalog();
        let found = catalog.resource(&uri, &request.caller).map(|one| {
            let Resource { definition, reader, permissions } = &one.resource;
            (Arc::clone(reader), definition.mime_type.clone(), permissions.is_open(), BTreeMap::new())
        });
        let family = || {
            let (family, variables) = catalog.family(&uri, &request.caller)?;
            let Template { definition, reader, permissions, .. } = &family.template;
            Some((Arc::clone(reader), definition.mime_type.clone(), permissions.is_open(), variables))
        };
        let (reader, mime, open, variables) = found.or_else(family).ok_or_else(|| not_found(&uri))?;
        let cx = self.context(format!("resource {uri}").into(), &Limits::default(), request, outbox);
        let wanted = ReadRequest { uri: uri.clone(), variables };
        let work = self.work(&cx, async { reader(cx.clone(), wanted).await }).await;
        let not_there = |fault: &Fault| fault.kind() == FaultKind::ResourceNotFound;
        let mut contents = work.map_err(|fault| if not_there(&fault) { not_found(&uri) } else { fault })?;
        for contents in &mut contents {
            fill_in(contents, mime.as_deref());
        }
        let mut result = ReadResourceResult::new(contents);
        result.cache_scope = (!open).then_some(CacheScope::Private);
        Ok(result.to_raw())
    }

    pub(super) async fn get_prompt(
        self: &Arc<Self>,
        request: Request,
        params: Option<&Raw>,
        outbox: Arc<Outbox>,
    ) -> Outcome {
        let params: GetPromptParams = read_params(params)?;
        let catalog = self.catalog();
        let listed = catalog.prompt(&params.name, &request.caller);
        let listed = listed.ok_or_else(|| unknown_prompt(&params.name))?;
        let arguments = check_arguments(listed.prompt.arguments(), params.arguments)?;
        let writer: Writer = Arc::clone(&listed.prompt.writer);
        let description = listed.prompt.definition.description.clone();
        let subject = format!("prompt {}", params.name).into();
        let cx = self.context(subject, &Limits::default(), request, outbox);
        let mut result = self.work(&cx, async { writer(cx.clone(), arguments).await }).await?;
        result.description = result.description.or(description);
        Ok(result.to_raw())
    }

    pub(super) async fn complete(
        self: &Arc<Self>,
        request: Request,
        params: Option<&Raw>,
        outbox: Arc<Outbox>,
    ) -> Outcome {
        let params: CompleteParams = read_params(params)?;
        let completer = self.completer(&params, &request)?;
        let known = params.context.and_then(|context| context.arguments);
        let wanted = CompletionRequest {
            argument: params.argument.name,
            value: params.argument.value,
            arguments: known.and_then(|known| known.decode().ok()).unwrap_or_default(),
        };
        let mut values = match completer {
            Some(completer) => {
                let cx = self.context("completion".into(), &Limits::default(), request, outbox);
                self.work(&cx, async { completer(cx.clone(), wanted).await }).await?
            }
            None => Vec::new(),
        };
        let total = values.len();
        values.truncate(MAX_VALUES);
        let mut completion = Completion::new(values);
        completion.total = Some(Number::from(total as u64));
        completion.has_more = Some(total > MAX_VALUES);
        Ok(CompleteResult::new(completion).to_raw())
    }

    /// The completer of the argument, if it has one; a fault if the prompt or resource does not
    /// exist.
    fn completer(&self, params: &CompleteParams, request: &Request) -> Result<Option<Completer>, Fault> {
        let catalog = self.catalog();
        let argument = &params.argument.name;
        match &params.reference {
            Reference::Prompt(reference) => {
                let listed = catalog.prompt(&reference.name, &request.caller);
                Ok(listed.ok_or_else(|| unknown_prompt(&reference.name))?.prompt.completers.get(argument))
            }
            Reference::Resource(reference) => {
                let uri = &reference.uri;
                let exact = catalog.templates.get(uri);
                let family = exact.or(catalog.family(uri, &request.caller).map(|(family, _)| family));
                match family.filter(|f| f.template.permissions.allow(&request.caller)) {
                    Some(family) => Ok(family.template.completers.get(argument)),
                    None if catalog.resource(uri, &request.caller).is_some() => Ok(None),
                    None => Err(not_found(uri)),
                }
            }
            Reference::Unknown(_) => Err(invalid("`ref` is neither a prompt nor a resource")),
        }
    }

    /// Runs a reader, writer or completer. Its failures become faults.
    async fn work<T>(
        &self,
        cx: &Context,
        work: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, Fault> {
        match run::run(cx, work).await {
            Ok(result) => result.map_err(ToolError::into_fault),
            Err(ending) => Err(ending.into_fault(&cx.shared.subject)),
        }
    }
}

fn fill_in(contents: &mut ResourceContents, mime: Option<&str>) {
    let slot = match contents {
        ResourceContents::Text(text) => &mut text.mime_type,
        ResourceContents::Blob(blob) => &mut blob.mime_type,
        ResourceContents::Unknown(_) => return,
    };
    if slot.is_none() {
        *slot = mime.map(str::to_owned);
    }
}

/// Checks that all arguments of a prompt are strings and the required ones are present.
fn check_arguments(declared: &[PromptArgument], given: Option<Raw>) -> Result<Raw, Fault> {
    let given = given.filter(|given| !given.is_null()).unwrap_or_else(Raw::empty_object);
    let members: BTreeMap<String, String> =
        given.decode().map_err(|e| invalid(format!("the arguments are not an object of texts: {e}")))?;
    let missing = declared.iter().find(|a| a.required == Some(true) && !members.contains_key(&a.name));
    match missing {
        Some(argument) => Err(invalid(format!("the argument `{}` is required", argument.name))),
        None => Ok(given),
    }
}

fn invalid(message: impl Into<String>) -> Fault {
    Fault::new(FaultKind::InvalidRequest, message)
}

fn unknown_prompt(name: &str) -> Fault {
    let name: String = name.chars().take(128).collect();
    invalid(format!("unknown prompt: `{name}`"))
}

fn not_found(uri: &str) -> Fault {
    Fault::new(FaultKind::ResourceNotFound, "there is no such resource").with_data(json!({"uri": uri}).into())
}
