//! People are told of approvals: signed, without secrets, and again where nobody answered.

use std::{
    io::{BufReader, Read, Write},
    net::{SocketAddr, TcpListener},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};
use toolgate_server::{identity::Secret, webhooks::signature};

use super::{
    approvals_asked::{home, id, pay},
    bed::{database::Database, http::read_headers, message::Era, wait::until},
};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

#[derive(Debug, Clone)]
struct Told {
    headers: Vec<(String, String)>,
    body: String,
}

impl Told {
    fn header(&self, name: &str) -> &str {
        &self.headers.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("{name}: {self:?}")).1
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A receiver that fails as often as it is told to first, and keeps all it got.
struct Receiver {
    address: SocketAddr,
    told: Arc<Mutex<Vec<Told>>>,
}

impl Receiver {
    fn failing(mut failures: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let told = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&told);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let Ok(headers) = read_headers(&mut reader) else { continue };
                let length = headers.iter().find(|(name, _)| name == "content-length");
                let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
                if reader.read_exact(&mut body).is_err() {
                    continue;
                }
                kept.lock().unwrap().push(Told { headers, body: String::from_utf8(body).unwrap() });
                let status = if failures > 0 { "503 Later" } else { "204 Fine" };
                failures = failures.saturating_sub(1);
                let _ = stream.write_all(
                    format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").as_bytes(),
                );
            }
        });
        Self { address, told }
    }

    fn wait_for(&self, count: usize) -> Vec<Told> {
        until(&format!("{count} notices arrive"), || {
            let told = self.told.lock().unwrap();
            (told.len() >= count).then(|| told.clone())
        })
    }

    fn config(&self) -> String {
        format!("[[approvals.webhooks]]\nurl = \"http://{}/told\"\nsecret = {{ file = \"secret\" }}\n", self.address)
    }
}

#[test]
fn who_is_asked_is_told_signed_and_again_until_it_was_heard() {
    let receiver = Receiver::failing(2);
    let home = home(&receiver.config());
    home.write("secret", &format!("{SECRET}\n"));
    let gate = home.serve();
    let ann = home.mint("--user ann --scope approve");
    let id = id(&gate.ask(&pay(Era::Modern, &ann, 1)));
    let told = receiver.wait_for(3);
    for one in &told {
        let (time, _) = one.header("toolgate-signature").split_once(',').unwrap();
        let at: i64 = time.strip_prefix("t=").unwrap().parse().unwrap();
        assert_eq!(one.header("toolgate-signature"), signature(&Secret::new(SECRET.as_bytes()), at, &one.body));
        assert_eq!(one.header("toolgate-delivery"), format!("{id}.asked"), "the same for every try");
        let body = one.json();
        assert_eq!((&body["event"], &body["approval"]["id"]), (&json!("asked"), &json!(id)));
        assert_eq!(body["approval"]["shown"]["arguments"]["amount"], json!(1));
        assert!(!one.body.contains("4111-secret") && !one.body.contains(SECRET), "{}", one.body);
    }
    // answered by another process: told all the same
    home.json(&["approvals", "deny", &id, "--reason", "no"]);
    let told = receiver.wait_for(4);
    let last = told.last().unwrap().json();
    assert_eq!((&last["event"], &last["approval"]["state"]), (&json!("answered"), &json!("denied")));
    assert!(!gate.log().contains(SECRET));
}

#[test]
fn what_nobody_answered_is_told_too_and_only_events_that_are_wanted() {
    let (all, some) = (Receiver::failing(0), Receiver::failing(0));
    let config = format!("[approvals]\nttl = \"1s\"\n{}{}events = [\"expired\"]\n", all.config(), some.config());
    let home = home(&config);
    home.write("secret", SECRET);
    let gate = home.serve();
    let ann = home.mint("--user ann");
    let id = id(&gate.ask(&pay(Era::Modern, &ann, 1)));
    let events: Vec<Value> = all.wait_for(2).iter().map(|told| told.json()["event"].clone()).collect();
    assert_eq!(events, [json!("asked"), json!("expired")]);
    let told = some.wait_for(1);
    assert_eq!(told[0].header("toolgate-delivery"), format!("{id}.expired"));
}

#[test]
fn of_two_replicas_one_tells() {
    let database = Database::create();
    let receiver = Receiver::failing(0);
    let [first, second] = [(); 2].map(|()| {
        let home = home(&receiver.config()).on(&database.url());
        home.write("secret", SECRET);
        home
    });
    let (gate, _other) = (first.serve(), second.serve());
    let ann = first.mint("--user ann");
    for amount in 0..20 {
        id(&gate.ask(&pay(Era::Modern, &ann, amount)));
    }
    // the twenty answers come after everything that was asked
    let pending = first.json(&["approvals", "list", "--state", "pending"]);
    for approval in pending.as_array().unwrap() {
        first.json(&["approvals", "deny", approval["id"].as_str().unwrap()]);
    }
    let mut deliveries: Vec<String> =
        receiver.wait_for(40).iter().map(|told| told.header("toolgate-delivery").to_owned()).collect();
    deliveries.sort();
    deliveries.dedup();
    assert_eq!(deliveries.len(), 40, "each once");
}

#[test]
fn a_wrong_webhook_is_refused_before_serving() {
    for (config, words) in [
        ("url = \"nowhere\"\nsecret = \"0123456789abcdef\"", "'nowhere'"),
        ("url = \"http://x\"\nsecret = \"short\"", "fewer than 16 bytes"),
        ("url = \"http://x\"\nsecret = { env = \"NO_SUCH\" }", "NO_SUCH"),
        ("url = \"http://x\"\nsecret = { file = \"none\" }", "none"),
        ("url = \"http://x\"\nsecret = \"0123456789abcdef\"\nevents = [\"told\"]", "'told'"),
        ("url = \"http://x\"", "secret"),
    ] {
        let home = home(&format!("[[approvals.webhooks]]\n{config}\n"));
        let ran = home.run(&["check"]);
        assert_ne!(ran.code, Some(0), "{config}");
        assert!(format!("{}{}", ran.out, ran.err).contains(words), "{config}: {ran:?}");
    }
}
