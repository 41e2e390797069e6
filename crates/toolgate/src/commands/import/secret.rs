//! What is a secret: by the name it has, or by what it looks like. In doubt it is one.

const NAMES: [&str; 10] =
    ["token", "key", "secret", "password", "passwd", "authorization", "credential", "cookie", "bearer", "auth"];

const BEGINNINGS: [&str; 22] = [
    "sk-",
    "sk_",
    "rk_",
    "pk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "akia",
    "aiza",
    "eyj",
    "bearer ",
    "basic ",
    "-----begin",
    "npm_",
    "hf_",
];

/// Whether a value is to be kept out of sight.
pub fn is_secret(name: &str, value: &str) -> bool {
    !value.is_empty() && (is_secret_name(name) || looks_secret(value))
}

pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NAMES.iter().any(|word| name.contains(word))
}

pub fn looks_secret(value: &str) -> bool {
    let lower = value.trim_start().to_ascii_lowercase();
    BEGINNINGS.iter().any(|beginning| lower.starts_with(beginning)) || has_credentials(value) || is_random(value)
}

/// `scheme://user:password@host`, or a query like `?api_key=…`.
fn has_credentials(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else {
        return false;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or("");
    let query = rest.split_once('?').map_or("", |(_, query)| query);
    let given = |pair: &str| pair.split_once('=').is_some_and(|(name, value)| is_secret(name, value));
    host.contains('@') || query.split(['&', '#']).any(given)
}

/// Long, of one piece, letters and digits mixed: made by a machine.
fn is_random(value: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-.".contains(&byte);
    value.len() >= 32
        && value.bytes().all(fits)
        && !value.starts_with(['/', '.'])
        && value.matches('/').count() < 3
        && value.bytes().filter(u8::is_ascii_digit).count() >= 4
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Which arguments of a program are secrets: `--api-key X`, `--token=X`, or what looks like one.
pub fn secret_arguments(arguments: &[String]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut named = false;
    for (index, argument) in arguments.iter().enumerate() {
        let is_flag = argument.starts_with('-');
        let with_value = argument.split_once(['=', ':']).is_some_and(|(name, value)| is_secret(name, value.trim()));
        if (named && !is_flag) || with_value || looks_secret(argument) {
            found.push(index);
        }
        named = is_flag && !argument.contains('=') && is_secret_name(argument);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_shapes_give_secrets_away() {
        for (name, value) in [
            ("GITHUB_TOKEN", "x"),
            ("apiKey", "1"),
            ("Authorization", "Bearer abc"),
            ("X", "ghp_0123456789abcdef"),
            ("X", "eyJhbGciOiJIUzI1NiJ9.e30.x"),
            ("DATABASE", "postgres://user:word@host/db"),
            ("ENDPOINT", "https://host/mcp?api_key=1"),
            ("X", "0123456789abcdef0123456789abcdef"),
        ] {
            assert!(is_secret(name, value), "{name} {value}");
        }
        for (name, value) in [
            ("LOG_LEVEL", "debug"),
            ("TOKEN", ""),
            ("ROOT", "/srv/a/very/long/path/to/some/folder/2024/0001"),
            ("ENDPOINT", "https://host.example/mcp?page=2"),
            ("PACKAGE", "@modelcontextprotocol/server-filesystem"),
        ] {
            assert!(!is_secret(name, value), "{name} {value}");
        }
    }

    #[test]
    fn arguments_are_secrets_by_their_flag() {
        let arguments =
            ["-y", "server", "--api-key", "abc", "--token=def", "--verbose", "--header", "Authorization: x"];
        assert_eq!(secret_arguments(&arguments.map(str::to_owned)), [3, 4, 7]);
    }
}
