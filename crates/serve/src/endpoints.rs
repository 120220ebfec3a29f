//! The endpoints of one server: the main one, with everything that the handler offers, and one per
//! view of the handler.
//!
//! Sessions, parked calls and streams belong to the endpoint that they were opened at, and are
//! unknown at every other.

use crate::{http::USUAL_HEADERS, options::ServeOptions, service::Service};
use parking_lot::Mutex;
use std::{collections::HashMap, sync::Arc};
use trunkline_http1::server::Options;
use trunkline_protocol::{Call, Caller, Handler, Notify, Reply};

pub(crate) struct Endpoints {
    pub(crate) main: Arc<Service>,
    views: Mutex<HashMap<String, Arc<Service>>>,
    /// Options of every HTTP connection.
    pub(crate) connection_options: Options,
}

/// Sets the view of every call to the handler.
struct View {
    handler: Arc<dyn Handler>,
    name: Arc<str>,
}

impl Endpoints {
    pub(crate) fn new(handler: Arc<dyn Handler>, options: ServeOptions) -> Arc<Self> {
        let limits = options.limits;
        let connection_options = Options {
            header_timeout: limits.header_timeout,
            idle_timeout: limits.idle_timeout,
            write_timeout: limits.write_timeout,
            max_body: limits.body,
            usual_headers: &USUAL_HEADERS,
        };
        Arc::new(Self { main: Service::new(handler, options), views: Mutex::default(), connection_options })
    }

    /// The endpoint of a view, if the handler has that view now and the caller may use anything of
    /// it; to other callers it is unknown. The empty name is the main endpoint.
    pub(crate) fn find(&self, name: &str, caller: &Caller) -> Option<Arc<Service>> {
        if name.is_empty() {
            return Some(self.main.clone());
        }
        let mut views = self.views.lock();
        if !self.main.handler.has_view(name) {
            let closed = views.remove(name);
            drop(views);
            if let Some(closed) = closed {
                closed.sessions.end_all();
            }
            return None;
        }
        if !self.main.handler.admits(name, caller) {
            return None;
        }
        if let Some(view) = views.get(name) {
            return Some(view.clone());
        }
        let handler = View { handler: self.main.handler.clone(), name: name.into() };
        let service = self.main.for_view(Arc::new(handler), name);
        service.start();
        views.insert(name.to_owned(), service.clone());
        Some(service)
    }

    /// The numbers of open sessions and of parked calls, over all endpoints.
    pub(crate) fn held(&self) -> (usize, usize) {
        let views = self.views.lock();
        let all = views.values().chain([&self.main]);
        all.fold((0, 0), |(sessions, parked), endpoint| {
            (sessions + endpoint.sessions.len(), parked + endpoint.parking.len())
        })
    }

    pub(crate) fn end_all(&self) {
        self.main.sessions.end_all();
        let views: Vec<_> = self.views.lock().drain().map(|(_, view)| view).collect();
        for view in views {
            view.sessions.end_all();
        }
    }
}

impl Handler for View {
    fn call(&self, mut call: Call) -> Reply {
        call.view = Some(self.name.clone());
        self.handler.call(call)
    }

    fn notify(&self, notice: Notify) {
        self.handler.notify(notice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_protocol::Raw;

    fn find(endpoints: &Endpoints, name: &str) -> Option<Arc<Service>> {
        endpoints.find(name, &Caller::local())
    }

    struct Two;

    impl Handler for Two {
        fn call(&self, call: Call) -> Reply {
            Reply::ready(Ok(Raw::string(call.view.as_deref().unwrap_or("everything"))))
        }

        fn has_view(&self, view: &str) -> bool {
            view == "files" || view == "server/git"
        }
    }

    async fn seen(endpoint: &Service) -> String {
        endpoint.handler.call(Call::new("tools/list", None)).outcome().await.unwrap().decode().unwrap()
    }

    #[tokio::test]
    async fn a_door_shows_its_view_and_no_other_exists() {
        let endpoints = Endpoints::new(Arc::new(Two), ServeOptions::default());
        assert_eq!(seen(&find(&endpoints, "").unwrap()).await, "everything");
        assert_eq!(seen(&find(&endpoints, "files").unwrap()).await, "files");
        assert_eq!(seen(&find(&endpoints, "server/git").unwrap()).await, "server/git");
        assert!(find(&endpoints, "server/other").is_none() && find(&endpoints, "Files").is_none());
        assert!(Arc::ptr_eq(&find(&endpoints, "files").unwrap(), &find(&endpoints, "files").unwrap()));
    }
}
