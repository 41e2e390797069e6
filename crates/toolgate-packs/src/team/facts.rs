//! What the gate is told of the team's tools.

use toolgate_core::{
    Facts,
    tool::{Effect, Example, Permission, WhenDenied},
};

/// The facts that a tool of the team has beside those that all of them share.
pub(super) fn fact(permission: Permission, effect: Effect, example: &str, description_ja: &str) -> Facts {
    Facts {
        permission,
        effect,
        when_denied: WhenDenied::Explained,
        help_names: true,
        group: Some("team".to_owned()),
        example: Some(Example(example.to_owned())),
        descriptions: [("ja".to_owned(), description_ja.to_owned())].into(),
        ..Facts::default()
    }
}
