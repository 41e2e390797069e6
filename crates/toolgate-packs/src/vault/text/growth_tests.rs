//! How the time for a document's text grows with the document: in proportion.

use super::{docx, files, html, limited, pdf, plain};
use crate::{linear::assert_linear, terms, vault::passages::passages};

/// More than any text here.
const MOST: usize = 1 << 30;

#[test]
fn web_pages_are_read_in_linear_time() {
    for part in [
        "<div>",
        "</div>",
        "<p a=1 b=2>",
        "<a b='",
        "<!--",
        "-->",
        "<!-",
        "&amp;",
        "&#x41;",
        "&notit;",
        "&",
        "<script>",
        "</script",
        "<svg><",
        "<",
        ">",
        "a b ",
        " ",
        "\n",
        "<br/>",
        "<![CDATA[",
        "<!DOCTYPE ",
        "é",
        "\0",
        "x<b> ",
    ] {
        assert_linear(part, 64, |times| drop(html::text(part.repeat(times).as_bytes())));
    }
    assert_linear("attributes", 64, |times| {
        let attributes: String = (0..times).map(|number| format!(" a{number}=1")).collect();
        html::text(format!("<p{attributes}>x").as_bytes());
    });
}

#[test]
fn plain_text_is_read_and_parted_in_linear_time() {
    for part in ["\u{feff}", "a", "a b\n", "\n", "水道", "x ", " ", "\r\n", "\0", "ﬃ", "e\u{301}"] {
        assert_linear(part, 256, |times| {
            let text = limited(plain::text(part.repeat(times).as_bytes()), MOST).text;
            passages("name.txt", &text);
            terms::asked(&text);
        });
    }
    for wide in [&b"\xff\xfea\0"[..], b"\xfe\xff\xd8\0", b"\xff\xff"] {
        assert_linear("UTF-16", 256, |times| drop(plain::text(&wide.repeat(times))));
    }
}

#[test]
fn word_documents_are_read_in_linear_time() {
    for part in
        ["", "&amp;", "</w:t>", "<w:tab/>", "<w:x>", "<!-- -->", "&#x41;", "<![CDATA[a]]>", "a", "<w:t a='1' b='2'>"]
    {
        assert_linear(part, 32, |times| {
            let paragraph = part.repeat(8);
            let _ = docx::text(&files::docx(&vec![paragraph.as_str(); times]), MOST);
            let _ = docx::text(&files::docx(&[&part.repeat(times * 8)]), MOST);
        });
    }
    assert_linear("attributes", 64, |times| {
        let attributes: String = (0..times).map(|number| format!(" a{number}='1'")).collect();
        let _ = docx::text(&files::docx(&[&format!("<w:t{attributes}/>")]), MOST);
    });
    assert_linear("files of an archive", 16, |times| {
        let _ = docx::text(&files::archive_of(times), MOST);
    });
}

#[test]
fn pdf_documents_are_read_in_linear_time() {
    assert_linear("pages", 4, |pages| {
        assert!(pdf::text(&files::pdf(&vec!["x"; pages]), MOST).is_ok());
    });
    for part in ["x", ") Tj (", "\\(", "\\101", "(", "] TJ [(", ") Tj ET BT (", ") Tj /F1 12 Tf (", ") Tj q Q ("] {
        assert_linear(part, 32, |times| {
            let _ = pdf::text(&files::pdf(&[&part.repeat(times)]), MOST);
        });
    }
    for part in [
        "1 0 obj\n<<>>\nendobj\n",
        "<<",
        "[",
        "(",
        "%PDF-1.4\n",
        "startxref\n0\n%%EOF\n",
        "xref\n0 1\n",
        "trailer<<>>\n",
        "stream\n",
    ] {
        assert_linear(part, 32, |times| {
            let mut file = b"%PDF-1.4\n".to_vec();
            file.extend(part.repeat(times).bytes());
            file.extend(b"trailer<</Root 1 0 R>>\nstartxref\n9\n%%EOF");
            let _ = pdf::text(&file, MOST);
            let mut whole = files::pdf(&["x"]);
            whole.extend(part.repeat(times).bytes());
            let _ = pdf::text(&whole, MOST);
        });
    }
    for (what, shape) in [("a chain of page trees", true), ("pages that are one page", false)] {
        assert_linear(what, 8, |times| {
            let _ = pdf::text(&files::pdf_tree(times, shape), MOST);
        });
    }
}
