//! How work grows with what an upstream sends: in proportion.

use crate::{glob, linear::assert_linear, marks, mirror, scan};

fn object(member: &str, times: usize) -> String {
    format!("{{{}\"last\":1}}", format!("{member},").repeat(times))
}

#[test]
fn members_of_a_result_are_found_and_taken_out_in_linear_time() {
    for member in [
        "\"x\":1",
        "\"\\u0078\":[1]",
        "\"y\":{\"x\":[\"]\"]}",
        "\"_meta\":{\"toolgate/a\":1,\"b\":2}",
        "\"\\\\\\\"\":\"\\\\\"",
    ] {
        assert_linear(member, 64, |times| {
            let text = object(member, times);
            scan::without(&text, "x");
            marks::without_marks(text.clone().into());
            scan::member(&text, "nothing");
        });
        assert_linear(member, 64, |times| {
            let inner = object(member, times);
            marks::without_marks(format!("{{\"_meta\":{inner},\"toolgate/\":1}}").into());
        });
    }
    for (open, close) in [
        ("{\"_meta\":{\"toolgate/a\":1,\"b\":", "}}"),
        ("{\"_meta\":{\"b\":1,\"toolgate/a\":", "}}"),
        ("{\"_meta\":", ",\"toolgate/a\":1}"),
        ("{\"\\u005fmeta\":", "}"),
    ] {
        assert_linear(open, 64, |times| {
            marks::without_marks(format!("{}1{}", open.repeat(times), close.repeat(times)).into());
        });
    }
    for (open, close) in [("[", "]"), ("{\"x\":", "}")] {
        assert_linear(open, 256, |times| {
            let deep = format!("{{\"a\":{}1{},\"x\":1}}", open.repeat(times), close.repeat(times));
            assert!(scan::without(&deep, "x").is_some());
        });
    }
}

#[test]
fn names_are_held_against_globs_in_linear_time() {
    for glob in ["*a*a*a*a*b", "*aaaaaaaaaaaaaaab", "a?*?a*?b", "*"] {
        assert_linear(glob, 1 << 10, |bytes| {
            glob::wanted(&"a".repeat(bytes), &[glob.to_owned()], &[glob.to_owned()]);
        });
    }
}

#[test]
fn marked_arguments_are_read_in_linear_time() {
    let mark = |at: usize| format!("\"a{at}\":{{\"type\":\"string\",\"x-mcp-header\":\"H{at}\"}}");
    let definition = |marks: usize| {
        let marks: Vec<String> = (0..marks).map(mark).collect();
        format!("{{\"inputSchema\":{{\"properties\":{{{}}}}}}}", marks.join(","))
    };
    assert!(mirror::mirrors(&definition(100)).is_ok());
    // each mark looks through the arguments of a call, and each is a header
    assert!(mirror::mirrors(&definition(101)).unwrap_err().contains("more than 100"));
    let marked = mirror::mirrors(&definition(20)).unwrap();
    assert_linear("arguments of a call", 256, |times| {
        mirror::headers("tools/call", Some("t"), &marked, &object("\"b\":\"\\\"\"", times));
    });
    assert_linear("a definition", 256, |times| {
        let _ = mirror::mirrors(&format!("{{\"inputSchema\":{}}}", object("\"x-mcp-header\":{\"a\":1}", times)));
    });
}
