//! Approvals over HTTP: who may see, who may answer, and what everybody else learns (nothing).

use serde_json::{Value, json};

use super::{
    approvals_asked::{CONFIG, home, home_with, id, pay},
    bed::{
        home::Home,
        http::{Answer, Request},
        message::{Era, Message},
        served::Served,
    },
};

const ROOT: &str = "/api/v1/approvals";

fn get(gate: &Served, token: &str, path: &str) -> Answer {
    gate.send(&Request::new("GET", &format!("{ROOT}{path}")).bearer(token))
}

fn post(gate: &Served, token: &str, path: &str, body: &str) -> Answer {
    let request = Request { path: format!("{ROOT}{path}"), ..Request::json(body) };
    gate.send(&request.bearer(token))
}

fn code(answer: &Answer) -> (u16, String) {
    let message = answer.message();
    assert!(message["message"].is_string(), "every problem has words: {message}");
    (answer.status, message["code"].as_str().unwrap().to_owned())
}

fn ids(answer: &Answer) -> Vec<String> {
    let listed = answer.message();
    let listed = listed["approvals"].as_array().unwrap_or_else(|| panic!("{listed}")).clone();
    listed.iter().map(|approval| approval["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_owner_approves_what_an_agent_asked_for_and_the_agent_never_does() {
    let home = home("");
    let gate = home.serve();
    let agent = home.mint("--user ann --agent scribe --kind worker --scope approve");
    let (ann, plain) = (home.mint("--user ann --scope approve"), home.mint("--user ann"));
    let id = id(&gate.ask(&pay(Era::Modern, &agent, 1)));
    let path = format!("/{id}/approve");
    assert_eq!(code(&post(&gate, &agent, &path, "{}")), (403, "person_required".to_owned()));
    assert_eq!(code(&post(&gate, &plain, &path, "{}")), (403, "approve_scope_required".to_owned()));
    let shown = get(&gate, &ann, &format!("/{id}")).message();
    assert_eq!((&shown["state"], &shown["shown"]["arguments"]["amount"]), (&json!("pending"), &json!(1)));
    assert_eq!(
        shown["shown"]["preview"],
        json!({"kind": "static"}),
        "the source has no dry run of its own, and it says so"
    );
    assert!(!shown.to_string().contains("4111-secret"));
    let granted = post(&gate, &ann, &path, "{}");
    assert_eq!((granted.status, &granted.message()["answered_by"]), (200, &json!("user:ann")), "{}", granted.text());
    assert_eq!(code(&post(&gate, &ann, &path, "{}")), (409, "answered".to_owned()));
    assert_eq!(gate.ask(&pay(Era::Modern, &agent, 1)).verdict(), "ok");
    let records = home.run(&["ledger", "export"]).out;
    let records = records.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["record"].clone());
    let answers: Vec<Value> = records.filter(|record| record["kind"] == "answer").collect();
    let told = |answer: &Value| [answer["principal"].clone(), answer["outcome"].clone(), answer["approval"].clone()];
    let told: Vec<_> = answers.iter().map(told).collect();
    let by = |principal: &str, outcome: &str| [json!(principal), json!(outcome), json!(id)];
    let by_ann = |outcome: &str| by("user:ann", outcome);
    let refused = [by("user:ann agent:scribe", "refused"), by_ann("refused")];
    assert_eq!(told[..2], refused, "who may not answer is on record with the attempt");
    assert_eq!(told[2..], [by_ann("granted"), by_ann("granted"), by_ann("refused")]);
    assert!(!answers[0].to_string().contains("4111-secret"), "{}", answers[0]);
}

#[test]
fn what_a_caller_may_not_see_is_to_the_byte_what_is_not_there() {
    let home = home("");
    let gate = home.serve();
    let (ann, bob) = (home.mint("--user ann"), home.mint("--user bob --scope approve"));
    let other = home.mint("--user ann --scope approve --tenant rival --role owner");
    let id = id(&gate.ask(&pay(Era::Modern, &ann, 1)));
    for stranger in [&bob, &other] {
        assert_eq!(ids(&get(&gate, stranger, "")), [""; 0]);
        let all = |id: &str| {
            let answers = [
                get(&gate, stranger, &format!("/{id}")),
                post(&gate, stranger, &format!("/{id}/approve"), "{}"),
                post(&gate, stranger, &format!("/{id}/deny"), "{\"reason\":\"x\"}"),
            ];
            answers.map(|answer| {
                let headers: Vec<_> = answer.headers.into_iter().filter(|(name, _)| name != "date").collect();
                (answer.status, headers, answer.body)
            })
        };
        let there = all(&id);
        assert!(there.iter().all(|(status, ..)| *status == 404));
        assert_eq!(there, all("appr_0000000000000000"));
    }
    assert_eq!(home.json(&["approvals", "show", &id])["state"], json!("pending"));
}

#[test]
fn a_role_that_the_rulebook_permits_approves_its_group_and_nothing_else() {
    let home = home_with(&format!("rules = [\"own.cedar\"]\n{CONFIG}"));
    home.write(
        "own.cedar",
        r#"@id("security_approves_money")
        permit (principal, action == Action::"approve", resource)
        when { principal.scopes.contains("security") && resource has group && resource.group == "money" };"#,
    );
    let explain = |who: &str| {
        home.run(&[
            "explain",
            "pay",
            "--as",
            who,
            "--as",
            "scope=approve",
            "--as",
            "scope=security",
            "--approving",
            "user:ann agent:x",
        ])
    };
    assert_eq!(explain("user=sam").code, Some(0));
    let unscoped = home.run(&["explain", "pay", "--as", "user=sam", "--approving", "user:ann"]);
    assert_eq!(unscoped.code, Some(1));
    assert!(unscoped.out.contains("(approve_scope_required)"), "{unscoped:?}");
    let gate = home.serve();
    let ann = home.mint("--user ann");
    let sam = home.mint("--user sam --scope approve --scope security");
    let money = id(&gate.ask(&pay(Era::Modern, &ann, 1)));
    let double = id(&gate.ask(&Message::call(Era::Modern, "pay_double", json!({})).bearer(&ann)));
    assert_eq!(ids(&get(&gate, &sam, "?state=pending")), [money.as_str()]);
    assert_eq!(post(&gate, &sam, &format!("/{money}/approve"), "{}").status, 200);
    assert_eq!(post(&gate, &sam, &format!("/{double}/approve"), "{}").status, 404);
}

#[test]
fn four_eyes_are_not_the_owners_and_the_operator_has_them() {
    let home = home("");
    let gate = home.serve();
    let ann = home.mint("--user ann --scope approve");
    let kim = home.mint("--user kim --operator --scope approve");
    let asked =
        |number: i64| id(&gate.ask(&Message::call(Era::Modern, "pay_double", json!({"number": number})).bearer(&ann)));
    let (first, second) = (asked(1), asked(2));
    let four_eyes = code(&post(&gate, &ann, &format!("/{first}/approve"), "{}"));
    assert_eq!(four_eyes, (403, "four_eyes".to_owned()));
    assert_eq!(post(&gate, &kim, &format!("/{first}/approve"), "{}").status, 200);
    let denied = post(&gate, &ann, &format!("/{second}/deny"), "{\"reason\":\"mistake\"}");
    assert_eq!((denied.status, &denied.message()["reason"]), (200, &json!("mistake")), "to deny takes no second pair");
}

#[test]
fn lists_have_filters_and_pages() {
    let home = home("");
    let gate = home.serve();
    let ann = home.mint("--user ann --scope approve");
    let mut asked: Vec<String> = (0..5).map(|amount| id(&gate.ask(&pay(Era::Modern, &ann, amount)))).collect();
    let all = ids(&get(&gate, &ann, ""));
    asked.sort();
    let mut sorted = all.clone();
    sorted.sort();
    assert_eq!(sorted, asked);
    let (mut paged, mut after) = (Vec::new(), String::new());
    loop {
        let page = get(&gate, &ann, &format!("?limit=2{after}"));
        paged.extend(ids(&page));
        match page.message()["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!(paged, all);
    post(&gate, &ann, &format!("/{}/deny", all[0]), "");
    assert_eq!(ids(&get(&gate, &ann, "?state=denied")), all[..1]);
    assert_eq!(ids(&get(&gate, &ann, "?flow=none")), [""; 0]);
    for wrong in ["?state=open", "?limit=0", "?limit=501", "?after=x", "?who=ann"] {
        assert_eq!(code(&get(&gate, &ann, wrong)), (400, "bad_request".to_owned()), "{wrong}");
    }
}

#[test]
fn wrong_bodies_are_refused_and_answer_nothing() {
    let home = home("");
    let gate = home.serve();
    let ann = home.mint("--user ann --scope approve");
    let id = id(&gate.ask(&pay(Era::Modern, &ann, 1)));
    let path = format!("/{id}/approve");
    for body in ["[]", "{", "{\"once\":1}", "{\"evreything\":true}", "{\"ttl\":0}", "{\"ttl\":999999}", "null"] {
        assert_eq!(post(&gate, &ann, &path, body).status, 400, "{body}");
    }
    let form = Request { body: b"{}".to_vec(), ..Request::new("POST", &format!("{ROOT}{path}")) };
    let form = form.header("Content-Type", "text/plain").bearer(&ann);
    assert_eq!(code(&gate.send(&form)), (415, "not_json".to_owned()), "what a form of another site can send");
    let foreign = Request { path: format!("{ROOT}{path}"), ..Request::json("{}") };
    let foreign = foreign.bearer(&ann).header("Origin", "https://evil.example");
    assert_eq!(gate.send(&foreign).status, 403);
    let large = format!("{{\"reason\":\"{}\"}}", "x".repeat(20_000));
    assert_eq!(post(&gate, &ann, &format!("/{id}/deny"), &large).status, 413);
    assert_eq!(get(&gate, &ann, &format!("/{id}")).message()["state"], json!("pending"));
    let granted = post(&gate, &ann, &path, "{\"ttl\":60}").message();
    let holds = granted["expires"].as_i64().unwrap() - granted["answered_at"].as_i64().unwrap();
    assert_eq!(holds, 60_000);
}

#[test]
fn what_is_over_is_gone_and_more_than_asked_is_narrowed_by_once() {
    let home: Home = home("");
    let gate = home.serve();
    let ann = home.mint("--user ann --scope approve");
    let opened = gate.ask(&Message::call(Era::Late, "flow_open", json!({"name": "work"})).bearer(&ann)).result();
    let flow: Value = opened["structuredContent"]["flow"].clone();
    let wide = |amount: i64| {
        let call = pay(Era::Modern, &ann, amount).meta("toolgate/flow", flow.clone());
        id(&gate.ask(&call.meta("toolgate/approvalScope", json!({"uses": 3, "ttl": 600}))))
    };
    let first = wide(1);
    let granted = post(&gate, &ann, &format!("/{first}/approve"), "{\"once\":true}").message();
    assert_eq!((&granted["uses_left"], &granted["wide"]), (&json!(1), &Value::Null));
    let second = wide(2);
    let query = format!("?flow={}&state=pending", flow.as_str().unwrap());
    assert_eq!(ids(&get(&gate, &ann, &query)), [second.as_str()]);
    gate.ask(&Message::call(Era::Late, "flow_close", json!({"flow": flow})).bearer(&ann)).result();
    assert_eq!(code(&post(&gate, &ann, &format!("/{second}/approve"), "{}")), (410, "ended".to_owned()));
}

#[test]
fn who_tried_to_answer_what_and_was_refused_is_on_record() {
    let home = home("");
    let gate = home.serve();
    let agent = home.mint("--user ann --agent scribe --kind worker --scope approve");
    let (plain, eve) = (home.mint("--user ann"), home.mint("--user eve --scope approve"));
    let id = id(&gate.ask(&pay(Era::Modern, &agent, 1)));
    assert_eq!(code(&post(&gate, &agent, &format!("/{id}/approve"), "{}")).0, 403);
    assert_eq!(code(&post(&gate, &plain, &format!("/{id}/approve"), "{}")).0, 403);
    for _ in 0..50 {
        assert_eq!(code(&post(&gate, &eve, &format!("/{id}/deny"), "{\"reason\": \"words of eve\"}")).0, 404);
    }
    assert_eq!(code(&post(&gate, &eve, "/apr_none/approve", "{}")).0, 404, "of no approval there is no record");
    gate.terminate();
    gate.ended();
    let records = home.run(&["ledger", "export"]).out;
    let records: Vec<Value> = records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let refused = |principal: &str| -> Vec<Value> {
        let of = |record: &&Value| record["record"]["kind"] == "answer" && record["record"]["principal"] == principal;
        records.iter().filter(of).map(|record| record["record"].clone()).collect()
    };
    let ann = refused("user:ann");
    assert_eq!(ann.len(), 1, "{ann:?}");
    assert_eq!((&ann[0]["outcome"], &ann[0]["code"]), (&json!("refused"), &json!("approve_scope_required")));
    assert_eq!((&ann[0]["approval"], &ann[0]["input"]["answer"]), (&json!(id), &json!("yes")));
    let eves = refused("user:eve");
    assert_eq!(eves.len(), 30, "so many a minute and no more");
    assert_eq!((&eves[0]["code"], &eves[0]["input"]["answer"]), (&json!("not_visible"), &json!("no")));
    assert!(!eves[0].to_string().contains("words of eve"));
    let all = records.iter().filter(|record| record["record"]["kind"] == "answer").count();
    assert_eq!(all, 32, "the agent's is there too");
}
