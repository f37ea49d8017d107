//! Enums whose values have names: in JSON, in records and on command lines.

/// Defines an enum by its values and their names, which are also those of serde.
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])* pub enum $type:ident {
        $($(#[$note:meta])* $value:ident = $name:tt,)+
    }) => {
        $(#[$about])*
        pub enum $type {
            $($(#[$note])* #[serde(rename = $name)] $value,)+
        }

        impl $type {
            /// Every value, in this order.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$value),+];

            /// The name, as clients and files have it.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name,)+
                }
            }

            /// The value of that name, if there is one.
            pub fn by_name(name: &str) -> Option<$type> {
                $type::ALL.into_iter().find(|value| value.name() == name)
            }
        }
    };
}
