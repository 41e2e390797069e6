//! Lookups that lead nowhere: what they cost, and which addresses are among them.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::{address::normal_address, gate::Gate, tool::Kind, view::View};

impl Gate {
    /// Takes the decisions that a hidden tool takes, for a name that leads nowhere: the time of an answer does not tell one
    /// from the other. The same name takes the same decisions, which a view remembers alike.
    pub(crate) fn decide_in_vain(&self, view: &View, kind: Kind, name: &str) {
        // an address may also be one of a template's, or one that the operator has attributes of
        let kinds: &[Kind] = match kind {
            Kind::Resource => &[Kind::Resource, Kind::Template, Kind::Address],
            _ => &[kind],
        };
        let indexes = || kinds.iter().flat_map(|kind| self.catalog().shelf(*kind));
        let place = usize::from_le_bytes(name_bytes(name)).checked_rem(indexes().count());
        let Some(index) = place.and_then(|place| indexes().nth(place)) else { return };
        let Some(entry) = self.catalog().entry(index) else { return };
        let verdict = if kind == Kind::Resource && self.rulebook().singles_out(name) {
            self.verdict_on(view, &entry.tool, name, false, false)
        } else {
            self.verdict(view, index, false, false)
        };
        std::hint::black_box((verdict, view.shows(self, index)));
    }

    /// True for an address that a server lists in another than the normal form, where some rule reads addresses or names
    /// the normal one: the rule would not hold for the server's spelling.
    pub(crate) fn dodges_a_rule(&self, address: &str) -> bool {
        let normal = normal_address(address);
        normal != address && self.rulebook().singles_out(&normal)
    }
}

/// Bytes that a name chooses, spread evenly.
fn name_bytes(name: &str) -> [u8; size_of::<usize>()] {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let mut bytes = [0; size_of::<usize>()];
    bytes.iter_mut().zip(hasher.finish().to_le_bytes()).for_each(|(byte, hashed)| *byte = hashed);
    bytes
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use crate::{
        Blueprint, Caller, Facts, Found, Gate, Lang, Tool, ToolName,
        caller::{Flow, UserId},
        tool::{Kind, Permission},
    };

    fn hidden(name: &str) -> Tool {
        let definition = format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
        let name = ToolName::new(name).unwrap();
        hidden_of(Kind::Tool, name.clone(), name.to_wire(), definition)
    }

    fn hidden_template(text: &str) -> Tool {
        let name = ToolName::free(text).unwrap();
        hidden_of(Kind::Template, name.clone(), name, format!(r#"{{"name":"t","uriTemplate":"{text}"}}"#))
    }

    fn hidden_of(kind: Kind, name: ToolName, wire_name: ToolName, definition: String) -> Tool {
        Tool {
            kind,
            wire_name,
            own_name: name.clone(),
            name,
            source: "s".into(),
            definition: RawValue::from_string(definition).unwrap().into(),
            facts: Facts { permission: Permission::OperatorOnly, ..Facts::default() },
        }
    }

    /// A caller of a class that nobody has seen: in a flow with a list of its own.
    fn newcomer(number: usize) -> Caller {
        let allowlist = Some([format!("list_{number}")].into());
        Caller {
            user: UserId::own("ann").ok(),
            flow: Some(Flow { id: "f".to_owned(), allowlist }),
            ..Caller::default()
        }
    }

    #[test]
    fn an_unknown_address_takes_the_decisions_of_one_that_a_hidden_template_leads_to() {
        let tools = vec![hidden_template("note://{name}"), hidden_template("file:///{+path}")];
        let gate = Gate::new(Blueprint { tools, ..Blueprint::default() }).unwrap();
        let decisions = |number: usize, address: &str| {
            let caller = newcomer(number);
            let view = gate.view(&caller).unwrap();
            let found = gate.find_any(&view, &caller, (Kind::Resource, address), (false, false), Lang::En);
            assert!(matches!(found, Found::Nothing), "{address}");
            view.decisions()
        };
        let of_hidden = decisions(1, "note://private");
        assert!(of_hidden > 0);
        assert_eq!(decisions(2, "other://private"), of_hidden);
        assert_eq!(decisions(3, "file:///x/../y"), of_hidden, "one that is not normal");
    }

    #[test]
    fn an_unknown_name_takes_the_decisions_of_a_hidden_one_and_neither_makes_the_list() {
        let tools = (0..60).map(|n| hidden(&format!("hidden_{n}"))).collect();
        let gate = Gate::new(Blueprint { tools, ..Blueprint::default() }).unwrap();
        let decisions = |number: usize, name: &str| {
            let caller = newcomer(number);
            let view = gate.view(&caller).unwrap();
            for _ in 0..3 {
                assert!(matches!(gate.find(&view, &caller, name, false, false, Lang::En), Found::Nothing));
                gate.help_on(&view, &caller, name, Lang::En);
            }
            assert!(!view.has_list(Kind::Tool), "{name}");
            view.decisions()
        };
        let of_hidden = decisions(1, "hidden_7");
        assert!(of_hidden > 0);
        for (number, name) in ["unknown", "hidden_8", "hidden_99", "x"].into_iter().enumerate() {
            assert_eq!(decisions(number + 2, name), of_hidden, "{name}");
        }
    }
}
