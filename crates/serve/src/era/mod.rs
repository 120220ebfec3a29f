//! Differences between the eras: requests are lifted to the newest revision, and replies are
//! lowered to the client's revision.

mod ask;
mod declared;
mod digest;
mod finish;
mod head;
mod legacy;
mod list_cache;
mod lower;
mod mirror;
mod modern;
mod parked;
mod seal;
mod task;
pub(crate) use ask::{Lowered, lower_question};
pub(crate) use seal::unguessable;

pub(crate) use declared::without_task_list;
pub(crate) use finish::Identity;
pub(crate) use head::Head;
pub(crate) use legacy::{LegacyReply, Out, initialize_result, lift, lifted_meta};
pub(crate) use list_cache::ListCache;
pub(crate) use mirror::{ToolHeaders, check_version};
pub(crate) use modern::{ModernReply, ModernRequest, Refused, unsupported};
pub(crate) use parked::Parking;
pub(crate) use task::{finished_call, nested, task_meta};
