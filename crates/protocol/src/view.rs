//! The `view!` macro: typed, lossless access to one JSON object.
//!
//! A view names the members that the specification defines. All other members stay raw and in
//! order in `rest` and are serialized again. Types and required members are checked strictly,
//! because a caller would otherwise work with an incomplete message. Lists therefore keep their
//! items raw (see [`crate::message::read_items`]), so that one bad item does not invalidate the
//! others.
//!
//! An optional member that is `null` is read as absent and not serialized again. Two kinds of
//! member keep the difference, because `null` has a meaning there: a [`Raw`] (such as
//! `structuredContent`) and a [`Ttl`](crate::message::Ttl).

use crate::{Number, Raw};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, DeserializeSeed, Error as _, MapAccess, Visitor},
    ser::SerializeMap,
};
use std::{
    borrow::Cow,
    fmt::{self, Display},
    marker::PhantomData,
};

/// Defines views. Required members are in the first block and are the arguments of `new`; the
/// second block has the optional members, each an `Option` of the given type. A view may have a
/// constant member, its tag: `pub struct TextContent tagged "type" = "text" { … }`. A view without
/// required members has `Default` instead of `new`.
macro_rules! view {
    (@new $view:ident () ($($may:ident)*)) => {
        impl Default for $view {
            fn default() -> Self {
                Self { $($may: None,)* rest: $crate::Object::new() }
            }
        }
    };
    (@new $view:ident ($($need:ident: $need_ty:ty,)+) ($($may:ident)*)) => {
        impl $view {
            /// Creates it with only the required members.
            pub fn new($($need: impl Into<$need_ty>),+) -> Self {
                Self { $($need: $need.into(),)+ $($may: None,)* rest: $crate::Object::new() }
            }
        }
    };
    ($(
        $(#[$doc:meta])*
        pub struct $view:ident $(tagged $tag:literal = $tag_value:literal)? {
            $($(#[$need_doc:meta])* $need:ident: $need_ty:ty = $need_name:literal,)*
        } optional {
            $($(#[$may_doc:meta])* $may:ident: $may_ty:ty = $may_name:literal,)*
        }
    )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $view {
            $($(#[$need_doc])* pub $need: $need_ty,)*
            $($(#[$may_doc])* pub $may: Option<$may_ty>,)*
            /// Members that this view does not name, in order.
            pub rest: $crate::Object,
        }

        $crate::view::view! { @new $view ($($need: $need_ty,)*) ($($may)*) }

        impl $view {
            /// The object as JSON, the unknown members last.
            pub fn to_raw(&self) -> $crate::Raw {
                $crate::Raw::encode(self).expect("a view has only validated JSON values and string keys")
            }
        }

        impl $crate::view::Member for $view {}

        impl<'de> serde::Deserialize<'de> for $view {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members;

                impl<'de> serde::de::Visitor<'de> for Members {
                    type Value = $view;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("an object (", stringify!($view), ")"))
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$view, A::Error> {
                        $(let mut $need: Option<$need_ty> = None;)*
                        $(let mut $may = $crate::view::Slot::<$may_ty>::default();)*
                        $(let mut tag = $crate::view::Tag::new($tag_value);)?
                        let mut rest = $crate::Object::new();
                        while let Some($crate::view::Name(name)) = map.next_key()? {
                            match name.as_ref() {
                                $($tag => tag.read(&mut map)?,)?
                                $($need_name => $crate::view::read_needed(&mut $need, $need_name, &mut map)?,)*
                                $($may_name => $may.read($may_name, &mut map)?,)*
                                _ => rest.push($crate::object::intern(name), map.next_value()?),
                            }
                        }
                        $(tag.check::<A::Error>($tag)?;)?
                        Ok($view {
                            $($need: $need.ok_or_else(|| serde::de::Error::missing_field($need_name))?,)*
                            $($may: $may.value,)*
                            rest,
                        })
                    }
                }

                deserializer.deserialize_map(Members)
            }
        }

        impl serde::Serialize for $view {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                $(serde::ser::SerializeMap::serialize_entry(&mut map, $tag, $tag_value)?;)?
                $(serde::ser::SerializeMap::serialize_entry(&mut map, $need_name, &self.$need)?;)*
                $($crate::view::write_optional(&mut map, $may_name, self.$may.as_ref())?;)*
                for (name, value) in self.rest.iter() {
                    serde::ser::SerializeMap::serialize_entry(&mut map, name, value)?;
                }
                serde::ser::SerializeMap::end(map)
            }
        }
    )* };
}

/// Defines an enum of string constants. An unknown string is kept, so that it does not invalidate
/// the message.
macro_rules! words {
    ($(
        $(#[$doc:meta])*
        pub enum $words:ident { $($word:ident = $text:literal,)* }
    )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum $words {
            $($word,)*
            /// A string that the specification does not define.
            Unknown(String),
        }

        impl $words {
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$word => $text,)*
                    Self::Unknown(text) => text,
                }
            }
        }

        impl From<&str> for $words {
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$word,)*
                    _ => Self::Unknown(text.to_owned()),
                }
            }
        }

        impl std::fmt::Display for $words {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $words {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(|text| Self::from(text.as_str()))
            }
        }

        impl serde::Serialize for $words {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl $crate::view::Member for $words {}
    )* };
}

