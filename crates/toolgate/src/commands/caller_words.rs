//! The attributes of a credential in words, for people who read a list.

use toolgate_server::identity::Claims;

/// `user alice, tenant acme, role admin`
pub fn in_words(claims: &Claims) -> String {
    let named = [
        ("user", &claims.user),
        ("tenant", &claims.tenant),
        ("role", &claims.role),
        ("plan", &claims.plan),
        ("agent", &claims.agent),
        ("kind", &claims.kind),
        ("project", &claims.project),
        ("purpose", &claims.purpose),
        ("task", &claims.task),
        ("flow", &claims.flow),
        ("runtime", &claims.runtime),
    ];
    let named = named.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?)));
    let mut words: Vec<String> = named.collect();
    match &claims.allow {
        None => {}
        Some(allow) if allow.is_empty() => words.push("no tools".to_owned()),
        Some(allow) => {
            words.push(format!("tools {}", allow.iter().map(String::as_str).collect::<Vec<_>>().join(" ")));
        }
    }
    words.extend(claims.scopes.iter().map(|scope| format!("scope {scope}")));
    if claims.operator {
        words.push("operator".to_owned());
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_named_and_absent_ones_left_out() {
        let claims = Claims {
            user: Some("alice".to_owned()),
            tenant: Some("acme".to_owned()),
            flow: Some("f".to_owned()),
            allow: Some(["b".to_owned(), "a".to_owned()].into()),
            scopes: ["approve".to_owned()].into(),
            operator: true,
            ..Claims::default()
        };
        assert_eq!(in_words(&claims), "user alice, tenant acme, flow f, tools a b, scope approve, operator");
        assert_eq!(in_words(&Claims::default()), "");
    }
}
