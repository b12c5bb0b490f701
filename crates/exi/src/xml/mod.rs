//! XML text to events and back: a namespace-aware reader and a writer.
