//! Resolves hooks.

use super::{Pair, Resolver};
use crate::{
    keys::{WrittenHook, check::join},
    problem::Code,
    settings::{Hook, HookRun},
};
use std::{collections::BTreeMap, path::Path};

impl Resolver<'_> {
    pub(super) fn hooks(&mut self, whole: Pair<'_>) -> BTreeMap<String, Hook> {
        let mut hooks = BTreeMap::new();
        for (name, part) in whole.get("hooks").into_iter().flat_map(Pair::entries) {
            let key = join("hooks", name);
            if name.trim().is_empty() {
                self.report(Code::BadValue, part.written, &key, "a hook needs a name");
            }
            let Some(written) = self.typed::<WrittenHook>(part, &key) else { continue };
            let Some(run) = self.hook_run(part, &key, &written) else { continue };
            let hook = Hook {
                on: written.on,
                tools: written.tools,
                run,
                when_it_fails: written.when_it_fails,
                shows: written.shows,
                timeout: written.timeout,
                concurrency: written.concurrency,
                concurrency_per_caller: written.concurrency_per_caller,
            };
            hooks.insert(name.to_owned(), hook);
        }
        hooks
    }

    fn hook_run(&mut self, part: Pair<'_>, key: &str, written: &WrittenHook) -> Option<HookRun> {
        match (written.command.first(), &written.url) {
            (Some(program), None) => {
                if !Path::new(program).is_absolute() {
                    let message = format!("the program of a hook must be an absolute path, not `{program}`");
                    self.report(Code::BadValue, part.written, &join(key, "command"), message);
                }
                Some(HookRun::Command(written.command.clone()))
            }
            (None, Some(url)) => {
                let headers = self.headers(part.get("headers"), &join(key, "headers"));
                Some(HookRun::Endpoint { url: url.clone(), headers })
            }
            _ => {
                let message = "a hook has either a `command` or a `url`";
                self.report(Code::Missing, part.written, key, message);
                None
            }
        }
    }
}
