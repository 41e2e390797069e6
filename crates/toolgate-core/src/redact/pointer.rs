//! Where a secret is, as an operator writes it: `/card/number`, `/people/*/ssn`.

use std::{fmt, str::FromStr};

/// A JSON pointer (RFC 6901) in which `*` stands for every item of an array or member of an object.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pointer(Vec<Step>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Step {
    Name(String),
    Any,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a JSON pointer: write /name/name, with * for every item and ~0 and ~1 for '~' and '/'")]
pub struct BadPointer(pub String);

impl FromStr for Pointer {
    type Err = BadPointer;

    fn from_str(text: &str) -> Result<Self, BadPointer> {
        let bad = || BadPointer(text.chars().take(100).collect());
        let steps = text.strip_prefix('/').ok_or_else(bad)?;
        let step = |step: &str| match step {
            "*" => Ok(Step::Any),
            name if name.replace("~0", "").replace("~1", "").contains('~') => Err(bad()),
            name => Ok(Step::Name(name.replace("~1", "/").replace("~0", "~"))),
        };
        steps.split('/').map(step).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| match step {
            Step::Any => f.write_str("/*"),
            Step::Name(name) => write!(f, "/{}", name.replace('~', "~0").replace('/', "~1")),
        })
    }
}

/// A place within a document: what is left of the pointers that lead through it.
#[derive(Clone, Default)]
pub(super) struct Way<'a> {
    live: Vec<&'a [Step]>,
}

impl<'a> Way<'a> {
    pub(super) fn root(pointers: &'a [Pointer]) -> Self {
        Self { live: pointers.iter().map(|pointer| pointer.0.as_slice()).collect() }
    }

    /// One step further down; costs nothing where no pointer leads.
    pub(super) fn down(&self, fits: impl Fn(&str) -> bool) -> Self {
        let next = |steps: &&'a [Step]| match steps.split_first() {
            Some((Step::Any, rest)) => Some(rest),
            Some((Step::Name(name), rest)) if fits(name) => Some(rest),
            _ => None,
        };
        Self { live: self.live.iter().filter_map(next).collect() }
    }

    /// Whether a pointer ends here.
    pub(super) fn is_secret(&self) -> bool {
        self.live.iter().any(|steps| steps.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_read_and_written() {
        for text in ["/a", "/a/*/b", "/", "/a~1b/~0/*"] {
            assert_eq!(text.parse::<Pointer>().unwrap().to_string(), text);
        }
        for odd in ["", "a", "a/b", "/~", "/~2"] {
            assert!(odd.parse::<Pointer>().is_err(), "{odd}");
        }
    }
}
