//! The settings of a method, written once: [`settings!`](crate::settings) makes a struct of them together with defaults,
//! ranges, help and a builder, [`choices!`](crate::choices) an enum whose variants are the words that a setting takes.

use super::method::{Amount, Count, PlainValue, Setting};
use crate::error::Result;

/// The settings of a method: what [`settings!`](crate::settings) writes.
pub trait Settings {
    /// Name, domain and help of each, in the order of the struct.
    const SETTINGS: &'static [Setting];

    /// An error if one is outside of its domain.
    fn check_domains(&self) -> Result<()>;
}

/// A type that a setting may have.
pub trait SettingValue {
    /// The value as the domain of a setting looks at it.
    fn plain(&self) -> PlainValue<'_>;
}

impl SettingValue for f64 {
    fn plain(&self) -> PlainValue<'_> {
        PlainValue::Number(*self)
    }
}

macro_rules! whole {
    ($($type:ty),*) => {$(
        impl SettingValue for $type {
            fn plain(&self) -> PlainValue<'_> {
                PlainValue::Integer(*self as u64)
            }
        }

        impl IntoSetting<$type> for $type {
            fn into_setting(self) -> $type {
                self
            }
        }
    )*};
}

whole!(u32, u64, usize);

impl SettingValue for bool {
    fn plain(&self) -> PlainValue<'_> {
        PlainValue::Boolean(*self)
    }
}

impl SettingValue for String {
    fn plain(&self) -> PlainValue<'_> {
        PlainValue::Text(self.into())
    }
}

impl SettingValue for Amount {
    fn plain(&self) -> PlainValue<'_> {
        match self {
            Amount::Auto => PlainValue::Text("auto".into()),
            Amount::Fixed(amount) => amount.plain(),
        }
    }
}

impl SettingValue for Count {
    fn plain(&self) -> PlainValue<'_> {
        match self {
            Count::Auto => PlainValue::Text("auto".into()),
            Count::Fixed(count) => count.plain(),
        }
    }
}

/// What a builder takes for a setting of type `T`.
pub trait IntoSetting<T> {
    /// The value of the setting.
    fn into_setting(self) -> T;
}

impl IntoSetting<f64> for f64 {
    fn into_setting(self) -> f64 {
        self
    }
}

impl IntoSetting<bool> for bool {
    fn into_setting(self) -> bool {
        self
    }
}

impl IntoSetting<String> for &str {
    fn into_setting(self) -> String {
        self.to_string()
    }
}

impl IntoSetting<String> for String {
    fn into_setting(self) -> String {
        self
    }
}

impl IntoSetting<Amount> for f64 {
    fn into_setting(self) -> Amount {
        Amount::Fixed(self)
    }
}

impl IntoSetting<Amount> for Amount {
    fn into_setting(self) -> Amount {
        self
    }
}

impl IntoSetting<Count> for usize {
    fn into_setting(self) -> Count {
        Count::Fixed(self)
    }
}

impl IntoSetting<Count> for Count {
    fn into_setting(self) -> Count {
        self
    }
}

/// A setting that is written as a text with a grammar of its own: its value is checked, and a builder takes it, as that text.
macro_rules! written_setting {
    ($type:ty) => {
        impl $crate::learn::SettingValue for $type {
            fn plain(&self) -> $crate::learn::PlainValue<'_> {
                $crate::learn::PlainValue::Text(String::from(self.clone()).into())
            }
        }

        impl $crate::learn::IntoSetting<$type> for $type {
            fn into_setting(self) -> $type {
                self
            }
        }
    };
}
pub(crate) use written_setting;

