//! The four lists, page by page.

use super::{Inner, read_params, shelf::Shelf};
use crate::{Permissions, context::Request};
use std::sync::Arc;
use trunkline_protocol::{
    Fault, Outcome, Raw,
    message::{
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PageParams,
    },
    method,
};

/// Something that is listed for those who may know of it.
pub(super) trait Listed {
    fn listing(&self) -> &Raw;

    fn permissions(&self) -> &Permissions;
}

impl Inner {
    pub(super) fn list_tools(&self, request: &Request, params: Option<&Raw>) -> Outcome {
        let (tools, next) = self.page(method::TOOLS_LIST, &self.catalog().tools, request, params)?;
        let mut result = ListToolsResult::new(tools);
        result.next_cursor = next;
        Ok(result.to_raw())
    }

    pub(super) fn list_prompts(&self, request: &Request, params: Option<&Raw>) -> Outcome {
        let (prompts, next) = self.page(method::PROMPTS_LIST, &self.catalog().prompts, request, params)?;
        let mut result = ListPromptsResult::new(prompts);
        result.next_cursor = next;
        Ok(result.to_raw())
    }

    pub(super) fn list_resources(&self, request: &Request, params: Option<&Raw>) -> Outcome {
        let (resources, next) =
            self.page(method::RESOURCES_LIST, &self.catalog().resources, request, params)?;
        let mut result = ListResourcesResult::new(resources);
        result.next_cursor = next;
        Ok(result.to_raw())
    }

    pub(super) fn list_templates(&self, request: &Request, params: Option<&Raw>) -> Outcome {
        let (templates, next) =
            self.page(method::RESOURCES_TEMPLATES, &self.catalog().templates, request, params)?;
        let mut result = ListResourceTemplatesResult::new(templates);
        result.next_cursor = next;
        Ok(result.to_raw())
    }

    fn page<T: Listed>(
        &self,
        list: &str,
        shelf: &Shelf<T>,
        request: &Request,
        params: Option<&Raw>,
    ) -> Result<(Vec<Raw>, Option<String>), Fault> {
        let params: PageParams = read_params(params)?;
        let caller = &request.caller;
        let after = match &params.cursor {
            Some(cursor) => Some(self.cursors.read(list, caller, cursor)?),
            None => None,
        };
        let allowed = |item: &Arc<T>| item.permissions().allow(caller);
        let mut visible = shelf.after(after).filter(|(_, item)| allowed(item));
        let page: Vec<(u64, Raw)> = visible
            .by_ref()
            .take(self.options.page_size)
            .map(|(number, item)| (number, item.listing().clone()))
            .collect();
        let last = page.last().map(|(number, _)| *number).filter(|_| visible.next().is_some());
        let next = last.map(|number| self.cursors.write(list, caller, number));
        Ok((page.into_iter().map(|(_, listing)| listing).collect(), next))
    }
}
