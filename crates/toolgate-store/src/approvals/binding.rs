//! What an approval is bound to.

use aws_lc_rs::digest::{Context, SHA256};

/// Everything that a call must share with an approval to run on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The principal that asks.
    pub asked_by: String,
    pub tenant: Option<String>,
    pub flow: Option<String>,
    pub tool: String,
    pub tool_digest: [u8; 32],
    /// SHA-256 of the canonical arguments.
    pub arguments_digest: [u8; 32],
    pub rulebook_digest: [u8; 32],
}

impl Binding {
    /// The digest of all of it.
    pub(crate) fn exact(&self) -> Vec<u8> {
        self.digest(b"exact", Some(&self.arguments_digest))
    }

    /// The digest without the arguments; only a flow can hold a wide grant.
    pub(super) fn wide(&self) -> Option<Vec<u8>> {
        self.flow.as_ref().map(|_| self.digest(b"wide", None))
    }

    fn digest(&self, kind: &[u8], arguments: Option<&[u8]>) -> Vec<u8> {
        let parts = [
            Some(kind),
            Some(self.asked_by.as_bytes()),
            self.tenant.as_deref().map(str::as_bytes),
            self.flow.as_deref().map(str::as_bytes),
            Some(self.tool.as_bytes()),
            Some(self.tool_digest.as_slice()),
            arguments,
            Some(self.rulebook_digest.as_slice()),
        ];
        let mut context = Context::new(&SHA256);
        for part in parts {
            // Length first, so that no two lists of parts read the same; absent is not empty.
            match part.map(|part| (part, u64::try_from(part.len()).unwrap_or(u64::MAX))) {
                Some((part, length)) => {
                    context.update(&[1]);
                    context.update(&length.to_be_bytes());
                    context.update(part);
                }
                None => context.update(&[0]),
            }
        }
        context.finish().as_ref().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn binding() -> Binding {
        Binding {
            asked_by: "user:ann".into(),
            tenant: Some("t".into()),
            flow: Some("f".into()),
            tool: "tool".into(),
            tool_digest: [1; 32],
            arguments_digest: [2; 32],
            rulebook_digest: [3; 32],
        }
    }

    #[test]
    fn every_part_counts() {
        let same = binding();
        let others = [
            same.clone(),
            Binding { asked_by: "user:annt".into(), tenant: Some(String::new()), ..same.clone() },
            Binding { asked_by: "user:bob".into(), ..same.clone() },
            Binding { tenant: None, ..same.clone() },
            Binding { tenant: Some(String::new()), ..same.clone() },
            Binding { flow: None, ..same.clone() },
            Binding { tenant: Some("f".into()), flow: Some("t".into()), ..same.clone() },
            Binding { tool: "Tool".into(), ..same.clone() },
            Binding { tool_digest: [4; 32], ..same.clone() },
            Binding { arguments_digest: [4; 32], ..same.clone() },
            Binding { rulebook_digest: [4; 32], ..same.clone() },
        ];
        let exact: HashSet<_> = others.iter().map(Binding::exact).collect();
        assert_eq!(exact.len(), others.len());
        assert_eq!(same.exact(), binding().exact());
    }

    #[test]
    fn a_wide_one_forgets_the_arguments_only_and_needs_a_flow() {
        let same = binding();
        assert_eq!(same.wide(), Binding { arguments_digest: [9; 32], ..same.clone() }.wide());
        assert_ne!(same.wide(), Binding { tool_digest: [9; 32], ..same.clone() }.wide());
        assert_ne!(same.wide(), Some(same.exact()));
        assert_eq!(Binding { flow: None, ..same }.wide(), None);
    }
}
