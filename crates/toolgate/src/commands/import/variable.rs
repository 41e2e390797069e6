//! Variables in a client's file: `${VAR}`, `${env:VAR}`, `${VAR:-default}`, `${input:id}`.

/// What a text says of variables.
#[derive(Debug, PartialEq, Eq)]
pub enum Reading<'t> {
    /// None in it.
    Plain,
    /// Nothing but one.
    One(Variable<'t>),
    /// One or more among other text, or one of the editor's own like `${workspaceFolder}`.
    Mixed,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Variable<'t> {
    pub name: String,
    /// What is asked of the person by this id.
    pub input: Option<&'t str>,
    pub has_default: bool,
}

pub fn read(text: &str) -> Reading<'_> {
    let Some((before, rest)) = text.split_once("${") else {
        return Reading::Plain;
    };
    let Some((inner, after)) = rest.split_once('}') else {
        return Reading::Plain;
    };
    if !before.trim().is_empty() || !after.trim().is_empty() {
        return Reading::Mixed;
    }
    variable(inner).map_or(Reading::Mixed, Reading::One)
}

fn variable(inner: &str) -> Option<Variable<'_>> {
    if let Some(id) = inner.strip_prefix("input:") {
        let name = shouted(id);
        return (!name.is_empty()).then_some(Variable { name, input: Some(id), has_default: false });
    }
    let (name, default) = match inner.strip_prefix("env:") {
        Some(name) => (name, None),
        None => inner.split_once(":-").map_or((inner, None), |(name, default)| (name, Some(default))),
    };
    // the editor's own are in camel case, variables are not
    let is_editors = !inner.starts_with("env:")
        && matches!(name, "workspaceFolder" | "userHome" | "cwd" | "pathSeparator" | "workspaceFolderBasename");
    let fits = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let begins = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    (fits && begins && !is_editors).then(|| Variable {
        name: name.to_owned(),
        input: None,
        has_default: default.is_some(),
    })
}

/// A name of a variable: `api-key` is `API_KEY`.
pub fn shouted(text: &str) -> String {
    let name: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Option<(String, bool)> {
        match read(text) {
            Reading::One(variable) => Some((variable.name, variable.has_default)),
            _ => None,
        }
    }

    #[test]
    fn a_variable_alone_is_read_in_every_form() {
        assert_eq!(one("${TOKEN}"), Some(("TOKEN".to_owned(), false)));
        assert_eq!(one("${env:TOKEN}"), Some(("TOKEN".to_owned(), false)));
        assert_eq!(one("${TOKEN:-none}"), Some(("TOKEN".to_owned(), true)));
        assert_eq!(one("${input:api-key}"), Some(("API_KEY".to_owned(), false)));
        for other in ["Bearer ${TOKEN}", "${A}${B}", "${workspaceFolder}", "${1}", "${command:x}", "${}"] {
            assert_eq!(read(other), Reading::Mixed, "{other}");
        }
        for plain in ["", "x", "$HOME", "${unclosed"] {
            assert_eq!(read(plain), Reading::Plain, "{plain}");
        }
    }
}
