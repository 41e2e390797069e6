//! A model that sees texts alone can undo what it did: the answer of a write names its receipt in a last block.

use serde_json::{Value, json};

use super::bed::{
    home::Home,
    message::{ERAS, Era, Message},
    served::Served,
};

const CONFIG: &str = "[packs.todo]\n[packs.spine]\n[packs.workspace]\nopen = true\n";

fn call(gate: &Served, era: Era, token: &str, tool: &str, arguments: Value) -> Value {
    gate.ask(&Message::call(era, tool, arguments).bearer(token)).result()
}

fn add(gate: &Served, era: Era, token: &str) -> Value {
    call(gate, era, token, "add_task", json!({"title": "Buy milk"}))
}

fn blocks(answer: &Value) -> &[Value] {
    answer["content"].as_array().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_model_undoes_a_write_by_what_it_reads() {
    let home = Home::with(CONFIG);
    let gate = home.serve();
    let ann = home.mint("--user ann");
    for era in ERAS {
        let answer = add(&gate, era, &ann);
        let [own, note] = blocks(&answer) else { panic!("two blocks: {answer}") };
        let said: Value = serde_json::from_str(own["text"].as_str().unwrap()).unwrap();
        assert_eq!(said, answer["structuredContent"], "the tool's own block comes first, as it is");
        assert_eq!((own.get("annotations"), &note["annotations"]), (None, &json!({"audience": ["assistant"]})));
        let text = note["text"].as_str().unwrap();
        let (_, arguments) = text.split_once(" call the tool 'undo' with ").unwrap_or_else(|| panic!("{text}"));
        let arguments: Value = serde_json::from_str(arguments.trim_end_matches('.')).unwrap();
        assert_eq!(arguments, json!({"receipt": answer["_meta"]["toolgate/receipt"]}));
        let undone = call(&gate, era, &ann, "undo", arguments);
        assert_eq!(undone["isError"], false, "{undone}");
        let listed = call(&gate, era, &ann, "list_tasks", json!({}));
        assert_eq!((blocks(&listed).len(), &listed["structuredContent"]["tasks"]), (1, &json!([])), "a read has none");
    }
    let japanese =
        Message::call(Era::Late, "add_task", json!({"title": "x"})).bearer(&ann).header("Accept-Language", "ja");
    let answer = gate.ask(&japanese).result();
    assert!(blocks(&answer)[1]["text"].as_str().unwrap().starts_with("レシート rcpt_"), "{answer}");
    let written = json!({"key": "k", "content": "c", "reason": "r"});
    let written = call(&gate, Era::Modern, &ann, "write_knowledge", written);
    let text = blocks(&written)[1]["text"].as_str().unwrap();
    assert!(text.contains("can't be undone: "), "{text}");
}

#[test]
fn who_may_not_undo_reads_nothing_of_receipts_and_the_operator_can_switch_it_off() {
    let without = Home::with("[packs.todo]\n");
    let off = Home::with(&format!("receipt_notes = false\n{CONFIG}"));
    let on = Home::with(CONFIG);
    for (home, facts) in [(&without, "--user ann"), (&off, "--user ann"), (&on, "--user ann --flow f --allow add_task")]
    {
        let (gate, token) = (home.serve(), home.mint(facts));
        let answer = add(&gate, Era::Modern, &token);
        assert_eq!(blocks(&answer).len(), 1, "{answer}");
        assert!(answer["_meta"]["toolgate/receipt"].is_string(), "{answer}");
    }
}
