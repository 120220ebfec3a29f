//! Completion of prompt arguments and of the variables in resource templates.

use crate::{
    Number, Raw,
    view::{choice, view},
};

/// Maximum number of values in one result.
pub const MAX_VALUES: usize = 100;

choice! {
    /// The prompt or resource template that an argument belongs to.
    pub enum Reference by "type" {
        Prompt(PromptReference) = "ref/prompt",
        Resource(ResourceReference) = "ref/resource",
    }
}

view! {
    /// A prompt, by name.
    pub struct PromptReference tagged "type" = "ref/prompt" {
        name: String = "name",
    } optional {
        title: String = "title",
    }

    /// A resource, by its URI or template.
    pub struct ResourceReference tagged "type" = "ref/resource" {
        uri: String = "uri",
    } optional {
    }

    /// The parameters of `completion/complete`.
    pub struct CompleteParams {
        reference: Reference = "ref",
        argument: CompletionArgument = "argument",
    } optional {
        /// From 2025-06-18.
        context: CompletionContext = "context",
        meta: Raw = "_meta",
    }

    /// The argument to complete, with the text typed so far.
    pub struct CompletionArgument {
        name: String = "name",
        value: String = "value",
    } optional {
    }

    /// Further context of a completion.
    pub struct CompletionContext {
    } optional {
        /// The arguments already filled in, an object of strings.
        arguments: Raw = "arguments",
    }

    /// The result of `completion/complete`.
    pub struct CompleteResult {
        completion: Completion = "completion",
    } optional {
        result_type: String = "resultType",
        meta: Raw = "_meta",
    }

    /// The proposed values.
    pub struct Completion {
        /// At most [`MAX_VALUES`].
        values: Vec<String> = "values",
    } optional {
        total: Number = "total",
        has_more: bool = "hasMore",
    }
}