/// Writes the settings struct of a method: fields, defaults, domains and help once, and a builder.
///
/// The doc comment of a field is its help. `pub struct KMeans(k)` makes `KMeans::new(k)`; without a name in brackets `new()`
/// takes nothing.
///
/// ```
/// use quince::learn::{Domain, Settings};
///
/// quince::settings! {
///     /// A method.
///     pub struct Method {
///         /// What the squared length of the coefficients costs.
///         alpha: f64 = 1.0, in Domain::Number(0.0, f64::MAX);
///         /// Whether to add a constant.
///         intercept: bool = true, in Domain::Boolean;
///     }
/// }
///
/// let method = Method::new().alpha(-1.0);
/// assert!(method.intercept);
/// assert_eq!(method.check_domains().unwrap_err().to_string(), "setting 'alpha' cannot be -1");
/// assert_eq!(Method::SETTINGS[0].help, "What the squared length of the coefficients costs.");
/// ```
#[macro_export]
macro_rules! settings {
    (
        $(#[$about:meta])*
        pub struct $name:ident $(($first:ident))? {
            $(
                $(#[doc = $help:literal])+
                $field:ident: $type:ty = $default:expr, in $domain:expr;
            )*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, $crate::serde::Serialize, $crate::serde::Deserialize)]
        #[serde(deny_unknown_fields, default, crate = "quince::serde")]
        pub struct $name {
            $($(#[doc = $help])+ pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> $name {
                $name { $($field: $default,)* }
            }
        }

        impl $crate::learn::Settings for $name {
            const SETTINGS: &'static [$crate::learn::Setting] = &[
                $($crate::learn::Setting {
                    name: stringify!($field),
                    domain: $domain,
                    help: concat!($($help),+).trim_ascii(),
                },)*
            ];

            fn check_domains(&self) -> $crate::Result<()> {
                let mut settings = Self::SETTINGS.iter();
                $(if let Some(setting) = settings.next() {
                    setting.check(&$crate::learn::SettingValue::plain(&self.$field))?;
                })*
                Ok(())
            }
        }

        impl $name {
            $crate::settings!(@new $name $($first)?);

            $($(#[doc = $help])+
            #[must_use]
            pub fn $field(mut self, $field: impl $crate::learn::IntoSetting<$type>) -> $name {
                self.$field = $field.into_setting();
                self
            })*
        }
    };
    (@new $name:ident) => {
        /// The defaults.
        pub fn new() -> $name {
            $name::default()
        }
    };
    (@new $name:ident $first:ident) => {
        /// The defaults but for this one.
        pub fn new($first: impl $crate::learn::IntoSetting<$crate::learn::Count>) -> $name {
            $name { $first: $first.into_setting(), ..$name::default() }
        }
    };
}

/// Writes an enum whose variants are the words that a setting takes.
///
/// ```
/// quince::choices! {
///     /// How ties are broken.
///     pub enum Ties {
///         /// The first.
///         #[default]
///         First = "first",
///         /// All of them.
///         All = "all",
///     }
/// }
///
/// assert_eq!(Ties::NAMES, ["first", "all"]);
/// assert_eq!(Ties::All.name(), "all");
/// ```
#[macro_export]
macro_rules! choices {
    (
        $(#[$about:meta])*
        pub enum $name:ident {
            $(
                $(#[$variant_about:meta])+
                $variant:ident = $word:literal,
            )+
        }
    ) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, $crate::serde::Serialize, $crate::serde::Deserialize,
        )]
        #[serde(crate = "quince::serde")]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_about])+ #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// The words, in order.
            pub const NAMES: &'static [&'static str] = &[$($word),+];

            /// What a setting of this type takes.
            pub const DOMAIN: $crate::learn::Domain = $crate::learn::Domain::Choice($name::NAMES);

            /// The word of this choice.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }

        impl $crate::learn::SettingValue for $name {
            fn plain(&self) -> $crate::learn::PlainValue<'_> {
                $crate::learn::PlainValue::Text(self.name().into())
            }
        }

        impl $crate::learn::IntoSetting<$name> for $name {
            fn into_setting(self) -> $name {
                self
            }
        }
    };
}
