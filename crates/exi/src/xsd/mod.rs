//! XML Schema documents lowered to the tables of [`crate::grammar`].
