//! How the time for an activity file grows with the file, and that of an answer with its content: in proportion.

use serde_json::{Value, json};

use super::read;
use crate::{fitness::format::Format, linear::assert_linear};

#[test]
fn activity_files_of_xml_are_read_in_linear_time() {
    let points = "<trkpt lat='1' lon='2'><ele>1</ele><time>2026-03-14T06:00:00Z</time></trkpt>";
    let laps = "<Lap><Track><Trackpoint><Time>2026-03-14T06:00:00Z</Time></Trackpoint></Track></Lap>";
    for part in [
        points,
        laps,
        "<trk>",
        "</trk>",
        "<trkseg>",
        "<trkpt>",
        "<trkpt/>",
        "<name>",
        "a",
        "&amp;",
        "&",
        "<![CDATA[a]]>",
        "<!-- -->",
        "<!--",
        "<?a?>",
        "<",
        "<x:y z='1'>",
        "<Activity Sport='Running'><Id/>",
        "é",
        " ",
    ] {
        assert_linear(part, 32, |times| {
            let body = part.repeat(times);
            let _ = read("a.gpx", format!("<gpx><trk><trkseg>{body}</trkseg></trk></gpx>").as_bytes());
            let _ = read("a.tcx", format!("<x><Activities><Activity>{body}</Activity></Activities></x>").as_bytes());
        });
    }
    assert_linear("attributes", 64, |times| {
        let attributes: String = (0..times).map(|number| format!(" a{number}='1'")).collect();
        let _ = read("a.gpx", format!("<gpx><trk><trkseg><trkpt{attributes}/></trkseg></trk></gpx>").as_bytes());
        let _ = read("a.tcx", format!("<x><Activity{attributes}/></x>").as_bytes());
    });
}

/// A FIT file of some bytes of records, with the length that its head must say.
fn fit(records: &[u8]) -> Vec<u8> {
    let length = u32::try_from(records.len()).unwrap().to_le_bytes();
    [&[12, 0x20, 0x54, 0x08][..], &length, b".FIT", records, &[0, 0]].concat()
}

#[test]
fn activity_files_of_watches_are_read_in_linear_time() {
    let definition = [0x40, 0, 0, 20, 0, 1, 253, 4, 0x86];
    let wide = [&[0x40, 0, 0, 20, 0, 255][..], &[7, 1, 0x02].repeat(255)].concat();
    let record = [0, 1, 2, 3, 4];
    for (what, head, part) in [
        ("definitions", &[][..], &definition[..]),
        ("wide definitions", &[], &wide),
        ("records", &definition, &record),
        ("compressed times", &definition, &[0x80, 1, 2, 3, 4]),
        ("nothing known", &[], &[0xff]),
        ("noughts", &[], &[0]),
    ] {
        assert_linear(what, 64, |times| {
            let _ = read("a.fit", &fit(&[head, &part.repeat(times)].concat()));
        });
    }
}

/// A kind of content, and how it is made in a size.
type ContentOfSize = (&'static str, fn(usize) -> Value);

#[test]
fn answers_are_written_in_linear_time() {
    let rows: [ContentOfSize; 6] = [
        ("rows", |count| json!({"rows": vec![json!({"a": 1, "b": "x, y: \"z\""}); count]})),
        ("rows that differ", |count| Value::Array((0..count).map(|n| json!({format!("k{n}"): [n, "a"]})).collect())),
        ("numbers", |count| json!(vec![1.5; count])),
        ("a text", |count| json!({"text": "\\\"\n: -".repeat(count)})),
        ("members", |count| Value::Object((0..count).map(|n| (format!("k {n}"), json!({}))).collect())),
        ("columns", |count| {
            let row: serde_json::Map<_, _> = (0..count / 16 + 1).map(|n| (format!("c{n}"), json!(n))).collect();
            json!(vec![Value::Object(row); 16])
        }),
    ];
    for (what, content) in rows {
        assert_linear(what, 64, |count| {
            let content = content(count);
            assert!(Format::Toon.write(&content).is_ok() && Format::Json.write(&content).is_ok());
        });
    }
}