/// Defines an enum of tagged views. A value with another tag, or invalid for its tag, is kept raw,
/// so that one bad block does not invalidate the whole result.
macro_rules! choice {
    (
        $(#[$doc:meta])*
        pub enum $choice:ident by $tag:literal { $($(#[$variant_doc:meta])* $variant:ident($view:ident) = $text:literal,)* }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $choice {
            $($(#[$variant_doc])* $variant($view),)*
            /// Has an unknown tag, or is invalid for its tag.
            Unknown($crate::Raw),
        }

        impl $choice {
            /// Reads any value; this never fails.
            pub fn read(raw: $crate::Raw) -> Self {
                match raw.member($tag).as_ref().and_then($crate::Raw::text).as_deref() {
                    $(Some($text) => raw.decode().map(Self::$variant).unwrap_or(Self::Unknown(raw)),)*
                    _ => Self::Unknown(raw),
                }
            }
        }

        $(impl From<$view> for $choice {
            fn from(view: $view) -> Self {
                Self::$variant(view)
            }
        })*

        impl<'de> serde::Deserialize<'de> for $choice {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::Raw::deserialize(deserializer).map(Self::read)
            }
        }

        impl serde::Serialize for $choice {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(view) => view.serialize(serializer),)*
                    Self::Unknown(raw) => raw.serialize(serializer),
                }
            }
        }
    };
}

pub(crate) use {choice, view, words};

/// A type that can be an optional member of a view.
pub(crate) trait Member: DeserializeOwned {
    /// Reads the member's value; `None` if it is treated as absent.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Option::<Self>::deserialize(deserializer)
    }
}

impl Member for String {}
impl Member for bool {}
impl Member for Number {}
impl<T: DeserializeOwned> Member for Vec<T> {}
impl Member for Raw {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Raw::deserialize(deserializer).map(Some)
    }
}

/// A member name, borrowed from the text if it has no escapes.
pub(crate) struct Name<'a>(pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member name")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }

        deserializer.deserialize_str(Text)
    }
}

/// An optional member while its object is being read.
pub(crate) struct Slot<T> {
    seen: bool,
    pub(crate) value: Option<T>,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self { seen: false, value: None }
    }
}

impl<T: Member> Slot<T> {
    pub(crate) fn read<'de, A: MapAccess<'de>>(
        &mut self,
        name: &'static str,
        map: &mut A,
    ) -> Result<(), A::Error> {
        if std::mem::replace(&mut self.seen, true) {
            return Err(A::Error::duplicate_field(name));
        }
        self.value = map.next_value_seed(Optional(PhantomData)).map_err(|e| at::<A::Error>(name, &e))?;
        Ok(())
    }
}

/// The constant member of a tagged view.
pub(crate) struct Tag {
    want: &'static str,
    seen: bool,
}

impl Tag {
    pub(crate) fn new(want: &'static str) -> Self {
        Self { want, seen: false }
    }

    pub(crate) fn read<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        let text: String = map.next_value()?;
        if self.seen || text != self.want {
            return Err(A::Error::custom(format_args!("expected one tag `{}`, found `{text}`", self.want)));
        }
        self.seen = true;
        Ok(())
    }

    pub(crate) fn check<E: serde::de::Error>(&self, name: &'static str) -> Result<(), E> {
        if self.seen { Ok(()) } else { Err(E::missing_field(name)) }
    }
}

pub(crate) fn read_needed<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    slot: &mut Option<T>,
    name: &'static str,
    map: &mut A,
) -> Result<(), A::Error> {
    let value = map.next_value().map_err(|e| at::<A::Error>(name, &e))?;
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(A::Error::duplicate_field(name)),
    }
}

pub(crate) fn write_optional<M: SerializeMap, T: Serialize>(
    map: &mut M,
    name: &'static str,
    value: Option<&T>,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(name, value))
}

struct Optional<T>(PhantomData<T>);

impl<'de, T: Member> DeserializeSeed<'de> for Optional<T> {
    type Value = Option<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<T>, D::Error> {
        T::read(deserializer)
    }
}

fn at<E: serde::de::Error>(name: &str, error: &impl Display) -> E {
    E::custom(format_args!("`{name}`: {error}"))
}
