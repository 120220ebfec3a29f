//! What differs between the eras: requests are lifted into the newest revision's shape, answers lowered to what a client may hear.

mod digest;
mod finish;
mod legacy;
mod lower;
mod mirror;
mod modern;
mod parked;
mod seal;
pub(crate) use seal::unguessable;

pub(crate) use finish::Identity;
pub(crate) use legacy::{LegacyReply, Out, initialize_result, lifted_meta};
pub(crate) use mirror::{ToolHeaders, check_version};
pub(crate) use modern::{Head, ModernReply, ModernRequest, Refused, unsupported};
pub(crate) use parked::Parking;
