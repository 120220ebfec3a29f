//! Cost: the size of listed tools in a model's context.

use super::{Disclosure, own_tools};
use crate::view::View;
use serde::Serialize;
use trunkline_protocol::Raw;

/// Bytes of a definition that make about one token. Tokenisers differ; this is their average for
/// definitions of tools.
const BYTES_PER_TOKEN: usize = 4;

/// The cost of one view's tools, for a caller that may use all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ViewCost {
    /// The path below `/mcp`; empty for the main view.
    pub view: String,
    /// The number of tools behind the view.
    pub tools: usize,
    /// Estimated tokens of the tools as they are listed.
    pub listed_tokens: usize,
    /// Estimated tokens if every tool were listed whole.
    pub all_tokens: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
}

/// The estimated tokens of a text of this many bytes.
pub fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

impl ViewCost {
    pub(crate) fn of(view: &View) -> Self {
        let routes: Vec<_> = view.tools.routes().iter().collect();
        let all = routes.iter().map(|route| size(route.listing())).sum();
        let listed = match view.disclosure {
            Disclosure::All | Disclosure::Auto => all,
            Disclosure::Names | Disclosure::Search => {
                own_tools::listed(view.disclosure, &routes).iter().map(|(item, _)| size(item)).sum()
            }
        };
        Self {
            view: view.name.to_string(),
            tools: routes.len(),
            listed_tokens: tokens(listed),
            all_tokens: tokens(all),
            budget: view.budget,
        }
    }

    /// True if the listed tools cost more than the budget.
    pub fn is_over_budget(&self) -> bool {
        self.budget.is_some_and(|budget| self.listed_tokens as u64 > budget)
    }
}

fn size(item: &Raw) -> usize {
    item.as_bytes().len()
}
