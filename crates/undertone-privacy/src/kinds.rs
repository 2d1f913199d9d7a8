//! Mechanisms by the names that people type.

/// Declares the enum of a family's mechanisms with their names. The list of all of them is made from the same lines as
/// the enum, so that none can be forgotten where all are gone through.
macro_rules! kinds {
    ($(#[$doc:meta])* $kinds:ident { $($(#[$kind_doc:meta])* $kind:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $kinds {
            $($(#[$kind_doc])* $kind,)*
        }

        impl $kinds {
            /// All of them.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// How it is called in tasks and on the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }

        impl core::str::FromStr for $kinds {
            type Err = $crate::PrivacyError;

            fn from_str(name: &str) -> Result<Self, $crate::PrivacyError> {
                match name {
                    $($name => Ok(Self::$kind),)*
                    _ => Err($crate::PrivacyError::UnknownKind { name: name.into(), known: &[$($name),*] }),
                }
            }
        }

        impl core::fmt::Display for $kinds {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

pub(crate) use kinds;
