//! Names of tools: a server's own name for a tool, and the public name in a list that several
//! servers share.
//!
//! A public name is `<server>_<tool>`, of `[A-Za-z0-9_-]`, at most 64 characters, because clients
//! break on anything else. A server name has no `_`, so the first `_` of a public name always ends
//! the server's part: names of different servers never collide, whatever the tools are named.
//!
//! Within one server a tool keeps its name if that is allowed and short enough. Otherwise each
//! other character becomes `_`, the name is truncated, and a suffix is added: `_x` with ten
//! characters of a hash of the whole tool name. A tool name that already ends like such a suffix
//! gets one too, so names with and without suffix cannot collide either. Two names with a suffix
//! are equal only if their hashes collide; [`NameMap`] detects that and refuses the second.

use std::{collections::BTreeMap, fmt, str::FromStr};

/// Maximum length of a public name, in characters.
pub const MAX_PUBLIC_NAME: usize = 64;
/// Maximum length of a server name, in characters. It leaves half of a public name for the tool.
pub const MAX_SERVER_NAME: usize = 32;

const HASH_LEN: usize = 10;
const SUFFIX_START: &str = "_x";

/// The name of a server in the configuration: 1 to 32 of `[A-Za-z0-9-]`, beginning with a letter
/// or digit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerName(String);

/// A server's own name for a tool: any text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolName(String);

/// The name of a tool that clients see, unique among all servers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicName(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` cannot name a server: 1 to 32 letters, digits or `-`, beginning with a letter or digit")]
pub struct BadServerName(pub String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a name of the form `<server>_<tool>`")]
pub struct BadPublicName(pub String);

/// The public name is already in use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tool `{tool}` of `{server}` would get the name `{public}`, which `{taken_by}` already has")]
pub struct Collision {
    pub public: PublicName,
    pub server: ServerName,
    pub tool: ToolName,
    pub taken_by: ToolName,
}

/// Maps the public names in use to their server and tool.
#[derive(Debug, Clone, Default)]
pub struct NameMap(BTreeMap<PublicName, (ServerName, ToolName)>);

impl PublicName {
    pub fn join(server: &ServerName, tool: &ToolName) -> Self {
        let room = MAX_PUBLIC_NAME - server.0.len() - 1;
        if is_plain(&tool.0) && tool.0.len() <= room {
            return Self(format!("{server}_{tool}"));
        }
        let kept: String =
            tool.0.chars().take(room - SUFFIX_START.len() - HASH_LEN).map(plain_char).collect();
        Self(format!("{server}_{kept}{SUFFIX_START}{}", hash(&tool.0)))
    }

    /// The part before the first `_`.
    pub fn server(&self) -> ServerName {
        let end = self.0.find('_').unwrap_or(self.0.len());
        ServerName(self.0[..end].to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl NameMap {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool and returns its public name. A name in use is refused, even if the same server
    /// lists the same tool twice.
    pub fn insert(&mut self, server: &ServerName, tool: &ToolName) -> Result<PublicName, Collision> {
        let public = PublicName::join(server, tool);
        if let Some((_, taken_by)) = self.0.get(&public) {
            let taken_by = taken_by.clone();
            return Err(Collision { public, server: server.clone(), tool: tool.clone(), taken_by });
        }
        self.0.insert(public.clone(), (server.clone(), tool.clone()));
        Ok(public)
    }

    /// The server and tool of a public name.
    pub fn get(&self, public: &PublicName) -> Option<(&ServerName, &ToolName)> {
        self.0.get(public).map(|(server, tool)| (server, tool))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&PublicName, &ServerName, &ToolName)> {
        self.0.iter().map(|(public, (server, tool))| (public, server, tool))
    }
}

fn is_plain(tool: &str) -> bool {
    !tool.is_empty() && tool.chars().all(|c| plain_char(c) == c) && !has_suffix(tool)
}

fn plain_char(c: char) -> char {
    if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }
}

fn has_suffix(tool: &str) -> bool {
    let Some((_, suffix)) = tool.split_at_checked(tool.len().saturating_sub(SUFFIX_START.len() + HASH_LEN))
    else {
        return false;
    };
    suffix.len() == SUFFIX_START.len() + HASH_LEN
        && suffix.strip_prefix(SUFFIX_START).is_some_and(|hash| hash.bytes().all(|b| DIGITS.contains(&b)))
}

const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";

/// The upper 50 bits of a 64-bit FNV-1a hash, in base 32. It must be stable but need not be
/// strong: see the module docs.
fn hash(text: &str) -> String {
    let fnv = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let digit = |place: usize| char::from(DIGITS[((fnv >> (59 - 5 * place)) & 31) as usize]);
    (0..HASH_LEN).map(digit).collect()
}

impl FromStr for ServerName {
    type Err = BadServerName;

    fn from_str(text: &str) -> Result<Self, BadServerName> {
        let good = text.len() <= MAX_SERVER_NAME
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && text.starts_with(|c: char| c.is_ascii_alphanumeric());
        if good { Ok(Self(text.to_owned())) } else { Err(BadServerName(text.to_owned())) }
    }
}

impl FromStr for PublicName {
    type Err = BadPublicName;

    fn from_str(text: &str) -> Result<Self, BadPublicName> {
        let bad = || BadPublicName(text.to_owned());
        let (server, tool) = text.split_once('_').ok_or_else(bad)?;
        let good = text.len() <= MAX_PUBLIC_NAME
            && server.parse::<ServerName>().is_ok()
            && !tool.is_empty()
            && tool.chars().all(|c| plain_char(c) == c);
        if good { Ok(Self(text.to_owned())) } else { Err(bad()) }
    }
}

impl From<&str> for ToolName {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for ToolName {
    fn from(text: String) -> Self {
        Self(text)
    }
}

macro_rules! text {
    ($($name:ident)*) => { $(
        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )* };
}

text! { ServerName ToolName PublicName }

#[cfg(test)]
mod tests;
