//! Completion of prompt arguments and of the variables in resource templates.

use crate::{
    Number, Raw,
    view::{choice, view},
};

/// The most values one answer may hold.
pub const MAX_VALUES: usize = 100;

choice! {
    /// What an argument belongs to.
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

    /// The argument, as far as it is typed.
    pub struct CompletionArgument {
        name: String = "name",
        value: String = "value",
    } optional {
    }

    /// What is known besides.
    pub struct CompletionContext {
    } optional {
        /// The arguments already filled in, an object of strings.
        arguments: Raw = "arguments",
    }

    /// The answer to `completion/complete`.
    pub struct CompleteResult {
        completion: Completion = "completion",
    } optional {
        result_type: String = "resultType",
        meta: Raw = "_meta",
    }

    /// The values that fit.
    pub struct Completion {
        /// At most [`MAX_VALUES`].
        values: Vec<String> = "values",
    } optional {
        total: Number = "total",
        has_more: bool = "hasMore",
    }
}
