//! The four lists, page by page.

use super::{Inner, name_table::NameTable, read_params};
use crate::{Permissions, context::Request};
use trunkline_protocol::{
    Fault, Outcome, Raw,
    message::{
        CacheScope, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PageParams,
    },
    method,
};

/// An item of a list, visible to callers with its permissions.
pub(super) trait Listed {
    fn listing(&self) -> &Raw;

    fn permissions(&self) -> &Permissions;
}

/// One page of a list.
struct Page {
    items: Vec<Raw>,
    next: Option<String>,
    /// `Private` if callers may see different items.
    scope: Option<CacheScope>,
}

macro_rules! lists {
    ($($list:ident: $table:ident, $method:ident, $result:ident;)*) => { $(
        pub(super) fn $list(&self, request: &Request, params: Option<&Raw>) -> Outcome {
            let page = self.page(method::$method, &self.catalog().$table, request, params)?;
            let mut result = $result::new(page.items);
            result.next_cursor = page.next;
            result.cache_scope = page.scope;
            Ok(result.to_raw())
        }
    )* };
}

impl Inner {
    lists! {
        list_tools: tools, TOOLS_LIST, ListToolsResult;
        list_prompts: prompts, PROMPTS_LIST, ListPromptsResult;
        list_resources: resources, RESOURCES_LIST, ListResourcesResult;
        list_templates: templates, RESOURCES_TEMPLATES, ListResourceTemplatesResult;
    }

    fn page<T: Listed>(
        &self,
        list: &str,
        table: &NameTable<T>,
        request: &Request,
        params: Option<&Raw>,
    ) -> Result<Page, Fault> {
        let caller = &request.caller;
        let after = match cursor(params)? {
            Some(cursor) => Some(self.cursors.read(list, caller, &cursor)?),
            None => None,
        };
        let mut visible = table.after(after).filter(|(_, item)| item.permissions().allow(caller));
        let page: Vec<(u64, Raw)> = visible
            .by_ref()
            .take(self.options.page_size)
            .map(|(number, item)| (number, item.listing().clone()))
            .collect();
        let last = page.last().map(|(number, _)| *number).filter(|_| visible.next().is_some());
        let next = last.map(|number| self.cursors.write(list, caller, number));
        let open = table.after(None).all(|(_, item)| item.permissions().is_open());
        let items = page.into_iter().map(|(_, listing)| listing).collect();
        Ok(Page { items, next, scope: (!open).then_some(CacheScope::Private) })
    }
}

/// The requested cursor. Skips decoding for the common case, the first page.
fn cursor(params: Option<&Raw>) -> Result<Option<String>, Fault> {
    if params.is_none_or(|params| params.member("cursor").is_none()) {
        return Ok(None);
    }
    Ok(read_params::<PageParams>(params)?.cursor)
}
