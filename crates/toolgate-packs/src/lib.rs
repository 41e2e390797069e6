//! Built-in tools, a folder per pack.
